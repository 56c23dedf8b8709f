package search

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Deadline bounds one question.
const Deadline = 5 * time.Second

// maxAmbiguous bounds the list of definitions to choose from; Cut{BoundSeeds}
// counts those beyond the walked ones.
const maxAmbiguous = 20

// Run answers one question over one pinned generation. A question that finds
// nothing is answered with zero items. The errors are invalid_request and
// invalid_path (Field names the member), unsupported_capability,
// code_target_missing for a symbol id that this generation does not have,
// budget_too_small, code_timeout after Deadline, and whatever the reader fails
// with. The answer's JSON is at most MaxBytes long.
func Run(ctx context.Context, g Reader, req Request) (*Answer, error) {
	req, err := normalize(req)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, Deadline)
	defer cancel()
	q := newQuery(ctx, g, req)
	err = q.answer()
	if err == nil {
		err = g.Err()
	}
	if err != nil {
		if errors.Is(err, context.DeadlineExceeded) {
			return nil, fault.New(fault.Timeout, "the question %q was not answered within its time: %w", req.Kind, err).WithHint("ask with a smaller depth or node budget, or a narrower path prefix")
		}
		return nil, err
	}
	q.finish()
	if err := q.a.fit(req.MaxBytes); err != nil {
		return nil, err
	}
	return q.a, nil
}

// query is one question being answered: the request, the answer so far, and
// what was read of the generation on the way.
type query struct {
	ctx   context.Context
	g     Reader
	req   Request
	facts Facts
	a     *Answer
	reads int

	nodes map[graph.NodeID]*graph.Node
	outs  map[graph.NodeID][]graph.Edge
	files map[string]fileRef
}

// fileRef is the part of a NodeRef that is of its file.
type fileRef struct{ blob, sha256, status string }

func newQuery(ctx context.Context, g Reader, req Request) *query {
	f := g.Facts()
	return &query{ctx: ctx, g: g, req: req, facts: f,
		a: &Answer{Schema: AnswerSchema, Scope: f.Scope, Fingerprint: f.Fingerprint, ContentFingerprint: f.ContentFingerprint,
			Commit: f.Commit, Tree: f.Tree, ObjectFormat: f.ObjectFormat, Source: f.Source, Dirty: f.Dirty,
			Operation: req, Items: []Item{}, Coverage: &f.Coverage},
		nodes: map[graph.NodeID]*graph.Node{}, outs: map[graph.NodeID][]graph.Edge{}, files: map[string]fileRef{}}
}

func (q *query) answer() error {
	switch q.req.Kind {
	case KindSymbols:
		return q.symbols()
	case KindMap:
		return q.outline()
	case KindRelatedTests:
		return q.relatedTests()
	}
	return q.relationships()
}

// finish states completeness and puts the lists without an order of their own
// into one.
func (q *query) finish() {
	a := q.a
	slices.Sort(a.Limitations)
	a.Limitations = slices.Compact(a.Limitations)
	slices.SortFunc(a.Cuts, func(x, y Cut) int { return strings.Compare(x.Bound, y.Bound) })
	a.GenerationComplete = a.Coverage.Partial == 0 && a.Coverage.Failed == 0
	a.complete()
}

// complete derives the completeness and the status from the cuts.
func (a *Answer) complete() {
	a.AnswerComplete = len(a.Cuts) == 0
	a.Status = "ok"
	if !a.AnswerComplete || !a.GenerationComplete {
		a.Status = "partial"
	}
}

func (q *query) limitation(code string) { q.a.Limitations = append(q.a.Limitations, code) }

// cut states that a bound cut the answer; nothing dropped is no cut.
func (q *query) cut(bound string, limit, dropped int) {
	if dropped == 0 {
		return
	}
	for i := range q.a.Cuts {
		if c := &q.a.Cuts[i]; c.Bound == bound {
			c.Dropped += dropped
			return
		}
	}
	q.a.Cuts = append(q.a.Cuts, Cut{Bound: bound, Limit: limit, Dropped: dropped})
}

// alive looks at the deadline; every read of the generation goes past it.
func (q *query) alive() error {
	if q.reads++; q.reads%64 != 1 {
		return nil
	}
	return q.ctx.Err()
}

