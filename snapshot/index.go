package snapshot

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// maxIndexBytes bounds the index file.
const maxIndexBytes = 1 << 30

// indexEntry is one entry of Git's index. Times, sizes and inodes are not kept:
// they prove nothing.
type indexEntry struct {
	path         string
	mode         uint32
	id           plumbing.Hash
	stage        int // 0, or 1 to 3 in a conflict
	assumeValid  bool
	skipWorktree bool
	intentToAdd  bool
}

// index is a decoded index, its entries sorted by path and stage. A split index
// is joined with its shared part, a sparse one expanded to its files.
type index struct {
	version uint32
	entries []indexEntry
}

// find gives the positions [lo, hi) of the entries of one path.
func (x *index) find(path string) (lo, hi int) {
	lo, _ = slices.BinarySearchFunc(x.entries, path, func(e indexEntry, p string) int { return strings.Compare(e.path, p) })
	for hi = lo; hi < len(x.entries) && x.entries[hi].path == path; hi++ {
	}
	return lo, hi
}

// Tracked says whether the index holds a path, at any stage. It is false for
// every path of a bare repository.
func (r *Repository) Tracked(path string) (bool, error) {
	if err := checkPath(path); err != nil {
		return false, err
	}
	if r.root == "" {
		return false, nil
	}
	x, err := r.readIndex(context.Background())
	if err != nil {
		return false, err
	}
	lo, hi := x.find(path)
	return hi > lo, nil
}

// readIndex reads the index file, and decodes it unless its bytes are those
// decoded last. An absent file is an empty index.
func (r *Repository) readIndex(ctx context.Context) (*index, error) {
	r.indexMu.Lock()
	defer r.indexMu.Unlock()
	raw, err := readSmallFile(filepath.Join(r.gitDir, "index"), maxIndexBytes)
	if os.IsNotExist(err) {
		return &index{}, nil
	}
	if err != nil {
		return nil, cannotRead(err, "the index")
	}
	if r.index != nil && bytes.Equal(raw, r.indexRaw) {
		return r.index, nil
	}
	x, err := decodeIndex(raw, func(name string) ([]byte, error) {
		return readSmallFile(filepath.Join(r.gitDir, name), maxIndexBytes)
	})
	if err != nil {
		return nil, fault.New(fault.RepositoryFailed, "the index of %q cannot be read: %w", r.gitDir, err).
			WithHint("git update-index --no-split-index or git reset rewrites it")
	}
	if err := r.expandSparse(ctx, x); err != nil {
		return nil, err
	}
	if err := x.check(); err != nil {
		return nil, err
	}
	r.index, r.indexRaw = x, raw
	return x, nil
}

// expandSparse replaces the folders of a sparse index by their files, which are
// all outside the sparse checkout.
func (r *Repository) expandSparse(ctx context.Context, x *index) error {
	if !slices.ContainsFunc(x.entries, func(e indexEntry) bool { return e.mode == modeTree }) {
		return nil
	}
	rd := r.reader()
	defer r.release(rd)
	var out []indexEntry
	w := &treeWalk{rd: rd, limit: maxManifest} // one bound for all of them
	for _, e := range x.entries {
		if e.mode != modeTree {
			out = append(out, e)
			continue
		}
		from := len(w.found)
		if err := w.walk(ctx, e.id, strings.TrimSuffix(e.path, "/")+"/", 0); err != nil {
			return err
		}
		for _, f := range w.found[from:] {
			id, _ := parseID(f.Blob)
			out = append(out, indexEntry{path: f.Path, mode: f.Mode, id: id, skipWorktree: true})
		}
	}
	x.entries = out
	return nil
}

// check sorts the entries and refuses paths that Git forbids and duplicates.
func (x *index) check() error {
	slices.SortFunc(x.entries, func(a, b indexEntry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.stage, b.stage))
	})
	for i, e := range x.entries {
		if checkPath(e.path) != nil {
			return fault.New(fault.ObjectCorrupt, "the index holds the entry %q, which Git forbids", clip(e.path)).
				WithHint("git reset rewrites the index")
		}
		if i > 0 && x.entries[i-1].path == e.path && x.entries[i-1].stage == e.stage {
			return fault.New(fault.ObjectCorrupt, "the index holds the entry %q twice", clip(e.path)).
				WithHint("git reset rewrites the index")
		}
	}
	return nil
}

