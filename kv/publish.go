package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// pointer is the file `current`: which generations of a binding are published.
// It is replaced whole, by one rename.
type pointer struct {
	Layout   int          `json:"layout"`
	Current  *publication `json:"current"`
	Previous *publication `json:"previous,omitempty"`
}

// publication is a generation with what is true of its publishing only.
type publication struct {
	Generation  string                  `json:"generation"` // folder below generations/
	Digest      string                  `json:"digest"`     // hex SHA-256 of its generation.json
	Fingerprint string                  `json:"fingerprint"`
	Commit      string                  `json:"commit"`
	Source      snapshot.Source         `json:"source"`
	Dirty       bool                    `json:"dirty"`
	Untracked   bool                    `json:"untracked,omitempty"`
	Worktree    *snapshot.WorktreeState `json:"worktree,omitempty"`
	BuiltAt     string                  `json:"built_at"`
}

// servesCommit says whether a generation is what indexing the commit would
// give: it was made from it, or from a worktree that had the very same blobs.
func (p *publication) servesCommit(commit string) bool {
	if p == nil || commit == "" || p.Commit != commit {
		return false
	}
	return p.Source == snapshot.FromCommit || !p.Dirty && !p.Untracked && (p.Worktree == nil || len(p.Worktree.Converted) == 0)
}

func now() string { return time.Now().UTC().Format(time.RFC3339) }

func (c *Cache) pointerPath(b Binding) string { return filepath.Join(c.bindingDir(b), "current") }

func (c *Cache) generationDir(b Binding, p *publication) string {
	return filepath.Join(c.bindingDir(b), "generations", filepath.Base(p.Generation))
}

// readPointer gives the published generations; an empty pointer when nothing is
// published, fault.IndexIntegrity when the file is damaged.
func (c *Cache) readPointer(b Binding) (pointer, error) {
	var p pointer
	err := readSealed(c.pointerPath(b), &p)
	var odd irregular
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return pointer{}, nil
	case errors.Is(err, errMalformed), errors.As(err, &odd):
		return pointer{}, integrity("current", err)
	case err != nil:
		return pointer{}, storage("read the pointer to the current generation", err)
	}
	if p.Layout != Layout {
		return pointer{}, otherVersion(fmt.Sprintf("layout %d", p.Layout))
	}
	return p, nil
}

func missing(b Binding, what string) error {
	return fault.New(fault.IndexMissing, "no index of %s in scope %q", what, b.Scope).WithHint("run `exhibit index`")
}

// Open opens the current generation, pinned until Close. fault.IndexMissing
// when nothing is published or it was made under other rules,
// fault.IndexIntegrity when it is damaged.
func (c *Cache) Open(ctx context.Context, b Binding) (*Generation, error) {
	return c.open(ctx, b, func(p pointer) *publication { return p.Current }, "this repository")
}

// OpenFor opens the generation of a commit, if it is among those kept: current
// or previous. fault.IndexMissing otherwise.
func (c *Cache) OpenFor(ctx context.Context, b Binding, rev snapshot.Revision) (*Generation, error) {
	what := "commit " + rev.Commit
	if rev.Commit == "" {
		what = "an unborn HEAD"
	}
	return c.open(ctx, b, func(p pointer) *publication {
		for _, x := range []*publication{p.Current, p.Previous} {
			if x.servesCommit(rev.Commit) {
				return x
			}
		}
		return nil
	}, what)
}

// openTries bounds how often a reader follows a pointer that moves under it.
const openTries = 20

// open follows the pointer, takes the lease and verifies. A generation that is
// swept between reading the pointer and taking its lease is no longer current:
// look again.
func (c *Cache) open(ctx context.Context, b Binding, choose func(pointer) *publication, what string) (*Generation, error) {
	for try := 0; ; try++ {
		p, err := c.readPointer(b)
		if err != nil {
			return nil, err
		}
		chosen := choose(p)
		if chosen == nil {
			return nil, missing(b, what)
		}
		lease, err := pin(c.generationDir(b, chosen))
		if err != nil {
			after, readErr := c.readPointer(b)
			if again := choose(after); try < openTries && readErr == nil && (errors.Is(err, errLocked) || again == nil || again.Generation != chosen.Generation) {
				time.Sleep(time.Millisecond)
				continue
			}
			return nil, integrity(leaseFile, err)
		}
		g, err := openPublished(ctx, c.generationDir(b, chosen), b, chosen)
		if err == nil {
			err = sameRules(&g.meta.Contents)
		}
		if err != nil {
			lease.Close()
			if g != nil {
				g.Close()
			}
			return nil, err
		}
		g.lease = lease
		return g, nil
	}
}

// openPublished opens a generation with the facts of its publishing.
func openPublished(ctx context.Context, dir string, b Binding, p *publication) (*Generation, error) {
	g, err := openGeneration(ctx, dir, p.Digest)
	if err != nil {
		return nil, err
	}
	if g.meta.Fingerprint != p.Fingerprint || g.meta.Commit != p.Commit || g.meta.Fingerprint != snapshot.LocalFingerprint(g.meta.ContentFingerprint, b.ID) {
		g.Close()
		return nil, integrity("current", errors.New("it names another generation than the one it points at"))
	}
	g.meta.BindingID, g.meta.Scope, g.meta.BuiltAt = b.ID, b.Scope, p.BuiltAt
	g.meta.Source, g.meta.Dirty, g.meta.Worktree = p.Source, p.Dirty, p.Worktree
	return g, nil
}

