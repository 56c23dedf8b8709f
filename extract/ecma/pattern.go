package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

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
