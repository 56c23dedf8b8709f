package ecma

import (
	"context"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// Version of the rules: part of every fingerprint.
//
//	1: first.
//	2: an import of a type that a global value is named as; members added to interfaces of others, and members
//	   of Function, are not external; an abstract method implements nothing; candidates beyond the bound are counted.
const Version = 3

// Bounds of evaluation, in steps of some 200 ns: for one reference, and for the
// references of one file together. Ordinary code takes a handful for each; what
// lies beyond a bound stays unresolved.
const (
	maxSteps  = 4000
	fileSteps = 500_000
	refSteps  = 200
)

// resolver is one run. It is used by one goroutine.
type resolver struct {
	in     *graph.Input
	files  []*file
	byPath map[string]int32
	paths  map[string]bool
	config *config

	modules   map[moduleKey]module
	exported  map[exportKey]entity
	aliases   map[graph.DefRef]*typ
	ambient   map[string][]graph.DefRef    // what scripts and `declare global` declare for all
	augmented map[string]map[string]bool   // member -> the interfaces of others that the repository adds it to
	below     map[memberKey][]graph.DefRef // what overrides or implements a member
	results   map[graph.DefRef]*typ
	open      map[graph.DefRef]int // generic aliases being evaluated
	h         hierarchy

	steps  int // left for the reference at hand
	depth  int
	cyclic int  // cycles met so far
	cut    bool // a bound was reached: what came out is not remembered
}

// file is one file's facts with what is derived from them.
type file struct {
	i       int32
	f       *facts.File
	names   map[uint64][]int32 // scope and name -> bindings
	members map[facts.DefID][]facts.DefID
	attrs   map[facts.DefID][]int32 // class or function -> BindAttr bindings
	exports map[string][]int32
	stars   []int32
	assign  []int32 // ExportAssign
	esm     bool

	scopes    []facts.ScopeID // by start
	importRef map[int32]facts.ImportID
	exportRef map[int32]int32
	strs      map[string]facts.Str

	params     map[uint32]facts.ExprID   // type parameters by place
	paramsOf   map[facts.ScopeID][]int32 // parameters of a function
	types      map[facts.ExprID]*typ     // type expressions that need no environment
	bound      map[int32]*typ            // types of bindings
	linked     bool
	parents    []facts.ExprID                // of expressions, made on demand
	keywords   map[facts.DefID]facts.ExprID  // the object member that a function is
	lambdas    map[facts.DefID]facts.ExprID  // the expression of a function
	annotated  map[facts.ExprID]facts.ExprID // values with an annotation beside them
	returned   map[facts.ExprID]facts.DefID  // what a function gives back
	assignedTo map[facts.DefID]int32
	values     []*typ
	state      []uint8
}

// Resolve gives a verdict for every reference of every file. Files are those of
// JavaScript and TypeScript, sorted by path.
func Resolve(ctx context.Context, in *graph.Input) (graph.Part, error) {
	return graph.Collect(len(in.Files), func(give graph.Give) error { return Each(ctx, in, give) })
}

// Each gives the verdicts of each file as soon as they are known, so that they
// need not all be held at once. The references of a file whose verdicts are
// given are not looked at again.
func Each(ctx context.Context, in *graph.Input, give graph.Give) error {
	r := &resolver{in: in, byPath: make(map[string]int32, len(in.Files)), paths: make(map[string]bool, len(in.Paths)),
		modules: map[moduleKey]module{}, exported: map[exportKey]entity{}, open: map[graph.DefRef]int{},
		results: map[graph.DefRef]*typ{}, below: map[memberKey][]graph.DefRef{}}
	for _, p := range in.Paths {
		r.paths[p] = true
	}
	for i, f := range in.Files {
		r.byPath[f.Path] = int32(i)
		r.files = append(r.files, newFile(int32(i), f))
	}
	r.config = readConfig(in)
	r.declareAmbient()
	r.h = r.buildHierarchy()
	r.noteAugmented()
	var verdicts []graph.Verdict
	for i, f := range r.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		verdicts = graph.Room(verdicts, len(f.f.Refs))
		budget := fileSteps + refSteps*len(f.f.Refs)
		for j := range f.f.Refs {
			r.steps, r.depth, r.cut = min(maxSteps, budget), 0, false
			given := r.steps
			verdicts[j] = r.verdict(f, int32(j))
			budget -= given - r.steps
		}
		give(i, verdicts)
	}
	return nil
}

