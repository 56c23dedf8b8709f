package resolve_test

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// TestResolveTwice: the same facts give the same graph, whatever order maps and
// goroutines had. It reads this very repository, and those below $GOLD_REPOS.
func TestResolveTwice(t *testing.T) {
	dirs := []string{".."}
	if root := os.Getenv("GOLD_REPOS"); root != "" {
		more, _ := filepath.Glob(filepath.Join(root, "*"))
		dirs = append(dirs, more...)
	}
	for _, dir := range dirs {
		in := readTree(t, dir)
		again := func() *graph.Input { // Resolve takes the files over
			c := *in
			c.Files = nil
			for _, f := range in.Files {
				own := *f
				c.Files = append(c.Files, &own)
			}
			return &c
		}
		want, err := resolve.Resolve(context.Background(), again())
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			got, err := resolve.Resolve(context.Background(), again())
			if err != nil {
				t.Fatal(err)
			}
			if reflect.DeepEqual(got, want) {
				continue
			}
			for i := range min(len(got.Edges), len(want.Edges)) {
				if got.Edges[i] != want.Edges[i] {
					t.Fatalf("%s: edge %d: %+v, before %+v", dir, i, got.Edges[i], want.Edges[i])
				}
			}
			for i := range min(len(got.Unresolved), len(want.Unresolved)) {
				if got.Unresolved[i] != want.Unresolved[i] {
					t.Fatalf("%s: unresolved %d: %+v, before %+v", dir, i, got.Unresolved[i], want.Unresolved[i])
				}
			}
			t.Fatalf("%s: %d edges and %d unresolved, before %d and %d", dir, len(got.Edges), len(got.Unresolved), len(want.Edges), len(want.Unresolved))
		}
	}
}
