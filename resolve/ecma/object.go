package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

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
		return r.mappedMember(t, t.expr, name)
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
			if m := r.mappedMember(t, k, name); m != nil {
				return m
			}
		}
	}
	if !open && objectMembers[name] {
		return &member{how: dExternal, name: "Object." + name}
	}
	return nil
}

// mappedMember finds a member of a mapped type or index signature. The members
// of { [K in keyof T]: ... } are declared where T's are; what they do there is
// not what they do here, so they are a hint.
func (r *resolver) mappedMember(t *typ, id facts.ExprID, name string) *member {
	x := r.files[t.file]
	f := x.f
	v := r.mapped(t, id, name)
	if f.Exprs[id].Name != 0 && f.Exprs[id].Flags&facts.FlagConditional == 0 {
		key := f.Child(id, 0)
		if key != 0 && f.Exprs[key].Kind == facts.ExprKeyOf {
			if m := r.member(r.typeOf(x, f.Child(key, 0), t.env), name); m != nil && len(m.defs) > 0 {
				c := *m
				c.weak = true
				if v != nil {
					c.t = v
				}
				return &c
			}
		}
	}
	if v == nil {
		return nil
	}
	return &member{how: dField, t: v, recv: t}
}
