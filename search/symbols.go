package search

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// nominated is how many definitions the text index may nominate.
const nominated = 1000

// maxName is the longest query, in bytes, that is taken for a name.
const maxName = 512

// The tiers of symbols, best first.
const (
	tierQualified = "qualified"
	tierName      = "name"
	tierSegments  = "segments"
	tierText      = "text"
)

// hit is a definition that a query found, with what orders it inside its tier.
type hit struct {
	id   graph.NodeID
	node *graph.Node
	key  [4]int // smaller first
}

// symbols ranks definitions in tiers. A definition stands in the first tier that
// finds it; filters apply before ranking and cutting.
func (q *query) symbols() error {
	s := &symbolSearch{q: q, text: strings.TrimSpace(q.req.Query), found: map[graph.NodeID]bool{}}
	s.words = words(s.text)
	for _, w := range s.words {
		s.segs = append(s.segs, segments(w)...)
	}
	slices.Sort(s.segs)
	s.segs = slices.Compact(s.segs)
	for _, tier := range []struct {
		name string
		find func() ([]graph.NodeID, error)
	}{
		{tierQualified, s.qualified}, {tierName, s.named}, {tierSegments, s.segmented}, {tierText, s.full},
	} {
		ids, err := tier.find()
		if err != nil {
			return err
		}
		if err := s.add(tier.name, ids); err != nil {
			return err
		}
		if tier.name == tierQualified && len(s.found) > 0 && strings.ContainsAny(s.text, "/:") {
			break // a path was meant, and it was found
		}
	}
	q.cut(BoundLimit, q.req.Limit, s.over)
	if len(s.words) == 1 && s.words[0] == strings.Trim(s.text, "_") && len(s.text) <= maxName {
		return q.mentions(s.text)
	}
	return nil
}

type symbolSearch struct {
	q     *query
	text  string
	words []string
	segs  []string
	found map[graph.NodeID]bool
	over  int
}

// add ranks what a tier found beyond the earlier ones.
func (s *symbolSearch) add(tier string, ids []graph.NodeID) error {
	var hits []hit
	for _, id := range ids {
		if s.found[id] {
			continue
		}
		n, err := s.q.node(id)
		if err != nil {
			return err
		}
		if !s.wanted(n) {
			continue
		}
		s.found[id] = true
		hits = append(hits, hit{id, n, s.rank(tier, n)})
	}
	slices.SortFunc(hits, func(a, b hit) int {
		for i := range a.key {
			if c := cmp.Compare(a.key[i], b.key[i]); c != 0 {
				return c
			}
		}
		return cmp.Or(strings.Compare(a.node.Path, b.node.Path), cmp.Compare(a.node.Start, b.node.Start), cmp.Compare(a.id, b.id))
	})
	for _, h := range hits {
		if len(s.q.a.Items) == s.q.req.Limit {
			s.over++
			continue
		}
		r, err := s.q.ref(h.id)
		if err != nil {
			return err
		}
		s.q.a.Items = append(s.q.a.Items, Item{Node: r, Tier: tier})
	}
	return nil
}

func (s *symbolSearch) wanted(n *graph.Node) bool {
	r := &s.q.req
	return under(n.Path, r.PathPrefix) && (r.Language == "" || n.Language == r.Language) && (r.NodeKind == "" || n.Kind == r.NodeKind)
}

// rank is the one policy inside a tier: how much of the query the definition
// covers (nothing to tell apart in the tiers that match it whole), relevance of
// the path, kind, and length of the name.
func (s *symbolSearch) rank(tier string, n *graph.Node) [4]int {
	cover := 0
	switch tier {
	case tierName:
		if n.Name != s.text {
			cover = 1 // equal to one of several words, or but for case
		}
	case tierSegments:
		cover = len(segments(n.Name))
	case tierText:
		cover = -s.score(n)
	}
	return [4]int{cover, s.pathRank(n), kindRank[n.Kind], len(n.Name)}
}

