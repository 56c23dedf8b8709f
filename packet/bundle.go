package packet

import (
	"fmt"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// BundleSchema is the schema of a Bundle.
const BundleSchema = "exhibit.bundle.v1"

// Bounds on a bundle. A packet's bytes grow when they are written as a string.
const (
	MaxBundleBytes = 2*MaxPacketBytes + MaxGrants*MaxEnvelopeBytes
	MaxGrants      = 16
)

// Bundle is the file that travels. Packet is the packet's exact bytes as a
// string: its digest is the one that the grants name.
type Bundle struct {
	Schema string     `json:"schema"`
	Packet string     `json:"packet"`
	Grants []Envelope `json:"grants"` // 0..16
}

// EncodeBundle gives the file's bytes: canonical JSON and one LF.
func EncodeBundle(b *Bundle) ([]byte, error) {
	if err := checkBundle(b); err != nil {
		return nil, err
	}
	data, err := encode(fault.PacketInvalid, "bundle", b)
	return append(data, '\n'), err
}

// DecodeBundle reads a bundle strictly, and the packet in it with Decode. The
// form of each grant is checked, and no signature.
func DecodeBundle(data []byte) (*Bundle, *Packet, error) {
	b := new(Bundle)
	if err := decode(fault.PacketInvalid, "bundle", data, MaxBundleBytes, false, b); err != nil {
		return nil, nil, err
	}
	if err := checkBundle(b); err != nil {
		return nil, nil, err
	}
	p, err := Decode([]byte(b.Packet))
	return b, p, err
}

func checkBundle(b *Bundle) error {
	c := &checker{code: fault.PacketInvalid, what: "bundle"}
	c.oneOf(b.Schema, "schema", BundleSchema)
	c.that(len(b.Packet) <= MaxPacketBytes, "packet", "larger than %d bytes", MaxPacketBytes)
	c.that(len(b.Grants) <= MaxGrants, "grants", "more than %d", MaxGrants)
	if c.first != nil {
		return c.first
	}
	for i := range b.Grants {
		if _, err := b.Grants[i].Body(); err != nil {
			return fmt.Errorf("grants[%d]: %w", i, err)
		}
	}
	return nil
}
