package ecma

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// dispatch says how a member is reached.
type dispatch uint8

const (
	dStatic    dispatch = iota // one declaration: a static member, a module's export
	dTyped                     // a method of the receiver's class
	dAbstract                  // interface, abstract or ambient member
	dField                     // a value: calling it calls nobody knows what
	dExternal                  // of the platform or a dependency
	dAmbiguous                 // one of several
)

// member is what a name means on a type.
type member struct {
	how     dispatch
	defs    []graph.DefRef // declarations, implementation first
	owner   *typ           // the type it was found on, for its environment
	recv    *typ           // the type it was asked of
	t       *typ           // its type, where that is known without the declaration
	weak    bool
	partial bool // another part of a union has no such member
	name    string
	rule    string
	parts   []*member // dAmbiguous
}

// member finds what a name means on a type; nil when that is not known.
func (r *resolver) member(t *typ, name string) *member {
	if t == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	m := r.memberOf(t, name)
	if m != nil {
		if t.weak {
			c := *m
			c.weak = true
			m = &c
		}
		if m.recv == nil {
			m.recv = t
		}
	}
	return m
}

func (r *resolver) memberOf(t *typ, name string) *member {
	switch t.k {
	case kExternal:
		return &member{how: dExternal, name: t.name + "." + name, t: tOutside}
	case kPrim, kLiteral, kVoid, kBuiltin, kTuple, kGlobal:
		return r.builtinMember(t, name)
	case kInst:
		return r.instMember(t, t, name, 0)
	case kClass:
		return r.staticMember(t, name, 0)
	case kEnum:
		return r.enumMember(t, name)
	case kModule, kNamespace:
		return r.moduleMember(t, name)
	case kFunc:
		return r.functionMember(t, name)
	case kObject:
		return r.objectMember(t, name)
	case kParam:
		return r.member(r.bound(t), name)
	case kInter:
		var first *member
		for _, p := range t.args {
			m := r.member(p, name)
			if m == nil {
				continue
			}
			if m.how != dExternal {
				return m
			}
			if first == nil {
				first = m
			}
		}
		return first
	case kUnion:
		return r.unionMember(t, name)
	}
	return nil
}

func (r *resolver) unionMember(t *typ, name string) *member {
	u := &member{how: dAmbiguous, weak: t.weak}
	unknown := false
	for _, p := range t.args {
		switch m := r.member(p, name); {
		case m == nil:
			unknown = unknown || p.k != kPrim && p.k != kVoid
		case slices.ContainsFunc(u.parts, func(o *member) bool { return sameMember(o, m) }):
		default:
			u.parts = append(u.parts, m)
		}
	}
	switch {
	case len(u.parts) == 0:
		return nil
	case len(u.parts) == 1:
		m := *u.parts[0]
		m.weak, m.partial = m.weak || t.weak || unknown, unknown
		return &m
	}
	return u
}

func sameMember(a, b *member) bool {
	return a.how == b.how && a.how != dAmbiguous && len(a.defs) > 0 && len(b.defs) > 0 && a.defs[0] == b.defs[0] ||
		a.how == dExternal && b.how == dExternal
}

// own finds the declarations of a member in one class or interface.
func (r *resolver) own(d graph.DefRef, name string, static bool) []graph.DefRef {
	x := r.files[d.File]
	n := x.str(name)
	if n == 0 {
		return nil
	}
	var out []graph.DefRef
	for _, m := range x.members[d.Def] {
		def := &x.f.Defs[m]
		if def.Name != n || (def.Flags&facts.FlagStatic != 0) != static || def.Kind == facts.KindConstructor || def.Kind == facts.KindClass {
			continue
		}
		o := graph.DefRef{File: d.File, Def: m}
		// The implementation speaks for its overloads, the getter for its setter.
		if len(out) > 0 && r.def(out[0]).Flags&(facts.FlagOverload|facts.FlagRebound) != 0 && def.Flags&facts.FlagOverload == 0 {
			out = append([]graph.DefRef{o}, out...)
		} else {
			out = append(out, o)
		}
	}
	return out
}

// instMember looks along a class and its bases. recv is the type asked.
func (r *resolver) instMember(recv, t *typ, name string, depth int) *member {
	if depth > 24 || !r.enter() {
		return nil
	}
	defer r.leave()
	if name == "constructor" {
		return &member{how: dExternal, name: "Object.constructor"}
	}
	for _, d := range t.defs {
		if defs := r.own(d, name, false); len(defs) > 0 {
			return &member{how: r.howOf(d, defs), defs: defs, owner: t, recv: recv}
		}
	}
	for _, d := range t.defs {
		x := r.files[d.File]
		n := x.str(name)
		for _, k := range x.attrs[d.Def] {
			b := &x.f.Bindings[k]
			if n != 0 && b.Name == n && x.f.Exprs[b.Target].Kind == facts.ExprThis && x.f.Exprs[b.Target].Flags&facts.FlagStatic == 0 {
				return &member{how: dField, owner: t, recv: recv, t: r.valueOf(x, b.Value, nil)}
			}
		}
	}
	var external *member
	for _, b := range r.basesOf(t) {
		if b == nil {
			continue
		}
		if b.k == kInst {
			if m := r.instMember(recv, b, name, depth+1); m != nil {
				if m.how != dExternal {
					return m
				}
				external = m
			}
			continue
		}
		if m := r.member(b, name); m != nil {
			if m.how != dExternal {
				return m
			}
			external = m
		}
	}
	if external == nil && objectMembers[name] {
		external = &member{how: dExternal, name: "Object." + name}
	}
	return external
}

