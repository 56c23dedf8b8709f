package ecma

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// valueOf types an expression. Types are remembered per expression; ev puts in
// what type parameters stand for.
func (r *resolver) valueOf(x *file, id facts.ExprID, ev *env) *typ {
	if id == 0 {
		return nil
	}
	if x.values == nil {
		x.values, x.state = make([]*typ, len(x.f.Exprs)), make([]uint8, len(x.f.Exprs))
	}
	switch x.state[id] {
	case 1: // a cycle: x = f(x)
		r.cyclic++
		return nil
	case 2:
		return r.subst(x.values[id], ev, 0)
	}
	if !r.enter() {
		return nil
	}
	defer r.leave()
	x.state[id] = 1
	cyclic := r.cyclic
	t := r.evaluate(x, id)
	x.state[id] = 0
	// What hung on a cycle or was cut is not the last word.
	if !r.cut && r.cyclic == cyclic {
		x.values[id], x.state[id] = t, 2
	}
	return r.subst(t, ev, 0)
}

// subst puts type arguments in the place of open parameters.
func (r *resolver) subst(t *typ, ev *env, depth int) *typ {
	if t == nil || ev == nil || len(ev.names) == 0 && ev.parent == nil || depth > 4 {
		return t
	}
	switch t.k {
	case kParam:
		if got, ok := ev.lookup(t.name); ok && got != nil {
			return weakenIf(t.weak, got)
		}
	case kInst, kBuiltin, kUnion, kInter, kTuple:
		var args []*typ
		for i, a := range t.args {
			if b := r.subst(a, ev, depth+1); b != a {
				if args == nil {
					args = slices.Clone(t.args)
				}
				args[i] = b
			}
		}
		if args != nil {
			c := *t
			c.args = args
			return &c
		}
	case kFunc, kObject:
		if t.env != nil || t.expr != 0 {
			c := *t
			c.env = &env{parent: ev}
			if t.env != nil {
				c.env.names, c.env.this = t.env.names, t.env.this
				for _, a := range t.env.types {
					c.env.types = append(c.env.types, r.subst(a, ev, depth+1))
				}
			}
			return &c
		}
	}
	return t
}

func (r *resolver) evaluate(x *file, id facts.ExprID) *typ {
	f := x.f
	e := &f.Exprs[id]
	switch e.Kind {
	case facts.ExprName:
		if r.ownExports(x, id) {
			return &typ{k: kModule, file: x.i, cjs: true}
		}
		return r.entityType(r.lookup(x, x.scopeAt(e.Start), e.Name, inValues))
	case facts.ExprAttr:
		if r.ownExports(x, id) {
			return r.entityType(entity{kind: entModule, file: x.i, cjs: true})
		}
		return r.memberType(r.member(r.valueOf(x, f.Child(id, 0), nil), f.Text(e.Name)))
	case facts.ExprCall:
		return r.callType(x, id)
	case facts.ExprNew:
		return r.newType(x, id)
	case facts.ExprIndex:
		if e.Flags&facts.FlagTypeOnly != 0 {
			return r.instantiate(x, id)
		}
		return weaken(r.elementAt(r.valueOf(x, f.Child(id, 0), nil), x, f.Child(id, 1)))
	case facts.ExprLiteral:
		return primitive(f.Text(e.Name))
	case facts.ExprString:
		return tString
	case facts.ExprList:
		var ts []*typ
		for _, k := range f.Children(id) {
			if len(ts) == 8 {
				break
			}
			if f.Exprs[k].Kind == facts.ExprSpread {
				ts = append(ts, r.element(r.valueOf(x, f.Child(k, 0), nil)))
				continue
			}
			ts = append(ts, r.valueOf(x, k, nil))
		}
		return &typ{k: kBuiltin, name: "Array", args: []*typ{union(ts...)}, explicit: ts}
	case facts.ExprObject:
		return &typ{k: kObject, file: x.i, expr: id}
	case facts.ExprAssert:
		if t := f.Child(id, 1); t != 0 {
			if v := r.typeOf(x, t, nil); v != nil {
				return v
			}
			return nil
		}
		return r.valueOf(x, f.Child(id, 0), nil)
	case facts.ExprAwait:
		return r.awaited(r.valueOf(x, f.Child(id, 0), nil))
	case facts.ExprIter:
		t := r.element(r.valueOf(x, f.Child(id, 0), nil))
		if e.Flags&facts.FlagAsync != 0 {
			t = r.awaited(t)
		}
		return t
	case facts.ExprKey:
		return tString
	case facts.ExprMember:
		return r.memberType(r.member(r.valueOf(x, f.Child(id, 0), nil), f.Text(e.Name)))
	case facts.ExprUnpack:
		t := r.valueOf(x, f.Child(id, 0), nil)
		switch {
		case t == nil:
		case t.k == kTuple:
			return arg(t, int(e.Level))
		case t.k == kBuiltin && t.explicit != nil && int(e.Level) < len(t.explicit):
			return t.explicit[e.Level]
		default:
			return r.element(t)
		}
	case facts.ExprRest:
		return weaken(r.valueOf(x, f.Child(id, 0), nil))
	case facts.ExprCond:
		return union(r.valueOf(x, f.Child(id, 0), nil), r.valueOf(x, f.Child(id, 1), nil))
	case facts.ExprBinary:
		right := r.valueOf(x, f.Child(id, 1), nil)
		switch f.Text(e.Name) {
		case "&&":
			return right
		case "+":
			return tString
		}
		return union(r.valueOf(x, f.Child(id, 0), nil), right)
	case facts.ExprLambda:
		return r.lambdaType(x, e)
	case facts.ExprThis:
		return r.thisType(x, e)
	case facts.ExprSuper:
		if e.Def >= 0 {
			return r.superType(x, e)
		}
	case facts.ExprOpaque:
		if e.Level > 0 && e.Def >= 0 {
			return r.contextParam(x, e.Def, int(e.Level-1))
		}
	case facts.ExprPredicate:
		return r.predicateType(r.valueOf(x, f.Child(id, 0), nil))
	case facts.ExprSpread:
		return r.valueOf(x, f.Child(id, 0), nil)
	case facts.ExprTypeOf:
		return r.valueOf(x, f.Child(id, 0), nil)
	}
	return nil
}

