package snapshot

import (
	"context"
	"errors"
	"io"
	"io/fs"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// readAttempts is how often a file that changes while it is read is read again.
const readAttempts = 3

// errNotRegular: what the path names is a folder, a FIFO, a socket or a device.
var errNotRegular = errors.New("not a regular file")

// ReadWorktree gives the bytes on disk of one path and its permission bits. No
// link is followed at any component, and the file is checked before and after
// reading.
//
// Errors: fs.ErrNotExist when nothing is there; fault.InvalidPath for a path that
// leaves the worktree, passes a symbolic link or names no regular file;
// fault.WorkspaceBusy when the file keeps changing; fault.RepositoryLimit over
// 256 MiB; fault.RepositoryRoot for a bare repository.
func (r *Repository) ReadWorktree(ctx context.Context, path string) ([]byte, fs.FileMode, error) {
	if err := ctx.Err(); err != nil {
		return nil, 0, err
	}
	if r.root == "" {
		return nil, 0, errBare(r)
	}
	if err := checkPath(path); err != nil {
		return nil, 0, err
	}
	data, mode, err := r.worktree.read(path, maxBlobBytes, nil)
	var large errTooLarge
	switch {
	case errors.Is(err, errLink):
		err = fault.New(fault.InvalidPath, "path %q passes a symbolic link, which is not followed", path)
	case errors.Is(err, errNotRegular):
		err = fault.New(fault.InvalidPath, "path %q is not a regular file", path)
	case errors.As(err, &large):
		err = fault.New(fault.RepositoryLimit, "file %q has %d bytes, more than %d", path, large.size, maxBlobBytes)
	}
	return data, mode, err
}

func errBare(r *Repository) error {
	return fault.New(fault.RepositoryRoot, "%q is a bare repository and has no worktree", r.gitDir).
		WithHint("work from a commit instead, or name a worktree")
}

// read gives a file's bytes, in buf when they fit, and its mode. Errors: errLink,
// errNotRegular, errTooLarge, fs.ErrNotExist, fault.WorkspaceBusy.
func (w worktreeDir) read(path string, limit int64, buf []byte) ([]byte, fs.FileMode, error) {
	for range readAttempts {
		f, err := w.open(path)
		if err != nil {
			return nil, 0, err
		}
		data, mode, stable, err := readStable(f, limit, buf)
		f.Close()
		if err != nil || stable {
			return data, mode, err
		}
	}
	return nil, 0, fault.New(fault.WorkspaceBusy, "file %q keeps changing while it is read", path).
		WithHint("try again when nothing writes to the worktree")
}

// statReader is an opened file.
type statReader interface {
	io.Reader
	Stat() (fs.FileInfo, error)
}

// readStable reads an opened file and says whether it was left alone meanwhile.
// Size and times serve only to see a concurrent writer; what the bytes are is
// found by hashing them.
func readStable(f statReader, limit int64, buf []byte) (data []byte, mode fs.FileMode, stable bool, err error) {
	before, err := f.Stat()
	if err != nil {
		return nil, 0, false, err
	}
	if !before.Mode().IsRegular() {
		return nil, 0, false, errNotRegular
	}
	size := before.Size()
	if size > limit {
		return nil, before.Mode(), false, errTooLarge{size}
	}
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := io.ReadFull(f, buf); err != nil {
		if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
			return nil, 0, false, nil // it shrank
		}
		return nil, 0, false, err
	}
	after, err := f.Stat()
	if err != nil {
		return nil, 0, false, err
	}
	stable = after.Size() == size && after.ModTime().Equal(before.ModTime()) && after.Mode() == before.Mode()
	return buf, before.Mode(), stable, nil
}
