package packet

import (
	"encoding/hex"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/exhibit-dev/exhibit/packet/strictjson"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

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

// MaxRecipients is the most that one grant can name.
const MaxRecipients = 32

// Terms are what a grant says beside its subjects.
type Terms struct {
	Issuer        string
	Audience      []string // recipients; sorted and made unique
	Connection    string
	Generation    string // local fingerprint, hex
	RepositoryID  string
	WorkItem      string
	Policy        GrantPolicy
	SourceBuiltAt time.Time
	NotBefore     time.Time // zero: the time of issue
	Lifetime      time.Duration
	Expires       time.Time // zero: nothing ends it before Lifetime does
	MaxDeliveries int
}

// NewStatement makes the statement that grants the packet with these canonical
// bytes, issued now. The nonce is read from random.
func NewStatement(packet []byte, t Terms, now time.Time, random io.Reader) (*Statement, error) {
	p, err := Decode(packet)
	if err != nil {
		return nil, err
	}
	var nonce [16]byte
	if _, err := io.ReadFull(random, nonce[:]); err != nil {
		return nil, fault.New(fault.GrantInvalid, "cannot read a nonce: %w", err)
	}
	now = now.UTC().Truncate(time.Second)
	from := t.NotBefore
	if from.IsZero() {
		from = now
	}
	to := from.Add(t.Lifetime)
	if !t.Expires.IsZero() && t.Expires.Before(to) {
		to = t.Expires
	}
	if !now.Before(to) {
		return nil, fault.New(fault.Unauthorized, "the authorization ended at %s", Timestamp(to)).
			WithHint("have the operator renew the authorization file")
	}
	audience := slices.Clone(t.Audience)
	slices.Sort(audience)
	st := &Statement{
		Type:          StatementType,
		Subject:       Subjects(p, packet),
		PredicateType: PredicateType,
		Predicate: Grant{
			Issuer:        t.Issuer,
			Audience:      slices.Compact(audience),
			Connection:    t.Connection,
			Generation:    t.Generation,
			Repository:    GrantRepository{ID: t.RepositoryID, ObjectFormat: p.Repository.ObjectFormat},
			WorkItem:      t.WorkItem,
			Policy:        t.Policy,
			SourceBuiltAt: Timestamp(t.SourceBuiltAt),
			IssuedAt:      Timestamp(now),
			NotBefore:     Timestamp(from),
			NotAfter:      Timestamp(to),
			Nonce:         hex.EncodeToString(nonce[:]),
			MaxDeliveries: t.MaxDeliveries,
		},
	}
	return st, checkStatement(st)
}

// Subjects are the subjects that a grant of this packet must have, all of them
// and no other. data is the packet's canonical bytes.
func Subjects(p *Packet, data []byte) []Subject {
	s := []Subject{{SubjectPacket, Digest{SHA256: Digest256(data)}}}
	if p.Repository.Commit != "" {
		s = append(s, Subject{SubjectCommit, Digest{GitCommit: p.Repository.Commit}}, Subject{SubjectTree, Digest{GitTree: p.Repository.Tree}})
	}
	return append(s, Subject{SubjectContent, Digest{SHA256: p.ContentFingerprint}})
}

// Timestamp writes a time as grants have it.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05Z") }

// ParseTimestamp reads a time as grants have it, and no other form.
func ParseTimestamp(s string) (time.Time, error) {
	t, err := time.Parse("2006-01-02T15:04:05Z", s)
	if err != nil || Timestamp(t) != s {
		return time.Time{}, fmt.Errorf("%s is no time such as 2026-01-31T12:00:00Z", shown(s))
	}
	return t, nil
}

// EncodeStatement gives a statement's canonical bytes, the ones that are signed.
func EncodeStatement(st *Statement) ([]byte, error) {
	if err := checkStatement(st); err != nil {
		return nil, err
	}
	return encode(fault.GrantInvalid, "grant", st)
}

// DecodeStatement reads a statement's bytes, which must be canonical. The
// subjects are checked in form; compare them with Subjects of the packet.
func DecodeStatement(data []byte) (*Statement, error) {
	st := new(Statement)
	if err := decode(fault.GrantInvalid, "grant", data, MaxStatementBytes, true, st); err != nil {
		return nil, err
	}
	return st, checkStatement(st)
}

func checkStatement(st *Statement) error {
	c := &checker{code: fault.GrantInvalid, what: "grant"}
	c.oneOf(st.Type, "_type", StatementType)
	c.oneOf(st.PredicateType, "predicateType", PredicateType)
	c.subjects(st)
	g := &st.Predicate
	c.text(g.Issuer, "predicate.issuer")
	c.that(len(g.Audience) >= 1 && len(g.Audience) <= MaxRecipients, "predicate.audience", "want 1 to %d recipients", MaxRecipients)
	for i, r := range g.Audience {
		c.recipient(r, "predicate.audience")
		c.that(i == 0 || g.Audience[i-1] < r, "predicate.audience", "not sorted, or a recipient stands twice")
	}
	c.name(g.Connection, "predicate.connection")
	c.hex(g.Generation, "predicate.generation", 64)
	c.text(g.Repository.ID, "predicate.repository.id")
	c.text(g.WorkItem, "predicate.work_item")
	c.text(g.Policy.Version, "predicate.policy.version")
	c.hex(g.Policy.Digest, "predicate.policy.digest", 64)
	built := c.time(g.SourceBuiltAt, "predicate.source_built_at")
	issued := c.time(g.IssuedAt, "predicate.issued_at")
	from, to := c.time(g.NotBefore, "predicate.not_before"), c.time(g.NotAfter, "predicate.not_after")
	c.that(!built.After(issued), "predicate.source_built_at", "is after the time of issue")
	c.that(from.Before(to), "predicate.not_after", "is not after not_before")
	c.that(!issued.After(to), "predicate.not_after", "is before the time of issue")
	c.hex(g.Nonce, "predicate.nonce", 32)
	c.that(g.MaxDeliveries >= 0 && g.MaxDeliveries <= strictjson.MaxInteger, "predicate.max_deliveries", "is negative or too large")
	return c.first
}

// subjects checks names, order and that each digest is the one of its name.
func (c *checker) subjects(st *Statement) {
	digits := hexLength(st.Predicate.Repository.ObjectFormat)
	c.oneOf(st.Predicate.Repository.ObjectFormat, "predicate.repository.object_format", "sha1", "sha256")
	names := []string{SubjectPacket, SubjectCommit, SubjectTree, SubjectContent}
	if len(st.Subject) == 2 {
		names = []string{SubjectPacket, SubjectContent}
	}
	c.that(len(st.Subject) == len(names), "subject", "want the subjects %s", strings.Join(names, ", "))
	if c.first != nil {
		return
	}
	for i, s := range st.Subject {
		at := fmt.Sprintf("subject[%d]", i)
		c.oneOf(s.Name, at+".name", names[i])
		want, d := Digest{}, s.Digest
		switch names[i] {
		case SubjectCommit:
			want.GitCommit = d.GitCommit
			c.hex(d.GitCommit, at+".digest.gitCommit", digits)
		case SubjectTree:
			want.GitTree = d.GitTree
			c.hex(d.GitTree, at+".digest.gitTree", digits)
		default:
			want.SHA256 = d.SHA256
			c.hex(d.SHA256, at+".digest.sha256", 64)
		}
		c.that(d == want, at+".digest", "has a digest of another kind")
	}
}

// text checks an identifier for people: one line, 1 to 256 bytes, nothing that
// does not print.
func (c *checker) text(s, at string) {
	c.that(s != "" && len(s) <= 256 && !strings.ContainsFunc(s, unprintable), at, "want one line of 1 to 256 printable bytes")
}

// name checks a name: [a-z][a-z0-9_-]{0,63}.
func (c *checker) name(s, at string) {
	c.that(isName(s), at, "%s is no name of lower-case letters, digits, '_' and '-'", shown(s))
}

func (c *checker) recipient(s, at string) {
	c.that(IsRecipient(s), at, "%s is no recipient such as claude:builder", shown(s))
}

func (c *checker) time(s, at string) time.Time {
	t, err := ParseTimestamp(s)
	c.that(err == nil, at, "%v", err)
	return t
}

func isName(s string) bool {
	return s != "" && len(s) <= 64 && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_-") == ""
}

// IsRecipient says whether s is "participant:role", both names.
func IsRecipient(s string) bool {
	participant, role, ok := strings.Cut(s, ":")
	return ok && isName(participant) && isName(role)
}

func unprintable(r rune) bool { return !unicode.IsPrint(r) }
