package verify

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

func TestAGoodBundleHolds(t *testing.T) {
	w := newWorld(t)
	m := w.mint()
	r := check(t, m.Bundle, w.options())
	if !r.Report.OK || r.Report.Depth != 1 || r.Report.Repository != nil {
		t.Fatalf("refused: %v", r.Report.Refusals)
	}
	if packet.Address(r.Bytes) != m.Address || !bytes.Contains(m.Bundle, []byte(`exhibit.bundle.v1`)) {
		t.Fatal("the verified bytes are not the minted ones")
	}
	if r.Report.Grant.Claims.Issuer != "ann@example.org" || r.Report.Grant.TrustLine != 1 {
		t.Fatalf("grant: %+v", r.Report.Grant)
	}
}

// TestTrustAndExpectations holds one good bundle against what makes it worthless.
func TestTrustAndExpectations(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	git(t, w.dir, "commit", "-q", "--allow-empty", "-m", "second")
	ann := "ann@example.org " + line(w.key)
	for _, c := range []struct {
		name   string
		change func(o *Options)
		want   Reason // "" : holds
	}{
		{"as it is", func(o *Options) {}, ""},
		{"no trust file", func(o *Options) { o.Trust = nil }, NoTrust},
		{"another key", func(o *Options) { o.Trust = signers(t, "ann@example.org "+line(other)) }, Reason(trust.ReasonSignerUntrusted)},
		{"a bare public key", func(o *Options) { o.Trust = signers(t, line(w.key)) }, ""},
		{"another principal", func(o *Options) { o.Trust = signers(t, "bob@example.org "+line(w.key)) }, IssuerNotAllowed},
		{"one of two principals", func(o *Options) { o.Trust = signers(t, "bob@example.org "+line(w.key)+"\n"+ann) }, ""},
		{"trusted for git alone", func(o *Options) {
			o.Trust = signers(t, `ann@example.org namespaces="git" `+line(w.key))
		}, Reason(trust.ReasonNamespace)},
		{"trusted for packets", func(o *Options) {
			o.Trust = signers(t, `ann@example.org namespaces="git,`+keys.Namespace+`" `+line(w.key))
		}, ""},
		{"key expired", func(o *Options) {
			o.Trust = signers(t, `ann@example.org valid-before="20260601115900Z" `+line(w.key))
		}, Reason(trust.ReasonKeyExpired)},
		{"key expired since it signed", func(o *Options) {
			o.Trust = signers(t, `ann@example.org valid-before="20260601120500Z" `+line(w.key))
		}, Reason(trust.ReasonKeyExpired)},
		{"key not yet valid", func(o *Options) {
			o.Trust = signers(t, `ann@example.org valid-after="20260602Z" `+line(w.key))
		}, Reason(trust.ReasonKeyNotYetValid)},
		{"key revoked", func(o *Options) {
			var err error
			if o.Revoked, err = trust.ParseRevoked([]byte(line(w.key))); err != nil {
				t.Fatal(err)
			}
		}, Reason(trust.ReasonKeyRevoked)},

		{"just before it ends", func(o *Options) { o.Now = at(noon.Add(time.Hour - time.Second)) }, ""},
		{"when it ends", func(o *Options) { o.Now = at(noon.Add(time.Hour)) }, Expired},
		{"a little before it was issued", func(o *Options) { o.Now = at(noon.Add(-ClockSkew)) }, ""},
		{"long before it was issued", func(o *Options) { o.Now = at(noon.Add(-ClockSkew - time.Second)) }, NotYetValid},
		{"young enough", func(o *Options) { o.Expect.MaxAge = 10 * time.Minute }, ""},
		{"too old", func(o *Options) { o.Expect.MaxAge = 10*time.Minute - time.Second }, TooOld},

		{"a recipient of it", func(o *Options) { o.Expect.Recipient = "codex:reviewer" }, ""},
		{"another recipient", func(o *Options) { o.Expect.Recipient = "codex:builder" }, RecipientMismatch},
		{"recipients match whole", func(o *Options) { o.Expect.Recipient = "claude" }, RecipientMismatch},
		{"the issuer", func(o *Options) { o.Expect.Issuer = "ann@example.org" }, ""},
		{"another issuer", func(o *Options) { o.Expect.Issuer = "bob@example.org" }, IssuerMismatch},
		{"its repository", func(o *Options) { o.Expect.Repository = "demo" }, ""},
		{"another repository", func(o *Options) { o.Expect.Repository = "other" }, RepositoryMismatch},
		{"its generation", func(o *Options) { o.Expect.Generation = w.terms.Generation }, ""},
		{"another generation", func(o *Options) { o.Expect.Generation = strings.Repeat("ba", 32) }, GenerationMismatch},
		{"another policy", func(o *Options) { o.Expect.PolicyDigest = strings.Repeat("00", 32) }, PolicyMismatch},
		{"another connection", func(o *Options) { o.Expect.Connection = "remote" }, ConnectionMismatch},
		{"other work", func(o *Options) { o.Expect.WorkItem = "issue-7" }, WorkItemMismatch},

		{"its commit by id", func(o *Options) { o.Expect.Revision = w.rev.Commit }, ""},
		{"its commit by id, in capitals", func(o *Options) { o.Expect.Revision = strings.ToUpper(w.rev.Commit) }, ""},
		{"another commit by id", func(o *Options) { o.Expect.Revision = strings.Repeat("1", 40) }, RevisionMismatch},
		{"its commit by name", func(o *Options) { o.Repository, o.Expect.Revision = w.repo, "HEAD~1" }, ""},
		{"HEAD has moved on", func(o *Options) { o.Repository, o.Expect.Revision = w.repo, "HEAD" }, RevisionMismatch},
		{"no such branch", func(o *Options) { o.Repository, o.Expect.Revision = w.repo, "absent" }, RevisionUnknown},
	} {
		o := w.options()
		c.change(&o)
		r := check(t, bundle, o)
		var got Reason
		if reasons := r.Report.Reasons(); len(reasons) > 0 {
			got = reasons[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, r.Report.Refusals)
		}
		if got != "" && (r.Packet != nil || r.Bytes != nil || r.Statement != nil || r.Report.Grant != nil) {
			t.Errorf("%s: refused, and the packet or the claims are handed over", c.name)
		}
	}
}

