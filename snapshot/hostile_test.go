package snapshot

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// plantPack writes a pack and its index with these raw entries by object id.
func (r *testRepo) plantPack(entries map[string][]byte) {
	r.t.Helper()
	var ids []string
	for id := range entries {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	u32 := func(n int) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }
	pack := slices.Concat([]byte("PACK"), u32(2), u32(len(ids)))
	var fanout [256]int
	var names, crcs, offsets []byte
	for _, id := range ids {
		raw, _ := parseID(id)
		for i := int(raw[0]); i < 256; i++ {
			fanout[i]++
		}
		names = append(names, raw[:]...)
		crcs = binary.BigEndian.AppendUint32(crcs, crc32.ChecksumIEEE(entries[id]))
		offsets = append(offsets, u32(len(pack))...)
		pack = append(pack, entries[id]...)
	}
	sum := sha1.Sum(pack)
	idx := []byte("\xfftOc\x00\x00\x00\x02")
	for _, n := range fanout {
		idx = append(idx, u32(n)...)
	}
	idx = slices.Concat(idx, names, crcs, offsets, sum[:])
	idxSum := sha1.Sum(idx)
	base := fmt.Sprintf(".git/objects/pack/pack-%x", sum)
	r.write(base+".pack", string(pack)+string(sum[:]))
	r.write(base+".idx", string(idx)+string(idxSum[:]))
}

// packEntry is one raw pack entry: its type, an optional base, and content.
func packEntry(kind byte, base string, content []byte) []byte {
	n := len(content)
	head := []byte{kind<<4 | byte(n&15)}
	for n >>= 4; n > 0; n >>= 7 {
		head[len(head)-1] |= 0x80
		head = append(head, byte(n&0x7f))
	}
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	w.Write(content)
	w.Close()
	return slices.Concat(head, []byte(base), z.Bytes())
}

// A pack made to crash: deltas in a circle, a base at the delta's own place, a
// base that is nowhere, a delta that grows without end.
func TestHostilePack(t *testing.T) {
	id := func(c string) string { return strings.Repeat(c, 40) }
	raw := func(c string) string { h, _ := parseID(id(c)); return string(h[:]) }
	delta := []byte{4, 4, 4, 'a', 'b', 'c', 'd'} // insert four bytes
	r := newRepo(t)
	r.write("a.py", "a\n")
	r.commit("one")
	r.plantPack(map[string][]byte{
		id("a"): packEntry(7, raw("b"), delta),
		id("b"): packEntry(7, raw("a"), delta),
		id("c"): packEntry(7, raw("c"), delta),
		id("d"): packEntry(6, "\x00", delta),
		id("e"): packEntry(7, raw("9"), delta),
		id("f"): packEntry(5, "", []byte("x")),
		id("1"): packEntry(3, "", []byte("base")),
		id("2"): packEntry(7, raw("1"), append([]byte{4, 0xff, 0xff, 0xff, 0xff, 0x7f}, bytes.Repeat([]byte{0x90, 4}, 100)...)),
		id("3"): packEntry(7, raw("1"), []byte{4}),
		id("4"): packEntry(7, raw("1"), []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}),
	})
	repo := open(t, r.dir)
	for _, c := range []string{"a", "b", "c", "d", "e", "f", "1", "3", "4"} {
		_, err := repo.Blob(t.Context(), id(c))
		refused(t, err, fault.ObjectCorrupt, id(c))
	}
	_, err := repo.Blob(t.Context(), id("2"))
	refused(t, err, fault.RepositoryLimit, id("2"))
	// The good objects beside them are still read.
	scanCommit(t, repo, "HEAD", Options{})
}

// A loose object whose header promises what it does not hold.
func TestHostileLooseObject(t *testing.T) {
	r := newRepo(t)
	id := strings.Repeat("a", 40)
	for _, body := range []string{"", "blob", "blob 5\x00abc", "blob 2\x00abc", "blob 99999999999999999999\x00a", "blob -1\x00", "evil 1\x00a", "blob 3\x00abc"} {
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write([]byte(body))
		w.Close()
		r.write(".git/objects/aa/"+id[2:], z.String())
		_, err := open(t, r.dir).Blob(t.Context(), id)
		refused(t, err, fault.ObjectCorrupt, id)
	}
	r.write(".git/objects/aa/"+id[2:], "not zlib at all")
	_, err := open(t, r.dir).Blob(t.Context(), id)
	refused(t, err, fault.ObjectCorrupt, id)
	if err := os.Remove(r.path(".git/objects/aa/" + id[2:])); err != nil {
		t.Fatal(err)
	}
	_, err = open(t, r.dir).Blob(t.Context(), id)
	refused(t, err, fault.ObjectMissing, id)
}

// A damaged pack index is an error that names it, not an absent object.
func TestDamagedPackIndex(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a\n")
	r.commit("one")
	r.git("gc", "-q")
	file := strings.TrimSuffix(firstPack(t, r), ".pack") + ".idx"
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, bad := range [][]byte{raw[:len(raw)/2], append([]byte("x"), raw[1:]...), append(slices.Clone(raw[:len(raw)-1]), raw[len(raw)-1]^1)} {
		if err := os.WriteFile(file, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := open(t, r.dir).Resolve(t.Context(), "HEAD")
		refused(t, err, fault.ObjectCorrupt, "pack index")
	}
}

// A sparse file of a terabyte is refused before anything of its size is made.
func TestHugeFilesBelowGit(t *testing.T) {
	for name, code := range map[string]fault.Code{"HEAD": fault.RepositoryFailed, "config": fault.RepositoryFailed, "index": fault.RepositoryFailed,
		"info/attributes": "", "packed-refs": fault.RepositoryFailed, "objects/pack/pack-0.idx": fault.RepositoryLimit} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.py", "a = 1\n")
			r.commit("one")
			r.git("branch", "topic")
			if name == "packed-refs" || strings.HasSuffix(name, ".idx") {
				r.git("gc", "-q")
			}
			if strings.HasSuffix(name, ".idx") {
				name = strings.TrimSuffix(firstPack(t, r)[len(r.dir)+len("/.git/"):], ".pack") + ".idx"
			}
			file := r.path(".git/" + name)
			os.Chmod(file, 0o644)
			r.write(".git/"+name, "")
			if err := os.Truncate(file, 1<<40); err != nil {
				t.Skip(err)
			}
			err := useAll(t, r.dir, "HEAD")
			if code != "" {
				refused(t, err, code, name[strings.LastIndexByte(name, '/')+1:])
			} else if err != nil {
				t.Error(err)
			}
		})
	}
}
