package packet

// The fixed words of a grant. StatementType is in-toto's, PayloadType DSSE's
// word for it, PredicateType our own.
const (
	StatementType = "https://in-toto.io/Statement/v1"
	PredicateType = "https://exhibit.dev/grant/v1"
	PayloadType   = "application/vnd.in-toto+json"
)

// The names of a grant's subjects, in this order. Commit and tree are left out
// when HEAD is unborn.
const (
	SubjectPacket  = "packet"              // digest sha256: of the packet's bytes
	SubjectCommit  = "commit"              // digest gitCommit
	SubjectTree    = "tree"                // digest gitTree
	SubjectContent = "content_fingerprint" // digest sha256: the fingerprint itself
)

// Statement is an in-toto Statement v1 with the grant as predicate.
type Statement struct {
	Type          string    `json:"_type"`
	Subject       []Subject `json:"subject"`
	PredicateType string    `json:"predicateType"`
	Predicate     Grant     `json:"predicate"`
}

// Subject is one thing that the grant is about. A verifier compares all.
type Subject struct {
	Name   string `json:"name"`
	Digest Digest `json:"digest"`
}

// Digest has exactly one member, in hex.
type Digest struct {
	SHA256    string `json:"sha256,omitempty"`
	GitCommit string `json:"gitCommit,omitempty"`
	GitTree   string `json:"gitTree,omitempty"`
}

// Grant is the closed predicate: who vouches, for whom, for which work, until
// when. Times are RFC 3339 in UTC with whole seconds and "Z".
type Grant struct {
	Issuer        string          `json:"issuer"`     // principal of the signer: a claim until the trust file says so
	Audience      []string        `json:"audience"`   // 1..32 recipients "participant:role", sorted, unique
	Connection    string          `json:"connection"` // name
	Generation    string          `json:"generation"` // local fingerprint, hex
	Repository    GrantRepository `json:"repository"`
	WorkItem      string          `json:"work_item"`
	Policy        GrantPolicy     `json:"policy"`
	SourceBuiltAt string          `json:"source_built_at"` // when the generation was built
	IssuedAt      string          `json:"issued_at"`
	NotBefore     string          `json:"not_before"`
	NotAfter      string          `json:"not_after"`
	Nonce         string          `json:"nonce"`                    // 32 hex digits
	MaxDeliveries int             `json:"max_deliveries,omitempty"` // 0: no bound
}

// GrantRepository is the repository as the operator names it.
type GrantRepository struct {
	ID           string `json:"id"`
	ObjectFormat string `json:"object_format"`
}

// GrantPolicy names the policy under which the packet was minted.
type GrantPolicy struct {
	Version string `json:"version"`
	Digest  string `json:"digest"` // hex SHA-256 of the policy's canonical JSON
}
