package kv

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func TestBuildThenRead(t *testing.T) {
	w := newWorld(t, sample())
	meta := w.build(BuildOptions{})
	g := w.open()
	if got := g.Meta(); got.Fingerprint != meta.Fingerprint || got.Commit != git(t, w.dir, "rev-parse", "HEAD") || got.Scope != w.b.Scope || got.BuiltAt == "" {
		t.Errorf("meta %+v", got)
	}
	for path, want := range sample() {
		e, ok := g.Entry(path)
		if !ok {
			t.Fatalf("no entry of %q", path)
		}
		if blob := git(t, w.dir, "rev-parse", "HEAD:"+path); e.Blob != blob {
			t.Errorf("%s: blob %s, want %s", path, e.Blob, blob)
		}
		got, err := g.Content(path)
		if !e.Included() {
			wantCode(t, err, fault.TargetMissing)
			continue
		}
		if err != nil || string(got) != want {
			t.Errorf("%s: %q, %v; want %q", path, got, err, want)
		}
	}
	if e, _ := g.Entry("image.png"); e.Included() {
		t.Error("a binary file is stored")
	}
	if _, ok := g.Entry("README.m"); ok {
		t.Error("an entry of a path that is not there")
	}
	if s, ok := g.FileStatus("README.md"); !ok || s.Lines != 5 || len(s.Headings) != 2 || s.Headings[1] != (Heading{Level: 2, Line: 5, Text: "Second heading"}) {
		t.Errorf("status %+v", s)
	}
	if g.Meta().Files.Total != len(sample()) || g.Meta().Files.ByReason["binary_file"]+g.Meta().Files.ByReason["unsupported_content"] == 0 {
		t.Errorf("counts %+v", g.Meta().Files)
	}
}

func TestEntriesByPrefix(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	for _, prefix := range []string{"", "p", "pkg/", "pkg/b", "zzz", "ünïcode/"} {
		var want, got []string
		for path := range sample() {
			if strings.HasPrefix(path, prefix) {
				want = append(want, path)
			}
		}
		slices.Sort(want)
		g.Entries(prefix, func(e snapshot.Entry) bool { got = append(got, e.Path); return true })
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", prefix, got, want)
		}
	}
	n := 0
	g.Entries("", func(snapshot.Entry) bool { n++; return n < 2 })
	if n != 2 {
		t.Errorf("visited %d entries after being told to stop at 2", n)
	}
}

// TestDeterminism builds one commit twice, in two caches, with other numbers of
// workers, from two clones in two folders: the same bytes.
func TestDeterminism(t *testing.T) {
	dir := newRepo(t, sample())
	clone := filepath.Join(t.TempDir(), "elsewhere")
	git(t, dir, "clone", "-q", dir, clone)
	a := openWorld(t, dir, filepath.Join(t.TempDir(), "c1"))
	b := openWorld(t, clone, filepath.Join(t.TempDir(), "c2"))
	ma, mb := a.build(BuildOptions{Workers: 1}), b.build(BuildOptions{Workers: 4})
	if ma.ContentFingerprint != mb.ContentFingerprint {
		t.Error("content fingerprints differ")
	}
	if ma.Fingerprint == mb.Fingerprint {
		t.Error("two bindings share a local fingerprint")
	}
	for _, name := range boundFiles {
		if !bytes.Equal(readFile(t, a.current(), name), readFile(t, b.current(), name)) {
			t.Errorf("%s differs", name)
		}
	}
	before := a.current()
	a.build(BuildOptions{Force: true}) // reuses every frame of the one before
	if before == a.current() {
		t.Fatal("a forced build did not build")
	}
	for _, name := range append([]string{generationFile}, boundFiles...) {
		if !bytes.Equal(readFile(t, before, name), readFile(t, a.current(), name)) {
			t.Errorf("forced: %s differs", name)
		}
	}
}

