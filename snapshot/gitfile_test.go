//go:build unix

package snapshot

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// soon gives what run gives, and fails the test when it hangs.
func soon(t *testing.T, run func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatal("it hangs")
		return nil
	}
}

// useAll opens a repository and reads what a command may read of it.
func useAll(t *testing.T, dir, rev string) error {
	return soon(t, func() error {
		r, err := Open(dir)
		if err != nil {
			return err
		}
		defer r.Close()
		v, err := r.Resolve(t.Context(), rev)
		if err != nil {
			return err
		}
		if _, err := r.ScanCommit(t.Context(), v, Options{}, nil); err != nil {
			return err
		}
		_, err = r.ScanWorktree(t.Context(), Options{}, nil)
		return err
	})
}

// A pipe, a folder or a device where Git keeps a file is refused at once, by its
// name: opening a pipe would wait for a writer for ever.
func TestWhatIsNoRegularFileBelowGit(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(r *testRepo) // prepares, before the file is replaced
		file func(r *testRepo) string
		rev  string
	}{
		{name: "HEAD"},
		{name: "config"},
		{name: "index"},
		{name: "commondir"},
		{name: "objects/info/alternates"},
		{name: "info/attributes"},
		{name: "refs/heads/main"},
		{name: "packed-refs", rev: "packed", make: func(r *testRepo) { r.git("branch", "packed"); r.git("pack-refs", "--all") }},
		{name: "config.worktree", make: func(r *testRepo) { r.git("config", "extensions.worktreeConfig", "true") }},
		{name: "shared index", make: func(r *testRepo) { r.git("update-index", "--split-index") },
			file: func(r *testRepo) string { return firstMatch(r.t, r.path(".git/sharedindex.*")) }},
		{name: "loose blob", file: func(r *testRepo) string { return r.loose(r.git("rev-parse", "HEAD:a.py")) }},
		{name: "pack", make: func(r *testRepo) { r.git("gc", "-q") }, file: func(r *testRepo) string { return firstPack(t, r) }},
		{name: "idx", make: func(r *testRepo) { r.git("gc", "-q") },
			file: func(r *testRepo) string { return strings.TrimSuffix(firstPack(t, r), ".pack") + ".idx" }},
	} {
		for kind, plant := range map[string]func(string) error{
			"fifo":   mkfifo,
			"folder": func(path string) error { return os.Mkdir(path, 0o755) },
			"device": func(path string) error { return os.Symlink("/dev/zero", path) },
			"socket": socket,
		} {
			if kind == "folder" && strings.Contains(c.name, "refs/heads") {
				continue // what it stands for may be packed
			}
			t.Run(c.name+"/"+kind, func(t *testing.T) {
				r := newRepo(t)
				r.write("a.py", "a = 1\n")
				r.commit("one")
				if c.make != nil {
					c.make(r)
				}
				file := r.path(".git/" + c.name)
				if c.file != nil {
					file = c.file(r)
				}
				if err := os.RemoveAll(file); err != nil {
					t.Fatal(err)
				}
				if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := plant(file); err != nil {
					t.Fatal(err)
				}
				rev := c.rev
				if rev == "" {
					rev = "HEAD"
				}
				err := useAll(t, r.dir, rev)
				refused(t, err, fault.RepositoryFailed, filepath.Base(file))
				var f *fault.Error
				if !errors.As(err, &f) || f.Hint == "" {
					t.Errorf("no hint: %v", err)
				}
			})
		}
	}
}

// The .git file of a linked worktree, and the file that names the worktree.
func TestPipesOfALinkedWorktree(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	r.commit("one")
	wt := filepath.Join(realPath(t, t.TempDir()), "wt")
	r.git("worktree", "add", "-q", wt)
	for _, c := range []struct{ file, open string }{
		{r.path(".git/worktrees/wt/gitdir"), r.path(".git/worktrees/wt")},
		{r.path(".git/worktrees/wt/commondir"), wt},
		{filepath.Join(wt, ".git"), wt},
	} {
		if err := os.Remove(c.file); err != nil {
			t.Fatal(err)
		}
		if err := mkfifo(c.file); err != nil {
			t.Fatal(err)
		}
		refused(t, useAll(t, c.open, "HEAD"), fault.RepositoryFailed, c.file)
	}
}

// A folder of refs beside a packed ref of its name is no damage.
func TestFolderInPlaceOfAPackedRef(t *testing.T) {
	r := newRepo(t)
	id := r.commit("one")
	r.git("branch", "topic")
	r.git("pack-refs", "--all")
	if err := os.MkdirAll(r.path(".git/refs/heads/topic"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got := resolve(t, open(t, r.dir), "topic").Commit; got != id {
		t.Errorf("topic is %s", got)
	}
}

func firstMatch(t testing.TB, pattern string) string {
	t.Helper()
	names, err := filepath.Glob(pattern)
	if err != nil || len(names) == 0 {
		t.Fatalf("nothing matches %s: %v", pattern, err)
	}
	return names[0]
}

// socket makes a socket: in a short folder first, as its name may not be long.
func socket(path string) error {
	short, err := os.MkdirTemp("", "s")
	if err != nil {
		return err
	}
	defer os.RemoveAll(short)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(short, "s"), Net: "unix"})
	if err != nil {
		return err
	}
	l.SetUnlinkOnClose(false)
	defer l.Close()
	return os.Rename(filepath.Join(short, "s"), path)
}
