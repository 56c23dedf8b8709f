package cite

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/packet"
)

func TestLinesAreWhatSedPrints(t *testing.T) {
	for _, c := range []struct {
		content    string
		start, end int
		want       string
		ok         bool
	}{
		{"a\nb\nc\n", 1, 1, "a\n", true},
		{"a\nb\nc\n", 2, 3, "b\nc\n", true},
		{"a\nb\nc", 2, 3, "b\nc", true},
		{"a\nb\nc\n", 3, 4, "", false},
		{"a\nb\nc\n", 4, 4, "", false}, // nothing follows the last LF
		{"a\r\nb\r\n", 2, 2, "b\r\n", true},
		{"a\rb\n", 1, 1, "a\rb\n", true}, // CR ends no line
		{"\n\n", 2, 2, "\n", true},
		{"", 1, 1, "", false},
		{"a", 1, 1, "a", true},
		{"a\n", 0, 1, "", false},
		{"a\n", 1, 0, "", false},
		{"a\n", 1, 1 << 60, "", false},
		{"a\n", 1 << 60, 1 << 60, "", false},
	} {
		got, ok := packet.Lines([]byte(c.content), c.start, c.end)
		if string(got) != c.want || ok != c.ok {
			t.Errorf("Lines(%q, %d, %d) = %q, %v; want %q, %v", c.content, c.start, c.end, got, ok, c.want, c.ok)
		}
	}
}

func TestFind(t *testing.T) {
	for _, c := range []struct {
		name       string
		content    string
		start, end int
		snippet    string
		match      Match
		line       int
	}{
		{"same", "a\nb\nc\n", 2, 2, "b\n", Same, 2},
		{"lines inserted above", "x\ny\na\nb\nc\n", 1, 2, "a\nb\n", Moved, 3},
		{"lines removed above", "b\nc\n", 5, 6, "b\nc\n", Moved, 1},
		{"nearest of two, after", "f\nx\nx\nx\ny\nf\n", 5, 5, "f\n", Moved, 6},
		{"nearest of two, before", "x\nf\ny\nx\nx\nx\nx\nf\n", 4, 4, "f\n", Moved, 2},
		{"the earlier of two equally near", "f\nx\nf\n", 2, 2, "f\n", Moved, 1},
		{"overlapping repeats", "x\nf\nf\nf\nf\n", 1, 2, "f\nf\n", Moved, 2},
		{"overlapping repeats before the cited line", "f\nf\nf\nf\nx\n", 4, 5, "f\nf\n", Moved, 3},
		{"changed in place", "a\nB\nc\n", 2, 2, "b\n", Absent, 0},
		{"only as part of a line", "xb\nbx\n", 1, 1, "b\n", Absent, 0},
		{"only across a line's end", "ab\nc\n", 2, 2, "b\nc\n", Absent, 0},
		{"LF gained at the end", "a\nb\n", 2, 2, "b", Absent, 0},
		{"last line without LF moved", "a\nx\nb", 2, 2, "b", Moved, 3},
		{"CRLF is another line", "a\r\nb\r\n", 2, 2, "b\n", Absent, 0},
		{"blank line", "a\n\nb\n", 1, 1, "\n", Moved, 2},
		{"empty file", "", 1, 1, "a\n", Absent, 0},
		{"far beyond the end", "a\nb\n", 1 << 40, 1 << 40, "b\n", Moved, 2},
		{"backward range", "a\nb\n", 2, 1, "b\n", Absent, 0},
	} {
		sum := sha256.Sum256([]byte(c.snippet))
		match, line := Find([]byte(c.content), c.start, c.end, Snippet{SHA256: sum, Bytes: []byte(c.snippet)})
		if match != c.match || line != c.line {
			t.Errorf("%s: by bytes: %s at %d, want %s at %d", c.name, match, line, c.match, c.line)
		}
		if strings.Count(c.snippet, "\n") > c.end-c.start+1 || c.name == "far beyond the end" {
			continue
		}
		match, line = Find([]byte(c.content), c.start, c.end, Snippet{SHA256: sum})
		if match != c.match || line != c.line {
			t.Errorf("%s: by digest: %s at %d, want %s at %d", c.name, match, line, c.match, c.line)
		}
	}
}

func TestASearchByDigestIsBounded(t *testing.T) {
	content := bytes.Repeat([]byte("0123456789abcde\n"), 1<<16) // 1 MiB
	match, _ := Find(content, 1, 1<<15, Snippet{SHA256: [32]byte{1}})
	if match != Unsearch {
		t.Fatalf("a search of 32768 windows of half a MiB each ended with %s, want %s", match, Unsearch)
	}
}

// FuzzFind compares Find with the plain definition of its result.
func FuzzFind(f *testing.F) {
	f.Add([]byte("a\nb\nc\n"), []byte("b\n"), 1)
	f.Add([]byte("f\nx\nf"), []byte("f"), 2)
	f.Add([]byte("\n\n\n\r\n"), []byte("\n\n"), 3)
	f.Fuzz(func(t *testing.T, content, snippet []byte, start int) {
		n := Count(snippet)
		if n == 0 || len(content) > 4096 || start > 1<<20 || start < -10 {
			return
		}
		want := Snippet{SHA256: sha256.Sum256(snippet), Bytes: snippet}
		match, line := Find(content, start, start+n-1, want)
		wantMatch, wantLine := Absent, 0
		if start >= 1 {
			for l := 1; l <= Count(content); l++ {
				lines, ok := packet.Lines(content, l, l+n-1)
				if !ok || !bytes.Equal(lines, snippet) {
					continue
				}
				if wantMatch == Absent || distance(l, start) < distance(wantLine, start) {
					wantMatch, wantLine = Moved, l
				}
			}
			if wantLine == start {
				wantMatch = Same
			}
		}
		if match != wantMatch || line != wantLine {
			t.Fatalf("Find(%q, %d, %q) = %s at %d, want %s at %d", content, start, snippet, match, line, wantMatch, wantLine)
		}
		want.Bytes = nil
		byDigest, digestLine := Find(content, start, start+n-1, want)
		if byDigest != match || digestLine != line && start <= Count(content) {
			t.Fatalf("Find(%q, %d, %q) by digest = %s at %d, by bytes %s at %d", content, start, snippet, byDigest, digestLine, match, line)
		}
	})
}
