package snapshot

import (
	"context"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

type index struct{}

// ScanWorktree is not there yet.
func (r *Repository) ScanWorktree(ctx context.Context, o Options, visit Visit) (*Manifest, error) {
	return nil, fault.New(fault.Unsupported, "worktree snapshots are not there yet")
}

// Tracked is not there yet.
func (r *Repository) Tracked(path string) (bool, error) {
	return false, fault.New(fault.Unsupported, "the index is not read yet")
}

// Normalize is not there yet.
func (r *Repository) Normalize(ctx context.Context, path string, worktree []byte) (blobBytes []byte, how string, ok bool) {
	return worktree, "", false
}
