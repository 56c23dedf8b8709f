// Package ecma extracts facts from JavaScript and TypeScript.
//
// One descent over the flattened tree makes scopes, definitions, bindings,
// imports, exports, expressions and reference sites together; the three
// grammars (javascript, typescript, tsx) share one walker that compares small
// operation numbers, looked up once per grammar. Names are bound to scopes the
// way the language hoists them, so a use may come before its declaration.
//
// Invariants: every range lies inside the file; a container comes before its
// members; what stands inside or below an ERROR node, or in the node that lacks
// a MISSING token, is flagged damaged and a resolver proves nothing from it.
//
// Constructs that the pinned grammars cannot read are replaced by text of the
// same length, and the file is parsed again; the second tree is kept only when
// it has fewer errors. What was replaced is told in File.Blanked. Names are
// always read from the bytes of the file itself.
//
// Refused: text that is not UTF-8, and files beyond the parser's bounds. Their
// facts say Failed and why.
package ecma
