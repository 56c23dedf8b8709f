package ecma

import (
	"slices"

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

// param is one parameter of a function.
type param struct {
	typ      facts.ExprID
	optional bool
	rest     bool
}

// paramList gives the parameters of a function, in order.
func (x *file) paramList(d facts.DefID) []param {
	body := x.f.Defs[d].Body
	if body < 0 {
		return nil
	}
	var out []param
	for _, k := range x.paramsOf[body] {
		b := &x.f.Bindings[k]
		for int(b.Order) >= len(out) {
			out = append(out, param{})
		}
		p := &out[b.Order]
		if b.Type != 0 {
			p.typ = b.Type
		} else if t := x.wholeType(b.Value); t != 0 && p.typ == 0 {
			p.typ = t
		}
		p.optional = p.optional || b.Flags&(facts.FlagOptional|facts.FlagDefault) != 0
		p.rest = p.rest || b.Flags&facts.FlagVariadic != 0 && x.f.Exprs[b.Value].Kind != facts.ExprRest
	}
	return out
}

// wholeType finds the annotation of a parameter that is taken apart.
func (x *file) wholeType(v facts.ExprID) facts.ExprID {
	for n := 0; v != 0 && n < 8; n++ {
		switch x.f.Exprs[v].Kind {
		case facts.ExprMember, facts.ExprUnpack, facts.ExprRest:
			v = x.f.Child(v, 0)
		case facts.ExprAssert:
			return x.f.Child(v, 1)
		default:
			return 0
		}
	}
	return 0
}

// overload chooses the declaration that a call's number of arguments fits.
func (r *resolver) overload(defs []graph.DefRef, args *callArgs) graph.DefRef {
	if args == nil || len(defs) == 1 {
		return defs[0]
	}
	first := graph.DefRef{File: -1}
	for _, d := range defs {
		if r.def(d).Flags&facts.FlagOverload == 0 && len(defs) > 1 && r.def(defs[len(defs)-1]).Flags&facts.FlagOverload != 0 {
			continue // the implementation's own signature is not seen by callers
		}
		if first.File < 0 {
			first = d
		}
		ps := r.files[d.File].paramList(d.Def)
		need := 0
		rest := false
		for _, p := range ps {
			if !p.optional && !p.rest {
				need++
			}
			rest = rest || p.rest
		}
		if n := len(args.exprs); n >= need && (n <= len(ps) || rest) {
			return d
		}
	}
	if first.File < 0 {
		return defs[0]
	}
	return first
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

// bindParams binds the type parameters of a function for one call.
func (r *resolver) bindParams(ev *env, x *file, d facts.DefID, names []string, explicit []*typ, args *callArgs) {
	if len(names) == 0 {
		return
	}
	ev.names, ev.types = names, make([]*typ, len(names))
	copy(ev.types, explicit)
	if len(explicit) == 0 && args != nil {
		got := map[string]*typ{}
		r.inferParams(x, d, got, args.x, args.exprs)
		for i, n := range names {
			ev.types[i] = got[n]
		}
	}
	kids := x.f.Children(x.f.Defs[d].TypeParams)
	r.fillOpen(ev, x, kids)
}

// fillOpen gives defaults and constraints to parameters that nothing binds.
func (r *resolver) fillOpen(ev *env, x *file, kids []facts.ExprID) {
	for i, k := range kids {
		if i >= len(ev.types) || ev.types[i] != nil {
			continue
		}
		if dflt := x.f.Child(k, 1); dflt != 0 {
			ev.types[i] = r.typeOf(x, dflt, ev)
		} else if con := x.f.Child(k, 0); con != 0 {
			ev.types[i] = weaken(r.typeOf(x, con, ev))
		}
	}
}

func (r *resolver) inferParams(x *file, d facts.DefID, got map[string]*typ, from *file, exprs []facts.ExprID) {
	ps := x.paramList(d)
	for i, e := range exprs {
		if i >= len(ps) {
			if len(ps) == 0 || !ps[len(ps)-1].rest {
				break
			}
			pat := r.typeOf(x, ps[len(ps)-1].typ, nil)
			r.unify(r.element(pat), r.valueOf(from, e, nil), got, 0)
			continue
		}
		if ps[i].typ == 0 {
			continue
		}
		pat := r.typeOf(x, ps[i].typ, nil)
		if ps[i].rest {
			pat = r.element(pat)
		}
		r.unify(pat, r.valueOf(from, e, nil), got, 0)
	}
}

// returned joins what a function gives back.
func (r *resolver) returned(d graph.DefRef, ev *env) *typ {
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

// unify matches a pattern that holds open type parameters with a type, and
// notes what the parameters stand for.
func (r *resolver) unify(pat, t *typ, got map[string]*typ, depth int) bool {
	if pat == nil || t == nil || depth > 6 || !r.enter() {
		return false
	}
	defer r.leave()
	switch pat.k {
	case kParam:
		if old, ok := got[pat.name]; ok && old != nil {
			return true
		}
		got[pat.name] = t
		return true
	case kBuiltin:
		if t.k == kBuiltin && t.name == pat.name {
			for i := range pat.args {
				r.unify(arg(pat, i), arg(t, i), got, depth+1)
			}
			return true
		}
		if pat.name == "Array" && t.k == kTuple {
			return r.unify(arg(pat, 0), union(t.args...), got, depth+1)
		}
		if pat.name == "Record" && (t.k == kObject || t.k == kInst) {
			return r.unify(arg(pat, 1), r.element(t), got, depth+1)
		}
	case kInst:
		for n, b := 0, t; n < 8 && b != nil && b.k == kInst; n++ {
			if b.defs[0] == pat.defs[0] {
				for i := range pat.args {
					r.unify(arg(pat, i), arg(b, i), got, depth+1)
				}
				return true
			}
			bases := r.basesOf(b)
			b = nil
			for _, o := range bases {
				if o != nil && o.k == kInst {
					b = o
					break
				}
			}
		}
		if pat.defs[0] != (graph.DefRef{}) && (t.k == kObject || t.k == kFunc || t.k == kClass) {
			if sig := r.signature(pat, "()"); sig != nil && t.k == kFunc {
				return r.unify(sig, t, got, depth+1)
			}
			if sig := r.signature(pat, "new()"); sig != nil && t.k == kClass {
				return r.unify(sig, t, got, depth+1)
			}
			if t.k == kObject {
				return r.unifyMembers(pat, t, got, depth)
			}
		}
	case kUnion:
		ok := false
		var open *typ
		for _, p := range pat.args {
			if p.k == kParam {
				open = p
				continue
			}
			ok = r.unify(p, t, got, depth+1) || ok
		}
		if !ok && open != nil {
			return r.unify(open, t, got, depth+1)
		}
		return ok
	case kInter:
		ok := false
		for _, p := range pat.args {
			ok = r.unify(p, t, got, depth+1) || ok
		}
		return ok
	case kFunc:
		if pat.expr == 0 {
			return false
		}
		x := r.files[pat.file]
		if x.f.Exprs[pat.expr].Kind != facts.ExprFuncType {
			return false
		}
		params, result, _ := x.funcParts(pat.expr)
		var ret *typ
		if t.k == kClass {
			if x.f.Exprs[pat.expr].Flags&facts.FlagNew == 0 {
				return false
			}
			ret = r.instance(t.defs[0], nil)
		} else {
			for i, p := range params {
				if a := r.paramOf(t, i); a != nil && i < 3 {
					r.unify(r.typeOf(x, p, pat.env), a, got, depth+1)
				}
			}
			ret = r.call(t, nil, nil)
		}
		return r.unify(r.typeOf(x, result, pat.env), ret, got, depth+1)
	case kObject:
		if t.k == kClass {
			if sig := r.signature(pat, "new()"); sig != nil {
				return r.unify(sig, t, got, depth+1)
			}
			return r.unifyMembers(pat, t, got, depth)
		}
		if t.k == kFunc {
			if sig := r.signature(pat, "()"); sig != nil {
				return r.unify(sig, t, got, depth+1)
			}
		}
		if t.k == kObject || t.k == kInst || t.k == kInter {
			return r.unifyMembers(pat, t, got, depth)
		}
	}
	return false
}

// unifyMembers matches the members of an object type or interface.
func (r *resolver) unifyMembers(pat, t *typ, got map[string]*typ, depth int) bool {
	ok := false
	each := func(x *file, lit facts.ExprID) {
		for n, k := range x.f.Children(lit) {
			e := &x.f.Exprs[k]
			if e.Kind != facts.ExprKeyword || n > 40 {
				continue
			}
			if m := r.member(t, x.f.Text(e.Name)); m != nil && m.how != dExternal {
				if pm := r.member(pat, x.f.Text(e.Name)); pm != nil {
					ok = r.unify(r.memberType(pm), r.memberType(m), got, depth+1) || ok
				}
			}
		}
	}
	switch pat.k {
	case kObject:
		x := r.files[pat.file]
		if x.f.Exprs[pat.expr].Kind == facts.ExprTypeLiteral {
			each(x, pat.expr)
		}
	case kInst:
		for _, d := range pat.defs {
			if def := r.def(d); def.Kind == facts.KindInterface && def.Type != 0 {
				each(r.files[d.File], def.Type)
			}
		}
	}
	return ok
}

func sortedNames(m map[string]*typ) []string {
	out := make([]string, 0, len(m))
	for n := range m {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
