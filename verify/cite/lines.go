package cite

import (
	"bytes"
	"crypto/sha256"
)

// Count gives the number of lines of content; an empty file has none.
func Count(content []byte) int {
	n := bytes.Count(content, []byte{'\n'})
	if len(content) > 0 && content[len(content)-1] != '\n' {
		n++
	}
	return n
}

// lineOffset gives the byte at which a line starts. The line after the last LF
// starts at the end of content.
func lineOffset(content []byte, line int) (offset int, ok bool) {
	for ; line > 1; line-- {
		i := bytes.IndexByte(content[offset:], '\n')
		if i < 0 {
			return 0, false
		}
		offset += i + 1
	}
	return offset, true
}

// lineAt gives the 1-based line in which the byte at offset stands.
func lineAt(content []byte, offset int) int {
	return bytes.Count(content[:offset], []byte{'\n'}) + 1
}

// Snippet is what a citation says its lines hold.
type Snippet struct {
	SHA256 [sha256.Size]byte
	// Bytes are the lines themselves where they are known and hash to SHA256;
	// nil where only the digest is known.
	Bytes []byte
}

// Is says whether these lines are the snippet.
func (s Snippet) Is(lines []byte) bool { return sha256.Sum256(lines) == s.SHA256 }
