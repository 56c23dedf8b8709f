package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// The literals that all expressions of a file share: their place is of no interest.
const (
	litString = iota
	litNumber
	litBool
	litNone
	litRegexp
	litTemplate
	litOpaque
)

var litNames = [...]string{"string", "number", "bool", "none", "regexp", "template"}

func (w *walker) literal(kind int) facts.ExprID {
	if w.litExpr[kind] == 0 {
		e := facts.Expr{Kind: facts.ExprLiteral, Def: facts.None}
		if kind == litOpaque {
			e.Kind = facts.ExprOpaque
		} else {
			e.Name = w.b.Str(litNames[kind])
		}
		w.litExpr[kind] = w.b.Expr(e)
	}
	return w.litExpr[kind]
}

// seal makes an expression whose children are what was pushed since mark.
func (w *walker) seal(e facts.Expr, mark int) facts.ExprID {
	id := w.b.Expr(e, w.stack[mark:]...)
	w.stack = w.stack[:mark]
	return id
}

func (w *walker) make(kind facts.ExprKind, i int) facts.Expr {
	return facts.Expr{Kind: kind, Def: facts.None, Span: w.span(i)}
}

// this makes this or super: its Def is the class that it speaks of, and
// FlagStatic says that it is the class itself rather than an instance. Outside
// of classes, Level is 1 + the function that binds it, 0 for the module.
func (w *walker) this(kind facts.ExprKind, i int) facts.Expr {
	e := w.make(kind, i)
	e.Def = w.class
	if w.class < 0 {
		e.Level = uint32(w.bound + 1)
	}
	if w.static {
		e.Flags |= facts.FlagStatic
	}
	return e
}

func (w *walker) expr(i int, o op, m mode) facts.ExprID {
	d, b := w.d, w.b
	switch o {
	case opIdentifier:
		e := w.make(facts.ExprName, i)
		e.Name = w.str(i)
		x := b.Expr(e)
		if m != mQuiet {
			w.refFor(m, i, i, x)
		}
		return x
	case opMember:
		return w.member(i, i, m)
	case opCall:
		return w.call(i, m)
	case opNew:
		return w.newExpr(i)
	case opThis:
		return b.Expr(w.this(facts.ExprThis, i))
	case opSuper:
		x := b.Expr(w.this(facts.ExprSuper, i))
		if m == mCall {
			w.ref(facts.RefCall, 0, i, i, x)
		}
		return x
	case opString:
		return w.literal(litString)
	case opNumber:
		return w.literal(litNumber)
	case opBool:
		return w.literal(litBool)
	case opNull:
		return w.literal(litNone)
	case opRegexp:
		return w.literal(litRegexp)
	case opTemplate:
		w.template(i)
		return w.literal(litTemplate)
	case opParen:
		return w.paren(i, m)
	case opAs:
		return w.as(i, m)
	case opNonNull:
		if c := w.firstNamed(i); c >= 0 {
			x := w.node(c, m)
			return b.Expr(w.make(facts.ExprAssert, i), x, 0)
		}
	case opInstantiation:
		return w.instantiation(i, m)
	case opAwait:
		if c := w.firstNamed(i); c >= 0 {
			x := w.node(c, mPlain)
			return b.Expr(w.make(facts.ExprAwait, i), x)
		}
	case opYield:
		w.children(i)
		return w.literal(litOpaque)
	case opSpread:
		if c := w.firstNamed(i); c >= 0 {
			x := w.node(c, mPlain)
			return b.Expr(w.make(facts.ExprSpread, i), x)
		}
	case opUnary, opUpdate:
		return w.unary(i, o)
	case opBinary:
		return w.binary(i, m)
	case opTernary:
		cond := w.t.Child(i, d.condition)
		if cond >= 0 {
			w.node(cond, mPlain)
		}
		var then, other facts.ExprID
		if c := w.t.Child(i, d.consequence); c >= 0 {
			then = w.narrowed(cond, c, mValue)
		}
		if c := w.t.Child(i, d.alternative); c >= 0 {
			other = w.node(c, mValue)
		}
		return b.Expr(w.make(facts.ExprCond, i), then, other)
	case opAssign:
		return w.assign(i)
	case opAugmented:
		if c := w.t.Child(i, d.right); c >= 0 {
			w.node(c, mValue)
		}
		if c := w.t.Child(i, d.left); c >= 0 {
			w.assignTarget(c, 0)
		}
		return w.literal(litOpaque)
	case opSequence:
		var last facts.ExprID
		for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
			if w.t.Nodes[c].IsNamed() && w.op(c) != opSkip {
				last = w.node(c, mPlain)
			}
		}
		return last
	case opArray:
		return w.list(i, facts.ExprList)
	case opObject:
		return w.object(i)
	case opSubscript:
		return w.subscript(i, m)
	case opArrow, opFunctionExpr:
		return w.lambda(i)
	case opMethod: // outside a class or object: an ERROR tree
		w.method(i, int(w.t.Nodes[i].Start), facts.None, true)
		return 0
	case opMethodSignature, opField:
		if w.class >= 0 {
			w.classMember(i, w.t.Nodes[i].Start)
			return 0
		}
		w.children(i)
		return 0
	case opDecorator:
		w.decorator(i)
		return 0
	case opJSXElement, opJSXSelf:
		w.jsx(i)
		return w.literal(litOpaque)
	case opMeta, opLabel, opPropertyIdentifier:
		return w.literal(litOpaque)
	case opImportWord:
		return w.literal(litOpaque)
	case opFormalParameters:
		w.children(i)
		return 0
	default:
		if o >= opTypeIdentifier {
			return w.typeNode(i)
		}
	}
	w.children(i)
	return 0
}

