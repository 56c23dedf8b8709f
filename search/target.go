package search

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// target is what a question is about.
type target struct {
	all   []graph.NodeID // every definition that the target names, in seed order
	seeds []graph.NodeID // those that are walked from: at most maxSeeds
	name  string         // simple name, for counting mentions; "" when the target is a path
}

// callable are the kinds that an argument list may follow.
var callable = map[string]bool{"function": true, "method": true, "constructor": true, "accessor": true, "class": true}

// resolveTarget finds the definitions that the request is about, reports
// ambiguity and dropped seeds, and counts mentions.
func (q *query) resolveTarget() (target, error) {
	var t target
	var err error
	if q.req.SymbolID != "" {
		t, err = q.bySymbol(graph.SymbolID(q.req.SymbolID))
	} else {
		t, err = q.byName(strings.TrimSpace(q.req.Target))
	}
	if err != nil {
		return t, err
	}
	t.seeds = t.all[:min(len(t.all), maxSeeds)]
	q.cut(BoundSeeds, maxSeeds, len(t.all)-len(t.seeds))
	for i, id := range t.all[:min(len(t.all), maxAmbiguous)] {
		r, err := q.ref(id)
		if err != nil {
			return t, err
		}
		if i < maxSeeds {
			q.a.Seeds = append(q.a.Seeds, r)
		}
		if len(t.all) > 1 {
			q.a.Ambiguous = append(q.a.Ambiguous, r)
		}
	}
	if len(t.all) == 0 {
		q.limitation(LimitNoDefinition)
	}
	for _, id := range t.seeds {
		if n, err := q.node(id); err == nil && readsMissing(n) {
			q.limitation(LimitMemberReads)
		}
	}
	return t, q.mentions(t.name)
}

// readsMissing says whether plain reads of a definition are no references in the
// index: reading a field is told from reading data in Go only.
func readsMissing(n *graph.Node) bool {
	switch n.Kind {
	case "field", "enum_member":
		return n.Language != "go"
	case "accessor":
		return true
	}
	return false
}

func (q *query) bySymbol(id graph.SymbolID) (target, error) {
	n, ok, err := q.nodeBySymbol(id)
	if err != nil {
		return target{}, err
	}
	if !ok {
		return target{}, fault.New(fault.TargetMissing, "this generation has no symbol %q", string(id)).WithField("symbol_id").WithHint("ask for it by name: a symbol id is valid only with the fingerprint that it came from")
	}
	t := target{all: []graph.NodeID{n}}
	t.name, err = q.simpleName(t.all)
	return t, err
}

func (q *query) nodeBySymbol(id graph.SymbolID) (graph.NodeID, bool, error) {
	if r, ok := q.g.(symbolReader); ok {
		return r.NodeBySymbol(id)
	}
	for i := range q.facts.Nodes {
		n, err := q.node(graph.NodeID(i))
		if err != nil {
			return 0, false, err
		}
		if symbolID(n) == id {
			return graph.NodeID(i), true, nil
		}
	}
	return 0, false, nil
}

// byName goes through the tiers; a later one is looked at only when every
// earlier one is empty.
func (q *query) byName(text string) (target, error) {
	var t target
	var err error
	if t.all, err = q.exact(text); err != nil {
		return t, err
	}
	if bare, cut := withoutArguments(text); cut && len(t.all) == 0 {
		if t.all, err = q.exact(bare); err != nil {
			return t, err
		}
		t.all, err = q.filter(t.all, func(n *graph.Node) bool { return callable[n.Kind] })
		if err != nil {
			return t, err
		}
	}
	isPath := false
	if len(t.all) == 0 {
		if t.all, isPath, err = q.byPath(text); err != nil {
			return t, err
		}
	}
	if t.all, err = q.seedOrder(t.all); err != nil {
		return t, err
	}
	if len(t.all) > 0 {
		t.name, err = q.simpleName(t.all)
	} else if !isPath {
		t.name = lastName(text)
	}
	return t, err
}

