package resolve

import (
	"bufio"
	"encoding/json"
	"io"
	"path"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// edgeRow is one edge in the row shape of the compiler-made gold: lines are
// 1-based, col is the 0-based byte column of the identifier, line 0 of a callee
// means the whole file, and a Go package is its directory.
type edgeRow struct {
	Kind       string `json:"kind"`
	Path       string `json:"path"`
	Line       uint32 `json:"line"`
	Col        uint32 `json:"col"`
	Name       string `json:"name"`
	Caller     string `json:"caller"`
	CallerPath string `json:"caller_path"`
	CallerLine uint32 `json:"caller_line"`
	Callee     string `json:"callee"`
	CalleePath string `json:"callee_path"`
	CalleeLine uint32 `json:"callee_line"`
	Strength   string `json:"strength"`
	Rule       string `json:"rule_id"`
}

var goldKinds = map[graph.EdgeKind]string{graph.Calls: "call", graph.Imports: "import", graph.Inherits: "inherit", graph.References: "ref"}

// EdgeRows writes edges one JSON object a line.
type EdgeRows struct {
	w     *bufio.Writer
	enc   *json.Encoder
	gold  bool // only what the gold has rows for, under its words
	taken map[position]bool
}

// position is a place that the gold has one row for.
type position struct {
	path  string
	start uint32
}

// Outer takes the sites that became no edge. The gold has one row for a place:
// where the call of a call's result, f()(x), begins at the place of f, the row
// is that of the outer call, which names nobody. Edges there are left out.
func (g *EdgeRows) Outer(unresolved []graph.Unresolved) {
	for i := range unresolved {
		if u := &unresolved[i]; u.Kind == graph.Calls && u.Site.Name == facts.Nameless {
			if g.taken == nil {
				g.taken = map[position]bool{}
			}
			g.taken[position{u.Site.Path, u.Site.Start}] = true
		}
	}
}

// NewEdgeRows writes every edge to w, containment included, its kind in the
// words of the graph. Flush must be called at the end.
func NewEdgeRows(w io.Writer) *EdgeRows {
	b := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	return &EdgeRows{w: b, enc: enc}
}

// NewGoldRows writes to w what can be compared with the gold: no containment, no
// mentions of Go's fields, and nothing where Outer says.
func NewGoldRows(w io.Writer) *EdgeRows {
	g := NewEdgeRows(w)
	g.gold = true
	return g
}

// Write writes one edge between two nodes.
func (g *EdgeRows) Write(e *graph.Edge, from, to *graph.Node) error {
	kind := e.Kind.String()
	if g.gold {
		if kind = goldKinds[e.Kind]; kind == "" || g.taken[position{e.Site.Path, e.Site.Start}] {
			return nil
		}
		// The gold has no rows for mentions of Go's fields: without a row to join,
		// they would be judged by whatever of the same name stands nearby.
		if to.Kind == "field" && to.Language == "go" {
			return nil
		}
	}
	row := edgeRow{Kind: kind, Path: e.Site.Path, Line: e.Site.Line, Col: e.Site.Col, Name: e.Site.Name, Caller: from.Qualified,
		CallerPath: from.Path, CallerLine: from.NameLine, Callee: to.Name, CalleePath: to.Path, CalleeLine: to.NameLine,
		Strength: e.Strength.String(), Rule: e.Rule}
	switch to.Kind {
	case "file":
		row.CalleeLine = 0
	case "package":
		row.CalleePath, row.CalleeLine = path.Dir(to.Path), 0
	}
	if from.Kind == "file" {
		row.CallerLine, row.Caller = 0, ""
	}
	return g.enc.Encode(&row)
}

// Flush writes what is buffered.
func (g *EdgeRows) Flush() error { return g.w.Flush() }
