package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"sync"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// ScanWorktree reads the snapshot of the worktree: the paths of the index, with
// the bytes that are on disk, over HEAD. Staged versions do not count;
// assume-unchanged and skip-worktree are no reason to believe anything. Every
// file is opened without following a link at any component.
//
// A file whose bytes are its commit's blob, as they are or after Git's own
// conversion of line ends, encoding and ident, has the entry and the content
// that ScanCommit gives, so a clean worktree and its commit have one
// fingerprint; conversions are listed in Worktree.Converted. Any other file has
// its bytes on disk. Where only a filter driver could tell, the bytes on disk
// count, and the path is in Worktree.Filtered.
//
// A file that is not on disk is missing_worktree_file, with the index's blob id;
// it makes the snapshot dirty unless a sparse checkout leaves it out. One that a
// link replaces, or that lies behind one, is symlink; a folder or device in its
// place is non_regular_file. A file over 256 MiB is not read at all and keeps
// the index's blob id.
//
// Errors as of ScanCommit, and fault.RepositoryRoot for a bare repository,
// fault.WorkspaceBusy when HEAD, the index or a file keeps changing meanwhile.
func (r *Repository) ScanWorktree(ctx context.Context, o Options, visit Visit) (*Manifest, error) {
	if r.root == "" {
		return nil, errBare(r)
	}
	if o.Untracked {
		return nil, fault.New(fault.Unsupported, "untracked files are not supported yet").WithHint("git add them first")
	}
	w, err := r.prepareWorktree(ctx, o, visit)
	if err != nil {
		return nil, err
	}
	todo, err := w.admit(w.entries)
	if err != nil {
		return nil, err
	}
	if w.convert, err = r.converter(w.index, pathsOf(w.entries, todo)); err != nil {
		return nil, err
	}
	admitted := slices.Clone(todo)
	err = each(ctx, todo, o.Workers, func(worker int) (func(int) error, func()) {
		var buf []byte
		return func(i int) error {
			var err error
			buf, err = w.file(worker, &w.entries[i], buf)
			return err
		}, func() {}
	})
	if err != nil {
		return nil, err
	}
	if err := w.unmoved(ctx); err != nil {
		return nil, err
	}
	return w.manifest(admitted), nil
}

func pathsOf(entries []Entry, at []int) []string {
	paths := make([]string, len(at))
	for k, i := range at {
		paths[k] = entries[i].Path
	}
	return paths
}

// worktreeScan is one run of ScanWorktree.
type worktreeScan struct {
	scan
	repo     *Repository
	rev      Revision
	index    *index
	head     []Entry // the commit's paths
	entries  []Entry
	convert  *converter
	fileMode bool // core.fileMode: the executable bit on disk counts
	state    WorktreeState

	mu sync.Mutex // guards state during the scan
}

// prepareWorktree reads HEAD, the index and the attributes, and makes the
// entries.
func (r *Repository) prepareWorktree(ctx context.Context, o Options, visit Visit) (*worktreeScan, error) {
	rev, err := r.Resolve(ctx, "HEAD")
	if err != nil {
		return nil, err
	}
	x, err := r.readIndex(ctx)
	if err != nil {
		return nil, err
	}
	head, _, err := r.commitTree(ctx, rev)
	if err != nil {
		return nil, err
	}
	w := &worktreeScan{repo: r, rev: rev, index: x, head: head, fileMode: r.config.boolean("core.filemode", true)}
	w.observe()
	attrs, err := w.trackedAttributes()
	if err != nil {
		return nil, err
	}
	w.visit = visit
	w.policy, err = newPolicy(o, w.entries, attrs)
	return w, err
}

// observe makes an entry of each path of the index and records its state.
func (w *worktreeScan) observe() {
	w.state.IndexVersion = w.index.version
	for _, e := range w.index.entries {
		if e.assumeValid || e.skipWorktree {
			w.state.AssumeClean++
		}
		if n := len(w.entries); n > 0 && w.entries[n-1].Path == e.path {
			if e.stage == 2 { // ours is what Git would check out
				w.entries[n-1].Mode, w.entries[n-1].Blob = e.mode, e.id.String()
			}
			continue
		}
		w.entries = append(w.entries, Entry{Path: e.path, Mode: e.mode, Blob: e.id.String(), Size: -1})
		h := findEntry(w.head, e.path)
		switch {
		case e.stage != 0:
			w.state.Conflicted = append(w.state.Conflicted, e.path)
		case e.intentToAdd:
			w.state.IntentToAdd = append(w.state.IntentToAdd, e.path)
		case h == nil || h.Blob != e.id.String():
			w.state.Staged++
		}
	}
}

func findEntry(entries []Entry, path string) *Entry {
	m := Manifest{Entries: entries}
	return m.Find(path)
}

