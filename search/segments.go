package search

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxWords bounds the words of a query that are searched for.
const maxWords = 32

// words gives the identifier-like runs of letters, digits and underscores in a
// query, as written, each once. Everything else separates: user text is never
// syntax.
func words(query string) []string {
	var out []string
	seen := map[string]bool{}
	for _, w := range strings.FieldsFunc(query, func(r rune) bool { return !isWord(r) }) {
		if w = strings.Trim(w, "_"); w == "" || seen[w] || len(out) == maxWords {
			continue
		}
		seen[w] = true
		out = append(out, w)
	}
	return out
}

func isWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

// segments splits an identifier into lower-case parts at underscores, between
// letters and digits, and where camel case changes: HTTPServer2 gives http,
// server, 2. The whole is not among them.
func segments(name string) []string {
	var out []string
	start := -1
	flush := func(end int) {
		if start >= 0 && end > start {
			out = append(out, strings.ToLower(name[start:end]))
		}
		start = -1
	}
	var prev rune
	for i, r := range name {
		if r == '_' || !isWord(r) {
			flush(i)
			prev = r
			continue
		}
		if start >= 0 && boundary(prev, r, next(name, i, r)) {
			flush(i)
		}
		if start < 0 {
			start = i
		}
		prev = r
	}
	flush(len(name))
	return out
}

func next(s string, i int, r rune) rune {
	n, _ := utf8.DecodeRuneInString(s[i+utf8.RuneLen(r):])
	return n
}

// boundary says whether a segment starts at r.
func boundary(prev, r, next rune) bool {
	switch {
	case unicode.IsDigit(prev) != unicode.IsDigit(r):
		return true
	case unicode.IsUpper(r) && !unicode.IsUpper(prev):
		return true
	case unicode.IsUpper(r) && unicode.IsUpper(prev) && unicode.IsLower(next):
		return true
	}
	return false
}
