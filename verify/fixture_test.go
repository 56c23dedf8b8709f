package verify

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/hex"
	"math/rand"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

var noon = time.Date(2026, 6, 1, 12, 0, 0, 0, time.UTC)

func at(t time.Time) func() time.Time { return func() time.Time { return t } }

// The files of the fixture: main calls run twice, the second time beside what is
// hard to carry in JSON and to print.
const (
	libPy = "import os\n\n\ndef run(name):\n    return os.path.join(name, \"x\")\n\n\ndef other():\n    return None\n"
	appPy = "from lib import run\n\n\ndef main():\n    a = run(\"a\")\n    b = run(\"b\")  # é 😀 <&> \\ \u2028 \u202e \x1b[31m\n    return a + b\n"
)

// world is a real repository with an answer about it and a key that signs.
type world struct {
	t      testing.TB
	dir    string // worktree
	repo   *snapshot.Repository
	rev    snapshot.Revision
	key    ed25519.PrivateKey
	answer *search.Answer
	terms  packet.Terms
	limits packet.Limits
}

func git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@example.org", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@example.org",
		"GIT_AUTHOR_DATE=2026-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2026-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

func put(t testing.TB, dir, name, content string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

func open(t testing.TB, dir string) *snapshot.Repository {
	t.Helper()
	repo, err := snapshot.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = repo.Close() })
	return repo
}

// The repository that every world starts from is made once and copied.
var made struct {
	once sync.Once
	dir  string
}

func template(t testing.TB) string {
	t.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git here to make a repository with")
	}
	made.once.Do(func() {
		dir, err := os.MkdirTemp("", "exhibit-verify")
		if err != nil {
			t.Fatal(err)
		}
		made.dir = dir
		git(t, dir, "init", "-q", "-b", "main", "--template=")
		put(t, dir, ".git/info/exclude", "")
		put(t, dir, "src/lib.py", libPy)
		put(t, dir, "src/app.py", appPy)
		git(t, dir, "add", ".")
		git(t, dir, "commit", "-q", "-m", "first")
	})
	return made.dir
}

func TestMain(m *testing.M) {
	code := m.Run()
	if made.dir != "" {
		_ = os.RemoveAll(made.dir)
	}
	os.Exit(code)
}

