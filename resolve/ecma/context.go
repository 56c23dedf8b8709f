package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// link makes the maps that lead from an expression to what surrounds it.
func (x *file) link() {
	if x.linked {
		return
	}
	x.linked = true
	f := x.f
	x.parents = make([]facts.ExprID, len(f.Exprs))
	x.lambdas, x.keywords = map[facts.DefID]facts.ExprID{}, map[facts.DefID]facts.ExprID{}
	x.annotated, x.returned = map[facts.ExprID]facts.ExprID{}, map[facts.ExprID]facts.DefID{}
	for i := range f.Exprs {
		id := facts.ExprID(i)
		e := &f.Exprs[i]
		for _, k := range f.Children(id) {
			// Shared literals have many parents; nobody asks for theirs.
			x.parents[k] = id
		}
		switch e.Kind {
		case facts.ExprLambda:
			if e.Def >= 0 {
				x.lambdas[e.Def] = id
			}
		case facts.ExprKeyword:
			if e.Def >= 0 {
				x.keywords[e.Def] = id
			}
		}
	}
	for i := range f.Defs {
		d := &f.Defs[i]
		switch d.Kind {
		case facts.KindConstant, facts.KindVariable, facts.KindField:
			if d.Type != 0 && d.Value != 0 {
				x.annotated[d.Value] = d.Type
			}
		case facts.KindFunction, facts.KindMethod, facts.KindLambda, facts.KindAccessor:
			if d.Value != 0 {
				for _, k := range f.Children(d.Value) {
					x.returned[k] = facts.DefID(i)
				}
			}
		}
	}
	for i := range f.Bindings {
		b := &f.Bindings[i]
		if b.Type != 0 && b.Value != 0 {
			x.annotated[b.Value] = b.Type
		}
	}
}

// contextParam types a parameter without annotation by where its function stands.
func (r *resolver) contextParam(x *file, d facts.DefID, i int) *typ {
	if !r.enter() {
		return nil
	}
	defer r.leave()
	x.link()
	def := &x.f.Defs[d]
	ps := x.paramList(d)
	if i < len(ps) && ps[i].typ != 0 {
		return r.typeOf(x, ps[i].typ, nil)
	}
	rest := i < len(ps) && ps[i].rest
	if def.Recv != 0 { // const f: T = (a) => {}
		return r.paramAt(r.typeOf(x, def.Recv, nil), i, rest)
	}
	if k := x.keywords[d]; k != 0 {
		obj := r.contextOf(x, x.parents[k])
		return r.paramAt(r.memberType(r.member(obj, x.f.Text(x.f.Exprs[k].Name))), i, rest)
	}
	id := x.lambdas[d]
	if id == 0 {
		return nil
	}
	if t := r.callbackParam(x, id, i); t != nil {
		return t
	}
	return r.paramAt(r.contextOf(x, id), i, rest)
}

func (r *resolver) paramAt(t *typ, i int, rest bool) *typ {
	if rest {
		return builtin("Array", r.paramOf(t, i))
	}
	return r.paramOf(t, i)
}

// callbackParam types the parameter of a function that is handed to a method
// of the language's library: xs.map(x => ...), p.then(v => ...).
func (r *resolver) callbackParam(x *file, id facts.ExprID, i int) *typ {
	p := x.parents[id]
	if p == 0 || x.f.Exprs[p].Kind != facts.ExprCall {
		return nil
	}
	kids := x.f.Children(p)
	callee := r.valueOf(x, kids[0], nil)
	if callee == nil || callee.k != kFunc || len(callee.defs) > 0 || callee.expr != 0 {
		return nil
	}
	return r.builtinCallback(callee, kids, id, i, x)
}

// contextOf gives the type that an expression is expected to have.
func (r *resolver) contextOf(x *file, id facts.ExprID) *typ {
	if id == 0 || !r.enter() {
		return nil
	}
	defer r.leave()
	x.link()
	f := x.f
	if a := x.annotated[id]; a != 0 {
		return r.typeOf(x, a, nil)
	}
	if d, ok := x.returned[id]; ok {
		return r.resultContext(x, d)
	}
	p := x.parents[id]
	if p == 0 {
		return nil
	}
	switch e := &f.Exprs[p]; e.Kind {
	case facts.ExprCall, facts.ExprNew:
		kids := f.Children(p)
		for i, k := range kids[1:] {
			if k == id {
				return r.argContext(x, p, kids, i)
			}
		}
	case facts.ExprKeyword:
		return r.memberType(r.member(r.contextOf(x, x.parents[p]), f.Text(e.Name)))
	case facts.ExprList:
		return r.element(r.contextOf(x, p))
	case facts.ExprAssert:
		if t := f.Child(p, 1); t != 0 && t != id {
			return r.typeOf(x, t, nil)
		}
		return r.contextOf(x, p)
	case facts.ExprCond, facts.ExprBinary, facts.ExprAwait:
		return r.contextOf(x, p)
	case facts.ExprSpread:
		return r.contextOf(x, p)
	}
	return nil
}

