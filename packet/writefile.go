package packet

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// WriteFile puts data at path as a new private file (0600): written to a fresh
// sibling, synced, renamed over the destination, and the folder synced. A file
// that stood there is replaced whosever it was, a symbolic link itself and not
// what it points to. A folder, and a device or pipe, also one that a link leads
// to such as /dev/stdout, is refused: to replace one would break the machine for
// others. When anything fails, what stood there
// stays and no sibling is left. The error is fault.StorageFailed.
func WriteFile(path string, data []byte) error {
	if err := replaceable(path); err != nil {
		return err
	}
	dir := filepath.Dir(path)
	temp, err := writeSibling(dir, filepath.Base(path), data)
	if err != nil {
		return storage(path, err)
	}
	if err := os.Rename(temp, path); err != nil {
		_ = os.Remove(temp)
		return storage(path, err)
	}
	// The rename is done and readers see the whole new file; a folder that
	// cannot be synced could still lose it in a crash, so that is said.
	if err := syncDir(dir); err != nil {
		return storage(path, err)
	}
	return nil
}

// replaceable refuses what is neither absent, nor a regular file, nor a link
// that leads to one of the two (or to a folder: the link alone is replaced); and
// anything below a .git folder.
func replaceable(path string) error {
	if abs, err := filepath.Abs(path); err == nil && slices.Contains(strings.Split(filepath.ToSlash(filepath.Dir(abs)), "/"), ".git") {
		return fault.New(fault.StorageFailed, "cannot write %q: it is inside a .git folder", path).WithHint("name a file outside the repository")
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil // absent, or what the write will say
	}
	if info.IsDir() {
		return fault.New(fault.StorageFailed, "cannot write %q: it is a folder", path).WithHint("name a file in it")
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		if info, err = os.Stat(path); err != nil || info.IsDir() {
			return nil
		}
	}
	if !info.Mode().IsRegular() {
		return fault.New(fault.StorageFailed, "cannot write %q: it is a device or a pipe", path).WithHint("name a file")
	}
	return nil
}

// writeSibling makes a new file in dir that holds data, or nothing.
func writeSibling(dir, base string, data []byte) (name string, err error) {
	var suffix [8]byte
	if _, err := rand.Read(suffix[:]); err != nil {
		return "", err
	}
	// A long base name must not make the sibling's name too long.
	name = filepath.Join(dir, "."+base[:min(len(base), 64)]+"."+hex.EncodeToString(suffix[:])+".tmp")
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil {
		_ = os.Remove(name)
		return "", err
	}
	return name, nil
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	if e := d.Close(); err == nil {
		err = e
	}
	return err
}

func storage(path string, err error) error {
	// The cause names the sibling, which means nothing to a reader: take its
	// reason alone.
	reason := err
	var pe *fs.PathError
	var le *os.LinkError
	switch {
	case errors.As(err, &pe):
		reason = pe.Err
	case errors.As(err, &le):
		reason = le.Err
	}
	f := fault.New(fault.StorageFailed, "cannot write %q: %w", path, reason)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return f.WithHint("make the folder %q first", filepath.Dir(path))
	case errors.Is(err, fs.ErrPermission):
		return f.WithHint("choose a folder that you can write to")
	}
	return f
}
