package golang

import (
	"go/build/constraint"
	"strings"
)

// condition is a build constraint with the tags that it mentions.
type condition struct {
	expr constraint.Expr
	tags []string
}

// parseCondition reads the text that the extractor kept, or gives nil.
func parseCondition(text string) *condition {
	x, err := constraint.Parse("//go:build " + text)
	if err != nil {
		return nil
	}
	c := &condition{expr: x}
	collect(x, &c.tags)
	return c
}

func collect(x constraint.Expr, tags *[]string) {
	switch x := x.(type) {
	case *constraint.TagExpr:
		*tags = append(*tags, x.Tag)
	case *constraint.NotExpr:
		collect(x.X, tags)
	case *constraint.AndExpr:
		collect(x.X, tags)
		collect(x.Y, tags)
	case *constraint.OrExpr:
		collect(x.X, tags)
		collect(x.Y, tags)
	}
}

var (
	systems = words("aix android darwin dragonfly freebsd hurd illumos ios js linux nacl netbsd openbsd plan9 solaris wasip1 " +
		"windows zos")
	unix  = words("aix android darwin dragonfly freebsd hurd illumos ios linux netbsd openbsd solaris")
	archs = words("386 amd64 amd64p32 arm armbe arm64 arm64be loong64 mips mipsle mips64 mips64le mips64p32 mips64p32le ppc " +
		"ppc64 ppc64le riscv riscv64 s390 s390x sparc sparc64 wasm")
)

func words(s string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(s) {
		m[w] = true
	}
	return m
}

// maxFree bounds the tags that together tries both ways; beyond it two
// constraints count as compatible.
const maxFree = 8

// pair is two constraints in the order in which they were asked about.
type pair struct{ a, b *condition }

// compatible says, with a memory, whether two constraints can hold together.
func (r *resolver) compatible(a, b *condition) bool {
	if a == nil || b == nil || a == b {
		return true
	}
	k := pair{a, b}
	ok, known := r.compat[k]
	if !known {
		ok = together(a, b)
		r.compat[k] = ok
	}
	return ok
}

// condition gives the one condition of a text.
func (r *resolver) condition(text string) *condition {
	c, known := r.conditions[text]
	if !known {
		c = parseCondition(text)
		r.conditions[text] = c
	}
	return c
}

// together says whether some platform and set of tags satisfies both
// constraints; nil is always satisfied. It tries every system and architecture
// that either mentions, one that neither does, and all values of other tags.
func together(a, b *condition) bool {
	if a == nil || b == nil {
		return true
	}
	oses, arches, free := []string{"?"}, []string{"?"}, []string{}
	seen := map[string]bool{}
	for _, tag := range append(append([]string{}, a.tags...), b.tags...) {
		if seen[tag] {
			continue
		}
		seen[tag] = true
		switch {
		case systems[tag]:
			oses = append(oses, tag)
		case archs[tag]:
			arches = append(arches, tag)
		case tag == "unix":
			// Any system that is one, and one that is not.
			oses = append(oses, "freebsd?", "plan9?")
		default:
			free = append(free, tag)
		}
	}
	if len(free) > maxFree {
		return true
	}
	for _, os := range oses {
		for _, arch := range arches {
			for bits := 0; bits < 1<<len(free); bits++ {
				ok := func(tag string) bool {
					switch {
					case tag == "unix":
						return unix[strings.TrimSuffix(os, "?")]
					case systems[tag]:
						return tag == os || os == "android" && tag == "linux" || os == "ios" && tag == "darwin" ||
							os == "illumos" && tag == "solaris"
					case archs[tag]:
						return tag == arch
					}
					for k, f := range free {
						if f == tag {
							return bits&(1<<k) != 0
						}
					}
					return false
				}
				if a.expr.Eval(ok) && b.expr.Eval(ok) {
					return true
				}
			}
		}
	}
	return false
}
