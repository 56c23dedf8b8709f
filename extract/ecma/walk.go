package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// mode is the position that an expression stands in; it decides which
// reference, if any, the name there makes.
type mode uint8

const (
	mPlain   mode = iota // a name is a use; a member is not looked at by itself
	mValue               // the value goes somewhere: a member is a use too
	mCall                // callee
	mNew                 // callee of new
	mTag                 // tag of a template
	mInherit             // base of a class
	mDecor               // decorator without call
	mDecorCall
	mJSX
	mQuiet // no reference
)

// walker holds the state of the one descent.
type walker struct {
	d   *dialect
	t   flat.Tree
	src []byte
	b   *facts.Builder
	f   *facts.File

	scope    facts.ScopeID // innermost scope
	varScope facts.ScopeID // where var declares
	owner    facts.DefID   // innermost named definition
	class    facts.DefID   // the class that this means, or None
	body     facts.DefID   // innermost function, named or not, for returns
	bound    facts.DefID   // innermost function that is no arrow: the one that binds this
	returns  []facts.ExprID
	damaged  bool
	ambient  bool
	static   bool // this means the class itself
	inFunc   bool // inside a function body
	cond     bool // inside an if, a loop or a try
	with     bool // inside with (x) {}: a name may be a member of x
	assigned []assignment

	stack   []facts.ExprID // children of the expressions in the making
	litExpr [8]facts.ExprID
}

type assignment struct {
	scope facts.ScopeID
	name  facts.Str
	span  facts.Span
	value facts.ExprID
}

// presize makes room for what a tree of n nodes usually gives.
func (w *walker) presize(n int) {
	f := w.f
	f.Exprs = append(make([]facts.Expr, 0, n/5+8), f.Exprs...)
	f.Kids = make([]facts.ExprID, 0, n/5+8)
	f.Refs = make([]facts.Ref, 0, n/12+8)
	f.Bindings = make([]facts.Binding, 0, n/30+8)
	f.Defs = make([]facts.Def, 0, n/60+8)
}

func (w *walker) run() {
	w.body, w.bound = facts.None, facts.None
	if len(w.t.Nodes) > 0 {
		w.noteDamage(0)
		w.children(0)
	}
	w.finish()
}

func (w *walker) op(i int) op {
	if k := int(w.t.Nodes[i].Kind); k < len(w.d.ops) {
		return w.d.ops[k]
	}
	return opNone
}

func (w *walker) span(i int) facts.Span {
	return facts.Span{Start: w.t.Nodes[i].Start, End: w.t.Nodes[i].End}
}

func (w *walker) str(i int) facts.Str {
	n := w.t.Nodes[i]
	return w.b.Bytes(w.src[n.Start:n.End])
}

func (w *walker) is(i int, word string) bool { return string(w.t.Text(i)) == word }

// has says whether node i has a direct token child that spells word.
func (w *walker) has(i int, word string) bool {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if n := w.t.Nodes[c]; !n.IsNamed() && int(n.End-n.Start) == len(word) && string(w.src[n.Start:n.End]) == word {
			return true
		}
	}
	return false
}

// child gives the first direct child of a kind, or -1.
func (w *walker) child(i int, kind uint16) int {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Kind == kind {
			return c
		}
	}
	return -1
}

// firstNamed gives the first direct named child that is no comment, or -1.
func (w *walker) firstNamed(i int) int {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].IsNamed() && w.op(c) != opSkip {
			return c
		}
	}
	return -1
}

// lastNamed gives the last direct named child that is no comment, or -1.
func (w *walker) lastNamed(i int) int {
	last := -1
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].IsNamed() && w.op(c) != opSkip {
			last = c
		}
	}
	return last
}

