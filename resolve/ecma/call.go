package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// callArgs is a call as its callee sees it.
type callArgs struct {
	x     *file
	exprs []facts.ExprID
}

// callType types a call expression.
func (r *resolver) callType(x *file, id facts.ExprID) *typ {
	f := x.f
	kids := f.Children(id)
	if len(kids) == 0 {
		return nil
	}
	if kids[0] == 0 { // import(), require()
		t := r.entityType(r.entityOf(x, id, inValues))
		if f.Exprs[id].Flags&facts.FlagConst == 0 && t != nil {
			return builtin("Promise", t)
		}
		return t
	}
	callee := r.valueOf(x, kids[0], nil)
	if callee == nil {
		return nil
	}
	return r.call(callee, callee.explicit, &callArgs{x, kids[1:]})
}

// call gives what calling a value yields.
func (r *resolver) call(t *typ, explicit []*typ, args *callArgs) *typ {
	if t == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	switch t.k {
	case kFunc:
		switch {
		case len(t.defs) > 0:
			return weakenIf(t.weak, r.callDef(t, explicit, args))
		case t.expr != 0:
			return weakenIf(t.weak, r.callSignature(t, explicit, args))
		}
		return weakenIf(t.weak, r.builtinCall(t, explicit, args))
	case kExternal:
		return t
	case kGlobal:
		return r.globalCall(t, explicit, args)
	case kObject, kInst, kInter:
		if f := r.signature(t, "()"); f != nil {
			return weakenIf(t.weak, r.call(f, explicit, args))
		}
	case kParam:
		return r.call(r.bound(t), explicit, args)
	case kUnion:
		ts := make([]*typ, len(t.args))
		for i, p := range t.args {
			ts[i] = r.call(p, explicit, args)
		}
		return weaken(union(ts...))
	}
	return nil
}

// signature finds the call or construct signature of an object type.
func (r *resolver) signature(t *typ, name string) *typ {
	if !r.enter() {
		return nil
	}
	defer r.leave()
	switch t.k {
	case kObject:
		x := r.files[t.file]
		n := x.str(name)
		if n == 0 || x.f.Exprs[t.expr].Kind != facts.ExprTypeLiteral {
			return nil
		}
		for _, k := range x.f.Children(t.expr) {
			if x.f.Exprs[k].Kind == facts.ExprKeyword && x.f.Exprs[k].Name == n {
				return &typ{k: kFunc, file: t.file, expr: x.f.Child(k, 0), env: &env{parent: t.env, this: t}, weak: t.weak}
			}
		}
	case kInst:
		for _, d := range t.defs {
			x, def := r.files[d.File], r.def(d)
			n := x.str(name)
			if n == 0 || def.Kind != facts.KindInterface {
				continue
			}
			for _, k := range x.f.Children(def.Type) {
				if x.f.Exprs[k].Kind == facts.ExprKeyword && x.f.Exprs[k].Name == n {
					return &typ{k: kFunc, file: d.File, expr: x.f.Child(k, 0), env: r.instEnv(t, d), weak: t.weak}
				}
			}
		}
		for _, b := range r.basesOf(t) {
			if b != nil && (b.k == kInst || b.k == kObject || b.k == kInter) {
				if f := r.signature(b, name); f != nil {
					return f
				}
			} else if b != nil && b.k == kFunc && name == "()" {
				return b
			}
		}
	case kInter:
		for _, p := range t.args {
			if p.k == kFunc && name == "()" {
				return p
			}
			if f := r.signature(p, name); f != nil {
				return f
			}
		}
	}
	return nil
}

func (r *resolver) callDef(t *typ, explicit []*typ, args *callArgs) *typ {
	d := r.overload(t.defs, args)
	x, def := r.files[d.File], r.def(d)
	if def.Kind == facts.KindClass {
		return nil
	}
	// An interface's method keeps its signature as a function type.
	if def.Body < 0 && def.Type != 0 && x.f.Exprs[def.Type].Kind == facts.ExprFuncType {
		return r.callSignature(&typ{k: kFunc, file: d.File, expr: def.Type, env: t.env, recv: t.recv}, explicit, args)
	}
	ev := &env{parent: t.env}
	if t.recv != nil {
		ev.this = t.recv
	}
	r.bindParams(ev, x, d.Def, r.typeParamNames(d), explicit, args)
	if def.Type != 0 {
		return r.typeOf(x, def.Type, ev)
	}
	return r.returned(d, ev)
}

// returned joins what a function gives back. Where no type parameter is bound,
// that is the same each time.
func (r *resolver) returned(d graph.DefRef, ev *env) *typ {
	if !ev.empty() {
		return r.joinReturns(d, ev)
	}
	if t, ok := r.results[d]; ok {
		return t
	}
	cyclic := r.cyclic
	t := r.joinReturns(d, nil)
	if !r.cut && r.cyclic == cyclic {
		r.results[d] = t
	}
	return t
}

func (r *resolver) joinReturns(d graph.DefRef, ev *env) *typ {
	x, def := r.files[d.File], r.def(d)
	if def.Flags&(facts.FlagGenerator|facts.FlagOverload|facts.FlagDeclare) != 0 {
		return nil
	}
	var t *typ
	if def.Value == 0 {
		t = tVoid
	} else {
		kids := x.f.Children(def.Value)
		ts := make([]*typ, len(kids))
		for i, k := range kids {
			if v := r.valueOf(x, k, ev); v != nil {
				ts[i] = v
			}
		}
		t = union(ts...)
	}
	if def.Flags&facts.FlagAsync != 0 {
		return builtin("Promise", r.awaited(t))
	}
	return t
}

// funcParts splits a function type expression.
func (x *file) funcParts(id facts.ExprID) (params []facts.ExprID, result, tps facts.ExprID) {
	kids := x.f.Children(id)
	n := int(x.f.Exprs[id].Level)
	if len(kids) < n+2 {
		return nil, 0, 0
	}
	return kids[:n], kids[n], kids[n+1]
}

func (r *resolver) callSignature(t *typ, explicit []*typ, args *callArgs) *typ {
	x := r.files[t.file]
	if x.f.Exprs[t.expr].Kind != facts.ExprFuncType {
		return nil
	}
	_, result, _ := x.funcParts(t.expr)
	return r.typeOf(x, result, r.signatureEnv(t, explicit, args, -1))
}

// signatureEnv binds the type parameters of a function type for one call; the
// argument numbered skip is not looked at.
func (r *resolver) signatureEnv(t *typ, explicit []*typ, args *callArgs, skip int) *env {
	x := r.files[t.file]
	params, _, tps := x.funcParts(t.expr)
	ev := &env{parent: t.env}
	if t.recv != nil {
		ev.this = t.recv
	}
	if tps == 0 {
		return ev
	}
	kids := x.f.Children(tps)
	for _, k := range kids {
		ev.names = append(ev.names, x.f.Text(x.f.Exprs[k].Name))
	}
	ev.types = make([]*typ, len(kids))
	copy(ev.types, explicit)
	if len(explicit) == 0 && args != nil {
		got := map[string]*typ{}
		for i, e := range args.exprs {
			if i >= len(params) || i == skip {
				continue
			}
			if skip >= 0 && args.x.f.Exprs[e].Kind == facts.ExprLambda {
				continue
			}
			r.unify(r.typeOf(x, params[i], t.env), r.valueOf(args.x, e, nil), got, 0)
		}
		for i, n := range ev.names {
			ev.types[i] = got[n]
		}
	}
	r.fillOpen(ev, x, kids)
	return ev
}
