package resolve

import (
	"cmp"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// assembly makes a graph of nodes and verdicts.
type assembly struct {
	in    *graph.Input
	nodes *nodeTable
	g     *graph.Graph
	names map[string]string // identifiers repeat: one copy of each
}

func newAssembly(in *graph.Input) *assembly {
	a := &assembly{in: in, nodes: makeNodes(in), g: &graph.Graph{}, names: map[string]string{}}
	for id := range a.nodes.nodes {
		n := &a.nodes.nodes[id]
		if n.Container == graph.NodeID(id) {
			continue
		}
		a.g.Edges = append(a.g.Edges, graph.Edge{From: n.Container, To: graph.NodeID(id), Kind: graph.Contains,
			Strength: graph.ResolvedStatic, Rule: graph.RuleSyntaxContains,
			Site: graph.Site{Path: n.Path, Start: n.NameStart, End: n.NameEnd, Line: n.NameLine, FirstLine: n.NameLine, LastLine: n.NameLine, Name: n.Name}})
	}
	return a
}

// file takes the verdicts of one file. members maps the file indexes that the
// verdicts use to those of the whole input.
func (a *assembly) file(i int32, members []int32, verdicts []graph.Verdict) {
	f := a.in.Files[i]
	for j := range f.Refs {
		v := graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: graph.ReasonUnresolvedName}
		if j < len(verdicts) {
			v = verdicts[j]
		}
		a.ref(i, f, &f.Refs[j], v, members)
	}
}

func (a *assembly) ref(i int32, f *facts.File, r *facts.Ref, v graph.Verdict, members []int32) {
	if (v.Outcome == graph.OutcomeResolved || v.Outcome == graph.OutcomeCandidate) && len(v.Targets) == 0 {
		v.Outcome, v.Reason = graph.OutcomeUnresolved, graph.ReasonUnresolvedMember
	}
	if v.Outcome == graph.OutcomeResolved && (len(v.Targets) > 1 || damaged(f, r)) {
		v.Outcome, v.Rule = graph.OutcomeCandidate, cmp.Or(ruleIf(damaged(f, r), graph.RulePartialParse), v.Rule)
	}
	from := a.nodes.of(f, key{i, r.Owner})
	kind := edgeKinds[cmp.Or(v.Kind, r.Kind)]
	c := &a.g.Coverage
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
		a.g.Unresolved = append(a.g.Unresolved, graph.Unresolved{From: from, Kind: kind, Site: a.site(f, r), External: external, Reason: v.Reason, Target: a.name(v.Target)})
		return
	}
	strength := graph.ResolvedStatic
	if v.Outcome == graph.OutcomeCandidate {
		strength = graph.Candidate
		c.Candidate++
	} else {
		c.Resolved++
	}
	site := a.site(f, r)
	seen := make([]graph.NodeID, 0, 4)
	for _, t := range v.Targets {
		file := members[t.File]
		to := a.nodes.of(a.in.Files[file], key{file, t.Def})
		if slices.Contains(seen, to) {
			continue
		}
		seen = append(seen, to)
		a.g.Edges = append(a.g.Edges, graph.Edge{From: from, To: to, Kind: kind, Strength: strength, Rule: v.Rule, Site: site,
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

func (a *assembly) site(f *facts.File, r *facts.Ref) graph.Site {
	line := f.Line(r.Start)
	s := graph.Site{Path: f.Path, Start: r.Start, End: r.End, Line: line, Name: a.name(f.Text(r.Name)),
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
	a.g.Nodes = a.nodes.nodes
	slices.SortFunc(a.g.Edges, CompareEdges)
	slices.SortFunc(a.g.Unresolved, func(x, y graph.Unresolved) int {
		return cmp.Or(strings.Compare(x.Site.Path, y.Site.Path), cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Site.End, y.Site.End))
	})
	return a.g
}

// CompareEdges orders edges as graph.Graph.Edges says: by source, kind, site
// and target, then strength and rule.
func CompareEdges(x, y graph.Edge) int {
	return cmp.Or(cmp.Compare(x.From, y.From), cmp.Compare(x.Kind, y.Kind), strings.Compare(x.Site.Path, y.Site.Path),
		cmp.Compare(x.Site.Start, y.Site.Start), cmp.Compare(x.Site.End, y.Site.End), cmp.Compare(x.To, y.To),
		cmp.Compare(x.Strength, y.Strength), strings.Compare(x.Rule, y.Rule))
}
