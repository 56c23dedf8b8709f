package kv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"sort"
	"strings"
	"sync"

	"github.com/exhibit-dev/exhibit/kv/textindex"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// textManifest is text.json: what the text index must look like. It is beside
// the generation, not part of it.
type textManifest struct {
	Nodes int          `json:"nodes"` // of the graph that it is made from
	Files []fileDigest `json:"files"` // sorted by name
}

// textState is the text index as a generation has it open.
type textState struct {
	opening sync.Mutex // held while the index is opened or rebuilt
	index   *textindex.Index
}

// maxTextFiles bounds the files that one question's words nominate.
const maxTextFiles = 300

// TextCandidates nominates at most limit nodes that bear words of a question in
// their name, qualified name, path or signature: those that bear most of them
// first, then by id. The text index names the files to look into. It is opened
// at the first call, and built again from the graph when it is missing or
// damaged.
func (g *Generation) TextCandidates(ctx context.Context, words []string, limit int) ([]graph.NodeID, error) {
	x, err := g.textIndex(ctx)
	if err != nil {
		return nil, err
	}
	files, err := x.Candidates(ctx, words, maxTextFiles)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fault.New(fault.Timeout, "the text index did not answer in time")
		}
		return nil, integrity(textFolder, err)
	}
	asked := map[string]bool{}
	for _, t := range textindex.Terms(strings.Join(words, " ")) {
		asked[t] = true
	}
	type found struct {
		id    graph.NodeID
		bears int
	}
	var list []found
	for _, first := range files {
		if first >= g.t.nodes {
			return nil, integrity(textFolder, fmt.Errorf("node %d does not exist", first))
		}
		path := ""
		for id := graph.NodeID(first); uint32(id) < g.t.nodes; id++ {
			n, err := g.Node(id)
			if err != nil {
				return nil, err
			}
			if id == graph.NodeID(first) {
				path = n.Path
			} else if n.Path != path {
				break
			}
			bears := 0
			for _, t := range textindex.Terms(strings.Join([]string{n.Name, n.Qualified, n.Path, n.Signature}, " ")) {
				if asked[t] {
					bears++
				}
			}
			if bears > 0 {
				list = append(list, found{id, bears})
			}
		}
	}
	slices.SortFunc(list, func(a, b found) int { return cmp.Or(b.bears-a.bears, cmp.Compare(a.id, b.id)) })
	ids := make([]graph.NodeID, 0, min(limit, len(list)))
	for _, f := range list[:min(limit, len(list))] {
		ids = append(ids, f.id)
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
	if m.Nodes != nodes {
		return nil, fmt.Errorf("the text index is of %d nodes, the graph has %d", m.Nodes, nodes)
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
	return makeText(ctx, x.dir, x.dir, len(g.Nodes), textDocuments(func(yield func(*graph.Node, error) bool) {
		for i := range g.Nodes {
			if !yield(&g.Nodes[i], nil) {
				return
			}
		}
	}))
}

// textDocuments makes a document of each file's nodes, which stand together. Its
// number is that of the first.
func textDocuments(nodes iter.Seq2[*graph.Node, error]) iter.Seq2[textindex.Document, error] {
	return func(yield func(textindex.Document, error) bool) {
		d, path, next := textindex.Document{}, "", uint32(0)
		for n, err := range nodes {
			if err != nil {
				yield(d, err)
				return
			}
			if next > 0 && n.Path != path {
				if !yield(d, nil) {
					return
				}
				d = textindex.Document{ID: next, Texts: d.Texts[:0]}
			}
			if len(d.Texts) == 0 {
				path = n.Path
				d.Texts = append(d.Texts, path)
			}
			d.Texts = append(d.Texts, n.Qualified, n.Signature)
			if n.Name != n.Qualified {
				d.Texts = append(d.Texts, n.Name)
			}
			next++
		}
		if next > 0 {
			yield(d, nil)
		}
	}
}

// makeText builds text/ and text.json in dir. The index is of a graph with as
// many nodes, which is what a reader compares.
func makeText(ctx context.Context, dir, work string, nodes int, docs iter.Seq2[textindex.Document, error]) error {
	if _, err := textindex.Build(ctx, filepath.Join(dir, textFolder), work, docs); err != nil {
		return storage("build the text index", err)
	}
	if err := private(filepath.Join(dir, textFolder)); err != nil {
		return storage("set permissions", err)
	}
	files, err := textDigests(ctx, filepath.Join(dir, textFolder))
	if err != nil {
		return storage("read the text index", err)
	}
	return storage("write "+textFile, writeSealed(filepath.Join(dir, textFile), textManifest{Nodes: nodes, Files: files}))
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
	return textDocuments(func(yield func(*graph.Node, error) bool) {
		for id := range graph.NodeID(g.NodeCount()) {
			n, err := g.Node(id)
			if !yield(&n, err) || err != nil {
				return
			}
		}
	})
}
