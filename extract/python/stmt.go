package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// node reads a statement, or whatever else stands where one could.
func (e *extractor) node(i int) {
	n := &e.t.Nodes[i]
	if n.Flags&(flat.Named|flat.Error|flat.Missing) == 0 || n.Kind == kComment {
		return
	}
	saved := e.enter(i)
	e.statement(i)
	e.flags = saved
}

func (e *extractor) statement(i int) {
	switch e.kind(i) {
	case kExpression, kReturn, kRaise, kAssert:
		e.simple(i)
	case kFunction:
		e.function(i, i, 0)
	case kClass:
		e.class(i, i, 0)
	case kDecorated:
		e.decorated(i)
	case kImport:
		e.importModules(i)
	case kImportFrom, kImportFuture:
		e.importFrom(i)
	case kIf:
		e.ifStatement(i)
	case kFor:
		e.forStatement(i)
	case kWith:
		e.with(i)
	case kMatch:
		e.match(i)
	case kTry, kWhile:
		e.conditional(i)
	case kExcept:
		e.except(i)
	case kGlobal, kNonlocal:
		e.declareScope(i)
	case kTypeAlias:
		e.typeAlias(i)
	case kDelete:
		for c := range e.children(i) {
			e.remove(c)
		}
	case kBlock:
		end := e.blockEnd
		e.blockEnd = e.t.Nodes[i].End
		e.nodes(i)
		e.blockEnd = end
	default:
		if isExpression(e.kind(i)) {
			e.expr(i)
			return
		}
		e.nodes(i)
	}
}

// nodes reads every child of i as a statement.
func (e *extractor) nodes(i int) {
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		e.node(c)
	}
}

// children yields the named children of i that are no comments.
func (e *extractor) children(i int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
			n := &e.t.Nodes[c]
			if n.Flags&(flat.Named|flat.Error) != 0 && n.Kind != kComment {
				if !yield(c) {
					return
				}
			}
		}
	}
}

// first gives the first named child of i that is no comment, or -1.
func (e *extractor) first(i int) int {
	for c := range e.children(i) {
		return c
	}
	return -1
}

func (e *extractor) simple(i int) {
	kind := e.kind(i)
	for c := range e.children(i) {
		switch e.kind(c) {
		case kAssignment, kAugmented:
			e.assignment(c)
			continue
		}
		v := e.expr(c)
		switch kind {
		case kReturn:
			e.results = append(e.results, v)
		case kAssert:
			e.narrow(v, e.t.Nodes[c].End, e.blockEnd, true)
		}
	}
}

// branch reads node i as a block that may not run: bindings in it are
// conditional until end.
func (e *extractor) branch(i int, end uint32) {
	flags, cond := e.flags, e.condEnd
	e.flags |= facts.FlagConditional
	e.condEnd = end
	e.node(i)
	e.flags, e.condEnd = flags, cond
}

// conditional reads try and while: every block in it may not run, but for a
// finally clause.
func (e *extractor) conditional(i int) {
	for c := range e.children(i) {
		switch e.kind(c) {
		case kBlock, kElse, kExcept:
			e.branch(c, e.t.Nodes[c].End)
		default:
			e.node(c)
		}
	}
}

// except reads `except E as e`. The name is deleted when the clause ends.
func (e *extractor) except(i int) {
	for c := range e.children(i) {
		switch {
		case e.kind(c) == kBlock:
			e.node(c)
		case e.kind(c) == kAsPattern:
			v := e.expr(e.first(c))
			if t := e.t.Child(c, fAlias); t >= 0 {
				e.target(t, facts.BindCatch, v, 0)
			}
		case e.t.Nodes[c].Field == fAlias:
			e.target(c, facts.BindCatch, 0, 0)
		default:
			e.expr(c)
		}
	}
}

