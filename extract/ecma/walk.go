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
	returns  []facts.ExprID
	damaged  bool
	ambient  bool
	static   bool // this means the class itself
	inFunc   bool // inside a function body
	cond     bool // inside an if, a loop or a try
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
	w.body = facts.None
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
		case opNone: // switch_case
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

// bindPattern binds the names of a pattern; proto says how, with what value.
func (w *walker) bindPattern(i int, proto facts.Binding) {
	d := w.d
	proto.Import = facts.None
	if proto.Kind != facts.BindDef {
		proto.Def = facts.None
	}
	proto.Flags |= w.flags() & facts.FlagDamaged
	k := w.t.Nodes[i].Kind
	switch {
	case w.op(i) == opIdentifier, k == d.shorthandPattern, k == d.undefinedWord:
		proto.Name, proto.Span = w.str(i), w.span(i)
		w.declareVar(i, proto)
	case k == d.objectPattern:
		w.bindObject(i, proto)
	case k == d.arrayPattern:
		w.bindArray(i, proto)
	case k == d.assignmentPattern, k == d.objectAssignmentPattern:
		if l := w.t.Child(i, d.left); l >= 0 {
			if r := w.t.Child(i, d.right); r >= 0 {
				def := w.node(r, mValue)
				if proto.Value == 0 {
					proto.Value = def
					proto.Flags |= facts.FlagDefault
				}
			}
			w.bindPattern(l, proto)
		}
	case k == d.restPattern:
		if c := w.firstNamed(i); c >= 0 {
			proto.Flags |= facts.FlagVariadic
			w.bindPattern(c, proto)
		}
	default:
		if w.t.Nodes[i].IsNamed() {
			w.node(i, mPlain)
		}
	}
}

// inner gives the binding of a part of what proto binds: the annotation of the
// whole, when there is one, is the value that is taken apart.
func (w *walker) inner(proto facts.Binding, e facts.Expr) facts.Binding {
	whole := proto.Value
	if proto.Type != 0 {
		// The type of the whole stands for its value: x as T.
		whole = w.b.Expr(facts.Expr{Kind: facts.ExprAssert, Def: facts.None}, proto.Value, proto.Type)
	}
	e.Def = facts.None
	out := proto
	out.Type = 0
	out.Value = 0
	if whole != 0 {
		out.Value = w.b.Expr(e, whole)
	} else if proto.Kind == facts.BindParam {
		// The parameter as a whole has no name: its part is told by Order.
		p := w.b.Expr(facts.Expr{Kind: facts.ExprOpaque, Level: proto.Order + 1, Def: w.body})
		out.Value = w.b.Expr(e, p)
	}
	return out
}

func (w *walker) bindObject(i int, proto facts.Binding) {
	d := w.d
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		switch {
		case !n.IsNamed():
		case n.Kind == d.shorthandPattern:
			w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprMember, Name: w.str(c), Span: w.span(c)}))
		case n.Kind == d.objectAssignmentPattern:
			if l := w.t.Child(c, d.left); l >= 0 {
				w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprMember, Name: w.str(l), Span: w.span(l)}))
			}
		case n.Kind == d.pairPattern:
			key, val := w.t.Child(c, d.key), w.t.Child(c, d.value)
			if key < 0 || val < 0 {
				continue
			}
			name := w.keyName(key)
			w.bindPattern(val, w.inner(proto, facts.Expr{Kind: facts.ExprMember, Name: name, Span: w.span(key)}))
		case n.Kind == d.restPattern:
			w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprRest, Span: w.span(c)}))
		default:
			w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprOpaque}))
		}
	}
}

func (w *walker) bindArray(i int, proto facts.Binding) {
	index := uint32(0)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		switch {
		case !n.IsNamed():
			if n.End > n.Start && w.src[n.Start] == ',' {
				index++
			}
		case w.op(c) == opSkip:
		case n.Kind == w.d.restPattern:
			w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprRest, Level: index, Span: w.span(c)}))
		default:
			w.bindPattern(c, w.inner(proto, facts.Expr{Kind: facts.ExprUnpack, Level: index, Span: w.span(c)}))
		}
	}
}

