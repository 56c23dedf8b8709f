package resolve

import (
	"context"
	"fmt"
	"runtime"

	"golang.org/x/sync/errgroup"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// Resolve makes the graph of a snapshot. in.Files must be sorted by path; files
// of languages without a resolver become nodes and nothing else. It takes
// in.Files over: facts are let go as soon as the last verdict is given.
func Resolve(ctx context.Context, in *graph.Input) (*graph.Graph, error) {
	for i := 1; i < len(in.Files); i++ {
		if in.Files[i-1].Path >= in.Files[i].Path {
			return nil, fmt.Errorf("resolve: files are not sorted: %q stands before %q", in.Files[i-1].Path, in.Files[i].Path)
		}
	}
	a := newAssembly(in)
	if err := a.resolve(ctx); err != nil {
		return nil, err
	}
	paths := make([]string, len(in.Files))
	for i, f := range in.Files {
		paths[i] = f.Path
	}
	in.Files = nil
	return a.finish(paths), ctx.Err()
}

// resolve runs the resolvers side by side.
func (a *assembly) resolve(ctx context.Context) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for _, r := range resolvers {
		own, members := split(a.in, r.Name)
		if len(own.Files) == 0 {
			continue
		}
		group.Go(func() error {
			err := r.Each(ctx, own, func(file int, verdicts []graph.Verdict) { a.file(members[file], members, verdicts) })
			if err != nil {
				return fmt.Errorf("resolve %s: %w", r.Name, err)
			}
			return nil
		})
	}
	return group.Wait()
}

// split gives a resolver's input and, for each of its files, the index in in.Files.
func split(in *graph.Input, name string) (*graph.Input, []int32) {
	out := &graph.Input{Config: in.Config, Paths: in.Paths, SourceRoots: in.SourceRoots}
	var members []int32
	for i, f := range in.Files {
		if s := extract.Find(f.Language); s != nil && s.Resolver == name {
			out.Files = append(out.Files, f)
			members = append(members, int32(i))
		}
	}
	return out, members
}
