package cite

import (
	"bytes"
	"crypto/sha256"

	"github.com/exhibit-dev/exhibit/packet"
)

// Match says where content holds a snippet, if it does.
type Match string

// The matches.
const (
	Same     Match = "same"     // at the cited lines
	Moved    Match = "moved"    // at other lines
	Absent   Match = "absent"   // nowhere
	Unsearch Match = "unsearch" // not at the cited lines; elsewhere was not searched to the end
)

// MaxHashed bounds the bytes that a search by digest alone may hash.
const MaxHashed = 64 << 20

// Find looks for a snippet that is cited as lines start to end: there first, and
// then at the nearest other line, the earlier of two equally near ones. line is
// where it starts, 1-based, when it is Same or Moved.
func Find(content []byte, start, end int, want Snippet) (m Match, line int) {
	if lines, ok := packet.Lines(content, start, end); ok && want.Is(lines) {
		return Same, start
	}
	if start < 1 || end < start {
		return Absent, 0
	}
	if want.Bytes != nil {
		if line := nearest(content, want.Bytes, start); line > 0 {
			return Moved, line
		}
		return Absent, 0
	}
	return nearestDigest(content, start, end-start+1, want.SHA256)
}

// nearest gives the line nearest to from at which content holds snippet as
// whole lines, or 0.
func nearest(content, snippet []byte, from int) int {
	if len(snippet) == 0 || len(snippet) > len(content) {
		return 0
	}
	best := 0
	try := func(offset int) {
		line := lineAt(content, offset)
		if best == 0 || distance(line, from) < distance(best, from) ||
			distance(line, from) == distance(best, from) && line < best {
			best = line
		}
	}
	if snippet[len(snippet)-1] != '\n' {
		// Lines that end without LF can only be the last ones.
		at := len(content) - len(snippet)
		if bytes.HasSuffix(content, snippet) && (at == 0 || content[at-1] == '\n') {
			try(at)
		}
		return best
	}
	if bytes.HasPrefix(content, snippet) {
		try(0)
	}
	// With the LF before it, every hit stands at the start of a line, and one
	// search on each side finds the nearest.
	anchored := append([]byte{'\n'}, snippet...)
	middle, ok := lineOffset(content, from)
	if !ok {
		middle = len(content)
	}
	before := max(middle-1, 0) // the LF that ends the line before from
	if i := bytes.Index(content[before:], anchored); i >= 0 {
		try(before + i + 1)
	}
	if i := bytes.LastIndex(content[:min(before+len(snippet), len(content))], anchored); i >= 0 {
		try(i + 1)
	}
	return best
}

func distance(a, b int) int {
	if a < b {
		return b - a
	}
	return a - b
}

// nearestDigest slides a window of n lines over content.
func nearestDigest(content []byte, from, n int, want [sha256.Size]byte) (Match, int) {
	if len(content) == 0 {
		return Absent, 0
	}
	starts := []int{0}
	for i, b := range content[:len(content)-1] {
		if b == '\n' {
			starts = append(starts, i+1)
		}
	}
	if n > len(starts) {
		return Absent, 0
	}
	starts = append(starts, len(content))
	last := len(starts) - n // 1-based start of the last window
	budget := MaxHashed
	at := func(line int) (hit, spent bool) {
		if line < 1 || line > last {
			return false, false
		}
		lines := content[starts[line-1]:starts[line-1+n]]
		budget -= len(lines)
		return budget >= 0 && sha256.Sum256(lines) == want, budget < 0
	}
	// Outwards from the cited line, the earlier side first.
	first := min(max(from, 1), last)
	for d := range last {
		for _, line := range [2]int{first - d, first + d} {
			hit, spent := at(line)
			if spent {
				return Unsearch, 0
			}
			if hit {
				return Moved, line
			}
		}
	}
	return Absent, 0
}
