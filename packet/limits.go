package packet

import (
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Limits are the limits in force when a packet is made. Bytes are of canonical
// JSON: PacketBytes of the whole packet, DocumentBytes of one document;
// TextBytes is of all sentences and snippets before encoding. MaxAge is how old
// a grant may be when it is used.
type Limits struct {
	PacketBytes   int
	Documents     int
	DocumentBytes int
	TextBytes     int
	MaxAge        time.Duration
}

// DefaultLimits are those of a policy that sets none.
func DefaultLimits() Limits {
	return Limits{PacketBytes: 262144, Documents: 5, DocumentBytes: 20000, TextBytes: 80000, MaxAge: time.Hour}
}

// CeilingLimits are the most that a policy can allow.
func CeilingLimits() Limits {
	return Limits{PacketBytes: MaxPacketBytes, Documents: MaxDocuments, DocumentBytes: 80000, TextBytes: 160000, MaxAge: 24 * time.Hour}
}

// Limits fills in the defaults and refuses what is over a ceiling.
func (p PolicyLimits) Limits() (Limits, error) {
	l, ceiling := DefaultLimits(), CeilingLimits()
	age := int(l.MaxAge / time.Second)
	for _, m := range []struct {
		name    string
		set     int
		ceiling int
		dst     *int
	}{
		{"packet_bytes", p.PacketBytes, ceiling.PacketBytes, &l.PacketBytes},
		{"documents", p.Documents, ceiling.Documents, &l.Documents},
		{"document_bytes", p.DocumentBytes, ceiling.DocumentBytes, &l.DocumentBytes},
		{"text_bytes", p.TextBytes, ceiling.TextBytes, &l.TextBytes},
		{"age_seconds", p.AgeSeconds, int(ceiling.MaxAge / time.Second), &age},
	} {
		switch {
		case m.set == 0:
		case m.set < 0 || m.set > m.ceiling:
			return Limits{}, fault.New(fault.AuthorizationBad, "policy limit %s is %d, outside 1..%d", m.name, m.set, m.ceiling).
				WithField("policy.limits." + m.name)
		default:
			*m.dst = m.set
		}
	}
	l.MaxAge = time.Duration(age) * time.Second
	return l, nil
}

// check refuses limits that are not positive or over a ceiling.
func (l Limits) check() error {
	_, err := PolicyLimits{PacketBytes: l.PacketBytes, Documents: l.Documents, DocumentBytes: l.DocumentBytes, TextBytes: l.TextBytes}.Limits()
	if err == nil && (l.PacketBytes == 0 || l.Documents == 0 || l.DocumentBytes == 0 || l.TextBytes == 0) {
		return fault.New(fault.BudgetTooSmall, "a packet limit is 0").WithHint("use packet.DefaultLimits or the policy's limits")
	}
	return err
}
