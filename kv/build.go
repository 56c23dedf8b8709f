package kv

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// BuildOptions say what to index and within which bounds. Zero values are the
// defaults.
type BuildOptions struct {
	Revision string // commit to index, as Repository.Resolve reads it; "" is HEAD
	Worktree bool   // index the worktree's bytes over HEAD instead of a commit
	// Untracked takes in untracked files that are not ignored. Worktree only.
	Untracked bool
	Force     bool // build even when the same fingerprint is published
	NoWait    bool // fail with fault.WorkspaceBusy at once when another build runs

	Exclude                      []string // globs of paths to leave out
	SourceRoots                  []string // Python source roots, relative folders
	MaxFiles                     int
	MaxFileBytes, MaxSourceBytes int64
	Workers                      int           // parallel parsers; GOMAXPROCS
	Timeout                      time.Duration // 600 s

	// Progress, when it is set, is told how far a stage is: total is 0 where
	// nobody knows. It may be called by several goroutines.
	Progress func(stage string, done, total int)
}

// DefaultTimeout bounds a build.
const DefaultTimeout = 600 * time.Second

// The stages of a build, for Progress.
const (
	StageScan    = "scan"
	StageResolve = "resolve"
	StageWrite   = "write"
	StageVerify  = "verify"
	StagePublish = "publish"
)

// Build indexes a snapshot and publishes it as the binding's current
// generation. A snapshot that is published already is verified and made
// current, not built again. A build that fails or is killed leaves what was
// published as it was.
func (c *Cache) Build(ctx context.Context, b Binding, repo Repository, o BuildOptions) (Meta, error) {
	if o.Timeout == 0 {
		o.Timeout = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, o.Timeout)
	defer cancel()
	if err := c.outside(repo); err != nil {
		return Meta{}, err
	}
	lock, err := c.buildLock(ctx, b, !o.NoWait)
	if err != nil {
		return Meta{}, err
	}
	defer lock.Close()
	started := now()
	meta, err := c.build(ctx, b, repo, o)
	if err != nil {
		err = buildError(ctx, o, err)
	}
	// The outcome is for `status`. That it could not be written must not turn a
	// published generation into a failure, nor hide why a build failed.
	_ = c.writeOutcome(b, started, meta, err)
	return meta, err
}

// buildError gives every failure of a build a code.
func buildError(ctx context.Context, o BuildOptions, err error) error {
	switch {
	case errors.Is(err, context.DeadlineExceeded) || errors.Is(ctx.Err(), context.DeadlineExceeded):
		return fault.New(fault.Timeout, "the build did not finish within %s", o.Timeout).WithHint("raise the build's time limit, or exclude paths")
	case fault.CodeOf(err) != "":
		return err
	case errors.Is(err, context.Canceled):
		return fault.New(fault.BuildFailed, "the build was cancelled: %w", err)
	}
	return fault.New(fault.BuildFailed, "the build failed: %w", err)
}

// rules are the analysis rules of this program with a configuration.
func rules(sourceRoots []string) snapshot.Rules {
	r := snapshot.Rules{Parsers: map[string]string{}, Resolvers: map[string]string{}, Schema: Schema}
	for _, l := range extract.Languages() {
		r.Parsers[l.Name] = extract.Build(l.Name)
	}
	for name, version := range resolve.Builds() {
		r.Resolvers[name] = strconv.Itoa(version)
	}
	b, _ := json.Marshal(append([]string{}, sourceRoots...)) // strings always encode
	sum := sha256.Sum256(b)
	r.ResolutionDigest = hex.EncodeToString(sum[:])
	return r
}

// sameRules refuses a generation that other parsers or resolvers made: an index
// of another release is never served silently. What the operator configured is
// part of its fingerprint and is the caller's to compare.
func sameRules(c *Contents) error {
	mine := rules(nil)
	if !maps.Equal(mine.Parsers, c.Rules.Parsers) {
		return otherVersion("other parsers")
	}
	if !maps.Equal(mine.Resolvers, c.Rules.Resolvers) {
		return otherVersion("other resolvers")
	}
	return nil
}

