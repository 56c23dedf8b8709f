package verify

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

// The second verifier is testdata/verifier/verify.py, written from
// docs/format.md alone: where it and this package differ, one of the three is
// wrong.

// secondReport is what it prints for one bundle.
type secondReport struct {
	OK        bool     `json:"ok"`
	Reasons   []Reason `json:"reasons"`
	Details   []string `json:"details"`
	Citations []struct {
		At       string          `json:"at"`
		OK       bool            `json:"ok"`
		Commit   CommitVerdict   `json:"commit"`
		Worktree WorktreeVerdict `json:"worktree"`
		MovedTo  int             `json:"moved_to"`
	} `json:"citations"`
}

// second runs it over bundles, ten minutes after noon unless args say otherwise.
func second(t *testing.T, bundles [][]byte, trustFile string, args ...string) []secondReport {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	if exec.Command(python, "-c", "import sys; sys.exit(sys.version_info < (3, 9))").Run() != nil {
		t.Skip("python3 is older than 3.9")
	}
	dir := t.TempDir()
	put(t, dir, "trust", trustFile)
	script := filepath.Join("..", "testdata", "verifier", "verify.py")
	if _, err := os.ReadFile(script); err != nil { // also tells the test cache what the result depends on
		t.Fatal(err)
	}
	argv := []string{script}
	for i, b := range bundles {
		name := fmt.Sprintf("%05d.json", i)
		put(t, dir, name, string(b))
		argv = append(argv, filepath.Join(dir, name))
	}
	argv = append(argv, "--trust", filepath.Join(dir, "trust"), "--now", packet.Timestamp(noon.Add(10*time.Minute)))
	var stderr bytes.Buffer
	cmd := exec.Command(python, append(argv, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null", "PYTHONDONTWRITEBYTECODE=1")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) || stderr.Len() > 0 {
		t.Fatalf("%v\n%s", err, stderr.String())
	}
	var list []secondReport
	for d := json.NewDecoder(bytes.NewReader(out)); d.More(); {
		var r secondReport
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if len(list) != len(bundles) {
		t.Fatalf("%d reports on %d bundles", len(list), len(bundles))
	}
	return list
}

// agree compares one report with ours.
func agree(t *testing.T, name string, ours *Report, theirs secondReport) {
	t.Helper()
	if ours.OK != theirs.OK || !slices.Equal(ours.Reasons(), slices.Compact(theirs.Reasons)) {
		t.Errorf("%s: %v, the second verifier says %v\nours: %v\ntheirs: %q", name, ours.Reasons(), theirs.Reasons, ours.Refusals, theirs.Details)
	}
	if len(ours.Citations) != len(theirs.Citations) {
		t.Errorf("%s: %d verdicts on citations and %d", name, len(ours.Citations), len(theirs.Citations))
		return
	}
	for i, c := range ours.Citations {
		s := theirs.Citations[i]
		if c.At != s.At || c.OK != s.OK || c.Commit != s.Commit || c.Worktree != s.Worktree || c.MovedTo != s.MovedTo {
			t.Errorf("%s: %s is %s, %s (%d), the second verifier says %s: %s, %s (%d)", name, c.At, c.Commit, c.Worktree, c.MovedTo, s.At, s.Commit, s.Worktree, s.MovedTo)
		}
	}
}

func TestTheSecondVerifierAgreesOnGrants(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	other := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	ann := "ann@example.org "
	for _, c := range []struct {
		name, trust string
		change      func(o *Options)
		args        []string
		want        Reason
	}{
		{"as it is", ann + line(w.key), nil, nil, ""},
		{"another key", ann + line(other), nil, nil, Reason(trust.ReasonSignerUntrusted)},
		{"a bare key", line(w.key), nil, nil, ""},
		{"a key in PEM", pemOf(t, w.key.Public()), nil, nil, ""},
		{"a pattern of principals", `"bob@*,*@example.org" ` + line(w.key), nil, nil, ""},
		{"an excluded principal", `*@example.org,!ann@* ` + line(w.key), nil, nil, IssuerNotAllowed},
		{"another namespace", ann + `namespaces="git" ` + line(w.key), nil, nil, Reason(trust.ReasonNamespace)},
		{"both namespaces", ann + `namespaces="git,exhibit-*" ` + line(w.key), nil, nil, ""},
		{"expired key", ann + `valid-before="20260601120959Z" ` + line(w.key), nil, nil, Reason(trust.ReasonKeyExpired)},
		{"key in its last second", ann + `valid-before="20260601121000Z" ` + line(w.key), nil, nil, ""},
		{"key to come", ann + `Valid-After="20260602Z" ` + line(w.key), nil, nil, Reason(trust.ReasonKeyNotYetValid)},
		{"an authority", ann + `cert-authority ` + line(w.key), nil, nil, Reason(trust.ReasonKeyIsAuthority)},
		{"a time without zone beside a good line", ann + `valid-after="20250101" ` + line(w.key) + "\n" + ann + line(w.key), nil, nil, ""},
		{"recipient", line(w.key), func(o *Options) { o.Expect.Recipient = "codex:reviewer" }, []string{"--recipient", "codex:reviewer"}, ""},
		{"another recipient", line(w.key), func(o *Options) { o.Expect.Recipient = "codex:builder" }, []string{"--recipient", "codex:builder"}, RecipientMismatch},
		{"another issuer", line(w.key), func(o *Options) { o.Expect.Issuer = "bob" }, []string{"--issuer", "bob"}, IssuerMismatch},
		{"another repository", line(w.key), func(o *Options) { o.Expect.Repository = "x" }, []string{"--repository", "x"}, RepositoryMismatch},
		{"another commit", line(w.key), func(o *Options) { o.Expect.Revision = strings.Repeat("1", 40) }, []string{"--revision", strings.Repeat("1", 40)}, RevisionMismatch},
		{"too old", line(w.key), func(o *Options) { o.Expect.MaxAge = 599 * time.Second }, []string{"--max-age", "599"}, TooOld},
		{"at its end", line(w.key), func(o *Options) { o.Now = at(noon.Add(time.Hour)) }, []string{"--now", packet.Timestamp(noon.Add(time.Hour))}, Expired},
		{"a little early", line(w.key), func(o *Options) { o.Now = at(noon.Add(-time.Minute)) }, []string{"--now", packet.Timestamp(noon.Add(-time.Minute))}, ""},
		{"early", line(w.key), func(o *Options) { o.Now = at(noon.Add(-61 * time.Second)) }, []string{"--now", packet.Timestamp(noon.Add(-61 * time.Second))}, NotYetValid},
	} {
		o := w.options()
		o.Trust = signers(t, c.trust)
		if c.change != nil {
			c.change(&o)
		}
		ours := check(t, bundle, o).Report
		if got := append(ours.Reasons(), "")[0]; got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
		agree(t, c.name, ours, second(t, [][]byte{bundle}, c.trust, c.args...)[0])
	}
}

func pemOf(t *testing.T, public any) string {
	t.Helper()
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
}

func TestTheSecondVerifierAgreesOnP256(t *testing.T) {
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
	bundle := func(sig []byte) []byte {
		b, err := packet.EncodeBundle(&packet.Bundle{Schema: packet.BundleSchema, Packet: string(raw), Grants: []packet.Envelope{{
			PayloadType: packet.PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
			Signatures: []packet.Signature{{Sig: base64.StdEncoding.EncodeToString(sig)}}}}})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	flipped := bytes.Clone(sig)
	flipped[len(flipped)-1] ^= 1
	public, err := ssh.NewPublicKey(key.Public())
	if err != nil {
		t.Fatal(err)
	}
	both := [][]byte{bundle(sig), bundle(flipped)}
	for _, file := range []string{pemOf(t, key.Public()), string(ssh.MarshalAuthorizedKey(public))} {
		o := w.options()
		o.Trust = signers(t, file)
		for i, theirs := range second(t, both, file) {
			ours := check(t, both[i], o).Report
			if ours.OK != (i == 0) {
				t.Errorf("bundle %d: %v", i, ours.Refusals)
			}
			agree(t, fmt.Sprintf("bundle %d", i), ours, theirs)
		}
	}
}

// TestTheSecondVerifierAgreesOnTamperedBundles changes bytes of the file, of the
// signed packet and of the signed statement: the two verifiers refuse for the
// same reason.
func TestTheSecondVerifierAgreesOnTamperedBundles(t *testing.T) {
	w := newWorld(t)
	m := w.mint()
	raw, payload := parts(t, m.Bundle)
	var bundles [][]byte
	for i := 0; i < len(m.Bundle); i += 61 {
		data := bytes.Clone(m.Bundle)
		data[i] ^= 1 << (i % 8)
		bundles = append(bundles, data)
	}
	edit := func(in []byte, old, new string) []byte {
		if !bytes.Contains(in, []byte(old)) {
			t.Fatalf("%q is not there", old)
		}
		return bytes.Replace(in, []byte(old), []byte(new), 1)
	}
	bundles = append(bundles, edit(m.Bundle, packet.PayloadType, "application/json"), edit(m.Bundle, `"payload":"`, `"payload":"*`),
		edit(m.Bundle, `"keyid":"`, `"keyid":"x`), edit(m.Bundle, `"grants":[`, `"grants":[ `), append(bytes.Clone(m.Bundle), '1'))
	// Signed by a trusted key all the same.
	for _, p := range [][]byte{
		edit(payload, packet.StatementType, "https://in-toto.io/Statement/v0.1"),
		edit(payload, packet.PredicateType, "https://slsa.dev/provenance/v1"),
		edit(payload, `"issuer"`, `"actions":"none","issuer"`),
		edit(payload, `"issuer":"ann@example.org"`, `"issuer":"ann@example.org","issuer":"ann@example.org"`),
		edit(payload, `"issuer"`, `"Issuer"`),
		edit(payload, `"issuer":`, `"issuer": `),
		edit(payload, `"ann@example.org"`, `"\u0061nn@example.org"`),
		edit(payload, `"ann@example.org"`, `"ann@example.org\u0000"`),
		edit(payload, w.rev.Commit, strings.Repeat("0", 40)),
		edit(payload, w.rev.Tree, strings.Repeat("0", 40)),
		edit(payload, `"gitTree"`, `"gitCommit"`),
		edit(payload, strings.Repeat("cd", 32), strings.Repeat("ce", 32)),
		edit(payload, `"name":"tree"`, `"name":"blob"`),
		edit(payload, "2026-06-01T13:00:00Z", "2026-06-31T13:00:00Z"),
		edit(payload, "2026-06-01T13:00:00Z", "2026-06-01T13:00:00z"),
		edit(payload, `"claude:builder","codex:reviewer"`, `"codex:reviewer","claude:builder"`),
		edit(payload, `"claude:builder"`, `"claude"`),
		edit(payload, `"object_format":"sha1"`, `"object_format":"sha256"`),
		edit(payload, `"nonce"`, `"max_deliveries":0,"nonce"`),
		edit(payload, `"nonce"`, `"max_deliveries":1,"nonce"`),
		edit(payload, `"nonce"`, `"max_deliveries":9007199254740992,"nonce"`),
		[]byte("payload"),
	} {
		bundles = append(bundles, seal(t, raw, p, w.key))
	}
	for _, p := range [][]byte{
		edit(raw, `"hop":1`, `"hop":2`),
		edit(raw, `"hop":1`, `"hop":1.0`),
		edit(raw, `"hop":1`, `"hop":01`),
		edit(raw, `"hop":1,`, ``),
		edit(raw, `"dirty":false`, `"dirty":true`),
		edit(raw, `"dirty":false`, `"dirty":null`),
		edit(raw, `"relation":"calls"`, `"relation":"inherits"`),
		edit(raw, `"relation":"calls"`, `"relation":"defines"`),
		edit(raw, `"strength":"resolved_static"`, `"strength":"candidate"`),
		edit(raw, `"confidence":"extracted"`, `"confidence":"inferred"`),
		edit(raw, `"role":"call site: calls"`, `"role":"call site: tests"`),
		edit(raw, `"role":"call site: calls"`, `"role":"call site: defines"`),
		edit(raw, `"role":"definition: subject"`, `"role":"definition"`),
		edit(raw, `"omissions":[]`, `"omissions":["text_limit"]`),
		edit(raw, `"omissions":[]`, `"omissions":["document_limit"]`),
		edit(raw, `"omissions":[]`, `"omissions":["anything"]`),
		edit(raw, `"omissions":[]`, `"omissions":["text_limit","secret_suspected"]`),
		edit(raw, `"completeness":"complete"`, `"completeness":"partial"`),
		edit(raw, `"truncated":false`, `"truncated":true`),
		edit(raw, `"cuts":[]`, `"cuts":[{"bound":"depth","dropped":0,"limit":2}]`),
		edit(raw, `"count":0`, `"count":1`),
		edit(raw, `"path":"src/app.py"`, `"path":"../app.py"`),
		edit(raw, `"path":"src/app.py"`, `"path":"src//app.py"`),
		edit(raw, `"path":"src/app.py"`, `"path_base64":"c3JjL2FwcC5weQ=="`),
		edit(raw, `"path":"src/app.py"`, `"path_base64":"/w=="`),
		edit(raw, `"path":"src/app.py"`, `"path_base64":"/x=="`),
		edit(raw, `"snippet":"def main():\n"`, `"snippet":"def mein():\n"`),
		edit(raw, `"snippet":"def main():\n"`, `"snippet":"def main():\n\n"`),
		edit(raw, `"snippet":"def main():\n",`, ``),
		edit(raw, `é`, `\u00e9`),
		edit(raw, `😀`, `\ud83d\ude00`),
		edit(raw, `😀`, `\ud83d`),
		edit(raw, `\u001b`, `\u001B`),
		append(bytes.Clone(raw), ' '),
	} {
		bundles = append(bundles, signedAnyway(t, w, payload, p))
	}
	reports := second(t, bundles, "ann@example.org "+line(w.key))
	refused := map[Reason]int{}
	for i, b := range bundles {
		ours := check(t, b, w.options()).Report
		agree(t, fmt.Sprintf("bundle %d", i), ours, reports[i])
		refused[append(ours.Reasons(), "")[0]]++
	}
	for _, want := range []Reason{"", BundleInvalid, PayloadType, PayloadInvalid, "signature_invalid", StatementInvalid, StatementType, PredicateType, SubjectSet, SubjectCommit,
		SubjectTree, SubjectContent, PacketDigest, PacketInvalid} {
		if refused[want] == 0 {
			t.Errorf("no bundle reached %q: %v", want, refused)
		}
	}
}

// signedAnyway grants packet bytes that break a rule, as a signer of another
// implementation might.
func signedAnyway(t *testing.T, w *world, payload, raw []byte) []byte {
	t.Helper()
	good, _ := parts(t, w.mint().Bundle)
	return seal(t, raw, bytes.Replace(payload, []byte(packet.Digest256(good)), []byte(packet.Digest256(raw)), 1), w.key)
}

func TestTheSecondVerifierAgreesOnCitations(t *testing.T) {
	const app = "src/app.py"
	for _, c := range []struct {
		name   string
		edit   func(w *world)
		forged func(p *packet.Packet)
		bare   bool
		ok     bool
	}{
		{name: "untouched", ok: true},
		{name: "a bare clone", bare: true, ok: true},
		{name: "moved", edit: func(w *world) { put(t, w.dir, app, "# a\n# b\n"+appPy) }, ok: true},
		{name: "moved to the nearer of two places", edit: func(w *world) {
			put(t, w.dir, app, "    a = run(\"a\")\n"+strings.Replace(strings.Replace(appPy, "    a = run(\"a\")\n", "", 1), "    return", "    a = run(\"a\")\n    return", 1))
		}, ok: true},
		{name: "changed", edit: func(w *world) { put(t, w.dir, app, strings.Replace(appPy, `run("a")`, `run("A")`, 1)) }, ok: true},
		{name: "deleted", edit: func(w *world) { remove(t, w.dir, app) }, ok: true},
		{name: "a link", edit: func(w *world) { remove(t, w.dir, app); link(t, "lib.py", filepath.Join(w.dir, app)) }, ok: true},
		{name: "untracked", edit: func(w *world) { git(t, w.dir, "rm", "-q", "--cached", app) }, ok: true},
		{name: "another blob", forged: func(p *packet.Packet) {
			walk(p, func(c *packet.Citation) { c.Blob = strings.Repeat("a", 40) })
		}},
		{name: "no such path", forged: func(p *packet.Packet) { walk(p, func(c *packet.Citation) { c.Path = "src/none.py" }) }},
		{name: "the line below", forged: func(p *packet.Packet) {
			walk(p, func(c *packet.Citation) { c.StartLine, c.EndLine = c.StartLine+1, c.EndLine+1 })
		}},
		{name: "beyond the end", forged: func(p *packet.Packet) {
			walk(p, func(c *packet.Citation) { c.StartLine, c.EndLine = c.StartLine+1000, c.EndLine+1000 })
		}},
		{name: "another tree", forged: func(p *packet.Packet) { p.Repository.Tree = strings.Repeat("b", 40) }},
		{name: "another commit", forged: func(p *packet.Packet) { p.Repository.Commit = strings.Repeat("b", 40) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			bundle := w.mint().Bundle
			if c.forged != nil {
				bundle = w.forge(c.forged)
			}
			if c.edit != nil {
				c.edit(w)
			}
			dir := w.dir
			if c.bare {
				dir = filepath.Join(t.TempDir(), "bare.git")
				git(t, t.TempDir(), "clone", "-q", "--bare", w.dir, dir)
			}
			ours := check(t, bundle, w.in(open(t, dir))).Report
			if ours.OK != c.ok {
				t.Errorf("OK is %v: %v", ours.OK, ours.Refusals)
			}
			agree(t, c.name, ours, second(t, [][]byte{bundle}, "ann@example.org "+line(w.key), "--repo", dir)[0])
		})
	}
}
