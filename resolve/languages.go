package resolve

import (
	"context"

	"github.com/exhibit-dev/exhibit/resolve/ecma"
	"github.com/exhibit-dev/exhibit/resolve/golang"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/resolve/python"
)

// resolver is one language family's rules. The input holds only its own files.
type resolver struct {
	Name    string // Spec.Resolver of the registry of languages
	Version int
	Each    func(ctx context.Context, in *graph.Input, give graph.Give) error
}

// resolvers is every resolver, sorted by name.
var resolvers = []resolver{
	{Name: "ecma", Version: ecma.Version, Each: ecma.Each},
	{Name: "go", Version: golang.Version, Each: golang.Each},
	{Name: "python", Version: python.Version, Each: python.Each},
}

// Builds gives the version of each resolver, by name, for the fingerprint.
func Builds() map[string]int {
	m := map[string]int{}
	for _, r := range resolvers {
		m[r.Name] = r.Version
	}
	return m
}
