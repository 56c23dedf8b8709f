package kv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// fileDigest is the identity of one stored file.
type fileDigest struct {
	Name   string `json:"name"`   // relative to its folder, '/' between components
	Size   int64  `json:"size"`   // bytes
	SHA256 string `json:"sha256"` // hex
}

// hashFile gives the size and SHA-256 of an open file from its start.
func hashFile(ctx context.Context, f *os.File, name string) (fileDigest, error) {
	sum, size, buf := sha256.New(), int64(0), make([]byte, 1<<18)
	for {
		n, err := f.ReadAt(buf, size)
		sum.Write(buf[:n])
		size += int64(n)
		if err == io.EOF {
			return fileDigest{name, size, hex.EncodeToString(sum.Sum(nil))}, nil
		}
		if err != nil {
			return fileDigest{}, err
		}
		if err := ctx.Err(); err != nil {
			return fileDigest{}, err
		}
	}
}

// digestOf hashes a file by name.
func digestOf(ctx context.Context, path, name string) (fileDigest, error) {
	f, err := openRegular(path)
	if err != nil {
		return fileDigest{}, err
	}
	defer f.Close()
	return hashFile(ctx, f, name)
}

// openRegular opens a regular file for reading, never through a link and never
// waiting on a pipe. Anything else is an irregular.
func openRegular(path string) (*os.File, error) { return openChecked(path, os.O_RDONLY) }

// openChecked is openRegular with the flags of os.OpenFile.
func openChecked(path string, flags int) (*os.File, error) {
	f, err := os.OpenFile(path, flags|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY, 0o600)
	if err != nil {
		// Say what stands there rather than ELOOP, EISDIR or ENXIO.
		if info, statErr := os.Lstat(path); statErr == nil && !info.Mode().IsRegular() {
			err = newIrregular(path, info.Mode())
		}
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = newIrregular(path, info.Mode())
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// irregular says what stands where the cache keeps a regular file.
type irregular fs.FileMode

func newIrregular(path string, mode fs.FileMode) error {
	return &fs.PathError{Op: "open", Path: path, Err: irregular(mode)}
}

func (m irregular) Error() string { return "it is " + kindOf(fs.FileMode(m)) + ", not a regular file" }

// kindOf names the type of a file for people.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return "a regular file"
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeSymlink != 0:
		return "a symbolic link"
	case mode&fs.ModeNamedPipe != 0:
		return "a named pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	case mode&fs.ModeDevice != 0:
		return "a device"
	}
	return "a special file"
}

// obstacle gives what stands in the way of the cache when err is about that:
// something other than the file or folder that belongs there.
func obstacle(err error) (path string, found bool) {
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		path = p.Path
	case errors.As(err, &l):
		path = l.New
	default:
		return "", false
	}
	var odd irregular
	if errors.As(err, &odd) {
		return path, true
	}
	for _, e := range []error{unix.ENOTDIR, unix.EISDIR, unix.ENOTEMPTY, unix.EEXIST, unix.ELOOP} {
		found = found || errors.Is(err, e)
	}
	for { // below a file there is nothing: the file itself is in the way
		if _, err := os.Lstat(path); !errors.Is(err, unix.ENOTDIR) {
			return path, found
		}
		path = filepath.Dir(path)
	}
}

// maxRecordFile bounds the small files that are read whole.
const maxRecordFile = 64 << 20

// readSealed reads what writeSealed wrote: JSON below a line that holds its
// SHA-256. A damaged file is errMalformed.
func readSealed(path string, v any) error {
	b, err := readSmall(path)
	if err != nil {
		return err
	}
	line, body, ok := bytes.Cut(b, []byte("\n"))
	sum := sha256.Sum256(body)
	if !ok || string(line) != hex.EncodeToString(sum[:]) {
		return errMalformed
	}
	return strictJSON(body, v)
}

func readSmall(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRecordFile+1))
	if err == nil && len(b) > maxRecordFile {
		err = errMalformed
	}
	return b, err
}

func strictJSON(b []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return fmt.Errorf("%w: %v", errMalformed, err)
	}
	if _, err := d.Token(); err != io.EOF {
		return errMalformed
	}
	return nil
}

// writeSealed replaces a file by JSON with its digest, atomically and durably.
func writeSealed(path string, v any) error {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return err
	}
	body = append(body, '\n')
	sum := sha256.Sum256(body)
	return writeAtomic(path, append([]byte(hex.EncodeToString(sum[:])+"\n"), body...))
}

// writeAtomic replaces a file by a fresh sibling and a rename.
func writeAtomic(path string, b []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // made 0600
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(b)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncDir(filepath.Dir(path))
}

func writeSynced(path string, b []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	return errors.Join(err, f.Sync(), f.Close())
}

func syncDir(path string) error {
	d, err := os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY, 0)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// folderSize adds up the regular files below a folder, in bytes. What vanishes
// meanwhile counts nothing.
func folderSize(path string) int64 {
	var n int64
	filepath.WalkDir(path, func(_ string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return nil
		}
		if info, err := d.Info(); err == nil {
			n += info.Size()
		}
		return nil
	})
	return n
}

// private makes every folder below path 0700 and every file 0600: libraries
// choose modes of their own.
func private(path string) error {
	return filepath.WalkDir(path, func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return os.Chmod(p, 0o700)
		}
		return os.Chmod(p, 0o600)
	})
}

// errLocked is what tryLock gives when another open file holds the lock.
var errLocked = errors.New("locked")

// tryLock opens a file and takes a flock on it without waiting: exclusive or
// shared. The lock lives as long as the file is open, however its process ends.
func tryLock(path string, flags, how int) (*os.File, error) {
	f, err := openChecked(path, flags)
	if err != nil {
		return nil, err
	}
	for {
		err = unix.Flock(int(f.Fd()), how|unix.LOCK_NB)
		if err != unix.EINTR {
			break
		}
	}
	if err == nil {
		return f, nil
	}
	f.Close()
	if err == unix.EWOULDBLOCK {
		return nil, errLocked
	}
	return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
}

// lockPoll is how often a waiting build looks again.
const lockPoll = 50 * time.Millisecond

// waitLock takes an exclusive lock, waiting until ctx ends.
func waitLock(ctx context.Context, path string) (*os.File, error) {
	for {
		f, err := tryLock(path, os.O_RDWR|os.O_CREATE, unix.LOCK_EX)
		if err != errLocked {
			return f, err
		}
		select {
		case <-ctx.Done():
			return nil, errLocked
		case <-time.After(lockPoll):
		}
	}
}

// storage wraps an error of the file system.
func storage(what string, err error) error {
	if err == nil {
		return nil
	}
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	f := fault.New(fault.StorageFailed, "%s: %w", what, err)
	if errors.Is(err, unix.ENOSPC) || errors.Is(err, unix.EDQUOT) {
		return f.WithHint("free space on the disk that holds the cache, or point EXHIBIT_CACHE elsewhere")
	}
	if path, found := obstacle(err); found {
		return f.WithHint("remove %q, which is in the way, or point EXHIBIT_CACHE elsewhere", path)
	}
	return f.WithHint("check the permissions of the cache folder, or point EXHIBIT_CACHE elsewhere")
}
