package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

func (e *extractor) bind(b facts.Binding) {
	e.f.Bindings = append(e.f.Bindings, b)
}

// assignment reads an assignment, chained ones included, and gives its value.
func (e *extractor) assignment(i int) facts.ExprID {
	left, right, typ := -1, -1, -1
	for c := range e.children(i) {
		switch e.t.Nodes[c].Field {
		case fLeft:
			left = c
		case fRight:
			right = c
		case fType:
			typ = c
		}
	}
	if left < 0 {
		e.nodes(i)
		return 0
	}
	if e.kind(i) == kAugmented {
		return e.augmented(left, right, e.span(i))
	}
	// Left to right, so that references stay in the order of the source: the
	// names of the target are bound after the value has been read.
	e.targetRefs(left)
	t := facts.ExprID(0)
	if typ >= 0 {
		t = e.annotation(typ)
	}
	v := facts.ExprID(0)
	if right >= 0 {
		if k := e.kind(right); k == kAssignment || k == kAugmented {
			v = e.assignment(right)
		} else {
			v = e.expr(right)
		}
	}
	e.declare(left, facts.BindVar, v, t, e.span(i))
	return v
}

func (e *extractor) augmented(left, right int, span facts.Span) facts.ExprID {
	l := e.expr(left)
	r := facts.ExprID(0)
	if right >= 0 {
		r = e.expr(right)
	}
	v := e.b.Expr(facts.Expr{Kind: facts.ExprBinary, Name: e.b.Str("+="), Def: facts.None, Span: span}, l, r)
	if e.kind(left) == kIdentifier {
		if e.scope == 0 && string(e.t.Text(left)) == "__all__" {
			e.exports(r)
		}
		e.declare(left, facts.BindVar, v, 0, span)
	}
	return v
}

// targetRefs reads the expressions inside an assignment target: the objects of
// attributes and subscripts.
func (e *extractor) targetRefs(i int) {
	switch e.kind(i) {
	case kIdentifier:
	case kPatternList, kTuplePattern, kListPattern, kSplatPattern, kTuple, kList, kExprList, kParen, kListSplat, kAsTarget:
		for c := range e.children(i) {
			e.targetRefs(c)
		}
	default:
		v := e.expr(i)
		if x := e.f.Exprs[v]; x.Kind == facts.ExprAttr {
			// Remembered by position: declare finds it again.
			e.f.Bindings = append(e.f.Bindings, facts.Binding{
				Kind: facts.BindAttr, Flags: e.flags, Name: x.Name, Scope: e.scope,
				Span: facts.Span{Start: x.End - uint32(len(e.f.Text(x.Name))), End: x.End},
				Def:  facts.None, Import: facts.None, Target: e.f.Child(v, 0), Order: e.condEnd,
			})
		}
	}
}

// target binds the names of a target outside an assignment statement.
func (e *extractor) target(i int, kind facts.BindKind, value, typ facts.ExprID) {
	e.targetRefs(i)
	e.declare(i, kind, value, typ, e.span(i))
}

// declare binds the names of a target to a value. whole is the statement.
func (e *extractor) declare(i int, kind facts.BindKind, value, typ facts.ExprID, whole facts.Span) {
	switch e.kind(i) {
	case kIdentifier:
		if value == 0 && typ == 0 && kind == facts.BindVar {
			return
		}
		e.declareName(i, kind, value, typ, whole)
	case kParen, kAsTarget, kSplatPattern, kListSplat:
		for c := range e.children(i) {
			if k := e.kind(i); k == kSplatPattern || k == kListSplat {
				value = e.b.Expr(facts.Expr{Kind: facts.ExprRest, Def: facts.None, Span: e.span(c)}, value)
			}
			e.declare(c, kind, value, typ, whole)
		}
	case kPatternList, kTuplePattern, kListPattern, kTuple, kList, kExprList:
		n := uint32(0)
		for c := range e.children(i) {
			part := facts.ExprID(0)
			if k := e.kind(c); k == kSplatPattern || k == kListSplat {
				part = value
			} else if value != 0 {
				part = e.b.Expr(facts.Expr{Kind: facts.ExprUnpack, Level: n, Def: facts.None, Span: e.span(c)}, value)
			}
			e.declare(c, kind, part, typ, whole)
			n++
		}
	case kAttribute:
		end := e.t.Nodes[i].End
		for j := len(e.f.Bindings) - 1; j >= 0; j-- {
			if b := &e.f.Bindings[j]; b.Kind == facts.BindAttr && b.End == end {
				b.Value, b.Type = value, typ
				return
			}
		}
	}
}

