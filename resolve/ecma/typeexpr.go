package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// typeOf evaluates a type expression.
func (r *resolver) typeOf(x *file, id facts.ExprID, ev *env) *typ {
	if id == 0 {
		return nil
	}
	if ev != nil {
		if !r.enter() {
			return nil
		}
		defer r.leave()
		return r.evaluateType(x, id, ev)
	}
	// Without parameters to put in, a type is the same each time.
	if x.types == nil {
		x.types = map[facts.ExprID]*typ{}
	}
	if t, ok := x.types[id]; ok {
		return t
	}
	if !r.enter() {
		return nil
	}
	defer r.leave()
	cyclic := r.cyclic
	t := r.evaluateType(x, id, nil)
	if !r.cut && r.cyclic == cyclic {
		x.types[id] = t
	}
	return t
}

func (r *resolver) evaluateType(x *file, id facts.ExprID, ev *env) *typ {
	f := x.f
	e := &f.Exprs[id]
	switch e.Kind {
	case facts.ExprTypeName, facts.ExprName:
		return r.named(x, id, nil, ev)
	case facts.ExprAttr:
		return r.declared(r.entityOf(x, id, inTypes), f.Text(e.Name), nil)
	case facts.ExprIndex:
		if e.Flags&facts.FlagTypeOnly != 0 { // A<T>
			kids := f.Children(id)
			args := make([]*typ, len(kids)-1)
			for i, k := range kids[1:] {
				args[i] = r.typeOf(x, k, ev)
			}
			return r.named(x, kids[0], args, ev)
		}
		return r.indexed(x, id, ev)
	case facts.ExprUnionType:
		kids := f.Children(id)
		ts := make([]*typ, len(kids))
		for i, k := range kids {
			if ts[i] = r.typeOf(x, k, ev); ts[i] == nil {
				ts[i] = tOutside // not ours, as far as known
			}
		}
		return union(ts...)
	case facts.ExprIntersectionType:
		t := &typ{k: kInter}
		for _, k := range f.Children(id) {
			if p := r.typeOf(x, k, ev); p != nil {
				t.args = append(t.args, p)
			} else {
				t.weak = true
			}
		}
		if len(t.args) == 1 {
			return weakenIf(t.weak, t.args[0])
		}
		return t
	case facts.ExprArrayType:
		return builtin("Array", r.typeOf(x, f.Child(id, 0), ev))
	case facts.ExprTuple:
		t := &typ{k: kTuple}
		for _, k := range f.Children(id) {
			if f.Exprs[k].Kind == facts.ExprSpread {
				return builtin("Array", r.element(r.typeOf(x, f.Child(k, 0), ev)))
			}
			t.args = append(t.args, r.typeOf(x, k, ev))
		}
		return t
	case facts.ExprFuncType:
		return &typ{k: kFunc, file: x.i, expr: id, env: ev}
	case facts.ExprTypeLiteral, facts.ExprMapType:
		return &typ{k: kObject, file: x.i, expr: id, env: ev}
	case facts.ExprLiteral:
		return primitive(f.Text(e.Name))
	case facts.ExprString:
		return &typ{k: kLiteral, name: f.Text(e.Name)}
	case facts.ExprTypeOf:
		return r.valueOf(x, f.Child(id, 0), nil)
	case facts.ExprKeyOf:
		return tString
	case facts.ExprPredicate:
		return tBool
	case facts.ExprConditionalType:
		return r.conditional(x, id, ev)
	case facts.ExprThis:
		if t := ev.receiver(); t != nil {
			return t
		}
		if e.Def >= 0 {
			return r.instance(graph.DefRef{File: x.i, Def: e.Def}, nil)
		}
	}
	return nil
}

func primitive(name string) *typ {
	switch name {
	case "string", "template":
		return tString
	case "number", "bigint":
		return tNumber
	case "boolean", "bool":
		return tBool
	case "void", "undefined", "null", "never", "none":
		return tVoid
	case "regexp":
		return tRegexp
	case "any", "unknown":
		return nil
	}
	return &typ{k: kPrim, name: name}
}

