package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// isExpression tells expression nodes from the rest. The kind of an ERROR node
// is no index of the table.
func isExpression(kind uint16) bool {
	return int(kind) < len(expressions) && expressions[kind]
}

var expressions = func() (table [512]bool) {
	for _, k := range []uint16{
		kIdentifier, kAttribute, kSubscript, kCall, kParen, kList, kTuple, kSet, kDictionary, kListComp, kSetComp, kDictComp,
		kGenerator, kConditional, kBoolean, kNot, kComparison, kBinary, kUnary, kLambda, kString, kConcatenated, kInteger, kFloat,
		kTrue, kFalse, kNone, kEllipsis, kExprList, kPatternList, kNamed, kYield, kAwait, kListSplat, kDictSplat, kParenSplat, kKeyword,
		kAssignment, kAugmented, kAsPattern, kType, kDottedName, kPair, kSlice, kTuplePattern, kListPattern, kGeneric, kUnionType, kMemberType,
	} {
		table[k] = true
	}
	return table
}()

// expr reads an expression: it gives its place in the expression table and
// notes the references in it.
func (e *extractor) expr(i int) facts.ExprID {
	saved := e.enter(i)
	id := e.expression(i)
	e.flags = saved
	return id
}

func (e *extractor) make(kind facts.ExprKind, i int, kids ...facts.ExprID) facts.ExprID {
	return e.b.Expr(facts.Expr{Kind: kind, Def: facts.None, Span: e.span(i)}, kids...)
}

// literal gives the one expression of a kind of literal, which has no span: a
// fifth of all expressions are literals, and nobody asks where one stands.
func (e *extractor) literal(name string) facts.ExprID {
	id, ok := e.literals[name]
	if !ok {
		id = e.b.Expr(facts.Expr{Kind: facts.ExprLiteral, Name: e.b.Str(name), Def: facts.None})
		e.literals[name] = id
	}
	return id
}

// computed gives an expression whose value is of a literal's kind but that has
// names in it: where it stands decides what they mean.
func (e *extractor) computed(name string, i int) facts.ExprID {
	return e.b.Expr(facts.Expr{Kind: facts.ExprLiteral, Name: e.b.Str(name), Def: facts.None, Span: e.span(i)})
}

func (e *extractor) expression(i int) facts.ExprID {
	switch e.kind(i) {
	case kIdentifier:
		return e.name(i, facts.RefUse, e.span(i))
	case kAttribute:
		return e.attribute(i, facts.RefUse, e.span(i), 0)
	case kCall:
		return e.call(i, 0)
	case kString:
		return e.stringLiteral(i)
	case kInteger, kFloat:
		return e.literal("number")
	case kTrue, kFalse:
		return e.literal("bool")
	case kNone:
		return e.literal("none")
	case kParen, kParenSplat, kType:
		if c := e.first(i); c >= 0 {
			return e.expr(c)
		}
		return 0
	case kTuple, kExprList, kPatternList, kTuplePattern:
		return e.sequence(facts.ExprTuple, i)
	case kList, kListPattern:
		return e.sequence(facts.ExprList, i)
	case kSet:
		return e.sequence(facts.ExprSet, i)
	case kDictionary:
		return e.dictionary(i)
	case kListSplat, kDictSplat:
		return e.sequence(facts.ExprSpread, i)
	case kSubscript:
		return e.subscript(i)
	case kBinary, kBoolean:
		return e.binary(i)
	case kUnary:
		return e.unary(i)
	case kNot:
		return e.b.Expr(facts.Expr{Kind: facts.ExprUnary, Name: e.b.Str("not"), Def: facts.None, Span: e.span(i)}, e.only(i))
	case kComparison:
		for c := range e.children(i) {
			e.expr(c)
		}
		return e.computed("bool", i)
	case kConditional:
		return e.ternary(i)
	case kNamed:
		return e.walrus(i)
	case kAwait:
		return e.make(facts.ExprAwait, i, e.only(i))
	case kYield:
		return e.yield(i)
	case kLambda:
		return e.lambda(i)
	case kListComp, kSetComp, kDictComp, kGenerator:
		return e.comprehension(i)
	case kKeyword:
		return e.keyword(i)
	case kAssignment, kAugmented:
		return e.assignment(i)
	case kConcatenated:
		for c := range e.children(i) {
			e.expr(c)
		}
		return e.computed("string", i)
	case kAsPattern:
		v := e.expr(e.first(i))
		if t := e.t.Child(i, fAlias); t >= 0 {
			e.target(t, facts.BindVar, v, 0)
		}
		return v
	case kGeneric, kUnionType, kMemberType, kSplatType, kConstrained:
		return e.typeExpr(i)
	case kComment:
		return 0
	}
	if isExpression(e.kind(i)) || e.t.Nodes[i].Next == uint32(i+1) {
		return e.sequence(facts.ExprOpaque, i)
	}
	e.nodes(i)
	return e.make(facts.ExprOpaque, i)
}

