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
// sorting each file's sorts the whole.
type assembly struct {
	in    *graph.Input
	nodes *nodeTable

	mu         sync.Mutex
	edges      [][]graph.Edge
	unresolved [][]graph.Unresolved
	coverage   graph.Coverage
	names      map[string]string // identifiers repeat: one copy of each
}

func newAssembly(in *graph.Input) *assembly {
	a := &assembly{in: in, nodes: makeNodes(in), names: map[string]string{},
		edges: make([][]graph.Edge, len(in.Files)), unresolved: make([][]graph.Unresolved, len(in.Files))}
	for id := range a.nodes.nodes {
		n := &a.nodes.nodes[id]
		if n.Container == graph.NodeID(id) {
			continue
		}
		file := a.nodes.fileOf(n.Container)
		a.edges[file] = append(a.edges[file], graph.Edge{From: n.Container, To: graph.NodeID(id), Kind: graph.Contains,
			Strength: graph.ResolvedStatic, Rule: graph.RuleSyntaxContains,
			Site: graph.Site{Path: n.Path, Start: n.NameStart, End: n.NameEnd, Line: n.NameLine, FirstLine: n.NameLine, LastLine: n.NameLine, Name: n.Name}})
	}
	return a
}

// file takes the verdicts of one file. members maps the file indexes that the
// verdicts use to those of the whole input.
func (a *assembly) file(i int32, members []int32, verdicts []graph.Verdict) {
	b := &batch{assembly: a, i: i, f: a.in.Files[i], members: members}
	b.count(verdicts)
	for j := range b.f.Refs {
		v := graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: graph.ReasonUnresolvedName}
		if j < len(verdicts) {
			v = verdicts[j]
		}
		b.ref(&b.f.Refs[j], v)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	for k := range b.edges {
		b.edges[k].Site.Name = a.name(b.edges[k].Site.Name)
	}
	for k := range b.unresolved {
		u := &b.unresolved[k]
		u.Site.Name, u.Target = a.name(u.Site.Name), a.name(u.Target)
	}
	a.edges[i] = append(a.edges[i], b.edges...)
	a.unresolved[i] = b.unresolved
	c := &a.coverage
	c.Resolved, c.Candidate, c.Unresolved = c.Resolved+b.coverage.Resolved, c.Candidate+b.coverage.Candidate, c.Unresolved+b.coverage.Unresolved
	c.External, c.Local = c.External+b.coverage.External, c.Local+b.coverage.Local
}

// batch is what one file's references become.
type batch struct {
	*assembly
	i          int32
	f          *facts.File
	members    []int32
	edges      []graph.Edge
	unresolved []graph.Unresolved
	coverage   graph.Coverage
}

// count makes room for exactly what the verdicts can become.
func (b *batch) count(verdicts []graph.Verdict) {
	edges, unresolved := 0, 0
	for i := range verdicts {
		switch verdicts[i].Outcome {
		case graph.OutcomeResolved, graph.OutcomeCandidate:
			edges += len(verdicts[i].Targets)
		case graph.OutcomeUnresolved, graph.OutcomeExternal:
			unresolved++
		}
	}
	b.edges, b.unresolved = make([]graph.Edge, 0, edges), make([]graph.Unresolved, 0, unresolved)
}

func (b *batch) ref(r *facts.Ref, v graph.Verdict) {
	if (v.Outcome == graph.OutcomeResolved || v.Outcome == graph.OutcomeCandidate) && len(v.Targets) == 0 {
		v.Outcome, v.Reason = graph.OutcomeUnresolved, graph.ReasonUnresolvedMember
	}
	if v.Outcome == graph.OutcomeResolved && (len(v.Targets) > 1 || damaged(b.f, r)) {
		v.Outcome, v.Rule = graph.OutcomeCandidate, cmp.Or(ruleIf(damaged(b.f, r), graph.RulePartialParse), v.Rule)
	}
	from := b.nodes.of(b.f, key{b.i, r.Owner})
	kind := edgeKinds[cmp.Or(v.Kind, r.Kind)]
	c := &b.coverage
	switch v.Outcome {
	case graph.OutcomeLocal:
		c.Local++
		return
	case graph.OutcomeUnresolved, graph.OutcomeExternal:
		external := v.Outcome == graph.OutcomeExternal
		if external {
			c.External++
		} else {
			c.Unresolved++
		}
		b.unresolved = append(b.unresolved, graph.Unresolved{From: from, Kind: kind, Site: site(b.f, r), External: external, Reason: v.Reason, Target: v.Target})
		return
	}
	strength := graph.ResolvedStatic
	if v.Outcome == graph.OutcomeCandidate {
		strength = graph.Candidate
		c.Candidate++
	} else {
		c.Resolved++
	}
	at := site(b.f, r)
	seen := make([]graph.NodeID, 0, 4)
	for _, t := range v.Targets {
		file := b.members[t.File]
		to := b.nodes.of(b.in.Files[file], key{file, t.Def})
		if slices.Contains(seen, to) {
			continue
		}
		seen = append(seen, to)
		b.edges = append(b.edges, graph.Edge{From: from, To: to, Kind: kind, Strength: strength, Rule: v.Rule, Site: at,
			TypeOnly: r.Flags&facts.FlagTypeOnly != 0})
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

func (a *assembly) name(s string) string {
	if known, ok := a.names[s]; ok {
		return known
	}
	a.names[s] = s
	return s
}

func site(f *facts.File, r *facts.Ref) graph.Site {
	line := f.Line(r.Start)
	s := graph.Site{Path: f.Path, Start: r.Start, End: r.End, Line: line, Name: f.Text(r.Name),
		FirstLine: line, LastLine: f.Line(max(r.Start, r.End-min(r.End, 1)))}
	if line > 0 {
		s.Col = r.Start - f.LineStarts[line-1]
	}
	if r.Site.End > r.Site.Start {
		s.FirstLine, s.LastLine = min(s.FirstLine, f.Line(r.Site.Start)), max(s.LastLine, f.Line(r.Site.End-1))
	}
	return s
}

// finish sorts everything, so that the order of input and of work leaves no trace.
func (a *assembly) finish() *graph.Graph {
	edges, unresolved := 0, 0
	for i := range a.edges {
		edges += len(a.edges[i])
		unresolved += len(a.unresolved[i])
	}
	g := &graph.Graph{Nodes: a.nodes.nodes, Coverage: a.coverage, Edges: make([]graph.Edge, 0, edges), Unresolved: make([]graph.Unresolved, 0, unresolved)}
	for i := range a.edges {
		slices.SortFunc(a.edges[i], CompareEdges)
		g.Edges = append(g.Edges, a.edges[i]...)
		slices.SortFunc(a.unresolved[i], func(x, y graph.Unresolved) int {
			return cmp.Or(cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Site.End, y.Site.End))
		})
		g.Unresolved = append(g.Unresolved, a.unresolved[i]...)
		a.edges[i], a.unresolved[i] = nil, nil
	}
	return g
}

// CompareEdges orders edges as graph.Graph.Edges says: by source, kind, site
// and target, then strength and rule.
func CompareEdges(x, y graph.Edge) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Site.Path, y.Site.Path),
		cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Site.End, y.Site.End), cmp.Compare(x.To, y.To),
		cmp.Compare(x.Strength, y.Strength), strings.Compare(x.Rule, y.Rule))
}
