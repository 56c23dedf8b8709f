package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-git/go-git/v5/plumbing"
	"github.com/go-git/go-git/v5/plumbing/cache"
	"github.com/go-git/go-git/v5/plumbing/format/objfile"
	"github.com/go-git/go-git/v5/plumbing/format/packfile"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

const (
	// deltaCacheBytes is each reader's cache of delta bases: measured faster and
	// four times leaner than go-git's default of 96 MiB.
	deltaCacheBytes = 4 << 20
	// maxDeltaDepth bounds a delta chain; Git writes 50, and at most 4095.
	maxDeltaDepth = 4096
	// maxOpenPacks bounds the pack files one reader keeps open.
	maxOpenPacks = 32
)

// objectReader reads objects for one goroutine. Every object it returns has
// been hashed again.
type objectReader struct {
	store *objectStore
	cache *cache.ObjectLRU
	open  map[*pack]*openPack
}

type openPack struct {
	file *os.File
	pf   *packfile.Packfile
	// sound holds the offsets whose delta chain is known to end. go-git follows
	// a chain by recursion, so a cycle would exhaust the stack.
	sound map[int64]struct{}
}

func newObjectReader(s *objectStore) *objectReader {
	return &objectReader{store: s, cache: cache.NewObjectLRU(deltaCacheBytes), open: map[*pack]*openPack{}}
}

func (r *objectReader) close() {
	for p, o := range r.open {
		o.file.Close()
		delete(r.open, p)
	}
}

// read gives an object's type and content, in buf when it fits. An object over
// limit bytes gives errTooLarge; absent ones fault.ObjectMissing; one whose bytes
// do not hash to id fault.ObjectCorrupt. kind ("blob", "tree", ...) is what
// the caller expects, "" for any.
func (r *objectReader) read(id plumbing.Hash, kind string, limit int64, buf []byte) (plumbing.ObjectType, []byte, error) {
	name := kind
	if name == "" {
		name = "object"
	}
	t, data, err := r.find(id, limit, buf)
	var large errTooLarge
	switch {
	case err == nil:
	case errors.As(err, &large):
		return t, nil, err
	case errors.Is(err, errAbsent):
		return t, nil, r.store.missing(name, id.String())
	case fault.CodeOf(err) != "":
		return t, nil, err
	case errors.Is(err, fs.ErrPermission):
		return t, nil, fault.New(fault.RepositoryFailed, "%s %s cannot be read: %w", name, id, err)
	default:
		return t, nil, corrupt(name, id.String(), err.Error())
	}
	if !sameID(hashObject(SHA1, t.String(), data), id) {
		return t, nil, corrupt(name, id.String(), "its bytes do not hash to its name")
	}
	if kind != "" && t.String() != kind {
		return t, nil, corrupt(name, id.String(), "it is a "+t.String())
	}
	return t, data, nil
}

// errAbsent: neither a pack nor a loose file holds the object.
var errAbsent = errors.New("absent")

// find looks in the known packs, then among loose objects, then again after
// looking for new packs: the order that suits a packed repository, and one that
// reads no pack index at all for a loose object.
func (r *objectReader) find(id plumbing.Hash, limit int64, buf []byte) (plumbing.ObjectType, []byte, error) {
	for attempt := 0; ; attempt++ {
		if p, _, off := r.store.locate(id); p != nil {
			t, data, err := r.fromPack(p, off, limit, buf)
			if !errors.Is(err, fs.ErrNotExist) {
				return t, data, err
			}
		}
		t, data, err := r.fromLoose(id, limit, buf)
		if !errors.Is(err, errAbsent) {
			return t, data, err
		}
		if attempt == 2 {
			return t, nil, errAbsent
		}
		changed, err := r.store.refresh()
		if err != nil {
			return t, nil, err
		}
		if !changed {
			return t, nil, errAbsent
		}
	}
}

func (r *objectReader) fromLoose(id plumbing.Hash, limit int64, buf []byte) (plumbing.ObjectType, []byte, error) {
	name := id.String()
	for _, dir := range r.store.dirs {
		f, _, err := openGitFile(filepath.Join(dir, name[:2], name[2:]))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return plumbing.InvalidObject, nil, err
		}
		t, data, err := readLoose(f, limit, buf)
		f.Close()
		return t, data, err
	}
	return plumbing.InvalidObject, nil, errAbsent
}

func readLoose(f *os.File, limit int64, buf []byte) (t plumbing.ObjectType, data []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("loose object: %v", p)
		}
	}()
	z, err := objfile.NewReader(f)
	if err != nil {
		return t, nil, err
	}
	defer z.Close()
	t, size, err := z.Header()
	if err != nil {
		return t, nil, err
	}
	if size < 0 {
		return t, nil, errors.New("negative size")
	}
	if size > limit {
		return t, nil, errTooLarge{size}
	}
	data, err = readSized(z, size, buf)
	return t, data, err
}

// readSized reads exactly size bytes and refuses a stream that holds more.
func readSized(r io.Reader, size int64, buf []byte) ([]byte, error) {
	if int64(cap(buf)) < size {
		buf = make([]byte, size)
	}
	buf = buf[:size]
	if _, err := io.ReadFull(r, buf); err != nil {
		return nil, fmt.Errorf("shorter than its header says: %w", err)
	}
	var one [1]byte
	if n, _ := r.Read(one[:]); n > 0 {
		return nil, errors.New("longer than its header says")
	}
	return buf, nil
}

