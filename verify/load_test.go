package verify

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/packet/keys"
)

func TestTheDefaultTrustFile(t *testing.T) {
	w := newWorld(t)
	config := t.TempDir()
	t.Setenv(TrustEnv, "")
	t.Setenv(keys.ConfigEnv, config)
	_, _, err := LoadTrust("", "", nil)
	if err == nil || !strings.Contains(err.Error(), filepath.Join(config, "allowed_signers")) {
		t.Fatalf("without a trust file: %v", err)
	}
	put(t, config, "allowed_signers", "ann@example.org "+line(w.key)+"\n")
	file, revoked, err := LoadTrust("", "", w.repo)
	if err != nil || len(file.Entries) != 1 || revoked.Len() != 0 {
		t.Fatalf("in the configuration folder: %v", err)
	}
	t.Setenv(TrustEnv, filepath.Join(config, "mine.pub"))
	put(t, config, "mine.pub", line(w.key)+" comment\n")
	put(t, config, "mine.pub.revoked", line(w.key)+"\n")
	file, revoked, err = LoadTrust("", "", w.repo)
	if err != nil || file.Entries[0].Principals != "*" || revoked.Len() != 1 {
		t.Fatalf("by $%s: %v", TrustEnv, err)
	}
}

func TestARepositoryDoesNotSayWhomToTrust(t *testing.T) {
	w := newWorld(t)
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, t.TempDir(), "clone", "-q", "--bare", w.dir, bare)
	tree := filepath.Join(t.TempDir(), "tree")
	git(t, w.dir, "worktree", "add", "-q", tree)
	for _, c := range []struct{ repo, path string }{
		{w.dir, filepath.Join(w.dir, "keys", "signer.pub")},
		{w.dir, filepath.Join(w.dir, ".git", "signer.pub")},
		{bare, filepath.Join(bare, "signer.pub")},
		{tree, filepath.Join(tree, "signer.pub")},
		{tree, filepath.Join(w.dir, ".git", "signer.pub")},
		{tree, filepath.Join(w.dir, "keys", "signer.pub")},
	} {
		put(t, filepath.Dir(c.path), filepath.Base(c.path), line(w.key)+"\n")
		_, _, err := LoadTrust(c.path, "", open(t, c.repo))
		if err == nil || !strings.Contains(err.Error(), "inside the repository") {
			t.Errorf("%s for %s: %v", c.path, c.repo, err)
		}
	}
}