func TestRequestsThatMakeNoSense(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	for name, change := range map[string]func(o *Options){
		"no clock":                        func(o *Options) { o.Now = nil },
		"a worktree without a repository": func(o *Options) { o.RequireWorktree = true },
		"a name without a repository":     func(o *Options) { o.Expect.Revision = "HEAD" },
	} {
		o := w.options()
		change(&o)
		if _, err := Bundle(context.Background(), bundle, o); fault.CodeOf(err) != fault.InvalidRequest {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestSignedNonsense: what a trusted key signed is still held against every rule.
func TestSignedNonsense(t *testing.T) {
	w := newWorld(t)
	raw, payload := parts(t, w.mint().Bundle)
	edit := func(old, new string) []byte {
		if strings.Count(string(payload), old) != 1 {
			t.Fatalf("%q stands %d times in the statement", old, strings.Count(string(payload), old))
		}
		return []byte(strings.Replace(string(payload), old, new, 1))
	}
	contentSubject := `,{"digest":{"sha256":"` + strings.Repeat("cd", 32) + `"},"name":"content_fingerprint"}`
	zero := strings.Repeat("0", 40)
	for _, c := range []struct {
		name    string
		payload []byte
		want    Reason
	}{
		{"the statement itself", payload, ""},
		{"another type", edit(packet.StatementType, "https://in-toto.io/Statement/v0.1"), StatementType},
		{"another predicate type", edit(packet.PredicateType, "https://slsa.dev/provenance/v1"), PredicateType},
		{"an unknown member", edit(`"issuer"`, `"actions":"none","issuer"`), StatementInvalid},
		{"a member twice", edit(`"issuer":"ann@example.org"`, `"issuer":"ann@example.org","issuer":"ann@example.org"`), StatementInvalid},
		{"a member in capitals", edit(`"issuer"`, `"Issuer"`), StatementInvalid},
		{"a member that folds to another", edit(`"subject":`, `"ſubject":`), StatementInvalid},
		{"a member removed", edit(`"issuer":"ann@example.org",`, ""), StatementInvalid},
		{"not canonical", edit(`"issuer":`, `"issuer": `), StatementInvalid},
		{"trailing data", append(bytes.Clone(payload), " {}"...), StatementInvalid},
		{"a subject removed", edit(contentSubject, ""), SubjectSet},
		{"a subject twice", edit(contentSubject, contentSubject+contentSubject), SubjectSet},
		{"another commit", edit(w.rev.Commit, zero), SubjectCommit},
		{"another tree", edit(w.rev.Tree, zero), SubjectTree},
		{"another fingerprint", edit(strings.Repeat("cd", 32), strings.Repeat("ce", 32)), SubjectContent},
		{"another packet", edit(packet.Digest256(raw), strings.Repeat("ce", 32)), PacketDigest},
		{"an issuer that is not listed", edit("ann@example.org", "root@example.org"), IssuerNotAllowed},
		{"an end before its start", edit("2026-06-01T13:00:00Z", "2026-06-01T11:00:00Z"), StatementInvalid},
		{"issued in the future", edit(`"issued_at":"2026-06-01T12:00:00Z"`, `"issued_at":"2026-06-01T12:30:00Z"`), NotYetValid},
		{"valid in the future", edit(`"not_before":"2026-06-01T12:00:00Z"`, `"not_before":"2026-06-01T12:30:00Z"`), NotYetValid},
		{"a time that is none", edit("2026-06-01T13:00:00Z", "2026-06-31T13:00:00Z"), StatementInvalid},
		{"no JSON", []byte("payload"), StatementInvalid},
	} {
		r := check(t, seal(t, raw, c.payload, w.key), w.options())
		var got Reason
		if reasons := r.Report.Reasons(); len(reasons) > 0 {
			got = reasons[0]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q (%v)", c.name, got, c.want, r.Report.Refusals)
		}
	}
}

func TestOneGrantOfSeveralIsEnough(t *testing.T) {
	w := newWorld(t)
	good := w.mint().Bundle
	raw, payload := parts(t, good)
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	first, _, err := packet.DecodeBundle(seal(t, raw, payload, stranger))
	if err != nil {
		t.Fatal(err)
	}
	second, _, err := packet.DecodeBundle(good)
	if err != nil {
		t.Fatal(err)
	}
	first.Grants = append(first.Grants, second.Grants[0])
	both, err := packet.EncodeBundle(first)
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, both, w.options())
	if !r.Report.OK || r.Report.Grant.Index != 1 || len(r.Report.Rejected) != 1 || r.Report.Rejected[0].Reason != Reason(trust.ReasonSignerUntrusted) {
		t.Fatalf("report: %+v", r.Report)
	}
	// Two signatures on one envelope: one that holds is enough, too.
	second.Grants[0].Signatures = append(first.Grants[0].Signatures, second.Grants[0].Signatures...)
	two, err := packet.EncodeBundle(second)
	if err != nil {
		t.Fatal(err)
	}
	if r := check(t, two, w.options()); !r.Report.OK {
		t.Fatalf("refused: %v", r.Report.Refusals)
	}
	second.Grants = []packet.Envelope{}
	none, err := packet.EncodeBundle(second)
	if err != nil {
		t.Fatal(err)
	}
	if r := check(t, none, w.options()); r.Report.OK || r.Report.Refusals[0].Reason != NoGrant {
		t.Fatalf("without a grant: %+v", r.Report)
	}
}

// TestAP256KeyVouches: the algorithm is that of the trusted key.
func TestAP256KeyVouches(t *testing.T) {
	w := newWorld(t)
	raw, payload := parts(t, w.mint().Bundle)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(packet.PAE(packet.PayloadType, payload))
	sig, err := ecdsa.SignASN1(rand.Reader, key, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	bundle, err := packet.EncodeBundle(&packet.Bundle{Schema: packet.BundleSchema, Packet: string(raw), Grants: []packet.Envelope{{
		PayloadType: packet.PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []packet.Signature{{Sig: base64.StdEncoding.EncodeToString(sig)}}}}})
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	o := w.options()
	o.Trust = signers(t, "ann@example.org "+string(ssh.MarshalAuthorizedKey(public)))
	if r := check(t, bundle, o).Report; !r.OK || r.Grant.KeyType != "ecdsa-sha2-nistp256" {
		t.Fatalf("refused: %v", r.Refusals)
	}
	if r := check(t, bundle, w.options()).Report; r.OK {
		t.Fatal("an Ed25519 key vouches for an ECDSA signature")
	}
}
