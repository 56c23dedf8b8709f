package keys

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"encoding/pem"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"syscall"

	"golang.org/x/crypto/ssh"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// The environment that names the configuration folder and a key file.
const (
	ConfigEnv  = "EXHIBIT_CONFIG"
	KeyFileEnv = "EXHIBIT_KEY_FILE"
)

// DefaultName is the key that signs when none is named.
const DefaultName = "default"

const maxKeyFile = 16384 // bytes

var errNotEd25519 = errors.New("not an Ed25519 key")

// Key is a private key. It is a packet.Signer.
type Key struct {
	Public
	private ed25519.PrivateKey
}

var _ packet.Signer = (*Key)(nil)

// Sign gives the 64 bytes of RFC 8032 over message.
func (k *Key) Sign(ctx context.Context, message []byte) ([]byte, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return ed25519.Sign(k.private, message), nil
}

// ConfigDir is $EXHIBIT_CONFIG, or "exhibit" in the user's configuration folder.
func ConfigDir() (string, error) {
	if dir := os.Getenv(ConfigEnv); dir != "" {
		if !filepath.IsAbs(dir) {
			return "", fault.New(fault.KeyUnavailable, "%s is %q, not an absolute path", ConfigEnv, dir)
		}
		return filepath.Clean(dir), nil
	}
	dir, err := os.UserConfigDir()
	if err != nil {
		return "", fault.New(fault.KeyUnavailable, "cannot find the user's configuration folder: %w", err).
			WithHint("set %s to an absolute path", ConfigEnv)
	}
	return filepath.Join(dir, "exhibit"), nil
}

// Store is the folder of keys, Dir/keys, in a configuration folder.
type Store struct{ Dir string }

func (s Store) folder() string          { return filepath.Join(s.Dir, "keys") }
func (s Store) file(name string) string { return filepath.Join(s.folder(), name) }

// New makes a key and writes it and its public line. A key of that name is
// never replaced.
func (s Store) New(name, principal string, random io.Reader) (*Key, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	if err := checkPrincipal(principal); err != nil {
		return nil, err
	}
	if err := outsideRepository(s.Dir); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.Dir, s.folder()} {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, fault.New(fault.KeyUnavailable, "cannot make the key folder %q: %w", dir, err)
		}
		if err := checkFolder(dir); err != nil {
			return nil, err
		}
	}
	for _, path := range []string{s.file(name), s.file(name) + ".pub"} {
		if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
			return nil, fault.New(fault.KeyUnavailable, "there is already a key %q", name).
				WithHint("choose another name, or move %q away", path)
		}
	}
	seed := make([]byte, ed25519.SeedSize)
	if _, err := io.ReadFull(random, seed); err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot read random bytes for a key: %w", err)
	}
	private := ed25519.NewKeyFromSeed(seed)
	k := &Key{Public: Public{Name: name, Principal: principal, Key: private.Public().(ed25519.PublicKey)}, private: private}
	block, err := ssh.MarshalPrivateKey(private, principal)
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot write the key: %w", err)
	}
	if err := packet.WriteFile(s.file(name), pem.EncodeToMemory(block)); err != nil {
		return nil, err
	}
	if err := packet.WriteFile(s.file(name)+".pub", []byte(k.AuthorizedKey()+"\n")); err != nil {
		_ = os.Remove(s.file(name)) // half a key would be in the way of the next try
		return nil, err
	}
	return k, nil
}

// List gives the public halves of all keys, by name. A store that is not there
// is empty.
func (s Store) List() ([]Public, error) {
	entries, err := os.ReadDir(s.folder())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot read the key folder %q: %w", s.folder(), err)
	}
	var out []Public
	for _, e := range entries {
		name, ok := strings.CutSuffix(e.Name(), ".pub")
		if !ok || checkName(name) != nil {
			continue
		}
		p, err := s.Public(name)
		if err != nil {
			return nil, err
		}
		out = append(out, *p)
	}
	sort.Slice(out, func(i, j int) bool { return out[i].Name < out[j].Name })
	return out, nil
}

// Public reads the public half of a key.
func (s Store) Public(name string) (*Public, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	data, err := readBounded(s.file(name)+".pub", true)
	if err != nil {
		return nil, missing(name, err)
	}
	p, err := parsePublic(data)
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "the public file of key %q cannot be read: %w", name, err)
	}
	p.Name = name
	if checkPrincipal(p.Principal) != nil {
		p.Principal = "" // a comment that somebody else wrote
	}
	return p, nil
}

// Load reads a key by name.
func (s Store) Load(name string) (*Key, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	for _, dir := range []string{s.Dir, s.folder()} {
		if err := checkFolder(dir); err != nil {
			return nil, missing(name, err)
		}
	}
	k, err := load(s.file(name), true)
	if err != nil {
		return nil, missing(name, err)
	}
	k.Name = name
	return k, nil
}

// Default is the key of the file that $EXHIBIT_KEY_FILE names, else the store's
// DefaultName.
func Default(s Store) (*Key, error) {
	if path := os.Getenv(KeyFileEnv); path != "" {
		return LoadFile(path)
	}
	return s.Load(DefaultName)
}

