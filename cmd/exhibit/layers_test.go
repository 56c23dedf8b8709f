package main

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// layers is the house: data flows down this list and a package imports only
// packages above it.
var layers = []string{"snapshot", "extract", "resolve", "kv", "search", "packet", "verify", "cmd"}

const module = "github.com/exhibit-dev/exhibit/"

// TestLayers keeps the house: no package imports one that stands below it, and
// nothing outside the command line imports the command line's library.
func TestLayers(t *testing.T) {
	rank := map[string]int{}
	for i, l := range layers {
		rank[l] = i
	}
	root := filepath.Join("..", "..")
	seen := 0
	for _, layer := range layers {
		err := filepath.WalkDir(filepath.Join(root, layer), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") {
				return err
			}
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			seen++
			for _, imp := range f.Imports {
				name, _ := strconv.Unquote(imp.Path.Value)
				if strings.HasPrefix(name, "github.com/urfave/cli") && layer != "cmd" {
					t.Errorf("%s imports %s: only cmd does", path, name)
				}
				inner, ok := strings.CutPrefix(name, module)
				if !ok {
					continue
				}
				top, _, _ := strings.Cut(inner, "/")
				if to, ok := rank[top]; !ok || to > rank[layer] {
					t.Errorf("%s (%s) imports %s, which stands below it", path, layer, inner)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 10 {
		t.Fatalf("only %d files were looked at", seen)
	}
}
