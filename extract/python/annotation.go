package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// annotation reads a type: strings in it are forward references.
func (e *extractor) annotation(i int) facts.ExprID {
	saved := e.enter(i)
	id := e.typeExpr(i)
	e.flags = saved
	return id
}

func (e *extractor) typeExpr(i int) facts.ExprID {
	switch e.kind(i) {
	case kType, kParen, kConstrained, kSplatType:
		if c := e.first(i); c >= 0 {
			id := e.annotation(c)
			for rest := int(e.t.Nodes[c].Next); rest < int(e.t.Nodes[i].Next); rest = int(e.t.Nodes[rest].Next) {
				if e.t.Nodes[rest].Flags&flat.Named != 0 {
					e.annotation(rest)
				}
			}
			return id
		}
		return 0
	case kString:
		return e.forward(i)
	case kGeneric, kSubscript:
		return e.generic(i)
	case kUnionType, kBinary:
		base := len(e.kids)
		for c := range e.children(i) {
			e.kids = append(e.kids, e.annotation(c))
		}
		return e.pop(facts.Expr{Kind: facts.ExprUnionType, Def: facts.None, Span: e.span(i)}, base)
	case kList, kTuple, kExprList:
		base := len(e.kids)
		for c := range e.children(i) {
			e.kids = append(e.kids, e.annotation(c))
		}
		return e.pop(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: e.span(i)}, base)
	case kMemberType:
		base := len(e.kids)
		for c := range e.children(i) {
			e.kids = append(e.kids, e.annotation(c))
		}
		return e.pop(facts.Expr{Kind: facts.ExprOpaque, Def: facts.None, Span: e.span(i)}, base)
	}
	if isExpression(e.kind(i)) {
		return e.expression(i)
	}
	e.nodes(i)
	return 0
}

// generic reads List[X]: a generic_type of the grammar or a subscript. The
// arguments of Literal are values, and only the first one of Annotated a type.
func (e *extractor) generic(i int) facts.ExprID {
	base := len(e.kids)
	object := true
	limit := -1
	for c := range e.children(i) {
		switch {
		case object:
			object = false
			x := e.expr(c)
			e.kids = append(e.kids, x)
			switch e.f.Text(e.f.Exprs[x].Name) {
			case "Literal":
				limit = 0
			case "Annotated":
				limit = 1
			}
		case e.kind(c) == kTypeParam:
			for a := range e.children(c) {
				e.typeArgument(a, &limit)
			}
		default:
			e.typeArgument(c, &limit)
		}
	}
	return e.pop(facts.Expr{Kind: facts.ExprIndex, Def: facts.None, Span: e.span(i)}, base)
}

func (e *extractor) typeArgument(i int, limit *int) {
	if *limit == 0 {
		e.expr(i)
		return
	}
	*limit--
	e.kids = append(e.kids, e.annotation(i))
}

// forward reads a string that stands for a type.
func (e *extractor) forward(i int) facts.ExprID {
	body, parts := -1, 0
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		switch e.kind(c) {
		case kStringBody:
			body = c
			parts++
			if int(e.t.Nodes[c].Next) != c+1 {
				parts++ // escapes
			}
		case kInterp:
			parts = 2
		}
	}
	if parts != 1 {
		return e.stringLiteral(i)
	}
	p := typeString{e: e, pos: e.t.Nodes[body].Start, end: e.t.Nodes[body].End}
	id := p.union(0)
	p.space()
	if p.pos != p.end {
		return e.literal("string")
	}
	return id
}

// typeString reads the expression grammar of types inside a string, as far as
// it matters: dotted names, subscripts, unions, lists and quoted names.
type typeString struct {
	e        *extractor
	pos, end uint32
}

// maxTypeDepth bounds the nesting of types in strings.
const maxTypeDepth = 64

func (p *typeString) space() {
	for p.pos < p.end && (p.peek() == ' ' || p.peek() == '\n' || p.peek() == '\t' || p.peek() == '\r') {
		p.pos++
	}
}

func (p *typeString) peek() byte {
	if p.pos < p.end {
		return p.e.src[p.pos]
	}
	return 0
}

