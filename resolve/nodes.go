package resolve

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// key names a node before nodes are numbered: definition, or graph.FileDef.
type key struct {
	file int32
	def  facts.DefID
}

// nodeTable is the nodes of a graph with the way back from definitions.
type nodeTable struct {
	nodes []graph.Node
	files []graph.NodeID          // by index of Input.Files
	defs  [][]graph.NodeID        // by file and definition; noNode where a definition is none
	goIn  map[string]graph.NodeID // type nodes of Go by directory, package and qualified name
	packs map[string]graph.NodeID // package nodes by directory and package name
}

const noNode = graph.NodeID(1<<32 - 1)

func makeNodes(in *graph.Input) *nodeTable {
	t := &nodeTable{files: make([]graph.NodeID, len(in.Files)), defs: make([][]graph.NodeID, len(in.Files)),
		goIn: map[string]graph.NodeID{}, packs: map[string]graph.NodeID{}}
	packages := packageFiles(in)
	count := len(in.Files)
	for _, f := range in.Files {
		count += len(f.Defs)
	}
	t.nodes = make([]graph.Node, 0, count)
	for i, f := range in.Files {
		t.addFile(int32(i), f, packages)
	}
	t.contain(in, packages)
	return t
}

// packageFiles chooses the file whose package clause stands for each package:
// the first by path, ordinary files before test files.
func packageFiles(in *graph.Input) map[string]int32 {
	chosen := map[string]int32{}
	for i, f := range in.Files {
		for d := range f.Defs {
			if f.Defs[d].Kind != facts.KindPackage {
				continue
			}
			k := packageKey(f, facts.DefID(d))
			old, ok := chosen[k]
			if !ok || extract.TestFile(in.Files[old].Path) && !extract.TestFile(f.Path) {
				chosen[k] = int32(i)
			}
		}
	}
	return chosen
}

func packageKey(f *facts.File, d facts.DefID) string {
	return path.Dir(f.Path) + "\x00" + f.Text(f.Defs[d].Name)
}

// addFile appends the file's node and those of its definitions in the order of
// graph.Graph.Nodes: files come sorted, so only one file's nodes need sorting.
func (t *nodeTable) addFile(i int32, f *facts.File, packages map[string]int32) {
	test := extract.TestFile(f.Path)
	first := graph.NodeID(len(t.nodes))
	t.files[i] = first
	t.nodes = append(t.nodes, graph.Node{Kind: "file", Language: f.Language, Name: path.Base(f.Path), Qualified: f.Path, Path: f.Path,
		Container: first, End: f.Scopes[0].End, StartLine: min(1, uint32(len(f.LineStarts))), EndLine: uint32(len(f.LineStarts)),
		NameLine: min(1, uint32(len(f.LineStarts))), TestFile: test, Damaged: f.Status != facts.Parsed, Exported: true})
	t.defs[i] = make([]graph.NodeID, len(f.Defs))
	order := make([]facts.DefID, 0, len(f.Defs))
	for d := range f.Defs {
		t.defs[i][d] = noNode
		k := f.Defs[d].Kind
		if k == facts.KindLambda || k == facts.KindPackage && packages[packageKey(f, facts.DefID(d))] != i {
			continue
		}
		order = append(order, facts.DefID(d))
	}
	slices.SortStableFunc(order, func(a, b facts.DefID) int {
		x, y := &f.Defs[a], &f.Defs[b]
		return cmp.Or(cmp.Compare(x.Start, y.Start), cmp.Compare(y.End, x.End), cmp.Compare(x.NameStart, y.NameStart),
			strings.Compare(x.Kind.String(), y.Kind.String()), strings.Compare(f.Text(x.Qual), f.Text(y.Qual)))
	})
	for _, d := range order {
		t.defs[i][d] = graph.NodeID(len(t.nodes))
		t.nodes = append(t.nodes, makeNode(f, d, test))
	}
}

