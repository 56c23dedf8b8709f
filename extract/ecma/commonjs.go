package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// moduleImport records an import in an expression and gives the expression of
// its specifier. A call without callee whose argument is a string is a module.
func (w *walker) moduleImport(kind facts.ImportKind, site, s int) facts.ExprID {
	e := w.make(facts.ExprString, s)
	e.Name = w.b.Bytes(w.stringText(s))
	x := w.b.Expr(e)
	ref := w.ref(facts.RefImport, 0, s, site, x)
	w.f.Refs[ref].Name = e.Name
	w.b.Import(facts.Import{Kind: kind, Flags: w.flags() & facts.FlagDamaged, Module: e.Name, Scope: w.scope, Span: w.span(s),
		ModuleSpan: w.span(s), Ref: ref, Expr: x})
	return x
}

// requireCall walks require("m") in an expression. Flagged, to tell a CommonJS
// module's value from the namespace that import() gives.
func (w *walker) requireCall(i, fn, s int) facts.ExprID {
	w.expr(fn, opIdentifier, mCall)
	m := w.moduleImport(facts.ImportRequire, i, s)
	e := w.make(facts.ExprCall, i)
	e.Flags |= facts.FlagConst
	return w.b.Expr(e, 0, m)
}

// requireDecl walks `const x = require("m")` and `const { a, b: c } =
// require("m")` as the imports that they are.
func (w *walker) requireDecl(name, value int, scope facts.ScopeID, span facts.Span, fl facts.Flags) bool {
	d := w.d
	v := w.skipParens(value)
	if w.op(v) != opCall {
		return false
	}
	fn, args := w.t.Child(v, d.function), w.t.Child(v, d.arguments)
	if fn < 0 || args < 0 || w.op(fn) != opIdentifier || !w.is(fn, "require") {
		return false
	}
	s := w.firstNamed(args)
	if s < 0 || w.op(s) != opString {
		return false
	}
	object := w.t.Nodes[name].Kind == d.objectPattern
	if !object && w.op(name) != opIdentifier {
		return false
	}
	if object { // only plain names; anything nested is an ordinary pattern
		for c, end := name+1, int(w.t.Nodes[name].Next); c < end; c = int(w.t.Nodes[c].Next) {
			switch n := w.t.Nodes[c]; {
			case !n.IsNamed(), n.Kind == d.shorthandPattern:
			case n.Kind == d.pairPattern:
				if x := w.t.Child(c, d.value); x < 0 || w.op(x) != opIdentifier {
					return false
				}
			default:
				return false
			}
		}
	}
	w.requireCall(v, fn, s)
	imp := facts.Import{Module: w.b.Bytes(w.stringText(s)), Flags: fl & facts.FlagConst, Scope: scope, ModuleSpan: w.span(s), Ref: facts.None}
	if !object {
		imp.Kind = facts.ImportRequire
		w.bindRequire(imp, name, name)
		return true
	}
	imp.Kind = facts.ImportName
	imp.Flags |= facts.FlagRelative // taken from module.exports, not from a namespace
	for c, end := name+1, int(w.t.Nodes[name].Next); c < end; c = int(w.t.Nodes[c].Next) {
		switch n := w.t.Nodes[c]; {
		case n.Kind == d.shorthandPattern:
			imp.Name = w.str(c)
			w.bindRequire(imp, c, c)
		case n.Kind == d.pairPattern:
			imp.Name = w.keyName(w.t.Child(c, d.key))
			w.bindRequire(imp, w.t.Child(c, d.value), c)
		}
	}
	return true
}

func (w *walker) bindRequire(imp facts.Import, local, at int) {
	imp.Local, imp.Span = w.str(local), w.span(at)
	id := w.b.Import(imp)
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindImport, Flags: imp.Flags, Name: imp.Local, Scope: imp.Scope,
		Span: w.span(local), Def: facts.None, Import: id})
}

