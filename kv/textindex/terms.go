package textindex

import (
	"unicode"
	"unicode/utf8"
)

// maxTerm bounds a term in bytes: what is longer is nothing that anybody types.
const maxTerm = 64

// Terms splits text into lower-case words: runs of letters and digits, and the
// parts of each run at changes of case and between letters and digits. The
// whole run is kept beside its parts, and so is the whole of a run that
// underscores join. Each term is given once, in order of appearance.
//
//	parseHTTPResponse_v2 -> parsehttpresponse_v2 parsehttpresponse parse http response v2 v 2
func Terms(text string) []string {
	s := splitter{seen: map[string]bool{}}
	s.split(text)
	return s.terms
}

// splitter collects terms. It is reused from document to document.
type splitter struct {
	terms []string
	seen  map[string]bool
	buf   []byte
}

func (s *splitter) reset() {
	s.terms = s.terms[:0]
	clear(s.seen)
}

func (s *splitter) split(text string) {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if !word(r) && r != '_' {
			i += n
			continue
		}
		end := i
		for end < len(text) {
			r, n := utf8.DecodeRuneInString(text[end:])
			if !word(r) && r != '_' {
				break
			}
			end += n
		}
		s.run(text[i:end])
		i = end
	}
}

func word(r rune) bool { return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// run takes an identifier: letters, digits and underscores.
func (s *splitter) run(id string) {
	for len(id) > 0 && id[0] == '_' {
		id = id[1:]
	}
	for len(id) > 0 && id[len(id)-1] == '_' {
		id = id[:len(id)-1]
	}
	s.add(id)
	for start := 0; start < len(id); {
		end := start
		for end < len(id) && id[end] != '_' {
			end++
		}
		s.add(id[start:end])
		s.parts(id[start:end])
		start = end + 1
	}
}

type class uint8

const (
	lower class = iota
	upper
	digit
)

func classOf(r rune) class {
	switch {
	case unicode.IsDigit(r):
		return digit
	case unicode.IsUpper(r):
		return upper
	}
	return lower
}

// parts splits at changes of case and kind: HTTPServer2 is HTTP, Server, 2.
func (s *splitter) parts(id string) {
	start, last, lastAt := 0, lower, 0
	for i, r := range id {
		c := classOf(r)
		switch {
		case i == 0:
		case c == last:
		case last == upper && c == lower:
			if lastAt > start { // the last capital starts the next word
				s.add(id[start:lastAt])
				start = lastAt
			}
		default:
			s.add(id[start:i])
			start = i
		}
		last, lastAt = c, i
	}
	s.add(id[start:])
}

func (s *splitter) add(term string) {
	if term == "" || len(term) > maxTerm {
		return
	}
	s.buf = s.buf[:0]
	for _, r := range term {
		s.buf = utf8.AppendRune(s.buf, unicode.ToLower(r))
	}
	if s.seen[string(s.buf)] {
		return
	}
	t := string(s.buf)
	s.seen[t] = true
	s.terms = append(s.terms, t)
}
