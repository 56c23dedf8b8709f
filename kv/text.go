package kv

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"sync"

	"github.com/exhibit-dev/exhibit/kv/textindex"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// textManifest is text.json: what the text index must look like. It is beside
// the generation, not part of it.
type textManifest struct {
	Documents int          `json:"documents"`
	Files     []fileDigest `json:"files"` // sorted by name
}

// textState is the text index as a generation has it open.
type textState struct {
	opening sync.Mutex // held while the index is opened or rebuilt
	index   *textindex.Index
}

// TextCandidates nominates at most limit nodes that bear words of a question in
// their name, qualified name, path or signature: those that bear most of them
// first, then by id. The text index is opened at the first call, and built again
// from the graph when it is missing or damaged.
func (g *Generation) TextCandidates(ctx context.Context, words []string, limit int) ([]graph.NodeID, error) {
	x, err := g.textIndex(ctx)
	if err != nil {
		return nil, err
	}
	found, err := x.Candidates(ctx, words, limit)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fault.New(fault.Timeout, "the text index did not answer in time")
		}
		return nil, integrity(textFolder, err)
	}
	ids := make([]graph.NodeID, 0, len(found))
	for _, id := range found {
		if id >= g.t.nodes {
			return nil, integrity(textFolder, fmt.Errorf("node %d does not exist", id))
		}
		ids = append(ids, graph.NodeID(id))
	}
	return ids, nil
}

func (g *Generation) textIndex(ctx context.Context) (*textindex.Index, error) {
	g.text.opening.Lock()
	defer g.text.opening.Unlock()
	if g.text.index != nil {
		return g.text.index, nil
	}
	x, err := openText(ctx, g.dir, g.NodeCount())
	if err != nil && ctx.Err() == nil && !errors.Is(err, textindex.ErrTimeout) {
		x, err = g.rebuildText(ctx)
	}
	if err != nil {
		if ctx.Err() != nil {
			return nil, fault.New(fault.Timeout, "the text index could not be opened in time").WithHint("run `exhibit index` to repair it")
		}
		return nil, storage("text index", err)
	}
	g.text.index = x
	return x, nil
}

// openText checks the files of a text index and opens it.
func openText(ctx context.Context, dir string, nodes int) (*textindex.Index, error) {
	var m textManifest
	if err := readSealed(filepath.Join(dir, textFile), &m); err != nil {
		return nil, err
	}
	if m.Documents != nodes {
		return nil, fmt.Errorf("text index holds %d documents, the graph %d nodes", m.Documents, nodes)
	}
	got, err := textDigests(ctx, filepath.Join(dir, textFolder))
	if err != nil {
		return nil, err
	}
	if len(got) != len(m.Files) {
		return nil, errDigest
	}
	for i := range got {
		if got[i] != m.Files[i] {
			return nil, errDigest
		}
	}
	return textindex.Open(ctx, filepath.Join(dir, textFolder))
}

// textDigests lists the files below a text index, sorted.
func textDigests(ctx context.Context, dir string) ([]fileDigest, error) {
	var list []fileDigest
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, p)
		if err != nil {
			return err
		}
		f, err := digestOf(ctx, p, filepath.ToSlash(name))
		list = append(list, f)
		return err
	})
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list, err
}

// writeText makes the text index of a graph in the staging folder.
func (x *builder) writeText(ctx context.Context, g *graph.Graph) error {
	return makeText(ctx, x.dir, x.dir, len(g.Nodes), func(yield func(textindex.Document, error) bool) {
		for i := range g.Nodes {
			n := &g.Nodes[i]
			if !yield(textindex.Document{ID: uint32(i), Name: n.Name, Qualified: n.Qualified, Path: n.Path, Signature: n.Signature}, nil) {
				return
			}
		}
	})
}

// makeText builds text/ and text.json in dir.
func makeText(ctx context.Context, dir, work string, nodes int, docs iter.Seq2[textindex.Document, error]) error {
	n, err := textindex.Build(ctx, filepath.Join(dir, textFolder), work, docs)
	if err == nil && n != nodes {
		err = fmt.Errorf("it holds %d documents for %d nodes", n, nodes)
	}
	if err != nil {
		return storage("build the text index", err)
	}
	if err := private(filepath.Join(dir, textFolder)); err != nil {
		return storage("set permissions", err)
	}
	files, err := textDigests(ctx, filepath.Join(dir, textFolder))
	if err != nil {
		return storage("read the text index", err)
	}
	return storage("write "+textFile, writeSealed(filepath.Join(dir, textFile), textManifest{Documents: n, Files: files}))
}

// rebuildText builds the text index again from graph.db. Other processes that
// find it damaged wait here and then find it whole.
func (g *Generation) rebuildText(ctx context.Context) (*textindex.Index, error) {
	lock, err := waitLock(ctx, filepath.Join(g.dir, textFolder+".lock"))
	if err != nil {
		return nil, err
	}
	defer lock.Close()
	if x, err := openText(ctx, g.dir, g.NodeCount()); err == nil {
		return x, nil
	}
	work := filepath.Join(g.dir, "text.new")
	if err := os.RemoveAll(work); err != nil { // of a rebuild that was killed
		return nil, err
	}
	if err := os.Mkdir(work, 0o700); err != nil {
		return nil, err
	}
	defer os.RemoveAll(work)
	if err := makeText(ctx, work, work, g.NodeCount(), g.documents()); err != nil {
		return nil, err
	}
	if err := os.Rename(filepath.Join(g.dir, textFolder), filepath.Join(work, "old")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, name := range []string{textFolder, textFile} {
		if err := os.Rename(filepath.Join(work, name), filepath.Join(g.dir, name)); err != nil {
			return nil, err
		}
	}
	return openText(ctx, g.dir, g.NodeCount())
}

// documents reads the nodes for the text index.
func (g *Generation) documents() iter.Seq2[textindex.Document, error] {
	return func(yield func(textindex.Document, error) bool) {
		for id := range graph.NodeID(g.NodeCount()) {
			n, err := g.Node(id)
			if !yield(textindex.Document{ID: uint32(id), Name: n.Name, Qualified: n.Qualified, Path: n.Path, Signature: n.Signature}, err) || err != nil {
				return
			}
		}
	}
}
