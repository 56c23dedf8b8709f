package textindex

import (
	"context"
	"fmt"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestTerms(t *testing.T) {
	for text, want := range map[string]string{
		"parseHTTPResponse_v2": "parsehttpresponse_v2 parsehttpresponse parse http response v2 v 2",
		"snake_case_name":      "snake_case_name snake case name",
		"HTTPServer":           "httpserver http server",
		"__init__":             "init",
		"ID":                   "id",
		"a/b-c.py":             "a b c py",
		"Größe":                "größe",
		"sha256sum":            "sha256sum sha 256 sum",
		"x x X":                "x",
		"":                     "",
		"*:\"AND\" OR (":       "and or",
		"\xff\xfeok":           "ok",
	} {
		if got := strings.Join(Terms(text), " "); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzTerms(f *testing.F) {
	f.Add("parseHTTPResponse_v2 é\xff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, term := range Terms(text) {
			if term == "" || !utf8.ValidString(term) || strings.ContainsAny(term, " \t\n\"*:()") {
				t.Errorf("term %q of %q", term, text)
			}
		}
	})
}

var words = []string{"parse", "config", "Client", "get", "send", "HTTP"}

func build(t *testing.T, n int) *Index {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "text")
	got, err := Build(context.Background(), dir, t.TempDir(), func(yield func(Document, error) bool) {
		for i := range n {
			d := Document{ID: uint32(i), Texts: []string{words[i%6] + "_" + words[i/6%6], "Q." + words[i%5], fmt.Sprintf("dir%d/file.py", i%3), "def f(x)"}}
			if !yield(d, nil) {
				return
			}
		}
	})
	if err != nil || got != n {
		t.Fatal(got, err)
	}
	x, err := Open(context.Background(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// TestCandidatesAreDeterministic: two indexes of the same documents, which
// differ in bytes, nominate the same nodes in the same order.
func TestCandidatesAreDeterministic(t *testing.T) {
	a, b := build(t, 3500), build(t, 3500)
	if n, err := a.Count(); err != nil || n != 3500 {
		t.Fatal(n, err)
	}
	for _, q := range [][]string{{"parse"}, {"parse", "config"}, {"parse_config"}, {"dir1", "client", "absent"}, {"nothing"}, {"*"}, {"t:parse"}, nil} {
		x, err := a.Candidates(context.Background(), q, 50)
		y, err2 := b.Candidates(context.Background(), q, 50)
		if err != nil || err2 != nil || !reflect.DeepEqual(x, y) {
			t.Errorf("%q: %v and %v, %v %v", q, x, y, err, err2)
		}
	}
}

func TestMoreWordsComeFirst(t *testing.T) {
	x := build(t, 200)
	got, err := x.Candidates(context.Background(), []string{"client", "get"}, 200)
	if err != nil || len(got) == 0 {
		t.Fatal(got, err)
	}
	bears := func(id uint32) int {
		text := strings.ToLower(words[id%6] + " " + words[id/6%6] + " " + words[id%5])
		n := 0
		for _, w := range []string{"client", "get"} {
			if strings.Contains(text, w) {
				n++
			}
		}
		return n
	}
	if !slices.IsSortedFunc(got, func(a, b uint32) int {
		if d := bears(b) - bears(a); d != 0 {
			return d
		}
		return int(a) - int(b)
	}) {
		t.Errorf("not in order: %v", got)
	}
	if few, err := x.Candidates(context.Background(), []string{"client", "get"}, 3); err != nil || !slices.Equal(few, got[:3]) {
		t.Errorf("the first three are %v of %v, %v", few, got[:3], err)
	}
}

func TestOpenTwice(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "text")
	if _, err := Build(context.Background(), dir, t.TempDir(), func(yield func(Document, error) bool) { yield(Document{ID: 7, Texts: []string{"only"}}, nil) }); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		x, err := Open(context.Background(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer x.Close()
		if got, err := x.Candidates(context.Background(), []string{"only"}, 9); err != nil || !slices.Equal(got, []uint32{7}) {
			t.Error(got, err)
		}
	}
	if _, err := Open(context.Background(), t.TempDir()); err == nil {
		t.Error("an empty folder opens as an index")
	}
}

func TestEmptyIndex(t *testing.T) {
	x := build(t, 0)
	if got, err := x.Candidates(context.Background(), []string{"x"}, 5); err != nil || len(got) != 0 {
		t.Error(got, err)
	}
}

func TestDocumentErrorStopsTheBuild(t *testing.T) {
	_, err := Build(context.Background(), filepath.Join(t.TempDir(), "text"), t.TempDir(), func(yield func(Document, error) bool) {
		yield(Document{}, fmt.Errorf("cannot read"))
	})
	if err == nil {
		t.Error("built all the same")
	}
}
