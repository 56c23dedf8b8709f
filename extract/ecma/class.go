package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// classDecl walks a class declaration or expression; start is where the
// declaration begins, 0 for the outer node's start.
func (w *walker) classDecl(i, outer int, start uint32, fl facts.Flags) facts.ExprID {
	name := w.t.Child(i, w.d.name)
	span := w.span(outer)
	if start != 0 && start < span.Start {
		span.Start = start
	}
	expression := w.t.Nodes[i].Kind != w.d.classDeclaration && w.t.Nodes[i].IsNamed() && !w.has(i, "abstract")
	if name < 0 || expression {
		return w.classExpr(i, name, span, fl)
	}
	return w.classDeclNamed(i, name, span, fl, w.scope)
}

// classExpr walks a class that is a value, or the anonymous default export.
func (w *walker) classExpr(i, name int, span facts.Span, fl facts.Flags) facts.ExprID {
	dd := facts.Def{Kind: facts.KindClass, Flags: fl, Scope: w.scope, Body: facts.None, Span: span}
	if name >= 0 {
		dd.Name = w.str(name)
	} else {
		dd.NameStart, dd.NameEnd = w.t.Nodes[i].Start, w.t.Nodes[i].Start
		dd.Name = w.b.Str("default")
		if fl&facts.FlagDefault == 0 {
			dd.Name = w.b.Str("class")
		}
	}
	def := w.def(dd, name)
	was := w.scope
	if name >= 0 {
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: was, Def: facts.None, Span: w.span(i)})
		w.bindDef(def, w.scope)
	}
	x := w.classBody(i, def)
	w.scope = was
	w.exportInPlace(def, fl)
	return x
}

func (w *walker) classDeclNamed(i, name int, span facts.Span, fl facts.Flags, scope facts.ScopeID) facts.ExprID {
	dd := facts.Def{Kind: facts.KindClass, Flags: fl, Name: w.str(name), Scope: scope, Body: facts.None, Span: span}
	if w.has(i, "abstract") {
		dd.Flags |= facts.FlagAbstract
	}
	def := w.def(dd, name)
	w.bindDef(def, scope)
	x := w.classBody(i, def)
	w.exportInPlace(def, fl)
	return x
}

// classBody walks type parameters, heritage and members of a class.
func (w *walker) classBody(i int, def facts.DefID) facts.ExprID {
	d, f := w.d, w.f
	wasScope, wasOwner, wasClass, wasFunc, wasCond, wasStatic := w.scope, w.owner, w.class, w.inFunc, w.cond, w.static
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.op(c) == opDecorator {
			w.owner = def
			w.decorator(c)
		}
	}
	scope := w.b.Scope(facts.Scope{Kind: facts.ScopeClass, Parent: w.scope, Def: def, Span: w.span(i)})
	f.Defs[def].Body = scope
	w.scope, w.owner = scope, def
	if d.typescript {
		if tp := w.t.Child(i, d.typeParameters); tp >= 0 {
			tps := w.typeParams(tp)
			f.Defs[def].TypeParams = tps
		}
	}
	if h := w.child(i, d.classHeritage); h >= 0 {
		bases := w.heritage(h)
		f.Defs[def].Bases = bases
	}
	w.class, w.inFunc, w.cond, w.static = def, false, false, false
	if body := w.t.Child(i, d.body); body >= 0 {
		f.Defs[def].BodyStart = w.t.Nodes[body].Start
		was := w.damaged
		w.noteDamage(body)
		w.members(body)
		w.damaged = was
	}
	w.scope, w.owner, w.class, w.inFunc, w.cond, w.static = wasScope, wasOwner, wasClass, wasFunc, wasCond, wasStatic
	e := w.make(facts.ExprLambda, i)
	e.Def = def
	return w.b.Expr(e)
}

// members walks the body of a class. A decorator stands before its member.
func (w *walker) members(body int) {
	start := uint32(0)
	for c, end := body+1, int(w.t.Nodes[body].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if n.Flags&(flat.Named|flat.Error) == 0 || w.op(c) == opSkip {
			continue
		}
		if w.op(c) == opDecorator {
			if start == 0 {
				start = n.Start + 1 // 0 means none
			}
			w.decorator(c)
			continue
		}
		at := n.Start
		if start != 0 {
			at = start - 1
		}
		start = 0
		was := w.damaged
		w.noteDamage(c)
		w.classMember(c, at)
		w.damaged = was
	}
}

func (w *walker) classMember(c int, start uint32) {
	switch w.op(c) {
	case opMethod, opMethodSignature:
		w.method(c, int(start), w.class, false)
	case opField:
		w.field(c, start)
	case opStaticBlock:
		w.static = true
		w.scoped(c)
		w.static = false
	default:
		w.node(c, mPlain)
	}
}

