package kv

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/gowebpki/jcs"
	"go.etcd.io/bbolt"

	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// The buckets of graph.db. Numbers as keys are four bytes, big-endian.
var (
	bucketMeta      = []byte("meta")      // "contents": canonical JSON of Contents; "words": the word table; "counts": numbers of files and nodes
	bucketFiles     = []byte("files")     // index in the manifest -> fileRecord
	bucketNodes     = []byte("nodes")     // node id -> graph.Node
	bucketAdjacency = []byte("adjacency") // node id -> outgoing, incoming edges
	bucketNames     = []byte("names")     // name -> name, node ids
	bucketQualified = []byte("qualified") // qualified name -> the same
	bucketMentions  = []byte("mentions")  // name -> name, unresolved and external references
	bucketSources   = []byte("sources")   // SHA-256 of the content -> frameRecord
	bucketFacts     = []byte("facts")     // extraction key -> frameRecord
)

// Keys of bucketMeta.
var (
	keyContents = []byte("contents")
	keyCounts   = []byte("counts")
	keyWords    = []byte("words")
)

const (
	putsPerTransaction  = 50_000
	bytesPerTransaction = 8 << 20
	pageSize            = 4096 // fixed: the file is the same on every machine
	maxKey              = 512  // bytes of a name that are used as a key as they are
)

// nameKey gives the key of a name. A long name keeps its start and gets its
// digest, and is then longer than any name that is its own key.
func nameKey(name string) []byte {
	if len(name) <= maxKey {
		return []byte(name)
	}
	sum := sha256.Sum256([]byte(name))
	return append([]byte(name[:maxKey+1-len(sum)]), sum[:]...)
}

func idKey(id uint32) []byte { return binary.BigEndian.AppendUint32(nil, id) }

// database is what graph.db is written from.
type database struct {
	contents Contents
	files    []fileRecord // in the order of the manifest
	graph    *graph.Graph
	sources  []packedFrame
	facts    []packedFrame
}

// path and find make the files a pathTable.
func (d *database) path(i uint32) (string, bool) {
	if int(i) >= len(d.files) {
		return "", false
	}
	return d.files[i].entry.Path, true
}

func (d *database) find(path string) (uint32, bool) {
	i, ok := slices.BinarySearchFunc(d.files, path, func(f fileRecord, p string) int { return strings.Compare(f.entry.Path, p) })
	return uint32(i), ok
}

// words collects the closed vocabularies that the graph uses.
func (d *database) words() map[string]bool {
	w := map[string]bool{"": true}
	for i := range d.files {
		f := &d.files[i]
		w[f.entry.Language], w[string(f.entry.Reason)], w[f.status.Failure] = true, true, true
	}
	for i := range d.graph.Nodes {
		w[d.graph.Nodes[i].Kind], w[d.graph.Nodes[i].Language] = true, true
	}
	for i := range d.graph.Edges {
		w[d.graph.Edges[i].Rule] = true
	}
	for i := range d.graph.Unresolved {
		w[d.graph.Unresolved[i].Reason] = true
	}
	return w
}

// check refuses a graph that the encoding cannot hold or a reader would refuse.
func (d *database) check() error {
	nodes := graph.NodeID(len(d.graph.Nodes))
	for i := range d.graph.Nodes {
		n := &d.graph.Nodes[i]
		if _, ok := d.find(n.Path); !ok || n.Container >= nodes {
			return fmt.Errorf("node %d (%s %q) stands in %q, contained in %d", i, n.Kind, n.Qualified, n.Path, n.Container)
		}
	}
	for i := range d.graph.Edges {
		e := &d.graph.Edges[i]
		if _, ok := d.find(e.Site.Path); !ok || e.From >= nodes || e.To >= nodes || e.Kind.String() == "" || e.Strength.String() == "" {
			return fmt.Errorf("edge %d (%d to %d) at %q", i, e.From, e.To, e.Site.Path)
		}
		if i > 0 && d.graph.Edges[i-1].From > e.From {
			return fmt.Errorf("edge %d is not in order of its source", i)
		}
	}
	for i := range d.graph.Unresolved {
		u := &d.graph.Unresolved[i]
		if _, ok := d.find(u.Site.Path); !ok || u.From >= nodes || u.Kind.String() == "" {
			return fmt.Errorf("unresolved reference %d at %q", i, u.Site.Path)
		}
	}
	return nil
}

