package marker

import (
	"context"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// fake is a language of one rule: every word is a call of the definition that
// the first line of the first file makes, and "x" is external.
var fake = Language{
	Comment: "//@",
	Name:    func(path string) string { return "fake" },
	Extract: func(_ *flat.Parser, path, language string, src []byte) (*facts.File, error) {
		b := facts.NewBuilder(path, language, uint32(len(src)))
		name := b.Str("Thing")
		b.Def(facts.Def{Kind: facts.KindFunction, Flags: facts.FlagTest, Name: name, Qual: name, Span: facts.Span{Start: 0, End: 5}, NameEnd: 5})
		offset := uint32(0)
		for _, line := range strings.SplitAfter(string(src), "\n") {
			if word, _, _ := strings.Cut(strings.TrimSpace(line), " "); word != "" && !strings.HasPrefix(word, "//@") {
				b.Ref(facts.Ref{Kind: facts.RefCall, Name: b.Str(word), Span: facts.Span{Start: offset, End: offset + uint32(len(word))}})
			}
			offset += uint32(len(line))
		}
		return b.File, nil
	},
	Resolve: func(_ context.Context, in *graph.Input) (graph.Part, error) {
		var part graph.Part
		for i, f := range in.Files {
			var v []graph.Verdict
			for _, r := range f.Refs {
				if f.Text(r.Name) == "x" {
					v = append(v, graph.Verdict{Outcome: graph.OutcomeExternal, Reason: "r", Target: "t.x"})
					continue
				}
				v = append(v, graph.Verdict{Outcome: graph.OutcomeResolved, Rule: "rule", Targets: []graph.DefRef{{File: int32(i)}}})
			}
			part = append(part, v)
		}
		return part, nil
	},
}

func TestClauses(t *testing.T) {
	for _, tc := range []struct {
		text string
		ok   bool
	}{
		{"word //@ calls Thing resolved_static rule", true},
		{"word //@ calls a::Thing", true},
		{"word //@ calls b::Thing", false},
		{"word //@ calls word=Thing", true},
		{"word //@ calls other=Thing", false},
		{"word //@ calls Thing candidate", false},
		{"word //@ calls Thing resolved_static other", false},
		{"word //@ references Thing", false},
		{"word //@ none", false},
		{"word //@ none other", true},
		{"x //@ external t.x", true},
		{"x //@ external; none", true},
		{"x //@ external t.y", false},
		{"x //@ unresolved", false},
		{"//@ calls Thing\nword", true},
		{"//@ external\nword", false},
		{"word //@ def function Thing test !damaged", true},
		{"word //@ def function Thing !test", false},
		{"word //@ def method Thing", false},
		{"word //@ status parsed", true},
		{"word //@ status partial", false},
	} {
		problems, err := Check(&txtar.Archive{Files: []txtar.File{{Name: "a", Data: []byte(tc.text + "\n")}}}, fake)
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
		} else if (len(problems) == 0) != tc.ok {
			t.Errorf("%q: ok = %v, want %v: %v", tc.text, len(problems) == 0, tc.ok, problems)
		}
	}
}

func TestBadFixtures(t *testing.T) {
	for _, text := range []string{"word\n", "word //@ cals Thing\n", "word //@ calls Thing;\n", "word\n//@ calls Thing"} {
		if _, err := Check(&txtar.Archive{Files: []txtar.File{{Name: "a", Data: []byte(text)}}}, fake); err == nil {
			t.Errorf("%q: no error", text)
		}
	}
}