func makeNode(f *facts.File, id facts.DefID, test bool) graph.Node {
	d := &f.Defs[id]
	n := graph.Node{Kind: d.Kind.String(), Language: f.Language, Name: f.Text(d.Name), Qualified: f.Text(d.Qual), Path: f.Path,
		Start: d.Start, End: d.End, NameStart: d.NameStart, NameEnd: d.NameEnd,
		StartLine: f.Line(d.Start), EndLine: f.Line(max(d.Start, d.End-min(d.End, 1))), NameLine: f.Line(d.NameStart),
		Exported: d.Flags&facts.FlagExported != 0, Test: d.Flags&facts.FlagTest != 0, TestFile: test,
		Conditional: d.Flags&facts.FlagConditional != 0, Damaged: d.Flags&facts.FlagDamaged != 0}
	if len(f.Signatures) > 0 {
		n.Signature = f.Signatures[id]
	}
	if d.Kind == facts.KindPackage {
		n.Qualified = path.Dir(f.Path)
		n.Exported = true
	}
	return n
}

// contain fills in the containers: the definition around, for a Go method the
// receiver's type wherever in the package it stands, else the file; and for a
// Go file its package.
func (t *nodeTable) contain(in *graph.Input, packages map[string]int32) {
	packageOf := make([]string, len(in.Files))
	for i, f := range in.Files {
		for d := range f.Defs {
			if f.Defs[d].Kind != facts.KindPackage {
				continue
			}
			k := packageKey(f, facts.DefID(d))
			packageOf[i] = k
			t.packs[k] = t.defs[packages[k]][packageDef(in.Files[packages[k]])]
			t.defs[i][d] = t.packs[k]
		}
		if packageOf[i] == "" {
			continue
		}
		t.nodes[t.files[i]].Container = t.packs[packageOf[i]]
		for d := range f.Defs {
			if def := &f.Defs[d]; def.Parent == facts.None && isType(def.Kind) {
				if k := packageOf[i] + "\x00" + f.Text(def.Name); t.goIn[k] == 0 {
					t.goIn[k] = t.defs[i][d]
				}
			}
		}
	}
	for i, f := range in.Files {
		for d := range f.Defs {
			id, def := t.defs[i][d], &f.Defs[d]
			if id == noNode {
				continue
			}
			if def.Kind == facts.KindPackage {
				t.nodes[id].Container = id
				continue
			}
			t.nodes[id].Container = t.container(int32(i), f, def, packageOf[i])
		}
	}
}

func (t *nodeTable) container(i int32, f *facts.File, def *facts.Def, pkg string) graph.NodeID {
	for p := def.Parent; p != facts.None; p = f.Defs[p].Parent {
		if n := t.defs[i][p]; n != noNode && f.Defs[p].Kind != facts.KindPackage {
			return n
		}
	}
	if typ, _, ok := strings.Cut(f.Text(def.Qual), "."); ok && pkg != "" {
		if n, ok := t.goIn[pkg+"\x00"+typ]; ok {
			return n
		}
	}
	return t.files[i]
}

func packageDef(f *facts.File) facts.DefID {
	return facts.DefID(slices.IndexFunc(f.Defs, func(d facts.Def) bool { return d.Kind == facts.KindPackage }))
}

func isType(k facts.DefKind) bool {
	return k == facts.KindStruct || k == facts.KindInterface || k == facts.KindType
}

// fileOf gives the file that a node is numbered with.
func (t *nodeTable) fileOf(id graph.NodeID) int {
	i, found := slices.BinarySearch(t.files, id)
	if !found {
		i--
	}
	return i
}

// of gives the node of a definition, an unnamed one's being what it stands in.
func (t *nodeTable) of(f *facts.File, k key) graph.NodeID {
	for d := k.def; d != facts.None; d = f.Defs[d].Parent {
		if n := t.defs[k.file][d]; n != noNode {
			return n
		}
	}
	return t.files[k.file]
}
