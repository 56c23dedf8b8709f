package ecma

import (
	"slices"
	"sort"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// space tells values from types: one name may mean both.
type space uint8

const (
	inValues space = iota
	inTypes
)

type entityKind uint8

const (
	entNone     entityKind = iota // reason says why
	entDefs                       // definitions: one, or the declarations that merge
	entLocal                      // a parameter or local variable
	entParam                      // a type parameter
	entModule                     // the namespace of a module
	entExternal                   // outside the repository
	entGlobal                     // a global of the platform or of a test runner
)

// entity is what a name means.
type entity struct {
	kind    entityKind
	defs    []graph.DefRef
	file    int32 // entLocal, entParam, entModule
	binding int32
	name    string // entExternal, entGlobal, entParam
	rule    string
	reason  string
	weak    bool // found, but not proven to be the one in force
	cjs     bool // entModule: the value of module.exports rather than a namespace
}

func none(reason string) entity { return entity{reason: reason} }

func sortScopes(f *facts.File, s []facts.ScopeID) {
	slices.SortStableFunc(s, func(a, b facts.ScopeID) int {
		return int(int64(f.Scopes[a].Start) - int64(f.Scopes[b].Start))
	})
}

// scopeAt gives the innermost scope around an offset.
func (x *file) scopeAt(offset uint32) facts.ScopeID {
	f := x.f
	n := sort.Search(len(x.scopes), func(i int) bool { return f.Scopes[x.scopes[i]].Start > offset })
	if n == 0 {
		return 0
	}
	s := x.scopes[n-1]
	for s > 0 && f.Scopes[s].End <= offset {
		s = f.Scopes[s].Parent
	}
	return s
}

// lookup finds what a name means in a scope. Hoisting needs no order: a scope's
// bindings are seen in all of it.
func (r *resolver) lookup(x *file, scope facts.ScopeID, name facts.Str, sp space) entity {
	f := x.f
	for s := scope; s >= 0; s = f.Scopes[s].Parent {
		if bs := x.names[nameKey(s, name)]; len(bs) > 0 {
			if e := r.pick(x, bs, sp); e.kind != entNone || e.reason != "" {
				return e
			}
		}
		// A namespace may be declared in parts: its exported names are seen in each.
		if f.Scopes[s].Kind == facts.ScopeNamespace && f.Scopes[s].Def >= 0 {
			if e := r.mergedNamespace(x, f.Scopes[s].Def, name, sp); e.kind != entNone {
				return e
			}
		}
	}
	text := f.Text(name)
	if globalNames[text] {
		return entity{kind: entGlobal, name: text}
	}
	return none(graph.ReasonUnresolvedName)
}

func (r *resolver) mergedNamespace(x *file, def facts.DefID, name facts.Str, sp space) entity {
	d := &x.f.Defs[def]
	for _, b := range x.names[nameKey(d.Scope, d.Name)] {
		o := x.f.Bindings[b].Def
		if x.f.Bindings[b].Kind != facts.BindDef || o == def || x.f.Defs[o].Kind != facts.KindNamespace || x.f.Defs[o].Body < 0 {
			continue
		}
		if bs := x.names[nameKey(x.f.Defs[o].Body, name)]; len(bs) > 0 {
			if e := r.pick(x, bs, sp); e.kind != entNone {
				return e
			}
		}
	}
	return entity{}
}

// pick chooses among the bindings of a name in one scope.
func (r *resolver) pick(x *file, bs []int32, sp space) entity {
	f := x.f
	e := entity{rule: graph.RuleLexicalBinding}
	for _, k := range bs {
		b := &f.Bindings[k]
		switch b.Kind {
		case facts.BindTypeParam:
			if sp == inTypes {
				return entity{kind: entParam, file: x.i, binding: k, name: f.Text(b.Name)}
			}
		case facts.BindImport:
			if i := r.imported(x, b.Import, sp); i.kind != entNone || len(bs) == 1 {
				return i
			}
		case facts.BindDef:
			if !inSpace(f.Defs[b.Def].Kind, sp) {
				continue
			}
			e.kind = entDefs
			e.defs = append(e.defs, graph.DefRef{File: x.i, Def: b.Def})
		default:
			if sp == inValues && e.kind == entNone {
				return entity{kind: entLocal, file: x.i, binding: k}
			}
		}
	}
	return e
}

func inSpace(k facts.DefKind, sp space) bool {
	switch k {
	case facts.KindInterface, facts.KindType:
		return sp == inTypes
	case facts.KindClass, facts.KindEnum, facts.KindNamespace:
		return true
	}
	return sp == inValues
}

// imported follows an import to what it means.
func (r *resolver) imported(x *file, id facts.ImportID, sp space) entity {
	im := &x.f.Imports[id]
	if im.Kind == facts.ImportEquals {
		if r.depth > 30 {
			return none(graph.ReasonCyclicBinding)
		}
		r.depth++
		e := r.entityOf(x, im.Expr, sp)
		r.depth--
		return e
	}
	m := r.resolveModule(x.i, x.f.Text(im.Module))
	if m.file < 0 {
		return outside(m, x.f.Text(im.Module), x.f.Text(im.Name))
	}
	switch im.Kind {
	case facts.ImportNamespace:
		return entity{kind: entModule, file: m.file, rule: m.rule}
	case facts.ImportRequire:
		return entity{kind: entModule, file: m.file, rule: graph.RuleCommonJSRequire, cjs: true}
	case facts.ImportName, facts.ImportDefault:
		e := r.exportOf(m.file, x.f.Text(im.Name), sp)
		if e.kind == entDefs && e.rule != graph.RuleReexport {
			e.rule = m.rule
			if im.Flags&facts.FlagRelative != 0 {
				e.rule = graph.RuleCommonJSRequire
			}
		}
		return e
	}
	return none(graph.ReasonUnresolvedName)
}

// outside says what a module is that no file of the repository stands for.
func outside(m module, spec, name string) entity {
	switch {
	case m.external:
		if name != "" {
			spec += "." + name
		}
		return entity{kind: entExternal, name: spec, reason: graph.ReasonExternalImport}
	case m.path != "":
		return none(graph.ReasonNotIndexed)
	}
	return none(graph.ReasonUnresolvedModule)
}

type exportKey struct {
	file int32
	name string
	sp   space
}

// exportOf gives what a module exports under a name.
func (r *resolver) exportOf(file int32, name string, sp space) entity {
	key := exportKey{file, name, sp}
	if e, ok := r.exported[key]; ok {
		return e
	}
	r.exported[key] = none(graph.ReasonCyclicExport)
	e := r.findExport(r.files[file], name, sp)
	r.exported[key] = e
	return e
}

func (r *resolver) findExport(x *file, name string, sp space) entity {
	f := x.f
	found := none(graph.ReasonUnresolvedExport)
	for _, k := range x.exports[name] {
		if e := r.exportEntry(x, &f.Exports[k], sp); e.kind != entNone {
			if found.kind == entDefs && e.kind == entDefs {
				for _, d := range e.defs {
					if !slices.Contains(found.defs, d) {
						found.defs = append(slices.Clone(found.defs), d)
					}
				}
				continue
			}
			if found.kind == entNone {
				found = e
			}
		} else if found.kind == entNone {
			found = e
		}
	}
	if found.kind != entNone {
		return found
	}
	if e := r.assigned(x, name, sp); e.kind != entNone {
		return e
	}
	if name == "default" { // export * never carries it
		return found
	}
	return r.throughStars(x, name, sp, found)
}

// throughStars looks for a name behind export *. A name that two modules offer
// is nobody's.
func (r *resolver) throughStars(x *file, name string, sp space, found entity) entity {
	external := ""
	for _, k := range x.stars {
		spec := x.f.Text(x.f.Exports[k].Module)
		m := r.resolveModule(x.i, spec)
		if m.file < 0 {
			if m.external {
				external = spec
			}
			continue
		}
		e := r.exportOf(m.file, name, sp)
		switch {
		case e.kind == entNone:
		case found.kind == entNone:
			found = e
			found.rule = graph.RuleReexport
		case !sameEntity(found, e):
			return none(graph.ReasonAmbiguousTarget)
		}
	}
	if found.kind == entNone && external != "" {
		return entity{kind: entExternal, name: external + "." + name, reason: graph.ReasonExternalImport}
	}
	return found
}

func sameEntity(a, b entity) bool {
	if a.kind != b.kind {
		return false
	}
	if a.kind == entDefs {
		return len(a.defs) > 0 && len(b.defs) > 0 && a.defs[0] == b.defs[0]
	}
	return a.file == b.file && a.binding == b.binding && a.name == b.name
}

func (r *resolver) exportEntry(x *file, e *facts.Export, sp space) entity {
	f := x.f
	switch e.Kind {
	case facts.ExportLocal, facts.ExportMember:
		if e.Local != 0 {
			if e.Def >= 0 && f.Defs[e.Def].Kind == facts.KindLambda {
				break
			}
			if got := r.lookup(x, 0, e.Local, sp); got.kind != entNone {
				if got.kind == entDefs && got.rule == graph.RuleLexicalBinding {
					got.rule = graph.RuleModuleExport
				}
				return got
			} else if e.Def < 0 {
				return got
			}
		}
		if e.Def >= 0 && inSpace(f.Defs[e.Def].Kind, sp) {
			return entity{kind: entDefs, defs: []graph.DefRef{{File: x.i, Def: e.Def}}, rule: graph.RuleModuleExport,
				weak: e.Kind == facts.ExportMember && f.Defs[e.Def].Flags&facts.FlagConditional != 0}
		}
		if e.Value != 0 && e.Kind == facts.ExportMember {
			return r.entityOf(x, e.Value, sp)
		}
	case facts.ExportFrom:
		m := r.resolveModule(x.i, f.Text(e.Module))
		if m.file < 0 {
			return outside(m, f.Text(e.Module), f.Text(e.Local))
		}
		got := r.exportOf(m.file, f.Text(e.Local), sp)
		if got.kind == entDefs {
			got.rule = graph.RuleReexport
		}
		return got
	case facts.ExportNamespace:
		m := r.resolveModule(x.i, f.Text(e.Module))
		if m.file < 0 {
			return outside(m, f.Text(e.Module), "")
		}
		return entity{kind: entModule, file: m.file, rule: graph.RuleReexport}
	}
	return none(graph.ReasonUnresolvedExport)
}

// assigned looks for a name in what module.exports or export = is assigned.
func (r *resolver) assigned(x *file, name string, sp space) entity {
	f := x.f
	for _, k := range x.assign {
		e := &f.Exports[k]
		if name == "default" || name == "export=" {
			if e.Def >= 0 {
				return entity{kind: entDefs, defs: []graph.DefRef{{File: x.i, Def: e.Def}}, rule: graph.RuleModuleExport}
			}
			if got := r.entityOf(x, e.Value, sp); got.kind != entNone {
				return got
			}
			continue
		}
		if got := r.propertyEntity(x, e.Value, name, sp, 0); got.kind != entNone {
			return got
		}
	}
	return entity{}
}

// propertyEntity finds what a member of an object literal, a namespace or a
// class names: module.exports = { f, g: h, k() {} }.
func (r *resolver) propertyEntity(x *file, id facts.ExprID, name string, sp space, depth int) entity {
	f := x.f
	if id == 0 || depth > 8 {
		return entity{}
	}
	e := &f.Exprs[id]
	switch e.Kind {
	case facts.ExprObject:
		for _, kid := range f.Children(id) {
			k := &f.Exprs[kid]
			switch {
			case k.Kind == facts.ExprKeyword && f.Text(k.Name) == name:
				if k.Def >= 0 {
					return entity{kind: entDefs, defs: []graph.DefRef{{File: x.i, Def: k.Def}}, rule: graph.RuleModuleExport}
				}
				return r.entityOf(x, f.Child(kid, 0), sp)
			case k.Kind == facts.ExprSpread:
				if got := r.propertyEntity(x, f.Child(kid, 0), name, sp, depth+1); got.kind != entNone {
					return got
				}
			}
		}
	case facts.ExprName:
		got := r.lookup(x, x.scopeAt(e.Start), e.Name, inValues)
		return r.memberEntity(got, name, sp, depth+1)
	case facts.ExprCall:
		return r.memberEntity(r.entityOf(x, id, inValues), name, sp, depth+1)
	}
	return entity{}
}

// memberEntity finds a member of an entity without typing it.
func (r *resolver) memberEntity(e entity, name string, sp space, depth int) entity {
	switch e.kind {
	case entModule:
		if e.cjs {
			if got := r.exportOf(e.file, name, sp); got.kind != entNone {
				return got
			}
		}
		return r.exportOf(e.file, name, sp)
	case entExternal, entGlobal:
		return entity{kind: entExternal, name: e.name + "." + name, reason: graph.ReasonExternalMember}
	case entDefs:
		for _, d := range e.defs {
			x, def := r.files[d.File], r.def(d)
			switch def.Kind {
			case facts.KindNamespace:
				if got := r.namespaceMember(x, d.Def, name, sp); got.kind != entNone {
					return got
				}
			case facts.KindEnum, facts.KindClass:
				for _, m := range x.members[d.Def] {
					if f := x.f; f.Text(f.Defs[m].Name) == name && f.Defs[m].Flags&facts.FlagStatic != 0 {
						return entity{kind: entDefs, defs: []graph.DefRef{{File: d.File, Def: m}}, rule: graph.RuleClassMember}
					}
				}
			case facts.KindConstant, facts.KindVariable:
				if got := r.propertyEntity(x, def.Value, name, sp, depth); got.kind != entNone {
					return got
				}
			}
			for _, k := range x.attrs[d.Def] {
				b := &x.f.Bindings[k]
				if x.f.Text(b.Name) == name && b.Def >= 0 && x.f.Exprs[b.Target].Kind == facts.ExprName {
					return entity{kind: entDefs, defs: []graph.DefRef{{File: d.File, Def: b.Def}}, rule: graph.RuleModuleExport}
				}
			}
		}
	}
	return none(graph.ReasonUnresolvedMember)
}

func (r *resolver) namespaceMember(x *file, def facts.DefID, name string, sp space) entity {
	f := x.f
	body := f.Defs[def].Body
	n := x.str(name)
	if body < 0 || n == 0 {
		return entity{}
	}
	e := r.pick(x, x.names[nameKey(body, n)], sp)
	if e.kind == entDefs {
		e.rule = graph.RuleModuleExport
	}
	return e
}

// entityOf gives what an expression names, without typing it: a name, a member
// of a namespace, a required module.
func (r *resolver) entityOf(x *file, id facts.ExprID, sp space) entity {
	f := x.f
	if id == 0 {
		return entity{}
	}
	e := &f.Exprs[id]
	switch e.Kind {
	case facts.ExprName, facts.ExprTypeName:
		return r.lookup(x, x.scopeAt(e.Start), e.Name, sp)
	case facts.ExprAttr:
		obj := r.entityOf(x, f.Child(id, 0), inValues)
		if obj.kind == entNone && e.Flags&facts.FlagTypeOnly != 0 {
			obj = r.entityOf(x, f.Child(id, 0), inTypes)
		}
		return r.memberEntity(obj, f.Text(e.Name), sp, 0)
	case facts.ExprIndex:
		if e.Flags&facts.FlagTypeOnly != 0 {
			return r.entityOf(x, f.Child(id, 0), sp)
		}
	case facts.ExprAssert:
		return r.entityOf(x, f.Child(id, 0), sp)
	case facts.ExprLambda:
		if e.Def >= 0 && f.Defs[e.Def].Kind != facts.KindLambda {
			return entity{kind: entDefs, defs: []graph.DefRef{{File: x.i, Def: e.Def}}, rule: graph.RuleLexicalBinding}
		}
	case facts.ExprAwait:
		return r.entityOf(x, f.Child(id, 0), sp)
	case facts.ExprCall: // require("m"), import("m")
		if f.Child(id, 0) == 0 {
			if s := f.Child(id, 1); s != 0 && f.Exprs[s].Kind == facts.ExprString {
				m := r.resolveModule(x.i, f.Text(f.Exprs[s].Name))
				if m.file < 0 {
					return outside(m, f.Text(f.Exprs[s].Name), "")
				}
				return entity{kind: entModule, file: m.file, rule: graph.RuleCommonJSRequire, cjs: e.Flags&facts.FlagConst != 0}
			}
		}
	}
	return entity{}
}
