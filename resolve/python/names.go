package python

import (
	"math"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// declKind is what a name leads to.
type declKind uint8

const (
	declDef      declKind = iota + 1 // a function, class or variable of the repository
	declLocal                        // a binding without definition: a parameter, a local variable
	declModule                       // a module of the repository
	declExternal                     // something outside, by its dotted name
	declMissing                      // nothing: reason says why
)

// decl is one thing that a name may lead to.
type decl struct {
	kind    declKind
	why     why
	route   route
	ref     graph.DefRef // declDef; the file of declLocal
	binding int32        // binding that was reached, or -1
	mod     module
	name    string // declExternal
	reason  string // declMissing
}

// lookup finds what a name means at an offset in a scope.
func (r *resolver) lookup(fi int32, scope facts.ScopeID, name symbol, at uint32) []decl {
	f := r.files[fi]
	var buf [8]int32
	inside, class := true, true
	for s := scope; s >= 0; s = f.Scopes[s].Parent {
		kind := f.Scopes[s].Kind
		if kind == facts.ScopeClass && !class {
			continue
		}
		if kind == facts.ScopeComprehension {
			if _, ok := f.heads[nameKey{s, name}]; ok {
				return r.declare(fi, f.bindings(s, name, reach{}, buf[:0]))
			}
			class = false
			continue
		}
		bound := f.bindings(s, name, reach{at: at, inside: inside}, buf[:0])
		if len(bound) > 0 {
			switch f.Bindings[bound[0]].Kind {
			case facts.BindGlobal:
				return r.global(fi, name, reach{})
			case facts.BindNonlocal:
				inside, class = false, false
				continue
			}
			ds := r.declare(fi, bound)
			if inside && f.deleted(s, name, bound, at) {
				for i := range ds {
					ds[i].why = max(ds[i].why, conditional)
				}
			}
			return ds
		}
		if _, ok := f.heads[nameKey{s, name}]; ok && kind == facts.ScopeClass {
			// A class body that reads a name before it binds it means the module's;
			// an annotation that is evaluated late may still mean its own.
			if ds := r.global(fi, name, reach{at: at}); len(ds) > 0 {
				return ds
			}
			return r.declare(fi, f.bindings(s, name, reach{at: at}, buf[:0]))
		}
		if kind == facts.ScopeFunction && len(f.deletes[nameKey{s, name}]) > 0 {
			// del makes a name local, as an assignment does; nothing binds it.
			return []decl{{kind: declMissing, reason: graph.ReasonUnresolvedName, binding: -1}}
		}
		if kind != facts.ScopeTypeParams {
			inside, class = false, false
		}
	}
	return r.global(fi, name, reach{at: at})
}

// global finds a name at module level, among the star imports and builtins.
func (r *resolver) global(fi int32, name symbol, from reach) []decl {
	f := r.files[fi]
	var buf [8]int32
	if bound := f.bindings(0, name, from, buf[:0]); len(bound) > 0 {
		return r.declare(fi, bound)
	}
	if ds := r.starred(fi, name); len(ds) > 0 {
		return ds
	}
	text := r.syms.names[name]
	if builtin[text] {
		return []decl{{kind: declExternal, name: "builtins." + text, binding: -1}}
	}
	return nil
}

// declare gives what bindings lead to. Several bindings that do not lead to the
// same leave a doubt.
func (r *resolver) declare(fi int32, bound []int32) []decl {
	f := r.files[fi]
	var out []decl
	kept, doubt := 0, ambiguous
	for _, b := range bound {
		bd := &f.Bindings[b]
		if bd.Flags&facts.FlagConditional != 0 {
			doubt = conditional
		}
		if len(bound) > 1 && bd.Value != 0 && f.Exprs[bd.Value].Kind == facts.ExprLiteral && f.Text(f.Exprs[bd.Value].Name) == "none" {
			continue // f = None beside another binding: nothing that can be called
		}
		kept++
		switch {
		case bd.Kind == facts.BindImport:
			out = append(out, r.imports(fi, bd.Import)...)
		case bd.Kind == facts.BindDef || bd.Def >= 0:
			out = append(out, decl{kind: declDef, ref: graph.DefRef{File: fi, Def: bd.Def}, binding: b})
		default:
			out = append(out, decl{kind: declLocal, ref: graph.DefRef{File: fi, Def: facts.None}, binding: b})
		}
	}
	if kept > 1 && !sameDecl(out) {
		for i := range out {
			out[i].why = max(out[i].why, doubt)
		}
	}
	return out
}

func sameDecl(ds []decl) bool {
	for _, d := range ds[min(1, len(ds)):] {
		a := ds[0]
		if d.kind != a.kind || d.ref != a.ref || d.mod != a.mod || d.name != a.name || d.kind == declLocal {
			return false
		}
	}
	return true
}

// starred finds a name that star imports bring in.
func (r *resolver) starred(fi int32, name symbol) []decl {
	f := r.files[fi]
	var out []decl
	for _, id := range f.stars {
		for _, d := range r.imports(fi, id) {
			switch {
			case d.kind == declExternal:
				out = append(out, decl{kind: declExternal, name: d.name + "." + r.syms.names[name], binding: -1, why: wildcard})
			case d.kind == declModule && d.mod.file >= 0:
				doubt, ok := r.offers(d.mod.file, name, 0)
				if !ok {
					continue
				}
				for _, m := range r.member(d.mod, name) {
					if m.kind != declMissing && m.kind != declModule {
						m.why = max(m.why, doubt)
						m.route = reexport
						out = append(out, m)
					}
				}
			}
		}
	}
	// A module of the repository that has the name goes before one outside
	// that may have it.
	internal := out[:0:0]
	for _, d := range out {
		if d.kind != declExternal {
			internal = append(internal, d)
		}
	}
	if len(internal) == 0 {
		if text := r.syms.names[name]; builtin[text] {
			return nil
		}
		return out
	}
	if len(internal) > 1 && !sameDecl(internal) {
		for i := range internal {
			internal[i].why = max(internal[i].why, wildcard)
		}
	}
	return internal
}

// offers says whether a star import of a module brings a name in. That is
// proved by a static __all__ alone.
func (r *resolver) offers(fi int32, name symbol, depth int) (why, bool) {
	f := r.files[fi]
	if f.allKnown {
		if f.all[name] {
			return proved, true
		}
		for _, x := range f.allFrom {
			if depth > 16 {
				break
			}
			for _, v := range r.eval(fi, f.Child(x, 0)) {
				if v.kind == isModule && v.file >= 0 {
					if w, ok := r.offers(v.file, name, depth+1); ok {
						return w, true
					}
				}
			}
		}
		return proved, false
	}
	return wildcard, !strings.HasPrefix(r.syms.names[name], "_")
}

// member finds a name in a module: what is bound there, else a star import,
// else a submodule.
func (r *resolver) member(m module, name symbol) []decl {
	if m.file == -2 {
		return []decl{{kind: declMissing, reason: graph.ReasonNotIndexed, binding: -1}}
	}
	if m.file >= 0 {
		f := r.files[m.file]
		var buf [8]int32
		if bound := f.bindings(0, name, reach{}, buf[:0]); len(bound) > 0 {
			ds := r.declare(m.file, bound)
			gone := f.deleted(0, name, bound, math.MaxUint32)
			for i := range ds {
				ds[i].route = memberOf
				if gone {
					ds[i].why = max(ds[i].why, conditional)
				}
				if f.Bindings[bound[0]].Kind == facts.BindImport {
					ds[i].route = reexport
				}
			}
			if len(ds) > 0 {
				return ds
			}
		}
		if r.depth < maxDepth {
			r.depth++
			ds := r.starred(m.file, name)
			r.depth--
			if len(ds) > 0 {
				return ds
			}
		}
	}
	if m.pkg {
		if sub, ok := r.project.child(m.dir, r.syms.names[name]); ok {
			return []decl{{kind: declModule, mod: sub, route: memberOf, binding: -1}}
		}
	}
	return nil
}

// imports gives what an import binds. An import that is met again while it is
// being followed binds nothing.
func (r *resolver) imports(fi int32, id facts.ImportID) []decl {
	f := r.files[fi]
	switch at := f.imported[id]; {
	case at > 0:
		return clone(r.found[at-1])
	case at < 0:
		return nil
	}
	f.imported[id] = -1
	ds := r.follow(fi, &f.Imports[id])
	r.found = append(r.found, ds)
	f.imported[id] = int32(len(r.found))
	return clone(ds)
}

func clone(ds []decl) []decl { return append([]decl(nil), ds...) }

// modules finds the modules that the specifier of an import means.
func (r *resolver) modules(fi int32, imp *facts.Import) []decl {
	f := r.files[fi]
	dotted := f.Text(imp.Module)
	if imp.Level > 0 {
		m, ok, beyond := r.project.relative(f.Path, imp.Level, dotted)
		switch {
		case beyond:
			return []decl{{kind: declMissing, reason: graph.ReasonBeyondTopPackage, binding: -1}}
		case !ok:
			return []decl{{kind: declMissing, reason: graph.ReasonUnresolvedModule, binding: -1}}
		}
		return []decl{{kind: declModule, mod: m, route: relative, binding: -1}}
	}
	found, known := r.project.absolute(f.dir, dotted)
	if len(found) == 0 {
		if known {
			return []decl{{kind: declMissing, reason: graph.ReasonUnresolvedModule, binding: -1}}
		}
		if first, _, _ := strings.Cut(dotted, "."); !standard[first] {
			// A module of a package that is run as a script, or that only a
			// checker of types imports, may find its neighbours.
			if m, ok := r.project.find(f.dir, dotted); ok && m.file >= 0 {
				return []decl{{kind: declModule, mod: m, route: explicit, why: ambiguous, binding: -1}}
			}
		}
		return []decl{{kind: declExternal, name: dotted, route: explicit, binding: -1}}
	}
	doubt := proved
	if len(found) > 1 {
		doubt = ambiguous
	}
	var out []decl
	for _, m := range found {
		out = append(out, decl{kind: declModule, mod: m, route: explicit, why: doubt, binding: -1})
	}
	return out
}

func (r *resolver) follow(fi int32, imp *facts.Import) []decl {
	f := r.files[fi]
	mods := r.modules(fi, imp)
	switch imp.Kind {
	case facts.ImportStar:
		return mods
	case facts.ImportModule:
		if imp.Local == 0 || imp.Name != 0 {
			return mods // only a specifier, or `import a.b as c`
		}
		first, _, nested := strings.Cut(f.Text(imp.Module), ".")
		if !nested {
			return mods
		}
		found, known := r.project.absolute(f.dir, first)
		if len(found) == 0 && !known {
			return []decl{{kind: declExternal, name: first, route: explicit, binding: -1}}
		}
		var out []decl
		for _, m := range found {
			out = append(out, decl{kind: declModule, mod: m, route: explicit, binding: -1})
		}
		return out
	}
	name := f.symbols[imp.Name]
	how := explicit
	if imp.Level > 0 {
		how = relative
	}
	var out []decl
	for _, m := range mods {
		switch m.kind {
		case declExternal:
			out = append(out, decl{kind: declExternal, name: m.name + "." + f.Text(imp.Name), route: how, binding: -1})
			continue
		case declMissing:
			out = append(out, m)
			continue
		}
		if r.depth > maxDepth {
			continue
		}
		r.depth++
		ds := r.member(m.mod, name)
		r.depth--
		if len(ds) == 0 {
			if m.mod.file == -1 && imp.Level == 0 {
				// A folder that happens to bear the name of a dependency.
				out = append(out, decl{kind: declExternal, name: f.Text(imp.Module) + "." + f.Text(imp.Name), route: how, binding: -1})
				continue
			}
			out = append(out, decl{kind: declMissing, reason: graph.ReasonUnresolvedExport, binding: -1})
			continue
		}
		for _, d := range ds {
			d.why = max(d.why, m.why)
			if d.route != reexport {
				d.route = how
			}
			out = append(out, d)
		}
	}
	return out
}
