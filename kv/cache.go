package kv

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Cache is the folder that holds every binding's generations. Several processes
// may use one.
type Cache struct {
	dir    string
	budget int64
}

// DefaultBudget bounds what one binding may take on disk, in bytes.
const DefaultBudget = 2 << 30

// EnvCache names the environment variable that says where the cache is.
const EnvCache = "EXHIBIT_CACHE"

// DefaultCacheDir gives $EXHIBIT_CACHE, or exhibit below the user's cache folder.
func DefaultCacheDir() (string, error) {
	if dir := os.Getenv(EnvCache); dir != "" {
		return dir, nil
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fault.New(fault.StorageFailed, "no cache folder: %w", err).WithHint("set %s", EnvCache)
	}
	return filepath.Join(dir, "exhibit"), nil
}

// OpenCache opens the cache in dir, making it 0700 when it is not there. A
// folder inside a repository is refused with fault.CacheInside; one that belongs
// to another user, or that others may enter, with fault.StorageFailed: it may
// serve another end, and its mode is not ours to change.
func OpenCache(dir string) (*Cache, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, storage("cache folder", err)
	}
	// Look before anything is made: a refused cache leaves no trace.
	if root := enclosingRepository(canonicalPrefix(abs)); root != "" {
		return nil, cacheInside(abs, root)
	}
	if err := os.MkdirAll(abs, 0o700); err != nil {
		return nil, notAFolder(abs, err)
	}
	real, err := filepath.EvalSymlinks(abs)
	if err != nil {
		return nil, storage("cache folder", err)
	}
	if root := enclosingRepository(real); root != "" {
		return nil, cacheInside(abs, root)
	}
	if err := checkPrivate(real); err != nil {
		return nil, err
	}
	c := &Cache{dir: real, budget: DefaultBudget}
	if err := os.MkdirAll(c.bindings(), 0o700); err != nil {
		return nil, storage("make the cache folder", err)
	}
	return c, nil
}

// SetBudget bounds each binding to n bytes instead of DefaultBudget.
func (c *Cache) SetBudget(n int64) { c.budget = n }

// Dir gives the cache's folder, with links resolved.
func (c *Cache) Dir() string { return c.dir }

func (c *Cache) bindings() string { return filepath.Join(c.dir, "bindings") }

func cacheInside(dir, root string) error {
	return fault.New(fault.CacheInside, "cache folder %q is inside the repository %q", dir, root).
		WithHint("set %s to a folder outside every repository", EnvCache)
}

// notAFolder says why a cache folder could not be made: often a file or a link
// that leads nowhere stands at it or above it.
func notAFolder(dir string, why error) error {
	path, found := obstacle(why)
	info, err := os.Lstat(path)
	if !found || err != nil {
		return storage("make the cache folder", why)
	}
	what := kindOf(info.Mode())
	if target, err := os.Readlink(path); err == nil {
		what = fmt.Sprintf("a symbolic link to %q, which is no folder", target)
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			what = fmt.Sprintf("a symbolic link to %q, which does not exist", target)
		}
	}
	where := fmt.Sprintf("cache folder %q", dir)
	if path != dir {
		where += fmt.Sprintf(" cannot be made: %q", path)
	}
	return fault.New(fault.StorageFailed, "%s is %s", where, what).
		WithHint("make a folder there, or name another one with --cache or %s", EnvCache)
}

// checkPrivate refuses a folder that is another user's or open to others.
func checkPrivate(dir string) error {
	var st unix.Stat_t
	if err := unix.Lstat(dir, &st); err != nil {
		return storage("cache folder", err)
	}
	if int(st.Uid) != os.Geteuid() {
		return fault.New(fault.StorageFailed, "cache folder %q belongs to another user", dir).
			WithHint("set %s to a folder of your own", EnvCache)
	}
	if mode := st.Mode & 0o777; mode&0o077 != 0 {
		return fault.New(fault.StorageFailed, "cache folder %q is open to other users (mode %04o)", dir, mode).
			WithHint("chmod 700 it if it serves nothing else, or name a folder of its own with --cache or %s", EnvCache)
	}
	return nil
}

// canonicalPrefix resolves the links of the longest part of path that exists.
func canonicalPrefix(path string) string {
	rest := ""
	for p := path; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			return filepath.Join(real, rest)
		}
		if p == filepath.Dir(p) {
			return path
		}
		rest = filepath.Join(filepath.Base(p), rest)
	}
}

// enclosingRepository gives the closest folder at or above path that is a
// repository: it holds .git, or is a Git directory itself. "" when none is.
func enclosingRepository(path string) string {
	for p := path; ; p = filepath.Dir(p) {
		if isGitDir(p) {
			return p
		}
		dot := filepath.Join(p, ".git")
		if info, err := os.Lstat(dot); err == nil && (!info.IsDir() || isGitDir(dot)) {
			return p
		}
		if p == filepath.Dir(p) {
			return ""
		}
	}
}

// isGitDir uses Git's own test: HEAD, objects and refs. A linked worktree's
// directory has commondir in place of the latter two.
func isGitDir(p string) bool {
	has := func(name string) bool { _, err := os.Lstat(filepath.Join(p, name)); return err == nil }
	return has("HEAD") && (has("objects") && has("refs") || has("commondir"))
}

