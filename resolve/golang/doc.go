// Package golang resolves the references of Go files with Go's own rules: scopes
// of packages and files, import paths by go.mod, go.work and replace, declared
// types, method sets with embedding, instantiation of generics. It types just
// the expressions that a reference needs, from the facts, each once.
//
// Invariants:
//
//   - A verdict follows from declarations, never from names alone. What has no
//     declaration in the repository is external when its origin is known to be
//     outside, and unresolved otherwise; neither becomes an edge.
//   - A call through an interface is a candidate, never resolved_static: the
//     interface's method and every method of the repository that implements it,
//     by method set, at most maxImplementations of them; more are counted and
//     make the site an unresolved mention as well.
//   - No platform is picked. Definitions of one name in one package are all
//     candidates, unless the build constraint of the referring file excludes
//     them; a definition in the referring file itself is always the one meant.
//   - Definitions of _test.go files are seen by the test files of their folder only.
//
// What it does not do: values that flow through variables of function type are
// not followed (dynamic_call), a cgo name and everything vendored is external,
// and standard library functions have no known result types but for a small
// table of generic ones.
package golang
