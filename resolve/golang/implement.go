package golang

import (
	"cmp"
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// maxImplementations bounds the candidates of one interface call beside the
// method of the interface, which always is one. Those beyond it, in the order of
// their files, are left out and counted.
const maxImplementations = 20

// implementations answers which concrete types implement an interface.
type implementations struct {
	byMethod map[string][]*named
	cache    map[*typ][]*named // by named.self where there are no arguments
}

// prepare lists every concrete type under the name of each method it has.
func (r *resolver) prepare() *implementations {
	if r.implement != nil {
		return r.implement
	}
	im := &implementations{byMethod: map[string][]*named{}, cache: map[*typ][]*named{}}
	r.implement = im
	for _, n := range slices.Clone(r.named) {
		f, def := r.typeDef(n)
		if def == nil || def.Flags&(facts.FlagAlias|facts.FlagLocal) != 0 || f.vendored {
			continue
		}
		if u := r.underlying(n.self); u != nil && u.kind == tInterface {
			continue
		}
		names := map[string]bool{}
		r.methodNames(n.self, names, map[*named]bool{}, 0)
		for name := range names {
			im.byMethod[name] = append(im.byMethod[name], n)
		}
	}
	return im
}

// methodNames collects the names of the method set of *t.
func (r *resolver) methodNames(t *typ, names map[string]bool, seen map[*named]bool, depth int) {
	t = r.deref(t)
	if t == nil || depth > 50 {
		return
	}
	if t.kind == tNamed {
		if seen[t.named] {
			return
		}
		seen[t.named] = true
		for name := range t.named.methods {
			names[name] = true
		}
	}
	u := r.underlying(t)
	if u == nil {
		return
	}
	switch u.kind {
	case tInterface:
		for _, m := range r.interfaceMethods(u).methods {
			names[m.name] = true
		}
	case tStruct:
		for _, k := range u.file.Children(u.expr) {
			if u.file.Exprs[k].Flags&facts.FlagEmbedded != 0 {
				r.methodNames(r.typeOf(u.file, u.file.Child(k, 0)), names, seen, depth+1)
			}
		}
	}
}

// implementers gives the concrete types that implement an interface, in the
// order in which they were loaded.
func (r *resolver) implementers(iface *typ) []*named {
	im := r.prepare()
	if iface.kind == tNamed && len(iface.args) == 0 {
		iface = iface.named.self
	}
	if out, ok := im.cache[iface]; ok {
		return out
	}
	var out []*named
	if list := r.methodsOf(iface); list != nil && len(list.methods) > 0 {
		rarest := slices.MinFunc(list.methods, func(a, b method) int {
			return cmp.Compare(len(im.byMethod[a.name]), len(im.byMethod[b.name]))
		})
		for _, n := range im.byMethod[rarest.name] {
			if r.implements(n, list) {
				out = append(out, n)
			}
		}
	}
	im.cache[iface] = out
	return out
}

func (r *resolver) implements(n *named, list *methodList) bool {
	for i := range list.methods {
		m := &list.methods[i]
		if !isExported(m.name) && m.def.File >= 0 && r.files[m.def.File].pkg != n.pkg {
			return false
		}
		s := r.methodIn(n, m.name)
		budget := maxType
		if s.kind != selMethod && s.kind != selInterface || !r.identical(s.t, m.t, &budget) {
			return false
		}
	}
	return true
}

func (r *resolver) methodIn(n *named, name string) selection {
	if s := n.set[name]; s != nil {
		return *s
	}
	s := r.sel(nil, n.self, name)
	if n.set == nil {
		n.set = map[string]*selection{}
	}
	n.set[name] = &s
	return s
}

// dispatch gives the candidates of calling a method through an interface: the
// interface's own method, and the method of each implementation that a program
// with the file can hold and its build constraint does not exclude.
func (r *resolver) dispatch(f *file, s selection, name string) (targets []graph.DefRef, omitted int) {
	for _, n := range r.implementers(s.iface) {
		if !r.seenFrom(f, n) {
			continue
		}
		if m := r.methodIn(n, name); m.kind == selMethod {
			for _, d := range m.defs {
				if r.compatible(f.constraint, r.files[d.File].constraint) {
					targets = append(targets, d)
				}
			}
		}
	}
	targets = sorted(targets)
	if omitted = len(targets) - maxImplementations; omitted > 0 {
		targets = targets[:maxImplementations:maxImplementations]
	}
	return sorted(append(targets, s.defs...)), max(omitted, 0)
}

func sorted(targets []graph.DefRef) []graph.DefRef {
	slices.SortFunc(targets, func(a, b graph.DefRef) int { return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Def, b.Def)) })
	return slices.Compact(targets)
}
