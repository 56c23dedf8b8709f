package resolve

import (
	"context"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// twoFiles is a package of two files: a type in one, its method and a call in
// the other, without any resolver's help.
func twoFiles() *graph.Input {
	a := facts.NewBuilder("p/a.go", "text", 60)
	a.Def(facts.Def{Kind: facts.KindPackage, Name: a.Str("p"), Qual: a.Str("p"), Parent: facts.None, Body: facts.None, Span: facts.Span{Start: 0, End: 9}})
	a.Def(facts.Def{Kind: facts.KindStruct, Name: a.Str("T"), Qual: a.Str("T"), Parent: facts.None, Body: facts.None, Span: facts.Span{Start: 10, End: 30}, NameStart: 15})
	b := facts.NewBuilder("p/b.go", "text", 60)
	b.Def(facts.Def{Kind: facts.KindPackage, Name: b.Str("p"), Qual: b.Str("p"), Parent: facts.None, Body: facts.None, Span: facts.Span{Start: 0, End: 9}})
	b.Def(facts.Def{Kind: facts.KindMethod, Name: b.Str("M"), Qual: b.Str("T.M"), Parent: facts.None, Body: facts.None, Span: facts.Span{Start: 10, End: 40}, NameStart: 20})
	b.Ref(facts.Ref{Kind: facts.RefCall, Name: b.Str("M"), Owner: 1, Span: facts.Span{Start: 30, End: 31}})
	b.Ref(facts.Ref{Kind: facts.RefCall, Name: b.Str("M"), Owner: 1, Span: facts.Span{Start: 34, End: 35}})
	for _, f := range []*facts.Builder{a, b} {
		f.File.LineStarts = []uint32{0, 10, 20, 30, 40}
	}
	return &graph.Input{Files: []*facts.File{a.File, b.File}}
}

func TestContainment(t *testing.T) {
	g, err := Resolve(context.Background(), twoFiles())
	if err != nil {
		t.Fatal(err)
	}
	container := map[string]string{}
	for _, n := range g.Nodes {
		container[n.Kind+" "+n.Qualified] = g.Nodes[n.Container].Kind + " " + g.Nodes[n.Container].Qualified
	}
	want := map[string]string{"file p/a.go": "package p", "file p/b.go": "package p", "package p": "package p", "struct T": "file p/a.go", "method T.M": "struct T"}
	for node, in := range want {
		if container[node] != in {
			t.Errorf("%s is contained in %q, want %q", node, container[node], in)
		}
	}
	if len(container) != len(want) {
		t.Errorf("nodes %v, want %v", container, want)
	}
}

func TestVerdictsBecomeEdges(t *testing.T) {
	in := twoFiles()
	in.Files[1].Damage = []facts.Span{{Start: 33, End: 36}}
	a := newAssembly(in)
	method := graph.DefRef{File: 1, Def: 1}
	resolved := graph.Verdict{Outcome: graph.OutcomeResolved, Rule: graph.RuleGoReceiverType, Targets: []graph.DefRef{method}}
	a.file(1, []int32{0, 1}, []graph.Verdict{resolved, resolved})
	g := a.finish([]string{"p/a.go", "p/b.go"})
	var calls []graph.Edge
	for _, e := range g.Edges {
		if e.Kind == graph.Calls {
			calls = append(calls, e)
		}
	}
	if len(calls) != 2 {
		t.Fatalf("%d calls, want one for each of two sites", len(calls))
	}
	if calls[0].Strength != graph.ResolvedStatic || calls[0].Site.Line != 4 || calls[0].Site.Col != 0 {
		t.Errorf("call outside damage: %+v", calls[0])
	}
	if calls[1].Strength != graph.Candidate || calls[1].Rule != graph.RulePartialParse {
		t.Errorf("call inside damage must be a candidate by partial_parse: %+v", calls[1])
	}
	if g.Coverage.Resolved != 1 || g.Coverage.Candidate != 1 {
		t.Errorf("coverage %+v", g.Coverage)
	}
}

func TestUnsortedInputIsRefused(t *testing.T) {
	in := twoFiles()
	in.Files[0], in.Files[1] = in.Files[1], in.Files[0]
	if _, err := Resolve(context.Background(), in); err == nil {
		t.Fatal("unsorted files were accepted")
	}
}
