package search

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

const (
	// testDepth is how far back a walk looks for a test.
	testDepth = 4
	// maxNear bounds the files of one folder that are looked at for a hint.
	maxNear = 1000
)

// relatedTests walks back from the target or the paths until it meets tests,
// then adds tests that are only named like the target or stand near it.
func (q *query) relatedTests() error {
	q.limitation(LimitTests)
	var seeds []graph.NodeID
	if len(q.req.Paths) > 0 {
		var err error
		if seeds, err = q.pathSeeds(); err != nil {
			return err
		}
	} else {
		t, err := q.resolveTarget()
		if err != nil {
			return err
		}
		seeds = t.seeds
	}
	r := &relater{q: q, tests: map[graph.NodeID]graph.NodeID{}, found: map[graph.NodeID]bool{}, files: map[string]bool{}, dirs: map[string]bool{}}
	if err := r.walk(seeds); err != nil {
		return err
	}
	if err := r.hints(seeds); err != nil {
		return err
	}
	kept := r.items[:min(len(r.items), q.req.Limit)]
	q.cut(BoundLimit, q.req.Limit, len(r.items)-len(kept))
	for i := range kept {
		if kept[i].Relation == graph.Imports.String() {
			q.limitation(LimitImportDependence)
		}
	}
	q.a.Items = append(q.a.Items, kept...)
	return nil
}

// pathSeeds gives the file nodes of the request's paths. The request names
// them, so the answer does not list them as seeds.
func (q *query) pathSeeds() ([]graph.NodeID, error) {
	var seeds []graph.NodeID
	for _, p := range q.req.Paths {
		e, ok := q.g.Entry(p)
		if !ok {
			q.limitation(LimitPathMissing)
			continue
		}
		id, ok, err := q.fileNode(p)
		if err != nil {
			return nil, err
		}
		if !ok || !indexed(e) {
			q.limitation(LimitNotIndexed)
			continue
		}
		seeds = append(seeds, id)
	}
	slices.Sort(seeds)
	return slices.Compact(seeds), nil
}

func (q *query) fileNode(p string) (graph.NodeID, bool, error) {
	ids, err := q.g.NodesInFile(p)
	if err != nil {
		return 0, false, fmt.Errorf("looking up the definitions of %q: %w", p, err)
	}
	for _, id := range ids {
		n, err := q.node(id)
		if err != nil {
			return 0, false, err
		}
		if n.Kind == "file" {
			return id, true, nil
		}
	}
	return 0, false, nil
}

// relater collects the tests of an answer, each once, best evidence first.
type relater struct {
	q     *query
	tests map[graph.NodeID]graph.NodeID // node to its test entry point, itself when it is none
	found map[graph.NodeID]bool         // tests that are in items
	files map[string]bool               // their files
	dirs  map[string]bool               // folders whose test files were added
	items []Item
}

// testOf gives the test that a node is or stands in: the entry point, or the
// file of a test file whose code runs at its top level, as JavaScript's does.
func (r *relater) testOf(id graph.NodeID) (graph.NodeID, bool, error) {
	if t, ok := r.tests[id]; ok {
		return t, t != noTest, nil
	}
	n, err := r.q.node(id)
	if err != nil {
		return 0, false, err
	}
	t := noTest
	if n.Test || n.Kind == "file" && n.TestFile {
		t = id
	} else if n.TestFile {
		around, ok, err := r.q.container(id, func(c *graph.Node) bool { return c.Test && callable[c.Kind] })
		if err != nil {
			return 0, false, err
		}
		if ok {
			t = around
		}
	}
	r.tests[id] = t
	return t, t != noTest, nil
}

const noTest = graph.NodeID(1<<32 - 1)

