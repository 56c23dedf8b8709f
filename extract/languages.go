package extract

import "github.com/exhibit-dev/exhibit/extract/golang"

// registry is every language that Exhibit reads.
var registry = sorted(&textSpec, &goSpec)

var goSpec = Spec{
	Name:       "go",
	Extensions: []string{".go"},
	Grammar:    "github.com/tree-sitter/tree-sitter-go@v0.25.0",
	Version:    golang.Version,
	Resolver:   "golang",
	TestFile:   golang.TestFile,
	extract:    golang.Extract,
}
