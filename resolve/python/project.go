package python

import (
	"path"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// project knows which module a dotted name means to which file.
type project struct {
	files   map[string]int32 // path of a Python file to its index
	paths   map[string]bool  // every .py and .pyi path of the manifest
	dirs    map[string]bool  // folders with a Python file somewhere below; "" is the repository
	others  map[string]bool  // compiled modules: path without any suffix
	sources []string         // the operator's source roots
	roots   []string         // import roots of all projects, sorted
	isRoot  map[string]bool
	owners  map[string][]string // project folder to its import roots
	cache   map[string][]string // folder to the roots that its files see
	library map[string]bool     // roots that are Python's own library
}

// module is a module or package: file is the index of its file, or -1 for a
// namespace package, which is only a folder.
type module struct {
	file int32
	dir  string // folder of a package, "" for a plain module
	pkg  bool
}

func newProject(in *graph.Input) *project {
	p := &project{
		files: map[string]int32{}, paths: map[string]bool{}, dirs: map[string]bool{"": true}, others: map[string]bool{},
		isRoot: map[string]bool{}, owners: map[string][]string{}, cache: map[string][]string{}, library: map[string]bool{},
	}
	for i, f := range in.Files {
		p.addPath(f.Path)
		p.files[f.Path] = int32(i)
	}
	projects := map[string]bool{}
	for _, name := range in.Paths {
		switch path.Ext(name) {
		case ".py", ".pyi":
			p.addPath(name)
		case ".so", ".pyx", ".pyd":
			base, _, _ := strings.Cut(path.Base(name), ".")
			p.others[path.Join(path.Dir(name), base)] = true
		}
		switch path.Base(name) {
		case "setup.py", "setup.cfg", "pyproject.toml":
			projects[folder(name)] = true
		}
	}
	for _, s := range in.SourceRoots {
		p.sources = append(p.sources, clean(s))
		p.isRoot[clean(s)] = true
	}
	configured := map[string][]string{}
	for _, c := range in.Config {
		switch path.Base(c.Path) {
		case "pyproject.toml", "setup.cfg":
			dir := folder(c.Path)
			projects[dir] = true
			configured[dir] = append(configured[dir], packageFolders(string(c.Bytes))...)
		}
	}
	projects[""] = true
	for dir := range projects {
		for _, sub := range append(configured[dir], "src", "") {
			root := clean(path.Join(dir, sub))
			if p.dirs[root] && !slices.Contains(p.owners[dir], root) && !p.packaged(root) {
				p.owners[dir] = append(p.owners[dir], root)
				p.isRoot[root] = true
			}
		}
	}
	for root := range p.isRoot {
		p.roots = append(p.roots, root)
	}
	slices.Sort(p.roots)
	return p
}

func (p *project) addPath(name string) {
	p.paths[name] = true
	for dir := folder(name); !p.dirs[dir]; dir = folder(dir) {
		p.dirs[dir] = true
	}
}

// folder gives the folder of a path, "" for the repository.
func folder(name string) string {
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		return name[:i]
	}
	return ""
}

func clean(dir string) string {
	dir = path.Clean(dir)
	if dir == "." || dir == "/" || strings.HasPrefix(dir, "..") {
		return ""
	}
	return strings.Trim(dir, "/")
}

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// packaged says whether a folder is a regular package.
func (p *project) packaged(dir string) bool {
	return p.paths[join(dir, "__init__.py")] || p.paths[join(dir, "__init__.pyi")]
}

// packageFolders finds the folders that a project's configuration takes its
// packages from: the quoted values of the few keys that say so, in TOML and in
// setup.cfg. It reads lines, not the whole grammar: an unusual spelling is
// missed, never misread as something else.
func packageFolders(config string) []string {
	var out []string
	section := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && !strings.Contains(line, "=") {
			section = strings.Trim(line, "[] ")
			continue
		}
		key, value, ok := strings.Cut(line, "=")
		key = strings.Trim(strings.TrimSpace(key), `"'`)
		switch {
		case !ok:
			continue
		case key == "where" || key == "pythonpath" || key == "package-dir" || key == "package_dir" || key == "sources",
			key == "" && strings.Contains(section, "package-dir") || key == "" && strings.Contains(section, "options"):
			out = append(out, quoted(value)...)
		case key == "packages" && strings.Contains(section, "hatch"):
			for _, v := range quoted(value) {
				out = append(out, folder(v))
			}
		}
		if i := strings.Index(line, "from ="); i >= 0 && strings.HasPrefix(section, "tool.poetry") {
			if v := quoted(line[i+len("from ="):]); len(v) > 0 {
				out = append(out, v[0])
			}
		}
	}
	return out
}

// quoted gives the words of a list, quoted or not.
func quoted(s string) []string {
	var out []string
	for _, v := range strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("[]{},=\"' \t#", r) }) {
		if !strings.Contains(v, "..") {
			out = append(out, v)
		}
	}
	return out
}

