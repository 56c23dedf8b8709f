package search

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// memory is a Reader over a graph in memory.
type memory struct {
	facts   Facts
	g       graph.Graph
	entries []snapshot.Entry
	files   map[string]File

	named, qualified, inFile map[string][]graph.NodeID
	names                    []string
	in, out                  [][]graph.Edge
}

func (m *memory) index() *memory {
	m.named, m.qualified, m.inFile = map[string][]graph.NodeID{}, map[string][]graph.NodeID{}, map[string][]graph.NodeID{}
	for i := range m.g.Nodes {
		n, id := &m.g.Nodes[i], graph.NodeID(i)
		m.named[n.Name] = append(m.named[n.Name], id)
		m.qualified[n.Qualified] = append(m.qualified[n.Qualified], id)
		m.inFile[n.Path] = append(m.inFile[n.Path], id)
	}
	for n := range m.named {
		m.names = append(m.names, n)
	}
	sort.Strings(m.names)
	m.in, m.out = make([][]graph.Edge, len(m.g.Nodes)), make([][]graph.Edge, len(m.g.Nodes))
	for _, e := range m.g.Edges {
		m.out[e.From] = append(m.out[e.From], e)
		m.in[e.To] = append(m.in[e.To], e)
	}
	sort.Slice(m.entries, func(i, j int) bool { return m.entries[i].Path < m.entries[j].Path })
	m.facts.Nodes = len(m.g.Nodes)
	return m
}

// shuffled gives the same graph from edges and mentions in another order.
func (m *memory) shuffled(seed uint64) *memory {
	r := rand.New(rand.NewPCG(seed, seed))
	c := &memory{facts: m.facts, files: m.files, entries: slices.Clone(m.entries),
		g: graph.Graph{Nodes: m.g.Nodes, Edges: slices.Clone(m.g.Edges), Unresolved: slices.Clone(m.g.Unresolved)}}
	r.Shuffle(len(c.g.Edges), func(i, j int) { c.g.Edges[i], c.g.Edges[j] = c.g.Edges[j], c.g.Edges[i] })
	r.Shuffle(len(c.g.Unresolved), func(i, j int) { c.g.Unresolved[i], c.g.Unresolved[j] = c.g.Unresolved[j], c.g.Unresolved[i] })
	return c.index()
}

func (m *memory) Facts() Facts { return m.facts }
func (m *memory) Err() error   { return nil }
func (m *memory) Node(id graph.NodeID) (graph.Node, error) {
	if int(id) >= len(m.g.Nodes) {
		return graph.Node{}, fmt.Errorf("no node %d", id)
	}
	return m.g.Nodes[id], nil
}
func (m *memory) NodesNamed(n string) ([]graph.NodeID, error)     { return m.named[n], nil }
func (m *memory) NodesQualified(n string) ([]graph.NodeID, error) { return m.qualified[n], nil }
func (m *memory) NodesInFile(p string) ([]graph.NodeID, error)    { return m.inFile[p], nil }
func (m *memory) Out(id graph.NodeID) ([]graph.Edge, error)       { return m.out[id], nil }
func (m *memory) In(id graph.NodeID) ([]graph.Edge, error)        { return m.in[id], nil }
func (m *memory) Names(f func(string, []graph.NodeID) bool) error {
	for _, n := range m.names {
		if !f(n, m.named[n]) {
			break
		}
	}
	return nil
}
func (m *memory) Mentions(name string) (list []graph.Unresolved, err error) {
	for _, u := range m.g.Unresolved {
		if u.Site.Name == name {
			list = append(list, u)
		}
	}
	return list, nil
}
func (m *memory) Entry(p string) (snapshot.Entry, bool) {
	for _, e := range m.entries {
		if e.Path == p {
			return e, true
		}
	}
	return snapshot.Entry{}, false
}
func (m *memory) Entries(prefix string, f func(snapshot.Entry) bool) {
	for _, e := range m.entries {
		if strings.HasPrefix(e.Path, prefix) && !f(e) {
			return
		}
	}
}
func (m *memory) File(p string) (File, bool, error) { f, ok := m.files[p]; return f, ok, nil }

