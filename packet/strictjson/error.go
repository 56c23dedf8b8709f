package strictjson

import (
	"fmt"
	"strconv"
	"strings"
)

// Error says which member of a document is refused and why.
type Error struct {
	Path   string // such as "documents[3].claim.hop"; "" is the document itself
	Offset int    // 0-based byte of the input; -1 when writing
	Msg    string
}

// Error gives the member and the reason.
func (e *Error) Error() string {
	if e.Path == "" {
		return e.Msg
	}
	return e.Path + ": " + e.Msg
}

// path is where the decoder stands; it is written out only for an error.
type path struct {
	parent *path
	name   string
	index  int // of an array element; -1 for a member
}

func (p *path) String() string {
	var parts []string
	for ; p != nil; p = p.parent {
		switch {
		case p.index >= 0:
			parts = append(parts, "["+strconv.Itoa(p.index)+"]")
		case p.parent != nil:
			parts = append(parts, "."+p.name)
		default:
			parts = append(parts, p.name)
		}
	}
	var b strings.Builder
	for i := len(parts) - 1; i >= 0; i-- {
		b.WriteString(parts[i])
	}
	return strings.TrimPrefix(b.String(), ".")
}

func (p *path) errorf(offset int, format string, args ...any) *Error {
	return &Error{Path: p.String(), Offset: offset, Msg: fmt.Sprintf(format, args...)}
}

// quote shows a member name from the input safely and in bounded length.
func quote(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return strconv.QuoteToASCII(s)
}
