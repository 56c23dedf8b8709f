package packet

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Source gives the bytes of a pinned generation. The digest of what it gives is
// compared with the one in the answer.
type Source interface {
	Content(path string) ([]byte, error)
}

// Lines gives the exact bytes of lines start..end (1-based, inclusive), the LF
// that ends the last one included where the content has it; false when the
// content has no such lines. Lines end at LF only: a CR is part of its line.
func Lines(content []byte, start, end int) ([]byte, bool) {
	if start < 1 || end < start {
		return nil, false
	}
	from := 0
	for n := 1; n < start; n++ {
		i := bytes.IndexByte(content[from:], '\n')
		if i < 0 {
			return nil, false
		}
		from += i + 1
	}
	to := from
	for n := start; n <= end; n++ {
		if to >= len(content) {
			return nil, false
		}
		if i := bytes.IndexByte(content[to:], '\n'); i < 0 {
			to = len(content)
		} else {
			to += i + 1
		}
	}
	return content[from:to], true
}

// Digest256 is the lower-case hex SHA-256 of b, as snippet_sha256 has it.
func Digest256(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// RawPath gives the exact bytes of the cited path.
func (c *Citation) RawPath() string { return rawPath(c.Path, c.PathBase64) }

// RawPath gives the exact bytes of the path of the declaring file.
func (e *Entity) RawPath() string { return rawPath(e.Path, e.PathBase64) }

// RawPath gives the exact bytes of the path.
func (f *FileRef) RawPath() string { return rawPath(f.Path, f.PathBase64) }

// RawPath gives the exact bytes of the path.
func (f *PartialFile) RawPath() string { return rawPath(f.Path, f.PathBase64) }

// RawSnippet gives the exact bytes of the cited lines, or nil when they are not
// carried.
func (c *Citation) RawSnippet() []byte {
	if c.Snippet == "" && c.SnippetBase64 == "" {
		return nil
	}
	return []byte(rawPath(c.Snippet, c.SnippetBase64))
}

func rawPath(text, b64 string) string {
	if b64 == "" {
		return text
	}
	raw, _ := base64.StdEncoding.DecodeString(b64)
	return string(raw)
}

// textOrBase64 splits bytes into the member for valid UTF-8 and the other one.
func textOrBase64(raw string) (text, b64 string) {
	if utf8.ValidString(raw) {
		return raw, ""
	}
	return "", base64.StdEncoding.EncodeToString([]byte(raw))
}

// citer makes citations, reading each file once.
type citer struct {
	source Source
	files  map[string][]byte
}

// content gives a file's bytes after comparing them with the answer's digest.
func (c *citer) content(path, sha256Hex string) ([]byte, error) {
	b, ok := c.files[path]
	if !ok {
		var err error
		if b, err = c.source.Content(path); err != nil {
			return nil, err
		}
		c.files[path] = b
	}
	if Digest256(b) != sha256Hex {
		return nil, fault.New(fault.IndexIntegrity, "the generation's bytes of %q are not those that the answer names", path).
			WithHint("index the repository again")
	}
	return b, nil
}

// cite makes a citation without its snippet; false when there are no such lines.
func (c *citer) cite(path, blob, sha256Hex, role string, start, end int) (Citation, bool, error) {
	b, err := c.content(path, sha256Hex)
	if err != nil {
		return Citation{}, false, err
	}
	lines, ok := Lines(b, start, end)
	if !ok {
		return Citation{}, false, nil
	}
	out := Citation{StartLine: start, EndLine: end, Role: role, Blob: blob, SnippetSHA256: Digest256(lines)}
	out.Path, out.PathBase64 = textOrBase64(path)
	return out, true, nil
}

// definition cites the lines that declare a node: see signatureLines. Of a file
// it cites line 1, whose blob id stands for the file; a file without lines
// gives false.
func (c *citer) definition(n *search.NodeRef, role string) (Citation, bool, error) {
	b, err := c.content(n.Path, n.FileSHA256)
	if err != nil {
		return Citation{}, false, err
	}
	start, end := 1, 1
	if n.Kind != "file" {
		start, end = signatureLines(b, n)
	}
	return c.cite(n.Path, n.Blob, n.FileSHA256, role, start, end)
}

// signatureLines is the rule for citing a definition: the lines from its first
// one (decorators included, unless they put the name more than four lines down)
// to the one where the signature ends, at most MaxCitedLines; the line of the
// name alone when the signature cannot be found in them. The line of the name
// is always cited, the body is not.
func signatureLines(content []byte, n *search.NodeRef) (start, end int) {
	start = n.StartLine
	if n.NameLine-start > 4 || n.NameLine < start {
		start = n.NameLine
	}
	want := withoutSpace(n.Signature)
	for end = n.NameLine; want != "" && end <= min(n.EndLine, start+MaxCitedLines-1); end++ {
		lines, ok := Lines(content, start, end)
		if !ok {
			break
		}
		if strings.Contains(withoutSpace(string(lines)), want) {
			return start, end
		}
	}
	return start, n.NameLine
}

func withoutSpace(s string) string {
	return strings.Map(func(r rune) rune {
		switch r {
		case ' ', '\t', '\n', '\r', '\f', '\v':
			return -1
		}
		return r
	}, s)
}

// site cites where a relationship stands: the whole call or statement when it is
// at most MaxCitedLines long, else as much of it from the line of the name on.
func (c *citer) site(s *search.SiteRef, role string) (Citation, bool, error) {
	start, end := s.StartLine, s.EndLine
	if start < 1 || start > s.Line || end < s.Line {
		start, end = s.Line, s.Line
	}
	if end-start >= MaxCitedLines {
		start, end = s.Line, min(s.EndLine, s.Line+MaxCitedLines-1)
	}
	return c.cite(s.Path, s.Blob, s.FileSHA256, role, start, end)
}

// attach puts the exact lines into a citation.
func (c *citer) attach(cite *Citation) {
	lines, ok := Lines(c.files[cite.RawPath()], cite.StartLine, cite.EndLine)
	if ok {
		cite.Snippet, cite.SnippetBase64 = textOrBase64(string(lines))
	}
}
