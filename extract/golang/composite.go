package golang

import "github.com/exhibit-dev/exhibit/extract/facts"

func (w *walker) composite(i int) facts.ExprID {
	var t facts.ExprID
	if c := w.child(i, fieldType); c >= 0 {
		t = w.typ(c)
	}
	if body := w.child(i, fieldBody); body >= 0 {
		w.literalValue(body, t)
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprComposite, Def: facts.None, Span: w.span(i)}, t)
}

// literalValue visits the braces of a composite literal of type t, which may be
// 0 when it is not known.
func (w *walker) literalValue(i int, t facts.ExprID) {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		switch w.n[c].Kind {
		case kindElement:
			w.element(c, t, facts.ExprIter)
		case kindKeyed:
			if key := w.child(c, fieldKey); key >= 0 {
				w.key(key, t)
			}
			if value := w.child(c, fieldValue); value >= 0 {
				w.element(value, t, facts.ExprIter)
			}
		default:
			w.node(c)
		}
	}
}

// element visits an element or key; a nested brace is of the part of t that
// part names.
func (w *walker) element(i int, t facts.ExprID, part facts.ExprKind) {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Kind == kindLiteral {
			w.literalValue(c, w.wrap(part, t, c))
		} else {
			w.node(c)
		}
	}
}

// key visits the key of an element. An identifier may be a field of t, when t is
// a struct, or a name: the resolver decides.
func (w *walker) key(i int, t facts.ExprID) {
	c := i + 1
	if w.next(i) != c+1 || w.op(c) != opIdent {
		w.element(i, t, facts.ExprKey)
		return
	}
	name := w.str(c)
	e := facts.Expr{Kind: facts.ExprMember, Name: name, Level: uint32(w.lookup(name) + 1), Def: facts.None, Span: w.span(c)}
	w.ref(facts.RefUse, c, w.b.Expr(e, t), w.span(c))
}
