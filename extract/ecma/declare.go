package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// interfaceDecl walks an interface; its members are definitions.
func (w *walker) interfaceDecl(i, outer int, fl facts.Flags) {
	d, f := w.d, w.f
	name := w.t.Child(i, d.name)
	if name < 0 {
		w.children(i)
		return
	}
	def := w.def(facts.Def{Kind: facts.KindInterface, Flags: fl, Name: w.str(name), Scope: w.scope, Body: facts.None, Span: w.span(outer)}, name)
	w.bindDef(def, w.scope)
	wasScope, wasOwner := w.scope, w.owner
	scope := w.b.Scope(facts.Scope{Kind: facts.ScopeClass, Parent: w.scope, Def: def, Span: w.span(i)})
	f.Defs[def].Body = scope
	w.scope, w.owner = scope, def
	if tp := w.t.Child(i, d.typeParameters); tp >= 0 {
		x := w.typeParams(tp)
		f.Defs[def].TypeParams = x
	}
	if e := w.child(i, d.extendsTypeClause); e >= 0 {
		mark := len(w.stack)
		for t, end := e+1, int(w.t.Nodes[e].Next); t < end; t = int(w.t.Nodes[t].Next) {
			if w.t.Nodes[t].IsNamed() && w.op(t) != opSkip {
				if x := w.baseType(t); x != 0 {
					w.stack = append(w.stack, x)
				}
			}
		}
		x := w.seal(facts.Expr{Kind: facts.ExprList, Def: facts.None}, mark)
		f.Defs[def].Bases = x
	}
	if body := w.t.Child(i, d.body); body >= 0 {
		f.Defs[def].BodyStart = w.t.Nodes[body].Start
		was := w.damaged
		w.noteDamage(body)
		x := w.objectType(body, def)
		w.damaged = was
		f.Defs[def].Type = x
	}
	w.scope, w.owner = wasScope, wasOwner
	w.exportInPlace(def, fl)
}

func (w *walker) typeAlias(i, outer int, fl facts.Flags) {
	d, f := w.d, w.f
	name := w.t.Child(i, d.name)
	if name < 0 {
		w.children(i)
		return
	}
	def := w.def(facts.Def{Kind: facts.KindType, Flags: fl, Name: w.str(name), Scope: w.scope, Body: facts.None, Span: w.span(outer)}, name)
	w.bindDef(def, w.scope)
	wasScope, wasOwner := w.scope, w.owner
	w.owner = def
	if tp := w.t.Child(i, d.typeParameters); tp >= 0 {
		w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeTypeParams, Parent: w.scope, Def: def, Span: w.span(i)})
		f.Defs[def].Body = w.scope
		x := w.typeParams(tp)
		f.Defs[def].TypeParams = x
	}
	if v := w.t.Child(i, d.value); v >= 0 {
		f.Defs[def].BodyStart = w.t.Nodes[v].Start
		x := w.typeNode(v)
		f.Defs[def].Type = x
	}
	w.scope, w.owner = wasScope, wasOwner
	w.exportInPlace(def, fl)
}

func (w *walker) enumDecl(i, outer int, fl facts.Flags) {
	d := w.d
	name := w.t.Child(i, d.name)
	if name < 0 {
		w.children(i)
		return
	}
	def := w.def(facts.Def{Kind: facts.KindEnum, Flags: fl, Name: w.str(name), Scope: w.scope, Body: facts.None, Span: w.span(outer)}, name)
	w.bindDef(def, w.scope)
	wasOwner := w.owner
	w.owner = def
	if body := w.t.Child(i, d.body); body >= 0 {
		w.f.Defs[def].BodyStart = w.t.Nodes[body].Start
		for c, end := body+1, int(w.t.Nodes[body].Next); c < end; c = int(w.t.Nodes[c].Next) {
			n := w.t.Nodes[c]
			if !n.IsNamed() || w.op(c) == opSkip {
				continue
			}
			member, value := c, -1
			if n.Kind == d.enumAssignment {
				member, value = w.t.Child(c, d.name), w.t.Child(c, d.value)
			}
			if member < 0 {
				continue
			}
			m := w.def(facts.Def{Kind: facts.KindEnumMember, Flags: facts.FlagConst | facts.FlagStatic, Name: w.keyName(member), Scope: w.scope,
				Body: facts.None, Span: w.span(c)}, member)
			if value >= 0 {
				x := w.node(value, mPlain)
				w.f.Defs[m].Value = x
			}
		}
	}
	w.owner = wasOwner
	w.exportInPlace(def, fl)
}

