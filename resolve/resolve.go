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
// of languages without a resolver become nodes and nothing else.
func Resolve(ctx context.Context, in *graph.Input) (*graph.Graph, error) {
	for i := 1; i < len(in.Files); i++ {
		if in.Files[i-1].Path >= in.Files[i].Path {
			return nil, fmt.Errorf("resolve: files are not sorted: %q stands before %q", in.Files[i-1].Path, in.Files[i].Path)
		}
	}
	parts := make([]graph.Part, len(resolvers))
	inputs := make([]*graph.Input, len(resolvers))
	members := make([][]int32, len(resolvers))
	for i, r := range resolvers {
		inputs[i], members[i] = split(in, r.Name)
	}
	group, groupCtx := errgroup.WithContext(ctx)
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i, r := range resolvers {
		if len(inputs[i].Files) == 0 {
			continue
		}
		group.Go(func() error {
			part, err := r.Resolve(groupCtx, inputs[i])
			if err != nil {
				return fmt.Errorf("resolve %s: %w", r.Name, err)
			}
			parts[i] = part
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	a := newAssembly(in)
	for i := range parts {
		for j, verdicts := range parts[i] {
			a.file(members[i][j], members[i], verdicts)
		}
		parts[i] = nil
	}
	return a.finish(), ctx.Err()
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
