package ecma_test

import (
	"context"
	"path"
	"reflect"
	"testing"

	extract "github.com/exhibit-dev/exhibit/extract/ecma"
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve/ecma"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/resolve/marker"
)

// TestFixtures checks the small repositories of testdata, whose expectations
// stand beside the lines that make them.
func TestFixtures(t *testing.T) {
	marker.Run(t, "../../testdata/ecma", marker.Language{
		Comment: "//@",
		Name: func(name string) string {
			switch path.Ext(name) {
			case ".js", ".jsx", ".mjs", ".cjs":
				return "javascript"
			case ".ts", ".mts", ".cts":
				return "typescript"
			case ".tsx":
				return "tsx"
			}
			return ""
		},
		Extract: extract.Extract,
		Resolve: ecma.Resolve,
	})
}

// FuzzResolve: whatever the bytes, resolution ends, and gives one verdict for
// each reference, of a form that the graph's package documents.
func FuzzResolve(f *testing.F) {
	for _, s := range []string{
		"import a from './f'; export default a; export * from './f'; a.b.c()",
		"type A = B[]; type B = A | { x: B }; let v: A; v.x.y(); class C extends C { m() { this.m(); super.m() } }",
		"const x = f(x); function f<T extends T>(y: T): typeof x { return f(f(y)) } let z = z.z(() => z)",
		"interface I<T = I<I<T>>> extends I<T> { m(): this } declare const i: I; i.m().m()",
		"type D<T> = T extends D<infer U> ? D<D<U>> : never; let d: D<D<string>>; d.x()",
		"module.exports = module.exports; exports.f = exports.f; require('./f').f()",
	} {
		f.Add(s, `{"compilerOptions": {"paths": {"*": ["./*"]}}, "extends": "./tsconfig.json",}`)
	}
	p := flat.NewParser()
	f.Fuzz(func(t *testing.T, src, config string) {
		if len(src) > 1<<12 || len(config) > 1<<12 {
			return
		}
		file, err := extract.Extract(p, "f.ts", "typescript", []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		in := &graph.Input{Files: []*facts.File{file}, Paths: []string{"f.ts"}}
		for _, name := range []string{"package.json", "pnpm-workspace.yaml", "tsconfig.json"} {
			in.Config = append(in.Config, graph.ConfigFile{Path: name, Bytes: []byte(config)})
		}
		part, err := ecma.Resolve(context.Background(), in)
		if err != nil || len(part) != 1 || len(part[0]) != len(file.Refs) {
			t.Fatalf("%v: %d verdicts for %d references", err, len(part[0]), len(file.Refs))
		}
		if again, _ := ecma.Resolve(context.Background(), in); !reflect.DeepEqual(part, again) {
			t.Fatal("two runs differ")
		}
		for j, v := range part[0] {
			if (v.Outcome == graph.OutcomeResolved) != (len(v.Targets) == 1 && v.Outcome != graph.OutcomeCandidate) ||
				v.Outcome == graph.OutcomeCandidate && len(v.Targets) == 0 {
				t.Fatalf("reference %d: outcome %d with %d targets", j, v.Outcome, len(v.Targets))
			}
		}
	})
}
