package python_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	extract "github.com/exhibit-dev/exhibit/extract/python"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/resolve/python"
)

// corpus extracts the Python files below the folder that PYTHON_CORPUS names.
func corpus(t testing.TB) *graph.Input {
	root := os.Getenv("PYTHON_CORPUS")
	if root == "" {
		t.Skip("PYTHON_CORPUS names no folder")
	}
	p := flat.NewParser()
	defer p.Close()
	in := &graph.Input{}
	begin := time.Now()
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, name)
		rel = filepath.ToSlash(rel)
		in.Paths = append(in.Paths, rel)
		if !strings.HasSuffix(name, ".py") {
			return nil
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		f, err := extract.Extract(p, rel, "python", src)
		if err != nil {
			f = facts.NewBuilder(rel, "python", uint32(len(src))).File
			f.Status = facts.Failed
		}
		in.Files = append(in.Files, f)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files extracted in %v", len(in.Files), time.Since(begin))
	return in
}

// TestCorpusResolves resolves a large tree twice: it ends, and gives the same
// verdicts.
func TestCorpusResolves(t *testing.T) {
	in := corpus(t)
	begin := time.Now()
	part, err := python.Resolve(context.Background(), in)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("resolved in %v", time.Since(begin))
	counts := map[graph.Outcome]int{}
	reasons := map[string]int{}
	for _, vs := range part {
		for _, v := range vs {
			counts[v.Outcome]++
			reasons[v.Rule+v.Reason]++
		}
	}
	t.Log(counts, reasons)
	again, err := python.Resolve(context.Background(), in)
	if err != nil || !reflect.DeepEqual(part, again) {
		t.Errorf("a second resolution differs (%v)", err)
	}
}

// input extracts files that a test spells out.
func input(t testing.TB, files map[string]string) *graph.Input {
	t.Helper()
	p := flat.NewParser()
	defer p.Close()
	in := &graph.Input{}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		f, err := extract.Extract(p, name, "python", []byte(files[name]))
		if err != nil {
			t.Fatal(err)
		}
		in.Files = append(in.Files, f)
		in.Paths = append(in.Paths, name)
	}
	return in
}