// builder is one build in progress.
type builder struct {
	c    *Cache
	b    Binding
	o    BuildOptions
	prev *Generation // facts and sources to reuse; nil when there are none
	dir  string      // staging folder
	scan *scan

	lease *os.File
}

func (c *Cache) build(ctx context.Context, b Binding, repo Repository, o BuildOptions) (Meta, error) {
	dir := c.bindingDir(b)
	for _, d := range []string{"generations", "staging"} {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			return Meta{}, storage("make folders", err)
		}
	}
	p, err := c.readPointer(b)
	var odd irregular
	if errors.As(err, &odd) && fs.FileMode(odd).IsDir() {
		return Meta{}, err // publishing replaces anything but a folder
	}
	if err != nil {
		p = pointer{} // nothing readable is published: this build replaces it
	} else {
		c.sweep(b, p)
	}
	x := &builder{c: c, b: b, o: o}
	if p.Current != nil {
		if x.prev, err = openPublished(ctx, c.generationDir(b, p.Current), b, p.Current); err != nil {
			x.prev = nil // damaged or of another schema: extract everything again
		}
	}
	defer x.close()
	if err := x.stage(); err != nil {
		return Meta{}, storage("make a staging folder", err)
	}
	if x.scan, err = x.read(ctx, repo); err != nil {
		return Meta{}, err
	}
	r := rules(o.SourceRoots)
	content := snapshot.ContentFingerprint(x.scan.manifest, r)
	next := x.publication(snapshot.LocalFingerprint(content, b.ID))
	if !o.Force {
		if meta, ok := x.republish(ctx, p, next); ok {
			return meta, nil
		}
	}
	db, err := x.analyse(ctx)
	if err != nil {
		return Meta{}, err
	}
	db.contents.ContentFingerprint, db.contents.Rules = content, r
	if err := x.write(ctx, db, next); err != nil {
		return Meta{}, err
	}
	return x.finish(ctx, next)
}

// stage makes the staging folder with its lease, which tells a later build
// whether this process still lives.
func (x *builder) stage() (err error) {
	x.dir = filepath.Join(x.c.bindingDir(x.b), "staging", randomName(8))
	if err := os.Mkdir(x.dir, 0o700); err != nil {
		return err
	}
	x.lease, err = tryLock(filepath.Join(x.dir, leaseFile), os.O_RDWR|os.O_CREATE|os.O_EXCL, unix.LOCK_SH)
	return err
}

// close frees what the build holds. A staging folder that was not published is
// removed.
func (x *builder) close() {
	if x.scan != nil {
		x.scan.close()
	}
	if x.prev != nil {
		x.prev.Close()
	}
	if x.dir != "" {
		os.RemoveAll(x.dir)
	}
	if x.lease != nil {
		x.lease.Close()
	}
}

func (x *builder) publication(fingerprint string) *publication {
	m := x.scan.manifest
	return &publication{Fingerprint: fingerprint, Commit: m.Commit, Source: m.Source, Dirty: m.Dirty,
		Untracked: x.o.Untracked && x.o.Worktree, Worktree: m.Worktree, BuiltAt: now()}
}

// republish makes a generation current that has the wanted fingerprint already
// and passes verification.
func (x *builder) republish(ctx context.Context, p pointer, next *publication) (Meta, bool) {
	for _, old := range []*publication{p.Current, p.Previous} {
		if old == nil || old.Fingerprint != next.Fingerprint {
			continue
		}
		next.Generation, next.Digest, next.BuiltAt = old.Generation, old.Digest, old.BuiltAt
		lease, err := pin(x.c.generationDir(x.b, next))
		if err != nil {
			continue // no reader could pin it: build it again
		}
		defer lease.Close()
		g, err := openPublished(ctx, x.c.generationDir(x.b, next), x.b, next)
		if err != nil {
			continue // damaged: build it again
		}
		defer g.Close()
		// A damaged text index is repaired here, where time is not short.
		if _, err := g.textIndex(ctx); err != nil {
			continue
		}
		if err := x.c.publish(x.b, next); err != nil {
			continue
		}
		return g.Meta(), true
	}
	return Meta{}, false
}

