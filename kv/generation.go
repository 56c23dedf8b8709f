package kv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"sync"
	"time"

	"go.etcd.io/bbolt"
	"golang.org/x/sync/errgroup"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// manifestFile is generation.json: the identity of a generation and the digest
// of each of its files.
type manifestFile struct {
	Layout             int          `json:"layout"`
	Schema             int          `json:"schema"`
	Fingerprint        string       `json:"fingerprint"`
	ContentFingerprint string       `json:"content_fingerprint"`
	Files              []fileDigest `json:"files"` // boundFiles, sorted
}

// Generation is one published index, verified and pinned. It is safe for
// concurrent use and must be closed.
type Generation struct {
	dir   string
	meta  Meta
	t     *tables
	files uint32 // entries of the manifest

	db             *bbolt.DB
	tx             *bbolt.Tx                // the one read transaction, as long as the generation is open
	buckets        map[string]*bbolt.Bucket // every bucket of tx
	sources, packs *os.File                 // sources.pack, facts.pack
	sourcesSize    int64
	factsSize      int64
	unpacker       *unpacker
	lease          *os.File

	mu      sync.Mutex
	paths   map[uint32]string      // of entries that were read
	records map[uint32]*fileRecord // bounded by maxRecords
	broken  error                  // first damage met by a method that cannot return it
	text    textState
}

// maxRecords bounds the decoded manifest entries that are kept.
const maxRecords = 8192

// integrity says that a file of a generation is not what was published.
func integrity(name string, why error) error {
	f := fault.New(fault.IndexIntegrity, "index is damaged: %s: %w", name, why)
	if path, found := obstacle(why); found {
		return f.WithHint("remove %q, which is in the way, and run `exhibit index`", path)
	}
	return f.WithHint("run `exhibit index` to build it again")
}

var errDigest = errors.New("size or SHA-256 is not that of the published file")

// openGeneration verifies and opens the generation in dir. digest is the hex
// SHA-256 that generation.json must have. The caller fills in the rest of meta.
func openGeneration(ctx context.Context, dir, digest string) (g *Generation, err error) {
	m, err := readManifestFile(dir, digest)
	if err != nil {
		return nil, err
	}
	if m.Layout != Layout || m.Schema != Schema {
		return nil, otherVersion(fmt.Sprintf("layout %d, schema %d", m.Layout, m.Schema))
	}
	g = &Generation{dir: dir, paths: map[uint32]string{}, records: map[uint32]*fileRecord{}}
	defer func() {
		if err != nil {
			g.Close()
			g = nil
		}
	}()
	opened, err := openVerified(ctx, dir, m.Files)
	if err != nil {
		return g, err
	}
	var graphDB *os.File
	for i, f := range m.Files {
		g.meta.Bytes += f.Size
		switch f.Name {
		case graphFile:
			graphDB = opened[i]
		case sourcesFile:
			g.sources, g.sourcesSize = opened[i], f.Size
		case factsFile:
			g.packs, g.factsSize = opened[i], f.Size
		}
	}
	if g.unpacker, err = newUnpacker(); err != nil {
		graphDB.Close()
		return g, err
	}
	if err := g.openGraph(graphDB); err != nil {
		return g, integrity(graphFile, err)
	}
	if g.meta.ContentFingerprint != m.ContentFingerprint {
		return g, integrity(generationFile, errors.New("it names another generation than graph.db"))
	}
	g.meta.Fingerprint = m.Fingerprint
	return g, nil
}

