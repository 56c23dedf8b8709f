package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func load(t testing.TB, text string) *memory {
	t.Helper()
	m, err := parseGraph(text)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func ask(t testing.TB, m Reader, r Request) *Answer {
	t.Helper()
	a, err := Run(context.Background(), m, r)
	if err != nil {
		t.Fatalf("%+v: %v", r, err)
	}
	return a
}

// cutBy gives what a bound left out, 0 when it did not cut.
func cutBy(a *Answer, bound string) int {
	for _, c := range a.Cuts {
		if c.Bound == bound {
			return c.Dropped
		}
	}
	return 0
}

// star is a function with n callers, of sites calls each.
func star(n, sites int) string {
	var b, edges strings.Builder
	b.WriteString("file hub.py python\n  function hub 1-9\nfile callers.py python\n")
	for i := range n {
		fmt.Fprintf(&b, "  function c%d %d-%d\n", i, i*2000+10, i*2000+1999)
		for s := range sites {
			fmt.Fprintf(&edges, "edge calls callers.py::c%d hub.py::hub %d\n", i, i*2000+20+s)
		}
	}
	return b.String() + edges.String()
}

func TestNumbersOutOfRange(t *testing.T) {
	m := load(t, star(1, 1))
	base := map[string]Request{
		KindImpact: {Target: "hub"}, KindDependency: {Target: "hub"}, KindSymbol: {Target: "hub"}, KindRelatedTests: {Target: "hub"},
		KindCallers: {Target: "hub"}, KindCallees: {Target: "hub"}, KindSymbols: {Query: "hub"}, KindMap: {},
	}
	fields := map[string]func(*Request) *int{
		"depth": func(r *Request) *int { return &r.Depth }, "node_budget": func(r *Request) *int { return &r.NodeBudget },
		"limit": func(r *Request) *int { return &r.Limit }, "max_bytes": func(r *Request) *int { return &r.MaxBytes },
	}
	for kind, row := range kinds {
		for name, field := range fields {
			limit := map[string]int{"depth": row.depth.max, "node_budget": row.nodeBudget.max, "limit": row.limit.max, "max_bytes": MaxMaxBytes}[name]
			least := 1
			if name == "max_bytes" {
				least = MinMaxBytes
			}
			for value, good := range map[int]bool{-1: false, least - 1: least == 1, least: true, limit: true, limit + 1: false} {
				r := base[kind]
				r.Kind = kind
				*field(&r) = value
				if limit == 0 { // a field that the kind does not take
					good = value == 0
				}
				_, err := Run(context.Background(), m, r)
				if fault.CodeOf(err) == fault.BudgetTooSmall && name == "max_bytes" {
					err = nil // in range, and too small for this envelope
				}
				var f *fault.Error
				if good && err != nil || !good && (!errors.As(err, &f) || f.Code != fault.InvalidRequest || f.Field != name) {
					t.Errorf("%s with %s=%d: %v", kind, name, value, err)
				}
			}
		}
	}
}

func TestDefaults(t *testing.T) {
	m := load(t, star(1, 1))
	for _, c := range []struct {
		ask  Request
		want Request
	}{
		{Request{Kind: KindImpact, Target: "hub"}, Request{Depth: 2, NodeBudget: 40}},
		{Request{Kind: KindDependency, Target: "hub"}, Request{Depth: 2, NodeBudget: 40}},
		{Request{Kind: KindSymbol, Target: "hub"}, Request{Depth: 1, NodeBudget: 40}},
		{Request{Kind: KindMap}, Request{Depth: 2, Limit: 20}},
		{Request{Kind: KindCallers, Target: "hub"}, Request{Limit: 20}},
	} {
		got := ask(t, m, c.ask).Operation
		if got.Depth != c.want.Depth || got.NodeBudget != c.want.NodeBudget || got.Limit != c.want.Limit || got.MaxBytes != 16000 {
			t.Errorf("%s: %+v", c.ask.Kind, got)
		}
	}
}

func TestRefusedRequests(t *testing.T) {
	m := load(t, star(1, 1))
	many := func(n int) []string { return slices.Repeat([]string{"hub.py"}, n) }
	for _, c := range []struct {
		name  string
		req   Request
		code  fault.Code
		field string
	}{
		{"no kind", Request{Target: "hub"}, fault.InvalidRequest, "kind"},
		{"unknown kind", Request{Kind: "guess"}, fault.Unsupported, "kind"},
		{"later kind", Request{Kind: "occurrences", Query: "x"}, fault.Unsupported, "kind"},
		{"no target", Request{Kind: KindImpact}, fault.InvalidRequest, "target"},
		{"blank target", Request{Kind: KindImpact, Target: "  "}, fault.InvalidRequest, "target"},
		{"target and id", Request{Kind: KindImpact, Target: "hub", SymbolID: "00"}, fault.InvalidRequest, "symbol_id"},
		{"target and paths", Request{Kind: KindRelatedTests, Target: "hub", Paths: many(1)}, fault.InvalidRequest, "paths"},
		{"paths of impact", Request{Kind: KindImpact, Paths: many(1)}, fault.InvalidRequest, "paths"},
		{"query of impact", Request{Kind: KindImpact, Target: "hub", Query: "x"}, fault.InvalidRequest, "query"},
		{"language of impact", Request{Kind: KindImpact, Target: "hub", Language: "go"}, fault.InvalidRequest, "language"},
		{"no paths", Request{Kind: KindRelatedTests}, fault.InvalidRequest, "target"},
		{"1 path", Request{Kind: KindRelatedTests, Paths: many(1)}, "", ""},
		{"100 paths", Request{Kind: KindRelatedTests, Paths: many(100)}, "", ""},
		{"101 paths", Request{Kind: KindRelatedTests, Paths: many(101)}, fault.InvalidRequest, "paths"},
		{"absolute path", Request{Kind: KindRelatedTests, Paths: []string{"/etc/passwd"}}, fault.InvalidPath, "paths"},
		{"path that leaves", Request{Kind: KindRelatedTests, Paths: []string{"a/../../b"}}, fault.InvalidPath, "paths"},
		{"NUL in a prefix", Request{Kind: KindMap, PathPrefix: "a\x00"}, fault.InvalidPath, "path_prefix"},
		{"empty query", Request{Kind: KindSymbols, Query: " \n"}, fault.InvalidRequest, "query"},
		{"1 character", Request{Kind: KindSymbols, Query: "h"}, "", ""},
		{"long query", Request{Kind: KindSymbols, Query: strings.Repeat("é", 8192), MaxBytes: MaxMaxBytes}, "", ""},
		{"too long query", Request{Kind: KindSymbols, Query: strings.Repeat("é", 8193), MaxBytes: MaxMaxBytes}, fault.InvalidRequest, "query"},
		{"unknown id", Request{Kind: KindImpact, SymbolID: "0123"}, fault.TargetMissing, "symbol_id"},
	} {
		_, err := Run(context.Background(), m, c.req)
		if fault.CodeOf(err) != c.code {
			t.Errorf("%s: code %q (%v), want %q", c.name, fault.CodeOf(err), err, c.code)
			continue
		}
		var f *fault.Error
		if c.code != "" && errors.As(err, &f) && (f.Field != c.field || f.Hint == "") {
			t.Errorf("%s: field %q, hint %q; want field %q", c.name, f.Field, f.Hint, c.field)
		}
	}
}

// Each bound, one below, at and one above what there is.
func TestBoundsCutAndSayHowMuch(t *testing.T) {
	var seeds, members, folders, tests strings.Builder
	const most = maxExpansion - maxSeeds
	for i := range 10 {
		fmt.Fprintf(&seeds, "file s%d.py python\n  function same 1-9\n", i)
		fmt.Fprintf(&folders, "file d%d/x.py python\n  function word_%d 1-9\n", i, i)
		fmt.Fprintf(&tests, "file t%d_test.py python test\n  function test_%d 1-9 test\n", i, i)
	}
	tests.WriteString("file x.py python\n  function x 1-9\n")
	for i := range 10 {
		fmt.Fprintf(&tests, "edge calls t%d_test.py::test_%d x.py::x 2\n", i, i)
	}
	seedsOf := func(n int) string { return strings.Join(strings.SplitAfter(seeds.String(), "\n")[:2*n], "") }
	class := func(n int) string {
		members.Reset()
		members.WriteString("file c.py python\n  class C 1-9000\n")
		for i := range n {
			fmt.Fprintf(&members, "    method C.m%d %d-%d\n", i, i*10+10, i*10+15)
		}
		return members.String()
	}
	for _, c := range []struct {
		name  string
		graph string
		req   Request
		bound string
		items int // -1: not looked at
		left  int
	}{
		{"node budget above", star(5, 1), Request{Kind: KindImpact, Target: "hub", NodeBudget: 6}, BoundNodeBudget, 5, 0},
		{"node budget at", star(5, 1), Request{Kind: KindImpact, Target: "hub", NodeBudget: 5}, BoundNodeBudget, 5, 0},
		{"node budget below", star(5, 1), Request{Kind: KindImpact, Target: "hub", NodeBudget: 3}, BoundNodeBudget, 3, 2},
		{"nodes count, not sites", star(2, 3), Request{Kind: KindImpact, Target: "hub", NodeBudget: 2}, BoundNodeBudget, 6, 0},
		{"limit above", star(5, 1), Request{Kind: KindCallers, Target: "hub", Limit: 6}, BoundLimit, 5, 0},
		{"limit at", star(5, 1), Request{Kind: KindCallers, Target: "hub", Limit: 5}, BoundLimit, 5, 0},
		{"limit below", star(5, 1), Request{Kind: KindCallers, Target: "hub", Limit: 4}, BoundLimit, 4, 1},
		{"seeds above", seedsOf(7), Request{Kind: KindCallers, Target: "same"}, BoundSeeds, 0, 0},
		{"seeds at", seedsOf(8), Request{Kind: KindCallers, Target: "same"}, BoundSeeds, 0, 0},
		{"seeds below", seedsOf(10), Request{Kind: KindCallers, Target: "same"}, BoundSeeds, 0, 2},
		{"expansion above", class(most - 1), Request{Kind: KindImpact, Target: "C"}, BoundExpansion, 0, 0},
		{"expansion at", class(most), Request{Kind: KindImpact, Target: "C"}, BoundExpansion, 0, 0},
		{"expansion below", class(most + 1), Request{Kind: KindImpact, Target: "C"}, BoundExpansion, 0, 1},
		{"edges above", star(1, maxWalkEdges-1), Request{Kind: KindImpact, Target: "hub", MaxBytes: MaxMaxBytes}, BoundEdgeBudget, -1, 0},
		{"edges at", star(1, maxWalkEdges), Request{Kind: KindImpact, Target: "hub", MaxBytes: MaxMaxBytes}, BoundEdgeBudget, -1, 0},
		{"edges below", star(1, maxWalkEdges+3), Request{Kind: KindImpact, Target: "hub", MaxBytes: MaxMaxBytes}, BoundEdgeBudget, -1, 3},
		{"map limit above", folders.String(), Request{Kind: KindMap, Limit: 12}, BoundLimit, 11, 0},
		{"map limit at", folders.String(), Request{Kind: KindMap, Limit: 11}, BoundLimit, 11, 0},
		{"map limit below", folders.String(), Request{Kind: KindMap, Limit: 10}, BoundLimit, 10, 1},
		{"symbols limit above", folders.String(), Request{Kind: KindSymbols, Query: "word", Limit: 11}, BoundLimit, 10, 0},
		{"symbols limit at", folders.String(), Request{Kind: KindSymbols, Query: "word", Limit: 10}, BoundLimit, 10, 0},
		{"symbols limit below", folders.String(), Request{Kind: KindSymbols, Query: "word", Limit: 9}, BoundLimit, 9, 1},
		{"tests limit above", tests.String(), Request{Kind: KindRelatedTests, Target: "x", Limit: 11}, BoundLimit, 10, 0},
		{"tests limit at", tests.String(), Request{Kind: KindRelatedTests, Target: "x", Limit: 10}, BoundLimit, 10, 0},
		{"tests limit below", tests.String(), Request{Kind: KindRelatedTests, Target: "x", Limit: 9}, BoundLimit, 9, 1},
	} {
		if c.req.MaxBytes == 0 {
			c.req.MaxBytes = MaxMaxBytes
		}
		a := ask(t, load(t, c.graph), c.req)
		if got := cutBy(a, c.bound); got != c.left {
			t.Errorf("%s: %d left out, want %d", c.name, got, c.left)
		}
		if c.items >= 0 && len(a.Items) != c.items {
			t.Errorf("%s: %d items, want %d", c.name, len(a.Items), c.items)
		}
		if a.AnswerComplete != (len(a.Cuts) == 0) || (a.Status == "ok") != a.AnswerComplete {
			t.Errorf("%s: status %s, complete %v with cuts %v", c.name, a.Status, a.AnswerComplete, a.Cuts)
		}
	}
}

func TestBytesBoundTheWholeBody(t *testing.T) {
	m := load(t, star(12, 2))
	full := ask(t, m, Request{Kind: KindImpact, Target: "hub", MaxBytes: MaxMaxBytes})
	if len(full.Items) != 24 || len(full.Cuts) != 0 {
		t.Fatalf("%d items, cuts %v", len(full.Items), full.Cuts)
	}
	// Sizes depend on the digits of max_bytes itself: search the edge among
	// those of five digits.
	size := len(body(t, full))
	if size < 10001 {
		t.Fatalf("body of %d bytes: make the fixture bigger", size)
	}
	for limit, dropped := range map[int]int{size + 1: 0, size: 0, size - 1: 1} {
		a := ask(t, m, Request{Kind: KindImpact, Target: "hub", MaxBytes: limit})
		if b := body(t, a); len(b) > limit || cutBy(a, BoundMaxBytes) != dropped || len(a.Items) != 24-dropped {
			t.Errorf("max_bytes %d: %d bytes, %d items, cuts %v", limit, len(b), len(a.Items), a.Cuts)
		}
	}
	raw, err := full.encodeItems()
	if err != nil {
		t.Fatal(err)
	}
	least := 0
	for limit := MinMaxBytes; limit <= size; limit += 31 {
		a := *full
		err := a.fit(limit)
		switch {
		case fault.CodeOf(err) == fault.BudgetTooSmall:
			if least != 0 || !strings.Contains(err.Error(), fmt.Sprint(limit)) {
				t.Fatalf("max_bytes %d, after %d fitted: %v", limit, least, err)
			}
			continue
		case err != nil:
			t.Fatal(err)
		case least == 0:
			least = limit
		}
		got := len(body(t, &a))
		if got > limit || len(a.Items)+cutBy(&a, BoundMaxBytes) != 24 {
			t.Fatalf("max_bytes %d: %d bytes, %d items, cuts %v", limit, got, len(a.Items), a.Cuts)
		}
		// One more item, and the digits of its count, does not fit.
		dropped := cutBy(&a, BoundMaxBytes)
		if n := len(a.Items); n < 23 && got+len(raw[n])+min(n, 1)+len(fmt.Sprint(dropped-1))-len(fmt.Sprint(dropped)) <= limit {
			t.Fatalf("max_bytes %d: an item of %d more bytes would have fitted", limit, len(raw[n]))
		}
	}
	if least == 0 {
		t.Fatal("nothing fitted")
	}
	// The refusal says what would do, to the byte.
	_, err = Run(context.Background(), m, Request{Kind: KindImpact, Target: "hub", MaxBytes: 1000})
	var f *fault.Error
	var need int
	if !errors.As(err, &f) || f.Code != fault.BudgetTooSmall || f.Field != "max_bytes" {
		t.Fatalf("max_bytes 1000: %v", err)
	}
	if _, err := fmt.Sscanf(f.Hint, "give max_bytes of %d", &need); err != nil {
		t.Fatalf("hint %q: %v", f.Hint, err)
	}
	if a := ask(t, m, Request{Kind: KindImpact, Target: "hub", MaxBytes: need}); len(a.Items) != 0 || cutBy(a, BoundMaxBytes) != 24 || len(body(t, a)) != need {
		t.Errorf("max_bytes %d: %d items in %d bytes, cuts %v", need, len(a.Items), len(body(t, a)), a.Cuts)
	}
	if _, err := Run(context.Background(), m, Request{Kind: KindImpact, Target: "hub", MaxBytes: need - 1}); fault.CodeOf(err) != fault.BudgetTooSmall {
		t.Errorf("max_bytes %d: %v", need-1, err)
	}
}

func TestBodyDescribesEachEndOnce(t *testing.T) {
	m := load(t, star(2, 2))
	a := ask(t, m, Request{Kind: KindImpact, Target: "hub"})
	if it := a.Items[0]; it.To.Qualified != "hub" || it.From.Name != "c0" || it.CallSite.Blob == "" || it.Via != a.Seeds[0].ID {
		t.Fatalf("in memory an item carries both ends whole: %+v", it)
	}
	var got Answer
	if err := json.Unmarshal(body(t, a), &got); err != nil {
		t.Fatal(err)
	}
	for i, it := range got.Items {
		if it.Node.Qualified == "" || it.Node.Blob == "" {
			t.Errorf("item %d: its node is not described: %+v", i, it.Node)
		}
		if *it.From != (NodeRef{ID: it.Node.ID}) || *it.To != (NodeRef{ID: got.Seeds[0].ID}) {
			t.Errorf("item %d: ends %+v and %+v are described again", i, *it.From, *it.To)
		}
		if it.CallSite.Blob != "" || it.CallSite.Line == 0 {
			t.Errorf("item %d: call site %+v", i, *it.CallSite)
		}
	}
	if !bytes.Equal(body(t, a), body(t, a)) {
		t.Error("two encodings differ")
	}
}

func TestLongListsAreCut(t *testing.T) {
	for _, n := range []int{maxChildren - 1, maxChildren, maxChildren + 2} {
		var defs strings.Builder
		defs.WriteString("file a.py python\n")
		for i := range n {
			fmt.Fprintf(&defs, "  function f%d %d-%d\n", i, i+1, i+1)
		}
		a := ask(t, load(t, defs.String()), Request{Kind: KindMap, Level: LevelSkeleton})
		if got := len(a.Items[0].Children); got != min(n, maxChildren) || cutBy(a, BoundChildren) != n-got {
			t.Errorf("of %d lines %d are there and %d left out", n, got, cutBy(a, BoundChildren))
		}
	}
	var same strings.Builder
	for i := range maxAmbiguous + 3 {
		fmt.Fprintf(&same, "file s%02d.py python\n  function same 1-9\n", i)
	}
	a := ask(t, load(t, same.String()), Request{Kind: KindImpact, Target: "same"})
	if len(a.Seeds) != maxSeeds || len(a.Ambiguous) != maxAmbiguous || cutBy(a, BoundSeeds) != maxAmbiguous+3-maxSeeds {
		t.Errorf("%d seeds, %d ambiguous, %d left out", len(a.Seeds), len(a.Ambiguous), cutBy(a, BoundSeeds))
	}
}

func TestSymbolID(t *testing.T) {
	m := load(t, star(2, 1))
	byName := ask(t, m, Request{Kind: KindImpact, Target: "hub"})
	byID := ask(t, m, Request{Kind: KindImpact, SymbolID: byName.Seeds[0].ID})
	if len(byID.Items) != 2 || byID.Seeds[0] != byName.Seeds[0] || byID.Mentions == nil || byID.Mentions.Name != "hub" {
		t.Errorf("by id: %+v", byID)
	}
}

// broken fails on one method of its reader.
type broken struct {
	*memory
	err   error
	quiet error
}

func (b broken) In(id graph.NodeID) ([]graph.Edge, error) {
	if b.err != nil {
		return nil, b.err
	}
	return b.memory.In(id)
}
func (b broken) Err() error { return b.quiet }

func TestDamageIsNoAnswer(t *testing.T) {
	m := load(t, star(2, 1))
	damage := fault.New(fault.IndexIntegrity, "index is damaged")
	for name, g := range map[string]Reader{"returned": broken{m, damage, nil}, "kept": broken{m, nil, damage}} {
		a, err := Run(context.Background(), g, Request{Kind: KindImpact, Target: "hub"})
		if a != nil || fault.CodeOf(err) != fault.IndexIntegrity {
			t.Errorf("%s: %v, %v", name, a, err)
		}
	}
}

func TestDeadline(t *testing.T) {
	m := load(t, star(2, 1))
	past, cancel := context.WithDeadline(context.Background(), time.Unix(0, 0))
	defer cancel()
	for _, r := range []Request{{Kind: KindImpact, Target: "hub"}, {Kind: KindRelatedTests, Target: "hub"}, {Kind: KindSymbols, Query: "hub"}, {Kind: KindMap}, {Kind: KindCallers, Target: "nobody"}} {
		if _, err := Run(past, m, r); fault.CodeOf(err) != fault.Timeout {
			t.Errorf("%s after its deadline: %v", r.Kind, err)
		}
	}
	gone, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(gone, m, Request{Kind: KindImpact, Target: "hub"}); !errors.Is(err, context.Canceled) || fault.CodeOf(err) == fault.Timeout {
		t.Errorf("cancelled: %v", err)
	}
}

func TestSegments(t *testing.T) {
	for name, want := range map[string]string{
		"parseConfig": "parse config", "parse_config": "parse config", "HTTPServer2": "http server 2", "__init__": "init", "x": "x", "": "",
		"URL": "url", "getURLs": "get ur ls", "sha256Sum": "sha 256 sum", "größeÄndern": "größe ändern", "_": "", "src/a.py": "src a py", "\xff": "",
	} {
		if got := strings.Join(segments(name), " "); got != want {
			t.Errorf("segments(%q) = %q, want %q", name, got, want)
		}
	}
	if got := words(`where is "parse_config" AND -x* (y:z)? parse_config`); !slices.Equal(got, []string{"where", "is", "parse_config", "AND", "x", "y", "z"}) {
		t.Errorf("words: %q", got)
	}
}

// Whatever is written as a target or a query, Run answers or refuses.
func FuzzRun(f *testing.F) {
	m := load(f, star(2, 1)+"miss calls hub.py::hub x 3\n")
	for _, s := range []string{"hub", "(*T).M(x)", "a.py::b", ":", "::", "a:0", "a:99999999999999999999", "(", ").", "x.", ".x", "/", "./", "\xff(", "hub.py:1", "hub()", "(hub).x()"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, r := range []Request{{Kind: KindImpact, Target: s}, {Kind: KindSymbols, Query: s}, {Kind: KindMap, PathPrefix: s}, {Kind: KindRelatedTests, Paths: []string{s}}} {
			a, err := Run(context.Background(), m, r)
			if err == nil {
				if n := len(body(t, a)); n > DefaultMaxBytes {
					t.Errorf("%+v: %d bytes", r, n)
				}
			} else if fault.CodeOf(err) == "" {
				t.Errorf("%+v: %v has no code", r, err)
			}
		}
	})
}
