package golang

import "github.com/exhibit-dev/exhibit/extract/facts"

// typ builds the type that node i stands for and emits its references.
func (w *walker) typ(i int) facts.ExprID { return w.typeAs(i, facts.RefUse) }

// typeAs is typ with the kind of reference that the type's own name makes:
// RefInherit when it is embedded.
func (w *walker) typeAs(i int, kind facts.RefKind) facts.ExprID {
	e := facts.Expr{Def: facts.None, Span: w.span(i)}
	switch w.op(i) {
	case opTypeIdent, opIdent:
		return w.name(i, kind, w.span(i))
	case opQualified:
		return w.qualified(i, kind, w.span(i))
	case opGeneric:
		kids := []facts.ExprID{0}
		if t := w.child(i, fieldType); t >= 0 {
			kids[0] = w.typeAs(t, kind)
		}
		e.Kind = facts.ExprIndex
		return w.b.Expr(e, w.typeArgs(w.child(i, fieldTypeArgs), kids)...)
	case opPointer:
		e.Kind = facts.ExprStar
		return w.b.Expr(e, w.onlyType(i, kind))
	case opSliceType:
		e.Kind = facts.ExprSliceType
		return w.b.Expr(e, w.fieldTypeOf(i, fieldElement))
	case opArrayType:
		if length := w.child(i, fieldLength); length >= 0 {
			w.expr(length, false)
		}
		e.Kind = facts.ExprArrayType
		return w.b.Expr(e, w.fieldTypeOf(i, fieldElement))
	case opMapType:
		e.Kind = facts.ExprMapType
		key := w.fieldTypeOf(i, fieldKey)
		return w.b.Expr(e, key, w.fieldTypeOf(i, fieldValue))
	case opChanType:
		e.Kind = facts.ExprChanType
		return w.b.Expr(e, w.fieldTypeOf(i, fieldValue))
	case opFuncType:
		return w.signature(i, nil)
	case opStructType:
		return w.structType(i, facts.None)
	case opInterfaceType:
		return w.interfaceType(i, facts.None)
	case opParenType, opParen:
		return w.onlyType(i, kind)
	case opNegated:
		e.Kind, e.Name = facts.ExprUnary, w.b.Str("~")
		return w.b.Expr(e, w.onlyType(i, kind))
	case opTypeElem:
		return w.typeElem(i, kind)
	}
	return w.expr(i, true)
}

// onlyType builds the one type among the children of i.
func (w *walker) onlyType(i int, kind facts.RefKind) facts.ExprID {
	var t facts.ExprID
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if !w.n[c].IsNamed() || w.op(c) == opSkip {
			continue
		}
		if t != 0 {
			w.node(c)
			continue
		}
		t = w.typeAs(c, kind)
	}
	return t
}

func (w *walker) fieldTypeOf(i int, field uint8) facts.ExprID {
	if t := w.child(i, field); t >= 0 {
		return w.typ(t)
	}
	return 0
}

func (w *walker) typeArgs(list int, kids []facts.ExprID) []facts.ExprID {
	if list < 0 {
		return kids
	}
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		if w.n[c].IsNamed() && w.op(c) != opSkip {
			kids = append(kids, w.typ(c))
		}
	}
	return kids
}

// typeElem builds a constraint element: one type, or a union.
func (w *walker) typeElem(i int, kind facts.RefKind) facts.ExprID {
	var parts []facts.ExprID
	count := 0
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].IsNamed() && w.op(c) != opSkip {
			count++
		}
	}
	if count > 1 {
		kind = facts.RefUse
	}
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].IsNamed() && w.op(c) != opSkip {
			parts = append(parts, w.typeAs(c, kind))
		}
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprUnionType, Def: facts.None, Span: w.span(i)}, parts...)
}

// signature builds the ExprFuncType of anything with parameters and results.
// bind, unless nil, is called when all types are built and before the names are
// bound in the scope that is open: no parameter is in scope in the types.
func (w *walker) signature(i int, bind func()) facts.ExprID {
	var kids []facts.ExprID
	var names []parameter
	if params := w.child(i, fieldParams); params >= 0 {
		kids, names = w.parameters(params, facts.BindParam, kids, names)
	}
	count := len(kids)
	if result := w.child(i, fieldResult); result >= 0 {
		if w.n[result].Kind == kindParameters {
			kids, names = w.parameters(result, facts.BindResult, kids, names)
		} else {
			kids = append(kids, w.typ(result))
		}
	}
	if bind == nil {
		names = nil
	} else {
		bind()
	}
	for _, p := range names {
		w.bind(facts.Binding{
			Kind: p.kind, Name: w.str(p.node), Span: w.span(p.node), Def: facts.None, Import: facts.None, Type: p.t, Order: uint32(p.order),
		})
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprFuncType, Level: uint32(count), Def: facts.None, Span: w.span(i)}, kids...)
}

// parameter is a named parameter or result.
type parameter struct {
	node  int
	kind  facts.BindKind
	t     facts.ExprID
	order int
}