// member walks a.b; site is the node cited as the whole.
func (w *walker) member(i, site int, m mode) facts.ExprID {
	d := w.d
	obj, prop := w.t.Child(i, d.object), w.t.Child(i, d.property)
	if obj < 0 || prop < 0 {
		w.children(i)
		return 0
	}
	om := mPlain
	if m == mQuiet {
		om = mQuiet
	}
	x := w.node(obj, om)
	e := w.make(facts.ExprAttr, i)
	e.Name = w.str(prop)
	if w.op(i) == opMember && w.optional(i) {
		e.Flags |= facts.FlagOptional
	}
	id := w.b.Expr(e, x)
	if m != mPlain && m != mQuiet {
		w.refFor(m, prop, site, id)
	}
	return id
}

func (w *walker) optional(i int) bool {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if n.End-n.Start == 2 && w.src[n.Start] == '?' && w.src[n.Start+1] == '.' {
			return true
		}
	}
	return false
}

func (w *walker) paren(i int, m mode) facts.ExprID {
	if w.d.typescript {
		if t := w.t.Child(i, w.d.typ); t >= 0 {
			w.typeNode(t)
		}
	}
	if c := w.firstNamed(i); c >= 0 {
		return w.node(c, m)
	}
	return 0
}

// as walks `x as T`, `x satisfies T`, `<T>x`.
func (w *walker) as(i int, m mode) facts.ExprID {
	first, last := w.firstNamed(i), w.lastNamed(i)
	if first < 0 {
		return 0
	}
	if w.op(first) == opTypeArguments { // <T>x
		mark := len(w.stack)
		w.typeList(first)
		var t facts.ExprID
		if len(w.stack) > mark {
			t = w.stack[mark]
		}
		w.stack = w.stack[:mark]
		return w.b.Expr(w.make(facts.ExprAssert, i), w.node(last, m), t)
	}
	x := w.node(first, m)
	if last == first { // as const
		return x
	}
	satisfies := w.has(i, "satisfies")
	t := w.typeNode(last)
	if satisfies || t == 0 {
		return x
	}
	return w.b.Expr(w.make(facts.ExprAssert, i), x, t)
}

func (w *walker) instantiation(i int, m mode) facts.ExprID {
	fn := w.firstNamed(i)
	if fn < 0 {
		return 0
	}
	x := w.node(fn, m)
	if ta := w.t.Child(i, w.d.typeArguments); ta >= 0 {
		return w.withTypeArgs(x, ta)
	}
	return x
}

func (w *walker) unary(i int, o op) facts.ExprID {
	c := w.t.Child(i, w.d.argument)
	if c < 0 {
		return 0
	}
	if o == opUpdate {
		w.assignTarget(c, 0)
		return w.literal(litNumber)
	}
	w.node(c, mPlain)
	switch w.src[w.t.Nodes[i].Start] {
	case '!':
		return w.literal(litBool)
	case 't':
		return w.literal(litString)
	case '-', '+', '~':
		return w.literal(litNumber)
	}
	return w.literal(litNone)
}