// only reads the one operand of i.
func (e *extractor) only(i int) facts.ExprID {
	if c := e.first(i); c >= 0 {
		return e.expr(c)
	}
	return 0
}

// sequence reads every child of i.
func (e *extractor) sequence(kind facts.ExprKind, i int) facts.ExprID {
	base := len(e.kids)
	for c := range e.children(i) {
		e.kids = append(e.kids, e.expr(c))
	}
	return e.pop(facts.Expr{Kind: kind, Def: facts.None, Span: e.span(i)}, base)
}

// pop makes an expression of the children above base on the stack.
func (e *extractor) pop(x facts.Expr, base int) facts.ExprID {
	id := e.b.Expr(x, e.kids[base:]...)
	e.kids = e.kids[:base]
	return id
}

func (e *extractor) ref(kind facts.RefKind, name facts.Str, span facts.Span, id facts.ExprID, site facts.Span, flags facts.Flags) int32 {
	return e.b.Ref(facts.Ref{
		Kind: kind, Flags: e.flags | flags, Name: name, Scope: e.scope, Owner: e.owner, Span: span, Expr: id, Site: site,
	})
}

func (e *extractor) name(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	return e.nameFlags(i, kind, site, 0)
}

func (e *extractor) nameFlags(i int, kind facts.RefKind, site facts.Span, flags facts.Flags) facts.ExprID {
	name := e.str(i)
	id := e.b.Expr(facts.Expr{Kind: facts.ExprName, Name: name, Level: uint32(e.scope), Def: facts.None, Span: e.span(i)})
	e.ref(kind, name, e.span(i), id, site, flags)
	return id
}

func (e *extractor) attribute(i int, kind facts.RefKind, site facts.Span, flags facts.Flags) facts.ExprID {
	object, member := e.t.Child(i, fObject), e.t.Child(i, fAttribute)
	if object < 0 || member < 0 {
		return e.sequence(facts.ExprOpaque, i)
	}
	x := e.expr(object)
	name := e.str(member)
	id := e.b.Expr(facts.Expr{Kind: facts.ExprAttr, Name: name, Def: facts.None, Span: e.span(i)}, x)
	e.ref(kind, name, e.span(member), id, site, flags)
	return id
}

// mention reads an expression whose own name is referred to in the given way.
func (e *extractor) mention(i int, kind facts.RefKind, site facts.Span, flags facts.Flags) facts.ExprID {
	switch e.kind(i) {
	case kIdentifier:
		return e.nameFlags(i, kind, site, flags)
	case kAttribute:
		saved := e.enter(i)
		id := e.attribute(i, kind, site, flags)
		e.flags = saved
		return id
	case kParen:
		if c := e.first(i); c >= 0 {
			return e.mention(c, kind, site, flags)
		}
	case kSubscript:
		if kind == facts.RefInherit {
			return e.subscriptOf(i, kind, site)
		}
	}
	return e.expr(i)
}

func (e *extractor) call(i int, flags facts.Flags) facts.ExprID {
	callee, args := e.t.Child(i, fFunction), e.t.Child(i, fArguments)
	if callee < 0 {
		return e.sequence(facts.ExprOpaque, i)
	}
	base := len(e.kids)
	site := e.span(i)
	c := e.mention(callee, facts.RefCall, site, flags)
	e.kids = append(e.kids, c)
	if args >= 0 {
		e.arguments(args, e.f.Exprs[c])
	}
	kind := facts.ExprCall
	id := e.pop(facts.Expr{Kind: kind, Def: facts.None, Span: site}, base)
	e.exportCall(id)
	return id
}

