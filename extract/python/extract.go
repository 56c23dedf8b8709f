package python

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// Version is the version of this extractor. It changes whenever the facts of
// some file would.
//
//	1  first
//	2  methods of any class of a test file are tests
const Version = 2

// ErrEncoding says that a file's bytes are not UTF-8.
var ErrEncoding = errors.New("unsupported_encoding")

// Extract gives the facts of one Python file. path is the path inside the
// repository, with slashes; language is "python". The error is ErrEncoding or
// one of the parser's (flat.ErrTimeout, flat.ErrTooDeep, ...): then the file
// has no facts.
func Extract(p *flat.Parser, path, lang string, src []byte) (*facts.File, error) {
	if !utf8.Valid(src) {
		return nil, ErrEncoding
	}
	text := normalize(src)
	tree, err := p.Parse(language, text, flat.Options{})
	if err != nil {
		return nil, err
	}
	e := &extractor{
		b: facts.NewBuilder(path, lang, uint32(len(src))), t: tree, src: text,
		owner: facts.None, stub: strings.HasSuffix(path, ".pyi"), testFile: testName(path),
		vars: map[varKey]facts.DefID{}, literals: map[string]facts.ExprID{}, frames: []frame{{scope: 0}},
	}
	e.f = e.b.File
	e.blockEnd = uint32(len(src))
	if len(tree.Nodes) > 0 {
		e.node(0)
	}
	e.finish()
	return e.f, nil
}

// normalize gives the bytes to parse: a carriage return that no line feed
// follows ends a line in Python but not in the grammar, which would then see a
// body as one line. It is replaced byte for byte, so offsets stay.
func normalize(src []byte) []byte {
	i := bytes.IndexByte(src, '\r')
	if i < 0 {
		return src
	}
	var out []byte
	for ; i < len(src); i++ {
		if src[i] != '\r' || i+1 < len(src) && src[i+1] == '\n' {
			continue
		}
		if out == nil {
			out = bytes.Clone(src)
		}
		out[i] = '\n'
	}
	if out == nil {
		return src
	}
	return out
}

// TestFile says whether path is a test file by the conventions of pytest and
// unittest: test_*.py, *_test.py, tests.py, conftest.py, or anything in a
// folder named test or tests.
func TestFile(path string) bool {
	dir, name := "", path
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir, name = path[:i], path[i+1:]
	}
	if testName(path) || name == "conftest.py" {
		return true
	}
	for part := range strings.SplitSeq(dir, "/") {
		if part == "test" || part == "tests" {
			return true
		}
	}
	return false
}

// testName says whether the name of a file is one that test runners collect.
func testName(path string) bool {
	name := path[strings.LastIndexByte(path, '/')+1:]
	stem, ok := strings.CutSuffix(name, ".py")
	return ok && (strings.HasPrefix(stem, "test_") || strings.HasSuffix(stem, "_test") || stem == "tests" || stem == "test")
}

type varKey struct {
	scope facts.ScopeID
	name  facts.Str
}

// frame is a function, class or module whose body is being read.
type frame struct {
	scope   facts.ScopeID
	def     facts.DefID
	results int // start of its part of extractor.results
	gen     bool
	moved   []moved // names that global and nonlocal statements moved
}

type moved struct {
	name  facts.Str
	scope facts.ScopeID
}

type extractor struct {
	b   *facts.Builder
	f   *facts.File
	t   flat.Tree
	src []byte

	scope    facts.ScopeID
	owner    facts.DefID // innermost named definition
	frames   []frame     // innermost last
	flags    facts.Flags // FlagConditional, FlagDamaged, FlagTypeChecking in force
	condEnd  uint32      // end of the innermost conditional block, 0 outside
	blockEnd uint32      // end of the innermost block

	stub, testFile bool
	kids           []facts.ExprID // stack of expressions under construction
	results        []facts.ExprID // stack of returned and yielded expressions
	vars           map[varKey]facts.DefID
	literals       map[string]facts.ExprID
}

func (e *extractor) span(i int) facts.Span {
	n := &e.t.Nodes[i]
	return facts.Span{Start: n.Start, End: n.End}
}

func (e *extractor) str(i int) facts.Str { return e.b.Bytes(e.t.Text(i)) }

func (e *extractor) kind(i int) uint16 { return e.t.Nodes[i].Kind }

// enter notes damage at node i and gives the flags to restore when leaving it.
// A node with a MISSING child, or with an ERROR child where the grammar cannot
// just have skipped a statement, is damaged as a whole.
func (e *extractor) enter(i int) facts.Flags {
	saved := e.flags
	n := &e.t.Nodes[i]
	if n.Flags&(flat.HasError|flat.Error|flat.Missing) == 0 || e.flags&facts.FlagDamaged != 0 {
		return saved
	}
	if n.Flags&(flat.Error|flat.Missing) != 0 {
		e.damage(i)
		e.flags |= facts.FlagDamaged
		return saved
	}
	for c := i + 1; c < int(n.Next); c = int(e.t.Nodes[c].Next) {
		f := e.t.Nodes[c].Flags
		if f&flat.Missing != 0 || f&flat.Error != 0 && n.Kind != kModule && n.Kind != kBlock {
			e.flags |= facts.FlagDamaged
		}
	}
	if e.flags&facts.FlagDamaged != 0 {
		e.damages(i)
	}
	return saved
}

func (e *extractor) damage(i int) {
	e.f.Damage = append(e.f.Damage, e.span(i))
}

// damages notes every topmost ERROR or MISSING node below i.
func (e *extractor) damages(i int) {
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; {
		n := &e.t.Nodes[c]
		switch {
		case n.Flags&(flat.Error|flat.Missing) != 0:
			e.damage(c)
			c = int(n.Next)
		case n.Flags&flat.HasError == 0:
			c = int(n.Next)
		default:
			c++
		}
	}
}

// finish does what needs the whole file: damage in order, variables that were
// never rebound, exports, and the names that turned out to be local.
func (e *extractor) finish() {
	f := e.f
	if len(f.Damage) > 0 {
		f.Status = facts.Partial
		f.Damage = mergeSpans(f.Damage)
	}
	rebound := map[facts.DefID]int{}
	for i := range f.Bindings {
		b := &f.Bindings[i]
		if b.Def != facts.None && b.Kind != facts.BindDef {
			rebound[b.Def]++
		}
	}
	for i := range f.Defs {
		d := &f.Defs[i]
		if d.Kind == facts.KindVariable && rebound[facts.DefID(i)] == 1 && d.Flags&facts.FlagConst != 0 {
			d.Kind = facts.KindConstant
		} else if d.Kind == facts.KindVariable && rebound[facts.DefID(i)] > 1 {
			d.Flags = d.Flags&^facts.FlagConst | facts.FlagRebound
		}
	}
	e.dropLocals()
	e.order()
}

func mergeSpans(spans []facts.Span) []facts.Span {
	slices.SortFunc(spans, func(a, b facts.Span) int {
		if a.Start != b.Start {
			return int(int64(a.Start) - int64(b.Start))
		}
		return int(int64(b.End) - int64(a.End))
	})
	out := spans[:1]
	for _, s := range spans[1:] {
		last := &out[len(out)-1]
		if s.Start < last.End || s == *last {
			last.End = max(last.End, s.End)
			continue
		}
		out = append(out, s)
	}
	return out
}
