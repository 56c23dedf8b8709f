package kv

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"sort"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// Every stored value is a sequence of unsigned varints and length-prefixed
// strings. Words of a closed vocabulary (kinds, languages, rules, reasons) are
// indexes into one table per generation, paths are indexes into the manifest.
// Signed differences are zigzag varints.

// errMalformed is what a decoder says of bytes that no encoder of this version
// wrote.
var errMalformed = errors.New("malformed record")

// encoder appends a record to a buffer.
type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)    { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)      { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) byte(v byte)      { e.b = append(e.b, v) }
func (e *encoder) str(s string)     { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) diff(a, b uint32) { e.int(int64(a) - int64(b)) }

// hex stores an even lower-case hex string as its bytes. Others never occur in
// a manifest; hexBytes refuses them before they reach here.
func (e *encoder) hex(s string) {
	e.uint(uint64(hex.DecodedLen(len(s))))
	e.b, _ = hex.AppendDecode(e.b, []byte(s))
}

// decoder reads a record. The first fault sticks, every later read gives zero,
// and no count is believed beyond what the remaining bytes can hold.
type decoder struct {
	b   []byte
	bad bool
}

func (d *decoder) fail() { d.bad, d.b = true, nil }

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) byte() byte {
	if len(d.b) == 0 {
		d.fail()
		return 0
	}
	v := d.b[0]
	d.b = d.b[1:]
	return v
}

// bytes gives a view into the record.
func (d *decoder) bytes() []byte {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail()
		return nil
	}
	v := d.b[:n:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) str() string { return string(d.bytes()) }
func (d *decoder) hex() string { return hex.EncodeToString(d.bytes()) }

