package golang

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// global gives the shared ExprName of a name that is not local.
func (w *walker) global(name facts.Str, span facts.Span) facts.ExprID {
	for len(w.globals) <= int(name) {
		w.globals = append(w.globals, 0)
	}
	if w.globals[name] == 0 {
		w.globals[name] = w.b.Expr(facts.Expr{Kind: facts.ExprName, Name: name, Def: facts.None, Span: span})
	}
	return w.globals[name]
}

// localName gives the shared ExprName of a binding.
func (w *walker) localName(binding int32, span facts.Span) facts.ExprID {
	if w.locals[binding] == 0 {
		w.locals[binding] = w.b.Expr(facts.Expr{
			Kind: facts.ExprName, Name: w.f.Bindings[binding].Name, Level: uint32(binding + 1), Def: facts.None, Span: span,
		})
	}
	return w.locals[binding]
}

// attr gives the shared ExprAttr of x.name.
func (w *walker) attr(x facts.ExprID, name facts.Str, span facts.Span) facts.ExprID {
	key := uint64(x)<<32 | uint64(name)
	id, ok := w.attrs[key]
	if !ok {
		id = w.b.Expr(facts.Expr{Kind: facts.ExprAttr, Name: name, Def: facts.None, Span: span}, x)
		w.attrs[key] = id
	}
	return id
}

// name builds an identifier and emits the reference it makes. A local variable
// makes one only when it is called; a local type always.
func (w *walker) name(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	name := w.str(i)
	if w.f.Text(name) == "_" || name == 0 {
		return 0
	}
	if b := w.lookup(name); b >= 0 {
		e := w.localName(b, w.span(i))
		if kind == facts.RefCall || w.f.Bindings[b].Kind == facts.BindDef {
			w.ref(kind, i, e, site)
		}
		return e
	}
	e := w.global(name, w.span(i))
	if kind != facts.RefUse || !has(w.predeclared, name) {
		w.ref(kind, i, e, site)
	}
	return e
}

// packageName gives the shared name of an imported package, or 0 when the
// identifier i cannot be seen to be one.
func (w *walker) packageName(i int) facts.ExprID {
	name := w.str(i)
	if w.lookup(name) >= 0 || !has(w.packages, name) {
		return 0
	}
	return w.global(name, w.span(i))
}

func (w *walker) qualified(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	pkg, name := w.child(i, fieldPackage), w.child(i, fieldName)
	if pkg < 0 || name < 0 {
		return 0
	}
	// In new(x.f) and m[x.f] the parser takes x for a package.
	x := w.packageName(pkg)
	if x == 0 {
		x = w.name(pkg, facts.RefUse, w.span(pkg))
	}
	e := w.attr(x, w.str(name), w.span(i))
	w.ref(kind, name, e, site)
	return e
}

func (w *walker) selector(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	operand, field := w.child(i, fieldOperand), w.child(i, fieldField)
	if operand < 0 || field < 0 {
		w.children(i)
		return 0
	}
	var x facts.ExprID
	if w.op(operand) == opIdent {
		x = w.packageName(operand)
	}
	if x == 0 {
		x = w.expr(operand, true)
	}
	if w.n[field].Start == w.n[field].End {
		return 0
	}
	e := w.attr(x, w.str(field), w.span(i))
	w.ref(kind, field, e, site)
	return e
}

// literal gives the shared expression of a literal kind.
func (w *walker) literal(o op, name string) facts.ExprID {
	if w.literals[o] == 0 {
		w.literals[o] = w.b.Expr(facts.Expr{Kind: facts.ExprLiteral, Name: w.b.Str(name), Def: facts.None})
	}
	return w.literals[o]
}