// write makes graph.db and syncs it.
func (d *database) write(ctx context.Context, path string) error {
	if err := d.check(); err != nil {
		return fmt.Errorf("graph does not fit its manifest: %w", err)
	}
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{NoSync: true, NoGrowSync: true, PageSize: pageSize, FreelistType: bbolt.FreelistArrayType})
	if err != nil {
		return err
	}
	db.AllocSize = 1 << 20 // the file has at most this many bytes of slack
	p := &putter{ctx: ctx, db: db, t: newTables(d.words(), d, len(d.graph.Nodes))}
	d.putAll(p)
	size, err := p.finish()
	if err == nil {
		err = db.Sync()
	}
	if closeErr := db.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return truncateSync(path, size)
}

// truncateSync cuts the slack off, so that the digest covers data only.
func truncateSync(path string, size int64) error {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return err
	}
	return f.Sync()
}

// putAll puts every bucket, each in the order of its keys.
func (d *database) putAll(p *putter) {
	g := d.graph
	p.bucket(bucketMeta)
	contents, err := canonicalJSON(&d.contents)
	p.fail(err)
	p.put(keyContents, func(e *encoder) { e.b = append(e.b, contents...) })
	p.put(keyCounts, func(e *encoder) { e.uint(uint64(len(d.files))); e.uint(uint64(len(g.Nodes))) })
	p.put(keyWords, func(e *encoder) {
		e.uint(uint64(len(p.t.words)))
		for _, w := range p.t.words {
			e.str(w)
		}
	})
	p.bucket(bucketFiles)
	for i := range d.files {
		p.put(idKey(uint32(i)), func(e *encoder) { p.t.putFile(e, &d.files[i]) })
	}
	p.bucket(bucketNodes)
	for i := range g.Nodes {
		p.put(idKey(uint32(i)), func(e *encoder) { p.t.putNode(e, graph.NodeID(i), &g.Nodes[i]) })
	}
	p.bucket(bucketAdjacency)
	putAdjacency(p, g)
	p.bucket(bucketNames)
	putNamed(p, g, func(n *graph.Node) string { return n.Name })
	p.bucket(bucketQualified)
	putNamed(p, g, func(n *graph.Node) string { return n.Qualified })
	p.bucket(bucketMentions)
	putMentions(p, g)
	p.bucket(bucketSources)
	putFrames(p, d.sources)
	p.bucket(bucketFacts)
	putFrames(p, d.facts)
}

func putFrames(p *putter, list []packedFrame) {
	sorted := slices.Clone(list)
	slices.SortFunc(sorted, func(a, b packedFrame) int { return bytes.Compare(a.key[:], b.key[:]) })
	for i := range sorted {
		p.put(sorted[i].key[:], func(e *encoder) { putFrame(e, &sorted[i].record) })
	}
}

// putAdjacency puts one record a node that has edges. Incoming edges keep the
// order of the graph: by source, kind and site.
func putAdjacency(p *putter, g *graph.Graph) {
	first := make([]uint32, len(g.Nodes)+1) // incoming edges of node i: into[first[i]:first[i+1]]
	for i := range g.Edges {
		first[g.Edges[i].To+1]++
	}
	for i := 1; i < len(first); i++ {
		first[i] += first[i-1]
	}
	into, next := make([]uint32, len(g.Edges)), slices.Clone(first)
	for i := range g.Edges {
		to := g.Edges[i].To
		into[next[to]] = uint32(i)
		next[to]++
	}
	var out encoder
	for i, at := 0, 0; i < len(g.Nodes); i++ {
		self, start := graph.NodeID(i), at
		for at < len(g.Edges) && g.Edges[at].From == self {
			at++
		}
		in := into[first[i]:first[i+1]]
		if start == at && len(in) == 0 {
			continue
		}
		out.b = out.b[:0]
		out.uint(uint64(at - start))
		for j := start; j < at; j++ {
			p.t.putEdge(&out, self, g.Edges[j].To, &g.Edges[j])
		}
		p.put(idKey(uint32(i)), func(e *encoder) {
			e.str(string(out.b))
			e.uint(uint64(len(in)))
			for _, j := range in {
				p.t.putEdge(e, self, g.Edges[j].From, &g.Edges[j])
			}
		})
	}
}

