package resolve_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// TestManyCandidates asks that a call that a hundred types could answer gets
// only so many edges, the declaration that the source names among them though it
// stands last, and that the rest is said to be left out.
func TestManyCandidates(t *testing.T) {
	many := func(line string) string {
		var b strings.Builder
		for i := range 100 {
			fmt.Fprintf(&b, line+"\n", i)
		}
		return b.String()
	}
	for _, c := range []struct {
		name  string
		files map[string]string
		edges int
	}{
		{"go", map[string]string{
			"go.mod": "module m\n",
			"a.go":   "package m\n" + many("type t%[1]d struct{}; func (t%[1]d) run() {}"),
			"z.go":   "package m\ntype i interface{ run() }\nfunc f(x i) { x.run() }\n"}, 21},
		{"python", map[string]string{
			"a.py": "from z import Base\n" + many("class T%d(Base):\n    def run(self): pass"),
			"z.py": "class Base:\n    def run(self): pass\n    def go(self): self.run()\n"}, 64},
		{"typescript", map[string]string{
			"a.ts": "import { Base } from './z'\n" + many("class T%d extends Base { run() {} }"),
			"z.ts": "export class Base {\n  run() {}\n  go() { this.run() }\n}\n"}, 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := &graph.Input{}
			p := flat.NewParser()
			defer p.Close()
			for _, path := range []string{"a.go", "a.py", "a.ts", "go.mod", "z.go", "z.py", "z.ts"} {
				src, ok := c.files[path]
				if !ok {
					continue
				}
				in.Paths = append(in.Paths, path)
				if resolve.ConfigFile(path) {
					in.Config = append(in.Config, graph.ConfigFile{Path: path, Bytes: []byte(src)})
				}
				if language := extract.Language(path); language != "" {
					in.Files = append(in.Files, extract.File(p, path, language, []byte(src)))
				}
			}
			g, err := resolve.Resolve(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			edges, declared, mentions := 0, false, 0
			for _, e := range g.Edges {
				if e.Kind == graph.Calls && e.Site.Name == "run" {
					edges++
					declared = declared || strings.HasPrefix(g.Nodes[e.To].Path, "z.")
				}
			}
			for _, u := range g.Unresolved {
				if u.Site.Name == "run" && u.Reason == graph.ReasonTooManyTargets {
					mentions++
				}
			}
			if edges != c.edges || !declared || mentions != 1 {
				t.Errorf("%d edges (want %d), the declaration among them: %v, %d mentions (want 1)", edges, c.edges, declared, mentions)
			}
		})
	}
}