// expr builds the expression of node i and emits its references. When its value
// is not wanted it may give 0.
func (w *walker) expr(i int, want bool) facts.ExprID {
	switch o := w.op(i); o {
	case opSkip:
		return 0
	case opIdent, opTypeIdent:
		return w.name(i, facts.RefUse, w.span(i))
	case opSelector:
		return w.selector(i, facts.RefUse, w.span(i))
	case opCall:
		return w.call(i, want)
	case opConversion:
		return w.conversion(i, want)
	case opInstantiation:
		return w.instantiation(i, facts.RefUse, w.span(i))
	case opIndex:
		return w.index(i, want)
	case opSlice:
		return w.slice(i, want)
	case opAssertion:
		x := w.exprOf(i, fieldOperand, want)
		t := w.fieldTypeOf(i, fieldType)
		return w.make(want, facts.ExprAssert, i, x, t)
	case opComposite:
		return w.composite(i)
	case opFuncLit:
		return w.lambda(i)
	case opUnary:
		return w.unary(i, want)
	case opBinary:
		return w.binary(i, want)
	case opParen:
		var e facts.ExprID
		for c, end := i+1, w.next(i); c < end; c = w.next(c) {
			if w.n[c].IsNamed() && w.op(c) != opSkip {
				e = w.expr(c, want)
			}
		}
		return e
	case opVariadic:
		var e facts.ExprID
		for c, end := i+1, w.next(i); c < end; c = w.next(c) {
			if w.n[c].IsNamed() && w.op(c) != opSkip {
				e = w.expr(c, want)
			}
		}
		return w.make(want, facts.ExprSpread, i, e)
	case opInt:
		return w.literal(o, "int")
	case opFloat:
		return w.literal(o, "float")
	case opImaginary:
		return w.literal(o, "complex")
	case opRune:
		return w.literal(o, "rune")
	case opString:
		return w.literal(o, "string")
	case opNil:
		return w.literal(o, "nil")
	case opBool:
		return w.literal(o, "bool")
	case opQualified, opGeneric, opPointer, opSliceType, opArrayType, opMapType, opChanType, opFuncType, opStructType,
		opInterfaceType, opParenType, opNegated, opTypeElem:
		return w.typ(i)
	}
	if w.op(i) == opOther {
		w.children(i)
	} else {
		w.node(i)
	}
	return 0
}

// make appends an expression when it is wanted.
func (w *walker) make(want bool, kind facts.ExprKind, i int, kids ...facts.ExprID) facts.ExprID {
	if !want {
		return 0
	}
	return w.b.Expr(facts.Expr{Kind: kind, Def: facts.None, Span: w.span(i)}, kids...)
}

func (w *walker) exprOf(i int, field uint8, want bool) facts.ExprID {
	if c := w.child(i, field); c >= 0 {
		return w.expr(c, want)
	}
	return 0
}

// callee builds what is called; site is the whole call.
func (w *walker) callee(i int, site facts.Span) facts.ExprID {
	switch w.op(i) {
	case opIdent, opTypeIdent:
		return w.name(i, facts.RefCall, site)
	case opSelector:
		return w.selector(i, facts.RefCall, site)
	case opQualified:
		return w.qualified(i, facts.RefCall, site)
	case opParen:
		for c, end := i+1, w.next(i); c < end; c = w.next(c) {
			if w.n[c].IsNamed() && w.op(c) != opSkip {
				return w.callee(c, site)
			}
		}
		return 0
	case opIndex:
		operand := w.child(i, fieldOperand)
		if operand < 0 || w.op(operand) != opIdent && w.op(operand) != opSelector {
			return w.expr(i, true)
		}
		// f[int](x) or table[k](x): only the resolver can tell them apart.
		before := len(w.f.Refs)
		x := w.callee(operand, site)
		index := w.exprOf(i, fieldIndex, true)
		e := w.make(true, facts.ExprIndex, i, x, index)
		w.indexed(before, x, e)
		return e
	case opInstantiation, opGeneric:
		return w.instantiation(i, facts.RefCall, site)
	}
	return w.expr(i, true)
}

// indexed makes the reference of callee x, emitted since before, say that the
// whole of e is called.
func (w *walker) indexed(before int, x, e facts.ExprID) {
	for k := before; k < len(w.f.Refs); k++ {
		if w.f.Refs[k].Kind == facts.RefCall && w.f.Refs[k].Expr == x && x != 0 {
			w.f.Refs[k].Expr = e
			return
		}
	}
}

func (w *walker) instantiation(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	kids := make([]facts.ExprID, 0, 3)
	before := len(w.f.Refs)
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		switch {
		case !w.n[c].IsNamed() || w.op(c) == opSkip:
		case w.n[c].Field == fieldTypeArgs:
			kids = w.typeArgs(c, kids)
		case len(kids) == 0 && kind == facts.RefCall:
			kids = append(kids, w.callee(c, site))
		default:
			kids = append(kids, w.typ(c))
		}
	}
	e := w.make(true, facts.ExprIndex, i, kids...)
	if kind == facts.RefCall && len(kids) > 0 {
		w.indexed(before, kids[0], e)
	}
	return e
}