func (e *extractor) arguments(args int, callee facts.Expr) {
	if e.kind(args) != kArguments {
		e.kids = append(e.kids, e.expr(args))
		return
	}
	saved := e.enter(args)
	cast := false
	if e.f.Text(callee.Name) == "cast" { // typing.cast takes two: memoryview.cast is another
		n := 0
		for range e.children(args) {
			n++
		}
		cast = n == 2
	}
	for a := range e.children(args) {
		if cast && (e.kind(a) == kString || e.kind(a) == kSubscript) {
			e.kids = append(e.kids, e.annotation(a))
		} else {
			e.kids = append(e.kids, e.expr(a))
		}
		cast = false
	}
	e.flags = saved
}

// exportCall notes __all__.extend(x) and __all__.append("x").
func (e *extractor) exportCall(id facts.ExprID) {
	if e.scope != 0 {
		return
	}
	callee := e.f.Child(id, 0)
	x := &e.f.Exprs[callee]
	if x.Kind != facts.ExprAttr {
		return
	}
	if o := &e.f.Exprs[e.f.Child(callee, 0)]; o.Kind != facts.ExprName || e.f.Text(o.Name) != "__all__" {
		return
	}
	if m := e.f.Text(x.Name); m == "extend" || m == "append" {
		e.exports(e.f.Child(id, 1))
	}
}

func (e *extractor) keyword(i int) facts.ExprID {
	name, value := e.t.Child(i, fName), e.t.Child(i, fValue)
	if name < 0 || value < 0 {
		return e.sequence(facts.ExprOpaque, i)
	}
	v := e.expr(value)
	return e.b.Expr(facts.Expr{Kind: facts.ExprKeyword, Name: e.str(name), Def: facts.None, Span: e.span(i)}, v)
}

func (e *extractor) dictionary(i int) facts.ExprID {
	base := len(e.kids)
	for c := range e.children(i) {
		if e.kind(c) != kPair {
			e.expr(c) // a splat: its pairs are unknown
			continue
		}
		e.pair(c)
	}
	return e.pop(facts.Expr{Kind: facts.ExprDict, Def: facts.None, Span: e.span(i)}, base)
}

// pair puts a key and its value on the stack.
func (e *extractor) pair(i int) {
	saved := e.enter(i)
	n := 0
	for c := range e.children(i) {
		e.kids = append(e.kids, e.expr(c))
		n++
	}
	for ; n < 2; n++ {
		e.kids = append(e.kids, 0)
	}
	e.flags = saved
}

func (e *extractor) subscript(i int) facts.ExprID {
	return e.subscriptOf(i, facts.RefUse, e.span(i))
}

func (e *extractor) subscriptOf(i int, kind facts.RefKind, site facts.Span) facts.ExprID {
	base := len(e.kids)
	slice := false
	object := true
	for c := range e.children(i) {
		if object {
			object = false
			if kind == facts.RefUse {
				e.kids = append(e.kids, e.expr(c))
			} else {
				e.kids = append(e.kids, e.mention(c, kind, site, 0))
			}
			continue
		}
		slice = slice || e.kind(c) == kSlice
		e.kids = append(e.kids, e.expr(c))
	}
	x := facts.Expr{Kind: facts.ExprIndex, Def: facts.None, Span: e.span(i)}
	if slice {
		x.Kind = facts.ExprSlice
	}
	return e.pop(x, base)
}

func (e *extractor) binary(i int) facts.ExprID {
	base := len(e.kids)
	for c := range e.children(i) {
		e.kids = append(e.kids, e.expr(c))
	}
	op := facts.Str(0)
	if o := e.t.Child(i, fOperator); o >= 0 {
		op = e.str(o)
	}
	if left := e.f.Exprs[e.kids[base]]; e.kind(i) == kBoolean && len(e.kids) == base+2 {
		// The right side is evaluated only where the left one holds, or not.
		e.narrow(e.kids[base], left.End, e.t.Nodes[i].End, e.f.Text(op) == "and")
	}
	return e.pop(facts.Expr{Kind: facts.ExprBinary, Name: op, Def: facts.None, Span: e.span(i)}, base)
}

