package golang_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	extract "github.com/exhibit-dev/exhibit/extract/golang"
	"github.com/exhibit-dev/exhibit/resolve/golang"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// TestManyImplementations pins the bound: beyond it candidates are counted, and
// the interface's method stays one of them.
func TestManyImplementations(t *testing.T) {
	var src strings.Builder
	src.WriteString("package a\n\nfunc use(i I) { i.M() }\n\n")
	for k := range 23 {
		fmt.Fprintf(&src, "type T%02d struct{}\n\nfunc (T%02d) M() {}\n\n", k, k)
	}
	src.WriteString("type I interface{ M() }\n")
	p := flat.NewParser()
	defer p.Close()
	f, err := extract.Extract(p, "a.go", "go", []byte(src.String()))
	if err != nil {
		t.Fatal(err)
	}
	part, err := golang.Resolve(context.Background(), &graph.Input{Files: []*facts.File{f}, Paths: []string{"a.go"}})
	if err != nil {
		t.Fatal(err)
	}
	for j, r := range f.Refs {
		if r.Kind != facts.RefCall {
			continue
		}
		v := part[0][j]
		if v.Outcome != graph.OutcomeCandidate || len(v.Targets) != 21 || v.Omitted != 3 {
			t.Fatalf("outcome %d, %d targets, %d omitted; want a candidate, 21 and 3", v.Outcome, len(v.Targets), v.Omitted)
		}
		if last := f.Text(f.Defs[v.Targets[20].Def].Qual); last != "I.M" {
			t.Errorf("last target is %s, want the interface's own I.M", last)
		}
		if nineteenth := f.Text(f.Defs[v.Targets[19].Def].Qual); nineteenth != "T19.M" {
			t.Errorf("target 19 is %s, want T19.M", nineteenth)
		}
	}
}
