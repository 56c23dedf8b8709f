package snapshot

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Repository is an open Git repository. Its methods may be called from any
// number of goroutines until Close.
type Repository struct {
	layout
	store *objectStore

	mu     sync.Mutex
	idle   []*objectReader // readers between calls; each serves one goroutine at a time
	closed bool

	worktree worktreeDir // the opened root; unset for a bare repository

	indexMu  sync.Mutex
	index    *index // the last one decoded, reused while the file's bytes are the same
	indexRaw []byte
}

// Open finds the repository that holds path, which may be a worktree or any
// folder in it, a linked worktree, a bare repository or a .git folder, and
// checks that its format is one that is understood. It writes nothing and
// consults no GIT_DIR or GIT_WORK_TREE.
//
// Errors: fault.RepositoryRoot when there is no repository, fault.GitFormat
// naming the object format, ref storage or extension that is not supported.
func Open(path string) (*Repository, error) {
	l, err := discover(path)
	if err != nil {
		return nil, err
	}
	store, err := newObjectStore(filepath.Join(l.commonDir, "objects"), isPartial(l))
	if err != nil {
		return nil, err
	}
	r := &Repository{layout: l, store: store}
	if l.root != "" {
		if r.worktree, err = openWorktreeDir(l.root); err != nil {
			return nil, fault.New(fault.RepositoryRoot, "cannot open worktree %q: %w", l.root, err)
		}
	}
	return r, nil
}

// isPartial says whether objects may be absent by design.
func isPartial(l layout) bool {
	if st, err := os.Stat(filepath.Join(l.commonDir, "shallow")); err == nil && st.Size() > 0 {
		return true
	}
	if _, ok := l.config.get("extensions.partialclone"); ok {
		return true
	}
	for key := range l.config {
		if strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".promisor") {
			return true
		}
	}
	return false
}

// Close releases the files the repository holds open.
func (r *Repository) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return nil
	}
	r.closed = true
	for _, rd := range r.idle {
		rd.close()
	}
	r.idle = nil
	return r.worktree.close()
}

// Root is the worktree's folder, absolute and without links; "" for a bare repository.
func (r *Repository) Root() string { return r.root }

// GitDir is the folder of HEAD and the index, absolute and without links.
func (r *Repository) GitDir() string { return r.gitDir }

// CommonDir is the folder of objects and refs: GitDir, unless the worktree is a linked one.
func (r *Repository) CommonDir() string { return r.commonDir }

// ObjectFormat is the hash of the repository's object names.
func (r *Repository) ObjectFormat() ObjectFormat { return SHA1 }

// Partial says whether the clone is shallow or partial, so that objects may be
// absent by design.
func (r *Repository) Partial() bool { return r.store.partial }

// reader takes an idle object reader or makes one.
func (r *Repository) reader() *objectReader {
	r.mu.Lock()
	defer r.mu.Unlock()
	if n := len(r.idle); n > 0 {
		rd := r.idle[n-1]
		r.idle = r.idle[:n-1]
		return rd
	}
	return newObjectReader(r.store)
}

// release gives a reader back.
func (r *Repository) release(rd *objectReader) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed || len(r.idle) >= 8 {
		rd.close()
		return
	}
	r.idle = append(r.idle, rd)
}

// Blob gives a blob's bytes, hashed again. Errors: fault.ObjectMissing when this
// clone does not hold it, fault.ObjectCorrupt when its bytes are not its own,
// fault.RepositoryLimit over 256 MiB.
func (r *Repository) Blob(ctx context.Context, id string) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	h, ok := parseID(id)
	if !ok {
		return nil, fault.New(fault.InvalidRequest, "%q is not a sha1 object id", id)
	}
	rd := r.reader()
	defer r.release(rd)
	_, data, err := rd.read(h, "blob", maxBlobBytes, nil)
	var large errTooLarge
	if errors.As(err, &large) {
		return nil, fault.New(fault.RepositoryLimit, "blob %s has %d bytes, more than %d", id, large.size, maxBlobBytes)
	}
	return data, err
}
