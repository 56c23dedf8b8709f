package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// importStatement walks `import ... from "m"` and `import x = require("m")`.
func (w *walker) importStatement(i int) {
	d := w.d
	src := w.t.Child(i, d.source)
	var fl facts.Flags
	if w.has(i, "type") || w.has(i, "typeof") {
		fl |= facts.FlagTypeOnly
	}
	if r := w.child(i, d.importRequireClause); r >= 0 {
		w.importRequire(i, r, fl)
		return
	}
	if src < 0 {
		w.children(i)
		return
	}
	module := w.b.Bytes(w.stringText(src))
	mod := facts.Import{Module: module, Flags: fl, Scope: w.scope, ModuleSpan: w.span(src), Ref: facts.None}
	if clause := w.child(i, d.importClause); clause >= 0 {
		w.importClause(clause, i, mod)
	} else {
		imp := mod
		imp.Kind, imp.Span = facts.ImportModule, w.span(src)
		w.f.Imports = append(w.f.Imports, imp)
	}
	w.moduleRef(src, i, module, fl)
}

// moduleRef records the reference that a module specifier makes.
func (w *walker) moduleRef(src, site int, module facts.Str, fl facts.Flags) int32 {
	e := w.make(facts.ExprString, src)
	e.Name = module
	r := w.ref(facts.RefImport, fl, src, site, w.b.Expr(e))
	w.f.Refs[r].Name = module
	return r
}

func (w *walker) importClause(clause, site int, mod facts.Import) {
	d := w.d
	for c, end := clause+1, int(w.t.Nodes[clause].Next); c < end; c = int(w.t.Nodes[c].Next) {
		imp := mod
		switch n := w.t.Nodes[c]; {
		case w.op(c) == opIdentifier:
			imp.Kind, imp.Name = facts.ImportDefault, w.b.Str("default")
			w.bindImport(imp, c, c, site)
		case n.Kind == d.namespaceImport:
			if id := w.firstNamed(c); id >= 0 {
				imp.Kind = facts.ImportNamespace
				w.bindImport(imp, id, id, site)
			}
		case n.Kind == d.namedImports:
			for s, e := c+1, int(n.Next); s < e; s = int(w.t.Nodes[s].Next) {
				if w.t.Nodes[s].Kind == d.importSpecifier {
					w.importSpecifier(s, site, mod)
				}
			}
		}
	}
}

func (w *walker) importSpecifier(s, site int, imp facts.Import) {
	d := w.d
	name, alias := w.t.Child(s, d.name), w.t.Child(s, d.alias)
	if name < 0 {
		return
	}
	if alias < 0 {
		alias = name
	}
	if w.has(s, "type") || w.has(s, "typeof") {
		imp.Flags |= facts.FlagTypeOnly
	}
	imp.Kind, imp.Name = facts.ImportName, w.moduleName(name)
	if w.f.Text(imp.Name) == "default" {
		imp.Kind = facts.ImportDefault
	}
	w.bindImport(imp, alias, name, site)
}

// moduleName gives an imported or exported name, which may be a string.
func (w *walker) moduleName(i int) facts.Str {
	if w.op(i) == opString {
		return w.b.Bytes(w.stringText(i))
	}
	return w.str(i)
}

// bindImport binds an import's local name, and records its reference at node at.
func (w *walker) bindImport(imp facts.Import, local, at, site int) {
	imp.Local, imp.Span = w.str(local), w.span(at)
	imp.Flags |= w.flags() & facts.FlagDamaged
	imp.Ref = w.ref(facts.RefImport, imp.Flags&facts.FlagTypeOnly, at, site, 0)
	id := w.b.Import(imp)
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindImport, Flags: imp.Flags, Name: imp.Local, Scope: imp.Scope,
		Span: w.span(local), Def: facts.None, Import: id})
}

func (w *walker) importRequire(i, r int, fl facts.Flags) {
	d := w.d
	id, src := w.firstNamed(r), w.t.Child(r, d.source)
	if id < 0 || src < 0 {
		return
	}
	module := w.b.Bytes(w.stringText(src))
	imp := facts.Import{Kind: facts.ImportRequire, Flags: fl, Module: module, Local: w.str(id), Scope: w.scope, Span: w.span(id),
		ModuleSpan: w.span(src), Ref: facts.None}
	w.bindImport(imp, id, id, i)
	w.moduleRef(src, i, module, fl)
	if w.has(i, "export") {
		w.export(facts.Export{Kind: facts.ExportLocal, Name: imp.Local, Local: imp.Local, Span: w.span(id), Def: facts.None, Ref: facts.None})
	}
}

