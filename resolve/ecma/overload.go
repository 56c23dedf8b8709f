package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

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
		if n := len(args.exprs); n >= need && (n <= len(ps) || rest) && r.fits(r.files[d.File], ps, args) {
			return d
		}
	}
	if first.File < 0 {
		return defs[0]
	}
	return first
}

// fits says whether the arguments that are plainly functions, objects, lists or
// primitives could be handed to the parameters.
func (r *resolver) fits(x *file, ps []param, args *callArgs) bool {
	for i, e := range args.exprs {
		if i >= len(ps) || ps[i].typ == 0 || ps[i].rest || i == 4 {
			return true
		}
		if !r.accepts(r.typeOf(x, ps[i].typ, nil), &args.x.f.Exprs[e], args.x.f.Text(args.x.f.Exprs[e].Name)) {
			return false
		}
	}
	return true
}

func (r *resolver) accepts(t *typ, e *facts.Expr, literal string) bool {
	if t == nil {
		return true
	}
	var fn, prim, list bool
	switch e.Kind {
	case facts.ExprLambda:
		fn = true
	case facts.ExprLiteral:
		if literal == "none" || literal == "regexp" {
			return true
		}
		prim = true
	case facts.ExprList:
		list = true
	case facts.ExprObject:
	default:
		return true
	}
	switch t.k {
	case kUnion:
		for _, p := range t.args {
			if r.accepts(p, e, literal) {
				return true
			}
		}
		return false
	case kFunc:
		return fn
	case kPrim:
		kind := tString.name
		switch literal {
		case "number":
			kind = "number"
		case "bool":
			kind = "boolean"
		}
		return prim && (t.name == kind || t.name != "string" && t.name != "number" && t.name != "boolean")
	case kLiteral:
		return prim
	case kTuple:
		return list
	case kBuiltin:
		if t.name == "Array" {
			return list
		}
		return !prim
	case kInst:
		if r.def(t.defs[0]).Kind == facts.KindClass {
			return !fn && !prim && !list
		}
		return !prim
	}
	return true
}
