package python_test

import (
	"context"
	"path"
	"testing"

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
