package packet

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

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

// MaxAuthorizationBytes bounds an authorization file.
const MaxAuthorizationBytes = 65536

// What a grant says when no authorization file is named: the packet is for the
// person who made it.
const (
	LocalConnection = "local"
	LocalRecipient  = "local:operator"
	LocalWorkItem   = "local"
	DefaultPolicy   = "default"
)

// DecodeAuthorization reads an authorization file strictly.
func DecodeAuthorization(data []byte) (*Authorization, error) {
	a := new(Authorization)
	if err := decode(fault.AuthorizationBad, "authorization", data, MaxAuthorizationBytes, false, a); err != nil {
		return nil, err
	}
	return a, checkAuthorization(a)
}

// EncodeAuthorization gives the authorization as canonical JSON.
func EncodeAuthorization(a *Authorization) ([]byte, error) {
	if err := checkAuthorization(a); err != nil {
		return nil, err
	}
	return encode(fault.AuthorizationBad, "authorization", a)
}

func checkAuthorization(a *Authorization) error {
	c := &checker{code: fault.AuthorizationBad, what: "authorization"}
	c.oneOf(a.Schema, "schema", AuthorizationSchema)
	n := &a.Connection
	c.name(n.Connection, "connection.connection")
	c.oneOf(n.Provider, "connection.provider", Provider)
	c.oneOf(n.Kind, "connection.kind", Kind)
	c.hex(n.Generation, "connection.generation", 64)
	c.oneOf(n.State, "connection.state", "verified")
	root := n.Identity.RepositoryRoot
	c.that(filepath.IsAbs(root) && filepath.Clean(root) == root && strings.IndexByte(root, 0) < 0,
		"connection.identity.repository_root", "want a clean absolute path")
	c.list(n.Repositories, "connection.repositories", c.text)
	c.list(n.Recipients, "connection.recipients", c.recipient)
	c.time(n.ExpiresAt, "connection.expires_at")
	c.oneOf(a.Policy.Schema, "policy.schema", PolicySchema)
	c.that(a.Policy.Connection == n.Connection, "policy.connection", "is not the connection %s", shown(n.Connection))
	c.text(a.Policy.Version, "policy.policy_version")
	c.text(a.Repository, "repository")
	c.that(slices.Contains(n.Repositories, a.Repository), "repository", "the connection does not list %s", shown(a.Repository))
	c.text(a.WorkItem, "work_item")
	if c.first != nil {
		return c.first
	}
	_, err := a.Policy.Limits.Limits()
	return err
}

// list checks 1..32 unique values.
func (c *checker) list(values []string, at string, each func(s, at string)) {
	c.that(len(values) >= 1 && len(values) <= MaxRecipients, at, "want 1 to %d", MaxRecipients)
	for i, v := range values {
		each(v, fmt.Sprintf("%s[%d]", at, i))
		c.that(!slices.Contains(values[:i], v), at, "%s stands twice", shown(v))
	}
}

// PolicyDigest is the hex SHA-256 of the policy's canonical JSON, as a grant
// names it.
func PolicyDigest(p *Policy) (string, error) {
	b, err := encode(fault.AuthorizationBad, "policy", p)
	return Digest256(b), err
}

// Terms gives what a grant under this authorization says, and the limits of its
// packet. generation is the local fingerprint of the generation that answers,
// built at builtAt; the authorization must have been given for that one.
func (a *Authorization) Terms(issuer, generation string, builtAt time.Time) (Terms, Limits, error) {
	if err := checkAuthorization(a); err != nil {
		return Terms{}, Limits{}, err
	}
	if generation != a.Connection.Generation {
		return Terms{}, Limits{}, fault.New(fault.Unauthorized, "the authorization is for another generation than the one that answers").
			WithField("connection.generation").WithHint("have the operator approve the new generation")
	}
	limits, err := a.Policy.Limits.Limits()
	if err != nil {
		return Terms{}, Limits{}, err
	}
	expires, err := ParseTimestamp(a.Connection.ExpiresAt)
	if err != nil {
		return Terms{}, Limits{}, err
	}
	digest, err := PolicyDigest(&a.Policy)
	return Terms{
		Issuer: issuer, Audience: a.Connection.Recipients, Connection: a.Connection.Connection, Generation: generation,
		RepositoryID: a.Repository, WorkItem: a.WorkItem, Policy: GrantPolicy{Version: a.Policy.Version, Digest: digest},
		SourceBuiltAt: builtAt, Lifetime: limits.MaxAge, Expires: expires,
	}, limits, err
}

// LocalTerms gives what a grant says without an authorization file: issued to
// LocalRecipient on the connection LocalConnection, under the default policy.
// repositoryID names the repository, such as its scope.
func LocalTerms(issuer, generation, repositoryID string, builtAt time.Time) (Terms, Limits, error) {
	limits := DefaultLimits()
	digest, err := PolicyDigest(&Policy{Schema: PolicySchema, Connection: LocalConnection, Version: DefaultPolicy})
	return Terms{
		Issuer: issuer, Audience: []string{LocalRecipient}, Connection: LocalConnection, Generation: generation,
		RepositoryID: repositoryID, WorkItem: LocalWorkItem, Policy: GrantPolicy{Version: DefaultPolicy, Digest: digest},
		SourceBuiltAt: builtAt, Lifetime: limits.MaxAge,
	}, limits, err
}
