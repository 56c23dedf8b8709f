package kv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func checkModes(t *testing.T, dir string) {
	t.Helper()
	filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			t.Fatal(err)
		}
		info, err := d.Info()
		if err != nil {
			t.Fatal(err)
		}
		want := fs.FileMode(0o600)
		if d.IsDir() {
			want = 0o700
		}
		if info.Mode().Perm() != want {
			t.Errorf("%s is %v", p, info.Mode())
		}
		return nil
	})
}

func TestCacheIsPrivate(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	w.open().TextCandidates(w.ctx, []string{"x"}, 1)
	checkModes(t, w.cache.Dir())
}

// TestCacheOpenToOthersIsRefused: the folder may be one that others use, so it
// is left as it is.
func TestCacheOpenToOthersIsRefused(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "shared")
	for _, mode := range []fs.FileMode{0o755, 0o750, 0o701, 0o702, 0o1777} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if mode == 0o1777 {
			mode = 0o777 | fs.ModeSticky
		}
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		_, err := OpenCache(dir)
		wantCode(t, err, fault.StorageFailed)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Hint, "chmod 700") || !strings.Contains(f.Msg, dir) {
			t.Errorf("%v, hint %q", err, f.Hint)
		}
		info, err := os.Stat(dir)
		if err != nil || info.Mode()&^fs.ModeDir != mode {
			t.Errorf("the mode is %v, was %v: %v", info.Mode(), mode, err)
		}
		if list, _ := os.ReadDir(dir); len(list) > 0 {
			t.Errorf("the refused folder holds %v", list)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenCache(dir); err != nil {
		t.Error(err)
	}
	made := filepath.Join(t.TempDir(), "a", "b")
	if _, err := OpenCache(made); err != nil {
		t.Fatal(err)
	}
	checkModes(t, filepath.Dir(made))
}

// TestCacheFolderThatIsNone: the refusal says what stands there.
func TestCacheFolderThatIsNone(t *testing.T) {
	dir := t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	if err := errors.Join(os.Symlink(at("gone"), at("dangling")), os.WriteFile(at("file"), nil, 0o600), os.Symlink("file", at("to-file")),
		os.Symlink("loop", at("loop")), unix.Mkfifo(at("pipe"), 0o600)); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"dangling": "symbolic link to \"" + at("gone") + "\", which does not exist", "dangling/below": "which does not exist",
		"file": "a regular file", "file/below": "a regular file", "to-file": "which is no folder", "loop": "which is no folder",
		"pipe": "a named pipe", "pipe/below": "a named pipe",
	} {
		err := soon(t, path, func() error { _, err := OpenCache(at(path)); return err })
		wantCode(t, err, fault.StorageFailed)
		var f *fault.Error
		if !errors.As(err, &f) || !strings.Contains(f.Msg, want) || !strings.Contains(f.Msg, at(path)) || !strings.Contains(f.Hint, "make a folder") {
			t.Errorf("%s: %v, hint %q", path, err, f.Hint)
		}
	}
	if _, err := os.Lstat(at("gone")); err == nil {
		t.Error("the target of a dangling link was made")
	}
	cache := at("cache")
	if err := errors.Join(os.Mkdir(cache, 0o700), unix.Mkfifo(filepath.Join(cache, "bindings"), 0o600)); err != nil {
		t.Fatal(err)
	}
	helps(t, soon(t, "bindings", func() error { _, err := OpenCache(cache); return err }))
	if _, err := OpenCache(cache); err != nil {
		t.Error(err)
	}
}

func TestCacheInsideARepositoryIsRefused(t *testing.T) {
	dir := newRepo(t, sample())
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, dir, "clone", "-q", "--bare", dir, bare)
	linked := filepath.Join(t.TempDir(), "linked")
	git(t, dir, "worktree", "add", "-q", linked)
	outside := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Join(dir, "pkg"), outside); err != nil {
		t.Fatal(err)
	}
	for _, cache := range []string{dir, filepath.Join(dir, "cache"), filepath.Join(dir, "pkg", "deep", "cache"), filepath.Join(dir, ".git", "cache"),
		bare, filepath.Join(bare, "cache"), filepath.Join(linked, "cache"), filepath.Join(outside, "cache")} {
		_, err := OpenCache(cache)
		wantCode(t, err, fault.CacheInside)
	}
	if got := git(t, dir, "status", "--porcelain"); got != "" {
		t.Errorf("a refused cache left %q", got)
	}
}

