package search

import (
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// relationships answers impact, dependency, symbol, callers and callees.
func (q *query) relationships() error {
	t, err := q.resolveTarget()
	if err != nil {
		return err
	}
	var w *walk
	switch q.req.Kind {
	case KindImpact:
		w, err = q.impact(t.seeds)
	case KindDependency:
		q.limitation(LimitOutgoing)
		w, err = q.dependency(t.seeds)
	case KindSymbol:
		w, err = q.symbol(t.seeds)
	case KindCallers:
		return q.direct(t.seeds, inward)
	default:
		q.limitation(LimitOutgoing)
		return q.direct(t.seeds, outward)
	}
	if err != nil {
		return err
	}
	w.state()
	return q.report(w.items)
}

// report puts crossings into the answer.
func (q *query) report(items []crossing) error {
	for i := range items {
		it, err := q.item(&items[i])
		if err != nil {
			return err
		}
		q.a.Items = append(q.a.Items, it)
	}
	return nil
}

// containers are the kinds of seed that stand for what they contain.
var containers = map[string]bool{"file": true, "package": true, "namespace": true, "class": true, "interface": true, "struct": true, "type": true, "enum": true}

func whole(_, _ *graph.Node) bool { return true }

func constructors(c, m *graph.Node) bool { return c.Kind == "class" && isConstructor(m) }

// impact walks against the edges: first from the seeds through definitions,
// then, with what is left of the budget, from their modules and from the files
// that were reached, along imports alone. Importers of a module are coarse
// evidence, so they come last and never push a caller out.
func (q *query) impact(seeds []graph.NodeID) (*walk, error) {
	w := newWalk(q, inward, q.req.Depth, q.req.NodeBudget)
	w.nested, w.modules = true, true
	places, err := w.start(seeds, dependencyKinds, whole)
	if err != nil {
		return nil, err
	}
	if err := w.run(places, nil); err != nil {
		return nil, err
	}
	coarse, err := w.lift(places)
	if err != nil {
		return nil, err
	}
	for _, p := range w.coarse {
		c := *p
		c.kinds = setOf(graph.Imports)
		if ofModule, err := w.fromModule(p); err != nil {
			return nil, err
		} else if !ofModule {
			c.gran = "module"
		}
		coarse = append(coarse, &c)
	}
	w.modules = false
	return w, w.run(nil, coarse)
}

// lift gives the modules of seeds, the file and in Go the package, as places
// whose importers are taken.
func (w *walk) lift(places []*place) ([]*place, error) {
	var lifted []*place
	done := map[graph.NodeID]bool{}
	for _, s := range places {
		if s.prev != nil {
			continue // a member of a seed: its module is the seed's or the seed
		}
		for p, up := s, 0; up < 2; up++ { // the file, then its package
			id, ok, err := w.q.container(p.id, func(n *graph.Node) bool { return n.Kind == "file" || n.Kind == "package" })
			if err != nil {
				return nil, err
			}
			if !ok {
				break
			}
			p = &place{id: id, prev: p, static: true, kinds: setOf(graph.Imports), gran: "module"}
			if !w.seeds[id] && !done[id] {
				done[id] = true
				lifted = append(lifted, p)
			}
		}
	}
	return lifted, nil
}

// fromModule says whether the seed of a place is a file or package itself, so
// that importers of files are nothing coarser than what was asked.
func (w *walk) fromModule(p *place) (bool, error) {
	for p.prev != nil {
		p = p.prev
	}
	n, err := w.q.node(p.id)
	return err == nil && (n.Kind == "file" || n.Kind == "package"), err
}

// dependency walks along the edges.
func (q *query) dependency(seeds []graph.NodeID) (*walk, error) {
	w := newWalk(q, outward, q.req.Depth, q.req.NodeBudget)
	w.nested = true
	places, err := w.start(seeds, dependencyKinds, whole)
	if err != nil {
		return nil, err
	}
	return w, w.run(places, nil)
}

// symbol walks both ways along every kind. Containment is among them, so
// nothing expands.
func (q *query) symbol(seeds []graph.NodeID) (*walk, error) {
	w := newWalk(q, inward|outward, q.req.Depth, q.req.NodeBudget)
	places, err := w.start(seeds, dependencyKinds|setOf(graph.Contains), nil)
	if err != nil {
		return nil, err
	}
	return w, w.run(places, nil)
}

// direct answers callers and callees: one item a call site, next to the seeds
// alone. The callers of a class are those of its constructor too, not those of
// its other members; what a class calls is what its members call.
func (q *query) direct(seeds []graph.NodeID, dir direction) error {
	w := newWalk(q, dir, 1, maxNodeBudget)
	w.open = true
	expand := whole
	if dir == inward {
		expand = constructors
	}
	places, err := w.start(seeds, setOf(graph.Calls), expand)
	if err != nil {
		return err
	}
	if err := w.run(places, nil); err != nil {
		return err
	}
	w.state()
	kept := w.items[:min(len(w.items), q.req.Limit)]
	q.cut(BoundLimit, q.req.Limit, len(w.items)-len(kept))
	return q.report(kept)
}
