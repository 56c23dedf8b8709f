package ecma

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

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
		if !x.esm && (len(x.assign) > 0 || len(x.exports) > 0) {
			// The default import of a CommonJS module is its module.exports.
			return entity{kind: entModule, file: x.i, cjs: true, rule: graph.RuleCommonJSRequire}
		}
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