func newWorld(t testing.TB) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "repo")
	if err := os.CopyFS(dir, os.DirFS(template(t))); err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, dir: dir, repo: open(t, dir)}
	var err error
	if w.rev, err = w.repo.Resolve(context.Background(), "HEAD"); err != nil {
		t.Fatal(err)
	}
	w.key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, ed25519.SeedSize))
	w.answer = w.impact()
	generation := strings.Repeat("ab", 32)
	w.terms, w.limits, err = packet.LocalTerms("ann@example.org", generation, "demo", noon.Add(-time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	w.terms.Audience = []string{"claude:builder", "codex:reviewer"}
	return w
}

func (w *world) node(kind, name, path, content, signature string, start, end, nameLine int) search.NodeRef {
	return search.NodeRef{ID: strings.Repeat("0", 24) + hex.EncodeToString([]byte(name))[:8], Kind: kind, Language: "python", Name: name,
		Qualified: strings.TrimSuffix(filepath.Base(path), ".py") + "." + name, Signature: signature, Path: path,
		StartLine: start, EndLine: end, NameLine: nameLine,
		Blob: snapshot.HashBlob(snapshot.SHA1, []byte(content)), FileSHA256: packet.Digest256([]byte(content))}
}

// impact answers who calls run: main, at two sites.
func (w *world) impact() *search.Answer {
	run := w.node("function", "run_", "src/lib.py", libPy, "def run(name)", 4, 5, 4)
	run.Name, run.Qualified = "run", "lib.run"
	main := w.node("function", "main", "src/app.py", appPy, "def main()", 4, 7, 4)
	a := &search.Answer{Schema: search.AnswerSchema, Fingerprint: strings.Repeat("ab", 32), ContentFingerprint: strings.Repeat("cd", 32),
		Commit: w.rev.Commit, Tree: w.rev.Tree, ObjectFormat: "sha1", Source: "commit",
		Operation: search.Request{Kind: "impact", Target: "run", Depth: 2, NodeBudget: 50}, Status: "ok",
		GenerationComplete: true, AnswerComplete: true, Seeds: []search.NodeRef{run},
		Mentions: &search.Mentions{Name: "run"}, Coverage: &search.Coverage{Eligible: 2, Parsed: 2}}
	for _, line := range []int{5, 6} {
		a.Items = append(a.Items, search.Item{Node: main, Relation: "calls", From: &main, To: &run, Hop: 1, Via: run.ID,
			Strength: "resolved_static", RuleID: "py_import_member", Reason: "static_path",
			CallSite: &search.SiteRef{Path: main.Path, StartLine: line, EndLine: line, Line: line, Column: 8, Name: "run", Blob: main.Blob, FileSHA256: main.FileSHA256}})
	}
	return a
}

// rebind makes the answer one about other bytes of src/app.py, in which
// everything stands shift lines lower.
func (w *world) rebind(content string, shift int) {
	blob, digest := snapshot.HashBlob(snapshot.SHA1, []byte(content)), packet.Digest256([]byte(content))
	for i := range w.answer.Items {
		it := &w.answer.Items[i]
		s, main := *it.CallSite, *it.From
		s.StartLine, s.EndLine, s.Line, s.Blob, s.FileSHA256 = s.StartLine+shift, s.EndLine+shift, s.Line+shift, blob, digest
		main.StartLine, main.EndLine, main.NameLine = main.StartLine+shift, main.EndLine+shift, main.NameLine+shift
		main.Blob, main.FileSHA256 = blob, digest
		it.CallSite, it.From, it.Node = &s, &main, main
	}
}

// files is a packet.Source of fixed contents.
type files map[string]string

func (f files) Content(path string) ([]byte, error) {
	content, ok := f[path]
	if !ok {
		return nil, os.ErrNotExist
	}
	return []byte(content), nil
}

var source = files{"src/lib.py": libPy, "src/app.py": appPy}

// signer is a packet.Signer over a plain key.
type signer struct{ key ed25519.PrivateKey }

func (s signer) KeyID() string {
	key, err := trust.NewKey(s.key.Public().(ed25519.PublicKey))
	if err != nil {
		return ""
	}
	return key.Fingerprint()
}

func (s signer) Sign(_ context.Context, message []byte) ([]byte, error) {
	return ed25519.Sign(s.key, message), nil
}

func (w *world) order() Order {
	return Order{Answer: w.answer, Source: source, Repository: w.repo, Terms: w.terms, Limits: w.limits,
		Signer: signer{w.key}, Public: w.key.Public().(ed25519.PublicKey), Now: at(noon), Random: rand.New(rand.NewSource(1))}
}

func (w *world) mint() *Minted {
	w.t.Helper()
	m, err := Mint(context.Background(), w.order())
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// line is the key's public line.
func line(key ed25519.PrivateKey) string {
	public := keys.Public{Key: key.Public().(ed25519.PublicKey)}
	return public.AuthorizedKey()
}

func signers(t testing.TB, lines string) *trust.File {
	t.Helper()
	file, err := trust.ParseFor(keys.Namespace, []byte(lines))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// options trust the world's key as ann, ten minutes after noon.
func (w *world) options() Options {
	return Options{Trust: signers(w.t, "ann@example.org "+line(w.key)), Now: at(noon.Add(10 * time.Minute))}
}

func check(t testing.TB, data []byte, o Options) *Result {
	t.Helper()
	r, err := Bundle(context.Background(), data, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Report.OK == (len(r.Report.Refusals) > 0) {
		t.Fatalf("OK is %v with the refusals %v", r.Report.OK, r.Report.Refusals)
	}
	return r
}

// seal makes a bundle of packet bytes with a grant of any payload, well formed
// or not, signed by key.
func seal(t testing.TB, raw, payload []byte, key ed25519.PrivateKey) []byte {
	t.Helper()
	e := packet.Envelope{PayloadType: packet.PayloadType, Payload: base64.StdEncoding.EncodeToString(payload),
		Signatures: []packet.Signature{{KeyID: signer{key}.KeyID(), Sig: base64.StdEncoding.EncodeToString(ed25519.Sign(key, packet.PAE(packet.PayloadType, payload)))}}}
	b, err := packet.EncodeBundle(&packet.Bundle{Schema: packet.BundleSchema, Packet: string(raw), Grants: []packet.Envelope{e}})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func parts(t testing.TB, bundle []byte) (raw, payload []byte) {
	t.Helper()
	b, _, err := packet.DecodeBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	if payload, err = b.Grants[0].Body(); err != nil {
		t.Fatal(err)
	}
	return []byte(b.Packet), payload
}
