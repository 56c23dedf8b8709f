package search

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// random makes a graph of functions that call, reference and import each other.
func random(seed uint64, files, functions, edges int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	var nodes []string
	for f := range files {
		test := ""
		if f%4 == 3 {
			test = " test"
		}
		fmt.Fprintf(&b, "file d%d/f%d.py python%s\n", f%3, f, test)
		for i := range functions {
			fmt.Fprintf(&b, "  function g%d %d-%d%s\n", (f*functions+i)%11, i*10+1, i*10+9, test)
			nodes = append(nodes, fmt.Sprintf("d%d/f%d.py::g%d", f%3, f, (f*functions+i)%11))
		}
	}
	for i := range edges {
		kind := []string{"calls", "calls", "references", "imports"}[r.IntN(4)]
		from, to := nodes[r.IntN(len(nodes))], nodes[r.IntN(len(nodes))]
		word := ""
		if r.IntN(3) == 0 {
			word = " candidate"
		}
		fmt.Fprintf(&b, "edge %s %s %s %d.%d%s\n", kind, from, to, 1+r.IntN(40), i%90, word)
	}
	return b.String()
}

// distances is a breadth-first search as plain as can be: the hops from the
// seeds to every node, along dependency edges.
func distances(m *memory, seeds []graph.NodeID, inward bool) map[graph.NodeID]int {
	hops := map[graph.NodeID]int{}
	for _, s := range seeds {
		hops[s] = 0
	}
	for changed := true; changed; {
		changed = false
		for _, e := range m.g.Edges {
			from, to := e.From, e.To
			if inward {
				from, to = to, from
			}
			d, ok := hops[from]
			if old, seen := hops[to]; e.Kind != graph.Contains && ok && (!seen || old > d+1) {
				hops[to], changed = d+1, true
			}
		}
	}
	return hops
}

func TestWalksOfRandomGraphs(t *testing.T) {
	for seed := range uint64(40) {
		m := load(t, random(seed, 6, 4, 60))
		for _, kind := range []string{KindImpact, KindDependency} {
			for _, budget := range []int{3, 200} {
				r := Request{Kind: kind, Target: "g1", Depth: 3, NodeBudget: budget, MaxBytes: MaxMaxBytes}
				a, err := newAnswer(m, r)
				if err != nil {
					t.Fatal(err)
				}
				checkWalk(t, m, a, r)
				b, err := newAnswer(m.shuffled(seed+7), r)
				if err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(body(t, a), body(t, b)) {
					t.Errorf("seed %d, %s: other bytes over shuffled edges", seed, kind)
				}
			}
		}
	}
}

// newAnswer is Run without the bound on bytes, so that whole walks can be checked.
func newAnswer(m Reader, r Request) (*Answer, error) {
	r, err := normalize(r)
	if err != nil {
		return nil, err
	}
	q := newQuery(context.Background(), m, r)
	if err := q.answer(); err != nil {
		return nil, err
	}
	q.finish()
	return q.a, nil
}

// A walk both ways meets every relationship from two ends and reports it once.
func TestBothWaysReportOnce(t *testing.T) {
	for seed := range uint64(20) {
		m := load(t, random(seed, 5, 4, 50))
		a, err := newAnswer(m, Request{Kind: KindSymbol, Target: "g1", Depth: 3, NodeBudget: 200})
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for _, it := range a.Items {
			key := fmt.Sprint(it.From.ID, it.To.ID, it.Relation, it.CallSite.Path, it.CallSite.Line, it.CallSite.Column)
			if seen[key] {
				t.Fatalf("seed %d: reported twice: %+v", seed, it)
			}
			seen[key] = true
		}
	}
}

func checkWalk(t *testing.T, m *memory, a *Answer, r Request) {
	t.Helper()
	inward := r.Kind == KindImpact
	ids := map[string]graph.NodeID{}
	for i := range m.g.Nodes {
		ids[string(symbolID(&m.g.Nodes[i]))] = graph.NodeID(i)
	}
	edges := map[edgeKey]bool{}
	for i := range m.g.Edges {
		edges[keyOf(&m.g.Edges[i])] = true
	}
	var seeds []graph.NodeID
	for _, s := range a.Seeds {
		seeds = append(seeds, ids[s.ID])
	}
	want := distances(m, seeds, inward)
	first := map[graph.NodeID]int{}
	reported := map[string]bool{}
	last := 0
	for _, it := range a.Items {
		if it.Granularity == "module" {
			continue
		}
		if it.Hop < last {
			t.Fatalf("hop %d after hop %d", it.Hop, last)
		}
		last = it.Hop
		key := fmt.Sprint(it.From.ID, it.To.ID, it.Relation, it.CallSite.Path, it.CallSite.Line, it.CallSite.Column)
		if reported[key] {
			t.Fatalf("reported twice: %+v", it)
		}
		reported[key] = true
		if len(it.WitnessPath) != it.Hop+1 || it.WitnessPath[it.Hop] != it.Node.ID || it.WitnessPath[it.Hop-1] != it.Via || want[ids[it.WitnessPath[0]]] != 0 {
			t.Fatalf("hop %d with witness path %v via %s", it.Hop, it.WitnessPath, it.Via)
		}
		for i, id := range it.WitnessPath[:it.Hop] {
			if want[ids[id]] != i {
				t.Fatalf("%s is %d hops away and stands at %d of the witness path", id, want[ids[id]], i)
			}
		}
		if n := ids[it.Node.ID]; want[n] > 0 && first[n] == 0 {
			if first[n] = it.Hop; it.Hop != want[n] {
				t.Fatalf("%s reached at hop %d, it is %d away", it.Node.Qualified, it.Hop, want[n])
			}
		}
	}
	if len(first) > r.NodeBudget {
		t.Fatalf("%d nodes entered with a budget of %d", len(first), r.NodeBudget)
	}
	if cutBy(a, BoundNodeBudget) > 0 {
		return
	}
	// Nothing cut but the depth: everything within it is there, each site once.
	sites := 0
	for k := range edges {
		end := k.from
		if inward {
			end = k.to
		}
		if d, ok := want[end]; k.kind != graph.Contains && ok && d < r.Depth {
			sites++
		}
	}
	if sites != len(reported) {
		t.Fatalf("%d relationships reported, there are %d", len(reported), sites)
	}
}