// walk follows calls, references and imports back to tests. Calls and
// references come first; tests that only import the target or its module follow.
func (r *relater) walk(seeds []graph.NodeID) error {
	q := r.q
	w := newWalk(q, inward, testDepth, maxWalkNodes)
	w.nested, w.modules = true, true
	w.stop = func(id graph.NodeID) (bool, error) {
		_, is, err := r.testOf(id)
		return is, err
	}
	places, err := w.start(seeds, setOf(graph.Calls, graph.References, graph.Imports), whole)
	if err != nil {
		return err
	}
	w.budget -= len(w.seeds)
	w.limit = w.budget
	if err := w.run(places, nil); err != nil {
		return err
	}
	lifted, err := w.lift(places)
	if err != nil {
		return err
	}
	for _, p := range w.coarse {
		c := *p
		c.kinds = setOf(graph.Imports)
		lifted = append(lifted, &c)
	}
	if err := w.run(nil, lifted); err != nil {
		return err
	}
	w.state()
	for _, imports := range []bool{false, true} {
		for i := range w.items {
			c := &w.items[i]
			if (c.edge.Kind == graph.Imports || c.via.gran == "module") != imports {
				continue
			}
			if err := r.reached(c, imports); err != nil {
				return err
			}
		}
	}
	return nil
}

// reached adds the test at the end of a crossing. A file that only imports is
// no news once one of its tests was reached by a call.
func (r *relater) reached(c *crossing, imports bool) error {
	t, is, err := r.testOf(c.reached)
	if err != nil || !is || r.found[t] {
		return err
	}
	n, err := r.q.node(t)
	if err != nil {
		return err
	}
	if imports && r.files[n.Path] {
		return nil
	}
	it, err := r.q.item(c)
	if err != nil {
		return err
	}
	if t != c.reached { // the test holds the function that makes the call
		if it.Node, err = r.q.ref(t); err != nil {
			return err
		}
		it.WitnessPath = append(it.WitnessPath, it.Node.ID)
	}
	for p := c.via; p != nil; p = p.prev {
		if p.edge == nil {
			continue
		}
		s, err := r.q.step(p)
		if err != nil {
			return err
		}
		it.Steps = append(it.Steps, s)
	}
	slices.Reverse(it.Steps)
	r.add(t, n.Path, it)
	return nil
}

func (r *relater) add(t graph.NodeID, file string, it Item) {
	r.found[t], r.files[file] = true, true
	r.items = append(r.items, it)
}

func (q *query) step(p *place) (Step, error) {
	n, err := q.ref(p.id)
	if err != nil {
		return Step{}, err
	}
	s, err := q.site(p.edge.Site)
	return Step{Node: n, Relation: p.edge.Kind.String(), Strength: p.edge.Strength.String(), RuleID: p.edge.Rule, CallSite: s}, err
}

// hints adds tests by the conventions of names, then those in the folders where
// tests of the seeds' files are kept.
func (r *relater) hints(seeds []graph.NodeID) error {
	for _, s := range seeds {
		if err := r.named(s); err != nil {
			return err
		}
	}
	for _, s := range seeds {
		if err := r.near(s); err != nil {
			return err
		}
	}
	return nil
}

func (r *relater) hint(seed, test graph.NodeID, why string) error {
	t, err := r.q.ref(test)
	if err != nil || r.found[test] || !under(t.Path, r.q.req.PathPrefix) || t.Kind == "file" && r.files[t.Path] {
		return err
	}
	s, err := r.q.ref(seed)
	if err != nil || s.ID == t.ID {
		return err
	}
	r.add(test, t.Path, Item{Node: t, From: &t, To: &s, Reason: why, WitnessPath: []string{s.ID, t.ID}})
	return nil
}

