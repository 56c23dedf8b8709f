package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// match reads a match statement.
func (e *extractor) match(i int) {
	subject := facts.ExprID(0)
	for c := range e.children(i) {
		switch {
		case e.t.Nodes[c].Field == fSubject:
			subject = e.expr(c)
		case e.kind(c) == kBlock:
			for k := range e.children(c) {
				if e.kind(k) == kCase {
					e.caseClause(k, subject)
				} else {
					e.node(k)
				}
			}
		default:
			e.node(c)
		}
	}
}

func (e *extractor) caseClause(i int, subject facts.ExprID) {
	saved := e.enter(i)
	flags, cond := e.flags, e.condEnd
	end := e.t.Nodes[i].End
	e.flags |= facts.FlagConditional
	e.condEnd = end
	for c := range e.children(i) {
		if e.kind(c) != kCasePattern {
			e.node(c)
			continue
		}
		class := e.pattern(c, subject, subject)
		if s := e.f.Exprs[subject]; class != 0 && s.Kind == facts.ExprName {
			e.narrowName(s.Name, class, e.t.Nodes[c].End, end)
		}
	}
	e.flags, e.condEnd = flags, cond
	e.flags = saved
}

// pattern reads a pattern that is matched against value and gives the class
// that it requires, or 0.
func (e *extractor) pattern(i int, value, subject facts.ExprID) facts.ExprID {
	switch e.kind(i) {
	case kCasePattern:
		if c := e.first(i); c >= 0 {
			return e.pattern(c, value, subject)
		}
	case kDottedName:
		first := e.first(i)
		if first >= 0 && int(e.t.Nodes[first].Next) == int(e.t.Nodes[i].Next) {
			if string(e.t.Text(first)) != "_" {
				e.declareName(first, facts.BindMatch, value, 0, e.span(i))
			}
			return 0
		}
		e.dottedExpr(i, facts.RefUse)
	case kAsPattern:
		class := facts.ExprID(0)
		for c := range e.children(i) {
			if e.kind(c) == kIdentifier {
				e.captureAs(c, value, class)
			} else {
				class = e.pattern(c, value, subject)
			}
		}
		return class
	case kClassPattern:
		class := facts.ExprID(0)
		for c := range e.children(i) {
			if e.kind(c) == kDottedName && class == 0 {
				class = e.dottedExpr(c, facts.RefUse)
				continue
			}
			e.pattern(c, 0, subject)
		}
		return class
	case kKeyPattern:
		skip := true
		for c := range e.children(i) {
			if skip {
				skip = false
				continue
			}
			e.pattern(c, 0, subject)
		}
	case kCaseSplat:
		if c := e.first(i); c >= 0 && e.kind(c) == kIdentifier && string(e.t.Text(c)) != "_" {
			e.declareName(c, facts.BindMatch, 0, 0, e.span(i))
		}
	case kUnionPattern, kListPattern, kTuplePattern, kMapping:
		for c := range e.children(i) {
			e.pattern(c, 0, subject)
		}
	default:
		if isExpression(e.kind(i)) {
			e.expr(i)
		} else {
			for c := range e.children(i) {
				e.pattern(c, 0, subject)
			}
		}
	}
	return 0
}

func (e *extractor) captureAs(c int, value, class facts.ExprID) {
	name := e.t.Text(c)
	if string(name) == "_" {
		return
	}
	at := len(e.f.Bindings)
	e.declareName(c, facts.BindMatch, value, 0, e.span(c))
	if class != 0 {
		e.narrowName(e.f.Bindings[at].Name, class, e.t.Nodes[c].End, e.condEnd)
	}
}

// dottedExpr makes an expression of a dotted name in a pattern.
func (e *extractor) dottedExpr(i int, kind facts.RefKind) facts.ExprID {
	x := facts.ExprID(0)
	start := e.t.Nodes[i].Start
	for c := range e.children(i) {
		if x == 0 {
			x = e.name(c, kind, e.span(i))
			continue
		}
		name := e.str(c)
		x = e.b.Expr(facts.Expr{Kind: facts.ExprAttr, Name: name, Def: facts.None, Span: facts.Span{Start: start, End: e.t.Nodes[c].End}}, x)
		e.ref(kind, name, e.span(c), x, e.span(i), 0)
	}
	return x
}