// namespaceDecl walks `namespace A.B {}` and `declare module "m" {}`.
func (w *walker) namespaceDecl(i, outer int, fl facts.Flags) {
	name, body := w.t.Child(i, w.d.name), w.t.Child(i, w.d.body)
	if name < 0 {
		w.children(i)
		return
	}
	wasScope, wasVar, wasOwner, wasAmbient := w.scope, w.varScope, w.owner, w.ambient
	first := facts.DefID(facts.None)
	w.nameParts(name, func(part int) {
		inner := fl
		if first >= 0 { // namespace A.B is an exported B inside of A
			inner = facts.FlagExported
		}
		def := w.namespacePart(part, i, outer, body, inner)
		if first < 0 {
			first = def
		}
	})
	if body >= 0 {
		w.children(body)
	}
	w.scope, w.varScope, w.owner, w.ambient = wasScope, wasVar, wasOwner, wasAmbient
	if first >= 0 {
		w.exportInPlace(first, fl)
	}
}

// nameParts visits the names of A.B.C from left to right.
func (w *walker) nameParts(i int, visit func(part int)) {
	if w.op(i) != opMember {
		visit(i)
		return
	}
	if o := w.t.Child(i, w.d.object); o >= 0 {
		w.nameParts(o, visit)
	}
	if p := w.t.Child(i, w.d.property); p >= 0 {
		visit(p)
	}
}

// namespacePart declares one name of a namespace and enters its scope.
func (w *walker) namespacePart(name, i, outer, body int, fl facts.Flags) facts.DefID {
	dd := facts.Def{Kind: facts.KindNamespace, Flags: fl, Name: w.str(name), Scope: w.scope, Body: facts.None, Span: w.span(outer)}
	augmentation := w.op(name) == opString
	if augmentation {
		dd.Name = w.b.Bytes(w.stringText(name))
		dd.Flags |= facts.FlagTypeOnly // an ambient module: no name of this scope
		w.ambient = true
	}
	def := w.def(dd, name)
	if !augmentation {
		w.bindDef(def, w.scope)
	}
	if body >= 0 {
		scope := w.b.Scope(facts.Scope{Kind: facts.ScopeNamespace, Parent: w.scope, Def: def, Span: w.span(body)})
		w.f.Defs[def].Body, w.f.Defs[def].BodyStart = scope, w.t.Nodes[body].Start
		w.scope, w.varScope, w.owner = scope, scope, def
	}
	return def
}

// ambientDecl walks `declare ...`.
func (w *walker) ambientDecl(i, outer int, fl facts.Flags) {
	for c, end := i+1, int(w.t.Nodes[i].Next); c < end; c = int(w.t.Nodes[c].Next) {
		if !w.t.Nodes[c].IsNamed() {
			continue
		}
		if w.op(c) == opBlock { // declare global
			was, wasVar := w.scope, w.varScope
			w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeNamespace, Parent: was, Def: facts.None, Span: w.span(c)})
			w.varScope = w.scope
			w.children(c)
			w.scope, w.varScope = was, wasVar
			continue
		}
		w.declaration(c, outer, fl)
	}
}

// declaration walks a declaration with what stands before it: export, declare.
func (w *walker) declaration(i, outer int, fl facts.Flags) {
	switch w.op(i) {
	case opFunctionDecl, opFunctionSignature:
		w.functionDecl(i, outer, fl)
	case opClass:
		w.classDecl(i, outer, 0, fl)
	case opInterface:
		w.interfaceDecl(i, outer, fl)
	case opTypeAlias:
		w.typeAlias(i, outer, fl)
	case opEnum:
		w.enumDecl(i, outer, fl)
	case opNamespace:
		w.namespaceDecl(i, outer, fl)
	case opVarDecl:
		w.varDecl(i, outer, fl)
	case opImportAlias:
		w.importAlias(i, outer, fl)
	case opAmbient:
		was := w.ambient
		w.ambient = true
		w.ambientDecl(i, outer, fl)
		w.ambient = was
	default:
		w.node(i, mPlain)
	}
}
