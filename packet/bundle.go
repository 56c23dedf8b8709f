package packet

// BundleSchema is the schema of a Bundle.
const BundleSchema = "exhibit.bundle.v1"

// Bundle is the file that travels. Packet is the packet's exact bytes as a
// string: its digest is the one that the grants name.
type Bundle struct {
	Schema string     `json:"schema"`
	Packet string     `json:"packet"`
	Grants []Envelope `json:"grants"` // 0..16
}
