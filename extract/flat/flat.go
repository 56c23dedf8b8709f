package flat

/*
#cgo CFLAGS: -std=c11 -O2 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE
#include "flat.h"
*/
import "C"

import (
	"errors"
	"runtime"
	"time"
	"unsafe"

	sitter "github.com/tree-sitter/go-tree-sitter"
)

func init() { C.flat_init() }

// Flags of a node.
const (
	Named uint8 = 1 << iota
	Error
	Missing
	Extra
	HasError // the node or something below it is an ERROR or MISSING node
)

// Node is one node of a flattened tree. Start and End are byte offsets, 0-based
// and half-open; Next is the index of the first node after its subtree.
type Node struct {
	Start, End, Next uint32
	Kind             uint16
	Field            uint8
	Flags            uint8
}

// IsNamed says whether the node is a named node of the grammar.
func (n Node) IsNamed() bool { return n.Flags&Named != 0 }

// Tree is a flattened syntax tree in preorder: node 0 is the root, the children
// of node i start at i+1, and the sibling after child c is at Nodes[c].Next.
// It is valid until the next Parse of the parser that made it.
type Tree struct {
	Nodes []Node
	Src   []byte
}

// The reasons for which a file yields no tree.
var (
	ErrTimeout = errors.New("parse_timeout")
	ErrTooDeep = errors.New("too_deep")
	ErrMemory  = errors.New("parse_memory")
	ErrParse   = errors.New("parse_failed")
)

// Options bound one parse.
type Options struct {
	// CPU bounds the processor time of the parse. 0 means 5 s.
	CPU time.Duration
	// Depth bounds the nesting of the tree. 0 means 10,000 nodes; real code
	// nests 947 deep.
	Depth int
	// Newline serves a line feed after the last byte, for grammars that call
	// a file without a final one an error. No range ever covers it.
	Newline bool
}

// Parser parses one file at a time. It must be closed, and used by one
// goroutine at a time.
type Parser struct {
	c    *C.flat_parser
	left time.Duration // processor time that the file in hand may still take
	file bool          // whether left counts
}

// Begin begins a file that may take this much processor time, in however many
// parses.
func (p *Parser) Begin(cpu time.Duration) { p.left, p.file = cpu, true }

// NewParser makes a parser.
func NewParser() *Parser {
	return &Parser{c: C.flat_new()}
}

// Close frees the parser and every tree that it made.
func (p *Parser) Close() {
	C.flat_free(p.c)
	p.c = nil
}

// Parse parses src, which must be shorter than 4 GiB, as lang.
func (p *Parser) Parse(lang *Language, src []byte, o Options) (Tree, error) {
	if o.CPU == 0 {
		o.CPU = 5 * time.Second
	}
	if o.Depth == 0 {
		o.Depth = 10_000
	}
	if p.file {
		o.CPU = min(o.CPU, p.left)
	}
	if o.CPU <= 0 {
		return Tree{}, ErrTimeout
	}
	used := C.uint64_t(o.CPU.Nanoseconds())
	var nodes *C.flat_node
	var count C.uint32_t
	newline := o.Newline && len(src) > 0 && src[len(src)-1] != '\n'
	// The C code reads the Go bytes in place and keeps no pointer to them.
	// The CPU clock is the thread's: stay on it.
	runtime.LockOSThread()
	status := C.flat_parse(p.c, lang.pointer, (*C.char)(unsafe.Pointer(unsafe.SliceData(src))), C.uint32_t(len(src)),
		C.bool(newline), &used, C.uint32_t(o.Depth), &nodes, &count)
	runtime.UnlockOSThread()
	p.left -= time.Duration(used)
	switch status {
	case C.FLAT_OK:
		return Tree{Nodes: unsafe.Slice((*Node)(unsafe.Pointer(nodes)), int(count)), Src: src}, nil
	case C.FLAT_TIMEOUT:
		return Tree{}, ErrTimeout
	case C.FLAT_TOO_DEEP:
		return Tree{}, ErrTooDeep
	case C.FLAT_NO_MEMORY:
		return Tree{}, ErrMemory
	}
	return Tree{}, ErrParse
}

// Language is a grammar with its names resolved to numbers once, so that
// extraction compares integers.
type Language struct {
	pointer unsafe.Pointer
	lang    *sitter.Language
	named   map[string]uint16
	tokens  map[string]uint16
	fields  map[string]uint8
	names   []string
}

// NewLanguage wraps the pointer that a grammar's Language function gives.
func NewLanguage(pointer unsafe.Pointer) *Language {
	lang := sitter.NewLanguage(pointer)
	l := &Language{pointer: pointer, lang: lang, named: map[string]uint16{}, tokens: map[string]uint16{}, fields: map[string]uint8{}}
	for id := uint32(0); id < lang.NodeKindCount(); id++ {
		name := lang.NodeKindForId(uint16(id))
		l.names = append(l.names, name)
		if !lang.NodeKindIsVisible(uint16(id)) {
			continue
		}
		table := l.tokens
		if lang.NodeKindIsNamed(uint16(id)) {
			table = l.named
		}
		if _, ok := table[name]; !ok {
			table[name] = lang.IdForNodeKind(name, lang.NodeKindIsNamed(uint16(id)))
		}
	}
	for id := uint16(1); id <= uint16(lang.FieldCount()); id++ {
		l.fields[lang.FieldNameForId(id)] = uint8(id)
	}
	return l
}

// Kind gives the number of a named node kind. It panics on a name that the
// grammar does not have: the names are constants of an extractor, and a grammar
// upgrade that drops one must not go unnoticed.
func (l *Language) Kind(name string) uint16 {
	id, ok := l.named[name]
	if !ok {
		panic("flat: grammar has no node kind " + name)
	}
	return id
}

// Token gives the number of an anonymous node kind, such as "async" or "*".
func (l *Language) Token(name string) uint16 {
	id, ok := l.tokens[name]
	if !ok {
		panic("flat: grammar has no token " + name)
	}
	return id
}

// Field gives the number of a field.
func (l *Language) Field(name string) uint8 {
	id, ok := l.fields[name]
	if !ok {
		panic("flat: grammar has no field " + name)
	}
	return id
}

// KindName gives the name of a kind, for messages and debugging.
func (l *Language) KindName(kind uint16) string {
	if int(kind) < len(l.names) {
		return l.names[kind]
	}
	return "ERROR"
}

// Child gives the first child of node i that bears the field, or -1.
func (t Tree) Child(i int, field uint8) int {
	for c, end := i+1, int(t.Nodes[i].Next); c < end; c = int(t.Nodes[c].Next) {
		if t.Nodes[c].Field == field {
			return c
		}
	}
	return -1
}

// Text gives the bytes of node i.
func (t Tree) Text(i int) []byte { return t.Src[t.Nodes[i].Start:t.Nodes[i].End] }
