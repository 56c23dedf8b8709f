package kv

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"

	"golang.org/x/sync/errgroup"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// verify reads a whole generation through the reader's code and checks that its
// parts agree: manifest, sources, facts, nodes, adjacency, mentions, counts and
// text index. The digests were checked when it was opened.
func (g *Generation) verify(ctx context.Context, progress func(done, total int)) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error { return g.verifyFiles(ctx, progress) })
	group.Go(func() error { return g.verifyGraph(ctx) })
	group.Go(func() error {
		x, err := openText(ctx, g.dir, g.NodeCount())
		if err != nil {
			return fmt.Errorf("text index: %w", err)
		}
		_, err = x.Count()
		return errors.Join(err, x.Close())
	})
	return group.Wait()
}

// verifyFiles checks that every included file has its source and facts, and
// that the files' runs of nodes cover all nodes.
func (g *Generation) verifyFiles(ctx context.Context, progress func(done, total int)) error {
	var next graph.NodeID
	for i := range g.files {
		var r *fileRecord
		if err := g.view(func(v *view) (err error) { r, err = v.record(i); return err }); err != nil {
			return err
		}
		if r.nodes > 0 {
			if r.first != next {
				return fmt.Errorf("%q starts at node %d, not %d", r.entry.Path, r.first, next)
			}
			next += graph.NodeID(r.nodes)
		}
		if !r.entry.Included() {
			continue
		}
		content, err := g.Content(r.entry.Path)
		if err != nil {
			return err
		}
		if int64(len(content)) != r.entry.Size {
			return fmt.Errorf("%q has %d bytes, not %d", r.entry.Path, len(content), r.entry.Size)
		}
		if _, found, err := g.unpackFrame(bucketFacts, r.facts, g.packs, g.factsSize); err != nil || !found {
			return fmt.Errorf("facts of %q: found %v, %w", r.entry.Path, found, err)
		}
		if i%512 == 0 {
			progress(int(i), int(g.files))
			if err := ctx.Err(); err != nil {
				return err
			}
		}
	}
	if int(next) != g.NodeCount() || int(g.files) != g.meta.Files.Total || g.meta.Nodes != g.NodeCount() {
		return fmt.Errorf("%d files and %d nodes, counted as %d and %d", g.files, g.NodeCount(), g.meta.Files.Total, g.meta.Nodes)
	}
	return nil
}

// verifyGraph decodes every node, edge and mention.
func (g *Generation) verifyGraph(ctx context.Context) error {
	var out, in int
	for start := uint32(0); start < g.t.nodes; start += 4096 {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := g.view(func(v *view) error {
			for i := start; i < min(start+4096, g.t.nodes); i++ {
				id := graph.NodeID(i)
				if _, err := v.decodeNode(v.get(bucketNodes, idKey(i)), id); err != nil {
					return err
				}
				b := v.get(bucketAdjacency, idKey(i))
				o, err := v.decodeAdjacency(b, id, true)
				if err != nil {
					return err
				}
				n, err := v.decodeAdjacency(b, id, false)
				if err != nil {
					return err
				}
				out, in = out+len(o), in+len(n)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if out != g.meta.Edges || in != g.meta.Edges {
		return fmt.Errorf("%d outgoing and %d incoming edges, counted as %d", out, in, g.meta.Edges)
	}
	return g.view(func(v *view) error {
		c := v.g.buckets[string(bucketMentions)].Cursor()
		for k, b := c.First(); k != nil; k, b = c.Next() {
			name := (&decoder{b: b}).str()
			if _, err := v.decodeMentions(b, name); err != nil {
				return fmt.Errorf("mentions of %q: %w", name, err)
			}
		}
		return ctx.Err()
	})
}

// Verify checks the whole generation, text index included, as a build does
// before it publishes.
func (g *Generation) Verify(ctx context.Context) error {
	if err := g.verify(ctx, func(int, int) {}); err != nil {
		return integrity(filepath.Base(g.dir), err)
	}
	return nil
}