// ownExports says whether an expression is what its own CommonJS module exports:
// module.exports, or exports where nothing else is exported in its place.
func (r *resolver) ownExports(x *file, id facts.ExprID) bool {
	f, e := x.f, &x.f.Exprs[id]
	if f.Language != "javascript" || x.esm || len(f.Exports) == 0 || f.Text(e.Name) != "exports" {
		return false
	}
	if e.Kind == facts.ExprAttr {
		id = f.Child(id, 0)
		e = &f.Exprs[id]
		if e.Kind != facts.ExprName || f.Text(e.Name) != "module" {
			return false
		}
	} else if len(x.assign) > 0 {
		return false
	}
	got := r.lookup(x, x.scopeAt(e.Start), e.Name, inValues)
	return got.kind == entNone || got.kind == entGlobal
}

// predicateType gives what a type predicate tells of its argument.
func (r *resolver) predicateType(t *typ) *typ {
	if t == nil || t.k != kFunc {
		return nil
	}
	x, result := (*file)(nil), facts.ExprID(0)
	switch {
	case len(t.defs) > 0:
		x, result = r.files[t.defs[0].File], r.def(t.defs[0]).Type
	case t.expr != 0:
		x = r.files[t.file]
		_, result, _ = x.funcParts(t.expr)
	}
	if result == 0 {
		return nil
	}
	if x.f.Exprs[result].Kind == facts.ExprFuncType {
		_, result, _ = x.funcParts(result)
	}
	if x.f.Exprs[result].Kind != facts.ExprPredicate {
		return nil
	}
	return r.typeOf(x, x.f.Child(result, 0), t.env)
}

func (r *resolver) lambdaType(x *file, e *facts.Expr) *typ {
	if e.Def < 0 {
		return nil
	}
	d := []graph.DefRef{{File: x.i, Def: e.Def}}
	if x.f.Defs[e.Def].Kind == facts.KindClass {
		return &typ{k: kClass, defs: d}
	}
	return &typ{k: kFunc, defs: d}
}

// elementAt types a[i]; a tuple or literal with a plain number would be exact,
// everything else is one of the elements.
func (r *resolver) elementAt(t *typ, x *file, index facts.ExprID) *typ {
	if t == nil {
		return nil
	}
	if t.k == kModule || t.k == kClass || t.k == kNamespace {
		return nil
	}
	return r.element(t)
}

// thisType types this: the class around it, an object literal whose method it
// stands in, or what a prototype's function belongs to.
func (r *resolver) thisType(x *file, e *facts.Expr) *typ {
	if e.Def >= 0 {
		d := graph.DefRef{File: x.i, Def: e.Def}
		if e.Flags&facts.FlagStatic != 0 {
			return &typ{k: kClass, defs: []graph.DefRef{d}}
		}
		return r.instance(d, nil)
	}
	f := x.f
	if e.Level == 0 {
		return nil
	}
	d := facts.DefID(e.Level - 1)
	x.link()
	if k := x.keywords[d]; k != 0 {
		// What a module exports is there for all to copy from and to wrap.
		return &typ{k: kObject, file: x.i, expr: x.parents[k], weak: x.exportsValue(x.parents[k])}
	}
	b, ok := x.attrOf(d)
	if !ok {
		return nil
	}
	target := f.Bindings[b].Target
	if f.Exprs[target].Kind == facts.ExprAttr {
		if got := r.entityOf(x, f.Child(target, 0), inValues); got.kind == entDefs {
			// Another prototype may be made of this one and override: open.
			return &typ{k: kInst, defs: got.defs, weak: true}
		}
	} else if got := r.entityOf(x, target, inValues); got.kind == entDefs {
		return &typ{k: kNamespace, defs: got.defs}
	}
	return nil
}

