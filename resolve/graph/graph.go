package graph

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
)

// NodeID is an index into Graph.Nodes.
type NodeID uint32

// SymbolID is the public identity of a node inside one generation: the hex of
// the first 16 bytes of SHA-256 over path, kind, qualified name and declaration
// offset, each length-delimited. It is valid only with a fingerprint.
type SymbolID string

// MakeSymbolID computes a SymbolID. offset is the 0-based byte where the
// declaration starts.
func MakeSymbolID(path, kind, qualified string, offset uint32) SymbolID {
	var b []byte
	for _, s := range []string{path, kind, qualified} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	b = binary.AppendUvarint(b, uint64(offset))
	sum := sha256.Sum256(b)
	return SymbolID(hex.EncodeToString(sum[:16]))
}

// Node is a definition, a file or a package.
type Node struct {
	Kind      string // the DefKind vocabulary, and "file"
	Language  string
	Name      string // simple name; base name of a file
	Qualified string // as a developer writes it inside the file: "Class.method"; the path for a file, the directory for a package
	Path      string // file it is declared in; for a package the file whose clause stands for it
	Signature string // declaration up to the body, white space folded, at most 240 bytes
	Container NodeID // what contains it; itself for a node that nothing contains

	Start, End         uint32 // bytes of the declaration, decorators included
	NameStart, NameEnd uint32 // bytes of the name
	StartLine, EndLine uint32 // 1-based, inclusive
	NameLine           uint32

	Exported, Test, TestFile, Conditional, Damaged bool
}

// Strength is how an edge was established.
type Strength uint8

const (
	ResolvedStatic Strength = iota + 1
	Candidate
)

// String gives the public word.
func (s Strength) String() string {
	switch s {
	case ResolvedStatic:
		return "resolved_static"
	case Candidate:
		return "candidate"
	}
	return ""
}

// EdgeKind is the relation of an edge.
type EdgeKind uint8

const (
	Contains EdgeKind = iota + 1
	Imports
	Calls
	Inherits
	References
)

var edgeKindNames = [...]string{Contains: "contains", Imports: "imports", Calls: "calls", Inherits: "inherits", References: "references"}

// String gives the public word.
func (k EdgeKind) String() string {
	if int(k) < len(edgeKindNames) {
		return edgeKindNames[k]
	}
	return ""
}

// Site is where a reference stands.
type Site struct {
	Path       string
	Start, End uint32 // bytes of the identifier
	Line, Col  uint32 // of the identifier: 1-based line, 0-based byte column
	FirstLine  uint32 // lines of the whole call or statement, 1-based, inclusive
	LastLine   uint32
	Name       string // the identifier as it stands there
}

// Edge is a reference (or containment) that resolved to a definition. One site
// with several candidates gives several edges of the same site.
type Edge struct {
	From, To NodeID
	Kind     EdgeKind
	Strength Strength
	Rule     string
	Site     Site // of the definition for Contains
	TypeOnly bool
}

// Unresolved is a reference that became no edge. External is a verdict of its
// own: the name belongs to something outside the repository.
type Unresolved struct {
	From     NodeID
	Kind     EdgeKind
	Site     Site
	External bool
	Reason   string // one of the reason vocabulary; "external_*" words for External
	Target   string // what an external name is, as far as known: "fmt.Errorf", "builtins.len"
}

// Coverage counts what the graph is made from.
type Coverage struct {
	Resolved, Candidate, Unresolved, External, Local uint64 // references, by verdict; a site counts once
}

// Graph is the resolved repository. Nodes are sorted by (Path, Start, End
// descending, Kind, Qualified); Edges by (From, Kind, Site, To); Unresolved by
// (Site.Path, Site.Start, Kind).
type Graph struct {
	Nodes      []Node
	Edges      []Edge
	Unresolved []Unresolved
	Coverage   Coverage
}