// binary flattens chains of operators, so that a long sum is not deep.
func (w *walker) binary(i int, m mode) facts.ExprID {
	d := w.d
	l, r, o := w.t.Child(i, d.left), w.t.Child(i, d.right), w.t.Child(i, d.operator)
	if l < 0 || r < 0 {
		w.children(i)
		return 0
	}
	op := ""
	if o >= 0 {
		op = string(w.t.Text(o))
	}
	switch op {
	case "||", "&&", "??":
		e := w.make(facts.ExprBinary, i)
		e.Name = w.b.Str(op)
		if m == mPlain {
			m = mValue
		}
		x := w.node(l, m) // each side may be the value
		if op == "&&" {
			return w.b.Expr(e, x, w.narrowed(l, r, m))
		}
		y := w.node(r, m)
		return w.b.Expr(e, x, y)
	}
	x := w.node(l, mPlain)
	y := w.node(r, mPlain)
	switch op {
	case "+":
		e := w.make(facts.ExprBinary, i)
		e.Name = w.b.Str(op)
		return w.b.Expr(e, x, y)
	case "==", "===", "!=", "!==", "<", ">", "<=", ">=", "in", "instanceof":
		return w.literal(litBool)
	}
	return w.literal(litNumber)
}

func (w *walker) assign(i int) facts.ExprID {
	d := w.d
	l, r := w.t.Child(i, d.left), w.t.Child(i, d.right)
	if l < 0 || r < 0 {
		w.children(i)
		return 0
	}
	if d.typescript && w.is(i+1, "using") { // this grammar calls using x = f() an assignment
		x := w.node(r, mValue)
		w.bindPattern(l, facts.Binding{Kind: facts.BindVar, Flags: facts.FlagConst, Scope: w.scope, Def: facts.None, Value: x})
		return x
	}
	if x, done := w.commonJS(i, l, r); done {
		return x
	}
	if x, done := w.expando(i, l, r); done {
		return x
	}
	x := w.node(r, mValue)
	w.assignTarget(l, x)
	return x
}

// assignTarget walks the left side of an assignment.
func (w *walker) assignTarget(i int, value facts.ExprID) {
	d := w.d
	for w.op(i) == opParen || w.op(i) == opNonNull {
		c := w.firstNamed(i)
		if c < 0 {
			return
		}
		i = c
	}
	switch k := w.t.Nodes[i].Kind; {
	case k == d.identifier || k == d.objectPattern || k == d.arrayPattern:
		w.assignPattern(i, value)
		if k == d.identifier {
			w.node(i, mPlain)
		}
	case w.op(i) == opMember:
		obj, prop := w.t.Child(i, d.object), w.t.Child(i, d.property)
		if obj < 0 || prop < 0 {
			return
		}
		if w.op(obj) == opThis && w.class >= 0 && value != 0 {
			w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindAttr, Flags: w.flags() & facts.FlagDamaged, Name: w.str(prop),
				Scope: w.scope, Span: w.span(prop), Def: w.class, Import: facts.None, Value: value, Target: w.b.Expr(w.this(facts.ExprThis, obj))})
			return
		}
		w.member(i, i, mValue)
	default:
		w.node(i, mPlain)
	}
}

func (w *walker) list(i int, kind facts.ExprKind) facts.ExprID {
	mark := len(w.stack)
	w.args(i)
	return w.seal(w.make(kind, i), mark)
}

func (w *walker) subscript(i int, m mode) facts.ExprID {
	d := w.d
	obj, idx := w.t.Child(i, d.object), w.t.Child(i, d.index)
	if obj < 0 || idx < 0 {
		w.children(i)
		return 0
	}
	x := w.node(obj, mPlain)
	if w.op(idx) == opString {
		e := w.make(facts.ExprAttr, i)
		e.Name = w.b.Bytes(w.stringText(idx))
		id := w.b.Expr(e, x)
		return id
	}
	y := w.node(idx, mPlain)
	return w.b.Expr(w.make(facts.ExprIndex, i), x, y)
}

func (w *walker) template(i int) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].IsNamed() && w.t.Nodes[c].Kind != w.d.stringFragment {
			w.children(c)
		}
	}
}