// analyse turns the facts of the scan into what graph.db is written from.
func (x *builder) analyse(ctx context.Context) (*database, error) {
	s := x.scan
	in, err := s.input(ctx)
	if err != nil {
		return nil, err
	}
	in.SourceRoots = x.o.SourceRoots
	records := s.records(in.Files)
	s.facts = nil // they are on disk, and Resolve lets go of in.Files
	x.progress(StageResolve, 0, 1)
	g, err := resolve.Resolve(ctx, in)
	if err != nil {
		return nil, err
	}
	x.progress(StageResolve, 1, 1)
	db := &database{graph: g, files: records}
	if err := db.place(); err != nil {
		return nil, err
	}
	db.describe(s.manifest)
	return db, nil
}

// place gives each file the run of nodes that are declared in it.
func (d *database) place() error {
	for i := range d.graph.Nodes {
		at, ok := d.find(d.graph.Nodes[i].Path)
		if !ok {
			return fmt.Errorf("node %d stands in %q, which is not in the manifest", i, d.graph.Nodes[i].Path)
		}
		f := &d.files[at]
		if f.nodes == 0 {
			f.first = graph.NodeID(i)
		}
		if f.first+graph.NodeID(f.nodes) != graph.NodeID(i) {
			return fmt.Errorf("node %d of %q is not beside its file's other nodes", i, f.entry.Path)
		}
		f.nodes++
	}
	return nil
}

// write fills the staging folder.
func (x *builder) write(ctx context.Context, db *database, next *publication) error {
	s := x.scan
	var digests [3]fileDigest // in the order of boundFiles: facts, graph, sources
	var err error
	x.progress(StageWrite, 0, 4)
	if db.sources, digests[2], err = assemblePack(ctx, filepath.Join(x.dir, sourcesFile), sourcesFile, s.sourceKeys(), s.sources); err != nil {
		return storage("write "+sourcesFile, err)
	}
	if db.facts, digests[0], err = assemblePack(ctx, filepath.Join(x.dir, factsFile), factsFile, s.factKeys(), s.packed); err != nil {
		return storage("write "+factsFile, err)
	}
	x.progress(StageWrite, 2, 4)
	if err := s.close(); err != nil { // the spools have served
		return storage("remove spools", err)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() error { return x.writeText(groupCtx, db.graph) })
	group.Go(func() error {
		if err := db.write(groupCtx, filepath.Join(x.dir, graphFile)); err != nil {
			return storage("write "+graphFile, err)
		}
		var err error
		digests[1], err = digestOf(groupCtx, filepath.Join(x.dir, graphFile), graphFile)
		return storage("read "+graphFile, err)
	})
	if err := group.Wait(); err != nil {
		return err
	}
	x.progress(StageWrite, 4, 4)
	m := manifestFile{Layout: Layout, Schema: Schema, Fingerprint: next.Fingerprint, ContentFingerprint: db.contents.ContentFingerprint, Files: digests[:]}
	body, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	body = append(body, '\n')
	sum := sha256.Sum256(body)
	next.Digest = hex.EncodeToString(sum[:])
	if err := writeSynced(filepath.Join(x.dir, generationFile), body); err != nil {
		return storage("write "+generationFile, err)
	}
	return storage("set permissions", private(x.dir))
}