// noteDamage enters damage when node i is an ERROR node or lacks a MISSING
// token, and says whether it did; the caller restores w.damaged.
func (w *walker) noteDamage(i int) {
	n := w.t.Nodes[i]
	if n.Flags&flat.HasError == 0 && n.Flags&(flat.Error|flat.Missing) == 0 {
		return
	}
	bad := n.Flags&(flat.Error|flat.Missing) != 0
	for c, end := i+1, int(n.Next); !bad && c < end; c = int(w.t.Nodes[c].Next) {
		bad = w.t.Nodes[c].Flags&flat.Missing != 0
	}
	if bad {
		if !w.damaged {
			w.f.Damage = append(w.f.Damage, w.span(i))
		}
		w.damaged = true
	}
}

func (w *walker) children(i int) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Flags&(flat.Named|flat.Error|flat.Missing) != 0 {
			w.node(c, mPlain)
		}
	}
}

func (w *walker) flags() facts.Flags {
	var fl facts.Flags
	if w.damaged {
		fl |= facts.FlagDamaged
	}
	if w.ambient {
		fl |= facts.FlagDeclare
	}
	if w.inFunc {
		fl |= facts.FlagLocal
	}
	return fl
}

// ref records a reference site.
func (w *walker) ref(kind facts.RefKind, fl facts.Flags, at, site int, x facts.ExprID) int32 {
	n := w.t.Nodes[at]
	if w.damaged {
		fl |= facts.FlagDamaged
	}
	if w.with {
		fl |= facts.FlagConditional
	}
	return w.b.Ref(facts.Ref{Kind: kind, Flags: fl, Name: w.str(at), Scope: w.scope, Owner: w.owner,
		Span: facts.Span{Start: n.Start, End: n.End}, Expr: x, Site: w.span(site)})
}

// refFor records the reference that a name or member makes in a position.
func (w *walker) refFor(m mode, at, site int, x facts.ExprID) {
	switch m {
	case mCall:
		w.ref(facts.RefCall, 0, at, site, x)
	case mNew:
		w.ref(facts.RefCall, facts.FlagNew, at, site, x)
	case mTag:
		w.ref(facts.RefCall, facts.FlagTag, at, site, x)
	case mInherit:
		w.ref(facts.RefInherit, 0, at, site, x)
	case mDecor:
		w.ref(facts.RefUse, facts.FlagDecorator, at, site, x)
	case mDecorCall:
		w.ref(facts.RefCall, facts.FlagDecorator, at, site, x)
	case mJSX:
		w.ref(facts.RefUse, facts.FlagJSX, at, site, x)
	case mPlain, mValue:
		w.ref(facts.RefUse, 0, at, site, x)
	}
}

// node walks a node of any kind, statement or expression, and gives its
// expression where it has one.
func (w *walker) node(i int, m mode) facts.ExprID {
	n := w.t.Nodes[i]
	if n.Flags&(flat.HasError|flat.Error|flat.Missing) != 0 {
		was := w.damaged
		w.noteDamage(i)
		x := w.dispatch(i, m)
		w.damaged = was
		return x
	}
	return w.dispatch(i, m)
}

func (w *walker) dispatch(i int, m mode) facts.ExprID {
	switch o := w.op(i); o {
	case opSkip:
		return 0
	case opFunctionDecl, opFunctionSignature:
		return w.functionDecl(i, i, 0)
	case opClass:
		return w.classDecl(i, i, 0, 0)
	case opInterface:
		w.interfaceDecl(i, i, 0)
	case opTypeAlias:
		w.typeAlias(i, i, 0)
	case opEnum:
		w.enumDecl(i, i, 0)
	case opNamespace:
		w.namespaceDecl(i, i, 0)
	case opAmbient:
		was := w.ambient
		w.ambient = true
		w.ambientDecl(i, i, 0)
		w.ambient = was
	case opVarDecl:
		w.varDecl(i, i, 0)
	case opImportStatement:
		w.importStatement(i)
	case opImportAlias:
		w.importAlias(i, i, 0)
	case opExport:
		w.exportStatement(i)
	case opBlock:
		w.block(i)
	case opIf:
		w.ifStatement(i)
	case opFor:
		w.scoped(i)
	case opForIn:
		w.forIn(i)
	case opCatch:
		w.catchClause(i)
	case opSwitchBody:
		w.block(i)
	case opStaticBlock:
		w.scoped(i)
	case opReturn:
		if c := w.firstNamed(i); c >= 0 {
			x := w.node(c, mValue)
			if w.body >= 0 && x != 0 {
				w.returns = append(w.returns, x)
			}
		}
	case opNone:
		if n := w.t.Nodes[i]; !n.IsNamed() && n.Flags&(flat.Error|flat.Missing) == 0 {
			return 0
		}
		if w.t.Nodes[i].Kind == w.d.withStatement {
			w.withStatement(i)
			return 0
		}
		w.statement(i)
	default:
		return w.expr(i, o, m)
	}
	return 0
}

