package snapshot

import (
	"bytes"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/format/idxfile"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

const (
	// maxMetaBytes bounds a commit, tag or tree object.
	maxMetaBytes = 64 << 20
	// maxPackIndexBytes bounds a pack's index: about 70 million objects, ten times
	// as many as the largest public repositories have.
	maxPackIndexBytes = 2 << 30
	// maxBlobBytes bounds a blob read on its own.
	maxBlobBytes = 256 << 20
	// maxAlternates bounds the chain of borrowed object folders (Git stops at 5 deep).
	maxAlternates = 64
)

// HashBlob gives the object id, in hex, of a blob with this content.
func HashBlob(f ObjectFormat, content []byte) string {
	return hex.EncodeToString(hashObject(f, "blob", content))
}

func hashObject(f ObjectFormat, kind string, content []byte) []byte {
	var h hash.Hash
	if f == SHA256 {
		h = sha256.New()
	} else {
		h = sha1.New()
	}
	h.Write(strconv.AppendInt([]byte(kind+" "), int64(len(content)), 10))
	h.Write([]byte{0})
	h.Write(content)
	return h.Sum(nil)
}

// pack is one pack file and its index. The index is decoded once and shared:
// it synchronises itself, unlike everything that reads through the pack's file.
type pack struct {
	path string
	idx  *idxfile.MemoryIndex
}

// objectStore knows where a repository's objects are. It is shared by all
// goroutines and holds no file open; each goroutine reads through its own
// objectReader, because go-git's packfile has one file position.
type objectStore struct {
	dirs    []string // object folders: the repository's own, then those it borrows from
	partial bool     // shallow or partial clone: absence is expected

	mu    sync.Mutex
	packs atomic.Pointer[[]*pack]
}

func newObjectStore(objects string, partial bool) (*objectStore, error) {
	dirs, err := alternates(objects)
	if err != nil {
		return nil, err
	}
	return &objectStore{dirs: dirs, partial: partial}, nil
}

// alternates lists an object folder and, transitively, those its
// info/alternates names, relative paths counting from the folder itself. A
// folder that is gone is passed over as Git does: what it held is then missing
// by name.
func alternates(objects string) ([]string, error) {
	var dirs []string
	seen := map[string]bool{}
	queue := []string{objects}
	for len(queue) > 0 {
		dir := queue[0]
		queue = queue[1:]
		if seen[dir] {
			continue
		}
		seen[dir] = true
		dirs = append(dirs, dir)
		if len(dirs) > maxAlternates {
			return nil, fault.New(fault.RepositoryFailed, "more than %d alternate object folders", maxAlternates)
		}
		data, err := readSmallFile(filepath.Join(dir, "info", "alternates"), 1<<20)
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			return nil, cannotRead(err, "alternates of %q", dir)
		}
		for _, line := range strings.Split(string(data), "\n") {
			line = strings.TrimSuffix(line, "\r")
			if line == "" || line[0] == '#' {
				continue
			}
			if line[0] == '"' {
				if s, err := strconv.Unquote(line); err == nil {
					line = s
				}
			}
			if real, err := resolveFrom(dir, line); err == nil {
				queue = append(queue, real)
			}
		}
	}
	return dirs, nil
}

// loaded gives the known packs, nil before the first load.
func (s *objectStore) loaded() []*pack {
	if p := s.packs.Load(); p != nil {
		return *p
	}
	return nil
}

// refresh lists the pack folders and decodes the indexes not yet known. It says
// whether anything changed, so that a reader that lost a race with git gc or
// git fetch can look again.
func (s *objectStore) refresh() (changed bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := map[string]*pack{}
	for _, p := range s.loaded() {
		old[p.path] = p
	}
	now := []*pack{}
	for _, dir := range s.dirs {
		names, err := filepath.Glob(filepath.Join(escapeGlob(dir), "pack", "pack-*.idx"))
		if err != nil {
			return false, fault.New(fault.RepositoryFailed, "cannot list packs of %q: %w", dir, err)
		}
		for _, name := range names {
			path := strings.TrimSuffix(name, ".idx") + ".pack"
			if p := old[path]; p != nil {
				now = append(now, p)
				delete(old, path)
				continue
			}
			p, err := loadPack(path, name)
			if os.IsNotExist(err) {
				continue
			}
			if err != nil {
				return false, err
			}
			now = append(now, p)
			changed = true
		}
	}
	changed = changed || len(old) > 0 || s.packs.Load() == nil
	s.packs.Store(&now)
	return changed, nil
}

