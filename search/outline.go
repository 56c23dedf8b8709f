package search

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// maxChildren bounds the lines of one file's skeleton.
const maxChildren = 60

// outline answers map: what is where, from the manifest and the graph alone.
func (q *query) outline() error {
	var entries []snapshot.Entry
	q.g.Entries(q.req.PathPrefix, func(e snapshot.Entry) bool {
		if indexed(e) && under(e.Path, q.req.PathPrefix) {
			entries = append(entries, e)
		}
		return true
	})
	if q.req.Level == LevelSkeleton {
		return q.skeletons(entries)
	}
	return q.directories(entries)
}

// folder counts what is below a directory, all the way down.
type folder struct {
	path         string
	depth        int // below the prefix: 0 for the prefix itself
	files, tests int
	languages    map[string]int
}

// directories gives the folders down to the depth, shallow ones first so that a
// cut drops the deepest.
func (q *query) directories(entries []snapshot.Entry) error {
	all := map[string]*folder{}
	for i := range entries {
		e := &entries[i]
		test, err := q.testFile(e.Path)
		if err != nil {
			return err
		}
		for dir := path.Dir(e.Path); under(dir, q.req.PathPrefix); dir = path.Dir(dir) {
			f := all[dir]
			if f == nil {
				f = &folder{path: dir, depth: depthBelow(dir, q.req.PathPrefix), languages: map[string]int{}}
				all[dir] = f
			}
			f.files++
			f.tests += boolean(test)
			f.languages[e.Language]++
			if dir == "." {
				break
			}
		}
	}
	var list []*folder
	deeper := 0
	for _, f := range all {
		if f.depth > q.req.Depth {
			deeper++
			continue
		}
		list = append(list, f)
	}
	slices.SortFunc(list, func(a, b *folder) int {
		return cmp.Or(cmp.Compare(a.depth, b.depth), strings.Compare(a.path, b.path))
	})
	q.cut(BoundDepth, q.req.Depth, deeper)
	kept := list[:min(len(list), q.req.Limit)]
	q.cut(BoundLimit, q.req.Limit, len(list)-len(kept))
	for _, f := range kept {
		q.a.Items = append(q.a.Items, Item{
			Node:  NodeRef{ID: string(graph.MakeSymbolID(f.path, "directory", f.path, 0)), Kind: "directory", Name: path.Base(f.path), Qualified: f.path, Path: f.path},
			Files: f.files, TestFiles: f.tests, Languages: f.languages})
	}
	return nil
}

// depthBelow counts the components of dir below prefix.
func depthBelow(dir, prefix string) int {
	if dir == "." || dir == prefix {
		return 0
	}
	rest := strings.TrimPrefix(strings.TrimPrefix(dir, prefix), "/")
	return strings.Count(rest, "/") + 1
}

func (q *query) testFile(p string) (bool, error) {
	id, ok, err := q.fileNode(p)
	if err != nil || !ok {
		return false, err
	}
	return q.nodes[id].TestFile, nil
}

// skeletons gives files by path, each with a line for every definition down to
// the depth, every import that stays in the repository, and every heading.
func (q *query) skeletons(entries []snapshot.Entry) error {
	dropped, deeper, files, over := 0, 0, 0, 0
	for i := range entries {
		id, ok, err := q.fileNode(entries[i].Path)
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if files == q.req.Limit {
			over++
			continue
		}
		files++
		lines, hidden, err := q.skeleton(id)
		if err != nil {
			return err
		}
		deeper += hidden
		kept := lines[:min(len(lines), maxChildren)]
		dropped += len(lines) - len(kept)
		r, err := q.ref(id)
		if err != nil {
			return err
		}
		q.a.Items = append(q.a.Items, Item{Node: r, Children: kept})
	}
	q.cut(BoundLimit, q.req.Limit, over)
	q.cut(BoundChildren, maxChildren, dropped)
	q.cut(BoundDepth, q.req.Depth, deeper)
	return nil
}

// skeleton gives the lines of one file, and how many definitions are nested
// deeper than the depth.
func (q *query) skeleton(file graph.NodeID) (lines []string, hidden int, err error) {
	n, err := q.node(file)
	if err != nil {
		return nil, 0, err
	}
	if lines, err = q.importLines(file); err != nil {
		return nil, 0, err
	}
	status, _, err := q.g.File(n.Path)
	if err != nil {
		return nil, 0, fmt.Errorf("reading the state of %q: %w", n.Path, err)
	}
	for _, h := range status.Headings {
		lines = append(lines, fmt.Sprintf("%d: %s %s", h.Line, strings.Repeat("#", max(1, min(h.Level, 6))), h.Text))
	}
	ids, err := q.g.NodesInFile(n.Path)
	if err != nil {
		return nil, 0, fmt.Errorf("looking up the definitions of %q: %w", n.Path, err)
	}
	for _, id := range ids {
		d, err := q.node(id)
		if err != nil {
			return nil, 0, err
		}
		if d.Kind == "file" || d.Kind == "package" {
			continue
		}
		depth, err := q.nesting(id)
		if err != nil {
			return nil, 0, err
		}
		if depth > q.req.Depth {
			hidden++
			continue
		}
		test := ""
		if d.Test {
			test = " (test)"
		}
		lines = append(lines, fmt.Sprintf("%s%d-%d: %s %s%s", strings.Repeat("  ", depth-1), d.StartLine, d.EndLine, d.Kind, d.Qualified, test))
	}
	return lines, hidden, nil
}

// nesting is 1 for a definition at the top level of its file. Methods of Go
// count as members of their type wherever it is declared.
func (q *query) nesting(id graph.NodeID) (int, error) {
	depth := 1
	for range maxNesting {
		c, ok, err := q.container(id, func(n *graph.Node) bool { return n.Kind != "file" && n.Kind != "package" })
		if err != nil || !ok {
			return depth, err
		}
		depth, id = depth+1, c
	}
	return depth, nil
}

// importLines gives what a file imports from the repository, each once.
func (q *query) importLines(file graph.NodeID) ([]string, error) {
	out, err := q.out(file)
	if err != nil {
		return nil, err
	}
	var lines []string
	for _, e := range sorted(out) {
		if e.Kind != graph.Imports {
			continue
		}
		to, err := q.node(e.To)
		if err != nil {
			return nil, err
		}
		what := to.Qualified
		if to.Kind != "file" && to.Kind != "package" {
			what = to.Path + "::" + to.Qualified
		}
		lines = append(lines, "imports "+what)
	}
	slices.Sort(lines)
	return slices.Compact(lines), nil
}