// TestCacheBelowASeparateGitDir: the worktree's .git is a file, the
// cache would be in the directory that it names.
func TestCacheBelowASeparateGitDir(t *testing.T) {
	gitDir := filepath.Join(t.TempDir(), "store")
	dir := t.TempDir()
	git(t, dir, "init", "-q", "--separate-git-dir", gitDir)
	writeFiles(t, dir, sample())
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "x")
	_, err := OpenCache(filepath.Join(gitDir, "cache"))
	wantCode(t, err, fault.CacheInside)
}

func TestBindings(t *testing.T) {
	dir := newRepo(t, sample())
	linked := filepath.Join(t.TempDir(), "linked tree")
	git(t, dir, "worktree", "add", "-q", "-b", "other", linked)
	bare := filepath.Join(t.TempDir(), "proj.git")
	git(t, dir, "clone", "-q", "--bare", dir, bare)
	cache := filepath.Join(t.TempDir(), "cache")
	a, b, c := openWorld(t, dir, cache), openWorld(t, linked, cache), openWorld(t, bare, cache)
	if a.b.ID == b.b.ID || b.b.ID == c.b.ID || a.b.ID == "" {
		t.Errorf("ids %s %s %s", a.b.ID, b.b.ID, c.b.ID)
	}
	if b.b.Scope != "linked-tree" || c.b.Scope != "proj" || c.b.Root != "" {
		t.Errorf("scopes %q %q", b.b.Scope, c.b.Scope)
	}
	if again := openWorld(t, filepath.Join(dir, "pkg"), cache); again.b != a.b {
		t.Errorf("from a folder below: %+v, want %+v", again.b, a.b)
	}
	named, err := a.cache.Bind(a.ctx, a.repo, "work")
	if err != nil || named.Scope != "work" || named.ID != a.b.ID {
		t.Errorf("%+v %v", named, err)
	}
	if kept, err := a.cache.Bind(a.ctx, a.repo, ""); err != nil || kept != named {
		t.Errorf("%+v %v", kept, err)
	}
	for _, scope := range []string{"a/b", "..", "-x", "a b", "\x1b[0m"} {
		_, err := a.cache.Bind(a.ctx, a.repo, scope)
		wantCode(t, err, fault.InvalidRequest)
	}
	list, err := a.cache.Bindings()
	if err != nil || len(list) != 3 {
		t.Errorf("%+v %v", list, err)
	}
	c.build(BuildOptions{})
	if got, err := c.open().Content("go.mod"); err != nil || string(got) != sample()["go.mod"] {
		t.Errorf("bare: %q %v", got, err)
	}
	_, found, err := c.cache.Lookup(c.repo)
	if err != nil || !found {
		t.Error(found, err)
	}
	// One binding's generation is not another's, though the commit is one.
	_, err = a.cache.OpenFor(a.ctx, a.b, snapshot.Revision{Commit: git(t, dir, "rev-parse", "HEAD")})
	wantCode(t, err, fault.IndexMissing)
}

func TestDefaultCacheDir(t *testing.T) {
	t.Setenv(EnvCache, "/somewhere/else")
	if dir, err := DefaultCacheDir(); err != nil || dir != "/somewhere/else" {
		t.Error(dir, err)
	}
	t.Setenv(EnvCache, "")
	t.Setenv("XDG_CACHE_HOME", "/xdg")
	if dir, err := DefaultCacheDir(); err != nil || filepath.Base(dir) != "exhibit" {
		t.Error(dir, err)
	}
}

func TestClear(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g, err := w.cache.Open(w.ctx, w.b)
	if err != nil {
		t.Fatal(err)
	}
	r, err := w.cache.Clear(w.ctx, w.b)
	if err != nil || r.Generations != 0 || r.Leased != 1 {
		t.Errorf("with a reader: %+v %v", r, err)
	}
	if b, err := g.Content("go.mod"); err != nil || len(b) == 0 {
		t.Errorf("the reader lost its generation: %v", err)
	}
	_, err = w.cache.Open(w.ctx, w.b)
	wantCode(t, err, fault.IndexMissing)
	g.Close()
	if r, err = w.cache.Clear(w.ctx, w.b); err != nil || r.Generations != 1 || r.Bytes == 0 || len(w.generations()) != 0 {
		t.Errorf("without: %+v %v", r, err)
	}
	if s, err := w.cache.Status(w.b); err != nil || s.State != "missing" {
		t.Errorf("%+v %v", s, err)
	}
	w.build(BuildOptions{})
	w.open()
}
