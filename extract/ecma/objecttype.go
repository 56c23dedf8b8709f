package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// functionType walks (a: A) => R, new () => R, and the signatures of object
// types: a call signature is a function type with the given definition or none.
func (w *walker) functionType(i int, def facts.DefID) facts.ExprID {
	d := w.d
	was := w.scope
	var tps facts.ExprID
	if tp := w.t.Child(i, d.typeParameters); tp >= 0 {
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeTypeParams, Parent: was, Def: facts.None, Span: w.span(i)})
		tps = w.typeParams(tp)
	}
	mark := len(w.stack)
	e := w.make(facts.ExprFuncType, i)
	if p := w.t.Child(i, d.parameters); p >= 0 {
		for c, end := p+1, int(w.t.Nodes[p].Next); c < end; c = int(w.t.Nodes[c].Next) {
			n := w.t.Nodes[c]
			if n.Kind != d.requiredParameter && n.Kind != d.optionalParameter {
				if n.Flags&flat.Error != 0 {
					w.node(c, mPlain)
				}
				continue
			}
			pat := w.t.Child(c, d.pattern)
			if pat >= 0 && w.op(pat) == opThis {
				if t := w.t.Child(c, d.typ); t >= 0 {
					w.typeNode(t)
				}
				continue
			}
			var x facts.ExprID
			if t := w.t.Child(c, d.typ); t >= 0 {
				inner := len(w.stack)
				x = w.typeNode(t)
				w.stack = w.stack[:inner]
			}
			if pat >= 0 && w.t.Nodes[pat].Kind == d.restPattern {
				x = w.b.Expr(facts.Expr{Kind: facts.ExprEllipsis, Def: facts.None}, x)
			}
			w.stack = append(w.stack, x)
			e.Level++
		}
	}
	ret := w.t.Child(i, d.returnType)
	if ret < 0 {
		ret = w.t.Child(i, d.typ)
	}
	var result facts.ExprID
	if ret >= 0 {
		inner := len(w.stack)
		result = w.typeNode(ret)
		w.stack = w.stack[:inner]
	}
	w.stack = append(w.stack, result, tps)
	w.scope = was
	e.Def = def - 1 // 0 is none
	if w.op(i) == opConstructorType || w.t.Nodes[i].Kind == d.constructSignature {
		e.Flags |= facts.FlagNew
	}
	return w.seal(e, mark)
}

// objectType walks the members of an object type or interface. The members of
// an interface, and the functions of any object type, are definitions.
func (w *walker) objectType(i int, iface facts.DefID) facts.ExprID {
	mark := len(w.stack)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if n.Flags&(flat.Named|flat.Error) == 0 || w.op(c) == opSkip {
			continue
		}
		inner := len(w.stack)
		was := w.damaged
		w.noteDamage(c)
		x := w.typeMember(c, iface)
		w.damaged = was
		w.stack = w.stack[:inner]
		if x != 0 {
			w.stack = append(w.stack, x)
		}
	}
	return w.seal(w.make(facts.ExprTypeLiteral, i), mark)
}

func (w *walker) typeMember(c int, iface facts.DefID) facts.ExprID {
	d := w.d
	e := w.make(facts.ExprKeyword, c)
	switch k := w.t.Nodes[c].Kind; {
	case w.op(c) == opMethodSignature:
		name := w.t.Child(c, d.name)
		if name < 0 {
			return 0
		}
		e.Name = w.keyName(name)
		if e.Name == 0 {
			return w.functionType(c, 0)
		}
		kind := facts.KindMethod
		if w.has(c, "get") || w.has(c, "set") {
			kind = facts.KindAccessor
		}
		e.Def = w.typeDef(kind, c, name, e.Name)
		wasOwner := w.owner
		w.owner = e.Def
		x := w.functionType(c, 0)
		w.owner = wasOwner
		if kind == facts.KindAccessor {
			if kids := w.f.Children(x); len(kids) >= 2 {
				x = kids[len(kids)-2]
			}
		}
		w.f.Defs[e.Def].Type = x
		return w.b.Expr(e, x)
	case k == d.propertySignature:
		name := w.t.Child(c, d.name)
		if name < 0 {
			return 0
		}
		e.Name = w.keyName(name)
		if w.has(c, "?") {
			e.Flags |= facts.FlagOptional
		}
		t := w.t.Child(c, d.typ)
		if e.Name != 0 && (iface >= 0 || w.functionTyped(t) || w.inAlias()) {
			e.Def = w.typeDef(facts.KindField, c, name, e.Name)
		}
		var x facts.ExprID
		if t >= 0 {
			wasOwner := w.owner
			if e.Def >= 0 {
				w.owner = e.Def
			}
			x = w.typeNode(t)
			w.owner = wasOwner
		}
		if e.Def >= 0 {
			w.f.Defs[e.Def].Type = x
		}
		return w.b.Expr(e, x)
	case k == d.callSignature:
		e.Name = w.b.Str("()")
		x := w.functionType(c, 0)
		return w.b.Expr(e, x)
	case k == d.constructSignature:
		e.Name = w.b.Str("new()")
		x := w.functionType(c, 0)
		return w.b.Expr(e, x)
	case k == d.indexSignature:
		return w.indexSignature(c)
	}
	return w.node(c, mPlain)
}

// inAlias says whether the innermost definition is a type alias or a member of one.
func (w *walker) inAlias() bool {
	return w.owner >= 0 && w.f.Defs[w.owner].Kind == facts.KindType
}

// functionTyped says whether an annotation is a function type.
func (w *walker) functionTyped(t int) bool {
	if t < 0 {
		return false
	}
	c := w.firstNamed(t)
	for c >= 0 && w.op(c) == opParenType {
		c = w.firstNamed(c)
	}
	return c >= 0 && w.op(c) == opFunctionType
}

func (w *walker) typeDef(kind facts.DefKind, i, name int, s facts.Str) facts.DefID {
	return w.def(facts.Def{Kind: kind, Flags: facts.FlagAbstract, Name: s, Scope: w.scope, Body: facts.None, Span: w.span(i)}, name)
}

// indexSignature walks [k: string]: T and mapped types.
func (w *walker) indexSignature(i int) facts.ExprID {
	d := w.d
	e := w.make(facts.ExprMapType, i)
	was := w.scope
	var key, val facts.ExprID
	if m := w.child(i, d.mappedClause); m >= 0 {
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeTypeParams, Parent: was, Def: facts.None, Span: w.span(i)})
		if n := w.t.Child(m, d.name); n >= 0 {
			e.Name = w.str(n)
			w.bindTypeParam(n, 0)
		}
		if t := w.t.Child(m, d.typ); t >= 0 {
			key = w.typeNode(t)
		}
		if a := w.t.Child(m, d.alias); a >= 0 {
			w.typeNode(a)
			e.Flags |= facts.FlagConditional // keys are renamed
		}
	} else if t := w.t.Child(i, d.index); t >= 0 {
		key = w.typeNode(t)
	}
	if t := w.t.Child(i, d.typ); t >= 0 {
		val = w.typeNode(t)
	}
	w.scope = was
	return w.b.Expr(e, key, val)
}