// resultContext gives the type that a function's results are expected to have.
func (r *resolver) resultContext(x *file, d facts.DefID) *typ {
	def := &x.f.Defs[d]
	var t *typ
	switch {
	case def.Type != 0:
		t = r.typeOf(x, def.Type, nil)
	case def.Recv != 0:
		t = r.call(r.typeOf(x, def.Recv, nil), nil, nil)
	case x.keywords[d] != 0:
		k := x.keywords[d]
		m := r.member(r.contextOf(x, x.parents[k]), x.f.Text(x.f.Exprs[k].Name))
		t = r.call(r.memberType(m), nil, nil)
	case x.lambdas[d] != 0:
		t = r.call(r.contextOf(x, x.lambdas[d]), nil, nil)
	}
	if def.Flags&facts.FlagAsync != 0 {
		return r.awaited(t)
	}
	return t
}

// argContext gives the type of the parameter that an argument is handed to.
func (r *resolver) argContext(x *file, call facts.ExprID, kids []facts.ExprID, i int) *typ {
	callee := r.valueOf(x, kids[0], nil)
	if callee == nil {
		return nil
	}
	args := &callArgs{x, kids[1:]}
	if x.f.Exprs[call].Kind == facts.ExprNew {
		return r.constructorParam(callee, args, i)
	}
	return r.paramFor(callee, callee.explicit, args, i)
}

func (r *resolver) constructorParam(callee *typ, args *callArgs, i int) *typ {
	if callee.k != kClass {
		if sig := r.signature(callee, "new()"); sig != nil {
			return r.paramFor(sig, callee.explicit, args, i)
		}
		return nil
	}
	d := callee.defs[0]
	for n := 0; n < 16; n++ {
		cs := r.constructors(d)
		if len(cs) > 0 {
			x := r.files[d.File]
			ps := x.paramList(cs[0])
			if i >= len(ps) || ps[i].typ == 0 {
				return nil
			}
			var ev *env
			if names := r.typeParamNames(d); len(names) > 0 {
				ev = &env{names: names, types: r.fillArgs(d, callee.explicit)}
			}
			return r.typeOf(x, ps[i].typ, ev)
		}
		next := false
		for _, b := range r.h.bases[d] {
			if b != nil && b.k == kInst && r.def(b.defs[0]).Kind == facts.KindClass {
				d, next = b.defs[0], true
				break
			}
		}
		if !next {
			return nil
		}
	}
	return nil
}

// paramFor gives the type of parameter i for one call.
func (r *resolver) paramFor(t *typ, explicit []*typ, args *callArgs, i int) *typ {
	if t == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	switch t.k {
	case kFunc:
		if t.expr != 0 {
			x := r.files[t.file]
			if x.f.Exprs[t.expr].Kind != facts.ExprFuncType {
				return nil
			}
			params, _, _ := x.funcParts(t.expr)
			return r.paramExpr(x, params, i, r.signatureEnv(t, explicit, args, i))
		}
		if len(t.defs) == 0 {
			return nil
		}
		d := r.overload(t.defs, args)
		x, def := r.files[d.File], r.def(d)
		if def.Body < 0 && def.Type != 0 {
			return r.paramFor(&typ{k: kFunc, file: d.File, expr: def.Type, env: t.env, recv: t.recv}, explicit, args, i)
		}
		return r.defParam(t, d, x, explicit, args, i)
	case kObject, kInst, kInter:
		return r.paramFor(r.signature(t, "()"), explicit, args, i)
	case kParam:
		return r.paramFor(r.bound(t), explicit, args, i)
	case kUnion:
		for _, p := range t.args {
			if got := r.paramFor(p, explicit, args, i); got != nil {
				return weaken(got)
			}
		}
	}
	return nil
}

func (r *resolver) defParam(t *typ, d graph.DefRef, x *file, explicit []*typ, args *callArgs, i int) *typ {
	ps := x.paramList(d.Def)
	if i >= len(ps) {
		i = len(ps) - 1
		if i < 0 || !ps[i].rest {
			return nil
		}
	}
	ev := &env{parent: t.env, this: t.recv}
	if names := r.typeParamNames(d); len(names) > 0 {
		ev.names, ev.types = names, make([]*typ, len(names))
		copy(ev.types, explicit)
		if len(explicit) == 0 && args != nil {
			got := map[string]*typ{}
			for k, e := range args.exprs {
				if k == i || k >= len(ps) || ps[k].typ == 0 || args.x.f.Exprs[e].Kind == facts.ExprLambda {
					continue
				}
				r.unify(r.typeOf(x, ps[k].typ, nil), r.valueOf(args.x, e, nil), got, 0)
			}
			for k, n := range names {
				ev.types[k] = got[n]
			}
		}
		r.fillOpen(ev, x, x.f.Children(r.def(d).TypeParams))
	}
	if ps[i].typ == 0 {
		return nil
	}
	pt := r.typeOf(x, ps[i].typ, ev)
	if ps[i].rest {
		return r.element(pt)
	}
	return pt
}

func (r *resolver) paramExpr(x *file, params []facts.ExprID, i int, ev *env) *typ {
	if i >= len(params) {
		i = len(params) - 1
		if i < 0 || params[i] == 0 || x.f.Exprs[params[i]].Kind != facts.ExprEllipsis {
			return nil
		}
	}
	if p := params[i]; p != 0 && x.f.Exprs[p].Kind == facts.ExprEllipsis {
		return r.element(r.typeOf(x, x.f.Child(p, 0), ev))
	}
	return r.typeOf(x, params[i], ev)
}

// paramOf gives the type of parameter i of a function type.
func (r *resolver) paramOf(t *typ, i int) *typ {
	if t == nil {
		return nil
	}
	return weakenIf(t.weak, r.paramFor(t, t.explicit, nil, i))
}