// score is how many of the query's segments the definition's name, path and
// signature hold; the name counts most.
func (s *symbolSearch) score(n *graph.Node) int {
	name, file, sig := segments(n.Qualified), segments(n.Path), segments(n.Signature)
	score := 0
	for _, w := range s.segs {
		if slices.Contains(name, w) {
			score += 4
		}
		if slices.Contains(file, w) {
			score += 2
		}
		if slices.Contains(sig, w) {
			score++
		}
	}
	return score
}

// pathRank puts paths that bear words of the query first and those of tests
// last, unless the query speaks of tests.
func (s *symbolSearch) pathRank(n *graph.Node) int {
	rank := 0
	parts := segments(n.Path)
	for _, w := range s.segs {
		if slices.Contains(parts, w) {
			rank--
		}
	}
	if n.TestFile && !slices.Contains(s.segs, "test") && !slices.Contains(s.segs, "tests") {
		rank += maxWords
	}
	return rank
}

var kindRank = map[string]int{
	"class": 0, "interface": 0, "struct": 0, "type": 0, "enum": 0, "function": 1, "method": 2, "constructor": 2, "accessor": 2,
	"namespace": 3, "package": 3, "constant": 4, "variable": 4, "file": 5, "enum_member": 6, "field": 6,
}

// qualified: the query is a path or a qualified name in any of the exact forms.
func (s *symbolSearch) qualified() ([]graph.NodeID, error) {
	ids, err := s.q.exact(s.text)
	if err != nil {
		return nil, err
	}
	// What only bears the label belongs to the next tier.
	return s.q.filter(ids, func(n *graph.Node) bool { return n.Qualified == s.text || n.Name != s.text })
}

// named: a simple name is the query, or one of its words that can only be meant
// as an identifier. A plain word among others says too little to be one.
func (s *symbolSearch) named() ([]graph.NodeID, error) {
	names := []string{s.text}
	for _, w := range s.words {
		if len(s.words) == 1 || len(segments(w)) > 1 {
			names = append(names, w)
		}
	}
	var all []graph.NodeID
	for _, name := range names {
		ids, err := s.q.g.NodesNamed(name)
		if err != nil {
			return nil, fmt.Errorf("looking up the name %q: %w", name, err)
		}
		all = append(all, ids...)
	}
	return all, nil
}

// segmented: the segments of a name hold every segment of the query. A name that
// equals the query but for case is among them.
func (s *symbolSearch) segmented() ([]graph.NodeID, error) {
	if len(s.segs) == 0 {
		return nil, nil
	}
	var all []graph.NodeID
	folded := strings.ToLower(s.text)
	n, late := 0, error(nil)
	err := s.q.g.Names(func(name string, ids []graph.NodeID) bool {
		if n++; n%4096 == 0 {
			if late = s.q.ctx.Err(); late != nil {
				return false
			}
		}
		if strings.ToLower(name) == folded || holds(segments(name), s.segs) {
			all = append(all, ids...)
		}
		return true
	})
	if err = cmp.Or(err, late); err != nil {
		return nil, fmt.Errorf("going through the names: %w", err)
	}
	return all, nil
}

func holds(have, want []string) bool {
	if len(have) < len(want) {
		return false
	}
	for _, w := range want {
		if !slices.Contains(have, w) {
			return false
		}
	}
	return true
}

// full: what the text index nominates and this package's own score confirms.
func (s *symbolSearch) full() ([]graph.NodeID, error) {
	if len(s.words) == 0 || s.over > 0 { // a cut is stated already
		return nil, nil
	}
	ids, err := s.q.g.TextCandidates(s.q.ctx, slices.Clone(s.words), nominated)
	if err != nil {
		return nil, fmt.Errorf("searching the text index: %w", err)
	}
	if len(ids) >= nominated {
		s.q.a.Cuts = append(s.q.a.Cuts, Cut{Bound: BoundText, Limit: nominated})
	}
	return s.q.filter(ids, func(n *graph.Node) bool { return s.score(n) > 0 })
}
