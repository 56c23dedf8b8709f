package extract

import (
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

func TestLanguage(t *testing.T) {
	for path, want := range map[string]string{
		"a.py": "python", "a.pyi": "python", "a.go": "go", "a.JS": "javascript", "a.jsx": "javascript", "a.mjs": "javascript", "a.cjs": "javascript",
		"a.ts": "typescript", "a.mts": "typescript", "a.cts": "typescript", "a.d.ts": "typescript", "a.tsx": "tsx", "README.md": "text", "go.mod": "text",
		"a.png": "", "Makefile": "", "py": "", ".py": "python", "a.py/b": "",
	} {
		if got := Language(path); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// TestKey: facts are another file's as soon as anything that they depend on is
// another.
func TestKey(t *testing.T) {
	base := Key("a.py", "00", "python")
	for name, other := range map[string][32]byte{
		"path": Key("b.py", "00", "python"), "content": Key("a.py", "01", "python"), "language": Key("a.py", "00", "go"),
		"shifted": Key("a.py0", "0", "python"),
	} {
		if other == base {
			t.Errorf("another %s has the same key", name)
		}
	}
	if Build("python") == Build("go") || Build("nothing") != "" {
		t.Error("parser builds are not told apart")
	}
}

// TestFileNeverFails: whatever an extractor does, a build gets facts.
func TestFileNeverFails(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	broken := &Spec{Name: "broken", Resolver: "x", extract: func(*flat.Parser, string, string, []byte) (*facts.File, error) { panic("unforeseen") }}
	registry = append(registry, broken)
	defer func() { registry = registry[:len(registry)-1] }()
	for language, failure := range map[string]string{"broken": "extractor_fault", "nothing": "unknown_language"} {
		f := File(p, "x", language, []byte("a\nb"))
		if f.Status != facts.Failed || f.Failure != failure || len(f.LineStarts) != 2 || len(f.Scopes) != 1 {
			t.Errorf("%s: %+v", language, f)
		}
		if _, err := facts.Decode(facts.Encode(f)); err != nil {
			t.Errorf("%s: %v", language, err)
		}
	}
}

func TestSignatures(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	for _, c := range []struct{ path, src, want string }{
		{"a.py", "@deco\ndef f(a,\n      b=1) -> int:\n    return 1\n", "def f(a, b=1) -> int"},
		{"a.go", "package a\n\nfunc (t *T) M(x int) error {\n\treturn nil\n}\n", "func (t *T) M(x int) error"},
		{"a.ts", "export async function f(a: number): Promise<void> {\n}\n", "export async function f(a: number): Promise<void>"},
	} {
		f := File(p, c.path, Language(c.path), []byte(c.src))
		found := false
		for _, s := range f.Signatures {
			found = found || s == c.want
		}
		if !found {
			t.Errorf("%s: %q, want %q", c.path, f.Signatures, c.want)
		}
	}
}
