//go:build unix

package snapshot

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// errLink: a component of the path is a symbolic link, which is never followed.
var errLink = errors.New("a component is a symbolic link")

// worktreeDir is the opened root of a worktree. Paths are opened beneath it
// without following a link at any component.
type worktreeDir struct{ root *os.File }

func openWorktreeDir(path string) (worktreeDir, error) {
	f, err := os.OpenFile(path, unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	return worktreeDir{f}, err
}

func (w worktreeDir) close() error {
	if w.root == nil {
		return nil
	}
	return w.root.Close()
}

const openFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NOFOLLOW | unix.O_NONBLOCK | unix.O_NOCTTY

// gitFileFlags open a file below .git: without waiting for a FIFO's writer, and
// without taking a terminal for the process's own.
const gitFileFlags = unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK | unix.O_NOCTTY

// open opens a checked relative path for reading. Opening a FIFO or device does
// not block; what was opened is for the caller to fstat.
func (w worktreeDir) open(path string) (*os.File, error) {
	fd, err := openBeneath(int(w.root.Fd()), path)
	if err != nil {
		return nil, openError(path, err)
	}
	return os.NewFile(uintptr(fd), path), nil
}

func openError(path string, err error) error {
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.EMLINK), errors.Is(err, errLink):
		return errLink
	case errors.Is(err, unix.ENOENT), errors.Is(err, unix.ENOTDIR):
		return &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return &fs.PathError{Op: "open", Path: path, Err: err}
}

// openByStep opens one component after the other, each with O_NOFOLLOW: what
// openat2 does in one call where the kernel has it.
func openByStep(dir int, path string) (int, error) {
	parts := strings.Split(path, "/")
	at := dir
	for i, part := range parts {
		flags := openFlags
		if i < len(parts)-1 {
			flags |= unix.O_DIRECTORY
		}
		var fd int
		err := error(unix.EINTR)
		for errors.Is(err, unix.EINTR) {
			fd, err = unix.Openat(at, part, flags, 0)
		}
		if errors.Is(err, unix.ENOTDIR) && i < len(parts)-1 {
			// A link opened with O_DIRECTORY|O_NOFOLLOW says ENOTDIR.
			var st unix.Stat_t
			if unix.Fstatat(at, part, &st, unix.AT_SYMLINK_NOFOLLOW) == nil && st.Mode&unix.S_IFMT == unix.S_IFLNK {
				err = errLink
			}
		}
		if at != dir {
			unix.Close(at)
		}
		if err != nil {
			return -1, err
		}
		at = fd
	}
	return at, nil
}
