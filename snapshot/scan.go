package snapshot

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"golang.org/x/sync/errgroup"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Visit is called once for every included file, concurrently from Workers
// goroutines. content is valid only during the call and must not be changed.
// worker is 0 to Workers-1, one goroutine for each. An error ends the scan.
type Visit func(worker int, e *Entry, content []byte) error

// batch is how many neighbouring files a worker takes at once: enough for delta
// bases to be shared through its cache, few enough to spread the load.
const batch = 32

// scan is the part that commit and worktree snapshots share: what happens to a
// file's content once it is read.
type scan struct {
	policy *policy
	visit  Visit
	total  atomic.Int64 // bytes of included content
}

// include takes in the content of one file: it completes the entry, decides by
// content and visits.
func (s *scan) include(worker int, e *Entry, content []byte) error {
	sum := sha256.Sum256(content)
	e.SHA256, e.Size = hex.EncodeToString(sum[:]), int64(len(content))
	if e.Reason = s.policy.byContent(e, content); e.Reason != "" {
		e.Language = ""
		return nil
	}
	if total := s.total.Add(e.Size); total > s.policy.options.MaxSourceBytes {
		return fault.New(fault.RepositoryLimit, "the snapshot holds more than %d bytes of source", s.policy.options.MaxSourceBytes).
			WithHint("raise the source limit, or exclude folders with patterns")
	}
	if s.visit == nil {
		return nil
	}
	return s.visit(worker, e, content)
}

// omit leaves a file out after its name had admitted it.
func omit(e *Entry, why Reason) { e.Reason, e.Language = why, "" }

// admit decides all entries by name and gives the positions of those to read.
func (s *scan) admit(entries []Entry) ([]int, error) {
	var todo []int
	for i := range entries {
		if s.policy.byName(&entries[i]); entries[i].Reason == "" {
			todo = append(todo, i)
		}
	}
	if len(todo) > s.policy.options.MaxFiles {
		return nil, fault.New(fault.RepositoryLimit, "the snapshot has %d files to index, more than %d", len(todo), s.policy.options.MaxFiles).
			WithHint("raise the file limit (up to %d), or exclude folders with patterns", MaxMaxFiles)
	}
	return todo, nil
}

// each calls work for every position in todo, in batches, from the given number
// of goroutines, and joins them. setup is called once in each goroutine.
func each(ctx context.Context, todo []int, workers int, setup func(worker int) (work func(i int) error, done func())) error {
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	var next atomic.Int64
	g, ctx := errgroup.WithContext(ctx)
	for w := range workers {
		g.Go(func() error {
			work, done := setup(w)
			defer done()
			for {
				from := int(next.Add(batch)) - batch
				if from >= len(todo) {
					return nil
				}
				for _, i := range todo[from:min(from+batch, len(todo))] {
					if err := ctx.Err(); err != nil {
						return err
					}
					if err := work(i); err != nil {
						return err
					}
				}
			}
		})
	}
	return g.Wait()
}