// exportsValue says whether an expression is assigned to module.exports.
func (x *file) exportsValue(id facts.ExprID) bool {
	for _, k := range x.assign {
		if e := &x.f.Exports[k]; e.Value == id && id != 0 {
			return true
		}
	}
	return false
}

// attrOf gives the assignment to a member that a function is the value of.
func (x *file) attrOf(d facts.DefID) (int32, bool) {
	if x.assignedTo == nil {
		x.assignedTo = map[facts.DefID]int32{}
		for i := range x.f.Bindings {
			if b := &x.f.Bindings[i]; b.Kind == facts.BindAttr && b.Def >= 0 {
				x.assignedTo[b.Def] = int32(i)
			}
		}
	}
	b, ok := x.assignedTo[d]
	return b, ok
}

// superType types super as the receiver of a member.
func (r *resolver) superType(x *file, e *facts.Expr) *typ {
	d := graph.DefRef{File: x.i, Def: e.Def}
	def := r.def(d)
	if def.Bases == 0 {
		return nil
	}
	for _, b := range x.f.Children(def.Bases) {
		if r.implements(x, def, b) {
			continue
		}
		if e.Flags&facts.FlagStatic != 0 {
			if x.f.Exprs[b].Kind == facts.ExprIndex {
				b = x.f.Child(b, 0)
			}
			return r.valueOf(x, b, nil)
		}
		for _, t := range r.basesOf(r.instance(d, nil)) {
			if t == nil || t.k != kInst || r.def(t.defs[0]).Kind == facts.KindClass {
				return t
			}
		}
	}
	return nil
}

// entityType types what a name means as a value.
func (r *resolver) entityType(e entity) *typ {
	switch e.kind {
	case entExternal:
		return &typ{k: kExternal, name: e.name}
	case entGlobal:
		return &typ{k: kGlobal, name: e.name}
	case entModule:
		if e.cjs {
			x := r.files[e.file]
			if len(x.assign) > 0 && len(x.exports) == 0 {
				if v := r.cjsValue(e.file); v != nil && v.k != kObject {
					return v
				}
			}
		}
		return &typ{k: kModule, file: e.file, cjs: e.cjs}
	case entLocal:
		x := r.files[e.file]
		if e.match > 0 {
			return r.narrowedType(x, e)
		}
		return r.bindingType(x, e.binding)
	case entDefs:
		if e.match > 0 {
			return weakenIf(e.weak, r.narrowedType(r.files[e.file], e))
		}
		return weakenIf(e.weak, r.defType(r.primaryFirst(e.defs)))
	}
	return nil
}

// narrowedType types a name whose kind was tested: what the test told adds to
// what is declared, and stands for it where that is a union or not known.
func (r *resolver) narrowedType(x *file, e entity) *typ {
	told, declared := r.bindingType(x, e.match-1), (*typ)(nil)
	if e.kind == entDefs {
		declared = r.defType(r.primaryFirst(e.defs))
	} else {
		declared = r.bindingType(x, e.binding)
	}
	switch {
	case told == nil:
		return declared
	case declared == nil || declared.k == kUnion || declared.k == kExternal:
		return told
	case r.apart(declared, told):
		return union(weaken(declared), weaken(told))
	}
	return &typ{k: kInter, args: []*typ{declared, told}}
}

// apart says whether two types are instances of classes of which neither is
// known to derive from the other.
func (r *resolver) apart(a, b *typ) bool {
	if a.k != kInst || b.k != kInst || r.def(a.defs[0]).Kind != facts.KindClass || r.def(b.defs[0]).Kind != facts.KindClass {
		return false
	}
	return !r.derives(a.defs[0], b.defs[0], 0) && !r.derives(b.defs[0], a.defs[0], 0)
}

// derives says whether a class is another or has it among its bases.
func (r *resolver) derives(c, base graph.DefRef, depth int) bool {
	if c == base {
		return true
	}
	for _, t := range r.h.bases[c] {
		if t != nil && t.k == kInst && depth < 24 && r.derives(t.defs[0], base, depth+1) {
			return true
		}
	}
	return false
}

