package kv

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// scan is the first half of a build: one pass over the snapshot in which each
// file is compressed into a spool and its facts are extracted, or found in the
// generation before. Only compact facts stay in memory, never content.
type scan struct {
	x        *builder
	manifest *snapshot.Manifest
	sources  *frameSet // by SHA-256 of the content
	packed   *frameSet // facts, by extraction key
	workers  []*worker

	mu     sync.Mutex
	facts  map[string]*facts.File // extracted now, by path
	config []graph.ConfigFile
	done   atomic.Int64
}

// worker is what one goroutine of the snapshot's reading owns.
type worker struct {
	parser *flat.Parser
	spool  *spool
}

// read scans the snapshot.
func (x *builder) read(ctx context.Context, repo Repository) (*scan, error) {
	s := &scan{x: x, sources: newFrameSet(), packed: newFrameSet(), facts: map[string]*facts.File{}}
	x.scan = s // so that close finds the spools whatever happens
	for i := range x.workers() {
		sp, err := newSpool(filepath.Join(x.dir, fmt.Sprintf("spool.%d", i)))
		if err != nil {
			return s, storage("make a spool", err)
		}
		s.workers = append(s.workers, &worker{flat.NewParser(), sp})
	}
	o := snapshot.Options{Language: extract.Language, Exclude: x.o.Exclude, MaxFiles: x.o.MaxFiles, MaxFileBytes: x.o.MaxFileBytes,
		MaxSourceBytes: x.o.MaxSourceBytes, Untracked: x.o.Untracked, Workers: x.workers()}
	var err error
	if x.o.Worktree {
		if x.o.Revision != "" {
			return s, fault.New(fault.InvalidRequest, "a worktree is indexed over HEAD, not over %q", x.o.Revision)
		}
		s.manifest, err = repo.ScanWorktree(ctx, o, s.visit)
	} else {
		revision := x.o.Revision
		if revision == "" {
			revision = "HEAD"
		}
		var rev snapshot.Revision
		if rev, err = repo.Resolve(ctx, revision); err != nil {
			return s, err
		}
		if rev.Commit == "" {
			return s, fault.New(fault.RevisionStale, "HEAD has no commit yet").WithHint("commit first, or index the worktree")
		}
		s.manifest, err = repo.ScanCommit(ctx, rev, o, s.visit)
	}
	if err != nil {
		return s, err
	}
	for _, w := range s.workers {
		w.parser.Close()
		w.parser = nil
	}
	slices.SortFunc(s.config, func(a, b graph.ConfigFile) int { return strings.Compare(a.Path, b.Path) })
	x.progress(StageScan, int(s.done.Load()), int(s.done.Load()))
	return s, nil
}

// visit takes one included file. It runs in the goroutine that owns worker.
func (s *scan) visit(n int, e *snapshot.Entry, content []byte) error {
	w := s.workers[n]
	sum, err := parseDigest(e.SHA256)
	if err != nil {
		return fmt.Errorf("%q: %w", e.Path, err)
	}
	if err := s.keepSource(w, sum, content); err != nil {
		return err
	}
	if resolve.ConfigFile(e.Path) {
		s.mu.Lock()
		s.config = append(s.config, graph.ConfigFile{Path: e.Path, Bytes: slices.Clone(content)})
		s.mu.Unlock()
	}
	key := digest(extract.Key(e.Path, e.SHA256, e.Language))
	if known, err := s.reuse(bucketFacts, key, s.packed); err != nil || known {
		s.count()
		return err
	}
	if err := s.extract(w, key, e.Path, e.Language, content); err != nil {
		return err
	}
	s.count()
	return nil
}

func (s *scan) count() {
	if n := s.done.Add(1); n%64 == 0 {
		s.x.progress(StageScan, int(n), 0)
	}
}

// keepSource stores each distinct content once.
func (s *scan) keepSource(w *worker, sum digest, content []byte) error {
	if known, err := s.reuse(bucketSources, sum, s.sources); err != nil || known {
		return err
	}
	if !s.sources.claim(sum) {
		return nil
	}
	f, err := w.spool.add(content, sum)
	if err != nil {
		return storage("write a spool", err)
	}
	s.sources.set(sum, f)
	if n := s.sources.size() + s.packed.size(); n > s.x.c.budget {
		return s.x.c.withinBudget(s.x.b)
	}
	return nil
}

// reuse takes a frame over from the generation before, whose files were
// verified when it was opened.
func (s *scan) reuse(bucket []byte, key digest, into *frameSet) (bool, error) {
	if s.x.prev == nil {
		return false, nil
	}
	f, found, err := s.x.prev.frameOf(bucket, key)
	if err != nil || !found {
		return false, nil // damaged: make it again
	}
	into.set(key, f)
	return true, nil
}

