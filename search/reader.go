package search

import (
	"context"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// Reader is one pinned generation, as far as questions need it. Every method
// gives the same result for as long as the generation is pinned, and node ids
// are dense: 0 to Facts().Nodes-1, in the order of graph.Graph.Nodes.
type Reader interface {
	Facts() Facts
	Node(id graph.NodeID) (graph.Node, error)
	// NodesNamed, NodesQualified and NodesInFile match exactly and give sorted ids.
	NodesNamed(name string) ([]graph.NodeID, error)
	NodesQualified(qualified string) ([]graph.NodeID, error)
	NodesInFile(path string) ([]graph.NodeID, error)
	// Names calls f for each simple name in bytewise order, until f gives false.
	Names(f func(name string, ids []graph.NodeID) bool) error
	// Out and In give every edge that leaves or enters a node, containment included.
	Out(id graph.NodeID) ([]graph.Edge, error)
	In(id graph.NodeID) ([]graph.Edge, error)
	// Mentions gives the references bearing a name that became no edge.
	Mentions(name string) ([]graph.Unresolved, error)
	Entry(path string) (snapshot.Entry, bool)
	// Entries calls f for each manifest path that starts with prefix, sorted, until f gives false.
	Entries(prefix string, f func(snapshot.Entry) bool)
	// File gives what parsing said of an indexed file; ok is false for any other path.
	File(path string) (f File, ok bool, err error)
	// TextCandidates nominates nodes for words that are never query syntax. Its
	// order and its scores mean nothing.
	TextCandidates(ctx context.Context, words []string, limit int) ([]graph.NodeID, error)
	// Err gives the first damage met by a method that returns no error; no
	// answer is given after one.
	Err() error
}

// symbolReader is implemented by readers that keep an index of symbol ids;
// without it a symbol id costs a pass over all nodes.
type symbolReader interface {
	NodeBySymbol(id graph.SymbolID) (graph.NodeID, bool, error)
}

// Facts is what an answer repeats of its generation.
type Facts struct {
	Scope              string
	Fingerprint        string
	ContentFingerprint string
	ObjectFormat       string
	Commit, Tree       string
	Source             string // commit or worktree
	Dirty              bool
	Nodes              int
	Coverage           Coverage
}

// File is what an answer needs of one indexed file beyond its nodes.
type File struct {
	Status   facts.ParseStatus
	Headings []Heading
}

// Heading is a navigation mark of a text file. Line is 1-based.
type Heading struct {
	Level, Line int
	Text        string
}