func (e *extractor) ifStatement(i int) {
	end := e.t.Nodes[i].End
	condition, checking := facts.ExprID(0), 0
	for c := range e.children(i) {
		n := &e.t.Nodes[c]
		switch {
		case n.Field == fCondition:
			condition = e.expr(c)
			checking = e.typeChecking(condition)
		case n.Field == fConsequence:
			e.consequence(c, condition, checking)
			e.narrow(condition, n.End, end, false)
			if e.leaves(c) {
				e.narrow(condition, end, e.blockEnd, false)
			}
		case n.Kind == kElif:
			e.elif(c, end)
		case n.Kind == kElse:
			flags := e.flags
			if checking < 0 {
				e.flags |= facts.FlagTypeChecking
				e.nodes(c)
			} else {
				e.branch(c, n.End)
			}
			e.flags = flags
		default:
			e.node(c)
		}
	}
}

// consequence reads the block that runs when the condition holds.
func (e *extractor) consequence(c int, condition facts.ExprID, checking int) {
	end := e.t.Nodes[c].End
	e.narrow(condition, e.t.Nodes[c].Start, end, true)
	if checking > 0 {
		flags := e.flags
		e.flags |= facts.FlagTypeChecking
		e.node(c)
		e.flags = flags
		return
	}
	e.branch(c, end)
}

// elif reads one elif clause of an if statement that ends at end.
func (e *extractor) elif(i int, end uint32) {
	saved := e.enter(i)
	condition := facts.ExprID(0)
	for c := range e.children(i) {
		switch e.t.Nodes[c].Field {
		case fCondition:
			condition = e.expr(c)
		case fConsequence:
			e.consequence(c, condition, 0)
			e.narrow(condition, e.t.Nodes[c].End, end, false)
		default:
			e.node(c)
		}
	}
	e.flags = saved
}

// typeChecking says whether a condition is TYPE_CHECKING (1), its negation
// (-1), or something else.
func (e *extractor) typeChecking(id facts.ExprID) int {
	x := &e.f.Exprs[id]
	switch x.Kind {
	case facts.ExprName, facts.ExprAttr:
		if e.f.Text(x.Name) == "TYPE_CHECKING" {
			return 1
		}
	case facts.ExprUnary:
		if e.f.Text(x.Name) == "not" {
			return -e.typeChecking(e.f.Child(id, 0))
		}
	}
	return 0
}

// leaves says whether a block ends by leaving the enclosing one.
func (e *extractor) leaves(block int) bool {
	last := -1
	for c := range e.children(block) {
		last = c
	}
	if last < 0 {
		return false
	}
	switch e.kind(last) {
	case kReturn, kRaise, kBreak, kContinue:
		return true
	}
	return false
}

// narrow notes what a condition that is known to hold (or not to) says of the
// class of a name between two offsets.
func (e *extractor) narrow(id facts.ExprID, from, to uint32, holds bool) {
	x := e.f.Exprs[id]
	switch x.Kind {
	case facts.ExprUnary:
		if e.f.Text(x.Name) == "not" {
			e.narrow(e.f.Child(id, 0), from, to, !holds)
		}
	case facts.ExprBinary:
		op := e.f.Text(x.Name)
		if holds && op == "and" || !holds && op == "or" {
			// The left side is known already while the right one is evaluated.
			left := e.f.Child(id, 0)
			e.narrow(left, min(from, e.f.Exprs[left].End), to, holds)
			e.narrow(e.f.Child(id, 1), from, to, holds)
		}
	case facts.ExprCall:
		if !holds {
			return
		}
		callee, subject, class := e.f.Exprs[e.f.Child(id, 0)], e.f.Child(id, 1), e.f.Child(id, 2)
		s := e.f.Exprs[subject]
		if callee.Kind == facts.ExprName && e.f.Text(callee.Name) == "isinstance" && class != 0 && s.Kind == facts.ExprName {
			e.narrowName(s.Name, class, from, to)
		}
	}
}