// pin takes the shared lease of a generation. errLocked while it is being
// swept; an error when it is gone.
func pin(dir string) (*os.File, error) {
	path := filepath.Join(dir, leaseFile)
	lease, err := tryLock(path, os.O_RDONLY, unix.LOCK_SH)
	if err != nil {
		return nil, err
	}
	// The folder may have been moved away between opening and locking: the
	// lease counts only if it still stands where it was.
	held, err := lease.Stat()
	if err == nil {
		var there os.FileInfo
		if there, err = os.Lstat(path); err == nil && !os.SameFile(held, there) {
			err = fs.ErrNotExist
		}
	}
	if err != nil {
		lease.Close()
		return nil, err
	}
	return lease, nil
}

// publish swaps the pointer: next serves, and what served before is kept.
func (c *Cache) publish(b Binding, next *publication) error {
	old, err := c.readPointer(b)
	if err != nil {
		old = pointer{} // damaged, or another version: nothing can be served from it
	}
	p := pointer{Layout: Layout, Current: next, Previous: old.Previous}
	if old.Current != nil && old.Current.Generation != next.Generation {
		p.Previous = old.Current
	}
	if p.Previous != nil && p.Previous.Generation == next.Generation {
		p.Previous = nil
	}
	return writeSealed(c.pointerPath(b), p)
}

// sweep removes the generations that are neither published nor leased, and what
// killed builds and sweeps left. The caller holds the build lock. It gives the
// bytes that it freed and the names of those that it had to leave.
func (c *Cache) sweep(b Binding, p pointer) (freed int64, left []string) {
	keep := map[string]bool{}
	for _, x := range []*publication{p.Current, p.Previous} {
		if x != nil {
			keep[filepath.Base(x.Generation)] = true
		}
	}
	dir := c.bindingDir(b)
	for _, folder := range []string{"generations", "staging"} {
		entries, err := os.ReadDir(filepath.Join(dir, folder))
		if err != nil {
			continue
		}
		for _, e := range entries {
			if folder == "generations" && keep[e.Name()] {
				continue
			}
			n, ok := removeUnleased(filepath.Join(dir, folder, e.Name()), filepath.Join(dir, "staging"))
			if freed += n; !ok {
				left = append(left, e.Name())
			}
		}
	}
	return freed, left
}

// removeUnleased deletes a folder whose lease nobody holds. It is renamed first:
// a reader finds it whole or not at all. A folder without a lease was being made
// or deleted by a process that is gone; one whose lease is no file has no reader.
func removeUnleased(path, trash string) (freed int64, ok bool) {
	lease, err := tryLock(filepath.Join(path, leaseFile), os.O_RDONLY, unix.LOCK_EX)
	var odd irregular
	if err != nil && !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, unix.ENOTDIR) && !errors.As(err, &odd) {
		return 0, false
	}
	if lease != nil {
		defer lease.Close()
	}
	size := folderSize(path)
	if filepath.Dir(path) != trash {
		gone := filepath.Join(trash, "gone-"+randomName(6))
		if os.MkdirAll(trash, 0o700) != nil || os.Rename(path, gone) != nil {
			return 0, false
		}
		path = gone
	}
	return size, os.RemoveAll(path) == nil
}

// ClearReport says what Clear removed.
type ClearReport struct {
	Generations int   `json:"generations"` // removed
	Bytes       int64 `json:"bytes"`       // freed
	Leased      int   `json:"leased"`      // left because a reader holds them; the next build removes them
}

// Clear unpublishes and removes the generations of a binding. What readers hold
// stays until they are done. The binding itself stays.
func (c *Cache) Clear(ctx context.Context, b Binding) (ClearReport, error) {
	lock, err := c.buildLock(ctx, b, false)
	if err != nil {
		return ClearReport{}, err
	}
	defer lock.Close()
	dir := c.bindingDir(b)
	entries, _ := os.ReadDir(filepath.Join(dir, "generations"))
	for _, name := range []string{"current", "outcome.json"} {
		if err := os.RemoveAll(filepath.Join(dir, name)); err != nil { // a folder may be in its place
			return ClearReport{}, storage("clear", err)
		}
	}
	if err := syncDir(dir); err != nil {
		return ClearReport{}, storage("clear", err)
	}
	freed, left := c.sweep(b, pointer{})
	return ClearReport{Generations: max(0, len(entries)-len(left)), Bytes: freed, Leased: len(left)}, nil
}

// buildLock takes the lock that a build, Clear and the rebuilding of a text
// index share. It waits until ctx ends, or not at all.
func (c *Cache) buildLock(ctx context.Context, b Binding, wait bool) (*os.File, error) {
	path := filepath.Join(c.bindingDir(b), "lock")
	lock, err := tryLock(path, os.O_RDWR|os.O_CREATE, unix.LOCK_EX)
	if err == errLocked && wait {
		lock, err = waitLock(ctx, path)
	}
	if err == errLocked {
		return nil, fault.New(fault.WorkspaceBusy, "building: another process is indexing scope %q", b.Scope).
			WithHint("try again when it is done; `exhibit status` shows the state")
	}
	return lock, storage("lock the binding", err)
}
