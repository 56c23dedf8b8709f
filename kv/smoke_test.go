package kv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"sort"
	"testing"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

type fakeRepo struct {
	root  string
	files map[string]string
	rev   string
}

func (r *fakeRepo) Root() string      { return r.root }
func (r *fakeRepo) GitDir() string    { return r.root + "/.git" }
func (r *fakeRepo) CommonDir() string { return r.root + "/.git" }
func (r *fakeRepo) Resolve(ctx context.Context, rev string) (snapshot.Revision, error) {
	return snapshot.Revision{Commit: r.rev, Tree: r.rev}, nil
}
func (r *fakeRepo) ScanCommit(ctx context.Context, rev snapshot.Revision, o snapshot.Options, visit snapshot.Visit) (*snapshot.Manifest, error) {
	m := &snapshot.Manifest{ObjectFormat: snapshot.SHA1, Commit: rev.Commit, Tree: rev.Tree, Source: snapshot.FromCommit}
	for p, c := range r.files {
		s := sha256.Sum256([]byte(c))
		m.Entries = append(m.Entries, snapshot.Entry{Path: p, Mode: 0o100644, Blob: hex.EncodeToString(s[:20]), SHA256: hex.EncodeToString(s[:]), Size: int64(len(c)), Language: o.Language(p, []byte(c))})
	}
	sort.Slice(m.Entries, func(i, j int) bool { return m.Entries[i].Path < m.Entries[j].Path })
	for i := range m.Entries {
		if err := visit(i%o.Workers, &m.Entries[i], []byte(r.files[m.Entries[i].Path])); err != nil {
			return nil, err
		}
	}
	return m, nil
}
func (r *fakeRepo) ScanWorktree(ctx context.Context, o snapshot.Options, visit snapshot.Visit) (*snapshot.Manifest, error) {
	return nil, nil
}

func TestSmoke(t *testing.T) {
	ctx := context.Background()
	c, err := OpenCache(t.TempDir() + "/cache")
	if err != nil {
		t.Fatal(err)
	}
	repo := &fakeRepo{root: t.TempDir(), rev: "aaaa", files: map[string]string{"README.md": "# Title\n\nhello\n## Sub\n", "go.mod": "module x\n"}}
	b, err := c.Bind(ctx, repo, "")
	if err != nil {
		t.Fatal(err)
	}
	meta, err := c.Build(ctx, b, repo, BuildOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%+v", meta)
	g, err := c.Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	ids, err := g.TextCandidates(ctx, []string{"readme"}, 10)
	t.Log(ids, err)
	g.Names(func(n string, ids []graph.NodeID) bool { t.Log(n, ids); return true })
}
