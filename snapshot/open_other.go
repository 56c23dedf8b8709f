//go:build !unix

package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
)

// errLink: a component of the path is a symbolic link, which is never followed.
var errLink = errors.New("a component is a symbolic link")

// gitFileFlags open a file below .git.
const gitFileFlags = os.O_RDONLY

// worktreeDir is the opened root of a worktree. Paths are opened beneath it; a
// link at any component is refused.
type worktreeDir struct{ root *os.Root }

func openWorktreeDir(path string) (worktreeDir, error) {
	root, err := os.OpenRoot(path)
	return worktreeDir{root}, err
}

func (w worktreeDir) close() error {
	if w.root == nil {
		return nil
	}
	return w.root.Close()
}

// open opens a checked relative path. os.Root keeps it inside the worktree
// whatever happens between the checks and the opening.
func (w worktreeDir) open(path string) (*os.File, error) {
	parts := strings.Split(path, "/")
	for i := range parts {
		st, err := w.root.Lstat(filepath.Join(parts[:i+1]...))
		if err != nil {
			return nil, err
		}
		if st.Mode()&os.ModeSymlink != 0 {
			return nil, errLink
		}
	}
	return w.root.Open(filepath.FromSlash(path))
}