// ScanCommit reads the snapshot of a commit: every path of its tree, with the
// content of the files that Options admit. Trees and blobs are hashed again. A
// blob that this clone lacks is omitted as not_in_clone; a missing or corrupt
// tree, a corrupt blob, and an entry that Git forbids are errors that name the
// object. The zero Revision (an unborn HEAD) gives an empty manifest.
//
// An aggregate over its limit is fault.RepositoryLimit, never a part of the
// snapshot. The manifest does not depend on the number of workers.
func (r *Repository) ScanCommit(ctx context.Context, rev Revision, o Options, visit Visit) (*Manifest, error) {
	m := &Manifest{ObjectFormat: SHA1, Commit: rev.Commit, Tree: rev.Tree, Source: FromCommit}
	entries, attrs, err := r.commitTree(ctx, rev)
	if err != nil {
		return nil, err
	}
	p, err := newPolicy(o, entries, attrs)
	if err != nil {
		return nil, err
	}
	m.Entries, m.PolicyDigest = entries, p.digest
	s := &scan{policy: p, visit: visit}
	todo, err := s.admit(entries)
	if err != nil {
		return nil, err
	}
	ids, err := r.storageOrder(entries, todo)
	if err != nil {
		return nil, err
	}
	err = each(ctx, todo, o.Workers, func(worker int) (func(int) error, func()) {
		rd := newObjectReader(r.store)
		var buf []byte
		return func(i int) error {
			e := &entries[i]
			_, data, err := rd.read(ids[i], "blob", p.options.MaxFileBytes, buf)
			var large errTooLarge
			switch {
			case errors.As(err, &large):
				omit(e, FileTooLarge)
				return nil
			case fault.CodeOf(err) == fault.ObjectMissing:
				omit(e, NotInClone)
				return nil
			case err != nil:
				return err
			}
			if cap(data) > cap(buf) {
				buf = data
			}
			return s.include(worker, e, data)
		}, rd.close
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

// commitTree lists a commit's paths and the rules of its .gitattributes.
func (r *Repository) commitTree(ctx context.Context, rev Revision) ([]Entry, *attributes, error) {
	attrs := newAttributes()
	if rev.Tree == "" {
		return nil, attrs, nil
	}
	root, ok := parseID(rev.Tree)
	if !ok {
		return nil, nil, fault.New(fault.InvalidRequest, "%q is not a sha1 object id", rev.Tree)
	}
	rd := r.reader()
	defer r.release(rd)
	entries, err := walkTree(ctx, rd, root, maxManifest)
	if err != nil {
		return nil, nil, err
	}
	for _, i := range attributesFirst(entries) {
		dir, _ := attributesDir(&entries[i])
		id, _ := parseID(entries[i].Blob)
		_, data, err := rd.read(id, "blob", maxAttributeBytes, nil)
		var large errTooLarge
		if errors.As(err, &large) || fault.CodeOf(err) == fault.ObjectMissing {
			continue // without its rules, as Git does
		}
		if err != nil {
			return nil, nil, err
		}
		if err := attrs.addDir(dir, data); err != nil {
			return nil, nil, err
		}
	}
	return entries, attrs, nil
}

// attributesFirst gives the positions of the .gitattributes files, the root's
// first, as it may define macros that the others use.
func attributesFirst(entries []Entry) []int {
	var at []int
	for i := range entries {
		switch dir, ok := attributesDir(&entries[i]); {
		case ok && dir == "":
			at = slices.Insert(at, 0, i)
		case ok:
			at = append(at, i)
		}
	}
	return at
}

// attributesDir gives the folder whose .gitattributes e is.
func attributesDir(e *Entry) (dir string, ok bool) {
	if e.Mode == modeSymlink || e.Mode == modeSubmodule {
		return "", false
	}
	dir, found := strings.CutSuffix(e.Path, ".gitattributes")
	if !found || dir != "" && !strings.HasSuffix(dir, "/") {
		return "", false
	}
	return strings.TrimSuffix(dir, "/"), true
}

// storageOrder sorts todo so that blobs are read in the order they are stored
// in, and gives the parsed id of each entry it holds.
func (r *Repository) storageOrder(entries []Entry, todo []int) ([]plumbing.Hash, error) {
	if _, err := r.store.refresh(); err != nil {
		return nil, err
	}
	type place struct {
		pack   int
		offset int64
	}
	ids := make([]plumbing.Hash, len(entries))
	places := make([]place, len(entries))
	for _, i := range todo {
		ids[i], _ = parseID(entries[i].Blob)
		p, order, offset := r.store.locate(ids[i])
		if p == nil {
			order = -1 // loose objects first, by path
		}
		places[i] = place{order, offset}
	}
	slices.SortStableFunc(todo, func(a, b int) int {
		return cmp.Or(cmp.Compare(places[a].pack, places[b].pack), cmp.Compare(places[a].offset, places[b].offset))
	})
	return ids, nil
}
