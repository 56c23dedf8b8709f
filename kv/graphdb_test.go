package kv

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// randomDatabase makes a graph that keeps the order and the references of a
// resolved one, with names that are long, empty, equal or not ASCII.
func randomDatabase(r *rand.Rand, files, perFile int) *database {
	long := strings.Repeat("x", maxKey)
	names := []string{"get", "Get", "ParseConfig", "größe", "a.b", long, long + "1", long + "2", strings.Repeat("y", 3000), "", "__init__"}
	if files > 100 {
		names = names[:5] // the long ones would fill the disk
	}
	pick := func() string { return names[r.IntN(len(names))] }
	d := &database{graph: &graph.Graph{}}
	for i := range files {
		path := fmt.Sprintf("dir%d/file%03d.py", i%7, i)
		d.files = append(d.files, fileRecord{entry: snapshot.Entry{Path: path, Mode: 0o100644, Blob: strings.Repeat("ab", 20), SHA256: strings.Repeat("0c", 32), Size: int64(i), Language: "python"},
			status: FileStatus{Lines: i, Damage: []LineRange{{1, 3}, {7, 7}}, Headings: []Heading{{1, 2, "t"}}}})
	}
	d.files = append(d.files, fileRecord{entry: snapshot.Entry{Path: "zz", Mode: 0o160000, Blob: strings.Repeat("cd", 20), Size: -1, Reason: snapshot.Submodule}})
	slices.SortFunc(d.files, func(a, b fileRecord) int { return strings.Compare(a.entry.Path, b.entry.Path) })
	for i := range d.files[:files] {
		f := &d.files[i]
		f.first, f.nodes = graph.NodeID(len(d.graph.Nodes)), uint32(perFile)
		for j := range perFile {
			n := graph.Node{Kind: "function", Language: "python", Name: pick(), Path: f.entry.Path, Container: f.first, Signature: pick(),
				Start: uint32(j * 10), End: uint32(j*10 + 9), NameStart: uint32(j*10 + 4), NameEnd: uint32(j*10 + 7), StartLine: uint32(j + 1), EndLine: uint32(j + 2), NameLine: uint32(j + 1),
				Exported: r.IntN(2) == 0, Test: r.IntN(2) == 0, TestFile: r.IntN(2) == 0, Conditional: r.IntN(2) == 0, Damaged: r.IntN(2) == 0}
			n.Qualified = []string{n.Name, n.Path, "Class." + n.Name}[r.IntN(3)]
			d.graph.Nodes = append(d.graph.Nodes, n)
		}
	}
	nodes := len(d.graph.Nodes)
	site := func() graph.Site {
		return graph.Site{Path: d.files[r.IntN(files)].entry.Path, Start: r.Uint32N(1000), End: r.Uint32(), Line: r.Uint32N(50), Col: r.Uint32N(80), FirstLine: r.Uint32N(50), LastLine: r.Uint32(), Name: pick()}
	}
	for range min(nodes*4, 60_000) {
		d.graph.Edges = append(d.graph.Edges, graph.Edge{From: graph.NodeID(r.IntN(nodes)), To: graph.NodeID(r.IntN(nodes)), Kind: graph.EdgeKind(1 + r.IntN(5)),
			Strength: graph.Strength(1 + r.IntN(2)), Rule: []string{"go_import", "lexical_binding"}[r.IntN(2)], TypeOnly: r.IntN(2) == 0, Site: site()})
		d.graph.Unresolved = append(d.graph.Unresolved, graph.Unresolved{From: graph.NodeID(r.IntN(nodes)), Kind: graph.Calls, External: r.IntN(2) == 0,
			Reason: "unresolved_name", Target: pick(), Site: site()})
	}
	slices.SortStableFunc(d.graph.Edges, func(a, b graph.Edge) int { return cmp.Compare(a.From, b.From) })
	d.sources = []packedFrame{{digest{2}, frameRecord{1, 2, 3, make([]byte, 32)}}, {digest{1}, frameRecord{4, 5, 6, make([]byte, 32)}}}
	d.contents.Nodes = nodes
	return d
}

// openDatabase writes a database and opens it as a generation without packs.
func openDatabase(t *testing.T, d *database) (*Generation, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), graphFile)
	if err := d.write(context.Background(), path); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	g := &Generation{dir: filepath.Dir(path), paths: map[uint32]string{}, records: map[uint32]*fileRecord{}}
	if err := g.openGraph(f); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return g, path
}

