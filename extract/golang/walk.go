package golang

import (
	"slices"
	"sort"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// Version of the extractor; part of the extraction key.
//
//	1: first
const Version = 1

// Extract gives the facts of one Go file. path is relative to the repository.
// The error is one of package flat's: the file yields no tree at all. A file
// with syntax errors gives partial facts and no error.
func Extract(p *flat.Parser, path, language string, src []byte) (*facts.File, error) {
	read, err := parse(p, src)
	if err != nil {
		return nil, err
	}
	tree := read.tree
	b := facts.NewBuilder(path, language, uint32(len(src)))
	w := &walker{
		tree: tree, n: tree.Nodes, src: src, b: b, f: b.File,
		owner: facts.None, attrs: map[uint64]facts.ExprID{}, types: map[facts.Str]facts.DefID{}, testFile: TestFile(path), pkg: facts.None,
	}
	w.f.Blanked = union(append(slices.Clone(read.renamed), read.blanked...))
	w.init()
	if len(w.n) > 0 {
		w.damageOf(read.blanked)
		w.constraints(path)
		for c := 1; c < len(w.n); c = int(w.n[c].Next) {
			w.node(c)
		}
	}
	w.finish()
	return w.f, nil
}

// walker is the state of one descent.
type walker struct {
	tree     flat.Tree
	n        []flat.Node
	src      []byte
	b        *facts.Builder
	f        *facts.File
	owner    facts.DefID   // innermost named definition
	scope    facts.ScopeID // innermost function
	local    int           // how many functions enclose
	testFile bool
	pkg      facts.DefID // the package clause
	defFlags facts.Flags // FlagConditional under a build constraint

	// The local name that a string means now: inForce[Str] is a binding's
	// index plus one, and undo restores what a block hid.
	inForce []int32
	undo    []hidden
	block   int32
	blocks  int32
	blockOf []int32 // block of each binding

	// Shared expressions: by Str, by binding, and x.f by (x, f).
	globals  []facts.ExprID
	locals   []facts.ExprID
	attrs    map[uint64]facts.ExprID
	literals [opBool + 1]facts.ExprID

	packages    []bool // by Str: the file imports a package under this name, as far as can be guessed
	predeclared []bool // by Str: predeclared types and constants

	types      map[facts.Str]facts.DefID // package-level types seen so far
	constraint facts.ExprID              // the file's build constraint
	// What a constant specification without values repeats.
	constType   facts.ExprID
	constValues []facts.ExprID
}

type hidden struct {
	name facts.Str
	was  int32
}

// predeclaredTypes, and the constants, which the parser takes for types in new(nil).
var predeclaredTypes = []string{
	"bool", "byte", "complex64", "complex128", "error", "float32", "float64", "int", "int8", "int16", "int32", "int64",
	"rune", "string", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "any", "nil", "true", "false", "iota",
}

func (w *walker) init() {
	for _, name := range predeclaredTypes {
		setBool(&w.predeclared, w.b.Str(name))
	}
}

func setBool(s *[]bool, i facts.Str) {
	for len(*s) <= int(i) {
		*s = append(*s, false)
	}
	(*s)[i] = true
}

func has(s []bool, i facts.Str) bool { return int(i) < len(s) && s[i] }

func (w *walker) op(i int) op {
	n := &w.n[i]
	if int(n.Kind) < len(ops) && n.Flags&flat.Error == 0 {
		return ops[n.Kind]
	}
	return opOther
}

// child gives the first child of i with a field, or -1.
func (w *walker) child(i int, field uint8) int { return w.tree.Child(i, field) }

func (w *walker) next(i int) int { return int(w.n[i].Next) }

func (w *walker) span(i int) facts.Span { return facts.Span{Start: w.n[i].Start, End: w.n[i].End} }

func (w *walker) str(i int) facts.Str { return w.b.Bytes(w.src[w.n[i].Start:w.n[i].End]) }

// hasToken says whether node i has a child of this kind.
func (w *walker) hasToken(i int, kind uint16) bool {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Kind == kind {
			return true
		}
	}
	return false
}

// children visits all children of i as statements.
func (w *walker) children(i int) {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		w.node(c)
	}
}

// push opens a block; pop closes it.
func (w *walker) push() (mark int, block int32) {
	mark, block = len(w.undo), w.block
	w.blocks++
	w.block = w.blocks
	return mark, block
}

func (w *walker) pop(mark int, block int32) {
	for k := len(w.undo) - 1; k >= mark; k-- {
		w.inForce[w.undo[k].name] = w.undo[k].was
	}
	w.undo = w.undo[:mark]
	w.block = block
}

// lookup gives the binding in force of a local name, or -1.
func (w *walker) lookup(name facts.Str) int32 {
	if int(name) < len(w.inForce) {
		return w.inForce[name] - 1
	}
	return -1
}

// bind declares a local name in the current block.
func (w *walker) bind(b facts.Binding) {
	if b.Name == 0 || w.f.Text(b.Name) == "_" {
		return
	}
	b.Scope = w.scope
	if w.damaged(b.Start) {
		b.Flags |= facts.FlagDamaged
	}
	w.f.Bindings = append(w.f.Bindings, b)
	w.blockOf = append(w.blockOf, w.block)
	w.locals = append(w.locals, 0)
	for len(w.inForce) <= int(b.Name) {
		w.inForce = append(w.inForce, 0)
	}
	w.undo = append(w.undo, hidden{b.Name, w.inForce[b.Name]})
	w.inForce[b.Name] = int32(len(w.f.Bindings))
}

