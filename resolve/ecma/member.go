package ecma

import (
	"slices"
	"sort"

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
	how   dispatch
	defs  []graph.DefRef // declarations, implementation first
	owner *typ           // the type it was found on, for its environment
	recv  *typ           // the type it was asked of
	t     *typ           // its type, where that is known without the declaration
	weak  bool
	name  string
	rule  string
	parts []*member // dAmbiguous
}

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
		m.weak = m.weak || t.weak || unknown
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

func (r *resolver) enumMember(t *typ, name string) *member {
	for _, d := range t.defs {
		x := r.files[d.File]
		for _, m := range x.members[d.Def] {
			if x.f.Text(x.f.Defs[m].Name) == name {
				return &member{how: dField, defs: []graph.DefRef{{File: d.File, Def: m}}, t: tNumber}
			}
		}
	}
	return nil
}

// moduleMember finds an export of a module, or of a namespace.
func (r *resolver) moduleMember(t *typ, name string) *member {
	e := entity{kind: entModule, file: t.file, cjs: t.cjs}
	if t.k == kNamespace {
		e = entity{kind: entDefs, defs: t.defs}
	}
	got := r.memberEntity(e, name, inValues, 0)
	switch got.kind {
	case entDefs:
		return &member{how: dStatic, defs: r.primaryFirst(got.defs), t: r.entityType(got), weak: got.weak, rule: got.rule}
	case entExternal, entGlobal:
		return &member{how: dExternal, name: got.name, t: tOutside}
	case entModule:
		return &member{how: dField, t: r.entityType(got)}
	}
	if t.k == kModule && t.cjs {
		if v := r.cjsValue(t.file); v != nil {
			return r.member(v, name)
		}
	}
	return nil
}

// cjsValue types what module.exports is assigned.
func (r *resolver) cjsValue(file int32) *typ {
	x := r.files[file]
	for _, k := range x.assign {
		e := &x.f.Exports[k]
		if e.Def >= 0 {
			return &typ{k: kFunc, defs: []graph.DefRef{{File: file, Def: e.Def}}}
		}
		if v := r.valueOf(x, e.Value, nil); v != nil {
			return v
		}
	}
	if ks := x.exports["default"]; len(ks) > 0 && len(x.exports) == 1 {
		return nil
	}
	return nil
}

func (r *resolver) functionMember(t *typ, name string) *member {
	for _, d := range t.defs {
		x := r.files[d.File]
		for _, k := range x.attrs[d.Def] {
			b := &x.f.Bindings[k]
			if x.f.Text(b.Name) == name && b.Def >= 0 {
				return &member{how: dStatic, defs: []graph.DefRef{{File: d.File, Def: b.Def}}, rule: graph.RuleModuleExport}
			}
		}
		// function f() {} namespace f { export ... }
		def := r.def(d)
		if e := r.lookup(x, def.Scope, def.Name, inValues); e.kind == entDefs && len(e.defs) > 1 {
			for _, o := range e.defs {
				if r.def(o).Kind == facts.KindNamespace {
					return r.moduleMember(&typ{k: kNamespace, defs: []graph.DefRef{o}}, name)
				}
			}
		}
	}
	if functionMembers[name] || objectMembers[name] {
		return &member{how: dExternal, name: "Function." + name, t: t}
	}
	return nil
}

// objectMember finds a member of an object literal or object type.
func (r *resolver) objectMember(t *typ, name string) *member {
	x := r.files[t.file]
	f := x.f
	n := x.str(name)
	e := &f.Exprs[t.expr]
	if e.Kind == facts.ExprMapType {
		if v := r.mapped(t, t.expr, name); v != nil {
			return &member{how: dField, t: v, recv: t}
		}
		return nil
	}
	var spread *member
	open := false
	for _, k := range f.Children(t.expr) {
		ke := &f.Exprs[k]
		switch {
		case ke.Kind == facts.ExprKeyword && n != 0 && ke.Name == n:
			m := &member{how: dField, recv: t, owner: t}
			if ke.Def >= 0 {
				m.defs = []graph.DefRef{{File: x.i, Def: ke.Def}}
				if e.Kind == facts.ExprObject {
					m.how, m.rule = dStatic, graph.RuleReceiverType
					if f.Defs[ke.Def].Kind == facts.KindAccessor {
						m.how = dField
					}
				} else {
					m.how = dAbstract
				}
			}
			v := f.Child(k, 0)
			if e.Kind == facts.ExprObject {
				if ke.Def < 0 || f.Defs[ke.Def].Kind == facts.KindAccessor {
					m.t = r.valueOf(x, v, t.env)
				}
			} else if v != 0 {
				m.t = r.typeOf(x, v, &env{parent: t.env, this: t})
			}
			return m
		case ke.Kind == facts.ExprSpread:
			s := r.valueOf(x, f.Child(k, 0), t.env)
			if m := r.member(s, name); m != nil && m.how != dExternal {
				spread = m
			} else if s == nil {
				open = true
			}
		}
	}
	if spread != nil {
		c := *spread
		c.weak = c.weak || open
		return &c
	}
	for _, k := range f.Children(t.expr) {
		if f.Exprs[k].Kind == facts.ExprMapType {
			if v := r.mapped(t, k, name); v != nil {
				return &member{how: dField, t: v, recv: t}
			}
		}
	}
	if !open && objectMembers[name] {
		return &member{how: dExternal, name: "Object." + name}
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

// overrides gives the methods of the name in all classes below a class.
func (r *resolver) overrides(d graph.DefRef, name string) []graph.DefRef {
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

// implementations gives the methods that stand for an interface's, or an
// abstract class's, member.
func (r *resolver) implementations(d graph.DefRef, name string) []graph.DefRef {
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
			if defs := r.own(s, name, false); len(defs) > 0 {
				out = append(out, defs[0])
			} else if m := r.inherited(s, name); m != nil {
				out = append(out, *m)
			}
		}
	}
	return out
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
