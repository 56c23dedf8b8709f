package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// def appends a definition whose name stands at node name; it belongs to the
// innermost named definition.
func (w *walker) def(d facts.Def, name int) facts.DefID {
	if name >= 0 {
		n := w.t.Nodes[name]
		d.NameStart, d.NameEnd = n.Start, n.End
	}
	d.Flags |= w.flags()
	if w.cond {
		d.Flags |= facts.FlagConditional
	}
	if d.Parent == 0 {
		d.Parent = w.owner
	} else {
		d.Parent-- // callers give Parent+1, so that 0 is "the owner"
	}
	d.Qual = d.Name
	if d.Parent >= 0 {
		if q := w.f.Text(w.f.Defs[d.Parent].Qual); q != "" {
			d.Qual = w.b.Str(q + "." + w.f.Text(d.Name))
		}
	}
	if d.BodyStart == 0 {
		d.BodyStart = d.End
	}
	return w.b.Def(d)
}

func (w *walker) bindDef(def facts.DefID, scope facts.ScopeID) {
	d := &w.f.Defs[def]
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindDef, Flags: d.Flags & (facts.FlagDamaged | facts.FlagConst | facts.FlagConditional),
		Name: d.Name, Scope: scope, Span: facts.Span{Start: d.NameStart, End: d.NameEnd}, Def: def, Import: facts.None, Type: d.Type, Value: d.Value})
}

// functionDecl walks `function f() {}` and signatures of it. outer is the node
// that spans the whole declaration.
func (w *walker) functionDecl(i, outer int, fl facts.Flags) facts.ExprID {
	name := w.t.Child(i, w.d.name)
	dd := facts.Def{Kind: facts.KindFunction, Flags: fl, Scope: w.scope, Body: facts.None, Span: w.span(outer)}
	if name >= 0 {
		dd.Name = w.str(name)
	} else {
		dd.Name, dd.NameStart, dd.NameEnd = w.b.Str("default"), w.t.Nodes[i].Start, w.t.Nodes[i].Start
	}
	if w.op(i) == opFunctionSignature {
		dd.Flags |= facts.FlagOverload
	}
	def := w.def(dd, name)
	if name >= 0 {
		w.bindDef(def, w.scope)
	}
	x := w.function(i, def, def)
	w.exportInPlace(def, fl)
	return x
}

// function walks parameters and body of a function whose definition is made;
// owner is what its references belong to.
func (w *walker) function(i int, def, owner facts.DefID) facts.ExprID {
	d, f := w.d, w.f
	wasScope, wasVar, wasOwner, wasBody, wasReturns := w.scope, w.varScope, w.owner, w.body, w.returns
	wasFunc, wasCond, wasAmbient := w.inFunc, w.cond, w.ambient
	scope := w.b.Scope(facts.Scope{Kind: facts.ScopeFunction, Parent: w.scope, Def: def, Span: w.span(i)})
	f.Defs[def].Body = scope
	w.scope, w.varScope, w.owner, w.body, w.returns = scope, scope, owner, def, nil
	w.inFunc, w.cond = true, false
	wasBound := w.bound
	if w.op(i) != opArrow {
		w.bound = def
	}
	if w.has(i, "async") {
		f.Defs[def].Flags |= facts.FlagAsync
	}
	if w.has(i, "*") {
		f.Defs[def].Flags |= facts.FlagGenerator
	}
	if d.typescript {
		if tp := w.t.Child(i, d.typeParameters); tp >= 0 {
			tps := w.typeParams(tp)
			f.Defs[def].TypeParams = tps
		}
	}
	if p := w.t.Child(i, d.parameters); p >= 0 {
		w.params(p, def)
	} else if p := w.t.Child(i, d.parameter); p >= 0 {
		w.bindPattern(p, facts.Binding{Kind: facts.BindParam, Scope: scope})
	}
	if d.typescript {
		if rt := w.t.Child(i, d.returnType); rt >= 0 {
			t := w.typeNode(rt)
			f.Defs[def].Type = t
		}
	}
	if body := w.t.Child(i, d.body); body >= 0 {
		f.Defs[def].BodyStart = w.t.Nodes[body].Start
		f.Defs[def].Flags &^= facts.FlagOverload
		if w.op(body) == opBlock {
			if w.t.Nodes[body].Flags&flat.HasError != 0 {
				was := w.damaged
				w.noteDamage(body)
				w.children(body)
				w.damaged = was
			} else {
				w.children(body)
			}
		} else if x := w.node(body, mValue); x != 0 {
			w.returns = append(w.returns, x)
		}
	}
	if len(w.returns) > 0 {
		v := w.b.Expr(facts.Expr{Kind: facts.ExprTuple, Def: facts.None}, w.returns...)
		f.Defs[def].Value = v
	}
	w.scope, w.varScope, w.owner, w.body, w.returns = wasScope, wasVar, wasOwner, wasBody, wasReturns
	w.inFunc, w.cond, w.ambient, w.bound = wasFunc, wasCond, wasAmbient, wasBound
	e := w.make(facts.ExprLambda, i)
	e.Def = def
	return w.b.Expr(e)
}