// importAlias walks `import A = B.C`.
func (w *walker) importAlias(i, outer int, fl facts.Flags) {
	id, target := w.firstNamed(i), w.lastNamed(i)
	if id < 0 || target == id {
		return
	}
	var x facts.ExprID
	if w.op(target) == opMember {
		x = w.member(target, target, mValue)
	} else {
		x = w.node(target, mValue)
	}
	imp := facts.Import{Kind: facts.ImportEquals, Flags: w.flags(), Local: w.str(id), Scope: w.scope, Span: w.span(id), Ref: facts.None, Expr: x}
	n := w.b.Import(imp)
	w.f.Bindings = append(w.f.Bindings, facts.Binding{Kind: facts.BindImport, Name: imp.Local, Scope: w.scope, Span: imp.Span,
		Def: facts.None, Import: n, Value: x})
	if fl&facts.FlagExported != 0 {
		w.export(facts.Export{Kind: facts.ExportLocal, Name: imp.Local, Local: imp.Local, Span: imp.Span, Def: facts.None, Ref: facts.None})
	}
}

// dynamicImport walks import("m").
func (w *walker) dynamicImport(i, args int) facts.ExprID {
	e := w.make(facts.ExprCall, i)
	if args < 0 {
		return w.b.Expr(e)
	}
	s := w.firstNamed(args)
	if s < 0 || w.op(s) != opString {
		w.children(args)
		return w.literal(litOpaque)
	}
	m := w.moduleImport(facts.ImportDynamic, i, s)
	return w.b.Expr(e, 0, m)
}

func (w *walker) export(e facts.Export) {
	e.Flags |= w.flags() & facts.FlagDamaged
	w.f.Exports = append(w.f.Exports, e)
}

// exportInPlace records `export <declaration>`.
func (w *walker) exportInPlace(def facts.DefID, fl facts.Flags) {
	if fl&facts.FlagExported == 0 {
		return
	}
	d := &w.f.Defs[def]
	d.Flags |= facts.FlagExported
	if w.scope != 0 { // a namespace's exports are told by the flag
		return
	}
	e := facts.Export{Kind: facts.ExportLocal, Flags: fl & facts.FlagDefault, Name: d.Name, Local: d.Name, Def: def,
		Span: facts.Span{Start: d.NameStart, End: d.NameEnd}, Ref: facts.None}
	if fl&facts.FlagDefault != 0 {
		e.Name = w.b.Str("default")
	}
	w.export(e)
}

// exportSince exports the variables that a pattern declared from definition n on.
func (w *walker) exportSince(n int, fl facts.Flags) {
	if fl&facts.FlagExported == 0 {
		return
	}
	for def := n; def < len(w.f.Defs); def++ {
		if k := w.f.Defs[def].Kind; k == facts.KindConstant || k == facts.KindVariable {
			w.exportInPlace(facts.DefID(def), fl)
		}
	}
}

// exportStatement walks every form of export.
func (w *walker) exportStatement(i int) {
	d := w.d
	fl := facts.FlagExported
	isDefault := w.has(i, "default")
	if isDefault {
		fl |= facts.FlagDefault
	}
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.op(c) == opDecorator {
			w.decorator(c)
		}
	}
	if decl := w.t.Child(i, d.declaration); decl >= 0 {
		w.declaration(decl, i, fl)
		return
	}
	src := w.t.Child(i, d.source)
	var typeOnly facts.Flags
	if w.has(i, "type") {
		typeOnly = facts.FlagTypeOnly
	}
	switch clause, ns := w.child(i, d.exportClause), w.child(i, d.namespaceExport); {
	case clause >= 0:
		w.exportClause(clause, i, src, typeOnly)
	case ns >= 0 && src >= 0:
		if id := w.firstNamed(ns); id >= 0 {
			w.export(facts.Export{Kind: facts.ExportNamespace, Flags: typeOnly, Name: w.moduleName(id), Module: w.b.Bytes(w.stringText(src)),
				Def: facts.None, Span: w.span(id), Ref: facts.None})
		}
	case src >= 0 && w.has(i, "*"):
		e := facts.Export{Kind: facts.ExportStar, Flags: typeOnly | facts.FlagWildcard, Module: w.b.Bytes(w.stringText(src)), Def: facts.None,
			Span: w.span(src)}
		e.Ref = w.moduleRef(src, i, e.Module, typeOnly)
		w.export(e)
		return
	default:
		w.exportValue(i, isDefault)
		return
	}
	if src >= 0 {
		w.moduleRef(src, i, w.b.Bytes(w.stringText(src)), typeOnly)
	}
}

