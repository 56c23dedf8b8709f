package golang

import "github.com/exhibit-dev/exhibit/extract/facts"

// node visits a statement, a declaration, or an expression whose value nobody
// asks for.
func (w *walker) node(i int) {
	if !w.n[i].IsNamed() && w.next(i) == i+1 {
		return
	}
	switch w.op(i) {
	case opSkip:
	case opOther:
		w.children(i)
	case opPackage:
		w.packageClause(i)
	case opImport:
		w.importSpec(i)
	case opFunction:
		w.function(i)
	case opMethod:
		w.method(i)
	case opVarDecl:
		w.varDecl(i)
	case opVarSpec:
		w.values(i, w.span(i), facts.KindVariable)
	case opConstDecl:
		w.constDecl(i)
	case opConstSpec:
		w.values(i, w.span(i), facts.KindConstant)
	case opTypeDecl:
		w.typeDecl(i)
	case opTypeSpec, opTypeAlias:
		w.typeSpec(i, w.span(i))
	case opBlock, opIf, opFor, opSwitch, opCase:
		// Each opens a block: the parts stand in the order of the source, and
		// what an initializer declares is in force in all that follow.
		mark, block := w.push()
		w.children(i)
		w.pop(mark, block)
	case opShortVar:
		w.shortVar(i)
	case opAssign:
		w.assign(i)
	case opRange:
		w.rangeClause(i)
	case opTypeSwitch:
		w.typeSwitch(i)
	case opComm:
		mark, block := w.push()
		w.children(i)
		w.pop(mark, block)
	case opReceive:
		w.receive(i)
	case opLabeled:
		for c, end := i+1, w.next(i); c < end; c = w.next(c) {
			if w.n[c].Field != fieldLabel {
				w.node(c)
			}
		}
	default:
		w.expr(i, false)
	}
}

// exprList builds the expressions of a list node, which may be -1 or a single
// expression.
func (w *walker) exprList(i int, want bool) []facts.ExprID {
	if i < 0 {
		return nil
	}
	if w.op(i) != opOther {
		return []facts.ExprID{w.expr(i, want)}
	}
	var list []facts.ExprID
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].IsNamed() && w.op(c) != opSkip {
			list = append(list, w.expr(c, want))
		}
	}
	return list
}

// declare binds the names of the left side of ":=" that are new in this block;
// the others are assigned. value gives what the k-th of n names gets.
func (w *walker) declare(left int, kind facts.BindKind, value func(k, n int) facts.ExprID) {
	if left < 0 {
		return
	}
	n := 0
	for c, end := left+1, w.next(left); c < end; c = w.next(c) {
		if w.n[c].IsNamed() && w.op(c) != opSkip {
			n++
		}
	}
	k := 0
	for c, end := left+1, w.next(left); c < end; c = w.next(c) {
		if !w.n[c].IsNamed() || w.op(c) == opSkip {
			continue
		}
		if w.op(c) != opIdent { // only in damaged source
			w.expr(c, false)
			k++
			continue
		}
		name := w.str(c)
		if b := w.lookup(name); b >= 0 && w.blockOf[b] == w.block {
			w.f.Bindings[b].Flags |= facts.FlagRebound
		} else {
			w.bind(facts.Binding{Kind: kind, Name: name, Span: w.span(c), Def: facts.None, Import: facts.None, Value: value(k, n)})
		}
		k++
	}
}

func (w *walker) shortVar(i int) {
	values := w.exprList(w.child(i, fieldRight), true)
	w.declare(w.child(i, fieldLeft), facts.BindVar, func(k, n int) facts.ExprID { return w.part(values, k, n) })
}

func (w *walker) assign(i int) {
	if left := w.child(i, fieldLeft); left >= 0 {
		for c, end := left+1, w.next(left); c < end; c = w.next(c) {
			if w.op(c) == opIdent {
				if b := w.lookup(w.str(c)); b >= 0 {
					w.f.Bindings[b].Flags |= facts.FlagRebound
				}
			}
			w.node(c)
		}
	}
	w.exprList(w.child(i, fieldRight), false)
}

func (w *walker) wrap(kind facts.ExprKind, x facts.ExprID, i int) facts.ExprID {
	if x == 0 {
		return 0
	}
	return w.b.Expr(facts.Expr{Kind: kind, Def: facts.None, Span: w.span(i)}, x)
}

func (w *walker) rangeClause(i int) {
	left, right := w.child(i, fieldLeft), w.child(i, fieldRight)
	define := w.hasToken(i, tokenDefine)
	if left >= 0 && !define {
		w.children(left)
	}
	if right < 0 {
		return
	}
	x := w.expr(right, left >= 0 && define)
	if define {
		w.declare(left, facts.BindFor, func(k, n int) facts.ExprID {
			if k == 0 {
				return w.wrap(facts.ExprKey, x, right)
			}
			return w.wrap(facts.ExprIter, x, right)
		})
	}
}

func (w *walker) receive(i int) {
	left, right := w.child(i, fieldLeft), w.child(i, fieldRight)
	define := w.hasToken(i, tokenDefine)
	if left >= 0 && !define {
		w.children(left)
	}
	if right < 0 {
		return
	}
	x := w.expr(right, define)
	if define {
		w.declare(left, facts.BindVar, func(k, n int) facts.ExprID { return w.part([]facts.ExprID{x}, k, n) })
	}
}

// typeSwitch binds the switched variable anew in every clause: with the type of
// the clause when it is one type, with that of the operand otherwise.
func (w *walker) typeSwitch(i int) {
	mark, block := w.push()
	alias, value := w.child(i, fieldAlias), facts.ExprID(0)
	name := -1
	if alias >= 0 {
		for c := alias; c < w.next(alias); c++ {
			if w.op(c) == opIdent {
				name = c
				break
			}
		}
	}
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		switch {
		case w.n[c].Field == fieldAlias:
		case w.n[c].Field == fieldValue:
			value = w.expr(c, true)
		case w.op(c) == opTypeCase || w.op(c) == opCase:
			w.typeCase(c, name, value)
		default:
			w.node(c)
		}
	}
	w.pop(mark, block)
}

func (w *walker) typeCase(i, name int, value facts.ExprID) {
	mark, block := w.push()
	var types []facts.ExprID
	bound := name < 0
	bind := func() {
		if bound {
			return
		}
		bound = true
		b := facts.Binding{Kind: facts.BindVar, Name: w.str(name), Span: w.span(name), Def: facts.None, Import: facts.None, Value: value}
		if len(types) == 1 && types[0] != 0 {
			b.Type, b.Value = types[0], 0
		}
		w.bind(b)
	}
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		switch {
		case w.n[c].Field == fieldType && w.n[c].IsNamed():
			if w.op(c) == opNil || w.n[c].End-w.n[c].Start == 3 && string(w.tree.Text(c)) == "nil" {
				types = append(types, 0)
			} else {
				types = append(types, w.typ(c))
			}
		case w.n[c].IsNamed() && w.op(c) != opSkip:
			bind()
			w.node(c)
		}
	}
	w.pop(mark, block)
}