// declareVar binds one name; at module and namespace level, a variable is a
// definition as well.
func (w *walker) declareVar(i int, b facts.Binding) {
	if b.Kind == facts.BindVar && b.Def < 0 && !w.inFunc && w.moduleLevel(b.Scope) {
		kind := facts.KindVariable
		if b.Flags&facts.FlagConst != 0 {
			kind = facts.KindConstant
		}
		b.Def = w.def(facts.Def{Kind: kind, Flags: b.Flags & (facts.FlagExported | facts.FlagConst), Name: b.Name, Scope: b.Scope,
			Body: facts.None, Span: b.Span, Type: b.Type, Value: b.Value}, i)
		b.Kind = facts.BindDef
	}
	w.f.Bindings = append(w.f.Bindings, b)
}

// moduleLevel says whether what a scope declares belongs to the file or to a
// namespace rather than to a function.
func (w *walker) moduleLevel(s facts.ScopeID) bool {
	k := w.f.Scopes[s].Kind
	return k == facts.ScopeModule || k == facts.ScopeNamespace
}

// assignPattern notes an assignment to names that are already declared.
func (w *walker) assignPattern(i int, value facts.ExprID) {
	d := w.d
	k := w.t.Nodes[i].Kind
	switch {
	case k == d.identifier, k == d.shorthandPattern:
		w.assigned = append(w.assigned, assignment{w.scope, w.str(i), w.span(i), value})
	case k == d.objectPattern, k == d.arrayPattern:
		index := uint32(0)
		for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
			n := w.t.Nodes[c]
			if !n.IsNamed() {
				if n.End > n.Start && w.src[n.Start] == ',' {
					index++
				}
				continue
			}
			e := facts.Expr{Kind: facts.ExprUnpack, Level: index, Def: facts.None}
			target := c
			if k == d.objectPattern {
				e = facts.Expr{Kind: facts.ExprMember, Name: w.str(c), Def: facts.None}
				switch n.Kind {
				case d.pairPattern:
					if key := w.t.Child(c, d.key); key >= 0 {
						e.Name = w.keyName(key)
					}
					target = w.t.Child(c, d.value)
				case d.objectAssignmentPattern:
					if target = w.t.Child(c, d.left); target >= 0 {
						e.Name = w.str(target)
					}
				case d.restPattern:
					e = facts.Expr{Kind: facts.ExprRest, Def: facts.None}
				}
			}
			if target >= 0 {
				w.assignPattern(target, w.b.Expr(e, value))
			}
		}
	case k == d.assignmentPattern, k == d.objectAssignmentPattern:
		if l := w.t.Child(i, d.left); l >= 0 {
			w.assignPattern(l, value)
		}
		if r := w.t.Child(i, d.right); r >= 0 {
			w.node(r, mPlain)
		}
	case k == d.restPattern:
		if c := w.firstNamed(i); c >= 0 {
			w.assignPattern(c, value)
		}
	default:
		w.node(i, mPlain)
	}
}

// keyName gives the name of a property key: identifier, string or number; ""
// for a computed one, whose expression is walked.
func (w *walker) keyName(i int) facts.Str {
	switch w.op(i) {
	case opString:
		return w.b.Bytes(w.stringText(i))
	case opNumber, opPropertyIdentifier, opIdentifier:
		return w.str(i)
	}
	if w.t.Nodes[i].Kind == w.d.computedName {
		if c := w.firstNamed(i); c >= 0 {
			w.node(c, mPlain)
			if w.op(c) == opString {
				return w.b.Bytes(w.stringText(c))
			}
		}
		return 0
	}
	return w.str(i)
}

// stringText gives what stands between the quotes of a string, unescaped only
// where there is nothing to unescape.
func (w *walker) stringText(i int) []byte {
	s := w.t.Text(i)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'' || s[0] == '`') && s[len(s)-1] == s[0] {
		return s[1 : len(s)-1]
	}
	return s
}