// LoadFile reads a private key file, OpenSSH or PKCS#8 PEM, anywhere. The
// principal is the comment of the public file beside it, where there is one for
// the same key. A symbolic link is followed: secrets are mounted as such.
func LoadFile(path string) (*Key, error) {
	k, err := load(path, false)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fault.New(fault.KeyUnavailable, "there is no key file %q", path).WithHint("check %s", KeyFileEnv)
	}
	return k, err
}

func load(path string, noFollow bool) (*Key, error) {
	data, err := readPrivate(path, noFollow)
	if err != nil {
		return nil, err
	}
	private, err := parsePrivate(path, data)
	if err != nil {
		return nil, err
	}
	k := &Key{Public: Public{Key: private.Public().(ed25519.PublicKey)}, private: private}
	if line, err := readBounded(path+".pub", noFollow); err == nil {
		if p, err := parsePublic(line); err == nil && bytes.Equal(p.Key, k.Key) && checkPrincipal(p.Principal) == nil {
			k.Principal = p.Principal
		}
	}
	return k, nil
}

func parsePrivate(path string, data []byte) (ed25519.PrivateKey, error) {
	raw, err := ssh.ParseRawPrivateKey(data)
	var locked *ssh.PassphraseMissingError
	switch {
	case errors.As(err, &locked):
		return nil, fault.New(fault.KeyUnavailable, "key file %q is protected by a passphrase", path).
			WithHint("make a key for this purpose with `exhibit key new`, or name an unprotected one in %s", KeyFileEnv)
	case err != nil:
		return nil, fault.New(fault.KeyUnavailable, "key file %q cannot be read as a private key: %w", path, err).
			WithHint("want an OpenSSH or PKCS#8 PEM file with an Ed25519 key")
	}
	switch key := raw.(type) {
	case *ed25519.PrivateKey:
		if len(*key) == ed25519.PrivateKeySize {
			return *key, nil
		}
	case ed25519.PrivateKey:
		if len(key) == ed25519.PrivateKeySize {
			return key, nil
		}
	}
	return nil, fault.New(fault.KeyUnavailable, "key file %q holds another kind of key than Ed25519", path).
		WithHint("make one with `exhibit key new`")
}

func missing(name string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fault.New(fault.KeyUnavailable, "there is no key %q", name).WithHint("make one with `exhibit key new`")
	}
	return err
}

// readPrivate reads a file that nobody but its owner may read or write.
func readPrivate(path string, noFollow bool) ([]byte, error) {
	return read(path, noFollow, func(info fs.FileInfo) error {
		if info.Mode().Perm()&0o077 != 0 {
			return fault.New(fault.KeyUnavailable, "key file %q is open to others (mode %04o)", path, info.Mode().Perm()).
				WithHint("chmod 600 %q, and think about who read it", path)
		}
		return checkOwner(path, info)
	})
}

func readBounded(path string, noFollow bool) ([]byte, error) {
	return read(path, noFollow, func(fs.FileInfo) error { return nil })
}

// read checks the very file that it then reads.
func read(path string, noFollow bool, check func(fs.FileInfo) error) ([]byte, error) {
	flags := os.O_RDONLY | syscall.O_NONBLOCK // a FIFO must not hang
	if noFollow {
		flags |= syscall.O_NOFOLLOW
	}
	f, err := os.OpenFile(path, flags, 0)
	if errors.Is(err, syscall.ELOOP) {
		return nil, fault.New(fault.KeyUnavailable, "key file %q is a symbolic link", path).WithHint("put the key itself there")
	}
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot open key file %q: %w", path, err)
	}
	defer func() { _ = f.Close() }()
	info, err := f.Stat()
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot examine key file %q: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > maxKeyFile {
		return nil, fault.New(fault.KeyUnavailable, "key file %q is no regular file of at most %d bytes", path, maxKeyFile)
	}
	if err := check(info); err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot read key file %q: %w", path, err)
	}
	return data, nil
}

// checkFolder refuses a folder that others may enter.
func checkFolder(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return fault.New(fault.KeyUnavailable, "cannot examine the key folder %q: %w", dir, err)
	}
	if !info.IsDir() {
		return fault.New(fault.KeyUnavailable, "%q is no folder", dir)
	}
	if info.Mode().Perm()&0o077 != 0 {
		return fault.New(fault.KeyUnavailable, "key folder %q is open to others (mode %04o)", dir, info.Mode().Perm()).
			WithHint("chmod 700 %q", dir)
	}
	return checkOwner(dir, info)
}

// checkOwner refuses what belongs neither to the user nor to root.
func checkOwner(path string, info fs.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	if ok && st.Uid != 0 && int(st.Uid) != os.Geteuid() {
		return fault.New(fault.KeyUnavailable, "%q belongs to another user (uid %d)", path, st.Uid)
	}
	return nil
}

// outsideRepository refuses a folder with a .git in it or above it: a private
// key there would be one `git add` from being published.
func outsideRepository(dir string) error {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return fault.New(fault.KeyUnavailable, "the key folder %q is inside the repository %q", dir, at).
				WithHint("set %s to a folder outside every repository", ConfigEnv)
		}
		if at == filepath.Dir(at) {
			return nil
		}
	}
}

func checkName(name string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyz0123456789_-"
	if name == "" || len(name) > 64 || strings.Trim(name, allowed) != "" || strings.HasPrefix(name, "-") {
		return fault.New(fault.InvalidRequest, "%q is no key name", name).WithHint("use lower-case letters, digits, '_' and '-'")
	}
	return nil
}
