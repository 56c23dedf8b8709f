package snapshot

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Case 1: repositories with extensions that change nothing here must open.
func TestOpensHarmlessExtensions(t *testing.T) {
	for _, ext := range []string{"worktreeConfig", "relativeWorktrees", "preciousObjects", "noop", "partialClone", "noop-v1"} {
		t.Run(ext, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.py", "a = 1\n")
			r.commit("one")
			r.git("config", "core.repositoryFormatVersion", "1")
			value := "true"
			if ext == "partialClone" {
				value = "origin"
			}
			r.git("config", "extensions."+ext, value)
			if _, files := scanCommit(t, open(t, r.dir), "HEAD", Options{}); files["a.py"] != "a = 1\n" {
				t.Errorf("got %q", files)
			}
		})
	}
}

// Case 1 and 16: what is not understood is refused by its very name.
func TestRefusesFormatsByName(t *testing.T) {
	for _, c := range []struct{ key, value, name string }{
		{"extensions.objectFormat", "sha256", "sha256"},
		{"extensions.refStorage", "reftable", "reftable"},
		{"extensions.someFuture", "true", "somefuture"},
		{"core.repositoryFormatVersion", "2", "2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t)
			r.git("config", "core.repositoryFormatVersion", "1")
			r.git("config", c.key, c.value)
			_, err := Open(r.dir)
			refused(t, err, fault.GitFormat, c.name)
		})
	}
	t.Run("a real sha256 repository", func(t *testing.T) {
		r := newRepo(t, "--object-format=sha256")
		r.write("a.py", "a = 1\n")
		r.commit("one")
		_, err := Open(r.dir)
		refused(t, err, fault.GitFormat, "sha256")
	})
}

// Case 1 and 2: a sparse checkout, with its worktreeConfig, and a sparse index.
func TestSparseCheckout(t *testing.T) {
	src := newRepo(t)
	src.write("in/a.py", "a = 1\n")
	src.write("out/b.py", "b = 1\n")
	src.write("out/deep/c.py", "c = 1\n")
	src.commit("one")
	for _, sparseIndex := range []string{"--no-sparse-index", "--sparse-index"} {
		t.Run(sparseIndex, func(t *testing.T) {
			c := src.clone()
			c.git("sparse-checkout", "set", "--cone", sparseIndex, "in")
			r := open(t, c.dir)
			if _, files := scanCommit(t, r, "HEAD", Options{}); len(files) != 3 {
				t.Errorf("the commit has %d files, want 3", len(files))
			}
			m, files := scanWorktree(t, r, Options{})
			if len(files) != 1 || files["in/a.py"] == "" {
				t.Errorf("worktree files %q", files)
			}
			if got := reasonOf(t, m, "out/deep/c.py"); got != MissingWorktreeFile {
				t.Errorf("out/deep/c.py is %q", got)
			}
			if m.Dirty {
				t.Error("a sparse checkout is called dirty")
			}
			c.write("out/b.py", "b = 2\n")
			m, files = scanWorktree(t, r, Options{})
			if files["out/b.py"] != "b = 2\n" || !m.Dirty {
				t.Errorf("a skip-worktree file on disk was not read: %q, dirty %v", files, m.Dirty)
			}
		})
	}
}

// Case 2: a linked worktree reads objects and branches from the common folder
// and HEAD and the index from its own.
func TestLinkedWorktree(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	first := r.commit("one")
	wt := filepath.Join(realPath(t, t.TempDir()), "wt")
	r.git("worktree", "add", "-q", "-b", "side", wt)
	linked := &testRepo{t, wt}
	linked.write("b.py", "b = 1\n")
	second := linked.commit("two")

	w := open(t, filepath.Join(wt))
	if w.Root() != wt || w.CommonDir() != r.path(".git") || w.GitDir() != r.path(".git/worktrees/wt") {
		t.Errorf("root %q, git %q, common %q", w.Root(), w.GitDir(), w.CommonDir())
	}
	if got := resolve(t, w, "HEAD").Commit; got != second {
		t.Errorf("HEAD of the worktree is %s, want %s", got, second)
	}
	if got := resolve(t, w, "main").Commit; got != first {
		t.Errorf("main is %s, want %s", got, first)
	}
	same(t, w, Options{})
	if got := resolve(t, open(t, r.dir), "HEAD").Commit; got != first {
		t.Errorf("HEAD of the main worktree is %s", got)
	}

	t.Run("relative links", func(t *testing.T) {
		rel, err := filepath.Rel(wt, r.path(".git/worktrees/wt"))
		if err != nil {
			t.Fatal(err)
		}
		linked.write(".git", "gitdir: "+rel+"\n")
		if got := resolve(t, open(t, wt), "HEAD").Commit; got != second {
			t.Errorf("HEAD is %s", got)
		}
	})
	t.Run("of a bare repository", func(t *testing.T) {
		bare := r.clone("--bare")
		dir := filepath.Join(realPath(t, t.TempDir()), "wt")
		bare.git("worktree", "add", "-q", dir, "main")
		w := open(t, dir)
		if w.Root() != dir {
			t.Errorf("root %q", w.Root())
		}
		same(t, w, Options{})
	})
	t.Run("a link to nowhere", func(t *testing.T) {
		linked.write(".git", "gitdir: /nowhere/at/all\n")
		_, err := Open(wt)
		refused(t, err, fault.RepositoryRoot, "/nowhere/at/all")
	})
}

