package ecma

import (
	"bytes"
	"encoding/json"
	"path"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// module is what a specifier means.
type module struct {
	file     int32  // index into Input.Files, or -1
	external bool   // a dependency, a builtin module
	path     string // a file that is there but not indexed
	rule     string
}

var sourceExtensions = [...]string{".ts", ".tsx", ".mts", ".cts", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".d.mts", ".d.cts"}

// resolveModule resolves a specifier from a file.
func (r *resolver) resolveModule(from int32, spec string) module {
	key := moduleKey{path.Dir(r.files[from].f.Path), spec}
	if m, ok := r.modules[key]; ok {
		return m
	}
	m := r.findModule(key.dir, spec)
	r.modules[key] = m
	return m
}

type moduleKey struct{ dir, spec string }

func (r *resolver) findModule(dir, spec string) module {
	spec, _, _ = strings.Cut(spec, "?") // bundlers' queries
	if isRelative(spec) {
		p := path.Join(dir, spec)
		if strings.HasPrefix(p, "../") {
			return module{file: -1}
		}
		if m := r.asFileOrFolder(p, graph.RuleESMImport); m.file >= 0 || m.path != "" {
			return m
		}
		return r.throughRootDirs(dir, p)
	}
	if strings.HasPrefix(spec, "#") {
		return r.packageImport(dir, spec)
	}
	if t := r.config.governing(dir); t != nil {
		if m := r.throughPaths(t, spec); m.file >= 0 || m.path != "" {
			return m
		}
		if t.baseURL != "" {
			if m := r.asFileOrFolder(path.Join(t.baseURL, spec), graph.RuleTsconfigPath); m.file >= 0 {
				return m
			}
		}
	}
	if strings.HasPrefix(spec, "node:") {
		return module{file: -1, external: true}
	}
	name, rest := splitPackage(spec)
	if p := r.config.packages[name]; p != nil {
		if m := r.packageEntry(p, rest); m.file >= 0 {
			return m
		}
	}
	return module{file: -1, external: true}
}

func isRelative(spec string) bool {
	return spec == "." || spec == ".." || strings.HasPrefix(spec, "./") || strings.HasPrefix(spec, "../")
}

func (r *resolver) throughPaths(t *tsconfig, spec string) module {
	for _, m := range t.paths {
		var star string
		if m.star {
			if len(spec) < len(m.prefix)+len(m.suffix) || !strings.HasPrefix(spec, m.prefix) || !strings.HasSuffix(spec, m.suffix) {
				continue
			}
			star = spec[len(m.prefix) : len(spec)-len(m.suffix)]
		} else if spec != m.prefix {
			continue
		}
		for _, target := range m.targets {
			if m.star {
				target = path.Clean(strings.Replace(target, "*", star, 1))
			}
			if found := r.asFileOrFolder(target, graph.RuleTsconfigPath); found.file >= 0 || found.path != "" {
				return found
			}
		}
		return module{file: -1} // the best pattern decides
	}
	return module{file: -1}
}

func (r *resolver) throughRootDirs(dir, p string) module {
	t := r.config.governing(dir)
	if t == nil {
		return module{file: -1}
	}
	for _, root := range t.rootDirs {
		rest, ok := strings.CutPrefix(p, root+"/")
		if !ok {
			continue
		}
		for _, other := range t.rootDirs {
			if m := r.asFileOrFolder(path.Join(other, rest), graph.RuleTsconfigPath); m.file >= 0 {
				return m
			}
		}
	}
	return module{file: -1}
}

// asFileOrFolder tries a path as the compilers do: the file itself, the source
// that an emitted name stands for, the path with each extension, the folder's
// package.json and index file.
func (r *resolver) asFileOrFolder(p, rule string) module {
	if m := r.asFile(p, rule); m.file >= 0 || m.path != "" {
		return m
	}
	if w := r.config.inDir[p]; w != nil {
		if m := r.packageEntry(w, ""); m.file >= 0 {
			m.rule = rule
			return m
		}
	}
	return r.asIndex(p, rule)
}

func (r *resolver) asIndex(dir, rule string) module {
	for _, ext := range sourceExtensions {
		if i, ok := r.byPath[path.Join(dir, "index"+ext)]; ok {
			return module{file: i, rule: rule}
		}
	}
	return module{file: -1}
}

func (r *resolver) asFile(p, rule string) module {
	if i, ok := r.byPath[p]; ok {
		return module{file: i, rule: rule}
	}
	// ./x.js may mean x.ts; a real x.js was found above.
	for _, pair := range [...][3]string{{".js", ".ts", ".tsx"}, {".jsx", ".tsx", ""}, {".mjs", ".mts", ""}, {".cjs", ".cts", ""}} {
		stem, ok := strings.CutSuffix(p, pair[0])
		if !ok {
			continue
		}
		for _, ext := range [...]string{pair[1], pair[2], ".d" + pair[1]} {
			if ext == "" {
				continue
			}
			if i, ok := r.byPath[stem+ext]; ok {
				return module{file: i, rule: rule}
			}
		}
	}
	for _, ext := range sourceExtensions {
		if i, ok := r.byPath[p+ext]; ok {
			return module{file: i, rule: rule}
		}
	}
	if r.paths[p] {
		return module{file: -1, path: p}
	}
	for _, ext := range sourceExtensions {
		if r.paths[p+ext] {
			return module{file: -1, path: p + ext}
		}
	}
	return module{file: -1}
}

// packageImport resolves "#x" through imports of the nearest package.json.
func (r *resolver) packageImport(dir, spec string) module {
	for d := dir; ; d = path.Dir(d) {
		if w := r.config.inDir[d]; w != nil {
			for _, target := range exportTargets(w.raw.Imports, spec) {
				if m := r.packageFile(w, target); m.file >= 0 {
					m.rule = graph.RuleWorkspacePackage
					return m
				}
			}
			break
		}
		if d == "." {
			break
		}
	}
	if t := r.config.governing(dir); t != nil {
		return r.throughPaths(t, spec)
	}
	return module{file: -1}
}

// packageEntry resolves a workspace package, or a subpath of it.
func (r *resolver) packageEntry(p *workspacePackage, rest string) module {
	var targets []string
	if len(p.raw.Exports) > 0 {
		key := "."
		if rest != "" {
			key = "./" + rest
		}
		targets = exportTargets(p.raw.Exports, key)
	} else if rest != "" {
		targets = []string{rest}
	}
	if rest == "" {
		targets = append([]string{p.raw.Source}, targets...)
		targets = append(targets, p.raw.Module, p.raw.Main, p.raw.Types, p.raw.Typings)
	}
	for _, t := range targets {
		if t == "" {
			continue
		}
		if m := r.packageFile(p, t); m.file >= 0 {
			m.rule = graph.RuleWorkspacePackage
			return m
		}
	}
	// The targets are built files that are not here: the sources they are
	// built from, by convention.
	sub := rest
	for _, base := range [...]string{"src", "source", "lib", ""} {
		dir := path.Join(p.dir, base)
		if sub == "" {
			if m := r.asIndex(dir, graph.RuleWorkspacePackage); m.file >= 0 {
				return m
			}
			for _, name := range [...]string{"main", path.Base(p.dir)} {
				if base == "src" {
					if m := r.asFile(path.Join(dir, name), graph.RuleWorkspacePackage); m.file >= 0 {
						return m
					}
				}
			}
			continue
		}
		if m := r.asFile(path.Join(dir, sub), graph.RuleWorkspacePackage); m.file >= 0 {
			return m
		}
		if m := r.asIndex(path.Join(dir, sub), graph.RuleWorkspacePackage); m.file >= 0 {
			return m
		}
	}
	return module{file: -1}
}

// packageFile gives the source behind a target of package.json: the file
// itself, or, for a built file that is ignored, the source it is built from.
func (r *resolver) packageFile(p *workspacePackage, target string) module {
	if strings.HasPrefix(target, "../") || path.IsAbs(target) {
		return module{file: -1}
	}
	full := path.Join(p.dir, target)
	if m := r.asFile(full, ""); m.file >= 0 {
		return m
	}
	if m := r.asIndex(full, ""); m.file >= 0 {
		return m
	}
	stem := full
	for _, ext := range [...]string{".d.ts", ".d.mts", ".d.cts", ".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"} {
		if s, ok := strings.CutSuffix(stem, ext); ok {
			stem = s
			break
		}
	}
	if t := r.config.governing(p.dir); t != nil && t.outDir != "" {
		if rest, ok := strings.CutPrefix(stem, t.outDir+"/"); ok {
			for _, root := range [...]string{t.rootDir, path.Join(p.dir, "src"), p.dir} {
				if root == "" {
					continue
				}
				if m := r.asFile(path.Join(root, rest), ""); m.file >= 0 {
					return m
				}
			}
		}
	}
	rel, ok := strings.CutPrefix(stem, p.dir+"/")
	if p.dir == "." {
		rel, ok = stem, true
	}
	if !ok {
		return module{file: -1}
	}
	// dist/query/index.js -> src/query/index; dist/esm/index.js -> src/index.
	parts := strings.Split(rel, "/")
	for k := 1; k < len(parts) && k <= 3; k++ {
		rest := path.Join(parts[k:]...)
		for _, base := range [...]string{"src", "source", "lib", ""} {
			if base == parts[0] {
				continue
			}
			if m := r.asFile(path.Join(p.dir, base, rest), ""); m.file >= 0 {
				return m
			}
			if m := r.asIndex(path.Join(p.dir, base, rest), ""); m.file >= 0 {
				return m
			}
		}
	}
	return module{file: -1}
}

// exportTargets gives the targets that an exports or imports map offers for a
// key, in the order of its conditions; "types" alone comes last.
func exportTargets(raw json.RawMessage, key string) []string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 {
		return nil
	}
	if raw[0] != '{' {
		if key == "." {
			return conditionTargets(raw, "", 0)
		}
		return nil
	}
	entries := orderedObject(raw)
	if len(entries) > 0 && !strings.HasPrefix(entries[0].key, ".") && !strings.HasPrefix(entries[0].key, "#") {
		if key == "." {
			return conditionTargets(raw, "", 0)
		}
		return nil
	}
	best, star := -1, ""
	for i, e := range entries {
		if e.key == key {
			return conditionTargets(e.value, "", 0)
		}
		prefix, suffix, ok := strings.Cut(e.key, "*")
		if ok && strings.HasPrefix(key, prefix) && strings.HasSuffix(key, suffix) && len(key) >= len(prefix)+len(suffix) {
			if best < 0 || len(e.key) > len(entries[best].key) {
				best, star = i, key[len(prefix):len(key)-len(suffix)]
			}
		}
	}
	if best < 0 {
		return nil
	}
	return conditionTargets(entries[best].value, star, 0)
}

