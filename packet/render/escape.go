package render

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// mark opens every escape, and is the one printable character that is escaped.
const mark = '⟦'

// MaxName is the most characters of a name or path that are shown.
const MaxName = 256

// hidden are characters that print as nothing or as blank though Unicode counts
// them as marks, letters or symbols: fillers, joiners and variation selectors.
var hidden = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x034f, Hi: 0x034f, Stride: 1}, // combining grapheme joiner
		{Lo: 0x115f, Hi: 0x1160, Stride: 1}, // Hangul fillers
		{Lo: 0x17b4, Hi: 0x17b5, Stride: 1}, // Khmer inherent vowels
		{Lo: 0x180b, Hi: 0x180f, Stride: 1}, // Mongolian variation selectors
		{Lo: 0x2800, Hi: 0x2800, Stride: 1}, // blank Braille pattern
		{Lo: 0x3164, Hi: 0x3164, Stride: 1}, // Hangul filler
		{Lo: 0xfe00, Hi: 0xfe0f, Stride: 1}, // variation selectors
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1}, // half-width Hangul filler
		{Lo: 0xfffc, Hi: 0xfffd, Stride: 1}, // object replacement, replacement
	},
	R32: []unicode.Range32{
		{Lo: 0x1d159, Hi: 0x1d159, Stride: 1}, // musical null notehead
		{Lo: 0xe0100, Hi: 0xe01ef, Stride: 1}, // variation selectors supplement
	},
}

// visible says whether a character is shown as it is. It covers every class of
// the specification: controls, format characters, separators, private use, tags
// and what is unassigned are not printable.
func visible(r rune) bool {
	return r != mark && unicode.IsPrint(r) && !unicode.Is(hidden, r)
}

// Escape gives s with every character visible, and how many were escaped. Tab
// and LF stay. A byte that is not UTF-8 becomes ⟦0xFF⟧.
func Escape(s string) (string, int) { return escape(s, "\t\n") }

// Name is Escape for a name, path or sentence in a line of ours: tab and LF are
// escaped too, and what is over MaxName characters is left out and said.
func Name(s string) (string, int) {
	rest := 0
	for i, n := 0, 0; i < len(s); n++ {
		if n == MaxName {
			s, rest = s[:i], len(s)-i
			break
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		i += size
	}
	out, n := escape(s, "")
	if rest > 0 {
		out += fmt.Sprintf("⟦%d bytes more⟧", rest)
	}
	return out, n
}

func escape(s, keep string) (string, int) {
	var b strings.Builder
	escaped := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "⟦0x%02X⟧", s[i])
			escaped++
		case visible(r) || strings.ContainsRune(keep, r):
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, "⟦U+%04X⟧", r)
			escaped++
		}
		i += size
	}
	return b.String(), escaped
}