// statement walks a node that has no meaning of its own: if, while, try,
// expression statements, ERROR nodes, grammar helpers.
func (w *walker) statement(i int) {
	was := w.cond
	if w.t.Nodes[i].Field == w.d.consequence || w.t.Nodes[i].Field == w.d.alternative {
		w.cond = true
	}
	w.children(i)
	w.cond = was
}

// withStatement walks with (x) {}: what its body names may be a member of x.
func (w *walker) withStatement(i int) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if n := w.t.Nodes[c]; n.Flags&(flat.Named|flat.Error|flat.Missing) != 0 {
			was := w.with
			w.with = was || n.Field == w.d.body
			w.node(c, mPlain)
			w.with = was
		}
	}
}

// declares says whether a block declares a name of its own.
func (w *walker) declares(i int) bool {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		switch w.op(c) {
		case opVarDecl:
			if w.t.Nodes[c].Kind != w.d.variableDeclaration {
				return true
			}
		case opClass, opFunctionDecl, opInterface, opTypeAlias, opEnum, opNamespace:
			return true
		case opNone, opIf: // switch_case
			if w.t.Nodes[c].IsNamed() && w.declares(c) {
				return true
			}
		}
	}
	return false
}

func (w *walker) block(i int) {
	if !w.declares(i) {
		w.children(i)
		return
	}
	w.scoped(i)
}

func (w *walker) scoped(i int) {
	was := w.scope
	w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: was, Def: facts.None, Span: w.span(i)})
	w.children(i)
	w.scope = was
}

func (w *walker) forIn(i int) {
	d, was := w.d, w.scope
	w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: was, Def: facts.None, Span: w.span(i)})
	right := w.t.Child(i, d.right)
	var x facts.ExprID
	if right >= 0 {
		inner := w.scope
		w.scope = was
		x = w.node(right, mPlain)
		w.scope = inner
	}
	kind := facts.ExprIter
	if op := w.t.Child(i, d.operator); op >= 0 && w.is(op, "in") {
		kind = facts.ExprKey
	}
	var fl facts.Flags
	if w.has(i, "await") {
		fl = facts.FlagAsync
	}
	if left := w.t.Child(i, d.left); left >= 0 {
		value := w.b.Expr(facts.Expr{Kind: kind, Flags: fl, Def: facts.None, Span: w.span(i)}, x)
		if k := w.t.Child(i, d.kind); k >= 0 {
			scope := w.scope
			if w.is(k, "var") {
				scope = w.varScope
			}
			w.bindPattern(left, facts.Binding{Kind: facts.BindFor, Scope: scope, Value: value})
		} else {
			w.assignPattern(left, value)
		}
	}
	if body := w.t.Child(i, d.body); body >= 0 {
		w.node(body, mPlain)
	}
	w.scope = was
}

func (w *walker) catchClause(i int) {
	d, was := w.d, w.scope
	w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: was, Def: facts.None, Span: w.span(i)})
	var typ facts.ExprID
	if d.typescript {
		if t := w.t.Child(i, d.typ); t >= 0 {
			typ = w.typeNode(t)
		}
	}
	if p := w.t.Child(i, d.parameter); p >= 0 {
		w.bindPattern(p, facts.Binding{Kind: facts.BindCatch, Scope: w.scope, Type: typ})
	}
	if body := w.t.Child(i, d.body); body >= 0 {
		w.node(body, mPlain)
	}
	w.scope = was
}
