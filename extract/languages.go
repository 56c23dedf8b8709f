package extract

import (
	"github.com/exhibit-dev/exhibit/extract/ecma"
	"github.com/exhibit-dev/exhibit/extract/golang"
	"github.com/exhibit-dev/exhibit/extract/python"
)

// The grammars, at the versions that go.mod pins.
const (
	goGrammar         = "tree-sitter-go@v0.25.0"
	javascriptGrammar = "tree-sitter-javascript@v0.25.0"
	pythonGrammar     = "tree-sitter-python@v0.25.0"
	typescriptGrammar = "tree-sitter-typescript@v0.23.2"
)

// registry is every language that Exhibit reads.
var registry = sorted(
	&textSpec,
	&Spec{Name: "go", Extensions: []string{".go"}, Grammar: goGrammar, Version: golang.Version, Resolver: "go",
		TestFile: golang.TestFile, grammar: golang.Grammar, extract: golang.Extract},
	&Spec{Name: "javascript", Extensions: []string{".js", ".jsx", ".mjs", ".cjs"}, Grammar: javascriptGrammar, Version: ecma.Version,
		Resolver: "ecma", TestFile: ecma.TestFile, grammar: ecma.Grammar, extract: ecma.Extract},
	&Spec{Name: "python", Extensions: []string{".py", ".pyi"}, Grammar: pythonGrammar, Version: python.Version, Resolver: "python",
		TestFile: python.TestFile, grammar: python.Grammar, extract: python.Extract},
	&Spec{Name: "typescript", Extensions: []string{".ts", ".mts", ".cts"}, Grammar: typescriptGrammar, Version: ecma.Version,
		Resolver: "ecma", TestFile: ecma.TestFile, grammar: ecma.Grammar, extract: ecma.Extract},
	&Spec{Name: "tsx", Extensions: []string{".tsx"}, Grammar: typescriptGrammar, Version: ecma.Version, Resolver: "ecma",
		TestFile: ecma.TestFile, grammar: ecma.Grammar, extract: ecma.Extract},
)
