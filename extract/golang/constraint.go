package golang

import (
	"go/build/constraint"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// TestFile says whether go test alone compiles the file.
func TestFile(path string) bool { return strings.HasSuffix(path, "_test.go") }

// The operating systems and architectures that a file name can ask for, as of
// Go 1.26 (cmd/dist and go/build keep the same lists).
var (
	knownOS = set("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 " +
		"windows zos")
	knownArch = set("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le " +
		"ppc ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, word := range strings.Fields(words) {
		m[word] = true
	}
	return m
}

// nameConstraint gives what a file name asks for: "windows", "linux && arm64" or
// "". The part before the first underscore never counts.
func nameConstraint(file string) string {
	base := strings.TrimSuffix(path.Base(file), ".go")
	_, base, found := strings.Cut(base, "_")
	if !found {
		return ""
	}
	parts := strings.Split(strings.TrimSuffix("_"+base, "_test"), "_")
	n := len(parts)
	switch {
	case n >= 2 && knownOS[parts[n-2]] && knownArch[parts[n-1]]:
		return parts[n-2] + " && " + parts[n-1]
	case n >= 1 && (knownOS[parts[n-1]] || knownArch[parts[n-1]]):
		return parts[n-1]
	}
	return ""
}

// constraints reads the build constraint of the file: a //go:build line (or, in
// its absence, +build lines) before the package clause, and the file's name.
func (w *walker) constraints(file string) {
	var terms, old []string
	for c := 1; c < len(w.n) && w.n[c].Kind == kindComment; c = w.next(c) {
		text := strings.TrimSpace(string(w.tree.Text(c)))
		if !constraint.IsGoBuild(text) && !constraint.IsPlusBuild(text) {
			continue
		}
		x, err := constraint.Parse(text)
		switch {
		case err != nil:
		case constraint.IsGoBuild(text):
			terms = append(terms, "("+x.String()+")")
		default:
			old = append(old, "("+x.String()+")")
		}
	}
	if len(terms) == 0 {
		terms = old
	}
	if name := nameConstraint(file); name != "" {
		terms = append(terms, name)
	}
	if len(terms) == 0 {
		return
	}
	w.defFlags |= facts.FlagConditional
	w.constraint = w.b.Expr(facts.Expr{Kind: facts.ExprString, Name: w.b.Str(strings.Join(terms, " && ")), Def: facts.None})
}

// exported says whether an identifier starts with an upper-case letter.
func exported(name []byte) bool {
	if len(name) > 0 && name[0] < utf8.RuneSelf {
		return 'A' <= name[0] && name[0] <= 'Z'
	}
	r, _ := utf8.DecodeRune(name)
	return unicode.IsUpper(r)
}

// testEntry says whether go test runs a function of this name. TestMain is run,
// but is no test.
func testEntry(name string) bool {
	for _, prefix := range []string{"Test", "Benchmark", "Fuzz", "Example"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && name != "TestMain" {
			r, _ := utf8.DecodeRuneInString(rest)
			return rest == "" || !unicode.IsLower(r)
		}
	}
	return false
}