// top gives the folder that holds the top-level package of the files in dir:
// dir itself when it is no package.
func (p *project) top(dir string) string {
	for p.packaged(dir) && dir != "" {
		dir = folder(dir)
	}
	return dir
}

// rootsOf gives the folders in which the files of dir find modules, in the
// order of the search.
func (p *project) rootsOf(dir string) []string {
	if roots, ok := p.cache[dir]; ok {
		return roots
	}
	var roots []string
	add := func(root string) {
		if !slices.Contains(roots, root) {
			roots = append(roots, root)
		}
	}
	add(p.top(dir))
	for _, s := range p.sources {
		add(s)
	}
	for d := dir; ; d = folder(d) {
		for _, r := range p.owners[d] {
			add(r)
		}
		if !p.packaged(d) {
			add(d)
		}
		if d == "" {
			break
		}
	}
	p.cache[dir] = roots
	return roots
}

// isLibrary says whether a root is the folder of Python's own library: it holds
// modules that the interpreter loads before it can see any repository.
func (p *project) isLibrary(root string) bool {
	known, ok := p.library[root]
	if !ok {
		known = p.paths[join(root, "os.py")] && p.paths[join(root, "abc.py")] && p.paths[join(root, "codecs.py")]
		p.library[root] = known
	}
	return known
}

// absolute finds the modules that an absolute dotted name may mean in a file of
// dir: none when it is outside of the repository, several when projects
// disagree. known says that the repository has at least its first part.
func (p *project) absolute(dir, dotted string) (found []module, known bool) {
	first, _, nested := strings.Cut(dotted, ".")
	home := p.top(dir)
	if standard[first] && !p.isLibrary(home) {
		// A script finds a module beside it before the library's, but never
		// one that runs before it does, and never a mere folder.
		if started[first] || dir != home {
			return nil, false
		}
		if m, ok := p.child(home, first); !ok || m.file < 0 && m.pkg {
			return nil, false
		}
		m, ok := p.find(home, dotted)
		if ok {
			found = append(found, m)
		}
		return found, true
	}
	var namespace *module
	for _, root := range p.rootsOf(dir) {
		m, ok := p.find(root, dotted)
		if ok && m.file >= 0 {
			return []module{m}, true
		}
		if ok && namespace == nil {
			namespace = &m
		}
		if !ok && nested {
			if t, ok := p.child(root, first); ok && (t.file >= 0 || !t.pkg) {
				known = true
			}
		}
	}
	if namespace != nil {
		return []module{*namespace}, true
	}
	if known {
		return nil, true
	}
	for _, root := range p.roots {
		if m, ok := p.find(root, dotted); ok && m.file >= 0 && !slices.Contains(found, m) && !slices.Contains(p.rootsOf(dir), root) {
			found = append(found, m)
		}
	}
	return found, len(found) > 0
}

// find looks a dotted name up below a root.
func (p *project) find(root, dotted string) (module, bool) {
	m := module{file: -1, dir: root, pkg: true}
	for part := range strings.SplitSeq(dotted, ".") {
		if !m.pkg {
			return module{}, false
		}
		var ok bool
		if m, ok = p.child(m.dir, part); !ok {
			return module{}, false
		}
	}
	return m, true
}

// child finds a module in a folder: a package, else a module, else a folder
// that is a namespace package. Source comes before a stub.
func (p *project) child(dir, name string) (module, bool) {
	if name == "" {
		return module{}, false
	}
	at := join(dir, name)
	for _, suffix := range [...]string{"/__init__.py", ".py", "/__init__.pyi", ".pyi"} {
		if !p.paths[at+suffix] {
			continue
		}
		m := module{file: -2}
		if i, ok := p.files[at+suffix]; ok {
			m.file = i
		}
		if suffix[0] == '/' {
			m.dir, m.pkg = at, true
		}
		return m, true
	}
	if p.dirs[at] && !p.others[at] {
		return module{file: -1, dir: at, pkg: true}, true
	}
	return module{}, false
}

// relative finds the module that a relative import means: level dots, then a
// dotted name or nothing. beyond says that there are more dots than parents.
func (p *project) relative(file string, level uint32, dotted string) (m module, ok, beyond bool) {
	dir := folder(file)
	for ; level > 1; level-- {
		if dir == "" {
			return module{}, false, true
		}
		inside := p.packaged(dir)
		dir = folder(dir)
		if inside && !p.packaged(dir) && p.isRoot[dir] || dir == "" && !p.packaged(dir) {
			return module{}, false, true
		}
	}
	if dotted == "" {
		m = module{file: -1, dir: dir, pkg: true}
		for _, name := range [...]string{"__init__.py", "__init__.pyi"} {
			if i, ok := p.files[join(dir, name)]; ok {
				m.file = i
				break
			}
		}
		return m, true, false
	}
	m, ok = p.find(dir, dotted)
	return m, ok, false
}