// TestGraphRoundTrip compares every question with the arrays it was written from.
func TestGraphRoundTrip(t *testing.T) {
	d := randomDatabase(rand.New(rand.NewPCG(7, 8)), 60, 40)
	g, _ := openDatabase(t, d)
	check := func(what string, got, want any, err error) {
		t.Helper()
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s: %v\n got %+v\nwant %+v", what, err, got, want)
		}
	}
	named, qualified, mentions := map[string][]graph.NodeID{}, map[string][]graph.NodeID{}, map[string][]graph.Unresolved{}
	out, in := map[graph.NodeID][]graph.Edge{}, map[graph.NodeID][]graph.Edge{}
	for i, n := range d.graph.Nodes {
		named[n.Name] = append(named[n.Name], graph.NodeID(i))
		qualified[n.Qualified] = append(qualified[n.Qualified], graph.NodeID(i))
	}
	for _, e := range d.graph.Edges {
		out[e.From], in[e.To] = append(out[e.From], e), append(in[e.To], e)
	}
	for _, u := range d.graph.Unresolved {
		mentions[u.Site.Name] = append(mentions[u.Site.Name], u)
	}
	for _, m := range []map[string][]graph.NodeID{named, qualified} {
		delete(m, "") // nothing is asked for by an empty name
	}
	delete(mentions, "")
	for i := range d.graph.Nodes {
		id := graph.NodeID(i)
		n, err := g.Node(id)
		check("node", n, d.graph.Nodes[i], err)
		list, err := g.Out(id)
		check("out", list, out[id], err)
		list, err = g.In(id)
		check("in", list, in[id], err)
	}
	for name, want := range named {
		got, err := g.NodesNamed(name)
		check("named", got, want, err)
	}
	for name, want := range qualified {
		got, err := g.NodesQualified(name)
		check("qualified", got, want, err)
	}
	for name, want := range mentions {
		got, err := g.Mentions(name)
		check("mentions", got, want, err)
	}
	seen := map[string][]graph.NodeID{}
	err := g.Names(func(name string, ids []graph.NodeID) bool { seen[name] = ids; return true })
	check("names", seen, named, err)
	for _, absent := range []string{"nothing", strings.Repeat("x", maxKey-1), strings.Repeat("x", 4000)} {
		ids, err := g.NodesNamed(absent)
		list, err2 := g.Mentions(absent)
		if ids != nil || list != nil || err != nil || err2 != nil {
			t.Errorf("%.20q: %v %v %v %v", absent, ids, list, err, err2)
		}
	}
	for i := range d.files {
		f := &d.files[i]
		e, ok := g.Entry(f.entry.Path)
		check("entry", e, f.entry, nil)
		s, _ := g.FileStatus(f.entry.Path)
		check("status", s, f.status, nil)
		if !ok {
			t.Fatalf("no entry of %s", f.entry.Path)
		}
	}
}

// TestNamesInBatches iterates over more names than one batch, in order.
func TestNamesInBatches(t *testing.T) {
	d := randomDatabase(rand.New(rand.NewPCG(1, 1)), 3, 300)
	for i := range d.graph.Nodes {
		d.graph.Nodes[i].Name = fmt.Sprintf("name%05d", (i*7919)%10007)
	}
	g, _ := openDatabase(t, d)
	var got []string
	if err := g.Names(func(name string, _ []graph.NodeID) bool { got = append(got, name); return true }); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(d.graph.Nodes) || !slices.IsSorted(got) {
		t.Errorf("%d names of %d, sorted %v", len(got), len(d.graph.Nodes), slices.IsSorted(got))
	}
	n := 0
	g.Names(func(string, []graph.NodeID) bool { n++; return n < 300 })
	if n != 300 {
		t.Errorf("visited %d after being told to stop at 300", n)
	}
}

// TestGraphBytesAreDeterministic crosses the bounds of a transaction.
func TestGraphBytesAreDeterministic(t *testing.T) {
	var last []byte
	for range 2 {
		d := randomDatabase(rand.New(rand.NewPCG(9, 9)), 200, 300)
		_, path := openDatabase(t, d)
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if last != nil && !bytes.Equal(b, last) {
			t.Error("two writes of one graph differ")
		}
		last = b
	}
}

// TestWriteRefusesWhatDoesNotFit: a graph that points outside is never stored.
func TestWriteRefusesWhatDoesNotFit(t *testing.T) {
	for name, spoil := range map[string]func(*database){
		"node of no file":      func(d *database) { d.graph.Nodes[3].Path = "nowhere" },
		"container":            func(d *database) { d.graph.Nodes[3].Container = 1 << 30 },
		"edge to nothing":      func(d *database) { d.graph.Edges[3].To = 1 << 30 },
		"edge without kind":    func(d *database) { d.graph.Edges[3].Kind = 0 },
		"edge out of order":    func(d *database) { slices.Reverse(d.graph.Edges) },
		"edge at no file":      func(d *database) { d.graph.Edges[3].Site.Path = "nowhere" },
		"reference of nothing": func(d *database) { d.graph.Unresolved[3].From = 1 << 30 },
	} {
		d := randomDatabase(rand.New(rand.NewPCG(7, 8)), 5, 5)
		spoil(d)
		if err := d.write(context.Background(), filepath.Join(t.TempDir(), graphFile)); err == nil {
			t.Errorf("%s: written", name)
		}
	}
}