func newFile(i int32, f *facts.File) *file {
	x := &file{i: i, f: f, names: make(map[uint64][]int32, len(f.Bindings)), members: map[facts.DefID][]facts.DefID{},
		attrs: map[facts.DefID][]int32{}, paramsOf: map[facts.ScopeID][]int32{}, exports: map[string][]int32{}, importRef: map[int32]facts.ImportID{}, exportRef: map[int32]int32{}}
	for k := range f.Bindings {
		b := &f.Bindings[k]
		if b.Kind == facts.BindAttr {
			continue
		}
		if b.Kind == facts.BindParam {
			x.paramsOf[b.Scope] = append(x.paramsOf[b.Scope], int32(k))
		}
		key := nameKey(b.Scope, b.Name)
		x.names[key] = append(x.names[key], int32(k))
	}
	for d := range f.Defs {
		if p := f.Defs[d].Parent; p >= 0 && f.Defs[d].Kind != facts.KindLambda {
			switch f.Defs[p].Kind {
			case facts.KindClass, facts.KindInterface, facts.KindEnum:
				x.members[p] = append(x.members[p], facts.DefID(d))
			}
		}
	}
	for k := range f.Imports {
		if ref := f.Imports[k].Ref; ref >= 0 {
			x.importRef[ref] = facts.ImportID(k)
		}
		x.esm = x.esm || f.Imports[k].Kind <= facts.ImportNamespace && f.Imports[k].Flags&facts.FlagRelative == 0
	}
	for k := range f.Exports {
		e := &f.Exports[k]
		switch e.Kind {
		case facts.ExportStar:
			x.stars = append(x.stars, int32(k))
		case facts.ExportAssign:
			x.assign = append(x.assign, int32(k))
		default:
			x.exports[f.Text(e.Name)] = append(x.exports[f.Text(e.Name)], int32(k))
		}
		if e.Kind != facts.ExportAssign && e.Kind != facts.ExportMember {
			x.esm = true
		}
		if e.Ref >= 0 {
			x.exportRef[e.Ref] = int32(k)
		}
	}
	for k := range f.Bindings {
		if b := &f.Bindings[k]; b.Kind == facts.BindAttr {
			x.bindAttr(int32(k), b)
		}
	}
	x.scopes = make([]facts.ScopeID, len(f.Scopes))
	sorted := true
	for s := range f.Scopes {
		x.scopes[s] = facts.ScopeID(s)
		sorted = sorted && (s == 0 || f.Scopes[s].Start >= f.Scopes[s-1].Start)
	}
	if !sorted {
		sortScopes(f, x.scopes)
	}
	return x
}

// bindAttr files an assignment to a member under what it is assigned to: the
// class of this, or the function or variable of the module that is named.
func (x *file) bindAttr(k int32, b *facts.Binding) {
	f := x.f
	if b.Target == 0 {
		return
	}
	t := f.Exprs[b.Target]
	if t.Kind == facts.ExprThis {
		if t.Def >= 0 {
			x.attrs[t.Def] = append(x.attrs[t.Def], k)
		}
		return
	}
	prototype := false
	if t.Kind == facts.ExprAttr && f.Text(t.Name) == "prototype" {
		prototype = true
		t = f.Exprs[f.Child(b.Target, 0)]
	}
	if t.Kind != facts.ExprName {
		return
	}
	for s := b.Scope; s >= 0; s = f.Scopes[s].Parent {
		for _, o := range x.names[nameKey(s, t.Name)] {
			if d := f.Bindings[o].Def; f.Bindings[o].Kind == facts.BindDef {
				x.attrs[d] = append(x.attrs[d], k)
				if prototype && b.Def >= 0 {
					x.members[d] = append(x.members[d], b.Def)
				}
				return
			}
		}
	}
}

func nameKey(s facts.ScopeID, n facts.Str) uint64 { return uint64(uint32(s))<<32 | uint64(n) }

// str gives the number of a string in this file, 0 when the file has no such.
func (x *file) str(s string) facts.Str {
	if x.strs == nil {
		x.strs = make(map[string]facts.Str, len(x.f.Strings))
		for i := len(x.f.Strings) - 1; i > 0; i-- {
			x.strs[x.f.Strings[i]] = facts.Str(i)
		}
	}
	return x.strs[s]
}

func (r *resolver) def(d graph.DefRef) *facts.Def { return &r.files[d.File].f.Defs[d.Def] }
