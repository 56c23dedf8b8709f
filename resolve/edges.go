package resolve

import (
	"cmp"
	"slices"
	"strings"
	"sync"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// assembly makes a graph of nodes and verdicts. Edges and unresolved references
// are kept by the file that they leave: nodes are numbered file by file, so that
// sorting each file's sorts the whole. Until all facts are gone they are kept
// packed, in half the memory of what they become.
type assembly struct {
	in    *graph.Input
	nodes *nodeTable

	mu         sync.Mutex
	edges      [][]packedEdge
	unresolved [][]packedUnresolved
	coverage   graph.Coverage
	strings    []string // identifiers, rules, reasons and external names
	index      map[string]uint32
}

// packedSite is a graph.Site of a known file.
type packedSite struct{ start, end, line, col, first, last, name uint32 }

type packedEdge struct {
	from, to graph.NodeID
	site     packedSite
	rule     uint32
	kind     graph.EdgeKind
	strength graph.Strength
	typeOnly bool
}

type packedUnresolved struct {
	from           graph.NodeID
	site           packedSite
	reason, target uint32
	kind           graph.EdgeKind
	external       bool
}

func newAssembly(in *graph.Input) *assembly {
	a := &assembly{in: in, nodes: makeNodes(in), index: map[string]uint32{},
		edges: make([][]packedEdge, len(in.Files)), unresolved: make([][]packedUnresolved, len(in.Files))}
	counts := make([]int, len(in.Files))
	contained := func(f func(id, container graph.NodeID)) {
		for id := range a.nodes.nodes {
			if c := a.nodes.nodes[id].Container; c != graph.NodeID(id) {
				f(graph.NodeID(id), c)
			}
		}
	}
	contained(func(_, c graph.NodeID) { counts[a.nodes.fileOf(c)]++ })
	for i, n := range counts {
		a.edges[i] = make([]packedEdge, 0, n)
	}
	rule := a.intern(graph.RuleSyntaxContains)
	contained(func(id, c graph.NodeID) {
		n, file := &a.nodes.nodes[id], a.nodes.fileOf(c)
		a.edges[file] = append(a.edges[file], packedEdge{from: c, to: id, kind: graph.Contains, strength: graph.ResolvedStatic, rule: rule,
			site: packedSite{start: n.NameStart, end: n.NameEnd, line: n.NameLine, first: n.NameLine, last: n.NameLine, name: a.intern(n.Name)}})
	})
	return a
}

// intern numbers a string. The caller holds mu once resolvers run.
func (a *assembly) intern(s string) uint32 {
	id, ok := a.index[s]
	if !ok {
		id = uint32(len(a.strings))
		a.strings = append(a.strings, s)
		a.index[s] = id
	}
	return id
}

// file takes the verdicts of one file, and lets go of the facts that only they
// needed. members maps the file indexes that the verdicts use to those of the
// whole input.
func (a *assembly) file(i int32, members []int32, verdicts []graph.Verdict) {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := a.in.Files[i]
	b := &batch{assembly: a, i: i, f: f, members: members}
	b.makeRoom(verdicts)
	for j := range f.Refs {
		v := graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: graph.ReasonUnresolvedName}
		if j < len(verdicts) {
			v = verdicts[j]
		}
		b.ref(&f.Refs[j], v)
	}
	a.edges[i], a.unresolved[i] = b.edges, b.unresolved
	f.Refs, f.LineStarts = nil, nil
}

// batch is what one file's references become.
type batch struct {
	*assembly
	i          int32
	f          *facts.File
	members    []int32
	edges      []packedEdge
	unresolved []packedUnresolved
	seen       []graph.NodeID
}

// makeRoom makes room for exactly what the verdicts can become.
func (b *batch) makeRoom(verdicts []graph.Verdict) {
	contained := b.assembly.edges[b.i]
	edges, unresolved := len(contained), 0
	for i := range verdicts {
		switch verdicts[i].Outcome {
		case graph.OutcomeResolved, graph.OutcomeCandidate:
			edges += len(verdicts[i].Targets)
			if verdicts[i].Omitted > 0 {
				unresolved++
			}
		case graph.OutcomeUnresolved, graph.OutcomeExternal:
			unresolved++
		}
	}
	b.edges, b.unresolved = append(make([]packedEdge, 0, edges), contained...), make([]packedUnresolved, 0, unresolved)
}

func (b *batch) ref(r *facts.Ref, v graph.Verdict) {
	if (v.Outcome == graph.OutcomeResolved || v.Outcome == graph.OutcomeCandidate) && len(v.Targets) == 0 {
		v.Outcome, v.Reason = graph.OutcomeUnresolved, graph.ReasonUnresolvedMember
	}
	if v.Outcome == graph.OutcomeResolved && (len(v.Targets) > 1 || damaged(b.f, r)) {
		v.Outcome, v.Rule = graph.OutcomeCandidate, cmp.Or(ruleIf(damaged(b.f, r), graph.RulePartialParse), v.Rule)
	}
	kind := edgeKinds[cmp.Or(v.Kind, r.Kind)]
	c := &b.coverage
	switch v.Outcome {
	case graph.OutcomeLocal:
		c.Local++
	case graph.OutcomeUnresolved:
		c.Unresolved++
		b.leave(r, v, kind)
	case graph.OutcomeExternal:
		c.External++
		b.leave(r, v, kind)
	case graph.OutcomeResolved:
		c.Resolved++
		b.join(r, v, kind, graph.ResolvedStatic)
	case graph.OutcomeCandidate:
		c.Candidate++
		b.join(r, v, kind, graph.Candidate)
	}
}

