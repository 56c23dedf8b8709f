// Package ecma resolves the references of JavaScript and TypeScript.
//
// It is a type-aware resolver over facts, a pure function of them. Names are
// looked up in scopes as the language nests them; imports are followed through
// the module resolution of the compilers (relative paths, tsconfig, workspace
// packages) and through export tables; receivers are typed from annotations,
// constructions, results and contexts.
//
// What it claims as resolved_static, a compiler would resolve to the very same
// declaration, and no subclass in the repository overrides it. Dispatch that
// only the run decides (interfaces, abstract and overridden members, rebound or
// united receivers) gives candidates. A call of a value that is no declaration
// (a parameter, a field that holds a function) is no edge. What the standard
// library, a dependency or a test runner defines is external. A name alone
// never makes an edge.
//
// Evaluation is lazy, memoised and bounded in depth and steps: cycles of
// imports, types and initialisers end.
package ecma