// exact is the first tier: an exact label or qualified name as written, alone,
// after a path (`a.py::C.m`, `a.py:C.m`), in the forms of Go (`(*T).M`,
// `pkg.Func`, `pkg.T.M`, `dir/pkg.Func`), or after a dotted Python module
// (`pkg.mod.C.m`).
func (q *query) exact(text string) ([]graph.NodeID, error) {
	found, err := q.labelled(text)
	if err != nil {
		return nil, err
	}
	// The path of a file means that file, not every one of its base name.
	file, err := q.filter(found, func(n *graph.Node) bool { return n.Kind == "file" && n.Path == text })
	if err != nil || len(file) > 0 {
		return file[:min(1, len(file))], err
	}
	if file, name, ok := cutPath(text); ok {
		ids, err := q.labelledIn(file, name)
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	plain := withoutReceiver(text)
	if plain != text {
		ids, err := q.labelled(plain)
		if err != nil {
			return nil, err
		}
		ids, err = q.filter(ids, func(n *graph.Node) bool { return n.Language == "go" })
		if err != nil {
			return nil, err
		}
		found = append(found, ids...)
	}
	ids, err := q.inPackage(plain)
	if err != nil {
		return nil, err
	}
	found = append(found, ids...)
	if ids, err = q.inModule(text); err != nil {
		return nil, err
	}
	found = append(found, ids...)
	slices.Sort(found)
	return slices.Compact(found), nil
}

func (q *query) labelled(name string) ([]graph.NodeID, error) {
	named, err := q.g.NodesNamed(name)
	if err != nil {
		return nil, fmt.Errorf("looking up the name %q: %w", name, err)
	}
	qualified, err := q.g.NodesQualified(name)
	if err != nil {
		return nil, fmt.Errorf("looking up the qualified name %q: %w", name, err)
	}
	return append(slices.Clone(named), qualified...), nil
}

// labelledIn gives the definitions of one file with a qualified name, or with a
// simple one when there are none.
func (q *query) labelledIn(file, name string) ([]graph.NodeID, error) {
	ids, err := q.g.NodesInFile(file)
	if err != nil {
		return nil, fmt.Errorf("looking up the definitions of %q: %w", file, err)
	}
	qualified, err := q.filter(ids, func(n *graph.Node) bool { return n.Qualified == name && n.Kind != "file" })
	if err != nil || len(qualified) > 0 {
		return qualified, err
	}
	return q.filter(ids, func(n *graph.Node) bool { return n.Name == name && n.Kind != "file" })
}

// cutPath splits path::name and path:name. A number is a line, not a name.
func cutPath(text string) (file, name string, ok bool) {
	i := strings.LastIndex(text, "::")
	if i < 0 {
		i = strings.LastIndex(text, ":")
		if i < 0 {
			return "", "", false
		}
		file, name = text[:i], text[i+1:]
		if _, err := strconv.Atoi(name); err == nil {
			return "", "", false
		}
	} else {
		file, name = text[:i], text[i+2:]
	}
	return strings.TrimPrefix(file, "./"), withoutReceiver(name), file != "" && name != ""
}

// receiver is a Go receiver in a method expression: (*T). or (T).
var receiver = regexp.MustCompile(`\(\*?([\pL_][\pL\pN_]*)(?:\[[^\]()]*\])?\)\.`)

// withoutReceiver turns (*T).M into T.M.
func withoutReceiver(s string) string { return receiver.ReplaceAllString(s, "$1.") }

// inPackage resolves pkg.Name where pkg is the name or the directory of a Go
// package of the repository.
func (q *query) inPackage(text string) ([]graph.NodeID, error) {
	slash := strings.LastIndexByte(text, '/')
	dot := strings.IndexByte(text[slash+1:], '.')
	if dot <= 0 {
		return nil, nil
	}
	pkg, name := text[:slash+1+dot], text[slash+2+dot:]
	if name == "" {
		return nil, nil
	}
	ids, err := q.g.NodesQualified(name)
	if err != nil {
		return nil, fmt.Errorf("looking up the qualified name %q: %w", name, err)
	}
	var found []graph.NodeID
	for _, id := range ids {
		n, err := q.node(id)
		if err != nil {
			return nil, err
		}
		if n.Language != "go" || n.Kind == "file" || n.Kind == "package" {
			continue
		}
		dir, clause, err := q.packageOf(id)
		if err != nil {
			return nil, err
		}
		if pkg == dir || slash < 0 && pkg == clause {
			found = append(found, id)
		}
	}
	return found, nil
}

// maxDots bounds the splits of a dotted name that are looked up.
const maxDots = 16

// inModule resolves pkg.mod.Name where pkg/mod.py, or the package pkg/mod, is in
// the repository's root or in its src folder.
func (q *query) inModule(text string) ([]graph.NodeID, error) {
	if strings.ContainsAny(text, "/:( ") || strings.Count(text, ".") > maxDots {
		return nil, nil
	}
	var found []graph.NodeID
	for i := range len(text) {
		if text[i] != '.' || i == 0 || i == len(text)-1 {
			continue
		}
		module, name := strings.ReplaceAll(text[:i], ".", "/"), text[i+1:]
		for _, root := range []string{"", "src/"} {
			for _, end := range []string{".py", ".pyi", "/__init__.py", "/__init__.pyi"} {
				ids, err := q.g.NodesInFile(root + module + end)
				if err != nil {
					return nil, fmt.Errorf("looking up the module %q: %w", text[:i], err)
				}
				if ids, err = q.filter(ids, func(n *graph.Node) bool { return n.Qualified == name && n.Kind != "file" }); err != nil {
					return nil, err
				}
				found = append(found, ids...)
			}
		}
	}
	return found, nil
}

// packageOf gives the directory and the name of a Go definition's package.
func (q *query) packageOf(id graph.NodeID) (dir, name string, err error) {
	n, err := q.node(id)
	if err != nil {
		return "", "", err
	}
	dir = path.Dir(n.Path)
	p, ok, err := q.container(id, func(n *graph.Node) bool { return n.Kind == "package" })
	if err != nil || !ok {
		return dir, "", err
	}
	n, err = q.node(p)
	if err != nil {
		return "", "", err
	}
	return dir, n.Name, nil
}

// maxNesting ends a way up the containers; a damaged store could hold a cycle.
const maxNesting = 1000

// container gives the nearest node around id, itself excluded, that is as asked.
func (q *query) container(id graph.NodeID, is func(*graph.Node) bool) (graph.NodeID, bool, error) {
	for range maxNesting {
		n, err := q.node(id)
		if err != nil {
			return 0, false, err
		}
		if n.Container == id {
			return 0, false, nil
		}
		c, err := q.node(n.Container)
		if err != nil {
			return 0, false, err
		}
		if is(c) {
			return n.Container, true, nil
		}
		id = n.Container
	}
	return 0, false, nil
}

// withoutArguments cuts an argument list off: parse(x, y) is parse.
func withoutArguments(text string) (string, bool) {
	plain := withoutReceiver(text)
	i := strings.IndexByte(plain, '(')
	if i <= 0 || !strings.HasSuffix(plain, ")") {
		return text, false
	}
	return strings.TrimSpace(plain[:i]), true
}

// byPath is the last tier: a path as written, and path:line, which is the
// innermost definition on that line or else the file.
func (q *query) byPath(text string) (ids []graph.NodeID, isPath bool, err error) {
	file, line := strings.TrimPrefix(text, "./"), 0
	if _, ok := q.g.Entry(file); !ok {
		if i := strings.LastIndexByte(file, ':'); i > 0 {
			if n, err := strconv.Atoi(file[i+1:]); err == nil && n > 0 {
				file, line = file[:i], n
			}
		}
	}
	e, ok := q.g.Entry(file)
	if !ok {
		return nil, false, nil
	}
	if !indexed(e) {
		q.limitation(LimitNotIndexed)
	}
	all, err := q.g.NodesInFile(file)
	if err != nil {
		return nil, true, fmt.Errorf("looking up the definitions of %q: %w", file, err)
	}
	best, found := graph.NodeID(0), false
	var size uint32
	for _, id := range all {
		n, err := q.node(id)
		if err != nil {
			return nil, true, err
		}
		covers := n.Kind == "file" || line > 0 && n.Kind != "package" && int(n.StartLine) <= line && line <= int(n.EndLine)
		if covers && (!found || n.Kind != "file" && n.End-n.Start <= size) {
			best, found, size = id, true, n.End-n.Start
		}
	}
	if !found {
		return nil, true, nil
	}
	return []graph.NodeID{best}, true, nil
}

// seedOrder puts definitions outside test files first, else by path and position.
func (q *query) seedOrder(ids []graph.NodeID) ([]graph.NodeID, error) {
	tests, err := q.filter(ids, func(n *graph.Node) bool { return n.TestFile })
	if err != nil {
		return nil, err
	}
	rest, err := q.filter(ids, func(n *graph.Node) bool { return !n.TestFile })
	return append(rest, tests...), err
}

func (q *query) filter(ids []graph.NodeID, keep func(*graph.Node) bool) ([]graph.NodeID, error) {
	var kept []graph.NodeID
	for _, id := range ids {
		n, err := q.node(id)
		if err != nil {
			return nil, err
		}
		if keep(n) {
			kept = append(kept, id)
		}
	}
	return kept, nil
}

// simpleName is the name that a reference to the seeds would bear: that of the
// class for a lone constructor, none for a file.
func (q *query) simpleName(ids []graph.NodeID) (string, error) {
	n, err := q.node(ids[0])
	if err != nil {
		return "", err
	}
	if n.Kind == "file" {
		return "", nil
	}
	if len(ids) == 1 && isConstructor(n) {
		c, err := q.node(n.Container)
		if err != nil {
			return "", err
		}
		return c.Name, nil
	}
	return n.Name, nil
}

// lastName guesses the simple name in a target that named nothing.
func lastName(text string) string {
	if bare, cut := withoutArguments(text); cut {
		text = bare
	}
	text = withoutReceiver(text)
	if i := strings.LastIndexAny(text, ".:/#"); i >= 0 {
		text = text[i+1:]
	}
	return strings.TrimSpace(text)
}

func isConstructor(n *graph.Node) bool {
	return n.Kind == "constructor" || n.Language == "python" && n.Kind == "method" && (n.Name == "__init__" || n.Name == "__new__")
}