// leave keeps a reference that became no edge.
func (b *batch) leave(r *facts.Ref, v graph.Verdict, kind graph.EdgeKind) {
	b.unresolved = append(b.unresolved, packedUnresolved{from: b.nodes.of(b.f, key{b.i, r.Owner}), kind: kind, site: b.site(r),
		external: v.Outcome == graph.OutcomeExternal, reason: b.intern(v.Reason), target: b.intern(v.Target)})
}

// join makes an edge to each target.
func (b *batch) join(r *facts.Ref, v graph.Verdict, kind graph.EdgeKind, strength graph.Strength) {
	e := packedEdge{from: b.nodes.of(b.f, key{b.i, r.Owner}), kind: kind, strength: strength, rule: b.intern(v.Rule), site: b.site(r),
		typeOnly: r.Flags&facts.FlagTypeOnly != 0}
	if v.Omitted > 0 {
		b.unresolved = append(b.unresolved, packedUnresolved{from: e.from, kind: kind, site: e.site, reason: b.intern(graph.ReasonTooManyTargets), target: b.intern("")})
	}
	b.seen = b.seen[:0]
	for _, t := range v.Targets {
		file := b.members[t.File]
		e.to = b.nodes.of(b.in.Files[file], key{file, t.Def})
		if !slices.Contains(b.seen, e.to) {
			b.seen = append(b.seen, e.to)
			b.edges = append(b.edges, e)
		}
	}
}

var edgeKinds = [...]graph.EdgeKind{facts.RefCall: graph.Calls, facts.RefImport: graph.Imports, facts.RefInherit: graph.Inherits, facts.RefUse: graph.References}

func ruleIf(ok bool, rule string) string {
	if ok {
		return rule
	}
	return ""
}

// damaged says whether a reference stands in or below what could not be parsed.
func damaged(f *facts.File, r *facts.Ref) bool {
	if r.Flags&facts.FlagDamaged != 0 || r.Owner != facts.None && f.Defs[r.Owner].Flags&facts.FlagDamaged != 0 {
		return true
	}
	for _, s := range f.Damage {
		if r.Start < s.End && s.Start < r.End {
			return true
		}
	}
	return false
}

func (b *batch) site(r *facts.Ref) packedSite {
	f := b.f
	line := f.Line(r.Start)
	s := packedSite{start: r.Start, end: r.End, line: line, name: b.intern(f.Text(r.Name)),
		first: line, last: f.Line(max(r.Start, r.End-min(r.End, 1)))}
	if line > 0 {
		s.col = r.Start - f.LineStarts[line-1]
	}
	if r.Site.End > r.Site.Start {
		s.first, s.last = min(s.first, f.Line(r.Site.Start)), max(s.last, f.Line(r.Site.End-1))
	}
	return s
}

// finish unpacks and sorts everything, so that the order of input and of work
// leaves no trace.
func (a *assembly) finish(paths []string) *graph.Graph {
	edges, unresolved := 0, 0
	for i := range a.edges {
		edges += len(a.edges[i])
		unresolved += len(a.unresolved[i])
	}
	g := &graph.Graph{Nodes: a.nodes.nodes, Coverage: a.coverage, Edges: make([]graph.Edge, 0, edges), Unresolved: make([]graph.Unresolved, 0, unresolved)}
	for i, path := range paths {
		first := len(g.Edges)
		for _, e := range a.edges[i] {
			site := a.unpack(e.site, path)
			if e.kind == graph.Contains { // a site of containment is where the contained is declared
				site.Path = a.nodes.nodes[e.to].Path
			}
			g.Edges = append(g.Edges, graph.Edge{From: e.from, To: e.to, Kind: e.kind, Strength: e.strength, Rule: a.strings[e.rule], Site: site, TypeOnly: e.typeOnly})
		}
		slices.SortFunc(g.Edges[first:], CompareEdges)
		first = len(g.Unresolved)
		for _, u := range a.unresolved[i] {
			g.Unresolved = append(g.Unresolved, graph.Unresolved{From: u.from, Kind: u.kind, Site: a.unpack(u.site, path), External: u.external,
				Reason: a.strings[u.reason], Target: a.strings[u.target]})
		}
		slices.SortFunc(g.Unresolved[first:], func(x, y graph.Unresolved) int {
			return cmp.Or(cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Site.End, y.Site.End))
		})
		a.edges[i], a.unresolved[i] = nil, nil
	}
	return g
}

func (a *assembly) unpack(s packedSite, path string) graph.Site {
	return graph.Site{Path: path, Start: s.start, End: s.end, Line: s.line, Col: s.col, FirstLine: s.first, LastLine: s.last, Name: a.strings[s.name]}
}

// CompareEdges orders edges as graph.Graph.Edges says: by source, kind, site
// and target, then strength and rule.
func CompareEdges(x, y graph.Edge) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Site.Path, y.Site.Path),
		cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Site.End, y.Site.End), cmp.Compare(x.To, y.To),
		cmp.Compare(x.Strength, y.Strength), strings.Compare(x.Rule, y.Rule))
}