// Binding ties a scope to one worktree. It is stored in the cache.
type Binding struct {
	ID      string `json:"binding_id"` // random and opaque; means nothing outside this cache
	Scope   string `json:"scope"`
	Root    string `json:"root"` // canonical worktree root; "" for a bare repository
	GitDir  string `json:"git_dir"`
	Created string `json:"created"` // RFC 3339

	key string // folder below bindings/
}

// scopeName is what a scope may look like: it is printed, and part of answers.
var scopeName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`)

// Repository is what kv needs of a *snapshot.Repository.
type Repository interface {
	Root() string
	GitDir() string
	CommonDir() string
	Resolve(ctx context.Context, rev string) (snapshot.Revision, error)
	ScanCommit(ctx context.Context, rev snapshot.Revision, o snapshot.Options, visit snapshot.Visit) (*snapshot.Manifest, error)
	ScanWorktree(ctx context.Context, o snapshot.Options, visit snapshot.Visit) (*snapshot.Manifest, error)
}

var _ Repository = (*snapshot.Repository)(nil)

// Bind gives the binding of a repository's worktree, or of its Git directory
// when it is bare, and makes it on first use. A linked worktree has one of its
// own. An empty scope keeps the name it has, or takes that of the folder.
func (c *Cache) Bind(ctx context.Context, repo Repository, scope string) (Binding, error) {
	if scope != "" && !scopeName.MatchString(scope) {
		return Binding{}, fault.New(fault.InvalidRequest, "scope %q is not a name of letters, digits, dot, dash and underscore", scope).WithField("scope")
	}
	if err := c.outside(repo); err != nil {
		return Binding{}, err
	}
	b := Binding{Root: repo.Root(), GitDir: repo.GitDir(), key: bindingKey(repo)}
	dir := c.bindingDir(b)
	if known, err := readBinding(dir); err == nil && known.Root == b.Root && known.GitDir == b.GitDir && (scope == "" || scope == known.Scope) {
		return known, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return Binding{}, storage("make a binding", err)
	}
	lock, err := waitLock(ctx, filepath.Join(dir, "bind.lock"))
	if err != nil {
		return Binding{}, storage("lock the binding", err)
	}
	defer lock.Close()
	if known, err := readBinding(dir); err == nil {
		b.ID, b.Scope, b.Created = known.ID, known.Scope, known.Created
	}
	if b.ID == "" {
		b.ID, b.Created = randomName(16), now()
	}
	if scope != "" {
		b.Scope = scope
	} else if b.Scope == "" {
		b.Scope = scopeOf(b)
	}
	return b, storage("write a binding", writeSealed(filepath.Join(dir, "binding.json"), b))
}

// Lookup gives the binding of a repository, false when it has none.
func (c *Cache) Lookup(repo Repository) (Binding, bool, error) {
	b, err := readBinding(filepath.Join(c.bindings(), bindingKey(repo)))
	if errors.Is(err, fs.ErrNotExist) {
		return Binding{}, false, nil
	}
	if err != nil {
		return Binding{}, false, integrity("binding.json", err)
	}
	return b, true, nil
}

// Bindings gives every readable binding, sorted by scope and id.
func (c *Cache) Bindings() ([]Binding, error) {
	entries, err := os.ReadDir(c.bindings())
	if err != nil {
		return nil, storage("list bindings", err)
	}
	var list []Binding
	for _, e := range entries {
		if b, err := readBinding(filepath.Join(c.bindings(), e.Name())); err == nil {
			list = append(list, b)
		}
	}
	sort.Slice(list, func(i, j int) bool {
		if list[i].Scope != list[j].Scope {
			return list[i].Scope < list[j].Scope
		}
		return list[i].ID < list[j].ID
	})
	return list, nil
}

// outside refuses a cache below the repository's own folders, wherever they are.
func (c *Cache) outside(repo Repository) error {
	for _, dir := range []string{repo.Root(), repo.GitDir(), repo.CommonDir()} {
		if dir == "" {
			continue
		}
		if rel, err := filepath.Rel(dir, c.dir); err == nil && rel != ".." && !strings.HasPrefix(rel, "../") {
			return cacheInside(c.dir, dir)
		}
	}
	return nil
}

// bindingKey hashes the canonical worktree root, or the Git directory of a bare
// repository: folder names say nothing of where a repository is.
func bindingKey(repo Repository) string {
	root := repo.Root()
	if root == "" {
		root = "bare:" + repo.GitDir()
	}
	sum := sha256.Sum256([]byte(root))
	return hex.EncodeToString(sum[:16])
}

func readBinding(dir string) (Binding, error) {
	var b Binding
	err := readSealed(filepath.Join(dir, "binding.json"), &b)
	b.key = filepath.Base(dir)
	return b, err
}

func scopeOf(b Binding) string {
	name := filepath.Base(b.Root)
	if b.Root == "" {
		name = strings.TrimSuffix(filepath.Base(b.GitDir), ".git")
	}
	clean := strings.Map(func(r rune) rune {
		if r < 128 && (r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("._-", r)) {
			return r
		}
		return '-'
	}, name)
	clean = strings.TrimLeft(clean, "._-")
	if clean = clean[:min(len(clean), 64)]; clean == "" {
		return "repository"
	}
	return clean
}

func (c *Cache) bindingDir(b Binding) string { return filepath.Join(c.bindings(), b.key) }

// randomName gives n random bytes in hex.
func randomName(n int) string {
	b := make([]byte, n)
	rand.Read(b)
	return hex.EncodeToString(b)
}
