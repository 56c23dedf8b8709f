package python_test

import (
	"context"
	"fmt"
	"path"
	"reflect"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	extract "github.com/exhibit-dev/exhibit/extract/python"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/resolve/marker"
	"github.com/exhibit-dev/exhibit/resolve/python"
)

// TestFixtures runs the small repositories of testdata/python: what each
// reference must become is written beside it.
func TestFixtures(t *testing.T) {
	marker.Run(t, "../../testdata/python", marker.Language{
		Comment: "#@",
		Name: func(name string) string {
			switch path.Ext(name) {
			case ".py", ".pyi":
				return "python"
			}
			return ""
		},
		Extract: extract.Extract,
		Resolve: python.Resolve,
	})
}

// TestCancelled: a resolution whose context is done ends with its error.
func TestCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	in := input(t, map[string]string{"m.py": "def f(): pass\nf()\n"})
	if _, err := python.Resolve(ctx, in); err != context.Canceled {
		t.Errorf("got %v, want %v", err, context.Canceled)
	}
	if part, err := python.Resolve(context.Background(), &graph.Input{}); err != nil || len(part) != 0 {
		t.Errorf("no files: got %v, %v", part, err)
	}
}

// verdictOf resolves and gives the verdict of the first reference that bears a
// name in a file.
func verdictOf(t *testing.T, in *graph.Input, file, name string) graph.Verdict {
	t.Helper()
	part, err := python.Resolve(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range in.Files {
		for j, r := range f.Refs {
			if f.Path == file && f.Text(r.Name) == name {
				return part[i][j]
			}
		}
	}
	t.Fatalf("no reference %s in %s", name, file)
	panic("unreachable")
}

// The operator's source roots are searched, and nothing is without them.
func TestSourceRoots(t *testing.T) {
	files := map[string]string{"deep/lib/mod.py": "def f(): pass\n", "app/use.py": "import mod\nmod.f()\n"}
	in := input(t, files)
	if v := verdictOf(t, in, "app/use.py", "f"); v.Outcome != graph.OutcomeExternal {
		t.Errorf("without source roots: %+v", v)
	}
	in.SourceRoots = []string{"deep/lib/"}
	if v := verdictOf(t, in, "app/use.py", "f"); v.Outcome != graph.OutcomeResolved || len(v.Targets) != 1 {
		t.Errorf("with source roots: %+v", v)
	}
	in.SourceRoots = []string{"../..", "/", ""}
	if v := verdictOf(t, in, "app/use.py", "f"); v.Outcome != graph.OutcomeExternal {
		t.Errorf("with roots outside: %+v", v)
	}
}

// An import of a file that is there but not indexed is not an external one.
func TestNotIndexed(t *testing.T) {
	in := input(t, map[string]string{"use.py": "import big\nimport big2\n"})
	in.Paths = append(in.Paths, "big.py")
	if v := verdictOf(t, in, "use.py", "big"); v.Outcome != graph.OutcomeUnresolved || v.Reason != graph.ReasonNotIndexed {
		t.Errorf("got %+v", v)
	}
	if v := verdictOf(t, in, "use.py", "big2"); v.Outcome != graph.OutcomeExternal {
		t.Errorf("got %+v", v)
	}
}

// Facts that went through the cache resolve to the same verdicts.
func TestDecodedFacts(t *testing.T) {
	in := input(t, map[string]string{
		"a.py": "class A:\n    def m(self): return self\n", "b.py": "from a import A\ndef f(x: A):\n    x.m().m()\n    A().m()\n",
	})
	want, err := python.Resolve(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	for i, f := range in.Files {
		if in.Files[i], err = facts.Decode(facts.Encode(f)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := python.Resolve(context.Background(), in)
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("verdicts differ after a round trip (%v)", err)
	}
}

// Values that would double with each line are forgotten, not followed.
func TestBoundedValues(t *testing.T) {
	var src strings.Builder
	src.WriteString("class A:\n    def m(self): pass\nx0 = (A(), A())\nT0 = tuple[A, A]\n")
	for i := 1; i < 60; i++ {
		fmt.Fprintf(&src, "x%d = (x%d, x%d)\nT%d = tuple[T%d, T%d]\n", i, i-1, i-1, i, i-1, i-1)
	}
	src.WriteString("def f(c, t: T59):\n    return x59 if c else t\nf(1, 2)[0][0].m()\n(x59 if f else x58)[0].m()\nA().m()\n")
	in := input(t, map[string]string{"m.py": src.String()})
	if v := verdictOf(t, in, "m.py", "f"); v.Outcome != graph.OutcomeResolved {
		t.Errorf("got %+v", v)
	}
}
