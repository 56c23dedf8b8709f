package ecma

import (
	"bytes"
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// repair parses a file again whose tree has errors, with the constructs that
// the grammar is known not to read replaced by text of the same length. The
// better tree is given, with the ranges that were replaced in it.
func repair(p *flat.Parser, d *dialect, t flat.Tree, src []byte) (flat.Tree, []facts.Span, error) {
	before := errorCount(t)
	text, spans := blank(d, t, src)
	if len(spans) == 0 {
		return t, nil, nil
	}
	first := slices.Clone(t.Nodes) // the tree goes with the next parse
	t2, err := p.Parse(d.lang, text, flat.Options{})
	if err == nil && errorCount(t2) < before {
		t2.Src = src // names are read from the file itself
		return t2, spans, nil
	}
	return flat.Tree{Nodes: first, Src: src}, nil, nil
}

func errorCount(t flat.Tree) int {
	n := 0
	for i := range t.Nodes {
		if t.Nodes[i].Flags&(flat.Error|flat.Missing) != 0 {
			n++
			if i == 0 {
				n += 1000 // a root that is an ERROR is worse than any part
			}
		}
	}
	return n
}

// blanker rewrites a copy of the source.
type blanker struct {
	src, out []byte
	spans    []facts.Span
	near     []facts.Span // ERROR regions, with some room around them
	prev     byte         // the last byte before this that is neither white space nor comment
	ts       bool
}

func (b *blanker) put(from, to int, with []byte) {
	if b.out == nil {
		b.out = bytes.Clone(b.src)
	}
	for i := from; i < to; i++ {
		b.out[i] = ' '
	}
	copy(b.out[from:to], with)
	b.spans = append(b.spans, facts.Span{Start: uint32(from), End: uint32(to)})
}

// blank finds the known constructs, outside comments and strings.
func blank(d *dialect, t flat.Tree, src []byte) ([]byte, []facts.Span) {
	b := &blanker{src: src, ts: d.typescript}
	for i := range t.Nodes {
		if n := t.Nodes[i]; n.Flags&(flat.Error|flat.Missing) != 0 {
			s := facts.Span{Start: n.Start - min(n.Start, 400), End: n.End + 400}
			if k := len(b.near); k > 0 && s.Start <= b.near[k-1].End {
				b.near[k-1].End = max(b.near[k-1].End, s.End)
				continue
			}
			b.near = append(b.near, s)
		}
	}
	for i := 0; i < len(src); {
		switch c := src[i]; {
		case c == '/' && i+1 < len(src) && src[i+1] == '/':
			i = skipTo(src, i, "\n")
		case c == '/' && i+1 < len(src) && src[i+1] == '*':
			i = skipTo(src, i+2, "*/")
		case c == '"' || c == '\'':
			i = skipQuoted(src, i, c)
			b.prev = c
		case isWordStart(c) && (i == 0 || !isWord(src[i-1])):
			end := wordEnd(src, i)
			b.word(i, end)
			i = end
			b.prev = src[end-1]
		case c == '<' && b.ts:
			b.callSignature(i)
			b.prev = c
			i++
		default:
			if c != ' ' && c != '\t' && c != '\n' && c != '\r' {
				b.prev = c
			}
			i++
		}
	}
	slices.SortFunc(b.spans, func(x, y facts.Span) int { return int(int64(x.Start) - int64(y.Start)) })
	return b.out, b.spans
}

func skipTo(src []byte, i int, mark string) int {
	if k := bytes.Index(src[i:], []byte(mark)); k >= 0 {
		return i + k + len(mark)
	}
	return len(src)
}

// skipQuoted gives the end of a string that does not span lines.
func skipQuoted(src []byte, i int, quote byte) int {
	for j := i + 1; j < len(src); j++ {
		switch src[j] {
		case '\\':
			j++
		case '\n':
			return i + 1
		case quote:
			return j + 1
		}
	}
	return len(src)
}

func isWordStart(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '$' || c >= 0x80
}

func isWord(c byte) bool { return isWordStart(c) || c >= '0' && c <= '9' }

func wordEnd(src []byte, i int) int {
	for i < len(src) && isWord(src[i]) {
		i++
	}
	return i
}

func space(src []byte, i int) int {
	for i < len(src) && (src[i] == ' ' || src[i] == '\t' || src[i] == '\n' || src[i] == '\r') {
		i++
	}
	return i
}

func at(src []byte, i int) byte {
	if i < len(src) {
		return src[i]
	}
	return 0
}

func nextWord(src []byte, i int) string {
	i = space(src, i)
	return string(src[i:wordEnd(src, i)])
}

func endsWithWord(s []byte, word string) bool {
	for len(s) > 0 && (s[len(s)-1] == ' ' || s[len(s)-1] == '\t' || s[len(s)-1] == '\n') {
		s = s[:len(s)-1]
	}
	return bytes.HasSuffix(s, []byte(word))
}

// isNear says whether an offset stands near an error. Offsets are asked in
// order, and what is behind is dropped.
func (b *blanker) isNear(i int) bool {
	for len(b.near) > 0 && uint32(i) >= b.near[0].End {
		b.near = b.near[1:]
	}
	return len(b.near) > 0 && uint32(i) >= b.near[0].Start
}

// lineBreakBetween says whether a line ends between two offsets.
func (b *blanker) lineBreakBetween(i, j int) bool { return bytes.IndexByte(b.src[i:j], '\n') >= 0 }

// word looks at one word of the source.
func (b *blanker) word(i, end int) {
	src := b.src
	next := space(src, end)
	prev := b.prev
	switch string(src[i:end]) {
	case "instanceof":
		b.property(i, end, next)
	case "in", "out":
		if b.property(i, end, next) {
			return
		}
		// Variance: <in T>, <out T>, <in out T>, after another parameter too.
		if !b.ts || !isWordStart(at(src, next)) || !b.isNear(i) {
			return
		}
		opened := prev == '<' || prev == ',' || string(src[i:end]) == "out" && endsWithWord(src[:i], "in")
		if !opened {
			return
		}
		word := nextWord(src, next)
		if word == "extends" {
			return
		}
		after := space(src, wordEnd(src, next))
		switch c := at(src, after); {
		case word == "out", c == ',' || c == '>' || c == '=', nextWord(src, after) == "extends":
			b.put(i, end, nil)
		}
	case "type":
		if b.ts && at(src, next) == '*' && endsWithWord(src[:i], "export") {
			b.put(i, end, nil)
		}
	case "source":
		if endsWithWord(src[:i], "import") && isWordStart(at(src, next)) && nextWord(src, next) != "from" {
			b.put(i, end, nil)
		}
	case "defer":
		if endsWithWord(src[:i], "import") && at(src, next) == '*' {
			b.put(i, end, nil)
		}
	case "abstract", "accessor", "declare", "override", "readonly", "static", "namespace", "module", "global", "is", "asserts", "satisfies", "infer":
		b.modifier(i, end, next)
	case "as":
		// A name: let as: any, (as: T), { as: X }.
		if !b.isNear(i) {
			return
		}
		declared := endsWithWord(src[:i], "let") || endsWithWord(src[:i], "const") || endsWithWord(src[:i], "var") || prev == '(' || prev == ','
		if c := at(src, next); declared && (c == ':' || c == '=' || c == ',' || c == ')' || c == ';' || c == '?') ||
			!declared && (c == '.' || c == '(' && prev != ')') && !isWord(prev) {
			b.put(i, end, []byte("xs"))
		}
	default:
		// export { x as catch }, import { catch as y }: a reserved word as a name.
		if !reserved[string(src[i:end])] || !b.isNear(i) {
			return
		}
		c := at(src, next)
		if endsWithWord(src[:i], "as") && (c == ',' || c == '}') || (prev == '{' || prev == ',') && nextWord(src, next) == "as" {
			b.put(i, end, bytes.Repeat([]byte{'x'}, end-i))
		}
	}
}

// property looks at an operator's word that begins a line and is a property's
// name there: in?: T, after a line that ends without a semicolon.
func (b *blanker) property(i, end, next int) bool {
	src := b.src
	named := at(src, next) == ':' || at(src, next) == '?' && at(src, space(src, next+1)) == ':'
	if !named || !b.isNear(i) || len(bytes.TrimSpace(src[bytes.LastIndexByte(src[:i], '\n')+1:i])) > 0 {
		return false
	}
	b.put(i, end, bytes.Repeat([]byte{'x'}, end-i))
	return true
}

// modifier looks at a word that is a modifier for the grammar, and here may be
// a plain name; or that is a modifier which the grammar cannot read here.
func (b *blanker) modifier(i, end, next int) {
	src, word := b.src, string(b.src[i:end])
	if !b.isNear(i) {
		return
	}
	c := at(src, next)
	name := c == ':' || c == '?' || c == '=' && at(src, next+1) != '>' || c == ';' || c == '!' || c == '}' || c == '('
	switch {
	case name && word != "static":
		b.put(i, end, bytes.Repeat([]byte{'x'}, end-i))
	case word == "accessor" && (isWordStart(c) || c == '#') && !b.lineBreakBetween(end, next):
		b.put(i, end, nil)
	case word == "abstract" && isWordStart(c) && nextWord(src, next) != "class":
		b.decorators(i)
	}
}

// decorators blanks the decorators of an abstract member whose modifiers end at
// i: the grammar reads a decorator before a body only.
func (b *blanker) decorators(i int) {
	src := b.src
	for {
		for i > 0 && (src[i-1] == ' ' || src[i-1] == '\t' || src[i-1] == '\n' || src[i-1] == '\r') {
			i--
		}
		end := i
		if i > 0 && src[i-1] == ')' {
			depth := 0
			for i > 0 {
				i--
				if src[i] == ')' {
					depth++
				} else if src[i] == '(' {
					if depth--; depth == 0 {
						break
					}
				}
			}
		}
		at := i
		for at > 0 && (isWord(src[at-1]) || src[at-1] == '.') {
			at--
		}
		switch {
		case at == i || at == 0:
			return
		case src[at-1] == '@':
			b.put(at-1, end, nil)
			i = at - 1
		case end == i && memberModifiers[string(src[at:i])]:
			i = at
		default:
			return
		}
	}
}

var memberModifiers = map[string]bool{"public": true, "protected": true, "private": true, "override": true, "static": true, "readonly": true}

// callSignature ends the line before a generic call signature, which the
// grammar would read as type arguments of the line before.
func (b *blanker) callSignature(i int) {
	src := b.src
	j := i
	for j > 0 && (src[j-1] == ' ' || src[j-1] == '\t') {
		j--
	}
	if j == i || j == 0 || src[j-1] != '\n' || !b.isNear(i) {
		return
	}
	switch b.prev {
	case 0, '{', ';', ',', '(', '|', '&', '=', '<', '?', ':', '}':
		return
	case '>':
		if k := bytes.LastIndexByte(src[:j], '>'); k > 0 && src[k-1] == '=' {
			return
		}
	}
	b.put(i-1, i, []byte{';'})
}

var reserved = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range [...]string{"break", "case", "catch", "class", "const", "continue", "debugger", "delete", "do", "else", "enum", "export",
		"extends", "false", "finally", "for", "function", "if", "import", "in", "instanceof", "new", "null", "return", "super", "switch",
		"this", "throw", "true", "try", "typeof", "var", "void", "while", "with", "yield", "await", "let"} {
		m[w] = true
	}
	return m
}()