// extract parses one file, keeps its facts and spools them.
func (s *scan) extract(w *worker, key digest, path, language string, content []byte) error {
	f := extract.File(w.parser, path, language, content)
	encoded := facts.Encode(f)
	fr, err := w.spool.add(encoded, digest(sha256Sum(encoded)))
	if err != nil {
		return storage("write a spool", err)
	}
	s.packed.set(key, fr)
	compact(f)
	s.mu.Lock()
	s.facts[path] = f
	s.mu.Unlock()
	return nil
}

// input gathers the facts of all files in the order of the manifest. Those of
// the generation before are decoded now; what does not decode is extracted
// again from the source that was just stored.
func (s *scan) input(ctx context.Context) (*graph.Input, error) {
	in := &graph.Input{Config: s.config}
	var todo []*snapshot.Entry
	for i := range s.manifest.Entries {
		e := &s.manifest.Entries[i]
		in.Paths = append(in.Paths, e.Path)
		if e.Included() {
			todo = append(todo, e)
		}
	}
	in.Files = make([]*facts.File, len(todo))
	var next atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	for _, w := range s.workers {
		group.Go(func() error {
			u, err := newUnpacker()
			if err != nil {
				return err
			}
			defer u.close()
			for {
				i := int(next.Add(1)) - 1
				if i >= len(todo) {
					return ctx.Err()
				}
				if in.Files[i], err = s.factsOf(w, u, todo[i]); err != nil {
					return err
				}
			}
		})
	}
	return in, group.Wait()
}

func (s *scan) factsOf(w *worker, u *unpacker, e *snapshot.Entry) (*facts.File, error) {
	s.mu.Lock()
	f := s.facts[e.Path]
	s.mu.Unlock()
	if f != nil {
		return f, nil
	}
	key := digest(extract.Key(e.Path, e.SHA256, e.Language))
	if fr, ok := s.packed.get(key); ok {
		if b, err := u.read(fr); err == nil {
			if f, err := facts.Decode(b); err == nil && f.Path == e.Path && f.Language == e.Language {
				return f, nil
			}
		}
	}
	sum, err := parseDigest(e.SHA256)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", e.Path, err)
	}
	fr, ok := s.sources.get(sum)
	if !ok {
		return nil, fmt.Errorf("%q is in the manifest but was not read", e.Path)
	}
	content, err := u.read(fr)
	if err != nil {
		return nil, fmt.Errorf("stored source of %q: %w", e.Path, err)
	}
	if w.parser == nil {
		w.parser = flat.NewParser()
	}
	if err := s.extract(w, key, e.Path, e.Language, content); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.facts[e.Path], nil
}

// read unpacks a frame wherever it stands.
func (u *unpacker) read(f frame) ([]byte, error) {
	return u.unpack(f.in, f.offset+f.packed, &frameRecord{offset: uint64(f.offset), packed: uint64(f.packed), raw: uint64(f.raw), sha256: f.sha256[:]})
}

// records makes the stored record of each entry. files are the facts of the
// included ones, in order.
func (s *scan) records(files []*facts.File) []fileRecord {
	list := make([]fileRecord, len(s.manifest.Entries))
	for i := range s.manifest.Entries {
		e := &s.manifest.Entries[i]
		list[i].entry = *e
		if !e.Included() {
			continue
		}
		f := files[0]
		files = files[1:]
		key := extract.Key(e.Path, e.SHA256, e.Language)
		list[i].facts = key[:]
		list[i].status = statusOf(f)
	}
	return list
}

func (s *scan) sourceKeys() []digest {
	return s.keys(func(e *snapshot.Entry) digest { d, _ := parseDigest(e.SHA256); return d })
}

func (s *scan) factKeys() []digest {
	return s.keys(func(e *snapshot.Entry) digest { return digest(extract.Key(e.Path, e.SHA256, e.Language)) })
}

func (s *scan) keys(key func(*snapshot.Entry) digest) []digest {
	var list []digest
	for i := range s.manifest.Entries {
		if e := &s.manifest.Entries[i]; e.Included() {
			list = append(list, key(e))
		}
	}
	return list
}

// close frees parsers and spools; a second call does nothing.
func (s *scan) close() error {
	var errs []error
	for _, w := range s.workers {
		if w.parser != nil {
			w.parser.Close()
		}
		errs = append(errs, w.spool.close(), os.Remove(w.spool.file.Name()))
	}
	s.workers = nil
	return errors.Join(errs...)
}
