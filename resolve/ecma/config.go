package ecma

import (
	"encoding/json"
	"path"
	"slices"
	"strings"

	"github.com/tailscale/hujson"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// tsconfig is what of a tsconfig.json or jsconfig.json decides module resolution.
type tsconfig struct {
	dir      string // folder of the file, "." for the root
	baseURL  string // folder, "" when not set
	paths    []pathMapping
	rootDirs []string
	rootDir  string
	outDir   string
}

// pathMapping is one entry of paths, its targets relative to the repository.
type pathMapping struct {
	prefix, suffix string
	star           bool
	targets        []string
}

// workspacePackage is a package.json of the repository.
type workspacePackage struct {
	dir  string
	name string
	raw  packageJSON
}

type packageJSON struct {
	Name       string          `json:"name"`
	Main       string          `json:"main"`
	Module     string          `json:"module"`
	Types      string          `json:"types"`
	Typings    string          `json:"typings"`
	Source     string          `json:"source"`
	Exports    json.RawMessage `json:"exports"`
	Imports    json.RawMessage `json:"imports"`
	Workspaces json.RawMessage `json:"workspaces"`
}

type rawTSConfig struct {
	Extends         json.RawMessage `json:"extends"`
	CompilerOptions struct {
		BaseURL  *string             `json:"baseUrl"`
		Paths    map[string][]string `json:"paths"`
		RootDirs []string            `json:"rootDirs"`
		RootDir  *string             `json:"rootDir"`
		OutDir   *string             `json:"outDir"`
	} `json:"compilerOptions"`
}

// config is every configuration file of the snapshot, by what it is.
type config struct {
	bytes    map[string][]byte
	ts       map[string]*tsconfig           // by path of the file, extends merged
	nearest  map[string]*tsconfig           // by folder: what governs its files
	packages map[string]*workspacePackage   // by name
	inDir    map[string]*workspacePackage   // by folder
	dupes    map[string][]*workspacePackage // names that several packages bear
}

func readConfig(in *graph.Input) *config {
	c := &config{bytes: map[string][]byte{}, ts: map[string]*tsconfig{}, nearest: map[string]*tsconfig{},
		packages: map[string]*workspacePackage{}, inDir: map[string]*workspacePackage{}, dupes: map[string][]*workspacePackage{}}
	for _, f := range in.Config {
		c.bytes[f.Path] = f.Bytes
	}
	for _, f := range in.Config {
		if path.Base(f.Path) != "package.json" {
			continue
		}
		var raw packageJSON
		if standard, err := hujson.Standardize(slices.Clone(f.Bytes)); err != nil || json.Unmarshal(standard, &raw) != nil {
			continue
		}
		p := &workspacePackage{dir: path.Dir(f.Path), name: raw.Name, raw: raw}
		c.inDir[p.dir] = p
		if raw.Name == "" {
			continue
		}
		c.dupes[raw.Name] = append(c.dupes[raw.Name], p)
		if _, dup := c.packages[raw.Name]; !dup {
			c.packages[raw.Name] = p
		}
	}
	c.keepWorkspaces()
	return c
}

// keepWorkspaces settles which package a name means when several package.json
// bear it: one that a workspace lists, else none.
func (c *config) keepWorkspaces() {
	var globs []string
	for p, b := range c.bytes {
		dir := path.Dir(p)
		switch path.Base(p) {
		case "pnpm-workspace.yaml":
			for _, g := range yamlPackages(string(b)) {
				globs = append(globs, glob(dir, g))
			}
		case "package.json":
			if w := c.inDir[dir]; w != nil && len(w.raw.Workspaces) > 0 {
				for _, g := range workspaceGlobs(w.raw.Workspaces) {
					globs = append(globs, glob(dir, g))
				}
			}
		}
	}
	for name, list := range c.dupes {
		if len(list) < 2 {
			continue
		}
		var kept []*workspacePackage
		for _, p := range list {
			if slices.ContainsFunc(globs, func(g string) bool { return matchGlob(g, p.dir) }) {
				kept = append(kept, p)
			}
		}
		if len(kept) == 1 {
			c.packages[name] = kept[0]
		} else {
			delete(c.packages, name)
		}
	}
}

func glob(dir, g string) string {
	neg := strings.HasPrefix(g, "!")
	g = path.Join(dir, strings.TrimPrefix(g, "!"))
	if neg {
		return "!" + g
	}
	return g
}

// matchGlob matches a folder with a workspace pattern: * is one name, ** any.
func matchGlob(pattern, dir string) bool {
	p, d := strings.Split(pattern, "/"), strings.Split(dir, "/")
	var match func(p, d []string) bool
	match = func(p, d []string) bool {
		if len(p) == 0 {
			return len(d) == 0
		}
		if p[0] == "**" {
			for k := 0; k <= len(d); k++ {
				if match(p[1:], d[k:]) {
					return true
				}
			}
			return false
		}
		if len(d) == 0 {
			return false
		}
		ok, err := path.Match(p[0], d[0])
		return err == nil && ok && match(p[1:], d[1:])
	}
	return match(p, d)
}

func workspaceGlobs(raw json.RawMessage) []string {
	var list []string
	if json.Unmarshal(raw, &list) == nil {
		return list
	}
	var object struct{ Packages []string }
	_ = json.Unmarshal(raw, &object)
	return object.Packages
}

// yamlPackages reads the one list of pnpm-workspace.yaml that matters here.
func yamlPackages(s string) []string {
	var out []string
	in := false
	for line := range strings.Lines(s) {
		line = strings.TrimRight(line, "\r\n")
		trimmed := strings.TrimSpace(line)
		switch {
		case trimmed == "" || strings.HasPrefix(trimmed, "#"):
		case strings.HasPrefix(line, "packages:"):
			in = true
			for _, g := range strings.Split(strings.Trim(strings.TrimSpace(line[len("packages:"):]), "[]"), ",") {
				if g = unquoteYAML(g); g != "" {
					out = append(out, g)
				}
			}
		case in && strings.HasPrefix(trimmed, "-"):
			out = append(out, unquoteYAML(trimmed[1:]))
		case !strings.HasPrefix(line, " "):
			in = false
		}
	}
	return out
}

func unquoteYAML(s string) string {
	s = strings.TrimSpace(s)
	if len(s) >= 2 && (s[0] == '"' || s[0] == '\'') {
		if k := strings.IndexByte(s[1:], s[0]); k >= 0 {
			return s[1 : 1+k]
		}
	}
	if k := strings.Index(s, " #"); k >= 0 {
		s = strings.TrimSpace(s[:k])
	}
	return s
}

// governing gives the configuration that governs the files of a folder: the
// nearest tsconfig.json, else jsconfig.json, upward.
func (c *config) governing(dir string) *tsconfig {
	if t, ok := c.nearest[dir]; ok {
		return t
	}
	var t *tsconfig
	for _, name := range [...]string{"tsconfig.json", "jsconfig.json"} {
		p := path.Join(dir, name)
		if _, ok := c.bytes[p]; ok {
			t = c.load(p, 0)
			if t != nil && len(t.paths) == 0 && t.baseURL == "" {
				t = c.referenced(p, t)
			}
			break
		}
	}
	if t == nil && dir != "." {
		t = c.governing(path.Dir(dir))
	}
	c.nearest[dir] = t
	return t
}

// referenced looks for path mappings in the projects that a solution-style
// tsconfig refers to, and in its neighbours named tsconfig.*.json.
func (c *config) referenced(p string, t *tsconfig) *tsconfig {
	var raw struct {
		Files      *[]string `json:"files"`
		References []struct {
			Path string `json:"path"`
		} `json:"references"`
	}
	b, err := hujson.Standardize(slices.Clone(c.bytes[p]))
	if err != nil || json.Unmarshal(b, &raw) != nil {
		return t
	}
	for _, r := range raw.References {
		ref := path.Join(path.Dir(p), r.Path)
		if _, ok := c.bytes[ref]; !ok {
			ref = path.Join(ref, "tsconfig.json")
		}
		if path.Dir(ref) != path.Dir(p) {
			continue // a folder of its own is governed by its own file
		}
		if x := c.load(ref, 0); x != nil && (len(x.paths) > 0 || x.baseURL != "") {
			return x
		}
	}
	return t
}

// load reads a tsconfig with what it extends; nil when it cannot be read.
func (c *config) load(p string, depth int) *tsconfig {
	if t, ok := c.ts[p]; ok {
		return t
	}
	b, ok := c.bytes[p]
	if !ok || depth > 16 {
		return nil
	}
	c.ts[p] = nil // a cycle ends here
	var raw rawTSConfig
	standard, err := hujson.Standardize(slices.Clone(b))
	if err != nil || json.Unmarshal(standard, &raw) != nil {
		return nil
	}
	dir := path.Dir(p)
	t := &tsconfig{}
	var bases []string
	if len(raw.Extends) > 0 && json.Unmarshal(raw.Extends, &bases) != nil {
		var one string
		if json.Unmarshal(raw.Extends, &one) == nil {
			bases = []string{one}
		}
	}
	for _, base := range bases { // a later one wins
		if x := c.load(c.extended(dir, base), depth+1); x != nil {
			t.merge(x)
		}
	}
	t.dir = dir
	o := raw.CompilerOptions
	if o.BaseURL != nil {
		t.baseURL = path.Join(dir, *o.BaseURL)
	}
	if o.Paths != nil {
		base := dir
		if t.baseURL != "" {
			base = t.baseURL
		}
		t.paths = mappings(o.Paths, base)
	}
	if o.RootDirs != nil {
		t.rootDirs = nil
		for _, d := range o.RootDirs {
			t.rootDirs = append(t.rootDirs, path.Join(dir, d))
		}
	}
	if o.RootDir != nil {
		t.rootDir = path.Join(dir, *o.RootDir)
	}
	if o.OutDir != nil {
		t.outDir = path.Join(dir, *o.OutDir)
	}
	c.ts[p] = t
	return t
}

func (t *tsconfig) merge(x *tsconfig) {
	if x.baseURL != "" {
		t.baseURL = x.baseURL
	}
	if x.paths != nil {
		t.paths = x.paths
	}
	if x.rootDirs != nil {
		t.rootDirs = x.rootDirs
	}
	if x.rootDir != "" {
		t.rootDir = x.rootDir
	}
	if x.outDir != "" {
		t.outDir = x.outDir
	}
}

// extended gives the path of the file that an extends entry names.
func (c *config) extended(dir, base string) string {
	if strings.HasPrefix(base, "./") || strings.HasPrefix(base, "../") || base == "." || base == ".." {
		p := path.Join(dir, base)
		for _, try := range [...]string{p, p + ".json", path.Join(p, "tsconfig.json")} {
			if _, ok := c.bytes[try]; ok {
				return try
			}
		}
		return ""
	}
	name, rest := splitPackage(base)
	if p := c.packages[name]; p != nil {
		for _, try := range [...]string{path.Join(p.dir, rest), path.Join(p.dir, rest) + ".json", path.Join(p.dir, rest, "tsconfig.json")} {
			if _, ok := c.bytes[try]; ok {
				return try
			}
		}
	}
	return ""
}

// mappings orders paths as the compiler tries them: exact names first, then
// the longest prefix.
func mappings(paths map[string][]string, base string) []pathMapping {
	out := []pathMapping{}
	for pattern, targets := range paths {
		m := pathMapping{prefix: pattern}
		if prefix, suffix, ok := strings.Cut(pattern, "*"); ok {
			m.prefix, m.suffix, m.star = prefix, suffix, true
		}
		for _, t := range targets {
			m.targets = append(m.targets, path.Join(base, t))
		}
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b pathMapping) int {
		if a.star != b.star {
			if b.star {
				return -1
			}
			return 1
		}
		if len(a.prefix) != len(b.prefix) {
			return len(b.prefix) - len(a.prefix)
		}
		return strings.Compare(a.prefix+"*"+a.suffix, b.prefix+"*"+b.suffix)
	})
	return out
}

// splitPackage splits "name/rest" and "@scope/name/rest".
func splitPackage(spec string) (name, rest string) {
	n := 1
	if strings.HasPrefix(spec, "@") {
		n = 2
	}
	parts := strings.SplitN(spec, "/", n+1)
	if len(parts) <= n {
		return spec, ""
	}
	return strings.Join(parts[:n], "/"), parts[n]
}
