package kv

import (
	"errors"
	"strings"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Entry gives the manifest's entry of a path, omitted ones included.
func (g *Generation) Entry(path string) (snapshot.Entry, bool) {
	r, err := g.file(path)
	if err != nil {
		g.fail(err)
	}
	if r == nil {
		return snapshot.Entry{}, false
	}
	return r.entry, true
}

// FileStatus says how a file was read; false for a path that is not in the
// manifest.
func (g *Generation) FileStatus(path string) (FileStatus, bool) {
	r, err := g.file(path)
	if err != nil {
		g.fail(err)
	}
	if r == nil {
		return FileStatus{}, false
	}
	return r.status, true
}

// batch is how many records an iteration reads between two calls back.
const batch = 256

// Entries calls visit with the entries whose path starts with prefix, in the
// order of their paths, until it returns false.
func (g *Generation) Entries(prefix string, visit func(snapshot.Entry) bool) {
	next, started := uint32(0), false
	for {
		var list []snapshot.Entry
		err := g.view(func(v *view) (err error) {
			if !started {
				next, err = v.lowerBound(prefix)
				started = true
			}
			for ; err == nil && next < g.files && len(list) < batch; next++ {
				var r fileRecord
				if r, err = v.decodeFile(v.get(bucketFiles, idKey(next))); err != nil || !strings.HasPrefix(r.entry.Path, prefix) {
					next = g.files
					break
				}
				list = append(list, r.entry)
			}
			return err
		})
		if err != nil {
			g.fail(err)
			return
		}
		for i := range list {
			if !visit(list[i]) {
				return
			}
		}
		if next >= g.files {
			return
		}
	}
}

// Content gives the bytes of an included file as the snapshot had them, checked
// against the manifest's SHA-256.
func (g *Generation) Content(path string) ([]byte, error) {
	r, err := g.file(path)
	if err != nil {
		return nil, err
	}
	if r == nil {
		return nil, fault.New(fault.TargetMissing, "no file %q in this generation", path)
	}
	if !r.entry.Included() {
		return nil, fault.New(fault.TargetMissing, "the content of %q is not indexed: %s", path, r.entry.Reason)
	}
	key, err := parseDigest(r.entry.SHA256)
	if err != nil {
		return nil, integrity(graphFile, err)
	}
	b, found, err := g.unpackFrame(bucketSources, key[:], g.sources, g.sourcesSize)
	if err == nil && !found {
		err = integrity(graphFile, errors.New("content of a file is missing"))
	}
	return b, err
}

// Node gives a node.
func (g *Generation) Node(id graph.NodeID) (n graph.Node, err error) {
	if err := g.node(id); err != nil {
		return graph.Node{}, err
	}
	err = g.view(func(v *view) (err error) {
		n, err = v.decodeNode(v.get(bucketNodes, idKey(uint32(id))), id)
		return err
	})
	return n, err
}

// NodesNamed gives the nodes whose simple name is name, ascending.
func (g *Generation) NodesNamed(name string) ([]graph.NodeID, error) {
	return g.named(bucketNames, name)
}

// NodesQualified gives the nodes whose qualified name is q, ascending. A file's
// is its path, a package's its directory.
func (g *Generation) NodesQualified(q string) ([]graph.NodeID, error) {
	return g.named(bucketQualified, q)
}

func (g *Generation) named(bucket []byte, name string) (ids []graph.NodeID, err error) {
	if name == "" {
		return nil, g.Err()
	}
	err = g.view(func(v *view) error {
		b := v.get(bucket, nameKey(name))
		if b == nil {
			return nil
		}
		got, list, err := v.decodeNamed(b)
		if err == nil && got == name {
			ids = list
		}
		return err
	})
	return ids, errors.Join(err, g.Err())
}

// NodesInFile gives the nodes declared in a file, ascending: the file's own
// node first, then by position.
func (g *Generation) NodesInFile(path string) ([]graph.NodeID, error) {
	r, err := g.file(path)
	if err != nil || r == nil {
		return nil, err
	}
	ids := make([]graph.NodeID, r.nodes)
	for i := range ids {
		ids[i] = r.first + graph.NodeID(i)
	}
	return ids, nil
}

// Out gives the edges that start at a node, sorted by kind, site and target.
func (g *Generation) Out(id graph.NodeID) ([]graph.Edge, error) { return g.adjacency(id, true) }

// In gives the edges that end at a node, sorted by source, kind and site.
func (g *Generation) In(id graph.NodeID) ([]graph.Edge, error) { return g.adjacency(id, false) }

func (g *Generation) adjacency(id graph.NodeID, out bool) (list []graph.Edge, err error) {
	if err := g.node(id); err != nil {
		return nil, err
	}
	err = g.view(func(v *view) (err error) {
		list, err = v.decodeAdjacency(v.get(bucketAdjacency, idKey(uint32(id))), id, out)
		return err
	})
	return list, err
}

// Mentions gives the references that bear a name and became no edge, by path
// and position. Those with a verdict of external are among them and marked.
func (g *Generation) Mentions(name string) (list []graph.Unresolved, err error) {
	if name == "" {
		return nil, g.Err()
	}
	err = g.view(func(v *view) (err error) {
		list, err = v.decodeMentions(v.get(bucketMentions, nameKey(name)), name)
		return err
	})
	return list, errors.Join(err, g.Err())
}

// Names calls visit with every simple name and its nodes, in bytewise order of
// the names (of their first 481 bytes for names beyond 512), until it returns
// false.
func (g *Generation) Names(visit func(name string, ids []graph.NodeID) bool) error {
	type named struct {
		name string
		ids  []graph.NodeID
	}
	var last []byte
	for {
		list := make([]named, 0, batch)
		err := g.view(func(v *view) error {
			c := v.g.buckets[string(bucketNames)].Cursor()
			k, b := c.First()
			if last != nil {
				if k, b = c.Seek(last); string(k) == string(last) {
					k, b = c.Next()
				}
			}
			for ; k != nil && len(list) < batch; k, b = c.Next() {
				name, ids, err := v.decodeNamed(b)
				if err != nil {
					return err
				}
				list = append(list, named{name, ids})
				last = append([]byte(nil), k...)
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, n := range list {
			if !visit(n.name, n.ids) {
				return nil
			}
		}
		if len(list) < batch {
			return g.Err()
		}
	}
}

// NodeCount gives the number of nodes: ids are 0 to NodeCount-1.
func (g *Generation) NodeCount() int { return int(g.t.nodes) }
