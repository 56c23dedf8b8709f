package verify

import (
	"context"
	"errors"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

// Expect is what the consumer names. An empty member is not asked for.
type Expect struct {
	Recipient    string        // must be in the audience
	Issuer       string        // must be the issuer
	Repository   string        // the operator's name of the repository
	Revision     string        // must name the packet's commit: HEAD, a branch, an id, ...
	Generation   string        // local fingerprint
	PolicyDigest string        // hex
	Connection   string        // name
	WorkItem     string        //
	MaxAge       time.Duration // since the grant was issued
}

// Options say what a bundle is held against.
type Options struct {
	Trust   *trust.File
	Revoked *trust.Revoked // nil: none
	Now     func() time.Time
	Expect  Expect
	// Repository is a clone to check citations in, bare or not; nil checks the
	// grant alone (depth 1).
	Repository *snapshot.Repository
	// RequireWorktree asks that the lines of every citation be in the worktree,
	// at the cited line or another.
	RequireWorktree bool
}

// Result is a report with what was verified. Packet, Bytes and Statement are nil
// unless a grant holds; Packet is decoded from Bytes, which the grant's
// signature covers. Citations that failed are in the Report: whoever uses the
// packet looks at Report.OK first.
type Result struct {
	Report    *Report
	Packet    *packet.Packet
	Bytes     []byte
	Statement *packet.Statement
}

// Bundle verifies a bundle file. The error is only for what kept verification
// from ending, such as a cancelled context or a request that makes no sense; a
// bundle that does not hold is a Report that is not OK.
func Bundle(ctx context.Context, data []byte, o Options) (*Result, error) {
	if o.Now == nil {
		return nil, fault.New(fault.InvalidRequest, "verification needs a clock")
	}
	if o.RequireWorktree && o.Repository == nil {
		return nil, fault.New(fault.InvalidRequest, "the worktree cannot be checked without a repository").
			WithHint("name a clone with --repo")
	}
	now := o.Now().UTC()
	r := &Result{Report: &Report{Schema: ReportSchema, Depth: 1, CheckedAt: now.Format(time.RFC3339), Refusals: []Refusal{}}}
	if o.Repository != nil {
		r.Report.Depth = 2
	}
	if err := r.grants(ctx, data, o, now); err != nil {
		return nil, err
	}
	if r.Packet != nil && o.Repository != nil {
		if err := r.content(ctx, o); err != nil {
			return nil, err
		}
	}
	r.Report.OK = r.Packet != nil && len(r.Report.Refusals) == 0
	return r, nil
}

// grants is depth 1: it takes the first grant of the bundle that holds.
func (r *Result) grants(ctx context.Context, data []byte, o Options, now time.Time) error {
	report := r.Report
	if len(data) > packet.MaxBundleBytes {
		report.refuse(refuse(TooLarge, "the bundle has %d bytes, more than %d", len(data), packet.MaxBundleBytes))
		return nil
	}
	// DecodeBundle reads the packet too; what it found is used only after a
	// signature holds for those bytes.
	bundle, p, packetErr := packet.DecodeBundle(data)
	if bundle == nil {
		report.refuse(refuse(bundleReason(packetErr), "%v", packetErr))
		return nil
	}
	raw := []byte(bundle.Packet)
	if len(bundle.Grants) == 0 {
		report.refuse(refuse(NoGrant, "the bundle carries no grant: nobody vouches for its packet"))
		return nil
	}
	if o.Trust == nil {
		report.refuse(refuse(NoTrust, "no trust file says whose grants count"))
		return nil
	}
	check := grantCheck{options: o, now: now}
	if err := check.resolve(ctx); err != nil {
		return err
	}
	for i := range bundle.Grants {
		g, refusal := check.grant(&bundle.Grants[i], candidate{raw, p, packetErr})
		if refusal != nil {
			report.Rejected = append(report.Rejected, RejectedGrant{Index: i, Refusal: *refusal})
			continue
		}
		r.Packet, r.Bytes, r.Statement = p, raw, g.statement
		report.Packet = summary(p, raw)
		report.Grant = &GrantReport{
			Index: i, Signer: g.signer.Key.Fingerprint(), KeyType: g.signer.Key.Type(),
			TrustLine: g.signer.Entries[0].Line, Claims: g.statement.Predicate,
		}
		return nil
	}
	for _, rejected := range report.Rejected {
		report.refuse(&rejected.Refusal)
	}
	return nil
}

// bundleReason tells a bundle whose form is wrong from one with a grant whose
// envelope is.
func bundleReason(err error) Reason {
	var f *fault.Error
	switch {
	case !errors.As(err, &f) || f.Code != fault.GrantInvalid:
		return BundleInvalid
	case f.Field == "payloadType":
		return PayloadType
	}
	return PayloadInvalid
}

// content is depth 2.
func (r *Result) content(ctx context.Context, o Options) error {
	report, p, repo := r.Report, r.Packet, o.Repository
	against := Against{Repository: repo, Tree: p.Repository.Tree, Decides: snapshot.Source(p.Source)}
	report.Repository = &RepositoryReport{Bare: repo.Root() == "", Decides: p.Source, Partial: repo.Partial()}
	head, err := repo.Resolve(ctx, "HEAD")
	if err := ctx.Err(); err != nil {
		return err
	}
	if err == nil {
		report.Repository.Head, report.Repository.AtHead = head.Commit, head.Commit == p.Repository.Commit
	}
	if refusal := against.bind(ctx, p.Repository); refusal != nil {
		report.refuse(refusal)
		return ctx.Err()
	}
	places, list := Cited(p)
	found, err := against.Check(ctx, list)
	if err != nil {
		return err
	}
	for i := range found {
		found[i].At = places[i]
		if !found[i].OK {
			report.refuse(refuse(CitationFailed, "%s: %s", places[i], found[i].why(against.Decides)))
		} else if o.RequireWorktree && found[i].Worktree != WorktreeSame && found[i].Worktree != WorktreeMoved {
			report.refuse(refuse(WorktreeFailed, "%s: %s", places[i], found[i].why(snapshot.FromWorktree)))
		}
	}
	report.Citations, report.Counts = found, count(found)
	return r.still(ctx, o)
}

// still looks at the consumer's revision once more: it may have moved while the
// citations were read.
func (r *Result) still(ctx context.Context, o Options) error {
	if o.Expect.Revision == "" {
		return nil
	}
	rev, err := o.Repository.Resolve(ctx, o.Expect.Revision)
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	if err != nil || rev.Commit != r.Packet.Repository.Commit {
		r.Report.refuse(refuse(RevisionMoved, "revision %q moved away from commit %s during the check", o.Expect.Revision, r.Packet.Repository.Commit))
	}
	return nil
}

// bind checks that the clone is of the packet's object format, holds its commit,
// and that the commit has the packet's tree. A packet of a worktree that had no
// commit yet has nothing to bind.
func (a Against) bind(ctx context.Context, want packet.Repository) *Refusal {
	if have := string(a.Repository.ObjectFormat()); have != want.ObjectFormat {
		return refuse(ObjectFormat, "the packet is of a %s repository and this one is %s", want.ObjectFormat, have)
	}
	if want.Commit == "" {
		return nil
	}
	rev, err := a.Repository.Resolve(ctx, want.Commit)
	switch {
	case err != nil && a.Decides == snapshot.FromWorktree:
		return nil // reported with each citation
	case err != nil:
		return refuse(CommitUnavailable, "commit %s: %s", want.Commit, sentence(err))
	case rev.Commit != want.Commit:
		return refuse(CommitUnavailable, "%s is not a commit of this repository", want.Commit)
	case rev.Tree != want.Tree:
		return refuse(TreeMismatch, "commit %s has the tree %s and the packet says %s", want.Commit, rev.Tree, want.Tree)
	}
	return nil
}

// sentence gives an error's message with its hint.
func sentence(err error) string {
	var f *fault.Error
	if errors.As(err, &f) && f.Hint != "" {
		return err.Error() + " (" + f.Hint + ")"
	}
	return err.Error()
}
