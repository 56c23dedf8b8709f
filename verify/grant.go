package verify

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

// ClockSkew is how far the signer's clock may run ahead of ours. Expiry has no
// such grace.
const ClockSkew = time.Minute

// grantCheck holds what every grant of a bundle is held against.
type grantCheck struct {
	options  Options
	now      time.Time
	revision string   // commit that the consumer's revision names
	refusal  *Refusal // why it names none
}

// candidate is the packet that a grant may be for: its bytes and what decoding
// them gave.
type candidate struct {
	raw    []byte
	packet *packet.Packet
	err    error
}

// held is a grant that holds.
type held struct {
	signer    *trust.Signer
	statement *packet.Statement
}

// resolve finds out which commit the consumer means.
func (c *grantCheck) resolve(ctx context.Context) error {
	name := c.options.Expect.Revision
	switch repo := c.options.Repository; {
	case name == "":
	case repo != nil:
		rev, err := repo.Resolve(ctx, name)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			c.refusal = refuse(RevisionUnknown, "revision %q: %s", name, sentence(err))
		} else if rev.Commit == "" {
			c.refusal = refuse(RevisionUnknown, "revision %q has no commit yet", name)
		}
		c.revision = rev.Commit
	default:
		if _, err := hex.DecodeString(name); err != nil || len(name) != 40 && len(name) != 64 {
			return fault.New(fault.InvalidRequest, "revision %q cannot be resolved without a repository", name).
				WithHint("name a clone with --repo, or give the full commit id")
		}
		c.revision = strings.ToLower(name)
	}
	return nil
}

// grant checks one envelope over one packet's bytes, in the order of
// docs/format.md; the first failure ends it.
func (c *grantCheck) grant(e *packet.Envelope, of candidate) (*held, *Refusal) {
	signer, payload, refusal := c.signature(e)
	if refusal != nil {
		return nil, refusal
	}
	st, err := packet.DecodeStatement(payload)
	if err != nil {
		return nil, refuse(statementReason(err), "%v", err)
	}
	if !signer.Allows(st.Predicate.Issuer) {
		return nil, refuse(IssuerNotAllowed, "the trust file does not list %q for the key %s (line %d)",
			st.Predicate.Issuer, signer.Key.Fingerprint(), signer.Entries[0].Line)
	}
	if refusal := subjects(st, of); refusal != nil {
		return nil, refusal
	}
	for _, check := range []func(*packet.Grant, *packet.Packet) *Refusal{c.times, c.names, c.commit, c.local} {
		if refusal := check(&st.Predicate, of.packet); refusal != nil {
			return nil, refusal
		}
	}
	return &held{signer: signer, statement: st}, nil
}

// signature finds a signature that the trust file lets vouch. Of several, one
// must hold; the refusal is that of the first.
func (c *grantCheck) signature(e *packet.Envelope) (*trust.Signer, []byte, *Refusal) {
	payload, err := e.Body()
	if err != nil {
		return nil, nil, refuse(bundleReason(err), "%v", err)
	}
	message := packet.PAE(e.PayloadType, payload)
	use := trust.Use{Namespace: keys.Namespace, At: c.now, Revoked: c.options.Revoked}
	var first *Refusal
	for i := range e.Signatures {
		s := &e.Signatures[i]
		signer, refusal := c.options.Trust.Vouch(message, s.Bytes(), s.KeyID, use)
		if refusal == nil {
			return signer, payload, nil
		}
		first = cmp.Or(first, refuse(Reason(refusal.Reason), "%s", refusal.Detail))
	}
	return nil, nil, first
}

// statementReason tells apart what DecodeStatement refuses.
func statementReason(err error) Reason {
	var f *fault.Error
	switch {
	case !errors.As(err, &f):
	case f.Field == "_type":
		return StatementType
	case f.Field == "predicateType":
		return PredicateType
	case strings.HasPrefix(f.Field, "subject"):
		return SubjectSet
	}
	return StatementInvalid
}