// declareName binds one name, in the scope that global, nonlocal or a
// comprehension sends it to, and makes a definition of it at module and class
// level.
func (e *extractor) declareName(i int, kind facts.BindKind, value, typ facts.ExprID, whole facts.Span) {
	name := e.str(i)
	scope := e.scope
	flags := e.flags
	order := e.condEnd
	fr := &e.frames[len(e.frames)-1]
	for _, m := range fr.moved {
		if m.name == name && e.scope == fr.scope {
			scope, order = m.scope, whole.End
			flags |= facts.FlagConditional
		}
	}
	def := facts.DefID(facts.None)
	if k := e.f.Scopes[scope].Kind; k == facts.ScopeModule || k == facts.ScopeClass {
		def = e.variable(i, name, scope, k, value, typ, whole)
	}
	e.bind(facts.Binding{
		Kind: kind, Flags: flags, Name: name, Scope: scope, Span: e.span(i), Def: def, Import: facts.None,
		Type: typ, Value: value, Order: order,
	})
	augmented := e.f.Exprs[value].Kind == facts.ExprBinary && e.f.Text(e.f.Exprs[value].Name) == "+="
	if scope == 0 && def >= 0 && value != 0 && e.f.Text(name) == "__all__" && kind == facts.BindVar && !augmented {
		e.exports(value)
	}
}

func (e *extractor) variable(i int, name facts.Str, scope facts.ScopeID, k facts.ScopeKind, value, typ facts.ExprID, whole facts.Span) facts.DefID {
	key := varKey{scope, name}
	if def, ok := e.vars[key]; ok {
		return def
	}
	d := facts.Def{
		Kind: facts.KindVariable, Flags: e.flags | e.exported(name), Name: name, Qual: name, Parent: facts.None,
		Scope: scope, Body: facts.None, Span: whole, NameStart: e.t.Nodes[i].Start, NameEnd: e.t.Nodes[i].End,
		BodyStart: whole.End, Type: typ, Value: value,
	}
	if upper(e.f.Text(name)) {
		d.Flags |= facts.FlagConst
	}
	if k == facts.ScopeClass {
		d.Kind = facts.KindField
		d.Parent = e.f.Scopes[scope].Def
		d.Qual = e.qualified(d.Parent, name)
	}
	// A for loop or a with statement may bind far from its end: the extent of
	// the variable is the name's own line there.
	def := e.b.Def(d)
	e.vars[key] = def
	return def
}

func upper(name string) bool {
	letters := false
	for i := 0; i < len(name); i++ {
		switch c := name[i]; {
		case c >= 'A' && c <= 'Z':
			letters = true
		case c >= 'a' && c <= 'z':
			return false
		}
	}
	return letters
}

func (e *extractor) exported(name facts.Str) facts.Flags {
	if s := e.f.Text(name); s != "" && s[0] != '_' {
		return facts.FlagExported
	}
	return 0
}

func (e *extractor) qualified(parent facts.DefID, name facts.Str) facts.Str {
	if parent < 0 {
		return name
	}
	return e.b.Str(e.f.Text(e.f.Defs[parent].Qual) + "." + e.f.Text(name))
}

// exports notes the entries of a static __all__: strings in lists and tuples,
// sums of them, and the __all__ of another module, which Value then refers to.
func (e *extractor) exports(value facts.ExprID) {
	x := e.f.Exprs[value]
	switch x.Kind {
	case facts.ExprList, facts.ExprTuple, facts.ExprBinary, facts.ExprSpread:
		for _, c := range e.f.Children(value) {
			e.exports(c)
		}
	case facts.ExprString:
		e.f.Exports = append(e.f.Exports, facts.Export{
			Kind: facts.ExportAll, Flags: e.flags, Name: x.Name, Local: x.Name, Def: facts.None, Ref: facts.None, Span: x.Span,
		})
	case facts.ExprAttr:
		if e.f.Text(x.Name) == "__all__" {
			e.f.Exports = append(e.f.Exports, facts.Export{
				Kind: facts.ExportAll, Flags: e.flags, Value: value, Def: facts.None, Ref: facts.None, Span: x.Span,
			})
		}
	}
}
