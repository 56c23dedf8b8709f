package ecma

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

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
