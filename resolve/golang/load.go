package golang

import (
	"path"
	"sort"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// resolver is the state of one resolution.
type resolver struct {
	files    []*file
	packages map[packageKey]*pkg
	byDir    map[string][]*pkg
	modules  *modules
	paths    map[string]bool // folders with a Go file in the manifest

	named     []*named // package-level and local types, in order of discovery
	implement *implementations
	depth     int

	conditions map[string]*condition // by text
	compat     map[pair]bool
	searching  map[*named]bool            // by anyVariant
	links      map[string]map[string]bool // by imports
}

type packageKey struct{ dir, name string }

// pkg is the files of one folder with one package clause.
type pkg struct {
	dir, name string
	files     []*file
	scope     map[string]*object
}

// object is what a package-level name means: one definition, or several under
// different build constraints or in test and ordinary files.
type object struct {
	name  string
	defs  []graph.DefRef
	named *named // when it is a type
}

// named is a declared type; methods may stand in any file of its package.
type named struct {
	obj     *object
	pkg     *pkg
	methods map[string][]graph.DefRef
	params  []*typ // type parameters of the first definition
	self    *typ   // the type without arguments
	under   *typ
	state   uint8                 // of under: 0 unknown, 1 being found, 2 found
	set     map[string]*selection // methods that were looked up, promoted ones too
	ifaces  *methodList
}

// imported is one import of a file.
type imported struct {
	path string
	pkg  *pkg // nil when external
}

// file is a file of the input with what has been found about it.
type file struct {
	*facts.File
	index      int32
	pkg        *pkg
	test       bool
	vendored   bool
	constraint *condition
	imports    map[string]*imported
	guessed    map[string]*imported // names that external packages may have
	external   []*imported
	dots       []*imported
	byImport   []*imported // by ImportID

	values   []operand // by ExprID
	defTypes map[facts.DefID]*typ
	locals   map[facts.DefID]*named
	params   map[int32]*typ // type parameters by binding
}

func dirOf(p string) string {
	if dir := path.Dir(p); dir != "." {
		return dir
	}
	return ""
}

// load sorts files into packages and definitions into scopes.
func load(in *graph.Input) *resolver {
	r := &resolver{packages: map[packageKey]*pkg{}, byDir: map[string][]*pkg{}, paths: map[string]bool{},
		conditions: map[string]*condition{}, compat: map[pair]bool{}, searching: map[*named]bool{}, links: map[string]map[string]bool{}}
	dirs := map[string]bool{}
	for _, f := range in.Files {
		dirs[dirOf(f.Path)] = true
	}
	for _, p := range in.Paths {
		if strings.HasSuffix(p, ".go") {
			r.paths[dirOf(p)] = true
		}
	}
	r.modules = readModules(in.Config, dirs)
	for i, f := range in.Files {
		r.addFile(int32(i), f)
	}
	for _, list := range r.byDir {
		sort.Slice(list, func(i, j int) bool { return list[i].name < list[j].name })
	}
	for _, f := range r.files {
		r.addDefs(f)
	}
	for _, f := range r.files {
		r.addImports(f)
	}
	for _, f := range r.files {
		r.addMethods(f)
	}
	return r
}

func (r *resolver) addFile(i int32, f *facts.File) {
	x := &file{File: f, index: i, test: strings.HasSuffix(f.Path, "_test.go")}
	r.files = append(r.files, x)
	dir, name := dirOf(f.Path), ""
	x.vendored = vendored(dir)
	for d := range f.Defs {
		if f.Defs[d].Kind == facts.KindPackage {
			name = f.Text(f.Defs[d].Name)
			if v := f.Defs[d].Value; v != 0 {
				x.constraint = r.condition(f.Text(f.Exprs[v].Name))
			}
			break
		}
	}
	k := packageKey{dir, name}
	p := r.packages[k]
	if p == nil {
		p = &pkg{dir: dir, name: name, scope: map[string]*object{}}
		r.packages[k] = p
		r.byDir[dir] = append(r.byDir[dir], p)
	}
	p.files = append(p.files, x)
	x.pkg = p
	x.values = make([]operand, len(f.Exprs))
	x.defTypes = map[facts.DefID]*typ{}
}

func isTypeKind(k facts.DefKind) bool {
	return k == facts.KindStruct || k == facts.KindInterface || k == facts.KindType
}

func (r *resolver) addDefs(f *file) {
	for d := range f.Defs {
		def := &f.Defs[d]
		if def.Parent != facts.None || def.Flags&facts.FlagLocal != 0 {
			continue
		}
		switch def.Kind {
		case facts.KindFunction, facts.KindConstant, facts.KindVariable, facts.KindStruct, facts.KindInterface, facts.KindType:
		default:
			continue
		}
		name := f.Text(def.Name)
		if name == "_" || name == "init" && def.Kind == facts.KindFunction {
			continue
		}
		o := f.pkg.scope[name]
		if o == nil {
			o = &object{name: name}
			f.pkg.scope[name] = o
		}
		o.defs = append(o.defs, graph.DefRef{File: f.index, Def: facts.DefID(d)})
		if isTypeKind(def.Kind) && o.named == nil {
			o.named = r.newNamed(o, f.pkg)
		}
	}
}

func (r *resolver) newNamed(o *object, p *pkg) *named {
	n := &named{obj: o, pkg: p, methods: map[string][]graph.DefRef{}}
	n.self = &typ{kind: tNamed, named: n}
	r.named = append(r.named, n)
	return n
}

// addMethods gives the methods of a file to their types.
func (r *resolver) addMethods(f *file) {
	for d := range f.Defs {
		def := &f.Defs[d]
		if def.Kind != facts.KindMethod || def.Flags&facts.FlagAbstract != 0 {
			continue
		}
		typeName, name, ok := strings.Cut(f.Text(def.Qual), ".")
		if o := f.pkg.scope[typeName]; ok && o != nil && o.named != nil {
			n := o.named
			// A receiver may be an alias of the type.
			if t := r.declared(n); t != nil && t.kind == tNamed && t.named.pkg == f.pkg {
				n = t.named
			}
			n.methods[name] = append(n.methods[name], graph.DefRef{File: f.index, Def: facts.DefID(d)})
		}
	}
}

func (r *resolver) addImports(f *file) {
	f.imports, f.guessed = map[string]*imported{}, map[string]*imported{}
	for i := range f.Imports {
		imp := &f.Imports[i]
		x := &imported{path: f.Text(imp.Module)}
		f.byImport = append(f.byImport, x)
		if dir, inside := r.inside(f, x.path); inside {
			x.pkg = r.packageIn(dir, x.path)
		}
		if x.pkg == nil {
			f.external = append(f.external, x)
		}
		local := f.Text(imp.Local)
		switch {
		case imp.Kind == facts.ImportStar:
			f.dots = append(f.dots, x)
		case local == "_":
		case local != "":
			f.imports[local] = x
		case x.pkg != nil:
			f.imports[x.pkg.name] = x
		case standard(x.path):
			f.imports[importNames(x.path)[0]] = x
		default:
			for _, guess := range importNames(x.path) {
				if f.guessed[guess] == nil {
					f.guessed[guess] = x
				}
			}
		}
	}
}

// inside gives the folder of an import that means the repository's own code. A
// vendored tree is the code of others, and so is all that its files import.
func (r *resolver) inside(f *file, importPath string) (dir string, ok bool) {
	if importPath == "C" || f.vendored {
		return "", false
	}
	dir, ok = r.modules.find(importPath, f.pkg.dir)
	return dir, ok && !vendored(dir)
}

// standard says whether an import path is one of the standard library, whose
// packages are named as their paths say.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}

// importNames guesses the name of an external package from its path.
func importNames(p string) []string {
	dir, last := path.Split(p)
	if len(last) > 1 && last[0] == 'v' && strings.Trim(last[1:], "0123456789") == "" && dir != "" {
		last = path.Base(dir)
	}
	names := []string{last}
	if k := strings.IndexByte(last, '.'); k > 0 {
		last = last[:k]
		names = append(names, last)
	}
	names = append(names, strings.FieldsFunc(last, func(c rune) bool { return c == '-' || c == '_' })...)
	return append(names, strings.ReplaceAll(last, "-", ""), strings.ReplaceAll(last, "-", "_"))
}

// packageIn gives the package that importing a folder means: the one that is no
// external test and has an ordinary file; of several, the one named as the
// path ends, then one that is not main.
func (r *resolver) packageIn(dir, importPath string) *pkg {
	var best *pkg
	score := -1
	for _, p := range r.byDir[dir] {
		s := 0
		for _, f := range p.files {
			if !f.test {
				s |= 1
				if f.constraint == nil {
					s |= 2
				}
			}
		}
		if s == 0 {
			continue
		}
		if p.name != "main" {
			s |= 4
		}
		if p.name == path.Base(importPath) {
			s |= 8
		}
		if s > score {
			best, score = p, s
		}
	}
	return best
}

// visible gives the definitions of o that a file can mean.
func (r *resolver) visible(f *file, o *object) []graph.DefRef {
	return r.visibleDefs(f, o.defs)
}

// visibleDefs gives those of several definitions of one name that a file can
// mean. Test files see those of test files of their folder; a definition in the
// file itself is the only one; a build constraint of the file excludes those that
// cannot hold together with it.
func (r *resolver) visibleDefs(f *file, defs []graph.DefRef) []graph.DefRef {
	if len(defs) == 1 {
		if r.sees(f, r.files[defs[0].File]) {
			return defs
		}
		return nil
	}
	var out []graph.DefRef
	for _, d := range defs {
		g := r.files[d.File]
		if g == f {
			return []graph.DefRef{d}
		}
		if r.sees(f, g) {
			out = append(out, d)
		}
	}
	return out
}

// sees says whether some build that has file f has file g too.
func (r *resolver) sees(f, g *file) bool {
	if g.test && (!f.test || g.pkg.dir != f.pkg.dir) {
		return false
	}
	return r.compatible(f.constraint, g.constraint)
}
