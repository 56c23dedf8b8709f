package trust

import (
	"crypto/sha512"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func sha512Sum(b []byte) []byte {
	sum := sha512.Sum512(b)
	return sum[:]
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestLoadReadsRevokedKeysBesideTheFile(t *testing.T) {
	id := newEd25519(t)
	path := write(t, filepath.Join(t.TempDir(), "allowed_signers"), "ann "+id.line+"\n")
	_, revoked, err := Load(Source{Path: path, Namespace: testNamespace})
	if err != nil || revoked.Len() != 0 {
		t.Fatalf("without a list: %d revoked keys, %v", revoked.Len(), err)
	}
	write(t, path+".revoked", id.line+"\n")
	_, revoked, err = Load(Source{Path: path, Namespace: testNamespace})
	if err != nil || !revoked.Has(id.key(t)) {
		t.Fatalf("the list beside the file is not read: %v", err)
	}
	if _, _, err = Load(Source{Path: path, Revoked: path + ".other", Namespace: testNamespace}); err == nil {
		t.Fatal("a list that was named and is not there is passed over")
	}
	write(t, path+".revoked", "not a key\n")
	if _, _, err = Load(Source{Path: path, Namespace: testNamespace}); fault.CodeOf(err) != fault.SignerUntrusted {
		t.Fatalf("an unreadable list of revoked keys: %v", err)
	}
}

func TestTrustIsNeverReadFromTheRepository(t *testing.T) {
	id := newEd25519(t)
	dir := t.TempDir()
	repo := filepath.Join(dir, "repo")
	line := "ann " + id.line + "\n"
	inside := write(t, filepath.Join(repo, "keys", "allowed_signers"), line)
	outside := write(t, filepath.Join(dir, "repo-keys", "allowed_signers"), line)
	link := func(name, target string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		return path
	}
	linkedRepo := link("linked", repo)
	for _, c := range []struct {
		name, path, folder string
		ok                 bool
	}{
		{"a file of the repository", inside, repo, false},
		{"the same, written otherwise", filepath.Join(dir, "repo-keys", "..", "repo", "keys", "allowed_signers"), repo, false},
		{"the repository named through a link", inside, linkedRepo, false},
		{"the file named through a link", filepath.Join(linkedRepo, "keys", "allowed_signers"), repo, false},
		{"a link outside to a file inside", link("out", inside), repo, false},
		{"a link inside to a file outside", link("repo/in", outside), repo, false},
		{"a folder whose name begins alike", outside, repo, true},
		{"no repository", inside, "", true},
	} {
		_, _, err := Load(Source{Path: c.path, Namespace: testNamespace, Outside: []string{c.folder}})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	// Nor is the list of revoked keys.
	_, _, err := Load(Source{Path: outside, Revoked: write(t, filepath.Join(repo, "revoked"), ""), Namespace: testNamespace, Outside: []string{repo}})
	if err == nil || !strings.Contains(err.Error(), "list of revoked keys") {
		t.Errorf("a list of revoked keys inside the repository: %v", err)
	}
}

func TestLoadRefusesWhatIsNoFile(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	big := write(t, filepath.Join(dir, "big"), strings.Repeat("#\n", MaxFileBytes))
	for _, path := range []string{dir, pipe, big, filepath.Join(dir, "absent")} {
		_, _, err := Load(Source{Path: path, Namespace: testNamespace})
		if fault.CodeOf(err) != fault.SignerUntrusted {
			t.Errorf("%s: %v", path, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	id := newEd25519(f)
	f.Add([]byte("ann,b* namespaces=\"git\",valid-after=\"20260101Z\" "+id.line+" comment\n"), "ann")
	f.Add([]byte(id.line), "bob")
	f.Add([]byte("\"a b\" cert-authority "+id.line+"\n# x\n"), "a b")
	f.Add([]byte("a namespaces=\"x\\\"y\" ssh-rsa AAAA"), "a")
	message := []byte("m")
	sig := id.sign(f, message)
	f.Fuzz(func(t *testing.T, data []byte, principal string) {
		if _, err := ParseRevoked(data); err != nil && err.Error() == "" {
			t.Error("an error without a message")
		}
		file, err := ParseFor(testNamespace, data)
		if err != nil {
			return
		}
		lines := strings.Count(string(data), "\n") + 1
		if n := len(file.Entries) + len(file.Problems); n > lines {
			t.Fatalf("%d entries and problems from %d lines", n, lines)
		}
		signer, refusal := file.Vouch(message, sig, "", Use{Namespace: testNamespace})
		if (signer == nil) == (refusal == nil) {
			t.Fatal("neither vouched for nor refused, or both")
		}
		if signer != nil && (signer.Key.wire != id.key(t).wire || signer.Allows("")) {
			t.Fatal("vouched for by another key, or for nobody")
		}
		if signer != nil {
			signer.Allows(principal)
		}
	})
}