// decodeIndex decodes an index file of version 2 to 4 (gitformat-index(5)).
// shared reads the base of a split index by file name.
func decodeIndex(raw []byte, shared func(name string) ([]byte, error)) (*index, error) {
	x, link, err := decodeIndexFile(raw)
	if err != nil || link == nil {
		return x, err
	}
	name := "sharedindex." + hex.EncodeToString(link.base[:])
	data, err := shared(name)
	if err != nil {
		return nil, fmt.Errorf("its shared part %s: %w", name, err)
	}
	base, inner, err := decodeIndexFile(data)
	if err != nil {
		return nil, fmt.Errorf("its shared part %s: %w", name, err)
	}
	if inner != nil {
		return nil, fmt.Errorf("its shared part %s is split itself", name)
	}
	return x, x.join(base, link)
}

// splitLink is the "link" extension of a split index.
type splitLink struct {
	base            plumbing.Hash
	deleted, change []int // positions in the base
}

// join lays a split index over its base: deleted positions go, changed ones are
// replaced in order by the first entries (which have no name of their own), and
// the other entries are added.
func (x *index) join(base *index, link *splitLink) error {
	for k, at := range link.change {
		if at >= len(base.entries) || k >= len(x.entries) || x.entries[k].path != "" {
			return errors.New("its replacements do not fit its shared part")
		}
		e := x.entries[k]
		e.path = base.entries[at].path
		base.entries[at] = e
	}
	added := x.entries[len(link.change):]
	gone := map[int]bool{}
	for _, at := range link.deleted {
		gone[at] = true
	}
	out := make([]indexEntry, 0, len(base.entries)+len(added))
	for i, e := range base.entries {
		if !gone[i] {
			out = append(out, e)
		}
	}
	x.entries = append(out, added...)
	return nil
}

var errIndexShort = errors.New("it is cut short")

func decodeIndexFile(raw []byte) (*index, *splitLink, error) {
	if len(raw) < 12+sha1.Size || string(raw[:4]) != "DIRC" {
		return nil, nil, errors.New("it is not an index file")
	}
	body, sum := raw[:len(raw)-sha1.Size], raw[len(raw)-sha1.Size:]
	// index.skipHash writes zeros in place of the checksum.
	if got := sha1.Sum(body); !bytes.Equal(got[:], sum) && !bytes.Equal(sum, make([]byte, sha1.Size)) {
		return nil, nil, errors.New("its checksum is wrong")
	}
	x := &index{version: binary.BigEndian.Uint32(raw[4:])}
	if x.version < 2 || x.version > 4 {
		return nil, nil, fmt.Errorf("its version %d is not supported", x.version)
	}
	count := int64(binary.BigEndian.Uint32(raw[8:]))
	if count > int64(len(body))/62 {
		return nil, nil, errIndexShort
	}
	x.entries = make([]indexEntry, 0, count)
	pos, previous := 12, ""
	for range count {
		e, n, err := decodeIndexEntry(body[pos:], x.version, previous)
		if err != nil {
			return nil, nil, err
		}
		x.entries = append(x.entries, e)
		pos, previous = pos+n, e.path
	}
	link, err := decodeExtensions(body[pos:])
	return x, link, err
}

// decodeIndexEntry decodes the entry at the start of b and gives its length.
func decodeIndexEntry(b []byte, version uint32, previous string) (e indexEntry, n int, err error) {
	if len(b) < 62 {
		return e, 0, errIndexShort
	}
	e.mode = binary.BigEndian.Uint32(b[24:])
	if m := canonicalMode(e.mode); m != 0 {
		e.mode = m
	}
	e.id = plumbing.Hash(b[40:60])
	flags := binary.BigEndian.Uint16(b[60:])
	e.assumeValid = flags&0x8000 != 0
	e.stage = int(flags >> 12 & 3)
	n = 62
	if flags&0x4000 != 0 {
		if version < 3 || len(b) < 64 {
			return e, 0, errors.New("an entry has flags that its version does not know")
		}
		more := binary.BigEndian.Uint16(b[62:])
		e.skipWorktree, e.intentToAdd = more&0x4000 != 0, more&0x2000 != 0
		n = 64
	}
	prefix := ""
	if version == 4 {
		strip, used, ok := indexVarint(b[n:])
		if !ok || strip > uint64(len(previous)) {
			return e, 0, errors.New("an entry's name is malformed")
		}
		prefix = previous[:len(previous)-int(strip)]
		n += used
	}
	end := bytes.IndexByte(b[n:], 0)
	if end < 0 {
		return e, 0, errIndexShort
	}
	e.path = prefix + string(b[n:n+end])
	n += end + 1
	if version < 4 {
		n = (n + 7) &^ 7 // one to eight NULs
	}
	if n > len(b) {
		return e, 0, errIndexShort
	}
	return e, n, nil
}