// Case 2: alternates, absolute, relative and chained.
func TestAlternates(t *testing.T) {
	src := newRepo(t)
	src.write("a.py", "a = 1\n")
	src.commit("one")
	mid := filepath.Join(realPath(t, t.TempDir()), "mid")
	src.git("clone", "-q", "--shared", src.dir, mid)
	end := filepath.Join(realPath(t, t.TempDir()), "end")
	src.git("clone", "-q", "--shared", mid, end)
	if _, files := scanCommit(t, open(t, end), "HEAD", Options{}); files["a.py"] != "a = 1\n" {
		t.Errorf("chained alternates: %q", files)
	}
	rel, err := filepath.Rel(filepath.Join(mid, ".git/objects"), src.path(".git/objects"))
	if err != nil {
		t.Fatal(err)
	}
	(&testRepo{t, mid}).write(".git/objects/info/alternates", rel+"\n")
	if _, files := scanCommit(t, open(t, mid), "HEAD", Options{}); files["a.py"] != "a = 1\n" {
		t.Errorf("relative alternates: %q", files)
	}
}

// Case 2: bare repository, detached HEAD, unborn HEAD, discovery from below.
func TestHeadsAndDiscovery(t *testing.T) {
	r := newRepo(t)
	if rev := resolve(t, open(t, r.dir), "HEAD"); rev != (Revision{}) {
		t.Errorf("unborn HEAD is %v", rev)
	}
	r.write("new.py", "n = 1\n")
	r.git("add", "-A")
	m, files := scanWorktree(t, open(t, r.dir), Options{})
	if m.Commit != "" || !m.Dirty || files["new.py"] == "" {
		t.Errorf("unborn worktree: %+v", m)
	}
	if m, _ := scanCommit(t, open(t, r.dir), "HEAD", Options{}); len(m.Entries) != 0 {
		t.Errorf("unborn commit: %+v", m)
	}
	r.write("sub/dir/a.py", "a = 1\n")
	id := r.commit("one")
	if got := open(t, r.path("sub/dir")).Root(); got != r.dir {
		t.Errorf("root from below is %q", got)
	}
	r.git("checkout", "-q", "--detach")
	if got := resolve(t, open(t, r.dir), "@").Commit; got != id {
		t.Errorf("detached HEAD is %s", got)
	}
	if got := open(t, r.path(".git")).Root(); got != r.dir {
		t.Errorf("root from .git is %q", got)
	}
	bare := r.clone("--bare")
	b := open(t, bare.dir)
	if b.Root() != "" {
		t.Errorf("a bare repository has root %q", b.Root())
	}
	if _, files := scanCommit(t, b, "main", Options{}); len(files) != 2 {
		t.Errorf("bare: %q", files)
	}
	_, err := b.ScanWorktree(t.Context(), Options{}, nil)
	refused(t, err, fault.RepositoryRoot, "bare")
	_, err = Open(realPath(t, t.TempDir()))
	refused(t, err, fault.RepositoryRoot)
}

// Case 15: opening and indexing leaves .git byte-identical, times included.
func TestNeverWritesBelowGit(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"a.py", "b/c.go", ".gitattributes"} {
		r.write(name, "*.py text eol=crlf\n")
	}
	r.commit("one")
	r.git("gc", "-q")
	r.write("d.py", "d\n")
	r.commit("two")
	r.write("a.py", "changed\n")
	before := digestTree(t, r.path(".git"))
	repo := open(t, r.dir)
	scanCommit(t, repo, "HEAD~1", Options{})
	scanWorktree(t, repo, Options{})
	if _, err := repo.Tracked("a.py"); err != nil {
		t.Fatal(err)
	}
	repo.Normalize(t.Context(), "a.py", []byte("x\r\n"))
	if err := repo.Close(); err != nil {
		t.Fatal(err)
	}
	if after := digestTree(t, r.path(".git")); after != before {
		t.Error(".git changed")
	}
}

