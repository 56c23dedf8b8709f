package packet

import (
	"bytes"
	"errors"
	"slices"

	"github.com/exhibit-dev/exhibit/packet/strictjson"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Encode gives the packet's canonical bytes (RFC 8785), the ones that are
// addressed, signed and carried. A packet that breaks a rule of the schema is
// refused.
func Encode(p *Packet) ([]byte, error) {
	if err := check(p); err != nil {
		return nil, err
	}
	b, err := encode(fault.PacketInvalid, "packet", p)
	if err != nil {
		return nil, err
	}
	if len(b) > MaxPacketBytes {
		return nil, fault.New(fault.BudgetTooSmall, "the packet has %d bytes, over the %d of any packet", len(b), MaxPacketBytes)
	}
	return b, nil
}

// Decode reads a packet's bytes. They must be the canonical encoding of a
// packet that keeps every rule of the schema.
func Decode(data []byte) (*Packet, error) {
	p := new(Packet)
	if err := decode(fault.PacketInvalid, "packet", data, MaxPacketBytes, true, p); err != nil {
		return nil, err
	}
	if err := check(p); err != nil {
		return nil, err
	}
	return p, nil
}

// Address is the content address of a packet's bytes: "sha256:" and hex.
func Address(data []byte) string { return "sha256:" + Digest256(data) }

// encode writes one of this package's documents canonically.
func encode(code fault.Code, what string, v any) ([]byte, error) {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return nil, refused(code, what, err)
	}
	return b, nil
}

// decode reads a closed document; canonical ones must encode to the same bytes.
func decode(code fault.Code, what string, data []byte, max int, canonical bool, v any) error {
	if err := strictjson.Unmarshal(data, max, v); err != nil {
		return refused(code, what, err)
	}
	if !canonical {
		return nil
	}
	again, err := strictjson.Marshal(v)
	if err != nil {
		return refused(code, what, err)
	}
	if !bytes.Equal(again, data) {
		return fault.New(code, "the %s is not in canonical form (RFC 8785)", what)
	}
	return nil
}

// refused names the document and member of a strictjson error.
func refused(code fault.Code, what string, err error) error {
	f := fault.New(code, "invalid %s: %w", what, err)
	var e *strictjson.Error
	if errors.As(err, &e) {
		f = f.WithField(e.Path)
	}
	return f
}

// size is the number of bytes of v's canonical encoding; 0 when it has none,
// such as for a name that is not valid UTF-8.
func size(v any) int {
	b, err := strictjson.Marshal(v)
	if err != nil {
		return 0
	}
	return len(b)
}

// Without gives a copy of the packet without the citations for which failed
// says true, as a verifier's verdict: such a citation is dropped, never
// downgraded, and the packet says so (provider_warning). A document left
// without the citation of its site, or without any, is dropped whole
// (document_limit). Seeds stay, without their citation.
func Without(p *Packet, failed func(*Citation) bool) *Packet {
	q := *p
	q.Omissions = slices.Clone(p.Omissions)
	keep := func(in []Citation) []Citation {
		out := []Citation{}
		for i := range in {
			if failed(&in[i]) {
				q.omit(ProviderWarning)
			} else {
				out = append(out, in[i])
			}
		}
		return out
	}
	q.Documents = []Document{}
	for _, d := range p.Documents {
		d.Citations = keep(d.Citations)
		if len(d.Citations) == 0 || checkShown(&d) != "" {
			q.omit(DocumentLimit)
			continue
		}
		q.Documents = append(q.Documents, d)
	}
	q.Seeds = []Seed{}
	for _, s := range p.Seeds {
		s.Citations = keep(s.Citations)
		q.Seeds = append(q.Seeds, s)
	}
	if p.UnresolvedMentions != nil {
		m := *p.UnresolvedMentions
		m.Sites = keep(m.Sites)
		q.UnresolvedMentions = &m
	}
	summarize(&q)
	return &q
}

func (p *Packet) omit(code string) {
	if i, found := slices.BinarySearch(p.Omissions, code); !found {
		p.Omissions = slices.Insert(p.Omissions, i, code)
	}
}
