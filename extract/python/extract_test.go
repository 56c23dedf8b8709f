package python

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// corpus reads the Python files below the folder that PYTHON_CORPUS names.
func corpus(t testing.TB) map[string][]byte {
	root := os.Getenv("PYTHON_CORPUS")
	if root == "" {
		t.Skip("PYTHON_CORPUS names no folder")
	}
	files := map[string][]byte{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(p, ".py") {
			return err
		}
		src, err := os.ReadFile(p)
		files[p] = src
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestCorpus(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	partial := 0
	for path, src := range corpus(t) {
		f, err := Extract(p, path, "python", src)
		if err != nil {
			t.Log(path, err)
			continue
		}
		check(t, f, src)
		if f.Status == facts.Partial {
			partial++
			t.Log(path, f.Damage)
		}
	}
	t.Log(partial, "partial")
}

// check verifies what must hold of the facts of any bytes.
func check(t testing.TB, f *facts.File, src []byte) {
	t.Helper()
	size := uint32(len(src))
	within := func(what string, s facts.Span) {
		if s.Start > s.End || s.End > size {
			t.Errorf("%s: %s %v outside of %d bytes", f.Path, what, s, size)
		}
	}
	for i, r := range f.Refs {
		within("reference", r.Span)
		within("site", r.Site)
		if i > 0 && f.Refs[i-1].Start > r.Start {
			t.Errorf("%s: references out of order at %d", f.Path, i)
		}
	}
	for i, d := range f.Defs {
		within("definition", d.Span)
		within("name", facts.Span{Start: d.NameStart, End: d.NameEnd})
		if d.NameStart < d.Start || d.NameEnd > d.End || d.BodyStart < d.Start || d.BodyStart > d.End {
			t.Errorf("%s: definition %s: name %d-%d or body %d outside of %v", f.Path, f.Text(d.Qual), d.NameStart, d.NameEnd, d.BodyStart, d.Span)
		}
		if d.Parent >= facts.DefID(i) {
			t.Errorf("%s: definition %d comes before its parent %d", f.Path, i, d.Parent)
		}
	}
	for i, s := range f.Scopes {
		within("scope", s.Span)
		if s.Parent >= facts.ScopeID(i) {
			t.Errorf("%s: scope %d comes before its parent", f.Path, i)
		}
	}
	for _, b := range f.Bindings {
		within("binding", b.Span)
	}
	for _, x := range f.Exprs {
		within("expression", x.Span)
	}
	for i, d := range f.Damage {
		within("damage", d)
		if i > 0 && f.Damage[i-1].End > d.Start {
			t.Errorf("%s: damage overlaps: %v %v", f.Path, f.Damage[i-1], d)
		}
	}
	for _, i := range f.Imports {
		if i.Ref >= int32(len(f.Refs)) || i.Ref >= 0 && f.Refs[i.Ref].Kind != facts.RefImport {
			t.Errorf("%s: import of %q has no reference", f.Path, f.Text(i.Module))
		}
	}
}

func FuzzExtract(f *testing.F) {
	for _, seed := range []string{
		"", "x = 1\n", "class A(B[\"C\"]):\n  @p\n  async def f(self, *a: T, **k): return await self.g(x for x in a)\n",
		"def f(:\n  pass\n", "match x:\n  case C(a=1) as y if z: pass\n", "from . import (a as b, *)\n", "x: \"List[a.b | 'c', ...\" = lambda: (yield)\n",
		"def f():\r  x\rclass C:\r  def m(self): pass\r", "global a; nonlocal b; del c, d.e\n", "[x for x in y if (z := x)]\n", "type A[T: int] = list[T]\n",
		"<<<<<<< a\ndef f(): pass\n=======\ndef f(): pass\n>>>>>>> b\n",
	} {
		f.Add([]byte(seed))
	}
	p := flat.NewParser()
	f.Cleanup(p.Close)
	f.Fuzz(func(t *testing.T, src []byte) {
		file, err := Extract(p, "test_f.py", "python", src)
		if err == nil {
			check(t, file, src)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	files := corpus(b)
	p := flat.NewParser()
	defer p.Close()
	size := int64(0)
	for _, s := range files {
		size += int64(len(s))
	}
	b.SetBytes(size)
	b.ResetTimer()
	for b.Loop() {
		for _, src := range files {
			p.Parse(language, src, flat.Options{})
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	files := corpus(b)
	p := flat.NewParser()
	defer p.Close()
	size := int64(0)
	for _, s := range files {
		size += int64(len(s))
	}
	b.SetBytes(size)
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		for path, src := range files {
			Extract(p, path, "python", src)
		}
	}
}
