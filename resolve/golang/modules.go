package golang

import (
	"path"
	"sort"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// module is a go.mod of the repository.
type module struct {
	dir  string // folder of go.mod; "" for the root
	path string // module path; "" when the repository has no go.mod
	// replaced maps module paths to folders inside the repository, or to
	// outside for those that point elsewhere.
	replaced map[string]string
}

const outside = "\x00"

// modules finds the folder of an import path.
type modules struct {
	byDir []*module // longest folder first
	all   []*module // longest path first
	work  *module   // replacements of go.work, in force everywhere
	dirs  map[string]bool
}

// readModules reads every go.mod and go.work. A file that does not parse counts
// as far as its module line can be read. dirs are the folders that hold Go files.
func readModules(config []graph.ConfigFile, dirs map[string]bool) *modules {
	m := &modules{work: &module{}, dirs: dirs}
	for _, c := range config {
		dir := path.Dir(c.Path)
		if dir == "." {
			dir = ""
		}
		if vendored(dir) {
			continue
		}
		switch path.Base(c.Path) {
		case "go.mod":
			mod := &module{dir: dir, path: modfile.ModulePath(c.Bytes)}
			if f, err := modfile.ParseLax(c.Path, c.Bytes, nil); err == nil {
				if f.Module != nil {
					mod.path = f.Module.Mod.Path
				}
			}
			// ParseLax skips replace: it is for dependencies' files.
			if f, err := modfile.Parse(c.Path, c.Bytes, nil); err == nil {
				mod.replaced = replacements(dir, f.Replace)
			}
			m.byDir = append(m.byDir, mod)
		case "go.work":
			if f, err := modfile.ParseWork(c.Path, c.Bytes, nil); err == nil && m.work.replaced == nil {
				m.work.replaced = replacements(dir, f.Replace)
			}
		}
	}
	if len(m.byDir) == 0 {
		m.byDir = append(m.byDir, &module{})
	}
	m.all = append(m.all, m.byDir...)
	sort.SliceStable(m.byDir, func(i, j int) bool { return len(m.byDir[i].dir) > len(m.byDir[j].dir) })
	sort.SliceStable(m.all, func(i, j int) bool { return len(m.all[i].path) > len(m.all[j].path) })
	return m
}

func replacements(dir string, list []*modfile.Replace) map[string]string {
	out := map[string]string{}
	for _, r := range list {
		to := outside
		if r.New.Version == "" && !path.IsAbs(r.New.Path) {
			if p := path.Join(dir, r.New.Path); p != ".." && !strings.HasPrefix(p, "../") {
				to = p
				if to == "." {
					to = ""
				}
			}
		}
		out[r.Old.Path] = to
	}
	return out
}

// vendored says whether a folder belongs to a vendor tree, which holds the code
// of others.
func vendored(dir string) bool {
	return dir == "vendor" || strings.HasPrefix(dir, "vendor/") || strings.Contains(dir, "/vendor/") || strings.HasSuffix(dir, "/vendor")
}

// of gives the module that a folder belongs to, or nil.
func (m *modules) of(dir string) *module {
	for _, mod := range m.byDir {
		if _, ok := within(dir, mod.dir); ok {
			return mod
		}
	}
	return nil
}

// within gives what is left of p below the folder or path prefix.
func within(p, prefix string) (rest string, ok bool) {
	if prefix == "" {
		return p, true
	}
	if p == prefix {
		return "", true
	}
	if strings.HasPrefix(p, prefix) && p[len(prefix)] == '/' {
		return p[len(prefix)+1:], true
	}
	return "", false
}

// find gives the folder that an import path means to a file in folder from, and
// whether that is inside the repository. A folder inside need not hold Go files.
func (m *modules) find(importPath, from string) (dir string, inside bool) {
	if importPath == "." || importPath == ".." || strings.HasPrefix(importPath, "./") || strings.HasPrefix(importPath, "../") {
		dir = path.Join(from, importPath)
		if dir == "." {
			dir = ""
		}
		return dir, dir != ".." && !strings.HasPrefix(dir, "../")
	}
	own := m.of(from)
	best, found := "", false
	for _, mod := range []*module{m.work, own} {
		if mod == nil {
			continue
		}
		for old, to := range mod.replaced {
			if rest, ok := within(importPath, old); ok && (!found || len(old) > len(best)) {
				best, found = old, true
				dir, inside = to, to != outside
				if inside {
					dir = join(to, rest)
				}
			}
		}
	}
	mod, rest := m.longest(importPath, from, own)
	if mod != nil && (!found || len(mod.path) > len(best)) {
		if mod == ambiguous {
			return outside, true
		}
		return join(mod.dir, rest), true
	}
	if found {
		return dir, inside
	}
	return "", false
}

// ambiguous stands for several modules of one path, none of which is nearer.
var ambiguous = &module{}

// longest gives the module of the longest path that importPath lies in, and what
// is left of importPath below it. Of several of one path it is the importing
// file's own, else the only one that has the folder.
func (m *modules) longest(importPath, from string, own *module) (*module, string) {
	var best *module
	var left string
	for _, mod := range m.all {
		if best != nil && len(mod.path) < len(best.path) {
			break
		}
		rest, ok := m.inModule(mod, importPath, own)
		if !ok || !reachable(mod.dir, from) || m.of(join(mod.dir, rest)) != mod {
			continue // a module nested in the folder takes it away
		}
		switch {
		case mod == own:
			return mod, rest
		case best == nil, !m.dirs[join(best.dir, left)]:
			best, left = mod, rest
		case m.dirs[join(mod.dir, rest)]:
			return m.ownOr(importPath, own)
		}
	}
	return best, left
}

// ownOr gives the importing file's own module when the import lies in it, else
// ambiguous.
func (m *modules) ownOr(importPath string, own *module) (*module, string) {
	if own != nil && own.path != "" {
		if rest, ok := m.inModule(own, importPath, own); ok && m.of(join(own.dir, rest)) == own {
			return own, rest
		}
	}
	return ambiguous, ""
}

// inModule says whether an import path lies in a module, and what is left of it.
func (m *modules) inModule(mod *module, importPath string, own *module) (rest string, ok bool) {
	switch mod.path {
	case "":
		return "", false
	case "std":
		// The standard library's own import paths have no prefix.
		first, _, _ := strings.Cut(importPath, "/")
		return importPath, !strings.Contains(first, ".") && (m.dirs[join(mod.dir, importPath)] || own == mod)
	}
	return within(importPath, mod.path)
}

// reachable says whether a module can be meant by files of a folder: what lies
// in testdata, or in a folder that the go command ignores, is seen from inside
// of that only.
func reachable(dir, from string) bool {
	end := 0
	for _, part := range strings.Split(dir, "/") {
		end += len(part) + 1
		if part == "testdata" || strings.HasPrefix(part, "_") || strings.HasPrefix(part, ".") {
			_, ok := within(from, dir[:end-1])
			return ok
		}
	}
	return true
}

func join(a, b string) string {
	switch {
	case a == "":
		return b
	case b == "":
		return a
	}
	return a + "/" + b
}