func (q *query) node(id graph.NodeID) (*graph.Node, error) {
	if n := q.nodes[id]; n != nil {
		return n, nil
	}
	if err := q.alive(); err != nil {
		return nil, err
	}
	n, err := q.g.Node(id)
	if err != nil {
		return nil, fmt.Errorf("reading node %d: %w", id, err)
	}
	q.nodes[id] = &n
	return &n, nil
}

func (q *query) out(id graph.NodeID) ([]graph.Edge, error) {
	if e, ok := q.outs[id]; ok {
		return e, nil
	}
	if err := q.alive(); err != nil {
		return nil, err
	}
	e, err := q.g.Out(id)
	if err != nil {
		return nil, fmt.Errorf("reading the edges of node %d: %w", id, err)
	}
	q.outs[id] = e
	return e, nil
}

func (q *query) in(id graph.NodeID) ([]graph.Edge, error) {
	if err := q.alive(); err != nil {
		return nil, err
	}
	e, err := q.g.In(id)
	if err != nil {
		return nil, fmt.Errorf("reading the edges of node %d: %w", id, err)
	}
	return e, nil
}

// symbolID is the public identity of a node.
func symbolID(n *graph.Node) graph.SymbolID {
	return graph.MakeSymbolID(n.Path, n.Kind, n.Qualified, n.Start)
}

func (q *query) id(id graph.NodeID) (string, error) {
	n, err := q.node(id)
	if err != nil {
		return "", err
	}
	return string(symbolID(n)), nil
}

func (q *query) ref(id graph.NodeID) (NodeRef, error) {
	n, err := q.node(id)
	if err != nil {
		return NodeRef{}, err
	}
	f, err := q.file(n.Path)
	if err != nil {
		return NodeRef{}, err
	}
	return NodeRef{ID: string(symbolID(n)), Kind: n.Kind, Language: n.Language, Name: n.Name, Qualified: n.Qualified, Signature: n.Signature,
		Path: n.Path, StartLine: int(n.StartLine), EndLine: int(n.EndLine), NameLine: int(n.NameLine),
		Blob: f.blob, FileSHA256: f.sha256, Test: n.Test || n.TestFile, ParseStatus: f.status}, nil
}

func (q *query) file(path string) (fileRef, error) {
	if f, ok := q.files[path]; ok {
		return f, nil
	}
	var f fileRef
	if e, ok := q.g.Entry(path); ok {
		f.blob, f.sha256 = e.Blob, e.SHA256
	}
	s, ok, err := q.g.File(path)
	if err != nil {
		return f, fmt.Errorf("reading the state of %q: %w", path, err)
	}
	if ok {
		f.status = statusWord(s.Status)
	}
	q.files[path] = f
	return f, nil
}

func statusWord(s facts.ParseStatus) string {
	switch s {
	case facts.Partial:
		return "partial"
	case facts.Failed:
		return "failed"
	}
	return ""
}

func (q *query) site(s graph.Site) (*SiteRef, error) {
	f, err := q.file(s.Path)
	if err != nil {
		return nil, err
	}
	return &SiteRef{Path: s.Path, StartLine: int(s.FirstLine), EndLine: int(s.LastLine), Line: int(s.Line), Column: int(s.Col), Name: s.Name, Blob: f.blob, FileSHA256: f.sha256}, nil
}

// mentions counts the references that bear a name and became no edge, those
// that belong to something outside the repository apart.
func (q *query) mentions(name string) error {
	if name == "" {
		return nil
	}
	if err := q.alive(); err != nil {
		return err
	}
	all, err := q.g.Mentions(name)
	if err != nil {
		return fmt.Errorf("reading the mentions of %q: %w", name, err)
	}
	var sites []graph.Site
	external := 0
	for i := range all {
		if all[i].External {
			external++
		} else {
			sites = append(sites, all[i].Site)
		}
	}
	slices.SortFunc(sites, compareSites)
	m := &Mentions{Name: name, Count: len(sites), Sites: []SiteRef{}, External: external}
	for _, s := range sites[:min(len(sites), 5)] {
		r, err := q.site(s)
		if err != nil {
			return err
		}
		m.Sites = append(m.Sites, *r)
	}
	q.a.Mentions = m
	return nil
}

// indexed says whether a path is in the snapshot, and whether it is indexed.
func indexed(e snapshot.Entry) bool { return e.Included() && e.Language != "" }