// commonJS handles assignments that export: module.exports = x, exports.f = x,
// module.exports.f = x.
func (w *walker) commonJS(i, l, r int) (facts.ExprID, bool) {
	d := w.d
	if w.op(l) != opMember || w.d.typescript {
		return 0, false
	}
	obj, prop := w.t.Child(l, d.object), w.t.Child(l, d.property)
	if obj < 0 || prop < 0 {
		return 0, false
	}
	whole := w.op(obj) == opIdentifier && w.is(obj, "module") && w.is(prop, "exports")
	member := w.op(obj) == opIdentifier && w.is(obj, "exports") || w.op(obj) == opMember && w.is(obj, "module.exports")
	switch {
	case whole:
		// exports = module.exports = f, or module.exports = f.
		v := w.skipParens(r)
		e := facts.Export{Kind: facts.ExportAssign, Name: w.b.Str("export="), Def: facts.None, Span: w.span(prop), Ref: facts.None}
		var x facts.ExprID
		if o := w.op(v); (o == opArrow || o == opFunctionExpr) && w.t.Child(v, d.name) < 0 {
			dd := facts.Def{Kind: facts.KindFunction, Flags: facts.FlagExported, Name: w.b.Str("default"), Scope: w.scope, Body: facts.None, Span: w.span(i)}
			dd.NameStart, dd.NameEnd = w.t.Nodes[v].Start, w.t.Nodes[v].Start
			e.Def = w.def(dd, -1)
			x = w.function(v, e.Def, e.Def)
		} else {
			x = w.node(r, mValue)
			if w.f.Exprs[x].Kind == facts.ExprName {
				e.Local = w.f.Exprs[x].Name
			}
		}
		e.Value = x
		w.export(e)
		return x, true
	case member:
		e := facts.Export{Kind: facts.ExportMember, Name: w.str(prop), Def: facts.None, Span: w.span(prop), Ref: facts.None}
		v := w.skipParens(r)
		var x facts.ExprID
		switch o := w.op(v); o {
		case opArrow, opFunctionExpr:
			e.Def = w.def(facts.Def{Kind: facts.KindFunction, Flags: facts.FlagExported, Name: e.Name, Scope: w.scope, Body: facts.None, Span: w.span(i)}, prop)
			x = w.function(v, e.Def, e.Def)
		default:
			x = w.node(r, mValue)
			if xe := w.f.Exprs[x]; xe.Kind == facts.ExprName {
				e.Local = xe.Name
			} else if !w.inFunc && xe.Kind != facts.ExprLambda {
				e.Def = w.def(facts.Def{Kind: facts.KindConstant, Flags: facts.FlagExported, Name: e.Name, Scope: w.scope, Body: facts.None,
					Span: w.span(i), Value: x}, prop)
			}
		}
		e.Value = x
		w.export(e)
		return x, true
	}
	return 0, false
}

// expando handles a function that is assigned to a member: f.helper =
// function() {}, Class.prototype.m = function() {}, app.use = function() {}.
func (w *walker) expando(i, l, r int) (facts.ExprID, bool) {
	d := w.d
	if w.op(l) != opMember {
		return 0, false
	}
	v := w.skipParens(r)
	if o := w.op(v); o != opFunctionExpr && o != opArrow {
		return 0, false
	}
	obj, prop := w.t.Child(l, d.object), w.t.Child(l, d.property)
	if obj < 0 || prop < 0 {
		return 0, false
	}
	target := w.node(obj, mPlain)
	name := w.str(prop)
	b := facts.Binding{Kind: facts.BindAttr, Flags: w.flags() & facts.FlagDamaged, Name: name, Scope: w.scope, Span: w.span(prop),
		Def: facts.None, Import: facts.None, Target: target}
	// In a class, this.m = () => {} is a field of the class that holds a function.
	if w.op(obj) == opThis && w.class >= 0 {
		b.Def = w.class
		b.Value = w.node(v, mValue)
		w.f.Bindings = append(w.f.Bindings, b)
		return b.Value, true
	}
	def := w.def(facts.Def{Kind: facts.KindMethod, Name: name, Scope: w.scope, Body: facts.None, Span: w.span(i)}, prop)
	b.Def = def
	w.f.Bindings = append(w.f.Bindings, b)
	wasClass := w.class
	if w.op(v) == opFunctionExpr {
		w.class = facts.None
	}
	x := w.function(v, def, def)
	w.class = wasClass
	return x, true
}