// heritage walks extends and implements and gives the list of bases.
func (w *walker) heritage(h int) facts.ExprID {
	d := w.d
	mark := len(w.stack)
	for c, end := h+1, int(w.t.Nodes[h].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		switch {
		case !n.IsNamed():
		case n.Kind == d.extendsClause:
			w.extends(c)
		case n.Kind == d.implementsClause:
			for t, e := c+1, int(n.Next); t < e; t = int(w.t.Nodes[t].Next) {
				if w.t.Nodes[t].IsNamed() && w.op(t) != opSkip {
					x := w.baseType(t)
					if x != 0 {
						w.f.Exprs[x].Flags |= facts.FlagTypeOnly
						w.stack = append(w.stack, x)
					}
				}
			}
		case w.op(c) == opSkip:
		default: // JavaScript: the expression itself
			x := w.node(c, mInherit)
			w.stack = append(w.stack, x)
		}
	}
	return w.seal(facts.Expr{Kind: facts.ExprList, Def: facts.None}, mark)
}

func (w *walker) extends(i int) {
	d := w.d
	v := w.t.Child(i, d.value)
	if v < 0 {
		w.children(i)
		return
	}
	x := w.node(v, mInherit)
	if ta := w.t.Child(i, d.typeArguments); ta >= 0 {
		x = w.withTypeArgs(x, ta)
	}
	w.stack = append(w.stack, x)
}

// method walks a method, accessor, constructor or a signature of one. In an
// object literal it belongs to the innermost named definition.
func (w *walker) method(i, start int, class facts.DefID, literal bool) facts.DefID {
	d := w.d
	name := w.t.Child(i, d.name)
	if name < 0 {
		w.children(i)
		return facts.None
	}
	if literal { // decorators of JavaScript methods stand inside
	} else {
		for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
			if w.op(c) == opDecorator {
				w.decorator(c)
			}
		}
	}
	span := w.span(i)
	span.Start = min(span.Start, uint32(start))
	dd := facts.Def{Kind: facts.KindMethod, Name: w.keyName(name), Scope: w.scope, Body: facts.None, Span: span}
	if class >= 0 {
		dd.Parent = class + 1
		if w.is(name, "constructor") {
			dd.Kind = facts.KindConstructor
		}
	}
	if w.has(i, "get") || w.has(i, "set") {
		dd.Kind = facts.KindAccessor
		dd.Flags |= facts.FlagProperty
		if w.has(i, "set") {
			dd.Flags |= facts.FlagRebound // the setter of a pair
		}
	}
	if w.has(i, "static") {
		dd.Flags |= facts.FlagStatic
	}
	if w.op(i) == opMethodSignature {
		dd.Flags |= facts.FlagOverload
		if w.abstract(i) {
			dd.Flags |= facts.FlagAbstract
		}
	}
	if dd.Name == 0 {
		dd.Name = w.b.Str("[computed]")
	}
	def := w.def(dd, name)
	wasClass, wasStatic := w.class, w.static
	w.static = dd.Flags&facts.FlagStatic != 0
	if literal {
		w.class = facts.None
	}
	w.function(i, def, def)
	w.class, w.static = wasClass, wasStatic
	return def
}

// abstract says whether a signature bears the word, in the file itself: the
// tree may be that of a repaired text.
func (w *walker) abstract(i int) bool {
	n := w.t.Nodes[i]
	for c, end := i+1, int(n.Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.is(c, "abstract") {
			return true
		}
		if w.t.Nodes[c].Field == w.d.name {
			break
		}
	}
	from := n.Start
	if from > 16 {
		from -= 16
	} else {
		from = 0
	}
	return endsWithWord(w.src[from:n.Start], "abstract")
}

// field walks a field. One that is initialised with a function is a method.
func (w *walker) field(i int, start uint32) {
	d := w.d
	name := w.t.Child(i, d.name)
	if name < 0 {
		name = w.t.Child(i, d.property)
	}
	if name < 0 {
		w.children(i)
		return
	}
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.op(c) == opDecorator {
			w.decorator(c)
		}
	}
	span := w.span(i)
	span.Start = min(span.Start, start)
	dd := facts.Def{Kind: facts.KindField, Name: w.keyName(name), Parent: w.class + 1, Scope: w.scope, Body: facts.None, Span: span}
	if w.has(i, "static") {
		dd.Flags |= facts.FlagStatic
	}
	if w.has(i, "readonly") {
		dd.Flags |= facts.FlagConst
	}
	if w.has(i, "abstract") {
		dd.Flags |= facts.FlagAbstract
	}
	if dd.Name == 0 {
		dd.Name = w.b.Str("[computed]")
	}
	value, fn := w.t.Child(i, d.value), -1
	if value >= 0 {
		if v := w.skipParens(value); w.op(v) == opArrow || w.op(v) == opFunctionExpr {
			dd.Kind, fn = facts.KindMethod, v
		}
	}
	def := w.def(dd, name)
	w.static = dd.Flags&facts.FlagStatic != 0
	defer func() { w.static = false }()
	var typ facts.ExprID
	if d.typescript {
		if t := w.t.Child(i, d.typ); t >= 0 {
			typ = w.typeNode(t)
		}
	}
	if fn >= 0 {
		w.function(fn, def, def)
		w.f.Defs[def].Recv = typ
		return
	}
	w.f.Defs[def].Type = typ
	if value >= 0 {
		w.f.Defs[def].BodyStart = w.t.Nodes[value].Start
		was := w.owner
		w.owner = def
		x := w.node(value, mValue)
		w.owner = was
		w.f.Defs[def].Value = x
	}
}
