package snapshot

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// Accepted trees write back to the same bytes and hold no name that escapes.
func FuzzParseTree(f *testing.F) {
	id := strings.Repeat("ab", 20)
	f.Add([]byte(rawEntry("100644", "a.py", id) + rawEntry("40000", "b", id)))
	f.Add([]byte(rawEntry("100644", "..", id)))
	f.Add([]byte("100644 a"))
	f.Fuzz(func(t *testing.T, data []byte) {
		entries, err := parseTree(data)
		if err != nil {
			return
		}
		seen := map[string]bool{}
		var back bytes.Buffer
		for _, e := range entries {
			if e.name == "" || e.name == "." || e.name == ".." || strings.EqualFold(e.name, ".git") || strings.ContainsAny(e.name, "/\x00") || seen[e.name] {
				t.Fatalf("accepted %q", e.name)
			}
			seen[e.name] = true
			back.WriteString(e.name)
			back.Write(e.id[:])
		}
		if len(entries) > 0 && back.Len() >= len(data) {
			t.Fatal("more came out than went in")
		}
	})
}

// The decoder ends, within the size of its input, on anything.
func FuzzDecodeIndex(f *testing.F) {
	r := newRepo(f)
	r.write("a.py", "a\n")
	r.write("dir/b.py", "b\n")
	r.commit("one")
	for _, args := range [][]string{{"--index-version", "2"}, {"--index-version", "4"}, {"--split-index"}} {
		r.git(append([]string{"update-index"}, args...)...)
		raw, err := os.ReadFile(r.path(".git/index"))
		if err != nil {
			f.Fatal(err)
		}
		clear(raw[len(raw)-20:]) // an index may go without a checksum, and a fuzzer has none
		f.Add(raw)
	}
	shared := []byte("DIRC\x00\x00\x00\x02\x00\x00\x00\x00" + strings.Repeat("\x00", 20))
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := decodeIndex(raw, func(string) ([]byte, error) { return shared, nil })
		if err != nil {
			return
		}
		if len(x.entries) > len(raw) {
			t.Fatalf("%d entries of %d bytes", len(x.entries), len(raw))
		}
		if x.check() == nil && !slices.IsSortedFunc(x.entries, func(a, b indexEntry) int { return strings.Compare(a.path, b.path) }) {
			t.Fatal("not sorted")
		}
	})
}

// Bit positions never leave the bitmap.
func FuzzDecodeEWAH(f *testing.F) {
	f.Add([]byte{0, 0, 0, 70, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) >= 4 && data[0] != 0 {
			return // keeps the bitmaps small
		}
		set, _, err := decodeEWAH(data)
		if err != nil {
			return
		}
		bits := int(data[1])<<16 | int(data[2])<<8 | int(data[3])
		for i, at := range set {
			if at >= bits || i > 0 && set[i-1] >= at {
				t.Fatalf("position %d of %d", at, bits)
			}
		}
	})
}

func FuzzAttributes(f *testing.F) {
	f.Add([]byte("*.py text eol=crlf\n[attr]x -text\n\"a b\" x !y -z\n"), "a/b.py")
	f.Add([]byte("**/[a-z]*/\\*.py linguist-generated"), "x/y/z.py")
	f.Fuzz(func(t *testing.T, data []byte, path string) {
		a := newAttributes()
		if err := a.addDir("", data); err != nil {
			return
		}
		if path == "" {
			return
		}
		for name := range a.of(path) {
			if !usedAttributes[name] {
				t.Fatalf("attribute %q", name)
			}
		}
	})
}

func FuzzParseConfig(f *testing.F) {
	f.Add([]byte("[core]\n\tbare = false\n[remote \"x\"]\n\turl = \"a\\\"b\" # c\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, bad := parseConfig(data)
		if bad < 0 || bad > bytes.Count(data, []byte("\n"))+2 {
			t.Fatalf("line %d", bad)
		}
		for key := range c {
			if !strings.Contains(key, ".") {
				t.Fatalf("key %q", key)
			}
		}
	})
}

func FuzzGlob(f *testing.F) {
	f.Add("a/**/[!b-d]*?.py", "a/x/zz.py")
	f.Fuzz(func(t *testing.T, pattern, path string) {
		g := parseGlob(pattern)
		parts := strings.Split(path, "/")
		if g.matchFile(parts, true) && !g.matchFile(parts, false) {
			t.Fatal("matches as a file and not as what it is in")
		}
		if !strings.ContainsAny(path, `*?[\/!`) && path != "" && utf8.ValidString(path) && !parseGlob(path).matchFile([]string{path}, true) {
			t.Fatalf("%q does not match itself", path)
		}
	})
}

func FuzzPackHeader(f *testing.F) {
	f.Add([]byte{0x95, 0x0a, 0x78}, int64(0))
	f.Add([]byte{0xe5, 0x0a, 0x81, 0x10}, int64(0))
	f.Fuzz(func(t *testing.T, data []byte, off int64) {
		h, err := readPackHeader(bytes.NewReader(data), off)
		if err == nil && h.delta && !h.byID && (h.baseOffset <= 0 || h.baseOffset >= off) {
			t.Fatalf("base at %d of %d", h.baseOffset, off)
		}
	})
}

// Conversion never fails on any bytes, and its result is stable.
func FuzzClean(f *testing.F) {
	f.Add([]byte("# $Id: x $\r\nb\r\n"), "ISO-8859-1")
	f.Add([]byte("\xff\xfea\x00"), "UTF-16")
	f.Fuzz(func(t *testing.T, data []byte, name string) {
		once := collapseIdent(data)
		if !bytes.Equal(collapseIdent(once), once) {
			t.Fatal("ident is not stable")
		}
		looksBinary(data)
		if _, _, ok := decodeAs(name, data); !ok && strings.EqualFold(name, "utf-8") {
			t.Fatal("utf-8 is not known")
		}
	})
}