func readFile(t *testing.T, dir, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestSameSnapshotIsNotBuiltAgain(t *testing.T) {
	w := newWorld(t, sample())
	first := w.build(BuildOptions{})
	dir := w.current()
	if again := w.build(BuildOptions{}); again.Fingerprint != first.Fingerprint || w.current() != dir {
		t.Error("the same commit was built again")
	}
	// A clean worktree is the same snapshot, and says where it came from.
	m := w.build(BuildOptions{Worktree: true})
	if m.ContentFingerprint != first.ContentFingerprint || w.current() != dir || m.Source != snapshot.FromWorktree || m.Dirty {
		t.Errorf("a clean worktree: %s %v %v", m.ContentFingerprint, m.Source, m.Dirty)
	}
	if got := w.open().Meta(); got.Source != snapshot.FromWorktree || got.Worktree == nil {
		t.Errorf("opened as %v", got.Source)
	}
	if len(w.generations()) != 1 {
		t.Errorf("generations %v", w.generations())
	}
}

func TestWorktreeBytesAreTheOnesStored(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	commit := git(t, w.dir, "rev-parse", "HEAD")
	writeFiles(t, w.dir, map[string]string{"README.md": "# Other\n"})
	m := w.build(BuildOptions{Worktree: true})
	if !m.Dirty {
		t.Error("not dirty")
	}
	if b, err := w.open().Content("README.md"); err != nil || string(b) != "# Other\n" {
		t.Errorf("%q %v", b, err)
	}
	// The dirty worktree never stands for its commit; the one before does.
	g, err := w.cache.OpenFor(w.ctx, w.b, snapshot.Revision{Commit: commit})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	if b, err := g.Content("README.md"); err != nil || string(b) != sample()["README.md"] {
		t.Errorf("%q %v", b, err)
	}
}

func TestOpenForFindsTheCommitAmongThoseKept(t *testing.T) {
	w := newWorld(t, sample())
	commits := []string{git(t, w.dir, "rev-parse", "HEAD")}
	w.build(BuildOptions{})
	for _, text := range []string{"# two\n", "# three\n"} {
		commits = append(commits, commitFiles(t, w.dir, map[string]string{"README.md": text}))
		w.build(BuildOptions{})
	}
	for i, commit := range commits {
		g, err := w.cache.OpenFor(w.ctx, w.b, snapshot.Revision{Commit: commit})
		if i == 0 {
			wantCode(t, err, fault.IndexMissing)
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if g.Meta().Commit != commit {
			t.Errorf("%d: commit %s", i, g.Meta().Commit)
		}
		g.Close()
	}
	if n := len(w.generations()); n != 2 {
		t.Errorf("%d generations are kept", n)
	}
	// Going back makes the previous one current, without building.
	kept := w.generations()
	w.build(BuildOptions{Revision: commits[1]})
	if got := w.open().Meta().Commit; got != commits[1] || !slices.Equal(kept, w.generations()) {
		t.Errorf("current is %s of %v", got, w.generations())
	}
	_, err := w.cache.OpenFor(w.ctx, w.b, snapshot.Revision{})
	wantCode(t, err, fault.IndexMissing)
}

func TestAFailedBuildLeavesTheServingGenerationAndAnOutcome(t *testing.T) {
	w := newWorld(t, sample())
	_, err := w.cache.Open(w.ctx, w.b)
	wantCode(t, err, fault.IndexMissing)
	w.build(BuildOptions{})
	before := w.open().Meta().Fingerprint
	commitFiles(t, w.dir, map[string]string{"more.md": "# more\n"})
	_, err = w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{MaxFiles: 3})
	wantCode(t, err, fault.RepositoryLimit)
	s, err := w.cache.Status(w.b)
	if err != nil || s.State != "failed" || s.LastBuild == nil || s.LastBuild.OK || s.LastBuild.Code != fault.RepositoryLimit || s.Current == nil {
		t.Errorf("status %+v, %v", s, err)
	}
	if got := w.open().Meta().Fingerprint; got != before {
		t.Error("a failed build changed what serves")
	}
	w.build(BuildOptions{})
	if s, _ = w.cache.Status(w.b); s.State != "ready" || s.Previous == nil {
		t.Errorf("status %+v", s)
	}
	stale, _ := os.ReadDir(filepath.Join(w.cache.bindingDir(w.b), "staging"))
	if len(stale) != 0 {
		t.Errorf("staging holds %v", stale)
	}
}

func TestCancelledBuild(t *testing.T) {
	w := newWorld(t, sample())
	ctx, cancel := context.WithCancel(w.ctx)
	_, err := w.cache.Build(ctx, w.b, w.repo, BuildOptions{Progress: func(stage string, _, _ int) {
		if stage == StageResolve {
			cancel()
		}
	}})
	if err == nil {
		t.Fatal("a cancelled build succeeded")
	}
	_, err = w.cache.Open(w.ctx, w.b)
	wantCode(t, err, fault.IndexMissing)
	w.build(BuildOptions{})
	w.open()
}

func TestBudgetFailsTheBuildAndDeletesNothing(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	before := w.open().Meta().Fingerprint
	w.cache.SetBudget(10_000)
	commitFiles(t, w.dir, map[string]string{"README.md": "# two\n"})
	_, err := w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{})
	wantCode(t, err, fault.BuildFailed)
	if got := w.open().Meta().Fingerprint; got != before {
		t.Error("what served is gone")
	}
}

