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

// FuzzExtract holds the invariants on any bytes, in each language.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{
		"", "export default class extends A.B<C> { @d() static #x = () => this; constructor(private y: T = 1) { super() } }",
		"const { a, b: [c = d(), ...e], ...f } = require('m'); module.exports = { f() {}, get g() { return 1 } }",
		"interface A<in T> extends B { (x: T): void\n <U>(y: U): void; [k: string]: any; m?(): this }",
		"export type * from 'x'; export { a as catch }; import defer * as n from 'y'; import q = A.B; export = q",
		"for await (const [x] of y) { switch (x) { case 1: let z; function g() {} } } try {} catch ({ e }) {}",
		"type M<T> = { [K in keyof T as `x${K}`]: T[K] extends infer U ? U : never }", "<<<<<<< a\nfunction f( {\n=======\n}",
		"function f(a, { b }, ...[c]) { a = b; this.x = c; f.y = () => {}; return <A.B c={d}>{...e}</A.B> }", "\"\\", "/*", "await using x = y",
	} {
		for language := range 3 {
			f.Add(s, byte(language))
		}
	}
	languages := []string{"javascript", "typescript", "tsx"}
	p := flat.NewParser()
	f.Fuzz(func(t *testing.T, src string, language byte) {
		if len(src) > 1<<14 {
			return
		}
		file, err := Extract(p, "f", languages[int(language)%3], []byte(src))
		if err != nil {
			t.Fatal(err)
		}
		check(t, file, []byte(src))
	})
}

func TestTestFile(t *testing.T) {
	for name, want := range map[string]bool{
		"src/a.test.ts": true, "src/a.spec.tsx": true, "a.test-d.ts": true, "src/__tests__/a.js": true, "test/util.ts": true, "tests/x/y.mjs": true,
		"src/test.ts": false, "src/latest.ts": false, "src/contest/a.ts": false, "lib/testing.js": false,
	} {
		if got := TestFile(name); got != want {
			t.Errorf("TestFile(%q) = %v", name, got)
		}
	}
}

// TestRefusals: what is not UTF-8, and what nests beyond the parser's bound, is
// told by a code.
func TestRefusals(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	for want, src := range map[string]string{
		"unsupported_encoding": "const caf\xe9 = 1",
		"too_deep":             "x = " + strings.Repeat("[", 11_000) + strings.Repeat("]", 11_000),
	} {
		f, err := Extract(p, "a.js", "javascript", []byte(src))
		if err != nil || f.Status != facts.Failed || f.Failure != want {
			t.Errorf("%v, status %v, failure %q, want %q", err, f.Status, f.Failure, want)
		}
	}
	if _, err := Extract(p, "a.py", "python", nil); err == nil {
		t.Error("another language was accepted")
	}
}

// TestBlanked: a replaced construct is told, and names come from the file.
func TestBlanked(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	src := "export class C { abstract?: boolean }\nexport type * from './x'\n"
	f, err := Extract(p, "a.ts", "typescript", []byte(src))
	if err != nil || f.Status != facts.Parsed {
		t.Fatal(err, f.Status, f.Damage)
	}
	if len(f.Blanked) != 2 || src[f.Blanked[0].Start:f.Blanked[0].End] != "abstract" || src[f.Blanked[1].Start:f.Blanked[1].End] != "type" {
		t.Errorf("blanked %v", f.Blanked)
	}
	if f.Text(f.Defs[1].Qual) != "C.abstract" {
		t.Errorf("field is called %q", f.Text(f.Defs[1].Qual))
	}
	// A sound file is parsed once, whatever words are in it.
	if f, _ = Extract(p, "a.ts", "typescript", []byte("let type = 1; type * 2")); len(f.Blanked) != 0 {
		t.Errorf("blanked %v of a sound file", f.Blanked)
	}
}
