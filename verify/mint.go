package verify

import (
	"context"
	"crypto/ed25519"
	"io"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

// Order is what Mint makes a bundle of.
type Order struct {
	Answer     *search.Answer
	Source     packet.Source // the bytes that the answer was made from
	Repository *snapshot.Repository
	Terms      packet.Terms // of the authorization
	Limits     packet.Limits
	Signer     packet.Signer
	Public     ed25519.PublicKey // of Signer
	Now        func() time.Time
	Random     io.Reader // for the nonce
}

// Minted is a bundle that was verified before it was handed over.
type Minted struct {
	Bundle    []byte
	Packet    *packet.Packet
	Address   string // sha256: of the packet's bytes
	Statement *packet.Statement
	Report    *Report // of the bundle itself, OK
	// Dropped counts the citations that did not hold against the repository, and
	// DroppedDocuments the documents that went with them.
	Dropped, DroppedDocuments int
}

// Mint assembles an answer's packet, checks every citation against the bound
// commit (or the worktree that it is of), leaves out what does not hold, signs a
// grant, and verifies the bundle as a recipient would before returning it.
//
// A citation that fails is dropped and never downgraded (provider_warning); a
// document whose claim is then no longer shown is dropped too (document_limit).
// When nothing that the answer claims can be proved any more it is
// fault.CodeChanged and there is no bundle.
func Mint(ctx context.Context, o Order) (*Minted, error) {
	p, err := packet.Assemble(o.Answer, o.Source, o.Limits)
	if err != nil {
		return nil, err
	}
	m := &Minted{}
	if p, err = m.prove(ctx, p, o.Repository); err != nil {
		return nil, err
	}
	raw, err := packet.Encode(p)
	if err != nil {
		return nil, err
	}
	m.Packet, m.Address = p, packet.Address(raw)
	if m.Statement, err = packet.NewStatement(raw, o.Terms, o.Now(), o.Random); err != nil {
		return nil, err
	}
	envelope, err := packet.Sign(ctx, m.Statement, o.Signer)
	if err != nil {
		return nil, err
	}
	m.Bundle, err = packet.EncodeBundle(&packet.Bundle{Schema: packet.BundleSchema, Packet: string(raw), Grants: []packet.Envelope{*envelope}})
	if err != nil {
		return nil, err
	}
	if err := m.receive(ctx, o); err != nil {
		return nil, err
	}
	return m, nil
}

// prove drops the citations that do not hold.
func (m *Minted) prove(ctx context.Context, p *packet.Packet, repo *snapshot.Repository) (*packet.Packet, error) {
	against := Against{Repository: repo, Tree: p.Repository.Tree, Decides: snapshot.Source(p.Source)}
	if refusal := against.bind(ctx, p.Repository); refusal != nil {
		return nil, unbound(refusal)
	}
	places, list := Cited(p)
	verdicts, err := against.Check(ctx, list)
	if err != nil {
		return nil, err
	}
	failed := map[packet.Citation]bool{}
	var first string
	for i := range verdicts {
		if verdicts[i].OK {
			continue
		}
		failed[list[i]] = true
		if m.Dropped++; m.Dropped == 1 {
			first = places[i] + ": " + verdicts[i].why(against.Decides)
		}
	}
	if m.Dropped == 0 {
		return p, nil
	}
	proved := packet.Without(p, func(c *packet.Citation) bool { return failed[*c] })
	m.DroppedDocuments = len(p.Documents) - len(proved.Documents)
	if len(p.Documents) > 0 && len(proved.Documents) == 0 {
		return nil, fault.New(fault.CodeChanged, "none of the %d claims can be proved against the repository: %s", len(p.Documents), safe(first)).
			WithHint("index the repository again, or fetch the objects that the clone lacks")
	}
	return proved, nil
}

// unbound is the fault for a repository that does not hold the packet's commit.
func unbound(r *Refusal) error {
	code := fault.IndexIntegrity
	switch r.Reason {
	case ObjectFormat:
		code = fault.GitFormat
	case CommitUnavailable:
		code = fault.ObjectMissing
	}
	return fault.New(code, "the answer cannot be bound to this repository: %s", r.Detail)
}

// receive verifies the new bundle as its recipients will.
func (m *Minted) receive(ctx context.Context, o Order) error {
	key, err := trust.NewKey(o.Public)
	if err != nil {
		return fault.New(fault.KeyUnavailable, "the signing key: %w", err)
	}
	result, err := Bundle(ctx, m.Bundle, Options{
		Trust: trust.Only(key, keys.Namespace), Now: o.Now, Repository: o.Repository,
		Expect: Expect{Issuer: o.Terms.Issuer, Connection: o.Terms.Connection, Generation: o.Terms.Generation,
			Repository: o.Terms.RepositoryID, WorkItem: o.Terms.WorkItem, PolicyDigest: o.Terms.Policy.Digest},
	})
	if err != nil {
		return err
	}
	if m.Report = result.Report; !m.Report.OK {
		r := m.Report.Refusals[0]
		return fault.New(fault.CodeChanged, "the new packet does not verify (%s): %s", r.Reason, r.Detail).
			WithHint("ask again; the repository or the clock changed meanwhile")
	}
	return nil
}
