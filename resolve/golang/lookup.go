package golang

import (
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// meaning is what a name that is not local means in a file.
type meaning struct {
	object   *object
	defs     []graph.DefRef // of object, as the file sees them
	imp      *imported      // the import that the name is, or comes from
	dotted   bool           // it comes from imp, by a dot import
	universe string
	guess    bool // imp is a guess: its package's name is not known
}

// lookup finds what a name means: the file's imports, the package's scope, dot
// imports, external imports whose names are guessed, and the universe.
func (r *resolver) lookup(f *file, name string) meaning {
	// A file cannot import a name that its package declares in the same build.
	if imp := f.imports[name]; imp != nil {
		return meaning{imp: imp}
	}
	if o := f.pkg.scope[name]; o != nil {
		if defs := r.visible(f, o); len(defs) > 0 {
			return meaning{object: o, defs: defs}
		}
	}
	for _, dot := range f.dots {
		if dot.pkg == nil || !isExported(name) {
			continue
		}
		if o := dot.pkg.scope[name]; o != nil {
			if defs := r.visible(f, o); len(defs) > 0 {
				return meaning{object: o, defs: defs, imp: dot, dotted: true}
			}
		}
	}
	if imp := f.guessed[name]; imp != nil {
		return meaning{imp: imp, guess: true}
	}
	if universeTypes[name] != nil || builtins[name] {
		return meaning{universe: name}
	}
	for _, dot := range f.dots {
		if dot.pkg == nil && isExported(name) {
			return meaning{imp: dot, dotted: true}
		}
	}
	return meaning{}
}

func isExported(name string) bool {
	for _, c := range name {
		return 'A' <= c && c <= 'Z' || c > 127 && isUpper(c)
	}
	return false
}