func escapeGlob(s string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(s)
}

// loadPack decodes a pack's index (version 2, checksummed).
func loadPack(path, idxPath string) (p *pack, err error) {
	defer func() {
		if r := recover(); r != nil {
			p, err = nil, fault.New(fault.ObjectCorrupt, "pack index %q is malformed", idxPath)
		}
	}()
	if _, err := os.Stat(path); err != nil {
		return nil, err
	}
	f, st, err := openGitFile(idxPath)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if st.Size() > maxPackIndexBytes { // the decoder takes as much memory
		return nil, fault.New(fault.RepositoryLimit, "pack index %q has %d bytes, more than %d", idxPath, st.Size(), int64(maxPackIndexBytes)).
			WithHint("git repack with --max-pack-size makes smaller packs")
	}
	idx := idxfile.NewMemoryIndex()
	if err := idxfile.NewDecoder(f).Decode(idx); err != nil {
		return nil, fault.New(fault.ObjectCorrupt, "pack index %q cannot be read: %w", idxPath, err).
			WithHint("git fsck says what is damaged")
	}
	return &pack{path: path, idx: idx}, nil
}

// locate finds an object in the known packs.
func (s *objectStore) locate(id plumbing.Hash) (p *pack, order int, offset int64) {
	for i, p := range s.loaded() {
		if off, err := p.idx.FindOffset(id); err == nil {
			return p, i, off
		}
	}
	return nil, 0, 0
}

// withPrefix lists the distinct objects whose hex id starts with prefix, at
// most max of them.
func (s *objectStore) withPrefix(prefix string, max int) ([]plumbing.Hash, error) {
	if _, err := s.refresh(); err != nil {
		return nil, err
	}
	seen := map[plumbing.Hash]bool{}
	whole, _ := hex.DecodeString(prefix[:len(prefix)&^1])
	for _, p := range s.loaded() {
		it, err := p.idx.Entries()
		if err != nil {
			return nil, fault.New(fault.ObjectCorrupt, "pack %q: %w", p.path, err)
		}
		for {
			e, err := it.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				return nil, fault.New(fault.ObjectCorrupt, "pack %q: %w", p.path, err)
			}
			if bytes.HasPrefix(e.Hash[:], whole) && strings.HasPrefix(e.Hash.String(), prefix) {
				seen[e.Hash] = true
			}
		}
	}
	for _, dir := range s.dirs {
		names, err := os.ReadDir(filepath.Join(dir, prefix[:2]))
		if err != nil {
			continue
		}
		for _, n := range names {
			name := prefix[:2] + n.Name()
			if plumbing.IsHash(name) && strings.HasPrefix(name, prefix) {
				seen[plumbing.NewHash(name)] = true
			}
		}
	}
	var ids []plumbing.Hash
	for id := range seen {
		if len(ids) < max {
			ids = append(ids, id)
		}
	}
	return ids, nil
}

// missing is the refusal for an object that is not there: never called corrupt,
// never fetched.
func (s *objectStore) missing(kind string, id string) error {
	e := fault.New(fault.ObjectMissing, "%s %s is not in this clone", kind, id)
	if s.partial {
		return e.WithHint("the clone is shallow or partial; fetch the object with git, nothing is fetched here")
	}
	return e.WithHint("git fsck says what else is missing; fetch it from another clone")
}

// errTooLarge is what a read returns for an object over the caller's limit.
type errTooLarge struct{ size int64 }

func (e errTooLarge) Error() string { return fmt.Sprintf("object of %d bytes", e.size) }

func corrupt(kind, id, how string) error {
	return fault.New(fault.ObjectCorrupt, "%s %s is corrupt: %s", kind, id, how).
		WithHint("git fsck says what else is damaged; fetch the object again from another clone")
}

// parseID reads a full lower- or upper-case SHA-1 id.
func parseID(s string) (plumbing.Hash, bool) {
	if len(s) != 40 {
		return plumbing.ZeroHash, false
	}
	raw, err := hex.DecodeString(s)
	if err != nil {
		return plumbing.ZeroHash, false
	}
	return plumbing.Hash(raw), true
}

// sameID compares a computed digest with an object id.
func sameID(sum []byte, id plumbing.Hash) bool { return bytes.Equal(sum, id[:]) }