// TextCandidates nominates every node whose path, name or signature holds a word.
func (m *memory) TextCandidates(_ context.Context, words []string, limit int) (ids []graph.NodeID, _ error) {
	for i, n := range m.g.Nodes {
		text := strings.ToLower(n.Path + " " + n.Qualified + " " + n.Signature)
		for _, w := range words {
			if strings.Contains(text, strings.ToLower(w)) && len(ids) < limit {
				ids = append(ids, graph.NodeID(i))
				break
			}
		}
	}
	slices.Reverse(ids) // an order that means nothing
	return ids, nil
}

// parseGraph reads the notation of testdata/search. A line is
//
//	file PATH LANGUAGE [test] [partial]
//	  KIND QUALIFIED FIRST-LAST [test] [sig=TEXT]   indented below its container
//	  package NAME                                  the Go package of this folder
//	  heading LEVEL LINE TEXT
//	omitted PATH REASON
//	edge KIND FROM TO LINE[.COL] [candidate] [rule=ID]
//	miss KIND FROM NAME LINE[.COL] [external]
//
// where FROM and TO are PATH or PATH::QUALIFIED.
func parseGraph(text string) (*memory, error) {
	m := &memory{files: map[string]File{}}
	m.facts = Facts{Scope: "shop", Fingerprint: digest("fingerprint"), ContentFingerprint: digest("content"), ObjectFormat: "sha1",
		Commit: digest("commit")[:40], Tree: digest("tree")[:40], Source: "commit"}
	type open struct{ indent, node int }
	type deferred struct {
		line   int
		fields []string
	}
	var stack []open
	var later []deferred
	var parents []int // by node; -1 for none
	packages := map[string]int{}
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " "))
		switch {
		case f[0] == "edge" || f[0] == "miss":
			later = append(later, deferred{i + 1, f})
			continue
		case f[0] == "omitted":
			m.entries = append(m.entries, snapshot.Entry{Path: f[1], Blob: digest(f[1])[:40], Reason: snapshot.Reason(f[2])})
			continue
		case f[0] == "file":
			n := graph.Node{Kind: "file", Language: f[2], Name: path.Base(f[1]), Qualified: f[1], Path: f[1], End: 100000, StartLine: 1, EndLine: 999, NameLine: 1, TestFile: slices.Contains(f, "test")}
			m.entries = append(m.entries, snapshot.Entry{Path: f[1], Blob: digest(f[1])[:40], SHA256: digest("bytes of " + f[1]), Language: f[2]})
			status := File{}
			m.facts.Coverage.Eligible++
			if slices.Contains(f, "partial") {
				status.Status = facts.Partial
				m.facts.Coverage.Partial++
			} else {
				m.facts.Coverage.Parsed++
			}
			m.files[f[1]] = status
			stack = []open{{0, len(m.g.Nodes)}}
			m.g.Nodes, parents = append(m.g.Nodes, n), append(parents, -1)
			continue
		}
		for stack[len(stack)-1].indent >= indent {
			stack = stack[:len(stack)-1]
		}
		top := stack[len(stack)-1].node
		file := m.g.Nodes[stack[0].node]
		switch f[0] {
		case "package":
			dir := path.Dir(file.Path)
			if _, ok := packages[dir]; ok {
				return nil, fmt.Errorf("line %d: second package of %s", i+1, dir)
			}
			packages[dir] = len(m.g.Nodes)
			m.g.Nodes = append(m.g.Nodes, graph.Node{Kind: "package", Language: "go", Name: f[1], Qualified: dir, Path: file.Path, End: 10, StartLine: 1, EndLine: 1, NameLine: 1})
			parents = append(parents, -1)
			continue
		case "heading":
			level, _ := strconv.Atoi(f[1])
			at, _ := strconv.Atoi(f[2])
			s := m.files[file.Path]
			s.Headings = append(s.Headings, Heading{Level: level, Line: at, Text: strings.Join(f[3:], " ")})
			m.files[file.Path] = s
			continue
		}
		first, last, ok := strings.Cut(f[2], "-")
		a, err1 := strconv.Atoi(first)
		b, err2 := strconv.Atoi(last)
		if !ok || err1 != nil || err2 != nil {
			return nil, fmt.Errorf("line %d: %q is no range of lines", i+1, f[2])
		}
		n := graph.Node{Kind: f[0], Language: file.Language, Name: f[1][strings.LastIndex(f[1], ".")+1:], Qualified: f[1], Path: file.Path,
			Start: uint32(a * 100), End: uint32(b*100 + 99), StartLine: uint32(a), EndLine: uint32(b), NameLine: uint32(a),
			TestFile: file.TestFile, Test: slices.Contains(f, "test")}
		if _, sig, ok := strings.Cut(line, "sig="); ok {
			n.Signature = sig
		}
		stack = append(stack, open{indent, len(m.g.Nodes)})
		m.g.Nodes, parents = append(m.g.Nodes, n), append(parents, top)
	}
	return m, m.finish(parents, packages, func(add func(line int, f []string) error) error {
		for _, d := range later {
			if err := add(d.line, d.fields); err != nil {
				return err
			}
		}
		return nil
	})
}

