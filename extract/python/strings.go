package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// stringLiteral reads a string: what is interpolated into it is code.
func (e *extractor) stringLiteral(i int) facts.ExprID {
	body, parts := -1, 0
	name := "string"
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		switch e.kind(c) {
		case kStringStart:
			for _, ch := range e.t.Text(c) {
				if ch == 'b' || ch == 'B' {
					name = "bytes"
				}
			}
		case kInterp:
			e.interpolation(c)
			parts = 2
		case kStringBody:
			body = c
			parts++
		}
	}
	if e.scope == 0 && parts == 1 && word(e.t.Text(body)) {
		return e.b.Expr(facts.Expr{Kind: facts.ExprString, Name: e.str(body), Def: facts.None, Span: e.span(i)})
	}
	if parts > 1 {
		return e.computed(name, i)
	}
	return e.literal(name)
}

// interpolation reads the expressions of {x!r:{width}}.
func (e *extractor) interpolation(i int) {
	for c := range e.children(i) {
		if isExpression(e.kind(c)) {
			e.expr(c)
		} else {
			e.interpolation(c)
		}
	}
}

// word says whether a string could be the name of something.
func word(s []byte) bool {
	if len(s) == 0 || len(s) > 128 {
		return false
	}
	for _, c := range s {
		if c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') && (c < 'a' || c > 'z') && c < 0x80 {
			return false
		}
	}
	return true
}