func (e *extractor) narrowName(name facts.Str, class facts.ExprID, from, to uint32) {
	e.f.Bindings = append(e.f.Bindings, facts.Binding{
		Kind: facts.BindNarrow, Flags: e.flags, Name: name, Scope: e.scope, Span: facts.Span{Start: from, End: from},
		Def: facts.None, Import: facts.None, Type: class, Order: to,
	})
}

func (e *extractor) forStatement(i int) {
	async := facts.Flags(0)
	if e.kind(i+1) == tAsync {
		async = facts.FlagAsync
	}
	left := -1
	end := e.t.Nodes[i].End
	for c := range e.children(i) {
		n := &e.t.Nodes[c]
		switch n.Field {
		case fLeft:
			left = c
		case fRight:
			v := e.b.Expr(facts.Expr{Kind: facts.ExprIter, Flags: async, Def: facts.None, Span: e.span(c)}, e.expr(c))
			if left >= 0 {
				flags, cond := e.flags, e.condEnd
				e.flags |= facts.FlagConditional
				e.condEnd = end
				e.target(left, facts.BindFor, v, 0)
				e.flags, e.condEnd = flags, cond
			}
		default:
			e.branch(c, n.End)
		}
	}
}

func (e *extractor) with(i int) {
	async := facts.Flags(0)
	if e.kind(i+1) == tAsync {
		async = facts.FlagAsync
	}
	for c := range e.children(i) {
		if e.kind(c) != kWithClause {
			e.node(c)
			continue
		}
		for item := range e.children(c) {
			e.withItem(item, async)
		}
	}
}

func (e *extractor) withItem(i int, async facts.Flags) {
	v := e.t.Child(i, fValue)
	if v < 0 {
		e.node(i)
		return
	}
	alias := -1
	if e.kind(v) == kAsPattern {
		alias = e.t.Child(v, fAlias)
		v = e.first(v)
	}
	x := e.expr(v)
	if alias >= 0 {
		x = e.b.Expr(facts.Expr{Kind: facts.ExprEnter, Flags: async, Def: facts.None, Span: e.span(v)}, x)
		e.target(alias, facts.BindWith, x, 0)
	}
}

// declareScope reads global and nonlocal statements.
func (e *extractor) declareScope(i int) {
	kind, scope := facts.BindGlobal, facts.ScopeID(0)
	fr := &e.frames[len(e.frames)-1]
	for c := range e.children(i) {
		name := e.str(c)
		if e.kind(i) == kNonlocal {
			kind, scope = facts.BindNonlocal, e.outerScope(name)
		}
		fr.moved = append(fr.moved, moved{name, scope})
		e.bind(facts.Binding{Kind: kind, Flags: e.flags, Name: name, Scope: fr.scope, Span: e.span(c), Def: facts.None, Import: facts.None})
	}
}

// outerScope gives the function scope that a nonlocal name means: the nearest
// enclosing one that has bound it so far, else the nearest one.
func (e *extractor) outerScope(name facts.Str) facts.ScopeID {
	nearest := facts.ScopeID(0)
	for s := e.f.Scopes[e.frames[len(e.frames)-1].scope].Parent; s > 0; s = e.f.Scopes[s].Parent {
		if e.f.Scopes[s].Kind != facts.ScopeFunction {
			continue
		}
		if nearest == 0 {
			nearest = s
		}
		for i := len(e.f.Bindings) - 1; i >= 0; i-- {
			if b := &e.f.Bindings[i]; b.Scope == s && b.Name == name {
				return s
			}
		}
	}
	return nearest
}

func (e *extractor) remove(i int) {
	switch e.kind(i) {
	case kExprList, kTuple, kList, kParen:
		for c := range e.children(i) {
			e.remove(c)
		}
	case kIdentifier:
		e.bind(facts.Binding{Kind: facts.BindDelete, Flags: e.flags, Name: e.str(i), Scope: e.scope, Span: e.span(i), Def: facts.None, Import: facts.None, Order: e.condEnd})
	default:
		e.expr(i)
	}
}
