package kv

import (
	"context"
	"math"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// OpenWorktree opens the current generation, which must have been made from the
// worktree's bytes: fault.IndexMissing otherwise.
func (c *Cache) OpenWorktree(ctx context.Context, b Binding) (*Generation, error) {
	return c.open(ctx, b, func(p pointer) *publication {
		if p.Current != nil && p.Current.Source == snapshot.FromWorktree {
			return p.Current
		}
		return nil
	}, "the worktree")
}

// CheckWorktree hashes the worktree's files again and compares them with those
// that the generation was made from: fault.CodeChanged when a file that it
// indexes changed or is gone, or when there is one that it does not know. Sizes
// and times are never looked at. Files that the generation left out are not
// compared.
func (g *Generation) CheckWorktree(ctx context.Context, repo Repository) error {
	// Whatever limits the generation was built under, it was built: only what one
	// file may hold decides what is compared.
	m, err := repo.ScanWorktree(ctx, snapshot.Options{Language: extract.Language, MaxFiles: snapshot.MaxMaxFiles, MaxSourceBytes: math.MaxInt64}, nil)
	if err != nil {
		return err
	}
	changed, first := 0, ""
	differs := func(path string) {
		if changed == 0 {
			first = path
		}
		changed++
	}
	indexed := 0
	for i := range m.Entries {
		e := &m.Entries[i]
		before, known := g.Entry(e.Path)
		if known && before.Included() {
			indexed++
			if before.SHA256 != e.SHA256 {
				differs(e.Path)
			}
		} else if !known && e.Included() {
			differs(e.Path)
		}
	}
	if err := g.Err(); err != nil {
		return err
	}
	if gone := g.meta.Files.Included - indexed; changed+gone > 0 {
		what := "a file that was indexed is gone"
		if changed > 0 {
			what = "such as " + first
		}
		return fault.New(fault.CodeChanged, "%d files of the worktree differ from what was indexed, %s", changed+gone, what).
			WithHint("run `exhibit index --worktree` and ask again")
	}
	return nil
}