// indexVarint reads the offset encoding of version 4 names (as in pack files).
func indexVarint(b []byte) (v uint64, n int, ok bool) {
	for i, c := range b {
		if i > 8 {
			break
		}
		v |= uint64(c & 0x7f)
		if c&0x80 == 0 {
			return v, i + 1, true
		}
		v = (v + 1) << 7
	}
	return 0, 0, false
}

// decodeExtensions looks for "link". "sdir" only announces entries that are
// folders. Other names in lower case are mandatory and refused by name.
func decodeExtensions(b []byte) (*splitLink, error) {
	var link *splitLink
	for len(b) > 0 {
		if len(b) < 8 {
			return nil, errIndexShort
		}
		name, size := string(b[:4]), int64(binary.BigEndian.Uint32(b[4:]))
		if size > int64(len(b)-8) {
			return nil, errIndexShort
		}
		data := b[8 : 8+size]
		b = b[8+size:]
		switch {
		case name == "link":
			var err error
			if link, err = decodeLink(data); err != nil {
				return nil, err
			}
		case name == "sdir", name[0] >= 'A' && name[0] <= 'Z':
		default:
			return nil, fmt.Errorf("its extension %q is not supported", name)
		}
	}
	return link, nil
}

func decodeLink(b []byte) (*splitLink, error) {
	if len(b) < 20 {
		return nil, errIndexShort
	}
	l := &splitLink{base: plumbing.Hash(b[:20])}
	b = b[20:]
	if l.base.IsZero() {
		return nil, nil // split indexing is on, but nothing is shared yet
	}
	if len(b) == 0 {
		return l, nil
	}
	var err error
	if l.deleted, b, err = decodeEWAH(b); err != nil {
		return nil, err
	}
	l.change, _, err = decodeEWAH(b)
	return l, err
}

// decodeEWAH decodes a compressed bitmap (gitformat-bitmap, "EWAH"): the number
// of bits, the number of 64-bit words, the words, and the place of the last
// marker. A marker holds a bit, how many words it fills, and how many literal
// words follow. It gives the set positions and the rest of b.
func decodeEWAH(b []byte) (set []int, rest []byte, err error) {
	if len(b) < 12 {
		return nil, nil, errIndexShort
	}
	bits, words := uint64(binary.BigEndian.Uint32(b)), int64(binary.BigEndian.Uint32(b[4:]))
	if words*8 > int64(len(b)-12) {
		return nil, nil, errIndexShort
	}
	data, rest := b[8:8+words*8], b[8+words*8+4:]
	// A bitmap's size is that of an index in memory; its run lengths are not.
	if bits > maxIndexBytes/62 {
		return nil, nil, errors.New("a bitmap is too large")
	}
	bit := uint64(0)
	for len(data) > 0 {
		marker := binary.BigEndian.Uint64(data)
		data = data[8:]
		run, literals := marker>>1&0xffffffff, marker>>33
		if run*64 > bits-min(bit, bits)+63 || literals*8 > uint64(len(data)) {
			return nil, nil, errors.New("a bitmap is malformed")
		}
		for end := bit + run*64; bit < end; bit++ {
			if marker&1 != 0 && bit < bits {
				set = append(set, int(bit))
			}
		}
		for ; literals > 0; literals-- {
			w := binary.BigEndian.Uint64(data)
			data = data[8:]
			for i := range uint64(64) {
				if w>>i&1 != 0 && bit+i < bits {
					set = append(set, int(bit+i))
				}
			}
			bit += 64
		}
	}
	return set, rest, nil
}