// lambda walks a function that no declaration names.
func (w *walker) lambda(i int) facts.ExprID {
	name := w.t.Child(i, w.d.name)
	kind := facts.KindLambda
	dd := facts.Def{Scope: w.scope, Body: facts.None, Span: w.span(i)}
	if name >= 0 {
		kind = facts.KindFunction
		dd.Name = w.str(name)
	}
	dd.Kind = kind
	if name < 0 {
		dd.NameStart, dd.NameEnd = dd.Start, dd.Start
	}
	def := w.def(dd, name)
	owner := w.owner
	was := w.scope
	if name >= 0 { // the name of a function expression is seen inside it only
		owner = def
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeBlock, Parent: was, Def: facts.None, Span: w.span(i)})
		w.bindDef(def, w.scope)
	}
	wasClass := w.class
	if w.op(i) == opFunctionExpr { // this is the caller's
		w.class = facts.None
	}
	x := w.function(i, def, owner)
	w.class = wasClass
	w.scope = was
	return x
}

// params binds the parameters of a function; parameter properties are fields
// of the class too.
func (w *walker) params(i int, def facts.DefID) {
	d := w.d
	order := uint32(0)
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		n := w.t.Nodes[c]
		if n.Flags&(flat.Named|flat.Error) == 0 || w.op(c) == opSkip {
			continue
		}
		b := facts.Binding{Kind: facts.BindParam, Scope: w.scope, Order: order, Def: facts.None}
		pattern := c
		if n.Kind == d.requiredParameter || n.Kind == d.optionalParameter {
			if n.Kind == d.optionalParameter {
				b.Flags |= facts.FlagOptional
			}
			if pattern = w.t.Child(c, d.pattern); pattern < 0 {
				pattern = w.t.Child(c, d.name)
			}
			for x, e := c+1, int(n.Next); x < e; x = int(w.t.Nodes[x].Next) {
				if w.op(x) == opDecorator {
					w.decorator(x)
				}
			}
			if t := w.t.Child(c, d.typ); t >= 0 {
				b.Type = w.typeNode(t)
			}
			if v := w.t.Child(c, d.value); v >= 0 {
				b.Value = w.node(v, mValue)
				b.Flags |= facts.FlagDefault
			}
			if pattern < 0 {
				continue
			}
			if w.op(pattern) == opThis {
				continue
			}
			if w.class >= 0 && def >= 0 && w.f.Defs[def].Kind == facts.KindConstructor {
				w.parameterProperty(c, pattern, b)
			}
		}
		if w.t.Nodes[pattern].Flags&flat.Error != 0 {
			w.node(pattern, mPlain)
			continue
		}
		w.bindPattern(pattern, b)
		order++
	}
}

func (w *walker) parameterProperty(c, pattern int, b facts.Binding) {
	prop := w.child(c, w.d.accessibility) >= 0 || w.child(c, w.d.override) >= 0 || w.has(c, "readonly")
	if !prop || w.op(pattern) != opIdentifier {
		return
	}
	var fl facts.Flags
	if w.has(c, "readonly") {
		fl |= facts.FlagConst
	}
	local := w.inFunc
	w.inFunc = false
	w.def(facts.Def{Kind: facts.KindField, Flags: fl, Name: w.str(pattern), Parent: w.class + 1, Scope: w.f.Defs[w.class].Body,
		Body: facts.None, Span: w.span(c), Type: b.Type, Value: b.Value}, pattern)
	w.inFunc = local
}

// varDecl walks const, let, var and using.
func (w *walker) varDecl(i, outer int, fl facts.Flags) {
	d := w.d
	scope := w.scope
	if w.t.Nodes[i].Kind == d.variableDeclaration {
		scope = w.varScope
	}
	if k := w.t.Child(i, d.kind); k >= 0 && (w.is(k, "const") || w.is(k, "using") || w.is(k, "await")) {
		fl |= facts.FlagConst
	}
	first := true
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Kind == d.variableDeclarator {
			span := w.span(c)
			if first {
				span.Start = w.t.Nodes[outer].Start
			}
			first = false
			w.declarator(c, scope, span, fl)
		} else if w.t.Nodes[c].Flags&(flat.Error|flat.Missing) != 0 {
			w.node(c, mPlain)
		}
	}
}