func (e *extractor) unary(i int) facts.ExprID {
	op := facts.Str(0)
	if o := e.t.Child(i, fOperator); o >= 0 {
		op = e.str(o)
	}
	return e.b.Expr(facts.Expr{Kind: facts.ExprUnary, Name: op, Def: facts.None, Span: e.span(i)}, e.only(i))
}

// ternary reads `then if test else other`.
func (e *extractor) ternary(i int) facts.ExprID {
	var part [3]facts.ExprID
	var node [3]int
	n := 0
	for c := range e.children(i) {
		if n < len(part) {
			part[n], node[n] = e.expr(c), c
			n++
		}
	}
	if n == 3 {
		then, other := e.t.Nodes[node[0]], e.t.Nodes[node[2]]
		e.narrow(part[1], then.Start, then.End, true)
		e.narrow(part[1], other.Start, other.End, false)
	}
	return e.make(facts.ExprCond, i, part[0], part[2])
}

func (e *extractor) yield(i int) facts.ExprID {
	fr := &e.frames[len(e.frames)-1]
	fr.gen = true
	from := false
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		if string(e.t.Text(c)) == "from" {
			from = true
		}
	}
	v := e.only(i)
	if from {
		v = e.make(facts.ExprIter, i, v)
	}
	id := e.b.Expr(facts.Expr{Kind: facts.ExprYield, Level: uint32(e.scope), Def: facts.None, Span: e.span(i)}, v)
	e.results = append(e.results, id)
	return id
}

// walrus binds in the nearest scope that is no comprehension.
func (e *extractor) walrus(i int) facts.ExprID {
	name, value := e.t.Child(i, fName), e.t.Child(i, fValue)
	if name < 0 || value < 0 {
		return e.sequence(facts.ExprOpaque, i)
	}
	v := e.expr(value)
	saved := e.scope
	for e.f.Scopes[e.scope].Kind == facts.ScopeComprehension {
		e.scope = e.f.Scopes[e.scope].Parent
	}
	e.declareName(name, facts.BindVar, v, 0, e.span(i))
	e.scope = saved
	return v
}

// comprehension reads a comprehension or generator expression. The first
// iterable is evaluated outside of its scope.
func (e *extractor) comprehension(i int) facts.ExprID {
	outer := e.scope
	inner := e.b.Scope(facts.Scope{Kind: facts.ScopeComprehension, Parent: outer, Def: facts.None, Span: e.span(i)})
	e.scope = inner
	base := len(e.kids)
	firstFor := true
	for c := range e.children(i) {
		switch e.kind(c) {
		case kForIn:
			e.forIn(c, outer, inner, firstFor)
			firstFor = false
		case kPair:
			e.pair(c)
		case kIfClause:
			v := e.only(c)
			e.narrow(v, e.t.Nodes[i].Start, e.t.Nodes[i].End, true)
		default:
			e.kids = append(e.kids, e.expr(c))
		}
	}
	e.scope = outer
	x := facts.Expr{Kind: facts.ExprList, Flags: facts.FlagGenerator, Def: facts.None, Span: e.span(i)}
	switch e.kind(i) {
	case kSetComp:
		x.Kind = facts.ExprSet
	case kDictComp:
		x.Kind = facts.ExprDict
	case kListComp:
		x.Flags = 0
	}
	return e.pop(x, base)
}

func (e *extractor) forIn(i int, outer, inner facts.ScopeID, first bool) {
	saved := e.enter(i)
	async := facts.Flags(0)
	left := -1
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		n := &e.t.Nodes[c]
		switch {
		case n.Kind == tAsync:
			async = facts.FlagAsync
		case !n.IsNamed() || n.Kind == kComment:
		case n.Field == fLeft:
			left = c
		case left >= 0:
			if first {
				e.scope = outer
			}
			v := e.expr(c)
			e.scope = inner
			v = e.b.Expr(facts.Expr{Kind: facts.ExprIter, Flags: async, Def: facts.None, Span: e.span(c)}, v)
			e.target(left, facts.BindFor, v, 0)
			left = -1
		}
	}
	e.flags = saved
}
