package python

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

func extractString(t *testing.T, path, src string) *facts.File {
	t.Helper()
	p := flat.NewParser()
	defer p.Close()
	f, err := Extract(p, path, "python", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	check(t, f, []byte(src))
	return f
}

// define gives kind and extent of a definition by its qualified name.
func define(t *testing.T, f *facts.File, src, qualified string) (facts.Def, string) {
	t.Helper()
	for _, d := range f.Defs {
		if f.Text(d.Qual) == qualified && d.Kind != facts.KindLambda {
			return d, src[d.Start:d.End]
		}
	}
	t.Fatalf("no definition %s", qualified)
	panic("unreachable")
}

// Case 23: a bare carriage return ends a line, as it does for Python; methods
// stay in their class and every offset is that of the original bytes.
func TestCarriageReturns(t *testing.T) {
	for _, end := range []string{"\r", "\n", "\r\n"} {
		src := strings.ReplaceAll("class C:\n  def m(self):\n    return 1\n  def n(self): pass\ndef f(): pass\n", "\n", end)
		f := extractString(t, "m.py", src)
		m, text := define(t, f, src, "C.m")
		if m.Kind != facts.KindMethod || !strings.HasPrefix(text, "def m(self):") || !strings.HasSuffix(text, "return 1") {
			t.Errorf("ends %q: C.m is a %v of %q", end, m.Kind, text)
		}
		if n, _ := define(t, f, src, "C.n"); n.Kind != facts.KindMethod {
			t.Errorf("ends %q: C.n is a %v", end, n.Kind)
		}
		if d, _ := define(t, f, src, "f"); d.Kind != facts.KindFunction || d.Parent != facts.None {
			t.Errorf("ends %q: f is a %v of %d", end, d.Kind, d.Parent)
		}
		if f.Status != facts.Parsed {
			t.Errorf("ends %q: %d", end, f.Status)
		}
	}
}

// Case 22: decorators belong to the definition.
func TestDecoratedExtent(t *testing.T) {
	src := "class C:\n    @property\n    @other(1)\n    def p(self): pass\n@final\nclass D: pass\n"
	f := extractString(t, "m.py", src)
	if d, text := define(t, f, src, "C.p"); !strings.HasPrefix(text, "@property") || src[d.NameStart:d.NameEnd] != "p" || !strings.HasPrefix(src[d.BodyStart:], "pass") {
		t.Errorf("C.p spans %q, body %q", text, src[d.BodyStart:d.End])
	}
	if _, text := define(t, f, src, "D"); !strings.HasPrefix(text, "@final") {
		t.Errorf("D spans %q", text)
	}
}

// Cases 26 to 28: what cannot be read is refused with a code, quickly.
func TestRefused(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	for name, c := range map[string]struct {
		src  string
		want error
	}{
		"latin-1":      {"s = '\xe9'\n", ErrEncoding},
		"parentheses":  {"x = " + strings.Repeat("(", 20_000) + strings.Repeat(")", 20_000), flat.ErrTooDeep},
		"terms":        {"x = a" + strings.Repeat(" + a", 20_000), flat.ErrTooDeep},
		"elif":         {"if a: pass\n" + strings.Repeat("elif a: pass\n", 5_000), nil},
		"a comment":    {"#" + strings.Repeat("x", 10<<20), nil},
		"empty":        {"", nil},
		"one function": {"def f(): pass", nil},
	} {
		_, err := Extract(p, "m.py", "python", []byte(c.src))
		if !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}

func TestTestFile(t *testing.T) {
	for path, want := range map[string]bool{
		"test_a.py": true, "a/b/c_test.py": true, "tests/helpers.py": true, "conftest.py": true, "x/test/y.py": true,
		"testing.py": false, "contest.py": false, "src/attest/a.py": false, "latest.py": false,
	} {
		if got := TestFile(path); got != want {
			t.Errorf("TestFile(%q) = %v", path, got)
		}
	}
}

func refs(f *facts.File, src string) []string {
	var out []string
	for _, r := range f.Refs {
		out = append(out, r.Kind.String()+" "+src[r.Start:r.End])
	}
	return out
}

// A name that the file shows to be a local value is no reference; a name in a
// string is one where the string is a type.
func TestReferences(t *testing.T) {
	for _, c := range []struct{ src, want string }{
		{"def f(a):\n    b = a\n    return b.c\n", "references c"},
		{"x: 'A | b.C[\"D\"]' = 1\n", "references A, references b, references C, references D"},
		{"x: Literal['A'] = y\n", "references Literal, references y"},
		{"x = 'A'\n", ""},
		{"import a.b as c, d\n", "imports b, imports d"},
		{"from .. import x\nfrom .m import (y as z, *)\n", "imports .., imports x, imports m, imports y"},
		{"@d\n@e(1)\nclass C(B, metaclass=M): pass\n", "references d, calls e, inherits B, references M"},
		{"f(g(h), *i, **j, k=l)\n", "calls f, calls g, references h, references i, references j, references l"},
		{"s = f'{a.b!r:{w}}'\n", "references a, references b, references w"},
		{"def f(xs): return [x.m() for x in xs if ok(x)]\n", "calls m, calls ok"},
		{"cast('T', x)\n", "calls cast, references T, references x"},
		{"m.cast('T')\n", "references m, calls cast"},
		{"del a.b\n", "references a, references b"},
	} {
		f := extractString(t, "m.py", c.src)
		if got := strings.Join(refs(f, c.src), ", "); got != c.want {
			t.Errorf("%q\n got %s\nwant %s", c.src, got, c.want)
		}
	}
}

// Every static form of __all__ is read, and only those.
func TestExports(t *testing.T) {
	src := "__all__ = ['a', \"b\"] + ['c']\n__all__ += ('d',)\n__all__.extend(['e'])\n__all__.append('f')\n__all__ += m.__all__\nx = ['no']\n"
	f := extractString(t, "m.py", src)
	var names []string
	from := 0
	for _, e := range f.Exports {
		if e.Value != 0 {
			from++
			continue
		}
		names = append(names, f.Text(e.Name))
	}
	if !slices.Equal(names, []string{"a", "b", "c", "d", "e", "f"}) || from != 1 {
		t.Errorf("names %q, %d from other modules", names, from)
	}
}

// Facts are a function of path and bytes.
func TestDeterministic(t *testing.T) {
	src := "class A(B):\n    def f(self, x: 'C' = 1): self.y = x; return [z for z in x]\n"
	a, b := extractString(t, "m.py", src), extractString(t, "m.py", src)
	if x, y := facts.Encode(a), facts.Encode(b); !slices.Equal(x, y) {
		t.Error("two extractions differ")
	}
}

// Below an ERROR or MISSING node everything is damaged; beside it nothing is.
func TestDamage(t *testing.T) {
	src := "def a(): pass\nx = (1 +\ndef b(): pass\n"
	f := extractString(t, "m.py", src)
	if f.Status != facts.Partial || len(f.Damage) == 0 {
		t.Fatalf("status %d, damage %v", f.Status, f.Damage)
	}
	if d, _ := define(t, f, src, "a"); d.Flags&facts.FlagDamaged != 0 {
		t.Error("what stands before the damage is damaged")
	}
	for _, r := range f.Refs {
		for _, s := range f.Damage {
			if r.Start >= s.Start && r.End <= s.End && r.Flags&facts.FlagDamaged == 0 {
				t.Errorf("%q stands in damage", src[r.Start:r.End])
			}
		}
	}
}
