package kv

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// limited is a repository that has more files than a snapshot may by default.
type limited struct {
	*snapshot.Repository
	files int
}

func (l limited) ScanWorktree(ctx context.Context, o snapshot.Options, visit snapshot.Visit) (*snapshot.Manifest, error) {
	if o.MaxFiles < l.files {
		return nil, fault.New(fault.RepositoryLimit, "more than %d files", o.MaxFiles)
	}
	return l.Repository.ScanWorktree(ctx, o, visit)
}

// TestCheckWorktree: an edit, a file that is gone and one that is new are seen;
// a generation that was built under raised limits is checked under them.
func TestCheckWorktree(t *testing.T) {
	w := newWorld(t, sample())
	if _, err := w.cache.OpenWorktree(w.ctx, w.b); fault.CodeOf(err) != fault.IndexMissing {
		t.Fatalf("before it is indexed: %v", err)
	}
	w.build(BuildOptions{Worktree: true})
	g, err := w.cache.OpenWorktree(w.ctx, w.b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if err := g.CheckWorktree(w.ctx, limited{w.repo, 400_000}); err != nil {
		t.Fatalf("unchanged: %v", err)
	}
	path := filepath.Join(w.dir, "pkg", "b.go")
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func() error{
		"edit": func() error { return os.WriteFile(path, append(before[:len(before)-1:len(before)-1], ' '), 0o644) },
		"gone": func() error { return os.Remove(path) },
	} {
		if err := change(); err != nil {
			t.Fatal(err)
		}
		if err := g.CheckWorktree(w.ctx, w.repo); fault.CodeOf(err) != fault.CodeChanged {
			t.Errorf("%s: %v", name, err)
		}
		if err := os.WriteFile(path, before, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(w.dir, "new.py"), []byte("x = 1\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	git(t, w.dir, "add", "new.py")
	if err := g.CheckWorktree(w.ctx, w.repo); fault.CodeOf(err) != fault.CodeChanged {
		t.Errorf("a new file: %v", err)
	}
}