// named evaluates a type name with its arguments.
func (r *resolver) named(x *file, id facts.ExprID, args []*typ, ev *env) *typ {
	f := x.f
	e := &f.Exprs[id]
	if e.Kind == facts.ExprAttr {
		return r.declared(r.entityOf(x, id, inTypes), f.Text(e.Name), args)
	}
	if e.Kind != facts.ExprTypeName && e.Kind != facts.ExprName {
		return r.typeOf(x, id, ev)
	}
	name := f.Text(e.Name)
	got := r.lookup(x, x.scopeAt(e.Start), e.Name, inTypes)
	if got.kind == entParam {
		if t, ok := ev.lookup(name); ok {
			return t
		}
		return &typ{k: kParam, name: name, file: x.i, expr: r.constraint(x, got), env: ev}
	}
	return r.declared(got, name, args)
}

// constraint finds what a type parameter extends.
func (r *resolver) constraint(x *file, e entity) facts.ExprID {
	b := &x.f.Bindings[e.binding]
	// The parameter's own expression stands at the same place.
	if x.params == nil {
		x.params = map[uint32]facts.ExprID{}
		for i := range x.f.Exprs {
			if q := &x.f.Exprs[i]; q.Kind == facts.ExprTypeParam {
				x.params[q.Start] = facts.ExprID(i)
			}
		}
	}
	// `const T` and variance stand before the name.
	p := x.params[b.Start]
	return x.f.Child(p, 0)
}

// declared gives the type that a type name's entity stands for.
func (r *resolver) declared(e entity, name string, args []*typ) *typ {
	switch e.kind {
	case entExternal:
		return &typ{k: kExternal, name: e.name}
	case entGlobal:
		return r.utility(name, args)
	case entDefs:
		return r.instanceOf(e, args)
	case entNone:
		if e.reason == graph.ReasonUnresolvedName {
			return r.utility(name, args)
		}
	}
	return nil
}

// instanceOf gives the type of declarations: what a class or interface names,
// or what an alias stands for.
func (r *resolver) instanceOf(e entity, args []*typ) *typ {
	d := e.defs[0]
	for _, o := range e.defs {
		if r.def(o).Kind == facts.KindClass {
			d = o
		}
	}
	def := r.def(d)
	switch def.Kind {
	case facts.KindClass, facts.KindInterface:
		defs := e.defs
		if defs[0] != d {
			defs = append([]graph.DefRef{d}, without(defs, d)...)
		}
		return &typ{k: kInst, defs: defs, args: r.fillArgs(d, args)}
	case facts.KindEnum:
		return tNumber
	case facts.KindType:
		x := r.files[d.File]
		args = r.fillArgs(d, args)
		names := r.typeParamNames(d)
		if len(names) == 0 {
			if t, ok := r.aliases[d]; ok {
				return t
			}
			r.aliases[d] = nil
			t := r.typeOf(x, def.Type, nil)
			if r.cut {
				delete(r.aliases, d)
			} else {
				r.aliases[d] = t
			}
			return t
		}
		// A recursive alias computes; what it computes is beyond us.
		if r.open[d] >= 2 {
			return nil
		}
		r.open[d]++
		defer func() { r.open[d]-- }()
		return r.typeOf(x, def.Type, &env{names: names, types: args})
	}
	return nil
}

func without(defs []graph.DefRef, d graph.DefRef) []graph.DefRef {
	out := make([]graph.DefRef, 0, len(defs))
	for _, o := range defs {
		if o != d {
			out = append(out, o)
		}
	}
	return out
}