func (w *walker) declarator(i int, scope facts.ScopeID, span facts.Span, fl facts.Flags) {
	d := w.d
	name, value := w.t.Child(i, d.name), w.t.Child(i, d.value)
	if name < 0 {
		w.children(i)
		return
	}
	if n := w.t.Nodes[i]; n.Flags&flat.HasError != 0 {
		was := w.damaged
		w.noteDamage(i)
		defer func() { w.damaged = was }()
	}
	if value >= 0 && w.op(name) == opIdentifier {
		if v := w.skipCasts(value); w.declFunctionValue(i, name, value, v, scope, span, fl) {
			return
		}
	}
	if value >= 0 && w.requireDecl(name, value, scope, span, fl) {
		return
	}
	b := facts.Binding{Kind: facts.BindVar, Scope: scope, Flags: fl, Def: facts.None}
	if w.ambient {
		b.Flags |= facts.FlagDeclare
	}
	simple := w.op(name) == opIdentifier && !w.inFunc && w.moduleLevel(scope)
	if d.typescript && !simple {
		if t := w.t.Child(i, d.typ); t >= 0 {
			b.Type = w.typeNode(t)
		}
	}
	if !simple {
		if value >= 0 {
			b.Value = w.node(value, mValue)
		}
		n := len(w.f.Defs)
		w.bindPattern(name, b)
		w.exportSince(n, fl)
		return
	}
	// The definition comes before what its initialiser defines and uses.
	kind := facts.KindVariable
	if fl&facts.FlagConst != 0 {
		kind = facts.KindConstant
	}
	def := w.def(facts.Def{Kind: kind, Flags: fl, Name: w.str(name), Scope: scope, Body: facts.None, Span: span}, name)
	if d.typescript {
		if t := w.t.Child(i, d.typ); t >= 0 {
			x := w.typeNode(t)
			w.f.Defs[def].Type = x
		}
	}
	if value >= 0 {
		w.f.Defs[def].BodyStart = w.t.Nodes[value].Start
		was := w.owner
		w.owner = def
		x := w.node(value, mValue)
		w.owner = was
		w.f.Defs[def].Value = x
	}
	w.bindDef(def, scope)
	w.exportInPlace(def, fl)
}

// declFunctionValue makes a function or class of `const f = () => {}`.
func (w *walker) declFunctionValue(i, name, value, v int, scope facts.ScopeID, span facts.Span, fl facts.Flags) bool {
	d := w.d
	switch w.op(v) {
	case opArrow, opFunctionExpr:
		def := w.def(facts.Def{Kind: facts.KindFunction, Flags: fl, Name: w.str(name), Scope: scope, Body: facts.None, Span: span}, name)
		w.bindDef(def, scope)
		var t facts.ExprID
		if d.typescript {
			if tn := w.t.Child(i, d.typ); tn >= 0 {
				t = w.typeNode(tn)
			} else if c := w.castType(value); c >= 0 {
				t = w.typeNode(c)
			}
		}
		wasClass := w.class
		if w.op(v) == opFunctionExpr {
			w.class = facts.None
		}
		w.function(v, def, def)
		w.class = wasClass
		// The annotation of the variable is the type of the function: kept as
		// its receiver type, for the contextual types of its parameters.
		w.f.Defs[def].Recv = t
		w.exportInPlace(def, fl)
		return true
	case opClass:
		if v != w.skipParens(value) {
			return false
		}
		if d.typescript {
			if tn := w.t.Child(i, d.typ); tn >= 0 {
				return false
			}
		}
		w.classDeclNamed(v, name, span, fl, scope)
		return true
	}
	return false
}

// skipCasts looks through parentheses, `as`, `satisfies` and `!`.
func (w *walker) skipCasts(i int) int {
	for {
		switch w.op(i) {
		case opParen, opNonNull, opAs:
			c := w.firstNamed(i)
			if c < 0 || w.op(c) == opTypeArguments {
				return i
			}
			i = c
		default:
			return i
		}
	}
}

// castType gives the type node of the outermost cast around a value, or -1.
func (w *walker) castType(i int) int {
	i = w.skipParens(i)
	if w.op(i) != opAs {
		return -1
	}
	if first, last := w.firstNamed(i), w.lastNamed(i); first != last {
		return last
	}
	return -1
}

func (w *walker) decorator(i int) facts.ExprID {
	if c := w.firstNamed(i); c >= 0 {
		return w.node(c, mDecor)
	}
	return 0
}