func (d *decoder) u32() uint32 {
	v := d.uint()
	if v > math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

// diff undoes encoder.diff.
func (d *decoder) diff(base uint32) uint32 {
	v := d.int()
	if v > math.MaxUint32 || v < -math.MaxUint32 {
		d.fail()
		return 0
	}
	v += int64(base)
	if v < 0 || v > math.MaxUint32 {
		d.fail()
		return 0
	}
	return uint32(v)
}

// count reads the length of a list whose items take at least size bytes each.
func (d *decoder) count(size int) int {
	n := d.uint()
	if n > uint64(len(d.b)/size) {
		d.fail()
		return 0
	}
	return int(n)
}

// err says whether the record was read whole and nothing is left.
func (d *decoder) err() error {
	if d.bad || len(d.b) != 0 {
		return errMalformed
	}
	return nil
}

// tables are the vocabularies that records refer to by index.
type tables struct {
	words []string // sorted, without duplicates
	index map[string]uint64
	paths pathTable
	nodes uint32 // number of nodes of the generation
}

// pathTable gives the path of an entry of the manifest, and back.
type pathTable interface {
	path(i uint32) (string, bool)
	find(path string) (uint32, bool)
}

// newTables makes the tables of a graph over a manifest.
func newTables(words map[string]bool, paths pathTable, nodes int) *tables {
	t := &tables{index: make(map[string]uint64, len(words)), paths: paths, nodes: uint32(nodes)}
	for w := range words {
		t.words = append(t.words, w)
	}
	sort.Strings(t.words)
	for i, w := range t.words {
		t.index[w] = uint64(i)
	}
	return t
}

func (t *tables) putWord(e *encoder, w string) { e.uint(t.index[w]) }

func (t *tables) word(d *decoder) string {
	i := d.uint()
	if i >= uint64(len(t.words)) {
		d.fail()
		return ""
	}
	return t.words[i]
}

func (t *tables) putPath(e *encoder, path string) {
	i, _ := t.paths.find(path)
	e.uint(uint64(i))
}

func (t *tables) path(d *decoder) string {
	if i := d.u32(); !d.bad {
		if p, ok := t.paths.path(i); ok {
			return p
		}
	}
	d.fail()
	return ""
}

// node reads a node id relative to base.
func (t *tables) node(d *decoder, base graph.NodeID) graph.NodeID {
	v := d.diff(uint32(base))
	if v >= t.nodes {
		d.fail()
	}
	return graph.NodeID(v)
}

// Bits of a node's flag byte.
const (
	nodeExported = 1 << iota
	nodeTest
	nodeTestFile
	nodeConditional
	nodeDamaged
	nodeQualifiedIsName
	nodeQualifiedIsPath
)

// putNode encodes node id.
func (t *tables) putNode(e *encoder, id graph.NodeID, n *graph.Node) {
	flags := byte(0)
	for _, f := range []struct {
		set bool
		bit byte
	}{
		{n.Exported, nodeExported}, {n.Test, nodeTest}, {n.TestFile, nodeTestFile}, {n.Conditional, nodeConditional},
		{n.Damaged, nodeDamaged}, {n.Qualified == n.Name, nodeQualifiedIsName}, {n.Qualified == n.Path && n.Qualified != n.Name, nodeQualifiedIsPath},
	} {
		if f.set {
			flags |= f.bit
		}
	}
	e.byte(flags)
	t.putWord(e, n.Kind)
	t.putWord(e, n.Language)
	t.putPath(e, n.Path)
	e.diff(uint32(n.Container), uint32(id))
	e.str(n.Name)
	if flags&(nodeQualifiedIsName|nodeQualifiedIsPath) == 0 {
		e.str(n.Qualified)
	}
	e.str(n.Signature)
	e.uint(uint64(n.Start))
	e.diff(n.End, n.Start)
	e.diff(n.NameStart, n.Start)
	e.diff(n.NameEnd, n.NameStart)
	e.uint(uint64(n.StartLine))
	e.diff(n.EndLine, n.StartLine)
	e.diff(n.NameLine, n.StartLine)
}

// decodeNode reads node id.
func (t *tables) decodeNode(b []byte, id graph.NodeID) (graph.Node, error) {
	d := &decoder{b: b}
	flags := d.byte()
	n := graph.Node{
		Exported: flags&nodeExported != 0, Test: flags&nodeTest != 0, TestFile: flags&nodeTestFile != 0,
		Conditional: flags&nodeConditional != 0, Damaged: flags&nodeDamaged != 0,
	}
	n.Kind, n.Language, n.Path = t.word(d), t.word(d), t.path(d)
	n.Container = t.node(d, id)
	n.Name = d.str()
	switch {
	case flags&nodeQualifiedIsName != 0:
		n.Qualified = n.Name
	case flags&nodeQualifiedIsPath != 0:
		n.Qualified = n.Path
	default:
		n.Qualified = d.str()
	}
	n.Signature = d.str()
	n.Start = d.u32()
	n.End = d.diff(n.Start)
	n.NameStart = d.diff(n.Start)
	n.NameEnd = d.diff(n.NameStart)
	n.StartLine = d.u32()
	n.EndLine = d.diff(n.StartLine)
	n.NameLine = d.diff(n.StartLine)
	if err := d.err(); err != nil {
		return graph.Node{}, err
	}
	return n, nil
}

func (t *tables) putSite(e *encoder, s *graph.Site) {
	t.putPath(e, s.Path)
	e.uint(uint64(s.Start))
	e.diff(s.End, s.Start)
	e.uint(uint64(s.Line))
	e.uint(uint64(s.Col))
	e.diff(s.FirstLine, s.Line)
	e.diff(s.LastLine, s.Line)
	e.str(s.Name)
}

func (t *tables) site(d *decoder) graph.Site {
	s := graph.Site{Path: t.path(d)}
	s.Start = d.u32()
	s.End = d.diff(s.Start)
	s.Line, s.Col = d.u32(), d.u32()
	s.FirstLine, s.LastLine = d.diff(s.Line), d.diff(s.Line)
	s.Name = d.str()
	return s
}

// minEdge is the fewest bytes an edge takes; it bounds what a count may claim.
const minEdge = 10

// putEdge encodes an edge in the list of node self; other is its other end.
func (t *tables) putEdge(e *encoder, self, other graph.NodeID, x *graph.Edge) {
	b := byte(x.Kind)&7 | byte(x.Strength)&3<<3
	if x.TypeOnly {
		b |= 1 << 5
	}
	e.byte(b)
	e.diff(uint32(other), uint32(self))
	t.putWord(e, x.Rule)
	t.putSite(e, &x.Site)
}

func (t *tables) edges(d *decoder, self graph.NodeID, out bool) []graph.Edge {
	n := d.count(minEdge)
	if n == 0 {
		return nil
	}
	list := make([]graph.Edge, 0, n)
	for i := 0; i < n && !d.bad; i++ {
		b := d.byte()
		x := graph.Edge{From: self, To: self, Kind: graph.EdgeKind(b & 7), Strength: graph.Strength(b >> 3 & 3), TypeOnly: b>>5&1 != 0}
		other := t.node(d, self)
		if out {
			x.To = other
		} else {
			x.From = other
		}
		if b>>6 != 0 || x.Kind.String() == "" || x.Strength.String() == "" {
			d.fail()
		}
		x.Rule, x.Site = t.word(d), t.site(d)
		list = append(list, x)
	}
	return list
}

// decodeAdjacency reads one direction of a node's adjacency: the length of the
// outgoing list in bytes, that list, and the incoming one.
func (t *tables) decodeAdjacency(b []byte, self graph.NodeID, out bool) ([]graph.Edge, error) {
	if len(b) == 0 {
		return nil, nil // a node without edges has no record
	}
	d := &decoder{b: b}
	outgoing := d.bytes()
	if out && !d.bad {
		d.b = outgoing
	}
	list := t.edges(d, self, out)
	if err := d.err(); err != nil {
		return nil, err
	}
	return list, nil
}

// putUnresolved encodes one unresolved or external reference.
func (t *tables) putUnresolved(e *encoder, u *graph.Unresolved) {
	b := byte(u.Kind) & 7
	if u.External {
		b |= 1 << 3
	}
	e.byte(b)
	e.diff(uint32(u.From), 0)
	t.putWord(e, u.Reason)
	e.str(u.Target)
	t.putSite(e, &u.Site)
}

const minUnresolved = 11

// decodeMentions reads the references that bear one name, preceded by it.
func (t *tables) decodeMentions(b []byte, name string) ([]graph.Unresolved, error) {
	if len(b) == 0 {
		return nil, nil
	}
	d := &decoder{b: b}
	if d.str() != name {
		return nil, d.err()
	}
	n := d.count(minUnresolved)
	list := make([]graph.Unresolved, 0, n)
	for i := 0; i < n && !d.bad; i++ {
		b := d.byte()
		u := graph.Unresolved{Kind: graph.EdgeKind(b & 7), External: b>>3&1 != 0}
		u.From = t.node(d, 0)
		if b>>4 != 0 || u.Kind.String() == "" {
			d.fail()
		}
		u.Reason, u.Target, u.Site = t.word(d), d.str(), t.site(d)
		list = append(list, u)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	return list, nil
}

// putIDs encodes ascending node ids.
func putIDs(e *encoder, ids []graph.NodeID) {
	e.uint(uint64(len(ids)))
	last := graph.NodeID(0)
	for _, id := range ids {
		e.uint(uint64(id - last))
		last = id
	}
}

// decodeNamed reads a name and the ascending ids of the nodes that bear it.
func (t *tables) decodeNamed(b []byte) (string, []graph.NodeID, error) {
	d := &decoder{b: b}
	name := d.str()
	n := d.count(1)
	ids := make([]graph.NodeID, 0, n)
	last := uint64(0)
	for i := 0; i < n && !d.bad; i++ {
		last += d.uint()
		if last >= uint64(t.nodes) {
			d.fail()
		}
		ids = append(ids, graph.NodeID(last))
	}
	if err := d.err(); err != nil {
		return "", nil, err
	}
	return name, ids, nil
}

// fileRecord is everything stored of one entry of the manifest.
type fileRecord struct {
	entry  snapshot.Entry
	status FileStatus
	first  graph.NodeID // first node declared in the file
	nodes  uint32       // how many follow each other from first on
	facts  []byte       // extraction key; empty when the file is not extracted
}

func (t *tables) putFile(e *encoder, f *fileRecord) {
	e.str(f.entry.Path)
	e.uint(uint64(f.entry.Mode))
	e.hex(f.entry.Blob)
	e.hex(f.entry.SHA256)
	e.int(f.entry.Size)
	t.putWord(e, f.entry.Language)
	t.putWord(e, string(f.entry.Reason))
	e.uint(uint64(f.first))
	e.uint(uint64(f.nodes))
	e.str(string(f.facts))
	e.byte(byte(f.status.Status))
	t.putWord(e, f.status.Failure)
	e.uint(uint64(f.status.Lines))
	putRanges(e, f.status.Damage)
	putRanges(e, f.status.Blanked)
	e.uint(uint64(len(f.status.Headings)))
	for _, h := range f.status.Headings {
		e.uint(uint64(h.Level))
		e.uint(uint64(h.Line))
		e.str(h.Text)
	}
}

func (t *tables) decodeFile(b []byte) (fileRecord, error) {
	d := &decoder{b: b}
	f := fileRecord{entry: snapshot.Entry{Path: d.str(), Mode: d.u32(), Blob: d.hex(), SHA256: d.hex(), Size: d.int()}}
	f.entry.Language, f.entry.Reason = t.word(d), snapshot.Reason(t.word(d))
	f.first, f.nodes = graph.NodeID(d.u32()), d.u32()
	if uint64(f.first)+uint64(f.nodes) > uint64(t.nodes) {
		d.fail()
	}
	f.facts = append([]byte(nil), d.bytes()...)
	f.status.Status = facts.ParseStatus(d.byte())
	if f.status.Status > facts.Failed {
		d.fail()
	}
	f.status.Failure = t.word(d)
	f.status.Lines = int(d.u32())
	f.status.Damage, f.status.Blanked = ranges(d), ranges(d)
	for i, n := 0, d.count(3); i < n && !d.bad; i++ {
		f.status.Headings = append(f.status.Headings, Heading{Level: int(d.u32()), Line: int(d.u32()), Text: d.str()})
	}
	if err := d.err(); err != nil {
		return fileRecord{}, err
	}
	return f, nil
}

func putRanges(e *encoder, list []LineRange) {
	e.uint(uint64(len(list)))
	for _, r := range list {
		e.uint(uint64(r.First))
		e.diff(uint32(r.Last), uint32(r.First))
	}
}

func ranges(d *decoder) []LineRange {
	var list []LineRange
	for i, n := 0, d.count(2); i < n && !d.bad; i++ {
		first := d.u32()
		list = append(list, LineRange{First: int(first), Last: int(d.diff(first))})
	}
	return list
}

// frameRecord says where a content-addressed frame of a pack stands.
type frameRecord struct {
	offset, packed, raw uint64 // bytes: where the frame starts, its size, its size unpacked
	sha256              []byte // of the unpacked bytes; the key itself in sources.pack
}

func putFrame(e *encoder, f *frameRecord) {
	e.uint(f.offset)
	e.uint(f.packed)
	e.uint(f.raw)
	e.str(string(f.sha256))
}

func decodeFrame(b []byte) (frameRecord, error) {
	d := &decoder{b: b}
	f := frameRecord{offset: d.uint(), packed: d.uint(), raw: d.uint()}
	f.sha256 = append([]byte(nil), d.bytes()...)
	if len(f.sha256) != 32 {
		d.fail()
	}
	return f, d.err()
}
