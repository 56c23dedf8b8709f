package golang

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

func extract(t testing.TB, path, src string) *facts.File {
	t.Helper()
	p := flat.NewParser()
	defer p.Close()
	f, err := Extract(p, path, "go", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	if err := wellFormed(f, len(src)); err != nil {
		t.Fatal(err)
	}
	return f
}

// wellFormed checks what package facts promises of every file.
func wellFormed(f *facts.File, size int) error {
	span := func(what string, s facts.Span) error {
		if s.Start > s.End || int(s.End) > size {
			return fmt.Errorf("%s: span %v outside %d bytes", what, s, size)
		}
		return nil
	}
	for i, d := range f.Defs {
		if err := span("def "+f.Text(d.Qual), d.Span); err != nil {
			return err
		}
		if d.NameStart > d.NameEnd || int(d.NameEnd) > size || d.BodyStart > d.End && d.Kind != facts.KindLambda {
			return fmt.Errorf("def %s: name or body outside", f.Text(d.Qual))
		}
		if i > 0 && d.Start < f.Defs[i-1].Start {
			return fmt.Errorf("def %d %s: not in order of Start", i, f.Text(d.Qual))
		}
		if int(d.Parent) >= i {
			return fmt.Errorf("def %d %s: parent %d does not come before", i, f.Text(d.Qual), d.Parent)
		}
		for _, e := range []facts.ExprID{d.Type, d.Value, d.Recv, d.TypeParams} {
			if int(e) >= len(f.Exprs) {
				return fmt.Errorf("def %d: expression out of range", i)
			}
		}
	}
	for i, r := range f.Refs {
		if err := span("ref "+f.Text(r.Name), r.Span); err != nil {
			return err
		}
		if err := span("site of "+f.Text(r.Name), r.Site); err != nil {
			return err
		}
		if i > 0 && r.Start < f.Refs[i-1].Start {
			return fmt.Errorf("ref %d: not in order of Start", i)
		}
		if int(r.Owner) >= len(f.Defs) || int(r.Expr) >= len(f.Exprs) || int(r.Scope) >= len(f.Scopes) {
			return fmt.Errorf("ref %d: index out of range", i)
		}
		if r.Owner >= 0 && f.Defs[r.Owner].Kind == facts.KindLambda {
			return fmt.Errorf("ref %d: owner is a lambda", i)
		}
	}
	for i, m := range f.Imports {
		if m.Ref < 0 || int(m.Ref) >= len(f.Refs) || f.Refs[m.Ref].Kind != facts.RefImport || f.Refs[m.Ref].Start != m.Start {
			return fmt.Errorf("import %d: ref %d is not its own", i, m.Ref)
		}
	}
	for i := range f.Exprs {
		for _, k := range f.Children(facts.ExprID(i)) {
			if k != 0 && int(k) >= i {
				return fmt.Errorf("expr %d: child %d does not come before", i, k)
			}
		}
		if x := &f.Exprs[i]; x.Kind == facts.ExprName && int(x.Level) > len(f.Bindings) {
			return fmt.Errorf("expr %d: binding out of range", i)
		}
	}
	for i, d := range f.Damage {
		if err := span("damage", d); err != nil {
			return err
		}
		if i > 0 && f.Damage[i-1].End >= d.Start {
			return fmt.Errorf("damage %d: not sorted and disjoint", i)
		}
	}
	return nil
}

// TestNameConstraint pins what file names ask for.
func TestNameConstraint(t *testing.T) {
	for name, want := range map[string]string{
		"a.go": "", "linux.go": "", "a_linux.go": "linux", "a_linux_test.go": "linux", "a_linux_arm64.go": "linux && arm64",
		"a_arm64.go": "arm64", "a_foo_windows.go": "windows", "dir/a_js_wasm.go": "js && wasm", "a_test.go": "", "linux_test.go": "",
		"a_arm64_linux.go": "linux", "a_unix.go": "",
	} {
		if got := nameConstraint(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

func TestConstraintText(t *testing.T) {
	for _, tc := range []struct{ path, src, want string }{
		{"a.go", "package a", ""},
		{"a_linux.go", "package a", "linux"},
		{"a.go", "//go:build linux && !cgo\n\npackage a", "(linux && !cgo)"},
		{"a_windows.go", "// text\n\n//go:build go1.20\npackage a", "(go1.20) && windows"},
		{"a.go", "// +build linux darwin\n// +build cgo\n\npackage a", "(linux || darwin) && (cgo)"},
		{"a.go", "//go:build a\n// +build b\n\npackage a", "(a)"},
		{"a.go", "package a\n\n//go:build linux\n", ""},
	} {
		f := extract(t, tc.path, tc.src)
		got := ""
		if v := f.Defs[0].Value; v != 0 {
			got = f.Text(f.Exprs[v].Name)
		}
		if got != tc.want {
			t.Errorf("%s %q: %q, want %q", tc.path, tc.src, got, tc.want)
		}
		if (f.Defs[0].Flags&facts.FlagConditional != 0) != (tc.want != "") {
			t.Errorf("%s %q: conditional flag", tc.path, tc.src)
		}
	}
}

// TestDefs lists the definitions of a file as "kind qualified parent".
func TestDefs(t *testing.T) {
	f := extract(t, "a_test.go", `package a

import "io"

type (
	T struct {
		A, B int
		io.Reader
		*U
		in struct{ deep string }
	}
	I interface {
		M(x int) error
		io.Closer
	}
	U = T
	N int
)

const c1, c2 = 1, 2

var (
	v1, _ = 1, 2
	v2    func()
)

func (t *T) P() { type local struct{ f int } }
func (T) Q()    {}
func F[K any](k K) (r K) { return func() K { return k }() }
func TestIt(t *T)  {}
func Testing()     {}
func ExampleF()    {}
func init()        {}
func (late Late) M() {}

type Late struct{}
`)
	want := strings.Split(strings.TrimSpace(`
package a
struct T
field T.A < T
field T.B < T
field T.Reader < T embedded
field T.U < T embedded
field T.in < T
field T.in.deep < T.in
interface I
method I.M < I abstract
type U alias
type N
constant c1
constant c2
variable v1
variable v2
method T.P < T pointer
struct T.P.local < T.P local
field T.P.local.f < T.P.local local
method T.Q < T
function F
lambda  < F local
function TestIt test
function Testing
function ExampleF test
function init
method Late.M
struct Late`), "\n")
	var got []string
	for _, d := range f.Defs {
		s := d.Kind.String() + " " + f.Text(d.Qual)
		if d.Parent >= 0 {
			s += " < " + f.Text(f.Defs[d.Parent].Qual)
		}
		for _, flag := range []struct {
			flag facts.Flags
			name string
		}{{facts.FlagEmbedded, "embedded"}, {facts.FlagAbstract, "abstract"}, {facts.FlagAlias, "alias"}, {facts.FlagPointer, "pointer"},
			{facts.FlagLocal, "local"}, {facts.FlagTest, "test"}} {
			if d.Flags&flag.flag != 0 {
				s += " " + flag.name
			}
		}
		got = append(got, s)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// TestRefs lists references as "kind name in owner".
func TestRefs(t *testing.T) {
	f := extract(t, "a.go", `package a

import "fmt"

type T struct {
	Base
	f Field
}

var v = make(map[Key]string)

func (t *T) M(p P) (err error) {
	fmt.Println(p, t.f, v, "x")
	x := Conv(p)
	x.call(func() { inner() })
	for i, long1, long2, long3 := 0, 1, 2, 3; i < 3; i++ { _ = long1 }
	return nil
}

func many(r, s, t2, u, v, w, x, y, r1, s1, t1, u1, v1, w1, x1, y1, z1 int64) { _ = s }
`)
	want := strings.Split(strings.TrimSpace(`
imports fmt
inherits Base T
references Field T.f
calls make v
references Key v
references T T.M
references P T.M
calls Println T.M
references f T.M
references v T.M
calls Conv T.M
calls call T.M
calls inner T.M`), "\n")
	var got []string
	for _, r := range f.Refs {
		s := r.Kind.String() + " " + f.Text(r.Name)
		if r.Owner >= 0 {
			s += " " + f.Text(f.Defs[r.Owner].Qual)
		}
		got = append(got, s)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

func TestDeepNesting(t *testing.T) {
	p := flat.NewParser()
	defer p.Close()
	for _, src := range []string{
		"package a\nvar x = " + strings.Repeat("(", 200_000) + "1" + strings.Repeat(")", 200_000),
		"package a\nvar x = 1" + strings.Repeat(" + 1", 20_000),
		"package a\nvar x = " + strings.Repeat("[]", 4_000) + "int{}",
		"package a\nfunc f() {" + strings.Repeat("if x {", 3_000) + strings.Repeat("}", 3_000) + "}",
	} {
		f, err := Extract(p, "a.go", "go", []byte(src))
		if err == nil {
			err = wellFormed(f, len(src))
		} else if err == flat.ErrTooDeep || err == flat.ErrTimeout {
			err = nil
		}
		if err != nil {
			t.Errorf("%.30s: %v", src, err)
		}
	}
}

func FuzzExtract(f *testing.F) {
	fixtures, _ := filepath.Glob("../../testdata/golang/*.txtar")
	for _, name := range fixtures {
		if b, err := os.ReadFile(name); err == nil {
			f.Add(string(b))
		}
	}
	for _, seed := range []string{"", "package", "package a\nfunc (", "package a\nfunc f(a, b c, d ...e) (x, y z) {}",
		"package a\ntype T struct{ *x.Y `t` }\nvar _ = T{a: {b: c}}", "package a\nfunc f() { switch x := y.(type) { case nil, int: x() } }",
		"package a\nfunc f() { x := new(42); select { case v, ok := <-c: v() } }", "import (\n. \"a\"\n_ `b`\n)\npackage z"} {
		f.Add(seed)
	}
	p := flat.NewParser()
	f.Fuzz(func(t *testing.T, src string) {
		file, err := Extract(p, "a_linux_test.go", "go", []byte(src))
		if err != nil {
			return
		}
		if err := wellFormed(file, len(src)); err != nil {
			t.Fatal(err)
		}
	})
}