// subjects compares every subject with the packet's bytes and members.
func subjects(st *packet.Statement, of candidate) *Refusal {
	digest := packet.Digest256(of.raw)
	for _, s := range st.Subject {
		if s.Name == packet.SubjectPacket && s.Digest.SHA256 != digest {
			return refuse(PacketDigest, "the grant is for the packet sha256:%s and this one is sha256:%s", s.Digest.SHA256, digest)
		}
	}
	if of.err != nil {
		return refuse(PacketInvalid, "%v", of.err)
	}
	want := packet.Subjects(of.packet, of.raw)
	if len(st.Subject) != len(want) {
		return refuse(SubjectSet, "the grant has %d subjects and the packet calls for %d", len(st.Subject), len(want))
	}
	for i, s := range st.Subject {
		switch {
		case s.Name != want[i].Name:
			return refuse(SubjectSet, "the grant has the subject %q where the packet calls for %q", s.Name, want[i].Name)
		case s.Digest != want[i].Digest:
			return refuse(map[string]Reason{
				packet.SubjectPacket: PacketDigest, packet.SubjectCommit: SubjectCommit,
				packet.SubjectTree: SubjectTree, packet.SubjectContent: SubjectContent,
			}[s.Name], "the grant's %s is not that of the packet", s.Name)
		}
	}
	if have, want := st.Predicate.Repository.ObjectFormat, of.packet.Repository.ObjectFormat; have != want {
		return refuse(ObjectFormat, "the grant says object format %q and the packet %q", have, want)
	}
	return nil
}

// times checks the grant's window and age.
func (c *grantCheck) times(g *packet.Grant, _ *packet.Packet) *Refusal {
	issued, err1 := packet.ParseTimestamp(g.IssuedAt)
	from, err2 := packet.ParseTimestamp(g.NotBefore)
	until, err3 := packet.ParseTimestamp(g.NotAfter)
	if err := cmp.Or(err1, err2, err3); err != nil {
		return refuse(StatementInvalid, "%v", err)
	}
	early, maxAge := c.now.Add(ClockSkew), c.options.Expect.MaxAge
	switch {
	case issued.After(early):
		return refuse(NotYetValid, "the grant says that it was issued at %s, which is still to come", g.IssuedAt)
	case from.After(early):
		return refuse(NotYetValid, "the grant is valid from %s on", g.NotBefore)
	case !c.now.Before(until):
		return refuse(Expired, "the grant was valid until %s", g.NotAfter)
	case maxAge > 0 && c.now.Sub(issued) > maxAge:
		return refuse(TooOld, "the grant was issued at %s, more than %s ago", g.IssuedAt, maxAge)
	}
	return nil
}

// names checks recipient, issuer and repository.
func (c *grantCheck) names(g *packet.Grant, _ *packet.Packet) *Refusal {
	want := c.options.Expect
	if want.Recipient != "" && !slices.Contains(g.Audience, want.Recipient) {
		return refuse(RecipientMismatch, "the grant is for %s and not for %q", strings.Join(g.Audience, ", "), want.Recipient)
	}
	return cmp.Or(
		mismatch(IssuerMismatch, "issuer", want.Issuer, g.Issuer),
		mismatch(RepositoryMismatch, "repository", want.Repository, g.Repository.ID))
}

// commit checks the revision that the consumer is at.
func (c *grantCheck) commit(_ *packet.Grant, p *packet.Packet) *Refusal {
	if c.options.Expect.Revision == "" {
		return nil
	}
	if c.refusal != nil {
		return c.refusal
	}
	if c.revision != p.Repository.Commit {
		return refuse(RevisionMismatch, "the packet is of commit %s and %q is %s", p.Repository.Commit, c.options.Expect.Revision, c.revision)
	}
	return nil
}

// local checks what the consumer derives from its own state.
func (c *grantCheck) local(g *packet.Grant, _ *packet.Packet) *Refusal {
	want := c.options.Expect
	return cmp.Or(
		mismatch(GenerationMismatch, "generation", want.Generation, g.Generation),
		mismatch(PolicyMismatch, "policy", want.PolicyDigest, g.Policy.Digest),
		mismatch(ConnectionMismatch, "connection", want.Connection, g.Connection),
		mismatch(WorkItemMismatch, "work item", want.WorkItem, g.WorkItem))
}

func mismatch(reason Reason, what, want, have string) *Refusal {
	if want == "" || want == have {
		return nil
	}
	return refuse(reason, "the grant's %s is %q, not %q", what, have, want)
}