// TestOtherRulesAreNotServed: an index of another release is refused by name
// (case 61).
func TestOtherRulesAreNotServed(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	c := g.Meta().Contents
	if err := sameRules(&c); err != nil {
		t.Fatal(err)
	}
	c.Rules.Parsers = map[string]string{"text": "older"}
	wantCode(t, sameRules(&c), fault.IndexMissing)
	c = g.Meta().Contents
	c.Rules.Resolvers = map[string]string{"go": "0"}
	wantCode(t, sameRules(&c), fault.IndexMissing)

	var m manifestFile
	if err := json.Unmarshal(readFile(t, w.current(), generationFile), &m); err != nil {
		t.Fatal(err)
	}
	m.Schema++
	forge(t, w, m)
	_, err := w.cache.Open(w.ctx, w.b)
	wantCode(t, err, fault.IndexMissing)
	w.build(BuildOptions{})
	w.open()
}

// forge publishes another generation.json over the current one.
func forge(t *testing.T, w *world, m manifestFile) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(w.current(), generationFile), b, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := w.cache.readPointer(w.b)
	if err != nil {
		t.Fatal(err)
	}
	p.Current.Digest = digest(sha256Sum(b)).String()
	if err := writeSealed(w.cache.pointerPath(w.b), p); err != nil {
		t.Fatal(err)
	}
}

// TestConfigurationChangesTheFingerprint: another configuration is another index.
func TestConfigurationChangesTheFingerprint(t *testing.T) {
	w := newWorld(t, sample())
	seen := map[string]bool{}
	for _, o := range []BuildOptions{{}, {Exclude: []string{"lib/**"}}, {SourceRoots: []string{"lib"}}} {
		seen[w.build(o).ContentFingerprint] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d fingerprints of 3 configurations", len(seen))
	}
}

func TestTextCandidates(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	ids, err := g.TextCandidates(w.ctx, []string{"naïve"}, 5)
	if err != nil || len(ids) == 0 {
		t.Fatal(ids, err)
	}
	n, err := g.Node(ids[0])
	if err != nil || n.Path != "ünïcode/naïve.md" {
		t.Errorf("%+v %v", n, err)
	}
}

func TestNodesInFileBeginWithTheFile(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	total := 0
	for path := range sample() {
		ids, err := g.NodesInFile(path)
		if err != nil {
			t.Fatal(err)
		}
		total += len(ids)
		for i, id := range ids {
			n, err := g.Node(id)
			if err != nil || n.Path != path || i == 0 && n.Kind != "file" {
				t.Errorf("%s: node %d is %+v, %v", path, i, n, err)
			}
		}
	}
	if total != g.NodeCount() {
		t.Errorf("%d nodes in files, %d in all", total, g.NodeCount())
	}
	if _, err := g.Node(graph.NodeID(g.NodeCount())); fault.CodeOf(err) != fault.TargetMissing {
		t.Errorf("a node beyond the last: %v", err)
	}
}