func (r *objectReader) fromPack(p *pack, off, limit int64, buf []byte) (t plumbing.ObjectType, data []byte, err error) {
	defer func() {
		if v := recover(); v != nil {
			r.forget(p)
			err = fmt.Errorf("pack entry: %v", v)
		}
	}()
	o, err := r.openPack(p)
	if err != nil {
		return t, nil, err
	}
	size, err := o.check(p, off)
	if err != nil {
		return t, nil, err
	}
	if size > limit {
		return t, nil, errTooLarge{size}
	}
	obj, err := o.pf.GetByOffset(off)
	if err != nil {
		r.forget(p)
		if errors.Is(err, fs.ErrNotExist) {
			err = errors.New(err.Error()) // a broken entry, not an absent pack
		}
		return t, nil, err
	}
	rd, err := obj.Reader()
	if err != nil {
		return t, nil, err
	}
	defer rd.Close()
	data, err = readSized(rd, obj.Size(), buf)
	return obj.Type(), data, err
}

// openPack opens a pack's file on first use.
func (r *objectReader) openPack(p *pack) (*openPack, error) {
	if o := r.open[p]; o != nil {
		return o, nil
	}
	if len(r.open) >= maxOpenPacks {
		r.close()
	}
	f, _, err := openGitFile(p.path)
	if err != nil {
		return nil, err
	}
	// No filesystem: go-git then reads every object into memory instead of
	// opening the pack again for each object over 16 KiB.
	o := &openPack{file: f, sound: map[int64]struct{}{},
		pf: packfile.NewPackfileWithCache(p.idx, nil, readOnlyFile{f}, r.cache, 0)}
	r.open[p] = o
	return o, nil
}

// forget closes a pack after an error: go-git's scanner may be left anywhere.
func (r *objectReader) forget(p *pack) {
	if o := r.open[p]; o != nil {
		o.file.Close()
		delete(r.open, p)
	}
}

// check walks the headers of an entry's delta chain, refuses one that does not
// end, and gives the object's own size in bytes. An object that is not a delta
// is sized by its header alone.
func (o *openPack) check(p *pack, off int64) (size int64, err error) {
	first, err := readPackHeader(o.file, off)
	if err != nil {
		return 0, err
	}
	var chain []int64
	for at, h := off, first; h.delta; {
		if _, ok := o.sound[at]; ok {
			break
		}
		if chain = append(chain, at); len(chain) > maxDeltaDepth {
			return 0, errors.New("its delta chain does not end")
		}
		if h.byID {
			if at, err = p.idx.FindOffset(h.base); err != nil {
				return 0, errors.New("its delta base is not in the pack")
			}
		} else {
			at = h.baseOffset
		}
		if h, err = readPackHeader(o.file, at); err != nil {
			return 0, err
		}
	}
	for _, at := range chain {
		o.sound[at] = struct{}{}
	}
	if !first.delta {
		return first.size, nil
	}
	return o.pf.GetSizeByOffset(off)
}

// packHeader is the head of one pack entry (gitformat-pack(5)).
type packHeader struct {
	delta      bool
	size       int64 // inflated size of what follows: the object, or the delta
	byID       bool
	base       plumbing.Hash
	baseOffset int64
}

func readPackHeader(f io.ReaderAt, off int64) (packHeader, error) {
	var h packHeader
	var raw [48]byte
	n, err := f.ReadAt(raw[:], off)
	if err != nil && !errors.Is(err, io.EOF) {
		return h, err
	}
	b, i := raw[:n], 0
	bad := errors.New("malformed pack entry header")
	if len(b) == 0 {
		return h, bad
	}
	kind := b[0] >> 4 & 7
	h.size = int64(b[0] & 15)
	for shift := uint(4); b[i]&0x80 != 0; shift += 7 {
		if i++; i >= len(b) || shift > 56 {
			return h, bad
		}
		h.size |= int64(b[i]&0x7f) << shift
	}
	i++
	switch kind {
	case 1, 2, 3, 4:
		return h, nil
	case 7:
		if i+20 > len(b) {
			return h, bad
		}
		h.delta, h.byID, h.base = true, true, plumbing.Hash(b[i:i+20])
		return h, nil
	case 6:
		if i >= len(b) {
			return h, bad
		}
		back := int64(b[i] & 0x7f)
		for start := i; b[i]&0x80 != 0; {
			if i++; i >= len(b) || i-start > 8 {
				return h, bad
			}
			back = (back+1)<<7 | int64(b[i]&0x7f)
		}
		if back <= 0 || back >= off {
			return h, bad
		}
		h.delta, h.baseOffset = true, off-back
		return h, nil
	}
	return h, bad
}

// readOnlyFile makes an *os.File the file that go-git's packfile asks for, and
// refuses to write.
type readOnlyFile struct{ *os.File }

func (readOnlyFile) Write([]byte) (int, error)          { return 0, fs.ErrPermission }
func (readOnlyFile) WriteAt([]byte, int64) (int, error) { return 0, fs.ErrPermission }
func (readOnlyFile) Truncate(int64) error               { return fs.ErrPermission }
func (readOnlyFile) Lock() error                        { return nil }
func (readOnlyFile) Unlock() error                      { return nil }
