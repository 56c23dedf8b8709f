package ecma

import (
	"bytes"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// typeNode walks a type and gives its expression.
func (w *walker) typeNode(i int) facts.ExprID {
	d := w.d
	if w.t.Nodes[i].Flags&(flat.HasError|flat.Error) != 0 {
		was := w.damaged
		w.noteDamage(i)
		defer func() { w.damaged = was }()
	}
	switch o := w.op(i); o {
	case opTypeIdentifier:
		return w.typeName(i, facts.RefUse)
	case opIdentifier: // typeof x, x is T, namespace of a nested type
		e := w.make(facts.ExprName, i)
		e.Name = w.str(i)
		x := w.b.Expr(e)
		w.ref(facts.RefUse, facts.FlagTypeOnly, i, i, x)
		return x
	case opNestedType, opGenericType:
		return w.namedType(i, facts.RefUse)
	case opTypeAnnotation, opParenType, opReadonlyType, opOptionalType:
		if c := w.firstNamed(i); c >= 0 {
			return w.typeNode(c)
		}
		return 0
	case opUnionType, opIntersectionType:
		kind := facts.ExprUnionType
		if o == opIntersectionType {
			kind = facts.ExprIntersectionType
		}
		mark := len(w.stack)
		w.flattenType(i, o)
		return w.seal(w.make(kind, i), mark)
	case opArrayType:
		return w.wrapType(i, facts.ExprArrayType)
	case opRestType:
		return w.wrapType(i, facts.ExprSpread)
	case opTupleType:
		mark := len(w.stack)
		w.typeList(i)
		return w.seal(w.make(facts.ExprTuple, i), mark)
	case opFunctionType, opConstructorType:
		return w.functionType(i, 0)
	case opObjectType:
		return w.objectType(i, facts.None)
	case opPredefinedType:
		e := w.make(facts.ExprLiteral, i)
		e.Name = w.str(i)
		return w.b.Expr(e)
	case opLiteralType:
		return w.literalType(i)
	case opTypeQuery:
		return w.typeQuery(i)
	case opLookupType:
		return w.lookupType(i)
	case opConditionalType:
		return w.conditionalType(i)
	case opInferType:
		return w.inferType(i)
	case opKeyOf:
		return w.wrapType(i, facts.ExprKeyOf)
	case opTypePredicate:
		return w.predicate(i)
	case opThisType, opThis:
		return w.b.Expr(w.this(facts.ExprThis, i))
	case opTemplateType:
		for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
			if w.t.Nodes[c].IsNamed() && w.t.Nodes[c].Kind != d.stringFragment {
				if t := w.firstNamed(c); t >= 0 {
					w.typeNode(t)
				}
			}
		}
		return w.literal(litString)
	case opTypeParameters:
		return w.typeParams(i)
	case opTypeArguments:
		mark := len(w.stack)
		w.typeList(i)
		w.stack = w.stack[:mark]
		return 0
	case opSkip:
		return 0
	case opMember, opCall, opSubscript, opInstantiation, opString, opNumber, opTemplate:
		return w.expr(i, o, mPlain)
	case opNull, opBool:
		return w.literal(litNone)
	}
	n := w.t.Nodes[i]
	if n.Kind == d.requiredParameter || n.Kind == d.optionalParameter { // a named tuple member
		if t := w.t.Child(i, d.typ); t >= 0 {
			return w.typeNode(t)
		}
		return 0
	}
	w.children(i)
	return 0
}

func (w *walker) wrapType(i int, kind facts.ExprKind) facts.ExprID {
	c := w.firstNamed(i)
	if c < 0 {
		return 0
	}
	x := w.typeNode(c)
	return w.b.Expr(w.make(kind, i), x)
}

// flattenType pushes the parts of a union or intersection; the grammar nests them.
func (w *walker) flattenType(i int, o op) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if !w.t.Nodes[c].IsNamed() || w.op(c) == opSkip {
			continue
		}
		if w.op(c) == o {
			w.flattenType(c, o)
			continue
		}
		mark := len(w.stack)
		x := w.typeNode(c)
		w.stack = append(w.stack[:mark], x)
	}
}

// typeList pushes the types that are direct children of a node.
func (w *walker) typeList(i int) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].IsNamed() && w.op(c) != opSkip {
			mark := len(w.stack)
			x := w.typeNode(c)
			w.stack = append(w.stack[:mark], x)
		}
	}
}

func (w *walker) typeName(i int, kind facts.RefKind) facts.ExprID {
	e := w.make(facts.ExprTypeName, i)
	e.Name = w.str(i)
	x := w.b.Expr(e)
	if w.src[w.t.Nodes[i].Start] != 'c' || !w.is(i, "const") {
		w.ref(kind, facts.FlagTypeOnly, i, i, x)
	}
	return x
}

// baseType walks a type that a class or interface extends or implements.
func (w *walker) baseType(i int) facts.ExprID {
	switch w.op(i) {
	case opTypeIdentifier:
		return w.typeName(i, facts.RefInherit)
	case opNestedType, opGenericType:
		return w.namedType(i, facts.RefInherit)
	}
	return w.typeNode(i)
}

