package search

import (
	"cmp"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// direction says which end of an edge a walk goes to.
type direction uint8

const (
	outward direction = 1 << iota // from an edge's From to its To
	inward                        // from an edge's To to its From
)

// kindSet is a set of edge kinds.
type kindSet uint8

func setOf(kinds ...graph.EdgeKind) kindSet {
	var s kindSet
	for _, k := range kinds {
		s |= 1 << k
	}
	return s
}

func (s kindSet) has(k graph.EdgeKind) bool { return s&(1<<k) != 0 }

var dependencyKinds = setOf(graph.Calls, graph.Imports, graph.References, graph.Inherits)

// place is a node that a walk stands on, and how it came there. A place with a
// previous one and no edge was reached through containment, not by a crossing:
// a member of a class seed, a seed's module, a class's constructor.
type place struct {
	id     graph.NodeID
	prev   *place
	edge   *graph.Edge // crossed from prev; nil for a seed and for containment
	hop    int
	static bool    // every edge on the way is resolved_static
	kinds  kindSet // what may be crossed from here
	gran   string  // the label of what is crossed from here
}

// crossing is a relationship that a walk reports.
type crossing struct {
	edge    graph.Edge
	via     *place
	reached graph.NodeID
	static  bool
	late    bool // inside of what the seeds stand for, or containment: after the others of its hop
}

// edgeKey is the identity of a relationship: one per call site and target.
type edgeKey struct {
	from, to graph.NodeID
	kind     graph.EdgeKind
	path     string
	start    uint32
}

func keyOf(e *graph.Edge) edgeKey { return edgeKey{e.From, e.To, e.Kind, e.Site.Path, e.Site.Start} }

// walk is one breadth-first traversal. Nodes are taken in the order of hop,
// strength of the path, site and identity, so neither the order of the input
// nor that of the reader decides what a budget drops.
type walk struct {
	q      *query
	dir    direction
	depth  int
	budget int // nodes that may still be entered, seeds and their members aside
	limit  int // its first value, for the cut

	// nested lets the walk cross containment between a function and the
	// definitions inside its body: a nested function runs as a part of it.
	nested bool
	// stop says that a reached node is reported and not stepped through; nil
	// stops nowhere.
	stop func(graph.NodeID) (bool, error)
	// modules takes files and packages reached on the way out of the walk: only
	// their importers are of interest, and those after everything else.
	modules bool
	// open says that the depth is a part of the question and not a bound on it.
	open bool

	seen    map[graph.NodeID]bool
	seeds   map[graph.NodeID]bool // seeds and what they expand to
	done    map[edgeKey]bool
	items   []crossing
	coarse  []*place // files and packages reached, when modules is set
	dropped map[graph.NodeID]bool
	outside map[edgeKey]bool
	behind  map[edgeKey]bool
	edges   int // dropped by the edge budget
}

func newWalk(q *query, dir direction, depth, budget int) *walk {
	return &walk{q: q, dir: dir, depth: depth, budget: budget, limit: budget,
		seen: map[graph.NodeID]bool{}, seeds: map[graph.NodeID]bool{}, done: map[edgeKey]bool{},
		dropped: map[graph.NodeID]bool{}, outside: map[edgeKey]bool{}, behind: map[edgeKey]bool{}}
}

// start makes the places of seeds: each seed, then the members that it expands
// to. Those are visited as well, and the bound on them is stated.
func (w *walk) start(seeds []graph.NodeID, kinds kindSet, expand func(container, member *graph.Node) bool) ([]*place, error) {
	var places []*place
	for _, id := range seeds {
		if !w.seeds[id] {
			w.seeds[id], w.seen[id] = true, true
			places = append(places, &place{id: id, static: true, kinds: kinds})
		}
	}
	left, members := 0, 0
	for i := 0; i < len(places); i++ {
		p := places[i]
		n, err := w.q.node(p.id)
		if err != nil {
			return nil, err
		}
		if expand == nil || !containers[n.Kind] {
			continue
		}
		out, err := w.q.out(p.id)
		if err != nil {
			return nil, err
		}
		for _, e := range sorted(out) {
			if e.Kind != graph.Contains || w.seeds[e.To] {
				continue
			}
			m, err := w.q.node(e.To)
			if err != nil {
				return nil, err
			}
			if !expand(n, m) {
				continue
			}
			if members == maxExpansion-maxSeeds {
				left++
				continue
			}
			members++
			w.seeds[e.To], w.seen[e.To] = true, true
			places = append(places, &place{id: e.To, prev: p, static: true, kinds: kinds})
		}
	}
	w.q.cut(BoundExpansion, maxExpansion-maxSeeds, left)
	return places, nil
}

// run walks from the places of one hop to the depth, and keeps what it crosses.
// extra are places that join at their hop.
func (w *walk) run(frontier []*place, extra []*place) error {
	for hop := 1; hop <= w.depth; hop++ {
		for _, p := range extra {
			if p.hop == hop-1 {
				frontier = append(frontier, p)
			}
		}
		found, err := w.cross(frontier)
		if err != nil {
			return err
		}
		budgetWas := len(w.dropped)
		if frontier, err = w.enter(found, hop); err != nil {
			return err
		}
		if len(w.dropped) > budgetWas || w.edges > 0 {
			return nil // what is further is behind the same cut
		}
	}
	for _, p := range extra {
		if p.hop == w.depth {
			frontier = append(frontier, p)
		}
	}
	if w.open {
		return nil
	}
	return w.boundary(frontier)
}

// cross gives the relationships that leave the places and were not crossed
// before, in the order in which they are taken.
func (w *walk) cross(places []*place) ([]crossing, error) {
	var found []crossing
	here := map[edgeKey]bool{}
	for _, p := range places {
		also, err := w.beside(p)
		if err != nil {
			return nil, err
		}
		for _, p := range append([]*place{p}, also...) {
			if w.dir&inward != 0 {
				in, err := w.q.in(p.id)
				if err != nil {
					return nil, err
				}
				if found, err = w.take(found, here, p, in, inward); err != nil {
					return nil, err
				}
			}
			if w.dir&outward != 0 {
				out, err := w.q.out(p.id)
				if err != nil {
					return nil, err
				}
				if found, err = w.take(found, here, p, out, outward); err != nil {
					return nil, err
				}
			}
		}
	}
	slices.SortFunc(found, compareCrossings)
	return found, nil
}

func (w *walk) take(found []crossing, here map[edgeKey]bool, p *place, edges []graph.Edge, dir direction) ([]crossing, error) {
	for i := range edges {
		e := &edges[i]
		reached := e.To
		if dir == inward {
			reached = e.From
		}
		k := keyOf(e)
		if w.done[k] || here[k] {
			continue
		}
		nested := false
		if !p.kinds.has(e.Kind) {
			if e.Kind != graph.Contains || !w.nested || p.gran != "" {
				continue
			}
			c, err := w.q.node(e.From)
			if err != nil {
				return nil, err
			}
			if nested = callable[c.Kind] && c.Kind != "class"; !nested {
				continue
			}
		}
		here[k] = true
		found = append(found, crossing{edge: *e, via: p, reached: reached, static: p.static && e.Strength == graph.ResolvedStatic,
			late: nested || w.seeds[e.From] && w.seeds[e.To]})
	}
	return found, nil
}

// beside gives the places that stand for p: a call of a class reaches its
// constructor, so callers of a constructor are callers of its class, and what a
// constructor depends on is what a call of the class depends on.
func (w *walk) beside(p *place) ([]*place, error) {
	if !p.kinds.has(graph.Calls) || w.seeds[p.id] && p.prev != nil {
		return nil, nil
	}
	n, err := w.q.node(p.id)
	if err != nil {
		return nil, err
	}
	var also []*place
	if w.dir&inward != 0 && isConstructor(n) && n.Container != p.id {
		also = append(also, &place{id: n.Container, prev: p, hop: p.hop, static: p.static, kinds: setOf(graph.Calls), gran: "class"})
	}
	if w.dir == outward && n.Kind == "class" && p.edge != nil && p.edge.Kind == graph.Calls {
		out, err := w.q.out(p.id)
		if err != nil {
			return nil, err
		}
		for _, e := range sorted(out) {
			if e.Kind != graph.Contains {
				continue
			}
			c, err := w.q.node(e.To)
			if err != nil {
				return nil, err
			}
			if isConstructor(c) && !w.seen[e.To] {
				also = append(also, &place{id: e.To, prev: p, hop: p.hop, static: p.static, kinds: p.kinds})
			}
		}
	}
	return also, nil
}

// enter takes crossings in order until the budgets are used up, and gives the
// places of the next hop.
func (w *walk) enter(found []crossing, hop int) ([]*place, error) {
	var next []*place
	for _, c := range found {
		k := keyOf(&c.edge)
		if in, err := w.inScope(c.reached); err != nil {
			return nil, err
		} else if !in {
			w.outside[k] = true
			continue
		}
		switch {
		case !w.seen[c.reached] && w.budget == 0:
			w.dropped[c.reached] = true
			continue
		case len(w.items) == maxWalkEdges:
			w.edges++
			continue
		}
		w.done[k] = true
		w.items = append(w.items, c)
		if w.seen[c.reached] {
			continue
		}
		w.seen[c.reached] = true
		w.budget--
		e := c.edge
		p := &place{id: c.reached, prev: c.via, edge: &e, hop: hop, static: c.static, kinds: c.via.kinds}
		if c.via.gran == "class" {
			p.kinds = c.via.prev.kinds
		} else {
			p.gran = c.via.gran
		}
		if w.stop != nil {
			if stop, err := w.stop(c.reached); err != nil {
				return nil, err
			} else if stop {
				continue
			}
		}
		n, err := w.q.node(c.reached)
		if err != nil {
			return nil, err
		}
		if w.modules && (n.Kind == "file" || n.Kind == "package") {
			w.coarse = append(w.coarse, p)
			continue
		}
		next = append(next, p)
	}
	return next, nil
}

// inScope says whether a node is under the request's path prefix.
func (w *walk) inScope(id graph.NodeID) (bool, error) {
	if w.q.req.PathPrefix == "" {
		return true, nil
	}
	n, err := w.q.node(id)
	return err == nil && under(n.Path, w.q.req.PathPrefix), err
}

// boundary notes what is eligible behind the last hop.
func (w *walk) boundary(frontier []*place) error {
	found, err := w.cross(frontier)
	if err != nil {
		return err
	}
	for _, c := range found {
		in, err := w.inScope(c.reached)
		if err != nil {
			return err
		}
		if in {
			w.behind[keyOf(&c.edge)] = true
		}
	}
	return nil
}

// state puts what the walk left out into the answer.
func (w *walk) state() {
	w.q.cut(BoundNodeBudget, w.limit, len(w.dropped))
	w.q.cut(BoundEdgeBudget, maxWalkEdges, w.edges)
	left := 0
	for k := range w.outside {
		if !w.done[k] {
			left++
		}
	}
	w.q.cut(BoundPathPrefix, 0, left)
	left = 0
	for k := range w.behind {
		if !w.done[k] {
			left++
		}
	}
	w.q.cut(BoundDepth, w.depth, left)
}

// item turns a crossing into what the answer carries.
func (q *query) item(c *crossing) (Item, error) {
	from, err := q.ref(c.edge.From)
	if err != nil {
		return Item{}, err
	}
	to, err := q.ref(c.edge.To)
	if err != nil {
		return Item{}, err
	}
	it := Item{Node: to, From: &from, To: &to, Relation: c.edge.Kind.String(), Strength: c.edge.Strength.String(), RuleID: c.edge.Rule,
		Hop: c.via.hop + 1, Granularity: c.via.gran, Reason: reason(c.static)}
	if c.reached == c.edge.From {
		it.Node = from
	}
	if it.CallSite, err = q.site(c.edge.Site); err != nil {
		return Item{}, err
	}
	if it.Candidates, err = q.candidates(&c.edge); err != nil {
		return Item{}, err
	}
	if it.Via, err = q.id(c.via.id); err != nil {
		return Item{}, err
	}
	it.WitnessPath, err = q.witness(c.via)
	it.WitnessPath = append(it.WitnessPath, it.Node.ID)
	return it, err
}

func reason(static bool) string {
	if static {
		return "static_path"
	}
	return "candidate_path"
}

// candidates counts the targets that the site of an edge has; 0 for containment.
func (q *query) candidates(e *graph.Edge) (int, error) {
	if e.Kind == graph.Contains {
		return 0, nil
	}
	if e.Strength == graph.ResolvedStatic {
		return 1, nil
	}
	out, err := q.out(e.From)
	if err != nil {
		return 0, err
	}
	n := 0
	for i := range out {
		if o := &out[i]; o.Kind == e.Kind && o.Site.Path == e.Site.Path && o.Site.Start == e.Site.Start {
			n++
		}
	}
	return n, nil
}

// witness gives the ids from the seed to a place.
func (q *query) witness(p *place) ([]string, error) {
	var ids []string
	for ; p != nil; p = p.prev {
		id, err := q.id(p.id)
		if err != nil {
			return nil, err
		}
		ids = append(ids, id)
	}
	slices.Reverse(ids)
	return ids, nil
}

func compareSites(a, b graph.Site) int {
	return cmp.Or(strings.Compare(a.Path, b.Path), cmp.Compare(a.Start, b.Start), cmp.Compare(a.End, b.End))
}

// compareEdges orders relationships by their whole identity.
func compareEdges(a, b *graph.Edge) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Strength, b.Strength),
		compareSites(a.Site, b.Site), strings.Compare(a.Rule, b.Rule))
}

func compareCrossings(a, b crossing) int {
	return cmp.Or(boolean(b.static)-boolean(a.static), boolean(a.late)-boolean(b.late), compareSites(a.edge.Site, b.edge.Site),
		compareEdges(&a.edge, &b.edge))
}

func boolean(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sorted gives edges by their whole identity, whatever the reader's order.
func sorted(edges []graph.Edge) []graph.Edge {
	if slices.IsSortedFunc(edges, func(a, b graph.Edge) int { return compareEdges(&a, &b) }) {
		return edges
	}
	edges = slices.Clone(edges)
	slices.SortFunc(edges, func(a, b graph.Edge) int { return compareEdges(&a, &b) })
	return edges
}
