package ecma

import "github.com/exhibit-dev/exhibit/extract/facts"

// ifStatement walks an if: where its condition tests what a name is, the name
// is bound to that in the branch that is then taken.
func (w *walker) ifStatement(i int) {
	d, was := w.d, w.cond
	cond := w.t.Child(i, d.condition)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		switch {
		case c == cond || !n.IsNamed() && n.Flags == 0:
			if c == cond {
				w.node(c, mPlain)
			}
		case n.Field == d.consequence:
			w.cond = true
			w.narrowed(cond, c, mPlain)
			w.cond = was
		default:
			w.cond = w.cond || n.Field == d.alternative
			if n.IsNamed() || n.Flags != 0 {
				w.node(c, mPlain)
			}
			w.cond = was
		}
	}
}

// narrowed walks a node that is reached only when a condition holds.
func (w *walker) narrowed(cond, i int, m mode) facts.ExprID {
	was := w.scope
	if cond >= 0 {
		w.narrow(cond, i)
	}
	x := w.node(i, m)
	w.scope = was
	return x
}

// narrow binds the names that a condition tests, in a scope around node i.
func (w *walker) narrow(cond, i int) {
	d := w.d
	cond = w.skipParens(cond)
	switch w.op(cond) {
	case opBinary:
		l, r, o := w.t.Child(cond, d.left), w.t.Child(cond, d.right), w.t.Child(cond, d.operator)
		if l < 0 || r < 0 || o < 0 {
			return
		}
		switch {
		case w.is(o, "&&"):
			w.narrow(l, i)
			w.narrow(r, i)
		case w.is(o, "instanceof"):
			if w.op(l) == opIdentifier && (w.op(r) == opIdentifier || w.op(r) == opMember) {
				w.bindMatch(l, i, facts.ExprNew, r)
			}
		}
	case opCall: // isFoo(x), where isFoo tells that x is a Foo
		fn, args := w.t.Child(cond, d.function), w.t.Child(cond, d.arguments)
		if !d.typescript || fn < 0 || args < 0 || w.op(fn) != opIdentifier && w.op(fn) != opMember {
			return
		}
		if a := w.firstNamed(args); a >= 0 && w.op(a) == opIdentifier {
			w.bindMatch(a, i, facts.ExprPredicate, fn)
		}
	}
}

func (w *walker) bindMatch(name, i int, kind facts.ExprKind, test int) {
	x := w.node(test, mQuiet)
	if s := &w.f.Scopes[w.scope]; s.Kind != facts.ScopeBlock || s.Span != w.span(i) {
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: w.scope, Def: facts.None, Span: w.span(i)})
	}
	e := w.make(kind, test)
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindMatch, Flags: facts.FlagConditional, Name: w.str(name), Scope: w.scope,
		Span: w.span(name), Def: facts.None, Import: facts.None, Value: w.b.Expr(e, x)})
}
