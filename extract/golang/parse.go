package golang

import (
	"bytes"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// parse parses src. The grammar wants a type as the first argument of new and
// make, but new(expr) is Go since 1.26, and either name may be declared anew.
// Where that made an error the name is read as an ordinary one, in a copy that
// only the parser sees; the spans of such names are given. It is done only when
// it leaves less of the file damaged.
func parse(p *flat.Parser, src []byte) (flat.Tree, []facts.Span, error) {
	tree, err := p.Parse(lang, src, flat.Options{Newline: true})
	if err != nil || len(tree.Nodes) == 0 || tree.Nodes[0].Flags&flat.HasError == 0 {
		return tree, nil, err
	}
	before := damage(tree)
	copied, spans := renamed(tree, src)
	if len(spans) == 0 {
		return tree, nil, nil
	}
	// A parse makes the tree of the one before invalid.
	tree, err = p.Parse(lang, copied, flat.Options{Newline: true})
	if err == nil && damage(tree) < before {
		tree.Src = src
		return tree, spans, nil
	}
	tree, err = p.Parse(lang, src, flat.Options{Newline: true})
	return tree, nil, err
}

// damage counts the bytes in error nodes, and one for each missing node.
func damage(tree flat.Tree) int {
	total := 0
	for i := 0; i < len(tree.Nodes); i++ {
		n := &tree.Nodes[i]
		if n.Flags&flat.Missing != 0 {
			total++
		}
		if n.Flags&flat.Error != 0 {
			total += 1 + int(n.End-n.Start)
			i = int(n.Next) - 1
		}
	}
	return total
}

// renamed gives a copy of src in which the names new and make are others of the
// same length where they are called with something that no type starts like, or
// stand in a statement with an error.
func renamed(tree flat.Tree, src []byte) ([]byte, []facts.Span) {
	var copied []byte
	var spans []facts.Span
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if int(n.Next) != i+1 || n.Flags&flat.Missing != 0 {
			continue
		}
		name := src[n.Start:n.End]
		if !bytes.Equal(name, []byte("new")) && !bytes.Equal(name, []byte("make")) || !suspect(tree, i) {
			continue
		}
		if copied == nil {
			copied = bytes.Clone(src)
		}
		copied[n.Start] = 'X'
		spans = append(spans, facts.Span{Start: n.Start, End: n.End})
	}
	return copied, spans
}

// suspect says whether an error starts soon after node i: in the arguments that
// follow the name.
func suspect(tree flat.Tree, i int) bool {
	const reach = 40 // nodes: the arguments of a call, not the function around it
	for k := i + 1; k < len(tree.Nodes) && k <= i+reach; k++ {
		if tree.Nodes[k].Flags&(flat.Error|flat.Missing) != 0 {
			return true
		}
	}
	for k := i; k >= 0 && k >= i-3; k-- {
		if tree.Nodes[k].Flags&flat.Error != 0 && int(tree.Nodes[k].Next) > i {
			return true
		}
	}
	return false
}
