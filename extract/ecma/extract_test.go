package ecma

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// languageOf is the registry's rule, for the tests of this package.
func languageOf(path string) string {
	switch filepath.Ext(path) {
	case ".js", ".jsx", ".mjs", ".cjs":
		return "javascript"
	case ".ts", ".mts", ".cts":
		return "typescript"
	case ".tsx":
		return "tsx"
	}
	return ""
}

// TestCorpus extracts every file below the folder that ECMA_CORPUS names: no
// panic, every range inside the file.
func TestCorpus(t *testing.T) {
	root := os.Getenv("ECMA_CORPUS")
	if root == "" {
		t.Skip("ECMA_CORPUS names no folder")
	}
	p := flat.NewParser()
	defer p.Close()
	var files, bytes, partial, blanked, defs, refs, exprs int
	var parse, whole time.Duration
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			if e != nil && (e.Name() == ".git") {
				return fs.SkipDir
			}
			return err
		}
		lang := languageOf(path)
		if lang == "" {
			return nil
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		t0 := time.Now()
		p.Parse(dialectOf(lang).lang, src, flat.Options{})
		parse += time.Since(t0)
		t0 = time.Now()
		f, err := Extract(p, path, lang, src)
		whole += time.Since(t0)
		if err != nil {
			t.Fatal(err)
		}
		check(t, f, src)
		files++
		bytes += len(src)
		if f.Status == facts.Partial {
			partial++
			if os.Getenv("ECMA_VERBOSE") != "" {
				s := f.Damage[0]
				t.Log("partial", path, 1+strings.Count(string(src[:s.Start]), "\n"), s)
			}
		}
		if len(f.Blanked) > 0 {
			blanked++
		}
		defs += len(f.Defs)
		refs += len(f.Refs)
		exprs += len(f.Exprs)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d files, %d bytes, %d partial, %d blanked, %d defs, %d refs, %d exprs; parse %v, extract (with parse) %v", files, bytes, partial, blanked, defs, refs, exprs, parse, whole)
}

// check holds the invariants of any file's facts.
func check(t testing.TB, f *facts.File, src []byte) {
	t.Helper()
	n := uint32(len(src))
	span := func(what string, s facts.Span) {
		if s.Start > s.End || s.End > n {
			t.Fatalf("%s: %s range %v outside %d bytes", f.Path, what, s, n)
		}
	}
	for i, d := range f.Defs {
		span("def", d.Span)
		span("name", facts.Span{Start: d.NameStart, End: d.NameEnd})
		if int(d.Parent) >= i {
			t.Fatalf("%s: def %d comes before its container %d", f.Path, i, d.Parent)
		}
		if int(d.Body) >= len(f.Scopes) || int(d.Scope) >= len(f.Scopes) {
			t.Fatalf("%s: def %d has no such scope", f.Path, i)
		}
	}
	last := uint32(0)
	for _, r := range f.Refs {
		span("ref", r.Span)
		span("site", r.Site)
		if r.Start < last {
			t.Fatalf("%s: references out of order at %d", f.Path, r.Start)
		}
		last = r.Start
	}
	for _, e := range f.Exprs {
		span("expr", e.Span)
	}
	for i, k := range f.Kids {
		if int(k) >= len(f.Exprs) {
			t.Fatalf("%s: kid %d points nowhere", f.Path, i)
		}
	}
	for _, s := range f.Damage {
		span("damage", s)
	}
	for i, s := range f.Scopes {
		span("scope", s.Span)
		if int(s.Parent) >= i {
			t.Fatalf("%s: scope %d comes before its parent", f.Path, i)
		}
	}
}