// runs calls put for each run of indexes 0..n-1 that share a name, in the order
// of the names' keys. Indexes of a run ascend.
func runs(n int, name func(int) string, put func(name string, run []uint32)) {
	// Names repeat a lot: grouping first leaves few to sort.
	group := map[string]int32{} // number of the name
	var names []string
	of, sizes := make([]int32, n), []int32(nil)
	long := false
	for i := range n {
		s := name(i)
		of[i] = -1
		if s == "" {
			continue
		}
		g, ok := group[s]
		if !ok {
			g = int32(len(names))
			group[s], names, sizes = g, append(names, s), append(sizes, 0)
			long = long || len(s) > maxKey
		}
		of[i] = g
		sizes[g]++
	}
	starts, total := make([]int32, len(names)+1), int32(0)
	for g, size := range sizes {
		starts[g] = total
		total += size
	}
	starts[len(names)] = total
	members, next := make([]uint32, total), slices.Clone(starts)
	for i, g := range of {
		if g >= 0 {
			members[next[g]] = uint32(i)
			next[g]++
		}
	}
	compare := strings.Compare
	if long {
		compare = func(a, b string) int { return bytes.Compare(nameKey(a), nameKey(b)) }
	}
	slices.SortFunc(names, compare)
	for _, s := range names {
		g := group[s]
		put(s, members[starts[g]:starts[g+1]])
	}
}

func putNamed(p *putter, g *graph.Graph, name func(*graph.Node) string) {
	var ids []graph.NodeID
	runs(len(g.Nodes), func(i int) string { return name(&g.Nodes[i]) }, func(s string, run []uint32) {
		ids = ids[:0]
		for _, i := range run {
			ids = append(ids, graph.NodeID(i))
		}
		p.put(nameKey(s), func(e *encoder) { e.str(s); putIDs(e, ids) })
	})
}

func putMentions(p *putter, g *graph.Graph) {
	runs(len(g.Unresolved), func(i int) string { return g.Unresolved[i].Site.Name }, func(s string, run []uint32) {
		p.put(nameKey(s), func(e *encoder) {
			e.str(s)
			e.uint(uint64(len(run)))
			for _, i := range run {
				p.t.putUnresolved(e, &g.Unresolved[i])
			}
		})
	})
}

// putter puts sorted keys in transactions of bounded size. The first error
// sticks.
type putter struct {
	ctx  context.Context
	db   *bbolt.DB
	t    *tables
	tx   *bbolt.Tx
	name []byte
	b    *bbolt.Bucket
	puts int
	slab encoder // values of the transaction: bbolt keeps them until it commits
	err  error
}

func (p *putter) fail(err error) {
	if p.err == nil {
		p.err = err
	}
}

// bucket creates the bucket that the next puts go to. Each bucket begins a
// transaction of its own: bbolt lays out the changed buckets of one in the order
// of a map, and the file would differ from build to build.
func (p *putter) bucket(name []byte) {
	p.commit()
	if p.begin(); p.err != nil {
		return
	}
	p.name = name
	b, err := p.tx.CreateBucket(name)
	p.fail(err)
	p.use(b)
}

func (p *putter) use(b *bbolt.Bucket) {
	if p.b = b; b != nil {
		b.FillPercent = 1.0
	}
}

func (p *putter) begin() {
	if p.err != nil || p.tx != nil {
		return
	}
	tx, err := p.db.Begin(true)
	p.fail(err)
	if p.tx = tx; p.err == nil && p.name != nil {
		p.use(tx.Bucket(p.name))
	}
}

func (p *putter) put(key []byte, value func(*encoder)) {
	if p.puts >= putsPerTransaction || len(p.slab.b) >= bytesPerTransaction {
		p.commit()
	}
	if p.begin(); p.err != nil {
		return
	}
	start := len(p.slab.b)
	value(&p.slab)
	p.fail(p.b.Put(key, p.slab.b[start:len(p.slab.b):len(p.slab.b)]))
	p.puts++
}

func (p *putter) commit() {
	if p.tx == nil || p.err != nil {
		return
	}
	p.fail(p.tx.Commit())
	p.tx, p.b, p.puts, p.slab.b = nil, nil, 0, p.slab.b[:0]
	p.fail(p.ctx.Err())
}

// finish commits what is left and gives the size of the data in bytes.
func (p *putter) finish() (int64, error) {
	p.commit()
	if p.tx != nil {
		p.tx.Rollback()
	}
	if p.err != nil {
		return 0, p.err
	}
	var size int64
	err := p.db.View(func(tx *bbolt.Tx) error { size = tx.Size(); return nil })
	return size, err
}

// canonicalJSON encodes a value by RFC 8785.
func canonicalJSON(v any) ([]byte, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	return jcs.Transform(b)
}
