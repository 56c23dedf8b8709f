package search

import (
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// MarshalJSON gives the serialised body, compact. A node is described in full
// where it is a seed or an item's node; elsewhere (an item's from and to, a
// step's node, unresolved_entities) only its id stands once the answer has
// described it before, in reading order. Call sites in the file of their item's
// node leave out that file's digests.
func (a Answer) MarshalJSON() ([]byte, error) {
	items, err := a.encodeItems()
	if err != nil {
		return nil, err
	}
	return a.encode(items)
}

// encode gives the body with the items given.
func (a *Answer) encode(items []json.RawMessage) ([]byte, error) {
	type body Answer // without the method
	b := body(*a)
	b.Items = nil
	b.Ambiguous = compactRefs(a.Ambiguous, describe(nil, a.Seeds))
	// The embedded list shadows body's: encoding/json prefers the shallower one.
	return json.Marshal(struct {
		*body
		Items []json.RawMessage `json:"items"`
	}{&b, items})
}

// encodeItems serialises each item once, in order.
func (a *Answer) encodeItems() ([]json.RawMessage, error) {
	known := describe(nil, a.Seeds)
	items := make([]json.RawMessage, 0, len(a.Items))
	for i := range a.Items {
		it := a.Items[i]
		describe(known, []NodeRef{it.Node})
		it.From, it.To = compactEnd(it.From, known), compactEnd(it.To, known)
		it.CallSite = compactSite(it.CallSite, it.Node.Path)
		steps := make([]Step, len(it.Steps))
		for j, s := range it.Steps {
			s.CallSite = compactSite(s.CallSite, s.Node.Path)
			s.Node = *compactEnd(&s.Node, known)
			steps[j] = s
		}
		it.Steps = steps
		b, err := json.Marshal(it)
		if err != nil {
			return nil, fmt.Errorf("encoding item %d: %w", i, err)
		}
		items = append(items, b)
	}
	return items, nil
}

func describe(known map[string]bool, refs []NodeRef) map[string]bool {
	if known == nil {
		known = map[string]bool{}
	}
	for i := range refs {
		known[refs[i].ID] = true
	}
	return known
}

func compactEnd(r *NodeRef, known map[string]bool) *NodeRef {
	if r == nil || r.ID == "" {
		return r
	}
	if known[r.ID] {
		return &NodeRef{ID: r.ID}
	}
	known[r.ID] = true
	return r
}

func compactRefs(refs []NodeRef, known map[string]bool) []NodeRef {
	out := make([]NodeRef, len(refs))
	for i := range refs {
		out[i] = *compactEnd(&refs[i], known)
	}
	return out
}

func compactSite(s *SiteRef, path string) *SiteRef {
	if s == nil || s.Path != path {
		return s
	}
	c := *s
	c.Blob, c.FileSHA256 = "", ""
	return &c
}

// fit drops whole items from the end until the body has at most limit bytes, and
// states how many. Each item is serialised once.
func (a *Answer) fit(limit int) error {
	items, err := a.encodeItems()
	if err != nil {
		return err
	}
	size := max(len(items)-1, 0) // commas
	for _, b := range items {
		size += len(b)
	}
	envelope, err := a.encode([]json.RawMessage{})
	if err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	need := len(envelope) + size
	if need <= limit {
		return nil
	}
	all := len(items)
	a.Cuts = append(a.Cuts[:len(a.Cuts):len(a.Cuts)], Cut{Bound: BoundMaxBytes, Limit: limit, Dropped: 1})
	a.complete()
	if envelope, err = a.encode([]json.RawMessage{}); err != nil {
		return fmt.Errorf("encoding the answer: %w", err)
	}
	fixed := len(envelope) - 1 // without the digit of Dropped
	for n := all - 1; n >= 0; n-- {
		size = max(size-len(items[n])-1, 0)
		with := fixed + len(strconv.Itoa(all-n)) + size
		if with <= limit {
			a.Items = a.Items[:n:n]
			a.Cuts[len(a.Cuts)-1].Dropped = all - n
			return nil
		}
		need = min(need, with)
	}
	return fault.New(fault.BudgetTooSmall, "the answer without any item takes %d bytes, and max_bytes is %d", need, limit).
		WithField("max_bytes").WithHint("give max_bytes of %d or more", need)
}