// finish sorts the nodes as graph.Graph does and adds the edges.
func (m *memory) finish(parents []int, packages map[string]int, edges func(func(int, []string) error) error) error {
	order := make([]int, len(m.g.Nodes))
	for i := range order {
		order[i] = i
		if d := path.Dir(m.g.Nodes[i].Path); m.g.Nodes[i].Kind == "file" && m.g.Nodes[i].Language == "go" {
			if p, ok := packages[d]; ok {
				parents[i] = p
			}
		}
	}
	sort.SliceStable(order, func(a, b int) bool {
		x, y := &m.g.Nodes[order[a]], &m.g.Nodes[order[b]]
		if x.Path != y.Path {
			return x.Path < y.Path
		}
		if x.Start != y.Start {
			return x.Start < y.Start
		}
		return x.End > y.End
	})
	at := make([]graph.NodeID, len(order))
	nodes := make([]graph.Node, len(order))
	for i, o := range order {
		at[o] = graph.NodeID(i)
		nodes[i] = m.g.Nodes[o]
	}
	m.g.Nodes = nodes
	byName := map[string]graph.NodeID{}
	for o, p := range parents {
		n := &m.g.Nodes[at[o]]
		n.Container = at[o]
		name := n.Path
		if n.Kind == "package" {
			name = "package:" + n.Qualified
		} else if n.Kind != "file" {
			name += "::" + n.Qualified
		}
		byName[name] = at[o]
		if p >= 0 {
			n.Container = at[p]
			m.g.Edges = append(m.g.Edges, graph.Edge{From: at[p], To: at[o], Kind: graph.Contains, Strength: graph.ResolvedStatic, Rule: graph.RuleSyntaxContains,
				Site: graph.Site{Path: n.Path, Start: n.Start, End: n.Start + 1, Line: n.StartLine, FirstLine: n.StartLine, LastLine: n.StartLine, Name: n.Name}})
		}
	}
	kindOf := map[string]graph.EdgeKind{"calls": graph.Calls, "imports": graph.Imports, "inherits": graph.Inherits, "references": graph.References}
	err := edges(func(line int, f []string) error {
		from, ok := byName[f[2]]
		kind, known := kindOf[f[1]]
		if !ok || !known {
			return fmt.Errorf("line %d: unknown node or kind in %v", line, f)
		}
		l, c, _ := strings.Cut(f[4], ".")
		row, err := strconv.Atoi(l)
		if err != nil {
			return fmt.Errorf("line %d: %w", line, err)
		}
		col, _ := strconv.Atoi(c)
		site := graph.Site{Path: m.g.Nodes[from].Path, Start: uint32(row*100 + col), End: uint32(row*100 + col + 5), Line: uint32(row), Col: uint32(col), FirstLine: uint32(row), LastLine: uint32(row)}
		if f[0] == "miss" {
			site.Name = f[3]
			m.g.Unresolved = append(m.g.Unresolved, graph.Unresolved{From: from, Kind: kind, Site: site, External: slices.Contains(f, "external"), Reason: graph.ReasonDynamicReceiver})
			m.facts.Coverage.Unresolved++
			return nil
		}
		to, ok := byName[f[3]]
		if !ok {
			return fmt.Errorf("line %d: unknown node %s", line, f[3])
		}
		site.Name = m.g.Nodes[to].Name
		e := graph.Edge{From: from, To: to, Kind: kind, Strength: graph.ResolvedStatic, Rule: graph.RuleExplicitImport, Site: site}
		for _, w := range f[5:] {
			if w == "candidate" {
				e.Strength, e.Rule = graph.Candidate, graph.RuleAmbiguousBinding
			} else if r, ok := strings.CutPrefix(w, "rule="); ok {
				e.Rule = r
			}
		}
		m.g.Edges = append(m.g.Edges, e)
		m.facts.Coverage.Resolved++
		return nil
	})
	m.index()
	return err
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}