// testNames gives what tests of a definition are called, most telling first.
func testNames(n *graph.Node) []string {
	if n.Kind == "file" || n.Kind == "package" {
		return nil
	}
	typ, member, isMember := strings.Cut(n.Qualified, ".")
	switch n.Language {
	case "go":
		if isMember {
			return []string{"Test" + typ + "_" + member, "Test" + typ + member, "Test_" + typ + "_" + member, "Test" + upperFirst(n.Name)}
		}
		return []string{"Test" + upperFirst(n.Name), "Test_" + n.Name, "Benchmark" + upperFirst(n.Name), "Fuzz" + upperFirst(n.Name), "Example" + n.Name}
	case "python":
		return []string{"test_" + n.Name, "test" + upperFirst(n.Name), "Test" + upperFirst(n.Name), n.Name + "Test", n.Name + "Tests", n.Name + "TestCase"}
	}
	return nil
}

// testFiles gives what the test file of a source file is called.
func testFiles(p, language string) []string {
	base := path.Base(p)
	ext := path.Ext(base)
	stem := strings.TrimSuffix(base, ext)
	switch language {
	case "go":
		return []string{stem + "_test.go"}
	case "python":
		plain := strings.TrimLeft(stem, "_")
		if plain == "" || stem == "__init__" {
			return nil
		}
		return []string{"test_" + plain + ".py", plain + "_test.py", "test_" + stem + ".py"}
	case "javascript", "typescript", "tsx":
		var names []string
		for _, word := range []string{".test", ".spec", "-test", "_test"} {
			for _, e := range []string{ext, ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"} {
				if n := stem + word + e; !slices.Contains(names, n) {
					names = append(names, n)
				}
			}
		}
		return names
	}
	return nil
}

// named adds tests called after the seed, and files called after its file. Those
// in or below the seed's folder come before others.
func (r *relater) named(seed graph.NodeID) error {
	n, err := r.q.node(seed)
	if err != nil {
		return err
	}
	dir := path.Dir(n.Path)
	for _, name := range append(testNames(n), testFiles(n.Path, n.Language)...) {
		ids, err := r.q.g.NodesNamed(name)
		if err != nil {
			return fmt.Errorf("looking up the name %q: %w", name, err)
		}
		ids, err = r.q.filter(ids, func(t *graph.Node) bool { return (t.Test || t.TestFile) && sameLanguage(t.Language, n.Language) })
		if err != nil {
			return err
		}
		for _, close := range []bool{true, false} {
			for _, id := range ids {
				if t := r.q.nodes[id]; under(t.Path, dir) == close {
					if err := r.hint(seed, id, "name_hint"); err != nil {
						return err
					}
				}
			}
		}
	}
	return nil
}

func sameLanguage(a, b string) bool { return family(a) == family(b) }

func family(language string) string {
	switch language {
	case "typescript", "tsx":
		return "javascript"
	}
	return language
}

// near adds the test files of the seed's folder, and of a folder of tests in it.
func (r *relater) near(seed graph.NodeID) error {
	n, err := r.q.node(seed)
	if err != nil {
		return err
	}
	dir := path.Dir(n.Path) + "/"
	if dir == "./" {
		dir = ""
	}
	key := dir + "\x00" + family(n.Language)
	if r.dirs[key] {
		return nil
	}
	r.dirs[key] = true
	for _, sub := range []string{"", "__tests__/", "test/", "tests/"} {
		if sub != "" && n.Language == "go" {
			break // a Go package's tests stand beside it
		}
		var files []string
		r.q.g.Entries(dir+sub, func(e snapshot.Entry) bool {
			if !strings.Contains(e.Path[len(dir+sub):], "/") && indexed(e) && sameLanguage(e.Language, n.Language) {
				files = append(files, e.Path)
			}
			return len(files) < maxNear
		})
		for _, f := range files {
			id, ok, err := r.q.fileNode(f)
			if err != nil {
				return err
			}
			if !ok || !r.q.nodes[id].TestFile {
				continue
			}
			if err := r.hint(seed, id, "directory_hint"); err != nil {
				return err
			}
		}
	}
	return nil
}

func upperFirst(s string) string {
	if s == "" || s[0] < 'a' || s[0] > 'z' {
		return s
	}
	return string(s[0]-'a'+'A') + s[1:]
}
