package extract

import "github.com/exhibit-dev/exhibit/extract/ecma"

// registry is every language that Exhibit reads.
var registry = sorted(&textSpec, &javascriptSpec, &typescriptSpec, &tsxSpec)

const typescriptGrammar = "github.com/tree-sitter/tree-sitter-typescript@v0.23.2"

// JavaScript and TypeScript import each other: one resolver reads them all.
var (
	javascriptSpec = Spec{
		Name: "javascript", Extensions: []string{".js", ".jsx", ".mjs", ".cjs"},
		Grammar: "github.com/tree-sitter/tree-sitter-javascript@v0.25.0",
		Version: ecma.Version, Resolver: "ecma", TestFile: ecma.TestFile, extract: ecma.Extract,
	}
	typescriptSpec = Spec{
		Name: "typescript", Extensions: []string{".ts", ".mts", ".cts"}, Grammar: typescriptGrammar,
		Version: ecma.Version, Resolver: "ecma", TestFile: ecma.TestFile, extract: ecma.Extract,
	}
	tsxSpec = Spec{
		Name: "tsx", Extensions: []string{".tsx"}, Grammar: typescriptGrammar,
		Version: ecma.Version, Resolver: "ecma", TestFile: ecma.TestFile, extract: ecma.Extract,
	}
)