// namedType walks A.B and A<T>; kind is the reference that the last name makes.
func (w *walker) namedType(i int, kind facts.RefKind) facts.ExprID {
	d := w.d
	if w.op(i) == opNestedType {
		mod, name := w.t.Child(i, d.module), w.t.Child(i, d.name)
		if mod < 0 || name < 0 {
			w.children(i)
			return 0
		}
		x := w.qualifier(mod)
		e := w.make(facts.ExprAttr, i)
		e.Name, e.Flags = w.str(name), facts.FlagTypeOnly
		id := w.b.Expr(e, x)
		w.ref(kind, facts.FlagTypeOnly, name, i, id)
		return id
	}
	name := w.t.Child(i, d.name)
	if name < 0 {
		name = w.firstNamed(i)
	}
	if name < 0 {
		return 0
	}
	var x facts.ExprID
	switch w.op(name) {
	case opTypeIdentifier:
		x = w.typeName(name, kind)
	case opNestedType:
		x = w.namedType(name, kind)
	default:
		x = w.typeNode(name)
	}
	if ta := w.t.Child(i, d.typeArguments); ta >= 0 {
		return w.withTypeArgs(x, ta)
	}
	return x
}

// qualifier walks the left side of A.B in a type.
func (w *walker) qualifier(i int) facts.ExprID {
	if w.op(i) == opMember {
		return w.member(i, i, mQuiet)
	}
	e := w.make(facts.ExprName, i)
	e.Name, e.Flags = w.str(i), facts.FlagTypeOnly
	x := w.b.Expr(e)
	w.ref(facts.RefUse, facts.FlagTypeOnly, i, i, x)
	return x
}

func (w *walker) literalType(i int) facts.ExprID {
	c := w.firstNamed(i)
	if c < 0 {
		return w.literal(litNone)
	}
	switch w.op(c) {
	case opString:
		e := w.make(facts.ExprString, c)
		e.Name = w.b.Bytes(w.stringText(c))
		return w.b.Expr(e)
	case opNumber, opUnary:
		return w.literal(litNumber)
	case opBool:
		return w.literal(litBool)
	}
	return w.literal(litNone)
}

func (w *walker) typeQuery(i int) facts.ExprID {
	c := w.firstNamed(i)
	if c < 0 {
		return 0
	}
	var x facts.ExprID
	if w.op(c) == opIdentifier {
		e := w.make(facts.ExprName, c)
		e.Name = w.str(c)
		x = w.b.Expr(e)
		w.ref(facts.RefUse, facts.FlagTypeOnly, c, i, x)
	} else {
		x = w.node(c, mPlain)
	}
	if ta := w.t.Child(i, w.d.typeArguments); ta >= 0 {
		x = w.withTypeArgs(x, ta)
	}
	return w.b.Expr(w.make(facts.ExprTypeOf, i), x)
}

func (w *walker) lookupType(i int) facts.ExprID {
	mark := len(w.stack)
	w.typeList(i)
	return w.seal(w.make(facts.ExprIndex, i), mark)
}

func (w *walker) conditionalType(i int) facts.ExprID {
	d := w.d
	var parts [4]facts.ExprID
	was := w.scope
	if c := w.t.Child(i, d.left); c >= 0 {
		parts[0] = w.typeNode(c)
	}
	if c := w.t.Child(i, d.right); c >= 0 {
		if bytes.Contains(w.t.Text(c), []byte("infer")) {
			w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeTypeParams, Parent: was, Def: facts.None, Span: w.span(i)})
		}
		parts[1] = w.typeNode(c)
	}
	if c := w.t.Child(i, d.consequence); c >= 0 {
		parts[2] = w.typeNode(c)
	}
	w.scope = was
	if c := w.t.Child(i, d.alternative); c >= 0 {
		parts[3] = w.typeNode(c)
	}
	return w.b.Expr(w.make(facts.ExprConditionalType, i), parts[:]...)
}

func (w *walker) inferType(i int) facts.ExprID {
	c := w.firstNamed(i)
	if c < 0 {
		return 0
	}
	w.bindTypeParam(c, 0)
	if l := w.lastNamed(i); l != c {
		w.typeNode(l)
	}
	e := w.make(facts.ExprTypeParam, c)
	e.Name = w.str(c)
	return w.b.Expr(e)
}

func (w *walker) predicate(i int) facts.ExprID {
	if t := w.t.Child(i, w.d.typ); t >= 0 {
		x := w.typeNode(t)
		return w.b.Expr(w.make(facts.ExprPredicate, i), x)
	}
	c := w.firstNamed(i)
	if c >= 0 && w.op(c) == opTypePredicate {
		return w.predicate(c)
	}
	return 0
}

// typeParams binds type parameters in the current scope.
func (w *walker) typeParams(i int) facts.ExprID {
	d := w.d
	mark := len(w.stack)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Kind == d.typeParameter {
			if n := w.t.Child(c, d.name); n >= 0 {
				w.bindTypeParam(n, 0)
			}
		}
	}
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Kind != d.typeParameter {
			continue
		}
		e := w.make(facts.ExprTypeParam, c)
		if n := w.t.Child(c, d.name); n >= 0 {
			e.Name = w.str(n)
		}
		var con, def facts.ExprID
		inner := len(w.stack)
		if x := w.t.Child(c, d.constraint); x >= 0 {
			if t := w.firstNamed(x); t >= 0 {
				con = w.typeNode(t)
			}
		}
		if x := w.t.Child(c, d.value); x >= 0 {
			if t := w.firstNamed(x); t >= 0 {
				def = w.typeNode(t)
			}
		}
		w.stack = w.stack[:inner]
		w.stack = append(w.stack, w.b.Expr(e, con, def))
	}
	return w.seal(w.make(facts.ExprList, i), mark)
}

func (w *walker) bindTypeParam(n int, typ facts.ExprID) {
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindTypeParam, Name: w.str(n), Scope: w.scope, Span: w.span(n),
		Def: facts.None, Import: facts.None, Type: typ})
}
