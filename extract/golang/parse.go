package golang

import (
	"bytes"
	"slices"
	"sort"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// parsed is a tree with what was done to the source to get it. The changes are in
// a copy that only the parser sees: no offset moves, and tree.Src is the source.
type parsed struct {
	tree flat.Tree
	// renamed are calls of new and make that are read as those of other names.
	// The grammar wants a type as their first argument, but new(expr) is Go since
	// 1.26, and either name may be declared anew.
	renamed []facts.Span
	// blanked are declarations, or bodies of functions, that swallowed the
	// declarations after them, as one does when a brace is missing.
	blanked []facts.Span
}

// parse parses src. When that leaves errors it tries to read more of the file
// with both kinds of changes, and keeps those that leave less of it damaged.
func parse(p *flat.Parser, src []byte) (parsed, error) {
	options := flat.Options{Newline: true}
	tree, err := p.Parse(lang, src, options)
	out := parsed{tree: tree}
	if err != nil || len(tree.Nodes) == 0 || tree.Nodes[0].Flags&(flat.HasError|flat.Error) == 0 {
		return out, err
	}
	text := src
	if copied, spans := renamed(tree, src); len(spans) > 0 {
		before, first := damage(tree), kept(tree)
		if tree, err = p.Parse(lang, copied, options); err == nil && damage(tree) < before {
			text, out.renamed = copied, spans
		} else {
			tree = first
		}
	}
	for range maxRepairs {
		copied, spans := blanked(tree, text)
		if len(spans) == 0 {
			break
		}
		before := kept(tree)
		if tree, err = p.Parse(lang, copied, options); err != nil {
			tree = before
			break
		}
		text, out.blanked = copied, append(out.blanked, spans...)
	}
	tree.Src = src
	out.tree = tree
	return out, nil
}

// kept copies a tree that is still wanted after the next parse.
func kept(t flat.Tree) flat.Tree { return flat.Tree{Nodes: slices.Clone(t.Nodes), Src: t.Src} }

// maxRepairs bounds the parses of one file.
const maxRepairs = 6

// blanked gives a copy of text without the declarations that have an error and
// reach beyond the start of the next declaration. Source that gofmt wrote has
// its declarations at the start of a line, and nothing else that looks like one.
func blanked(tree flat.Tree, text []byte) ([]byte, []facts.Span) {
	starts := declarations(text)
	var copied []byte
	var spans []facts.Span
	for c := 1; c < len(tree.Nodes); c = int(tree.Nodes[c].Next) {
		n := &tree.Nodes[c]
		// k is the declaration that the node starts in. A keyword that stands
		// alone at the top starts one that the parser gave up.
		k := sort.Search(len(starts), func(i int) bool { return starts[i] > n.Start }) - 1
		if k < 0 || k+1 >= len(starts) {
			continue
		}
		if given := !n.IsNamed() && n.Start == starts[k] && n.End > n.Start; !given &&
			(n.Flags&(flat.Error|flat.HasError) == 0 || starts[k+1] >= n.End) {
			continue
		}
		span := facts.Span{Start: starts[k], End: starts[k+1]}
		line, _, _ := bytes.Cut(text[span.Start:span.End], []byte("\n"))
		if k := bytes.LastIndex(line, []byte("{ //")); k >= 0 {
			line = line[:k+1]
		}
		if line = bytes.TrimRight(line, " \t\r"); bytes.HasPrefix(line, []byte("func ")) && bytes.HasSuffix(line, []byte("{")) {
			span.Start += uint32(len(line)) - 1 // keep the signature
		}
		if copied == nil {
			copied = bytes.Clone(text)
		}
		changed := false
		for i := span.Start; i < span.End; i++ {
			if c := copied[i]; c != '\n' && c != ' ' && c != '\t' && c != '\r' {
				copied[i], changed = ' ', true
			}
		}
		if changed {
			spans = append(spans, span)
		}
	}
	return copied, spans
}

// declarations gives the offsets of the lines that start with a keyword of a
// top-level declaration.
func declarations(text []byte) []uint32 {
	var starts []uint32
	for i := 0; i < len(text); {
		for _, keyword := range []string{"func ", "type ", "var ", "const ", "import "} {
			if bytes.HasPrefix(text[i:], []byte(keyword)) {
				starts = append(starts, uint32(i))
				break
			}
		}
		k := bytes.IndexByte(text[i:], '\n')
		if k < 0 {
			break
		}
		i += k + 1
	}
	return starts
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
// same length, where an error stands close by.
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
