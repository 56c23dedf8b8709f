package packet

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/search"
)

// fixture is the repository of testdata/packet/repo as a Source.
type fixture map[string][]byte

func (f fixture) Content(path string) ([]byte, error) {
	b, ok := f[path]
	if !ok {
		return nil, fmt.Errorf("%s: %w", path, fs.ErrNotExist)
	}
	return b, nil
}

func loadFixture(t testing.TB) fixture {
	t.Helper()
	f := fixture{}
	root := filepath.FromSlash("../testdata/packet/repo")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		rel, _ := filepath.Rel(root, path)
		f[filepath.ToSlash(rel)] = b
		return err
	})
	if err != nil || len(f) == 0 {
		t.Fatalf("no fixture: %v", err)
	}
	return f
}

func gitBlob(b []byte) string {
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...))
	return hex.EncodeToString(sum[:])
}

// node describes a definition as search would.
func (f fixture) node(kind, qualified, path string, start, end, name int, signature string) search.NodeRef {
	return search.NodeRef{ID: Digest256([]byte(path + "\x00" + qualified))[:32], Kind: kind, Language: "python",
		Name: qualified[strings.LastIndexAny(qualified, "./")+1:], Qualified: qualified, Signature: signature, Path: path,
		StartLine: start, EndLine: end, NameLine: name, Blob: gitBlob(f[path]), FileSHA256: Digest256(f[path])}
}

func (f fixture) site(path string, start, end, line int, name string) *search.SiteRef {
	return &search.SiteRef{Path: path, StartLine: start, EndLine: end, Line: line, Name: name, Blob: gitBlob(f[path]), FileSHA256: Digest256(f[path])}
}

func (f fixture) send() search.NodeRef {
	return f.node("function", "send", "pkg/http.py", 4, 10, 6, "def send( request, timeout=30, )")
}
func (f fixture) client() search.NodeRef {
	return f.node("class", "Client", "pkg/http.py", 13, 23, 13, "class Client")
}
func (f fixture) get() search.NodeRef {
	return f.node("method", "Client.get", "pkg/http.py", 16, 17, 16, "def get(self, url)")
}
func (f fixture) post() search.NodeRef {
	return f.node("method", "Client.post", "pkg/http.py", 19, 23, 19, "def post(self, url, body)")
}
func (f fixture) fetch() search.NodeRef {
	return f.node("function", "fetch", "pkg/crlf.py", 3, 4, 3, "def fetch(url)")
}
func (f fixture) testGet() search.NodeRef {
	return f.node("function", "test_get", "tests/test_http.py", 4, 5, 4, "def test_get()")
}
func (f fixture) init() search.NodeRef {
	return f.node("file", "pkg/__init__.py", "pkg/__init__.py", 0, 0, 0, "")
}

func related(from, to search.NodeRef, relation, strength string, hop int, site *search.SiteRef) search.Item {
	it := search.Item{Node: from, Relation: relation, From: &from, To: &to, Hop: hop, Via: to.ID, Strength: strength,
		RuleID: "explicit_import", Candidates: 1, CallSite: site, Reason: "static_path"}
	if strength == Candidate {
		it.RuleID, it.Reason = "receiver_hint", "candidate_path"
	}
	return it
}

// impact is the answer to "what breaks if send changes".
func (f fixture) impact() *search.Answer {
	send, get, post := f.send(), f.get(), f.post()
	several := related(f.testGet(), get, Calls, Candidate, 2, f.site("tests/test_http.py", 5, 5, 5, "get"))
	several.Candidates = 2
	return &search.Answer{
		Schema: search.AnswerSchema, Scope: "a local name", Fingerprint: strings.Repeat("1", 64), ContentFingerprint: strings.Repeat("2", 64),
		Commit: strings.Repeat("3", 40), Tree: strings.Repeat("4", 40), ObjectFormat: "sha1", Source: "commit", CheckedAt: "2026-01-01T00:00:00Z",
		Operation: search.Request{Kind: "impact", Target: "send", Depth: 2, NodeBudget: 40, MaxBytes: 16000}, Status: "ok",
		GenerationComplete: true, AnswerComplete: true, Seeds: []search.NodeRef{send},
		Items: []search.Item{
			related(get, send, Calls, ResolvedStatic, 1, f.site("pkg/http.py", 17, 17, 17, "send")),
			related(post, send, Calls, ResolvedStatic, 1, f.site("pkg/http.py", 20, 23, 20, "send")),
			related(f.fetch(), send, Calls, Candidate, 1, f.site("pkg/crlf.py", 4, 4, 4, "send")),
			several,
		},
		Mentions:    &search.Mentions{Name: "send", Count: 1, Sites: []search.SiteRef{*f.site("tests/test_http.py", 9, 9, 9, "send")}},
		Coverage:    &search.Coverage{Eligible: 4, Parsed: 4, Skipped: map[string]int{"binary_file": 2, "symlink": 1}, Resolved: 5, Candidate: 2, Unresolved: 1, External: 3},
		Limitations: []string{"test_candidates_do_not_replace_required_tests", "dynamic_dispatch"},
	}
}

func assemble(t testing.TB, a *search.Answer, src Source, lim Limits) *Packet {
	t.Helper()
	p, err := Assemble(a, src, lim)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func encoded(t testing.TB, p *Packet) []byte {
	t.Helper()
	b, err := Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
