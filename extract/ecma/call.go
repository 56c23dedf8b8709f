package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

func (w *walker) call(i int, m mode) facts.ExprID {
	d := w.d
	fn, args := w.t.Child(i, d.function), w.t.Child(i, d.arguments)
	if fn < 0 {
		w.children(i)
		return 0
	}
	if w.t.Nodes[fn].IsNamed() && w.op(fn) == opImportWord {
		return w.dynamicImport(i, args)
	}
	fn, prefix := w.behindPrefix(i, fn)
	cm := mCall
	if m == mDecor {
		cm = mDecorCall
	}
	if args >= 0 && w.op(args) == opTemplate {
		cm = mTag
	}
	if w.op(fn) == opIdentifier && w.is(fn, "require") && args >= 0 {
		if s := w.firstNamed(args); s >= 0 && w.op(s) == opString {
			return w.requireCall(i, fn, s)
		}
	}
	firstRef := len(w.f.Refs)
	mark := len(w.stack)
	callee := w.node(fn, cm)
	// The reference to the callee is the last that its own walk made; it cites the call.
	if n := len(w.f.Refs); n > firstRef && w.f.Refs[n-1].Kind == facts.RefCall && w.f.Refs[n-1].Expr == callee {
		w.f.Refs[n-1].Site = w.span(i)
	}
	if o := w.op(w.skipParens(fn)); o == opCall {
		w.anonymousCall(i, fn, callee)
	}
	if d.typescript {
		if ta := w.t.Child(i, d.typeArguments); ta >= 0 {
			callee = w.withTypeArgs(callee, ta)
		}
	}
	w.stack = append(w.stack, callee)
	if args >= 0 {
		if w.op(args) == opTemplate {
			w.template(args)
		} else {
			w.args(args)
		}
	}
	x := w.seal(w.make(facts.ExprCall, i), mark)
	switch prefix {
	case opAwait:
		return w.b.Expr(w.make(facts.ExprAwait, i), x)
	case opUnary:
		return w.literal(litOpaque)
	}
	return x
}

// behindPrefix gives the callee of a call with type arguments, and the outermost
// prefix before it: the grammar reads await f<T>() and !f<T>() as calls of await f
// and !f, which only parentheses could make them.
func (w *walker) behindPrefix(i, fn int) (callee int, prefix op) {
	if !w.d.typescript || w.t.Child(i, w.d.typeArguments) < 0 {
		return fn, opNone
	}
	for o := w.op(fn); o == opAwait || o == opUnary; o = w.op(fn) {
		c := w.firstNamed(fn)
		if c < 0 {
			break
		}
		if prefix == opNone {
			prefix = o
		}
		fn = c
	}
	return fn, prefix
}

// anonymousCall records the call of what a call gave back, f()(x): a site of
// its own, without a name, at the start of its callee.
func (w *walker) anonymousCall(i, fn int, callee facts.ExprID) {
	var fl facts.Flags
	if w.damaged {
		fl = facts.FlagDamaged
	}
	start := w.t.Nodes[fn].Start
	w.b.Ref(facts.Ref{Kind: facts.RefCall, Flags: fl, Name: w.b.Str(facts.Nameless), Scope: w.scope, Owner: w.owner, Span: facts.Span{Start: start, End: start},
		Expr: callee, Site: w.span(i)})
}

// withTypeArgs wraps an expression with its explicit type arguments.
func (w *walker) withTypeArgs(x facts.ExprID, ta int) facts.ExprID {
	mark := len(w.stack)
	w.stack = append(w.stack, x)
	w.typeList(ta)
	return w.seal(facts.Expr{Kind: facts.ExprIndex, Flags: facts.FlagTypeOnly, Def: facts.None, Span: w.span(ta)}, mark)
}

// args pushes the expressions of an argument list.
func (w *walker) args(i int) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if n.Flags&flat.Named == 0 || w.op(c) == opSkip {
			continue
		}
		mark := len(w.stack)
		x := w.node(c, mValue)
		w.stack = append(w.stack[:mark], x)
	}
}

func (w *walker) newExpr(i int) facts.ExprID {
	d := w.d
	c := w.t.Child(i, d.constructor)
	if c < 0 {
		w.children(i)
		return 0
	}
	mark := len(w.stack)
	firstRef := len(w.f.Refs)
	callee := w.node(c, mNew)
	if n := len(w.f.Refs); n > firstRef && w.f.Refs[n-1].Kind == facts.RefCall && w.f.Refs[n-1].Expr == callee {
		w.f.Refs[n-1].Site = w.span(i)
	}
	if d.typescript {
		if ta := w.t.Child(i, d.typeArguments); ta >= 0 {
			callee = w.withTypeArgs(callee, ta)
		}
	}
	w.stack = append(w.stack, callee)
	if args := w.t.Child(i, d.arguments); args >= 0 {
		w.args(args)
	}
	return w.seal(w.make(facts.ExprNew, i), mark)
}
