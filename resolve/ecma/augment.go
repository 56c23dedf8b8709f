package ecma

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// noteAugmented collects the members that the repository adds to interfaces of
// others, by declare module 'x' in a module and by declare global. What is
// called so on a value of a dependency may be one of them: it is not known to be
// outside.
func (r *resolver) noteAugmented() {
	r.augmented = map[string]map[string]bool{}
	for _, x := range r.files {
		if !x.esm && len(x.f.Imports) == 0 && len(x.f.Exports) == 0 {
			continue // a script that says declare module 'x' is all that there is of x
		}
		for d := range x.f.Defs {
			if def := &x.f.Defs[d]; def.Kind == facts.KindInterface && augments(x.f, def.Scope) {
				r.augment(x.f.Text(def.Name), graph.DefRef{File: x.i, Def: facts.DefID(d)}, map[graph.DefRef]bool{})
			}
		}
	}
}

// augments says whether a scope is in declare module 'x' or declare global.
func augments(f *facts.File, s facts.ScopeID) bool {
	for ; s > 0; s = f.Scopes[s].Parent {
		if k := &f.Scopes[s]; k.Kind == facts.ScopeNamespace && (k.Def < 0 || f.Defs[k.Def].Flags&facts.FlagTypeOnly != 0) {
			return true
		}
	}
	return false
}

func (r *resolver) augment(iface string, d graph.DefRef, seen map[graph.DefRef]bool) {
	if seen[d] || len(seen) > 100 {
		return
	}
	seen[d] = true
	x := r.files[d.File]
	for _, m := range x.members[d.Def] {
		name := x.f.Text(x.f.Defs[m].Name)
		if r.augmented[name] == nil {
			r.augmented[name] = map[string]bool{}
		}
		r.augmented[name][iface] = true
	}
	for _, b := range r.h.bases[d] {
		if b != nil && b.k == kInst {
			for _, base := range b.defs {
				r.augment(iface, base, seen)
			}
		}
	}
}

// outsideMember judges a member of a value of others. Of a value of a dependency only
// its path is known, so that any added member of the name may be meant.
func (r *resolver) outsideMember(m *member, name string) graph.Verdict {
	if m.partial {
		return unresolved(graph.ReasonDynamicReceiver) // the other part may be meant, narrowed in a way not seen
	}
	if added := r.augmented[name]; added != nil {
		owner, _, _ := strings.Cut(m.name, ".")
		if m.t == tOutside || owner == "" || added[owner] || added[strings.ToUpper(owner[:1])+owner[1:]] {
			return unresolved(graph.ReasonDynamicReceiver)
		}
	}
	return external(graph.ReasonExternalMember, m.name)
}
