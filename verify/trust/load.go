package trust

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Source says where trust is read from.
type Source struct {
	Path      string // the trust file
	Revoked   string // the list of revoked keys; "": Path + ".revoked" when that exists
	Namespace string // for bare keys, see ParseFor
	// Outside are folders in which neither file may lie, links resolved: the
	// worktree and the Git directories of the repository under examination.
	Outside []string
}

// Load reads a trust file and its list of revoked keys.
func Load(s Source) (*File, *Revoked, error) {
	data, err := read(s.Path, "trust file", s.Outside)
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil, fault.New(fault.SignerUntrusted, "there is no trust file at %s", s.Path).
				WithHint("name the signer's public key or an allowed_signers file with --trust, or put one there")
		}
		return nil, nil, err
	}
	file, err := ParseFor(s.Namespace, data)
	if err != nil {
		return nil, nil, fault.New(fault.SignerUntrusted, "the trust file %s: %w", s.Path, err).
			WithHint("a line is: principal namespaces=%q ssh-ed25519 AAAA…; or name a .pub file", s.Namespace)
	}
	list, optional := s.Revoked, false
	if list == "" {
		list, optional = s.Path+".revoked", true
	}
	data, err = read(list, "list of revoked keys", s.Outside)
	if optional && errors.Is(err, fs.ErrNotExist) {
		return file, nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	revoked, err := ParseRevoked(data)
	if err != nil {
		return nil, nil, fault.New(fault.SignerUntrusted, "the list of revoked keys %s: %w", list, err).
			WithHint("list the revoked public keys one a line, as in their .pub files")
	}
	return file, revoked, nil
}

// read reads a whole file of at most MaxFileBytes that lies outside the folders.
func read(path, what string, outside []string) ([]byte, error) {
	for _, folder := range outside {
		inside, err := within(path, folder)
		if err != nil {
			return nil, fault.New(fault.SignerUntrusted, "the %s %s cannot be read: %w", what, path, err)
		}
		if inside {
			return nil, fault.New(fault.SignerUntrusted, "the %s %s lies inside the repository under examination, which must not say whom to trust", what, path).
				WithHint("keep it outside, for instance in the configuration folder")
		}
	}
	// Looked at before it is opened: opening a named pipe would wait for a writer.
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, fault.New(fault.SignerUntrusted, "the %s %s is not a regular file", what, path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fault.New(fault.SignerUntrusted, "the %s %s cannot be read: %w", what, path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, MaxFileBytes+1))
	if err != nil {
		return nil, fault.New(fault.SignerUntrusted, "the %s %s cannot be read: %w", what, path, err)
	}
	return data, nil
}

// within says whether path lies in folder, either as written or once links are
// resolved: a link in the repository that points outside is the repository's
// choice, and a link outside that points into it reads the repository's bytes.
func within(path, folder string) (bool, error) {
	if folder == "" {
		return false, nil
	}
	written, err := filepath.Abs(path)
	if err != nil {
		return false, err
	}
	folders := []string{folder}
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		folders = append(folders, real)
	}
	paths := []string{written}
	real, err := filepath.EvalSymlinks(written)
	if err != nil {
		return false, err
	}
	paths = append(paths, real)
	for _, p := range paths {
		for _, f := range folders {
			rel, err := filepath.Rel(f, p)
			if err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
				return true, nil
			}
		}
	}
	return false, nil
}