func TestResolve(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "1\n")
	one := r.commit("one")
	r.git("tag", "-a", "-m", "annotated", "v1")
	r.git("tag", "-a", "-m", "tag of a tag", "v1-again", "v1")
	r.git("branch", "feature/x")
	two := r.commit("two")
	r.git("checkout", "-q", "feature/x")
	side := r.commit("side")
	r.git("checkout", "-q", "main")
	r.git("merge", "-q", "--no-ff", "-m", "merge", "feature/x")
	merge := r.git("rev-parse", "HEAD")
	check := func(t *testing.T) {
		repo := open(t, r.dir)
		for rev, want := range map[string]string{
			"HEAD": merge, "@": merge, "main": merge, "refs/heads/main": merge, "heads/main": merge,
			"v1": one, "v1-again": one, "tags/v1": one, "v1^{commit}": one, "v1^{}": one, "feature/x": side,
			"HEAD^": two, "HEAD^1": two, "HEAD^2": side, "HEAD~1": two, "HEAD~2": one, "HEAD~": two, "HEAD^^": one,
			"HEAD^2~1": one, "HEAD^0": merge, "HEAD~0": merge, one: one, one[:7]: one, strings.ToUpper(two[:10]): two,
		} {
			if got := resolve(t, repo, rev).Commit; got != want {
				t.Errorf("%s is %s, want %s", rev, got, want)
			}
			if git := r.git("rev-parse", rev+"^{commit}"); git != want {
				t.Errorf("git says %s is %s", rev, git)
			}
		}
		for rev, code := range map[string]fault.Code{
			"nothing": fault.TargetMissing, "HEAD~99": fault.TargetMissing, "HEAD^3": fault.TargetMissing,
			"": fault.InvalidRequest, "HEAD^{tree}": fault.InvalidRequest, "a..b": fault.InvalidRequest,
			"-x": fault.InvalidRequest, "HEAD@{1}": fault.InvalidRequest, "../config": fault.InvalidRequest,
			"abc":                           fault.TargetMissing,
			strings.Repeat("0", 39) + "1":   fault.ObjectMissing,
			r.git("rev-parse", "HEAD:a.py"): fault.InvalidRequest,
		} {
			_, err := repo.Resolve(t.Context(), rev)
			refused(t, err, code)
		}
	}
	t.Run("loose", check)
	r.git("pack-refs", "--all")
	r.git("gc", "-q")
	t.Run("packed", check)
}

func TestAbbreviationMustBeUnambiguous(t *testing.T) {
	r := newRepo(t)
	r.write("a", "1\n")
	id := r.commit("one")
	// A second object whose name begins alike; its content does not matter here.
	other := id[:39] + map[bool]string{true: "0", false: "1"}[id[39] != '0']
	body := r.git("cat-file", "commit", id) + "\n"
	r.plantLoose(other, "commit", body)
	repo := open(t, r.dir)
	// The planted one is corrupt, so only one is a commit.
	if got := resolve(t, repo, id[:8]).Commit; got != id {
		t.Errorf("got %s", got)
	}
	blobs := 0
	seen := map[string]bool{}
	for i := 0; blobs < 2 && i < 20000; i++ {
		content := []byte(strings.Repeat("x", i))
		prefix := HashBlob(SHA1, content)[:4]
		if seen[prefix] {
			r.plantLoose(HashBlob(SHA1, content), "blob", string(content))
			for j := 0; j < i; j++ {
				if c := []byte(strings.Repeat("x", j)); HashBlob(SHA1, c)[:4] == prefix {
					r.plantLoose(HashBlob(SHA1, c), "blob", string(c))
				}
			}
			_, err := repo.Resolve(t.Context(), prefix)
			refused(t, err, fault.InvalidRequest, "ambiguous")
			return
		}
		seen[prefix] = true
	}
	t.Fatal("no two blobs share four digits")
}

// A submodule's git folder lies elsewhere and names its worktree.
func TestSubmoduleWorktree(t *testing.T) {
	lib := newRepo(t)
	lib.write("lib.py", "l = 1\n")
	lib.commit("lib")
	r := newRepo(t)
	r.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", "file://"+lib.dir, "sub")
	r.write("a.py", "a = 1\n")
	r.commit("one")
	m, files := scanCommit(t, open(t, r.dir), "HEAD", Options{})
	if reasonOf(t, m, "sub") != Submodule || len(files) != 2 { // a.py and .gitmodules
		t.Errorf("files %q", files)
	}
	same(t, open(t, r.dir), Options{})
	s := open(t, r.path("sub"))
	if s.Root() != r.path("sub") {
		t.Errorf("submodule root %q", s.Root())
	}
	same(t, s, Options{})
	if _, err := os.Stat(r.path("sub/.git")); err != nil {
		t.Fatal(err)
	}
}
