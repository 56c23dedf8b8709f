package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// object walks an object literal. Its functions are definitions.
func (w *walker) object(i int) facts.ExprID {
	d := w.d
	mark := len(w.stack)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if !n.IsNamed() && n.Flags&flat.Error == 0 {
			continue
		}
		inner := len(w.stack)
		var x facts.ExprID
		switch {
		case w.op(c) == opSkip:
			continue
		case n.Kind == d.pair:
			x = w.pair(c)
		case w.op(c) == opMethod:
			x = w.objectMethod(c)
		case w.op(c) == opIdentifier:
			e := w.make(facts.ExprKeyword, c)
			e.Name = w.str(c)
			v := w.node(c, mValue)
			x = w.b.Expr(e, v)
		default:
			x = w.node(c, mPlain) // spread, ERROR
		}
		w.stack = w.stack[:inner]
		if x != 0 {
			w.stack = append(w.stack, x)
		}
	}
	return w.seal(w.make(facts.ExprObject, i), mark)
}

func (w *walker) pair(i int) facts.ExprID {
	d := w.d
	key, val := w.t.Child(i, d.key), w.t.Child(i, d.value)
	if key < 0 || val < 0 {
		w.children(i)
		return 0
	}
	e := w.make(facts.ExprKeyword, i)
	e.Name = w.keyName(key)
	v := w.skipParens(val)
	if o := w.op(v); (o == opArrow || o == opFunctionExpr) && e.Name != 0 {
		e.Def = w.def(facts.Def{Kind: facts.KindMethod, Name: e.Name, Scope: w.scope, Body: facts.None, Span: w.span(i)}, key)
		wasClass := w.class
		if o == opFunctionExpr { // this is the object, not the class around it
			w.class = facts.None
		}
		x := w.function(v, e.Def, e.Def)
		w.class = wasClass
		return w.b.Expr(e, x)
	}
	x := w.node(val, mValue)
	return w.b.Expr(e, x)
}

func (w *walker) skipParens(i int) int {
	for w.op(i) == opParen {
		c := w.firstNamed(i)
		if c < 0 {
			return i
		}
		i = c
	}
	return i
}

func (w *walker) objectMethod(i int) facts.ExprID {
	def := w.method(i, int(w.t.Nodes[i].Start), facts.None, true)
	e := w.make(facts.ExprKeyword, i)
	if def < 0 {
		return 0
	}
	e.Name, e.Def = w.f.Defs[def].Name, def
	fn := w.make(facts.ExprLambda, i)
	fn.Def = def
	if w.f.Defs[def].Kind == facts.KindAccessor {
		fn.Flags |= facts.FlagProperty
	}
	return w.b.Expr(e, w.b.Expr(fn))
}

// jsx walks an element: its name is a use when it means a component.
func (w *walker) jsx(i int) {
	d := w.d
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		switch {
		case !n.IsNamed() && n.Flags&flat.Error == 0:
		case n.Kind == d.jsxOpening:
			w.jsx(c)
		case n.Field == d.name:
			w.jsxName(c, i)
		case n.Kind == d.jsxElement || n.Kind == d.jsxSelf:
			w.node(c, mPlain)
		case w.op(c) == opJSXAttribute:
			for a, e := c+1, int(n.Next); a < e; a = int(w.t.Nodes[a].Next) {
				if w.t.Nodes[a].IsNamed() && w.op(a) != opPropertyIdentifier && w.op(a) != opString && w.t.Nodes[a].Kind != d.jsxNamespaceName {
					w.jsxValue(a)
				}
			}
		case w.op(c) == opTypeArguments:
			mark := len(w.stack)
			w.typeList(c)
			w.stack = w.stack[:mark]
		default:
			w.jsxValue(c)
		}
	}
}

// jsxValue walks an expression container.
func (w *walker) jsxValue(i int) {
	if o := w.op(i); o != opNone {
		w.node(i, mPlain)
		return
	}
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].IsNamed() {
			w.node(c, mValue)
		}
	}
}

func (w *walker) jsxName(i, site int) {
	switch w.op(i) {
	case opIdentifier:
		c := w.src[w.t.Nodes[i].Start]
		if c >= 'a' && c <= 'z' { // an intrinsic element
			return
		}
		w.expr(i, opIdentifier, mJSX)
	case opMember:
		w.member(i, site, mJSX)
	}
}