type fixedPaths []string

func (p fixedPaths) path(i uint32) (string, bool) {
	if int(i) >= len(p) {
		return "", false
	}
	return p[i], true
}

func (p fixedPaths) find(path string) (uint32, bool) {
	i := slices.Index(p, path)
	return uint32(max(i, 0)), i >= 0
}

var fuzzTables = newTables(map[string]bool{"": true, "python": true, "function": true, "go_import": true, "symlink": true}, fixedPaths{"a.py", "b/c.py"}, 100)

// seeds gives each decoder a record that it wrote.
func seeds() [][]byte {
	site := graph.Site{Path: "b/c.py", Start: 4, End: 9, Line: 2, Col: 1, FirstLine: 1, LastLine: 3, Name: "f"}
	x := graph.Edge{From: 3, To: 9, Kind: graph.Calls, Strength: graph.Candidate, Rule: "go_import", Site: site, TypeOnly: true}
	var n, edge, a, m, named, file, fr encoder
	fuzzTables.putNode(&n, 3, &graph.Node{Kind: "function", Language: "python", Name: "f", Qualified: "C.f", Path: "a.py", Container: 1, Signature: "def f()", Start: 3, End: 9, StartLine: 1, EndLine: 2, NameLine: 1})
	edge.uint(1)
	fuzzTables.putEdge(&edge, 3, 9, &x)
	a.str(string(edge.b))
	a.uint(1)
	fuzzTables.putEdge(&a, 3, 4, &x)
	m.str("f")
	m.uint(1)
	fuzzTables.putUnresolved(&m, &graph.Unresolved{From: 4, Kind: graph.Imports, External: true, Target: "os", Site: site})
	named.str("f")
	putIDs(&named, []graph.NodeID{1, 5, 99})
	fuzzTables.putFile(&file, &fileRecord{entry: snapshot.Entry{Path: "a.py", Blob: "ab", SHA256: "cd", Size: -1, Language: "python"}, first: 2, nodes: 5, facts: []byte{1}, status: FileStatus{Status: facts.Partial, Damage: []LineRange{{1, 2}}}})
	putFrame(&fr, &frameRecord{1, 2, 3, make([]byte, 32)})
	return [][]byte{n.b, a.b, m.b, named.b, file.b, fr.b}
}

// FuzzRecords: no bytes make a decoder panic or point outside its tables, and
// what decodes is what encoding it again decodes to.
func FuzzRecords(f *testing.F) {
	for kind, b := range seeds() {
		f.Add(byte(kind), b)
	}
	f.Fuzz(func(t *testing.T, kind byte, b []byte) {
		again := func(first, second any, err error) {
			t.Helper()
			if err != nil || !reflect.DeepEqual(first, second) {
				t.Fatalf("%+v became %+v, %v", first, second, err)
			}
		}
		var e encoder
		switch kind % 6 {
		case 0:
			if n, err := fuzzTables.decodeNode(b, 3); err == nil {
				fuzzTables.putNode(&e, 3, &n)
				m, err := fuzzTables.decodeNode(e.b, 3)
				again(n, m, err)
			}
		case 1:
			out, err1 := fuzzTables.decodeAdjacency(b, 3, true)
			in, err2 := fuzzTables.decodeAdjacency(b, 3, false)
			for _, x := range append(slices.Clone(out), in...) {
				if x.From >= 100 || x.To >= 100 || x.Kind.String() == "" || x.Strength.String() == "" || x.Site.Path == "" {
					t.Fatalf("%+v", x)
				}
			}
			_, _ = err1, err2
		case 2:
			d := &decoder{b: b}
			name := d.str()
			if list, err := fuzzTables.decodeMentions(b, name); err == nil && len(list) > 0 {
				e.str(name)
				e.uint(uint64(len(list)))
				for i := range list {
					fuzzTables.putUnresolved(&e, &list[i])
				}
				m, err := fuzzTables.decodeMentions(e.b, name)
				again(list, m, err)
			}
		case 3:
			if name, ids, err := fuzzTables.decodeNamed(b); err == nil {
				e.str(name)
				putIDs(&e, ids)
				_, m, err := fuzzTables.decodeNamed(e.b)
				again(ids, m, err)
			}
		case 4:
			if r, err := fuzzTables.decodeFile(b); err == nil {
				fuzzTables.putFile(&e, &r)
				m, err := fuzzTables.decodeFile(e.b)
				again(r, m, err)
			}
		case 5:
			if r, err := decodeFrame(b); err == nil {
				putFrame(&e, &r)
				m, err := decodeFrame(e.b)
				again(r, m, err)
			}
		}
	})
}
