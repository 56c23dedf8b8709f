package snapshot

import (
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// glob is one pattern of gitignore(5) without negation: "*", "?", "[a-z]" and "\x"
// within a component, "**" for any number of components. A pattern with no slash
// but at its end matches at any depth; any other is anchored at its folder.
type glob struct {
	parts    []string
	anchored bool
	dirOnly  bool // it ended in a slash
}

// parseGlob compiles a pattern; it never fails, a malformed class matches nothing.
func parseGlob(pattern string) glob {
	var g glob
	if len(pattern) > 1 && strings.HasSuffix(pattern, "/") {
		g.dirOnly = true
		pattern = strings.TrimSuffix(pattern, "/")
	}
	g.anchored = strings.Contains(pattern, "/")
	for _, part := range strings.Split(strings.TrimPrefix(pattern, "/"), "/") {
		if part == "**" && len(g.parts) > 0 && g.parts[len(g.parts)-1] == "**" {
			continue
		}
		g.parts = append(g.parts, part)
	}
	return g
}

// operatorGlobs compiles the exclusion patterns of an operator.
func operatorGlobs(patterns []string) ([]glob, error) {
	var globs []glob
	for _, p := range patterns {
		if p == "" || p[0] == '!' || strings.IndexByte(p, 0) >= 0 || !utf8.ValidString(p) || len(p) > 4096 {
			return nil, fault.New(fault.InvalidRequest, "exclusion pattern %q is not supported", p).
				WithHint("use gitignore patterns without negation, such as testdata/ or **/*.pb.go").WithField("exclude")
		}
		globs = append(globs, parseGlob(p))
	}
	return globs, nil
}

// matchFile says whether a pattern matches the file or, unless exact, a folder
// above it.
func (g glob) matchFile(parts []string, exact bool) bool {
	if !g.dirOnly && g.match(parts) {
		return true
	}
	if exact {
		return false
	}
	for i := len(parts) - 1; i > 0; i-- {
		if g.match(parts[:i]) {
			return true
		}
	}
	return false
}

func (g glob) match(parts []string) bool {
	if !g.anchored {
		return matchPart(g.parts[0], parts[len(parts)-1])
	}
	return matchParts(g.parts, parts)
}

// matchParts matches components, "**" standing for any number of them, in time
// proportional to the product of both lengths.
func matchParts(pat, parts []string) bool {
	p, s, star, mark := 0, 0, -1, 0
	for s < len(parts) {
		switch {
		case p < len(pat) && pat[p] == "**":
			star, mark = p, s
			p++
		case p < len(pat) && matchPart(pat[p], parts[s]):
			p++
			s++
		case star >= 0:
			mark++
			p, s = star+1, mark
		default:
			return false
		}
	}
	// A trailing "**" matches everything inside, so it needs something inside.
	if p == len(pat)-1 && pat[p] == "**" {
		return false
	}
	return p == len(pat)
}

// matchPart matches one component, again without backtracking further than the
// last star.
func matchPart(pat, s string) bool {
	pi, si, star, mark := 0, 0, -1, 0
	for si < len(s) {
		if pi < len(pat) && pat[pi] == '*' {
			star, mark = pi, si
			pi++
			continue
		}
		if pi < len(pat) {
			if pn, sn, ok := matchOne(pat[pi:], s[si:]); ok {
				pi += pn
				si += sn
				continue
			}
		}
		if star < 0 {
			return false
		}
		_, n := utf8.DecodeRuneInString(s[mark:])
		mark += n
		pi, si = star+1, mark
	}
	for pi < len(pat) && pat[pi] == '*' {
		pi++
	}
	return pi == len(pat)
}

// matchOne matches the first element of pat with the first character of s and
// gives the bytes used of each.
func matchOne(pat, s string) (pn, sn int, ok bool) {
	r, n := utf8.DecodeRuneInString(s)
	switch pat[0] {
	case '?':
		return 1, n, true
	case '[':
		return matchClass(pat, r, n)
	case '\\':
		if len(pat) > 1 {
			p, m := utf8.DecodeRuneInString(pat[1:])
			return 1 + m, n, p == r && pat[1:1+m] == s[:n]
		}
	}
	p, m := utf8.DecodeRuneInString(pat)
	return m, n, p == r && pat[:m] == s[:n]
}

// matchClass matches "[...]", negated by ! or ^.
func matchClass(pat string, r rune, n int) (int, int, bool) {
	i, negate, in := 1, false, false
	if i < len(pat) && (pat[i] == '!' || pat[i] == '^') {
		negate = true
		i++
	}
	for first := true; ; first = false {
		if i >= len(pat) {
			return 0, 0, false
		}
		if pat[i] == ']' && !first {
			i++
			break
		}
		lo, m := classRune(pat[i:])
		i += m
		hi := lo
		if i+1 < len(pat) && pat[i] == '-' && pat[i+1] != ']' {
			hi, m = classRune(pat[i+1:])
			i += 1 + m
		}
		in = in || lo <= r && r <= hi
	}
	return i, n, in != negate
}

func classRune(pat string) (rune, int) {
	if pat[0] == '\\' && len(pat) > 1 {
		r, n := utf8.DecodeRuneInString(pat[1:])
		return r, n + 1
	}
	return utf8.DecodeRuneInString(pat)
}
