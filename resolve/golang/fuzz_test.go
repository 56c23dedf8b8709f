package golang_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	extract "github.com/exhibit-dev/exhibit/extract/golang"
	"github.com/exhibit-dev/exhibit/resolve/golang"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// FuzzResolve resolves two files of any bytes in one package: no panic, no
// endless recursion, and every verdict in the form that package graph documents.
func FuzzResolve(f *testing.F) {
	fixtures, _ := filepath.Glob("../../testdata/golang/*.txtar")
	for _, name := range fixtures {
		b, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		var sources []string
		for _, file := range txtar.Parse(b).Files {
			if filepath.Ext(file.Name) == ".go" {
				sources = append(sources, string(file.Data))
			}
		}
		for i := range sources {
			f.Add(sources[i], sources[(i+1)%len(sources)])
		}
	}
	for _, seed := range []string{
		"package a\ntype A struct{ *B }\ntype B struct{ *A }\nfunc f(a A) { a.x(); a.B.A.y() }",
		"package a\ntype A A\ntype B = C\ntype C = B\nfunc f(a A, b B) { a.x(); b.x() }",
		"package a\ntype A[P any] struct{ n *A[A[P]] }\nfunc f(a A[int]) { a.n.n.n.n.n.x() }",
		"package a\ntype I interface{ J; J; M() }\ntype J interface{ I; I }\nfunc f(i I) { i.M(); i.N() }",
		"package a\nvar x = y\nvar y = x\nfunc f() { x.m(); z := z; z.m() }",
		"package a\nfunc g[T ~[]T](t T) T { return g(g(t)) }\nfunc f() { g(f).x() }",
		"package a\ntype P[A, B any] struct{}\nfunc (p P[A, B]) D() P[P[A, B], P[A, B]] { return p.D().D().D().D() }",
	} {
		f.Add(seed, seed)
	}
	p := flat.NewParser()
	f.Fuzz(func(t *testing.T, a, b string) {
		in := &graph.Input{Paths: []string{"a.go", "b_linux.go"}, Config: []graph.ConfigFile{{Path: "go.mod", Bytes: []byte(a)}}}
		for i, src := range []string{a, b} {
			file, err := extract.Extract(p, in.Paths[i], "go", []byte(src))
			if err != nil {
				return
			}
			in.Files = append(in.Files, file)
		}
		part, err := golang.Resolve(context.Background(), in)
		if err != nil {
			t.Fatal(err)
		}
		for i, file := range in.Files {
			if len(part[i]) != len(file.Refs) {
				t.Fatalf("%d verdicts for %d references", len(part[i]), len(file.Refs))
			}
			for _, v := range part[i] {
				if (v.Outcome == graph.OutcomeResolved) != (len(v.Targets) == 1 && v.Outcome != graph.OutcomeCandidate) {
					t.Fatalf("verdict %+v", v)
				}
				for _, d := range v.Targets {
					if in.Files[d.File].Defs[d.Def].Kind == facts.KindLambda {
						t.Fatalf("target of %+v is a lambda", v)
					}
				}
			}
		}
		again, err := golang.Resolve(context.Background(), in)
		if err != nil || !reflect.DeepEqual(part, again) {
			t.Fatal("resolving twice gives two answers")
		}
	})
}
