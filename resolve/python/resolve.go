package python

import (
	"context"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// Version is the version of these rules. It changes whenever some verdict would.
//
//	1  first
//	2  candidates are bounded, and those beyond the bound counted
const Version = 3

// maxDepth bounds how deep evaluation nests: no chain of definitions that a
// person wrote is longer.
const maxDepth = 200

type resolver struct {
	room []graph.Verdict // of the file in hand

	in      *graph.Input
	project *project
	syms    symbols
	files   []*file

	classes []class
	classOf map[graph.DefRef]int32

	plain map[plainValue]values // one copy of each value that is remembered often
	found [][]decl
	depth int

	types      map[typeKey]values
	overriding map[memberKey][]graph.DefRef
	returned   map[graph.DefRef]values
	keeps      map[graph.DefRef]bool
	made       map[graph.DefRef]values
	fixtures   map[symbol][]graph.DefRef
	well       wellKnown
}

type memberKey struct {
	class int32
	name  symbol
}

// Resolve gives one verdict for each reference of each file. in holds Python
// files only. It ends with the context's error when that is done.
func Resolve(ctx context.Context, in *graph.Input) (graph.Part, error) {
	return graph.Collect(len(in.Files), func(give graph.Give) error { return Each(ctx, in, give) })
}

// Each gives the verdicts of each file as soon as they are known, so that they
// need not all be held at once.
func Each(ctx context.Context, in *graph.Input, give graph.Give) error {
	r := &resolver{
		in: in, project: newProject(in), syms: symbols{ids: map[string]symbol{}}, classOf: map[graph.DefRef]int32{},
		types: map[typeKey]values{}, plain: map[plainValue]values{}, returned: map[graph.DefRef]values{}, keeps: map[graph.DefRef]bool{}, made: map[graph.DefRef]values{}, overriding: map[memberKey][]graph.DefRef{}, fixtures: map[symbol][]graph.DefRef{},
	}
	r.syms.id("")
	r.well = newWellKnown(&r.syms)
	for _, f := range in.Files {
		r.files = append(r.files, newFile(f, &r.syms))
	}
	r.collect()
	r.linkClasses()
	for i, f := range r.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		give(i, r.file(int32(i), f))
		f.forget()
	}
	return nil
}

// collect numbers the classes and finds the fixtures of all files.
func (r *resolver) collect() {
	for i, f := range r.files {
		for d := range f.Defs {
			def := &f.Defs[d]
			switch def.Kind {
			case facts.KindClass:
				r.classOf[graph.DefRef{File: int32(i), Def: facts.DefID(d)}] = int32(len(r.classes))
				r.classes = append(r.classes, class{file: int32(i), def: facts.DefID(d)})
			case facts.KindFunction, facts.KindMethod:
				if def.Decorators != 0 && r.isFixture(f, def) {
					name := f.symbols[def.Name]
					r.fixtures[name] = append(r.fixtures[name], graph.DefRef{File: int32(i), Def: facts.DefID(d)})
				}
			}
		}
	}
}

func (r *resolver) isFixture(f *file, def *facts.Def) bool {
	for _, c := range f.Children(def.Decorators) {
		x := &f.Exprs[c]
		if x.Kind == facts.ExprCall {
			x = &f.Exprs[f.Child(c, 0)]
		}
		if f.Text(x.Name) == "fixture" {
			return true
		}
	}
	return false
}