func conditionTargets(raw json.RawMessage, star string, depth int) []string {
	raw = bytes.TrimSpace(raw)
	if len(raw) == 0 || depth > 8 {
		return nil
	}
	switch raw[0] {
	case '"':
		var s string
		if json.Unmarshal(raw, &s) != nil {
			return nil
		}
		return []string{strings.ReplaceAll(s, "*", star)}
	case '[':
		var list []json.RawMessage
		if json.Unmarshal(raw, &list) != nil {
			return nil
		}
		var out []string
		for _, x := range list {
			out = append(out, conditionTargets(x, star, depth+1)...)
		}
		return out
	case '{':
		var out, last []string
		for _, e := range orderedObject(raw) {
			switch {
			case e.key == "types" || strings.HasPrefix(e.key, "types@"):
				last = append(last, conditionTargets(e.value, star, depth+1)...)
			case e.key == "source" || e.key == "development" || strings.HasSuffix(e.key, "source"):
				out = append(conditionTargets(e.value, star, depth+1), out...)
			default:
				out = append(out, conditionTargets(e.value, star, depth+1)...)
			}
		}
		return append(out, last...)
	}
	return nil
}

type jsonEntry struct {
	key   string
	value json.RawMessage
}

// orderedObject reads an object's entries in the order in which they stand:
// the order of conditions has meaning.
func orderedObject(raw json.RawMessage) []jsonEntry {
	d := json.NewDecoder(bytes.NewReader(raw))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil
	}
	var out []jsonEntry
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return out
		}
		key, ok := t.(string)
		if !ok {
			return out
		}
		var v json.RawMessage
		if d.Decode(&v) != nil {
			return out
		}
		out = append(out, jsonEntry{key, v})
	}
	return out
}