func (p *typeString) union(depth int) facts.ExprID {
	start := p.pos
	first := p.postfix(depth)
	p.space()
	if p.peek() != '|' {
		return first
	}
	base := len(p.e.kids)
	p.e.kids = append(p.e.kids, first)
	for p.peek() == '|' {
		p.pos++
		p.e.kids = append(p.e.kids, p.postfix(depth))
		p.space()
	}
	return p.e.pop(facts.Expr{Kind: facts.ExprUnionType, Def: facts.None, Span: facts.Span{Start: start, End: p.pos}}, base)
}

func (p *typeString) postfix(depth int) facts.ExprID {
	p.space()
	start := p.pos
	if depth > maxTypeDepth {
		return 0
	}
	x := p.atom(depth)
	for x != 0 {
		p.space()
		switch p.peek() {
		case '.':
			p.pos++
			p.space()
			at := p.pos
			name := p.word()
			if name == 0 {
				return x
			}
			span := facts.Span{Start: at, End: p.pos}
			whole := facts.Span{Start: start, End: p.pos}
			x = p.e.b.Expr(facts.Expr{Kind: facts.ExprAttr, Name: name, Def: facts.None, Span: whole}, x)
			p.e.ref(facts.RefUse, name, span, x, whole, 0)
		case '[':
			base := len(p.e.kids)
			literal := p.e.f.Text(p.e.f.Exprs[x].Name) == "Literal"
			p.e.kids = append(p.e.kids, x)
			if literal {
				p.skip(']')
			} else {
				p.list(']', depth)
			}
			x = p.e.pop(facts.Expr{Kind: facts.ExprIndex, Def: facts.None, Span: facts.Span{Start: start, End: p.pos}}, base)
		default:
			return x
		}
	}
	return x
}

// list reads the elements up to the closing bracket onto the stack.
func (p *typeString) list(closing byte, depth int) {
	p.pos++
	for {
		p.space()
		c := p.peek()
		if c == 0 {
			return
		}
		if c == closing {
			p.pos++
			return
		}
		if c == ',' {
			p.pos++
			continue
		}
		before := p.pos
		p.e.kids = append(p.e.kids, p.union(depth+1))
		if p.pos == before {
			p.pos = p.end + 1 // not a type: the caller sees that it was not all read
			return
		}
	}
}

func (p *typeString) skip(closing byte) {
	for p.pos < p.end && p.peek() != closing {
		p.pos++
	}
	if p.pos < p.end {
		p.pos++
	}
}

func (p *typeString) atom(depth int) facts.ExprID {
	start := p.pos
	switch c := p.peek(); {
	case c == '[' || c == '(':
		closing := byte(']')
		if c == '(' {
			closing = ')'
		}
		base := len(p.e.kids)
		p.list(closing, depth)
		return p.e.pop(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: facts.Span{Start: start, End: min(p.pos, p.end)}}, base)
	case c == '\'' || c == '"':
		p.pos++
		x := p.union(depth + 1)
		if p.peek() == c {
			p.pos++
		}
		return x
	case c == '.' && p.pos+3 <= p.end:
		p.pos += 3
		return p.e.b.Expr(facts.Expr{Kind: facts.ExprOpaque, Def: facts.None, Span: facts.Span{Start: start, End: p.pos}})
	}
	name := p.word()
	if name == 0 {
		return 0
	}
	span := facts.Span{Start: start, End: p.pos}
	if p.e.f.Text(name) == "None" {
		return p.e.b.Expr(facts.Expr{Kind: facts.ExprLiteral, Name: p.e.b.Str("none"), Def: facts.None, Span: span})
	}
	x := p.e.b.Expr(facts.Expr{Kind: facts.ExprName, Name: name, Level: uint32(p.e.scope), Def: facts.None, Span: span})
	p.e.ref(facts.RefUse, name, span, x, span, 0)
	return x
}

func (p *typeString) word() facts.Str {
	start := p.pos
	for p.pos < p.end {
		c := p.e.src[p.pos]
		if c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80 || c >= '0' && c <= '9' && p.pos > start {
			p.pos++
			continue
		}
		break
	}
	return p.e.b.Bytes(p.e.src[start:p.pos])
}