// trackedAttributes reads the .gitattributes files that are tracked: those that
// the commit's snapshot would use too.
func (w *worktreeScan) trackedAttributes() (*attributes, error) {
	attrs := newAttributes()
	for _, i := range attributesFirst(w.entries) {
		dir, _ := attributesDir(&w.entries[i])
		data, ok := w.repo.worktreeAttributes(w.index, dir)
		if !ok {
			continue
		}
		if err := attrs.addDir(dir, data); err != nil {
			return nil, err
		}
	}
	return attrs, nil
}

// file reads one admitted file. It gives back the buffer for the next.
func (w *worktreeScan) file(worker int, e *Entry, buf []byte) ([]byte, error) {
	data, mode, err := w.repo.worktree.read(e.Path, w.policy.options.MaxFileBytes, buf)
	var large errTooLarge
	if errors.As(err, &large) {
		// Its blob may be within the limit, or an LFS pointer.
		data, mode, err = w.repo.worktree.read(e.Path, maxBlobBytes, nil)
	} else if cap(data) > cap(buf) {
		buf = data
	}
	switch {
	case err == nil:
	case errors.As(err, &large):
		omit(e, FileTooLarge)
		return buf, nil
	case errors.Is(err, fs.ErrNotExist):
		omit(e, MissingWorktreeFile)
		return buf, nil
	case errors.Is(err, errLink):
		omit(e, Symlink)
		e.Mode, e.Blob = modeSymlink, ""
		return buf, nil
	case errors.Is(err, errNotRegular):
		omit(e, NonRegularFile)
		e.Blob = ""
		return buf, nil
	case fault.CodeOf(err) != "":
		return buf, err
	default:
		return buf, fault.New(fault.RepositoryFailed, "file %q cannot be read: %w", e.Path, err).
			WithHint("make it readable, or exclude it with a pattern")
	}
	if w.fileMode {
		e.Mode = diskMode(mode)
	}
	content := w.identify(e, data)
	if int64(len(content)) > w.policy.options.MaxFileBytes {
		omit(e, FileTooLarge)
		return buf, nil
	}
	return buf, w.include(worker, e, content)
}

// diskMode gives Git's mode for a regular file's permission bits.
func diskMode(mode fs.FileMode) uint32 {
	if mode&0o100 != 0 {
		return modeExecutable
	}
	return modeFile
}

// identify sets the entry's blob id and gives the content that counts: the
// commit's blob when the bytes on disk are a checkout of it, else those bytes.
func (w *worktreeScan) identify(e *Entry, data []byte) []byte {
	e.Blob = HashBlob(SHA1, data)
	h := findEntry(w.head, e.Path)
	if h != nil && h.Blob == e.Blob {
		return data
	}
	clean, how, ok := w.convert.clean(e.Path, data)
	if !ok {
		w.mu.Lock()
		w.state.Filtered = append(w.state.Filtered, e.Path)
		w.mu.Unlock()
		return data
	}
	if h == nil || how == "" || HashBlob(SHA1, clean) != h.Blob {
		return data
	}
	w.mu.Lock()
	w.state.Converted = append(w.state.Converted, Conversion{e.Path, how})
	w.mu.Unlock()
	e.Blob = h.Blob
	return clean
}

// unmoved refuses a scan during which HEAD or the index moved: its bytes would be
// bound to a commit that they do not belong to.
func (w *worktreeScan) unmoved(ctx context.Context) error {
	rev, err := w.repo.Resolve(ctx, "HEAD")
	if err != nil {
		return err
	}
	x, err := w.repo.readIndex(ctx)
	if err != nil {
		return err
	}
	if rev != w.rev || x != w.index && !slices.Equal(x.entries, w.index.entries) {
		return fault.New(fault.WorkspaceBusy, "HEAD or the index moved while the worktree was read").
			WithHint("try again when no other Git command runs")
	}
	return nil
}

// manifest settles Dirty and completes the manifest.
func (w *worktreeScan) manifest(admitted []int) *Manifest {
	slices.Sort(w.state.Filtered)
	slices.SortFunc(w.state.Converted, func(a, b Conversion) int { return strings.Compare(a.Path, b.Path) })
	m := &Manifest{ObjectFormat: SHA1, Commit: w.rev.Commit, Tree: w.rev.Tree, Source: FromWorktree,
		PolicyDigest: w.policy.digest, Entries: w.entries, Worktree: &w.state}
	for _, i := range admitted {
		e := &w.entries[i]
		h := findEntry(w.head, e.Path)
		switch {
		case e.Reason == MissingWorktreeFile && w.skipped(e.Path):
		case h == nil || h.Blob != e.Blob || h.Mode != e.Mode || e.Reason == MissingWorktreeFile:
			m.Dirty = true
			return m
		}
	}
	for _, h := range w.head {
		if m.Find(h.Path) == nil && w.policy.admits(h) {
			m.Dirty = true
			return m
		}
	}
	return m
}

// skipped says whether a sparse checkout leaves a path out.
func (w *worktreeScan) skipped(path string) bool {
	lo, hi := w.index.find(path)
	return hi-lo == 1 && w.index.entries[lo].skipWorktree
}