// readManifestFile reads generation.json and checks it against the pointer.
func readManifestFile(dir, digest string) (*manifestFile, error) {
	b, err := readSmall(filepath.Join(dir, generationFile))
	if err != nil {
		return nil, integrity(generationFile, err)
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != digest {
		return nil, integrity(generationFile, errDigest)
	}
	m := &manifestFile{}
	if err := strictJSON(b, m); err != nil {
		return nil, integrity(generationFile, err)
	}
	for i, name := range boundFiles {
		if len(m.Files) != len(boundFiles) || m.Files[i].Name != name {
			return nil, integrity(generationFile, errMalformed)
		}
	}
	return m, nil
}

// otherVersion says that an index cannot be served by this build of Exhibit.
func otherVersion(what string) error {
	return fault.New(fault.IndexMissing, "the index was made by another version or configuration of exhibit (%s)", what).
		WithHint("run `exhibit index`")
}

// openVerified opens files and checks the size and digest of each, in parallel.
// The very files that were checked are given back.
func openVerified(ctx context.Context, dir string, files []fileDigest) ([]*os.File, error) {
	opened := make([]*os.File, len(files))
	group, ctx := errgroup.WithContext(ctx)
	for i, want := range files {
		group.Go(func() error {
			f, err := openRegular(filepath.Join(dir, want.Name))
			if err != nil {
				return integrity(want.Name, err)
			}
			opened[i] = f
			info, err := f.Stat()
			if err != nil || info.Size() != want.Size {
				return integrity(want.Name, errDigest)
			}
			got, err := hashFile(ctx, f, want.Name)
			if err != nil {
				return storage("read "+want.Name, err)
			}
			if got != want {
				return integrity(want.Name, errDigest)
			}
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		for _, f := range opened {
			if f != nil {
				f.Close()
			}
		}
		return nil, err
	}
	return opened, nil
}

// graphBuckets are all buckets of graph.db.
var graphBuckets = [][]byte{bucketMeta, bucketFiles, bucketNodes, bucketAdjacency, bucketNames, bucketQualified, bucketMentions, bucketSources, bucketFacts}

// openGraph maps the verified graph.db and reads its metadata. It owns f.
//
// One read transaction stays open: bbolt reads mapped bytes under its locks
// when one begins, and a fault there would leave them locked for ever. With all
// buckets found once, reading one changes nothing in it and may be concurrent.
func (g *Generation) openGraph(f *os.File) (err error) {
	defer func() {
		if err != nil && g.tx == nil {
			g.db = nil // it may be locked for ever: rather leak it than hang
		}
	}()
	defer recoverDamage(&err)
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	taken := false
	g.db, err = bbolt.Open(f.Name(), 0o600, &bbolt.Options{ReadOnly: true, Timeout: time.Second,
		OpenFile: func(string, int, os.FileMode) (*os.File, error) { taken = true; return f, nil }})
	if err != nil {
		if !taken {
			f.Close()
		}
		return err
	}
	if g.tx, err = g.db.Begin(false); err != nil {
		return err
	}
	g.buckets = map[string]*bbolt.Bucket{}
	for _, name := range graphBuckets {
		b := g.tx.Bucket(name)
		if b == nil {
			return fmt.Errorf("%w: no bucket %s", errMalformed, name)
		}
		g.buckets[string(name)] = b
	}
	return g.readMeta(g.buckets[string(bucketMeta)])
}

func (g *Generation) readMeta(b *bbolt.Bucket) error {
	if err := strictJSON(b.Get(keyContents), &g.meta.Contents); err != nil {
		return err
	}
	d := &decoder{b: b.Get(keyCounts)}
	g.files = d.u32()
	g.t = &tables{nodes: d.u32()}
	if err := d.err(); err != nil {
		return err
	}
	d = &decoder{b: b.Get(keyWords)}
	for i, n := 0, d.count(1); i < n && !d.bad; i++ {
		g.t.words = append(g.t.words, d.str())
	}
	return d.err()
}

// recoverDamage turns a panic of bbolt, or a fault while reading mapped bytes,
// into an error. The digest was right when the file was opened: this is for a
// file that is damaged while it is open.
func recoverDamage(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("%w: %v", errMalformed, r)
	}
}

// view reads graph.db. It is a pathTable.
type view struct {
	g *Generation
	*tables
}

// view runs read over graph.db; damage is fault.IndexIntegrity.
func (g *Generation) view(read func(*view) error) error {
	if g.db == nil {
		return errors.New("kv: generation is closed")
	}
	err := func() (err error) {
		defer recoverDamage(&err)
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		v := &view{g: g}
		v.tables = &tables{words: g.t.words, nodes: g.t.nodes, paths: v}
		return read(v)
	}()
	if errors.Is(err, errMalformed) {
		return integrity(graphFile, err)
	}
	return err
}

func (v *view) get(bucket, key []byte) []byte { return v.g.buckets[string(bucket)].Get(key) }

// path gives the path of entry i of the manifest.
func (v *view) path(i uint32) (string, bool) {
	v.g.mu.Lock()
	p, ok := v.g.paths[i]
	v.g.mu.Unlock()
	if ok {
		return p, true
	}
	d := &decoder{b: v.get(bucketFiles, idKey(i))}
	if p = d.str(); d.bad {
		return "", false
	}
	v.g.mu.Lock()
	v.g.paths[i] = p
	v.g.mu.Unlock()
	return p, true
}

// lowerBound gives the first entry whose path is not below path.
func (v *view) lowerBound(path string) (uint32, error) {
	lo, hi := uint32(0), v.g.files
	for lo < hi {
		mid := lo + (hi-lo)/2
		p, ok := v.path(mid)
		if !ok {
			return 0, errMalformed
		}
		if p < path {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo, nil
}

func (v *view) find(path string) (uint32, bool) {
	i, err := v.lowerBound(path)
	if err != nil || i >= v.g.files {
		return 0, false
	}
	p, _ := v.path(i)
	return i, p == path
}

// record gives entry i of the manifest.
func (v *view) record(i uint32) (*fileRecord, error) {
	v.g.mu.Lock()
	r := v.g.records[i]
	v.g.mu.Unlock()
	if r != nil {
		return r, nil
	}
	f, err := v.decodeFile(v.get(bucketFiles, idKey(i)))
	if err != nil {
		return nil, err
	}
	v.g.mu.Lock()
	if len(v.g.records) >= maxRecords {
		clear(v.g.records)
	}
	v.g.records[i] = &f
	v.g.mu.Unlock()
	return &f, nil
}

// file gives the record of a path, or nil when the manifest has no such path.
func (g *Generation) file(path string) (r *fileRecord, err error) {
	err = g.view(func(v *view) error {
		i, err := v.lowerBound(path)
		if err != nil || i >= g.files {
			return err
		}
		f, err := v.record(i)
		if err == nil && f.entry.Path == path {
			r = f
		}
		return err
	})
	return r, err
}

// fail keeps the first damage that a method could not return, so that the next
// one that can does.
func (g *Generation) fail(err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.broken == nil {
		g.broken = err
	}
}

// Err gives the damage met by Entry, Entries or FileStatus, which cannot return it.
func (g *Generation) Err() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.broken
}

// Meta describes the generation.
func (g *Generation) Meta() Meta { return g.meta }

// Close gives the lease back. No method may be called afterwards.
func (g *Generation) Close() error {
	var errs []error
	g.mu.Lock()
	if g.text.index != nil {
		errs = append(errs, g.text.index.Close())
		g.text.index = nil
	}
	g.mu.Unlock()
	if g.db != nil {
		if g.tx != nil {
			errs = append(errs, g.tx.Rollback())
			g.tx = nil
		}
		errs = append(errs, g.db.Close())
		g.db = nil
	}
	if g.unpacker != nil {
		g.unpacker.close()
		g.unpacker = nil
	}
	for _, f := range []**os.File{&g.sources, &g.packs, &g.lease} {
		if *f != nil {
			errs = append(errs, (*f).Close())
			*f = nil
		}
	}
	return errors.Join(errs...)
}

// unpackFrame reads the frame that a bucket names for key from a pack. found is
// false when the bucket has no such key.
func (g *Generation) unpackFrame(bucket []byte, key []byte, pack *os.File, size int64) (b []byte, found bool, err error) {
	var rec frameRecord
	err = g.view(func(v *view) error {
		value := v.get(bucket, key)
		if found = value != nil; !found {
			return nil
		}
		rec, err = decodeFrame(value)
		return err
	})
	if err != nil || !found {
		return nil, false, err
	}
	if bytes.Equal(bucket, bucketSources) && !bytes.Equal(rec.sha256, key) {
		return nil, false, integrity(graphFile, errMalformed)
	}
	b, err = g.unpacker.unpack(pack, size, &rec)
	if err != nil {
		return nil, true, integrity(filepath.Base(pack.Name()), err)
	}
	return b, true, nil
}

// frameOf gives where a frame stands, for a build that copies it.
func (g *Generation) frameOf(bucket []byte, key digest) (f frame, found bool, err error) {
	err = g.view(func(v *view) error {
		value := v.get(bucket, key[:])
		if value == nil {
			return nil
		}
		rec, err := decodeFrame(value)
		if err != nil {
			return err
		}
		found = true
		f = frame{in: g.sources, offset: int64(rec.offset), packed: int64(rec.packed), raw: int64(rec.raw), sha256: digest(rec.sha256)}
		if bytes.Equal(bucket, bucketFacts) {
			f.in = g.packs
		}
		return nil
	})
	return f, found, err
}

// node bounds an id.
func (g *Generation) node(id graph.NodeID) error {
	if uint32(id) >= g.t.nodes {
		return fault.New(fault.TargetMissing, "node %d is not of this generation, which has %d", id, g.t.nodes)
	}
	return g.Err()
}