// parameters appends the types of a parameter list to kids, one for each
// parameter, and the named ones to names.
func (w *walker) parameters(list int, kind facts.BindKind, kids []facts.ExprID, names []parameter) ([]facts.ExprID, []parameter) {
	start := len(kids)
	named := w.namedParameters(list)
	var pending []int // names that the parser took for types
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		if w.n[c].Kind != kindParameter && w.n[c].Kind != kindVariadic {
			w.node(c)
			continue
		}
		t := w.child(c, fieldType)
		own := w.child(c, fieldName)
		if named && own < 0 && t >= 0 && w.n[c].Kind == kindParameter && w.op(t) == opTypeIdent {
			pending = append(pending, t)
			continue
		}
		typ := w.fieldTypeOf(c, fieldType)
		if w.n[c].Kind == kindVariadic {
			typ = w.b.Expr(facts.Expr{Kind: facts.ExprEllipsis, Def: facts.None, Span: w.span(c)}, typ)
		}
		for k, end := c+1, w.next(c); k < end; k = w.next(k) {
			if w.n[k].Field == fieldName && w.op(k) == opIdent {
				pending = append(pending, k)
			}
		}
		for _, name := range pending {
			names = append(names, parameter{name, kind, typ, len(kids) - start})
			kids = append(kids, typ)
		}
		if len(pending) == 0 {
			kids = append(kids, typ)
		}
		pending = pending[:0]
	}
	return kids, names
}

// namedParameters says whether a list names its parameters: all or none do. Of
// a long run of names the parser takes the first for types.
func (w *walker) namedParameters(list int) bool {
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		if (w.n[c].Kind == kindParameter || w.n[c].Kind == kindVariadic) && w.child(c, fieldName) >= 0 {
			return true
		}
	}
	return false
}

// structType builds a struct type; its fields become definitions of parent
// unless parent is None.
func (w *walker) structType(i int, parent facts.DefID) facts.ExprID {
	var kids []facts.ExprID
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Kind != kindFields {
			if w.n[c].IsNamed() {
				w.node(c)
			}
			continue
		}
		for k, end := c+1, w.next(c); k < end; k = w.next(k) {
			if w.n[k].Kind == kindField {
				kids = w.field(k, parent, kids)
			} else if w.n[k].IsNamed() {
				w.node(k)
			}
		}
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprStructType, Def: parent, Span: w.span(i)}, kids...)
}

func (w *walker) field(i int, parent facts.DefID, kids []facts.ExprID) []facts.ExprID {
	t := w.child(i, fieldType)
	if t < 0 {
		w.children(i)
		return kids
	}
	var names []int
	for k, end := i+1, w.next(i); k < end; k = w.next(k) {
		if w.n[k].Field == fieldName && w.n[k].IsNamed() {
			names = append(names, k)
		}
	}
	if len(names) == 0 {
		return w.embedded(i, t, parent, kids)
	}
	var ids []facts.DefID
	for _, name := range names {
		ids = append(ids, w.member(facts.KindField, 0, i, name, parent))
	}
	was := w.owner
	if ids[0] != facts.None {
		w.owner = ids[0]
	}
	var typ facts.ExprID
	if w.op(t) == opStructType {
		typ = w.structType(t, ids[0])
	} else {
		typ = w.typ(t)
	}
	w.owner = was
	for k, name := range names {
		kids = append(kids, w.keyword(name, typ, ids[k], 0))
	}
	return kids
}

// embedded builds an embedded field, whose name is that of its type.
func (w *walker) embedded(i, t int, parent facts.DefID, kids []facts.ExprID) []facts.ExprID {
	name := t
	for c := t; c < w.next(t); c++ {
		if w.op(c) == opTypeIdent {
			name = c
			break
		}
	}
	id := w.member(facts.KindField, facts.FlagEmbedded, i, name, parent)
	typ := w.typeAs(t, facts.RefInherit)
	if w.src[w.n[i].Start] == '*' {
		typ = w.b.Expr(facts.Expr{Kind: facts.ExprStar, Def: facts.None, Span: w.span(i)}, typ)
	}
	return append(kids, w.keyword(name, typ, id, facts.FlagEmbedded))
}

// member defines a field or method of parent.
func (w *walker) member(kind facts.DefKind, flags facts.Flags, i, name int, parent facts.DefID) facts.DefID {
	if parent == facts.None || w.src[w.n[name].Start] == '_' && w.n[name].End-w.n[name].Start == 1 {
		return facts.None
	}
	return w.def(facts.Def{
		Kind: kind, Flags: flags, Qual: w.qualify(parent, w.str(name)), Parent: parent, Scope: w.scope, Body: facts.None,
		Span: w.span(i), BodyStart: w.n[i].End,
	}, name)
}

func (w *walker) keyword(name int, typ facts.ExprID, id facts.DefID, flags facts.Flags) facts.ExprID {
	if id != facts.None {
		w.f.Defs[id].Type = typ
	}
	return w.b.Expr(facts.Expr{
		Kind: facts.ExprKeyword, Flags: flags, Name: w.str(name), Level: uint32(id + 1), Def: facts.None, Span: w.span(name),
	}, typ)
}

// interfaceType builds an interface type; its methods become abstract
// definitions of parent unless parent is None.
func (w *walker) interfaceType(i int, parent facts.DefID) facts.ExprID {
	var kids []facts.ExprID
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if !w.n[c].IsNamed() || w.op(c) == opSkip {
			continue
		}
		name := -1
		if w.n[c].Kind == kindMethodElem {
			name = w.child(c, fieldName)
		}
		switch {
		case name >= 0:
			id := w.member(facts.KindMethod, facts.FlagAbstract, c, name, parent)
			was := w.owner
			if id != facts.None {
				w.owner = id
			}
			typ := w.signature(c, nil)
			w.owner = was
			kids = append(kids, w.keyword(name, typ, id, facts.FlagAbstract))
		case w.op(c) == opTypeElem:
			kids = append(kids, w.typeElem(c, facts.RefInherit))
		default:
			w.node(c)
		}
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprInterfaceType, Def: parent, Span: w.span(i)}, kids...)
}