func (w *walker) call(i int, want bool) facts.ExprID {
	kids := make([]facts.ExprID, 1, 4)
	before := len(w.f.Refs)
	if fn := w.child(i, fieldFunction); fn >= 0 {
		kids[0] = w.callee(fn, w.span(i))
	}
	if args := w.child(i, fieldTypeArgs); args >= 0 {
		x := kids[0]
		kids[0] = w.make(true, facts.ExprIndex, i, w.typeArgs(args, []facts.ExprID{x})...)
		w.indexed(before, x, kids[0])
	}
	if args := w.child(i, fieldArgs); args >= 0 {
		for c, end := args+1, w.next(args); c < end; c = w.next(c) {
			if !w.n[c].IsNamed() || w.op(c) == opSkip {
				if w.n[c].Flags&flat.Error != 0 {
					w.children(c)
				}
				continue
			}
			if e := w.expr(c, want); want {
				kids = append(kids, e)
			}
		}
	}
	return w.make(want, facts.ExprCall, i, kids...)
}

// conversion is T(x) where T is written as a type. When T is a name, the
// grammar could as well have called it a call. A pointer type must stand in
// parentheses: without them the star is applied to T(x).
func (w *walker) conversion(i int, want bool) facts.ExprID {
	c, stars := w.child(i, fieldType), 0
	for c >= 0 && w.op(c) == opPointer {
		inner := -1
		for k, end := c+1, w.next(c); k < end; k = w.next(k) {
			if w.n[k].IsNamed() && w.op(k) != opSkip {
				inner = k
			}
		}
		c, stars = inner, stars+1
	}
	var t facts.ExprID
	if c >= 0 {
		t = w.callee(c, w.span(i))
	}
	x := w.exprOf(i, fieldOperand, want)
	e := w.make(want, facts.ExprCall, i, t, x)
	for ; stars > 0; stars-- {
		e = w.make(want, facts.ExprStar, i, e)
	}
	return e
}

func (w *walker) index(i int, want bool) facts.ExprID {
	x := w.exprOf(i, fieldOperand, want)
	k := w.exprOf(i, fieldIndex, want)
	return w.make(want, facts.ExprIndex, i, x, k)
}

func (w *walker) slice(i int, want bool) facts.ExprID {
	var x facts.ExprID
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Field == fieldOperand {
			x = w.expr(c, want)
		} else {
			w.node(c)
		}
	}
	return w.make(want, facts.ExprSlice, i, x)
}

func (w *walker) unary(i int, want bool) facts.ExprID {
	x := w.exprOf(i, fieldOperand, want)
	if !want {
		return 0
	}
	kind := facts.ExprUnary
	var name facts.Str
	switch w.src[w.n[i].Start] {
	case '&':
		kind = facts.ExprAddr
	case '*':
		kind = facts.ExprStar
	case '<':
		kind = facts.ExprRecv
	case '!':
		return w.literal(opBool, "bool")
	default:
		name = w.b.Str("-")
	}
	return w.b.Expr(facts.Expr{Kind: kind, Name: name, Def: facts.None, Span: w.span(i)}, x)
}

func (w *walker) binary(i int, want bool) facts.ExprID {
	op := w.child(i, fieldOperator)
	if want && op >= 0 {
		switch w.src[w.n[op].Start] {
		case '=', '!', '>', '<':
			// A comparison, unless it is << or >>.
			want = w.n[op].End-w.n[op].Start == 2 && w.src[w.n[op].Start] == w.src[w.n[op].Start+1] && w.src[w.n[op].Start] != '='
		case '&', '|':
			want = !(w.n[op].End-w.n[op].Start == 2 && w.src[w.n[op].Start] == w.src[w.n[op].Start+1])
		}
		if !want {
			w.exprOf(i, fieldLeft, false)
			w.exprOf(i, fieldRight, false)
			return w.literal(opBool, "bool")
		}
	}
	x := w.exprOf(i, fieldLeft, want)
	y := w.exprOf(i, fieldRight, want)
	if !want || op < 0 {
		return 0
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprBinary, Name: w.str(op), Def: facts.None, Span: w.span(i)}, x, y)
}

func (w *walker) lambda(i int) facts.ExprID {
	id := w.b.Def(facts.Def{
		Kind: facts.KindLambda, Parent: w.owner, Scope: w.scope, Span: w.span(i), NameStart: w.n[i].Start, NameEnd: w.n[i].Start,
		Flags: facts.FlagLocal,
	})
	w.body(i, id, nil, func() {})
	return w.b.Expr(facts.Expr{Kind: facts.ExprLambda, Def: id, Span: w.span(i)})
}