func (r *resolver) instance(d graph.DefRef, args []*typ) *typ {
	x, def := r.files[d.File], r.def(d)
	e := r.lookup(x, def.Scope, def.Name, inTypes)
	if e.kind != entDefs || e.defs[0].File != d.File {
		e = entity{kind: entDefs, defs: []graph.DefRef{d}}
	}
	found := false
	for _, o := range e.defs {
		found = found || o == d
	}
	if !found {
		e.defs = []graph.DefRef{d}
	}
	return r.instanceOf(e, args)
}

func (r *resolver) typeParamNames(d graph.DefRef) []string {
	x, def := r.files[d.File], r.def(d)
	if def.TypeParams == 0 {
		return nil
	}
	kids := x.f.Children(def.TypeParams)
	names := make([]string, len(kids))
	for i, k := range kids {
		names[i] = x.f.Text(x.f.Exprs[k].Name)
	}
	return names
}

// fillArgs completes type arguments with the defaults of their parameters.
func (r *resolver) fillArgs(d graph.DefRef, args []*typ) []*typ {
	x, def := r.files[d.File], r.def(d)
	if def.TypeParams == 0 {
		return nil
	}
	kids := x.f.Children(def.TypeParams)
	out := make([]*typ, len(kids))
	copy(out, args)
	for i := len(args); i < len(kids); i++ {
		if dflt := x.f.Child(kids[i], 1); dflt != 0 {
			out[i] = r.typeOf(x, dflt, &env{names: r.typeParamNames(d)[:i], types: out[:i]})
		} else if con := x.f.Child(kids[i], 0); con != 0 && args == nil {
			out[i] = weaken(r.typeOf(x, con, nil))
		}
	}
	return out
}

// conditional takes both branches of a conditional type as possible.
func (r *resolver) conditional(x *file, id facts.ExprID, ev *env) *typ {
	f := x.f
	check, ext := f.Child(id, 0), f.Child(id, 1)
	c := r.typeOf(x, check, ev)
	// T extends X<infer U> ? U : ...: what stands in U's place.
	if c != nil && c.k != kParam {
		names := map[string]*typ{}
		pat := r.pattern(x, ext, ev)
		if r.unify(pat, c, names, 0) && len(names) > 0 {
			inner := &env{parent: ev}
			for _, n := range sortedNames(names) {
				inner.names, inner.types = append(inner.names, n), append(inner.types, names[n])
			}
			if t := r.typeOf(x, f.Child(id, 2), inner); t != nil {
				return weaken(t)
			}
		}
	}
	then, other := r.typeOf(x, f.Child(id, 2), ev), r.typeOf(x, f.Child(id, 3), ev)
	if then == nil {
		return weaken(other)
	}
	if other == nil {
		return weaken(then)
	}
	return weaken(union(then, other))
}

// pattern evaluates a type in which infer stands for an open parameter.
func (r *resolver) pattern(x *file, id facts.ExprID, ev *env) *typ {
	f := x.f
	if id == 0 {
		return nil
	}
	switch e := &f.Exprs[id]; e.Kind {
	case facts.ExprTypeParam:
		return &typ{k: kParam, name: f.Text(e.Name)}
	case facts.ExprIndex:
		if e.Flags&facts.FlagTypeOnly != 0 {
			kids := f.Children(id)
			args := make([]*typ, len(kids)-1)
			for i, k := range kids[1:] {
				args[i] = r.pattern(x, k, ev)
			}
			return r.named(x, kids[0], args, ev)
		}
	case facts.ExprArrayType:
		return builtin("Array", r.pattern(x, f.Child(id, 0), ev))
	}
	return r.typeOf(x, id, ev)
}

// indexed evaluates T["k"], T[number], T[K].
func (r *resolver) indexed(x *file, id facts.ExprID, ev *env) *typ {
	f := x.f
	obj := r.typeOf(x, f.Child(id, 0), ev)
	key := r.typeOf(x, f.Child(id, 1), ev)
	if obj == nil {
		return nil
	}
	if key != nil && key.k == kLiteral {
		if m := r.member(obj, key.name); m != nil {
			return r.memberType(m)
		}
		return nil
	}
	return weaken(r.element(obj))
}