func (w *walker) exportClause(clause, site, src int, typeOnly facts.Flags) {
	d := w.d
	if w.firstNamed(clause) < 0 { // export {}: the file is a module
		w.export(facts.Export{Kind: facts.ExportLocal, Def: facts.None, Span: w.span(clause), Ref: facts.None})
	}
	for c, end := clause+1, int(w.t.Nodes[clause].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if w.t.Nodes[c].Kind != d.exportSpecifier {
			if w.t.Nodes[c].Flags&flat.Error != 0 {
				w.node(c, mPlain)
			}
			continue
		}
		name, alias := w.t.Child(c, d.name), w.t.Child(c, d.alias)
		if name < 0 {
			continue
		}
		if alias < 0 {
			alias = name
		}
		fl := typeOnly
		if w.has(c, "type") {
			fl |= facts.FlagTypeOnly
		}
		e := facts.Export{Kind: facts.ExportLocal, Flags: fl, Name: w.moduleName(alias), Local: w.moduleName(name), Def: facts.None, Span: w.span(name)}
		if src >= 0 {
			e.Kind, e.Module = facts.ExportFrom, w.b.Bytes(w.stringText(src))
			e.Ref = w.ref(facts.RefImport, fl|facts.FlagExported, name, site, 0)
		} else {
			x := w.make(facts.ExprName, name)
			x.Name = e.Local
			e.Ref = w.ref(facts.RefUse, fl|facts.FlagExported, name, site, w.b.Expr(x))
		}
		w.export(e)
	}
}

// exportValue walks `export default x`, `export = x` and `export as namespace N`.
func (w *walker) exportValue(i int, isDefault bool) {
	d := w.d
	v := w.t.Child(i, d.value)
	if v < 0 {
		v = w.lastNamed(i)
	}
	if v < 0 || w.has(i, "namespace") {
		return
	}
	e := facts.Export{Kind: facts.ExportLocal, Flags: facts.FlagDefault, Name: w.b.Str("default"), Def: facts.None, Span: w.span(v), Ref: facts.None}
	if !isDefault {
		if !w.has(i, "=") {
			w.children(i)
			return
		}
		e.Kind, e.Name = facts.ExportAssign, w.b.Str("export=")
	}
	x := w.skipParens(v)
	switch o := w.op(x); {
	case o == opIdentifier:
		e.Local = w.str(x)
		e.Value = w.node(x, mValue)
	case (o == opArrow || o == opFunctionExpr) && isDefault:
		dd := facts.Def{Kind: facts.KindFunction, Flags: facts.FlagExported | facts.FlagDefault, Name: e.Name, Scope: w.scope, Body: facts.None, Span: w.span(i)}
		dd.NameStart, dd.NameEnd = w.t.Nodes[x].Start, w.t.Nodes[x].Start
		name := w.t.Child(x, d.name)
		if name >= 0 {
			dd.Name = w.str(name)
		}
		e.Def = w.def(dd, name)
		w.function(x, e.Def, e.Def)
	case o == opClass && isDefault:
		name := w.t.Child(x, d.name)
		w.classExpr(x, name, w.span(i), facts.FlagExported|facts.FlagDefault)
		return
	case isDefault:
		dd := facts.Def{Kind: facts.KindConstant, Flags: facts.FlagExported | facts.FlagDefault | facts.FlagConst, Name: e.Name, Scope: w.scope,
			Body: facts.None, Span: w.span(i)}
		dd.NameStart, dd.NameEnd = w.t.Nodes[x].Start, w.t.Nodes[x].Start
		e.Def = w.def(dd, -1)
		was := w.owner
		w.owner = e.Def
		e.Value = w.node(v, mValue)
		w.owner = was
		w.f.Defs[e.Def].Value = e.Value
	default:
		e.Value = w.node(v, mValue)
	}
	w.export(e)
}
