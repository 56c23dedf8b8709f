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
	match   int32  // entLocal: 1 + the binding of the test that narrows it, 0 for none
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
	match := int32(-1)
	for s := scope; s >= 0; s = f.Scopes[s].Parent {
		if bs := x.names[nameKey(s, name)]; len(bs) > 0 {
			// A test narrows a parameter or variable, and declares nothing.
			if k := bs[0]; f.Bindings[k].Kind == facts.BindMatch {
				if match < 0 && f.Scopes[s].Kind == facts.ScopeBlock {
					match = k
				}
				if bs = bs[1:]; len(bs) == 0 || f.Bindings[bs[0]].Kind == facts.BindMatch {
					continue
				}
			}
			if e := r.pick(x, bs, sp); e.kind != entNone || e.reason != "" {
				if e.kind == entLocal && match >= 0 {
					e.match = match + 1
				}
				if e.kind == entDefs && match >= 0 && (r.def(e.defs[0]).Kind == facts.KindConstant || r.def(e.defs[0]).Kind == facts.KindVariable) {
					e.match, e.file = match+1, x.i
				}
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
	for _, d := range r.ambient[text] {
		if inSpace(r.def(d).Kind, sp) {
			return entity{kind: entDefs, defs: []graph.DefRef{d}, rule: graph.RuleLexicalBinding, weak: true}
		}
	}
	return none(graph.ReasonUnresolvedName)
}

// declareAmbient notes what files that are no modules, and `declare global`,
// declare for all. Whether such a file is part of a program is not known here,
// so it gives candidates; a name that two of them declare gives nothing.
func (r *resolver) declareAmbient() {
	r.ambient = map[string][]graph.DefRef{}
	owner := map[string]int32{}
	for _, x := range r.files {
		f := x.f
		script := !x.esm && len(f.Imports) == 0 && len(f.Exports) == 0 && f.Language != "javascript"
		for i := range f.Bindings {
			b := &f.Bindings[i]
			if b.Kind != facts.BindDef {
				continue
			}
			s := &f.Scopes[b.Scope]
			global := s.Kind == facts.ScopeNamespace && s.Def < 0
			if !global && !(script && b.Scope == 0) {
				continue
			}
			name := f.Text(b.Name)
			if at, ok := owner[name]; ok && at != x.i {
				owner[name] = -1
				delete(r.ambient, name)
				continue
			}
			owner[name] = x.i
			r.ambient[name] = append(r.ambient[name], graph.DefRef{File: x.i, Def: b.Def})
		}
	}
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
