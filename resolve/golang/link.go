package golang

// linked says whether some program holds both a call in file f and a value of a
// type that file g declares. No package imports a command, or the test files of
// another folder: their types are seen by what they import, directly or not, and
// by nothing else; and what they call is of types that they import. Two
// libraries may always meet in a third package.
//
// An import cycle through a module outside the repository is not seen.
func (r *resolver) linked(f, g *file) bool {
	switch at, from := f.pkg.dir, g.pkg.dir; {
	case at == from:
		return true
	case g.leaf():
		return !f.leaf() && r.imports(from)[at]
	case f.leaf():
		return r.imports(at)[from]
	}
	return true
}

// leaf says whether no other folder can import what a file declares.
func (f *file) leaf() bool { return f.test || f.pkg.name == "main" }

// imports gives the folders that the programs and the tests of a folder link.
func (r *resolver) imports(dir string) map[string]bool {
	if seen, ok := r.links[dir]; ok {
		return seen
	}
	seen := map[string]bool{}
	work := []string{}
	add := func(p *pkg, tests bool) {
		for _, f := range p.files {
			if f.test && !tests {
				continue
			}
			for _, imp := range f.byImport {
				if imp.pkg != nil && !seen[imp.pkg.dir] {
					seen[imp.pkg.dir] = true
					work = append(work, imp.pkg.dir)
				}
			}
		}
	}
	for _, p := range r.byDir[dir] {
		add(p, true)
	}
	for len(work) > 0 {
		next := work[len(work)-1]
		work = work[:len(work)-1]
		for _, p := range r.byDir[next] {
			add(p, false)
		}
	}
	r.links[dir] = seen
	return seen
}

// seenFrom says whether a value of a type can be there when file f runs.
func (r *resolver) seenFrom(f *file, n *named) bool {
	for _, d := range n.obj.defs {
		if r.linked(f, r.files[d.File]) {
			return true
		}
	}
	return false
}
