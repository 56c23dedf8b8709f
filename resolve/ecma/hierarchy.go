package ecma

import (
	"slices"
	"sort"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// hierarchy is who extends and implements whom.
type hierarchy struct {
	bases        map[graph.DefRef][]*typ         // of classes and interfaces, in order; nil for what is not known
	subclasses   map[graph.DefRef][]graph.DefRef // direct, of classes
	implementers map[graph.DefRef][]graph.DefRef // classes and interfaces that name an interface as base
	outside      map[graph.DefRef]bool           // some base is not of the repository
}

// buildHierarchy resolves the bases of every class and interface once.
func (r *resolver) buildHierarchy() hierarchy {
	r.aliases = map[graph.DefRef]*typ{}
	h := hierarchy{bases: map[graph.DefRef][]*typ{}, subclasses: map[graph.DefRef][]graph.DefRef{},
		implementers: map[graph.DefRef][]graph.DefRef{}, outside: map[graph.DefRef]bool{}}
	r.h = h
	for _, x := range r.files {
		for i := range x.f.Defs {
			def := &x.f.Defs[i]
			if def.Bases == 0 || def.Kind != facts.KindClass && def.Kind != facts.KindInterface {
				continue
			}
			d := graph.DefRef{File: x.i, Def: facts.DefID(i)}
			for _, b := range x.f.Children(def.Bases) {
				r.steps, r.depth, r.cut = 2000, 0, false
				t := r.baseType(x, b, def.Kind == facts.KindInterface || x.f.Exprs[b].Flags&facts.FlagTypeOnly != 0 && x.f.Exprs[b].Kind != facts.ExprIndex || r.implements(x, def, b))
				h.bases[d] = append(h.bases[d], t)
				r.noteBase(h, d, t, def.Kind, r.implements(x, def, b))
			}
		}
	}
	return h
}

// implements says whether a base of a class stands in its implements clause.
func (r *resolver) implements(x *file, def *facts.Def, b facts.ExprID) bool {
	if def.Kind != facts.KindClass {
		return false
	}
	e := &x.f.Exprs[b]
	if e.Kind == facts.ExprIndex {
		first := x.f.Child(b, 0)
		k := x.f.Exprs[first].Kind
		return k == facts.ExprTypeName || k == facts.ExprAttr && x.f.Exprs[first].Flags&facts.FlagTypeOnly != 0
	}
	return e.Kind == facts.ExprTypeName || e.Flags&facts.FlagTypeOnly != 0
}

func (r *resolver) noteBase(h hierarchy, d graph.DefRef, t *typ, kind facts.DefKind, implements bool) {
	if t == nil {
		h.outside[d] = true
		return
	}
	switch t.k {
	case kInst:
		for _, b := range t.defs {
			if r.def(b).Kind == facts.KindClass && kind == facts.KindClass && !implements {
				h.subclasses[b] = append(h.subclasses[b], d)
			} else {
				h.implementers[b] = append(h.implementers[b], d)
			}
		}
	case kInter, kUnion:
		for _, p := range t.args {
			r.noteBase(h, d, p, kind, implements)
		}
	default:
		if !implements {
			h.outside[d] = true
		}
	}
}

// baseType types one entry of extends or implements.
func (r *resolver) baseType(x *file, b facts.ExprID, isType bool) *typ {
	f := x.f
	if isType {
		return r.typeOf(x, b, nil)
	}
	var args []*typ
	e := b
	if f.Exprs[b].Kind == facts.ExprIndex && f.Exprs[b].Flags&facts.FlagTypeOnly != 0 {
		for _, k := range f.Children(b)[1:] {
			args = append(args, r.typeOf(x, k, nil))
		}
		e = f.Child(b, 0)
	}
	v := r.valueOf(x, e, nil)
	return r.constructed(v, args)
}

// constructed gives what new makes of a value.
func (r *resolver) constructed(v *typ, args []*typ) *typ {
	if v == nil {
		return nil
	}
	switch v.k {
	case kClass:
		return weakenIf(v.weak, r.instance(v.defs[0], args))
	case kGlobal:
		return r.utility(v.name, args)
	case kExternal:
		return v
	case kObject, kInst, kInter:
		if f := r.signature(v, "new()"); f != nil {
			return r.call(f, nil, nil)
		}
	case kFunc:
		// A constructor function of old, with methods on its prototype.
		if len(v.defs) > 0 && len(r.files[v.defs[0].File].members[v.defs[0].Def]) > 0 {
			return &typ{k: kInst, defs: v.defs[:1], weak: v.weak}
		}
		if v.expr != 0 && r.files[v.file].f.Exprs[v.expr].Flags&facts.FlagNew != 0 {
			return r.call(v, nil, nil)
		}
	case kUnion:
		ts := make([]*typ, len(v.args))
		for i, p := range v.args {
			ts[i] = r.constructed(p, args)
		}
		return weaken(union(ts...))
	}
	return nil
}

// basesOf gives the bases of an instance's class or interface, with its type
// arguments put in.
func (r *resolver) basesOf(t *typ) []*typ {
	var out []*typ
	for _, d := range t.defs {
		x, def := r.files[d.File], r.def(d)
		if def.Bases == 0 {
			continue
		}
		known := r.h.bases[d]
		if def.TypeParams == 0 {
			out = append(out, known...)
			continue
		}
		ev := r.instEnv(t, d)
		ev.this = nil
		for i, b := range x.f.Children(def.Bases) {
			if i < len(known) && known[i] != nil && known[i].k == kInst && x.f.Exprs[b].Kind == facts.ExprIndex {
				kids := x.f.Children(b)
				args := make([]*typ, len(kids)-1)
				for j, k := range kids[1:] {
					args[j] = r.typeOf(x, k, ev)
				}
				c := *known[i]
				c.args = r.fillArgs(c.defs[0], args)
				out = append(out, &c)
				continue
			}
			if i < len(known) && known[i] != nil {
				out = append(out, known[i])
			} else if def.Kind == facts.KindInterface {
				out = append(out, r.typeOf(x, b, ev))
			}
		}
	}
	return out
}

// overridden says whether any class below the one that declares a method has
// one of the same name.
func (r *resolver) overridden(owner *typ, name string) bool {
	for _, d := range owner.defs {
		if len(r.overrides(d, name)) > 0 {
			return true
		}
	}
	return false
}

// memberKey is a member of a class or interface.
type memberKey struct {
	d         graph.DefRef
	name      string
	implement bool
}

// overrides gives the methods of the name in all classes below a class.
func (r *resolver) overrides(d graph.DefRef, name string) []graph.DefRef {
	return r.remember(memberKey{d, name, false}, r.findOverrides)
}

// implementations gives the methods that stand for an interface's, or an
// abstract class's, member.
func (r *resolver) implementations(d graph.DefRef, name string) []graph.DefRef {
	return r.remember(memberKey{d, name, true}, r.findImplementations)
}

func (r *resolver) remember(key memberKey, find func(graph.DefRef, string) []graph.DefRef) []graph.DefRef {
	if got, ok := r.below[key]; ok {
		return got
	}
	got := find(key.d, key.name)
	r.below[key] = got[:len(got):len(got)]
	return got
}

func (r *resolver) findOverrides(d graph.DefRef, name string) []graph.DefRef {
	var out []graph.DefRef
	seen := map[graph.DefRef]bool{d: true}
	queue := []graph.DefRef{d}
	for len(queue) > 0 && len(seen) < 2000 {
		c := queue[0]
		queue = queue[1:]
		for _, s := range r.h.subclasses[c] {
			if seen[s] {
				continue
			}
			seen[s] = true
			queue = append(queue, s)
			if defs := r.own(s, name, false); len(defs) > 0 {
				out = append(out, defs[0])
			}
		}
	}
	return out
}

func (r *resolver) findImplementations(d graph.DefRef, name string) []graph.DefRef {
	var out []graph.DefRef
	seen := map[graph.DefRef]bool{d: true}
	queue := []graph.DefRef{d}
	for len(queue) > 0 && len(seen) < 2000 {
		c := queue[0]
		queue = queue[1:]
		for _, s := range slices.Concat(r.h.implementers[c], r.h.subclasses[c]) {
			if seen[s] {
				continue
			}
			seen[s] = true
			queue = append(queue, s)
			if r.def(s).Kind != facts.KindClass {
				continue
			}
			m := r.inherited(s, name)
			if defs := r.own(s, name, false); len(defs) > 0 {
				m = &defs[0]
			}
			if m != nil && !r.bodiless(*m) {
				out = append(out, *m)
			}
		}
	}
	return out
}

// bodiless says whether a member is an abstract declaration of a class: it never
// runs, and implements nothing.
func (r *resolver) bodiless(d graph.DefRef) bool {
	def := r.def(d)
	return def.Flags&facts.FlagAbstract != 0 && def.Parent >= 0 && r.files[d.File].f.Defs[def.Parent].Flags&facts.FlagAbstract != 0
}

// inherited finds a method that a class has from a base class.
func (r *resolver) inherited(d graph.DefRef, name string) *graph.DefRef {
	for n := 0; n < 24; n++ {
		next := graph.DefRef{File: -1}
		for _, b := range r.h.bases[d] {
			if b != nil && b.k == kInst && r.def(b.defs[0]).Kind == facts.KindClass {
				next = b.defs[0]
				break
			}
		}
		if next.File < 0 {
			return nil
		}
		if defs := r.own(next, name, false); len(defs) > 0 {
			return &defs[0]
		}
		d = next
	}
	return nil
}

func sortDefs(defs []graph.DefRef) []graph.DefRef {
	sort.Slice(defs, func(i, j int) bool {
		if defs[i].File != defs[j].File {
			return defs[i].File < defs[j].File
		}
		return defs[i].Def < defs[j].Def
	})
	return slices.Compact(defs)
}

// primaryFirst puts the implementation before its overload signatures.
func (r *resolver) primaryFirst(defs []graph.DefRef) []graph.DefRef {
	for i, d := range defs {
		if r.def(d).Flags&facts.FlagOverload == 0 {
			if i == 0 {
				return defs
			}
			return append([]graph.DefRef{d}, without(defs, d)...)
		}
	}
	return defs
}
