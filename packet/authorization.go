package packet

// AuthorizationSchema and PolicySchema are those of an authorization file.
const (
	AuthorizationSchema = "exhibit.authorization.v1"
	PolicySchema        = "exhibit.policy.v1"
)

// Authorization is what an operator approved: for which connection, repository
// and work, and under which policy. It is read from a file that the operator
// names and is never discovered.
type Authorization struct {
	Schema     string     `json:"schema"`
	Connection Connection `json:"connection"`
	Policy     Policy     `json:"policy"`
	Repository string     `json:"repository"`
	WorkItem   string     `json:"work_item"`
}

// Connection is one approved checkout and its recipients. It holds no
// credential.
type Connection struct {
	Connection   string             `json:"connection"`
	Provider     string             `json:"provider"`   // exhibit
	Kind         string             `json:"kind"`       // repository
	Generation   string             `json:"generation"` // local fingerprint that it was approved for
	State        string             `json:"state"`      // verified
	Identity     ConnectionIdentity `json:"identity"`
	Repositories []string           `json:"repositories"`
	Recipients   []string           `json:"recipients"` // 1..32
	ExpiresAt    string             `json:"expires_at"`
	Capabilities Capabilities       `json:"capabilities"`
}

// ConnectionIdentity is the checkout, as an absolute path. It never leaves the
// authorization file.
type ConnectionIdentity struct {
	RepositoryRoot string `json:"repository_root"`
}

// Capabilities are what the connection may be used for.
type Capabilities struct {
	Search          bool `json:"search"`
	Memory          bool `json:"memory"`
	RevisionBinding bool `json:"revision_binding"`
}

// Policy is the operator's choice of limits; a member that is absent has its
// default.
type Policy struct {
	Schema     string       `json:"schema"`
	Connection string       `json:"connection"`
	Version    string       `json:"policy_version"`
	Required   bool         `json:"required"`
	Limits     PolicyLimits `json:"limits"`
}

// PolicyLimits are the limits as written; 0 is absent and means the default.
type PolicyLimits struct {
	PacketBytes   int `json:"packet_bytes,omitempty"`
	Documents     int `json:"documents,omitempty"`
	DocumentBytes int `json:"document_bytes,omitempty"`
	TextBytes     int `json:"text_bytes,omitempty"`
	AgeSeconds    int `json:"age_seconds,omitempty"`
}