// finish checks the staged generation as a reader would, and publishes it.
func (x *builder) finish(ctx context.Context, next *publication) (Meta, error) {
	next.Generation = next.Fingerprint[:min(24, len(next.Fingerprint))] + "-" + randomName(4)
	g, err := openPublished(ctx, x.dir, x.b, next)
	if err != nil {
		return Meta{}, fmt.Errorf("what was built does not open: %w", err)
	}
	err = g.verify(ctx, func(done, total int) { x.progress(StageVerify, done, total) })
	meta := g.Meta()
	g.Close()
	if err != nil {
		return Meta{}, fmt.Errorf("what was built does not agree with itself: %w", err)
	}
	if err := x.c.withinBudget(x.b); err != nil {
		return Meta{}, err
	}
	x.progress(StagePublish, 0, 1)
	final := x.c.generationDir(x.b, next)
	if err := syncDir(x.dir); err != nil {
		return Meta{}, storage("sync", err)
	}
	if err := os.Rename(x.dir, final); err != nil {
		return Meta{}, storage("publish", err)
	}
	x.dir = ""
	if err := syncDir(filepath.Dir(final)); err != nil {
		return Meta{}, storage("publish", err)
	}
	if err := x.c.publish(x.b, next); err != nil {
		return Meta{}, storage("publish", err)
	}
	if p, err := x.c.readPointer(x.b); err == nil {
		x.c.sweep(x.b, p)
	}
	x.progress(StagePublish, 1, 1)
	return meta, nil
}

// withinBudget fails the build when the binding takes more than the budget. It
// deletes nothing: old generations were swept when the build began.
func (c *Cache) withinBudget(b Binding) error {
	if used := folderSize(c.bindingDir(b)); used > c.budget {
		return fault.New(fault.BuildFailed, "the cache of scope %q would take %d MiB, more than its budget of %d MiB", b.Scope, used>>20, c.budget>>20).
			WithHint("exclude paths, run `exhibit clear`, or raise the cache budget")
	}
	return nil
}

func (x *builder) progress(stage string, done, total int) {
	if x.o.Progress != nil {
		x.o.Progress(stage, done, total)
	}
}

func (x *builder) workers() int {
	if x.o.Workers > 0 {
		return x.o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

// describe fills the counts of the metadata.
func (d *database) describe(m *snapshot.Manifest) {
	c := &d.contents
	c.Schema, c.ObjectFormat, c.Commit, c.Tree, c.PolicyDigest = Schema, m.ObjectFormat, m.Commit, m.Tree, m.PolicyDigest
	c.Files = FileCounts{ByLanguage: map[string]int{}, ByReason: map[string]int{}}
	c.Partial, c.Failed = []PartialFile{}, []FailedFile{}
	for i := range d.files {
		c.count(&d.files[i])
	}
	c.Nodes, c.Edges = len(d.graph.Nodes), len(d.graph.Edges)
	c.NodesByKind, c.EdgesByKind = map[string]int{}, map[string]map[string]int{}
	for i := range d.graph.Nodes {
		c.NodesByKind[d.graph.Nodes[i].Kind]++
	}
	for i := range d.graph.Edges {
		kind := d.graph.Edges[i].Kind.String()
		if c.EdgesByKind[kind] == nil {
			c.EdgesByKind[kind] = map[string]int{}
		}
		c.EdgesByKind[kind][d.graph.Edges[i].Strength.String()]++
	}
	c.References = referencesOf(d.graph.Coverage)
}

func (c *Contents) count(f *fileRecord) {
	c.Files.Total++
	if !f.entry.Included() {
		c.Files.ByReason[string(f.entry.Reason)]++
		return
	}
	c.Files.Included++
	c.Files.SourceBytes += f.entry.Size
	c.Files.ByLanguage[f.entry.Language]++
	switch f.status.Status {
	case facts.Failed:
		c.Files.Failed++
		c.Failed = append(c.Failed, FailedFile{f.entry.Path, f.status.Failure})
	case facts.Partial:
		c.Files.Partial++
		c.Partial = append(c.Partial, PartialFile{f.entry.Path, slices.Clone(f.status.Damage)})
	default:
		c.Files.Parsed++
	}
}