// ref appends a reference site.
func (w *walker) ref(kind facts.RefKind, i int, e facts.ExprID, site facts.Span) int32 {
	r := facts.Ref{Kind: kind, Name: w.str(i), Scope: w.scope, Owner: w.owner, Span: w.span(i), Expr: e, Site: site}
	if w.damaged(r.Start) {
		r.Flags |= facts.FlagDamaged
	}
	return w.b.Ref(r)
}

// def appends a definition whose name is node name.
func (w *walker) def(d facts.Def, name int) facts.DefID {
	d.Name, d.NameStart, d.NameEnd = w.str(name), w.n[name].Start, w.n[name].End
	if d.Qual == 0 {
		d.Qual = d.Name
	}
	d.Flags |= w.defFlags
	if exported(w.src[d.NameStart:d.NameEnd]) {
		d.Flags |= facts.FlagExported
	}
	if w.local > 0 {
		d.Flags |= facts.FlagLocal
	}
	if w.damaged(d.NameStart) {
		d.Flags |= facts.FlagDamaged
	}
	return w.b.Def(d)
}

// qualify gives "parent.name", or name when the parent is the file.
func (w *walker) qualify(parent facts.DefID, name facts.Str) facts.Str {
	if parent == facts.None {
		return name
	}
	return w.b.Str(w.f.Text(w.f.Defs[parent].Qual) + "." + w.f.Text(name))
}

// damageOf collects the regions in which nothing can be trusted: ERROR nodes,
// and the parents of MISSING ones, whose extent the parser invented.
func (w *walker) damageOf(blanked []facts.Span) {
	damage := append(slices.Clone(blanked), w.statements()...)
	if w.n[0].Flags&(flat.HasError|flat.Error|flat.Missing) == 0 && len(damage) == 0 {
		return
	}
	w.f.Status = facts.Partial
	damage = append(damage, w.indented()...)
	type open struct{ node, last int }
	var stack []open
	for i := range w.n {
		for len(stack) > 0 && int(w.n[stack[len(stack)-1].node].Next) <= i {
			stack = stack[:len(stack)-1]
		}
		switch {
		case w.n[i].Flags&flat.Error != 0:
			damage = append(damage, w.span(i))
		case w.n[i].Flags&flat.Missing != 0 && len(stack) > 1:
			damage = append(damage, w.span(stack[len(stack)-1].node))
		case w.n[i].Flags&flat.Missing != 0 && len(stack) == 1:
			// Missing at the top level: what stands before it is in doubt.
			damage = append(damage, facts.Span{Start: w.n[stack[0].last].Start, End: w.n[i].End})
		}
		if len(stack) > 0 {
			stack[len(stack)-1].last = i
		}
		stack = append(stack, open{i, i})
	}
	if len(damage) == 0 {
		damage = append(damage, w.span(0))
	}
	w.f.Damage = union(damage)
}

// statements gives the statements at the top level: the grammar takes them, Go
// does not. They come after a brace too many.
func (w *walker) statements() []facts.Span {
	var out []facts.Span
	for c := 1; c < len(w.n); c = w.next(c) {
		if !w.n[c].IsNamed() || w.n[c].Kind == kindImportDecl || w.n[c].Flags&(flat.Error|flat.Missing) != 0 {
			continue
		}
		switch w.op(c) {
		case opSkip, opPackage, opFunction, opMethod, opVarDecl, opConstDecl, opTypeDecl:
		default:
			if w.n[c].End > w.n[c].Start {
				out = append(out, w.span(c))
			}
		}
	}
	return out
}

// indented gives the top-level declarations of a damaged file that do not start
// a line: they may well belong into a function.
func (w *walker) indented() []facts.Span {
	var out []facts.Span
	for c := 1; c < len(w.n); c = w.next(c) {
		switch w.op(c) {
		case opVarDecl, opConstDecl, opTypeDecl:
			if start := w.n[c].Start; start > 0 && w.src[start-1] != '\n' {
				out = append(out, w.span(c))
			}
		}
	}
	return out
}

// union sorts spans and joins those that touch.
func union(spans []facts.Span) []facts.Span {
	if len(spans) == 0 {
		return nil
	}
	slices.SortFunc(spans, func(a, b facts.Span) int { return int(a.Start) - int(b.Start) })
	merged := spans[:1]
	for _, d := range spans[1:] {
		if top := &merged[len(merged)-1]; d.Start <= top.End {
			top.End = max(top.End, d.End)
		} else {
			merged = append(merged, d)
		}
	}
	return merged
}

// damaged says whether an offset lies in a damaged region.
func (w *walker) damaged(offset uint32) bool {
	if len(w.f.Damage) == 0 {
		return false
	}
	k := sort.Search(len(w.f.Damage), func(i int) bool { return w.f.Damage[i].End > offset })
	return k < len(w.f.Damage) && w.f.Damage[k].Start <= offset
}

// finish puts the references in order of Start. An import's Ref is the index of
// the reference that stands where it stands.
func (w *walker) finish() {
	byStart := func(a, b facts.Ref) int {
		if a.Start != b.Start {
			return int(a.Start) - int(b.Start)
		}
		return int(a.Kind) - int(b.Kind)
	}
	if slices.IsSortedFunc(w.f.Refs, byStart) {
		return
	}
	slices.SortStableFunc(w.f.Refs, byStart)
	k := 0
	for i, r := range w.f.Refs {
		if r.Kind == facts.RefImport && k < len(w.f.Imports) {
			w.f.Imports[k].Ref = int32(i)
			k++
		}
	}
}