// howOf says how a call of a class's or interface's member is dispatched.
func (r *resolver) howOf(d graph.DefRef, defs []graph.DefRef) dispatch {
	def := r.def(defs[0])
	switch def.Kind {
	case facts.KindMethod, facts.KindFunction:
		if r.def(d).Kind == facts.KindInterface || def.Flags&(facts.FlagAbstract|facts.FlagOverload) != 0 {
			return dAbstract
		}
		return dTyped
	case facts.KindAccessor:
		return dField
	}
	if r.def(d).Kind == facts.KindInterface {
		return dAbstract
	}
	return dField
}

func (r *resolver) staticMember(t *typ, name string, depth int) *member {
	if depth > 24 || len(t.defs) == 0 || !r.enter() {
		return nil
	}
	defer r.leave()
	d := t.defs[0]
	if name == "prototype" {
		return &member{how: dField, t: r.instance(d, nil)}
	}
	if defs := r.own(d, name, true); len(defs) > 0 {
		how := r.howOf(d, defs)
		if how == dTyped {
			how = dStatic
		}
		return &member{how: how, defs: defs, owner: t, recv: t, rule: graph.RuleClassMember}
	}
	x := r.files[d.File]
	for _, k := range x.attrs[d.Def] {
		b := &x.f.Bindings[k]
		if x.f.Text(b.Name) == name && b.Def >= 0 && x.f.Exprs[b.Target].Kind == facts.ExprName {
			return &member{how: dStatic, defs: []graph.DefRef{{File: d.File, Def: b.Def}}, owner: t, recv: t, rule: graph.RuleClassMember}
		}
	}
	// A namespace of the same name merges with the class.
	if e := r.lookup(x, r.def(d).Scope, r.def(d).Name, inValues); e.kind == entDefs {
		for _, o := range e.defs {
			if r.def(o).Kind == facts.KindNamespace {
				if m := r.moduleMember(&typ{k: kNamespace, defs: []graph.DefRef{o}}, name); m != nil {
					return m
				}
			}
		}
	}
	if r.def(d).Bases != 0 {
		for _, b := range x.f.Children(r.def(d).Bases) {
			if r.implements(x, r.def(d), b) {
				continue
			}
			if x.f.Exprs[b].Kind == facts.ExprIndex {
				b = x.f.Child(b, 0)
			}
			v := r.valueOf(x, b, nil)
			if v != nil && v.k == kClass {
				return r.staticMember(v, name, depth+1)
			}
			if m := r.member(v, name); m != nil {
				return m
			}
		}
	}
	if functionMembers[name] {
		return &member{how: dExternal, name: "Function." + name}
	}
	return nil
}

// memberType types what a member holds.
func (r *resolver) memberType(m *member) *typ {
	if m == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	if m.t != nil {
		return weakenIf(m.weak, m.t)
	}
	if m.how == dAmbiguous {
		ts := make([]*typ, len(m.parts))
		for i, p := range m.parts {
			ts[i] = r.memberType(p)
		}
		return weakenIf(m.weak, union(ts...))
	}
	if len(m.defs) == 0 {
		return nil
	}
	d := m.defs[0]
	x, def := r.files[d.File], r.def(d)
	var ev *env
	if m.owner != nil && m.owner.k == kInst {
		for _, o := range m.owner.defs {
			if o.File == d.File && x.isMember(o.Def, d.Def) {
				ev = r.instEnv(m.owner, o)
			}
		}
		if ev != nil && m.recv != nil {
			ev.this = m.recv
		}
	} else if m.owner != nil {
		ev = m.owner.env
	}
	switch def.Kind {
	case facts.KindMethod, facts.KindFunction:
		if def.Recv != 0 && def.Type == 0 { // m: T = () => {}
			if t := r.typeOf(x, def.Recv, ev); t != nil {
				return weakenIf(m.weak, t)
			}
		}
		return &typ{k: kFunc, defs: m.defs, env: ev, recv: m.recv, weak: m.weak}
	case facts.KindAccessor:
		if def.Type != 0 {
			return weakenIf(m.weak, r.typeOf(x, def.Type, ev))
		}
		return weakenIf(m.weak, r.returned(d, ev))
	case facts.KindEnumMember:
		return tNumber
	case facts.KindClass:
		return &typ{k: kClass, defs: m.defs, weak: m.weak}
	}
	if def.Type != 0 {
		return weakenIf(m.weak, r.typeOf(x, def.Type, ev))
	}
	if def.Value != 0 {
		return weakenIf(m.weak, r.valueOf(x, def.Value, ev))
	}
	// A field without annotation: what the constructor assigns.
	if def.Parent >= 0 {
		for _, k := range x.attrs[def.Parent] {
			if b := &x.f.Bindings[k]; b.Name == def.Name {
				return weakenIf(m.weak, r.valueOf(x, b.Value, nil))
			}
		}
	}
	return nil
}

func (x *file) isMember(class, member facts.DefID) bool {
	for _, m := range x.members[class] {
		if m == member {
			return true
		}
	}
	return false
}