// defType types a definition as a value.
func (r *resolver) defType(defs []graph.DefRef) *typ {
	d := defs[0]
	x, def := r.files[d.File], r.def(d)
	switch def.Kind {
	case facts.KindFunction, facts.KindMethod:
		if def.Recv != 0 && def.Type == 0 && def.Kind == facts.KindFunction { // const f: T = () => {}
			if t := r.typeOf(x, def.Recv, nil); t != nil {
				return t
			}
		}
		return &typ{k: kFunc, defs: defs, weak: def.Flags&facts.FlagRebound != 0}
	case facts.KindClass:
		return &typ{k: kClass, defs: []graph.DefRef{d}}
	case facts.KindEnum:
		return &typ{k: kEnum, defs: defs}
	case facts.KindNamespace:
		return &typ{k: kNamespace, defs: defs}
	case facts.KindConstant, facts.KindVariable, facts.KindField:
		if def.Type != 0 {
			return r.typeOf(x, def.Type, nil)
		}
		return weakenIf(def.Flags&facts.FlagRebound != 0, r.valueOf(x, def.Value, nil))
	case facts.KindEnumMember:
		return tNumber
	}
	return nil
}

// bindingType types a parameter or local variable, and remembers it.
func (r *resolver) bindingType(x *file, k int32) *typ {
	if t, ok := x.bound[k]; ok {
		return t
	}
	if x.bound == nil {
		x.bound = map[int32]*typ{}
	}
	cyclic := r.cyclic
	t := r.findBindingType(x, k)
	if !r.cut && r.cyclic == cyclic {
		x.bound[k] = t
	}
	return t
}

func (r *resolver) findBindingType(x *file, k int32) *typ {
	b := &x.f.Bindings[k]
	if b.Type != 0 {
		t := r.typeOf(x, b.Type, nil)
		if b.Kind == facts.BindParam && b.Flags&facts.FlagVariadic != 0 {
			return t
		}
		return t
	}
	switch b.Kind {
	case facts.BindParam:
		if b.Value != 0 {
			return weakenIf(b.Flags&facts.FlagDefault != 0 && x.f.Exprs[b.Value].Kind != facts.ExprMember, r.valueOf(x, b.Value, nil))
		}
		d := x.f.Scopes[b.Scope].Def
		if d < 0 {
			return nil
		}
		return weakenIf(b.Flags&facts.FlagRebound != 0, r.contextParam(x, d, int(b.Order)))
	case facts.BindMatch:
		return weaken(r.valueOf(x, b.Value, nil))
	case facts.BindVar, facts.BindFor:
		t := r.valueOf(x, b.Value, nil)
		if b.Flags&facts.FlagRebound == 0 {
			return t
		}
		ts := []*typ{t}
		for n, o := range x.names[nameKey(b.Scope, b.Name)] {
			if n > 24 { // more of them say no more
				return nil
			}
			if o != k && x.f.Bindings[o].Value != 0 {
				ts = append(ts, r.valueOf(x, x.f.Bindings[o].Value, nil))
			}
		}
		return weaken(union(ts...))
	}
	return nil
}

// instantiate applies explicit type arguments to a value: f<T>.
func (r *resolver) instantiate(x *file, id facts.ExprID) *typ {
	kids := x.f.Children(id)
	v := r.valueOf(x, kids[0], nil)
	if v == nil {
		return nil
	}
	c := *v
	c.explicit = make([]*typ, len(kids)-1)
	for i, k := range kids[1:] {
		c.explicit[i] = r.typeOf(x, k, nil)
	}
	return &c
}

func (r *resolver) newType(x *file, id facts.ExprID) *typ {
	callee := r.valueOf(x, x.f.Child(id, 0), nil)
	if callee == nil {
		return nil
	}
	args := callee.explicit
	if args == nil && callee.k == kClass {
		args = r.inferConstruction(callee.defs[0], x, x.f.Children(id)[1:])
	}
	return r.constructed(callee, args)
}

// inferConstruction infers a generic class's arguments from the constructor's.
func (r *resolver) inferConstruction(d graph.DefRef, x *file, exprs []facts.ExprID) []*typ {
	names := r.typeParamNames(d)
	if len(names) == 0 {
		return nil
	}
	y := r.files[d.File]
	for _, o := range r.constructors(d) {
		got := map[string]*typ{}
		r.inferParams(y, o, got, x, exprs)
		if len(got) == 0 {
			continue
		}
		out := make([]*typ, len(names))
		for i, n := range names {
			out[i] = got[n]
		}
		return out
	}
	return nil
}

func (r *resolver) constructors(d graph.DefRef) []facts.DefID {
	x := r.files[d.File]
	var out []facts.DefID
	for _, m := range x.members[d.Def] {
		if x.f.Defs[m].Kind == facts.KindConstructor {
			out = append(out, m)
		}
	}
	return out
}
