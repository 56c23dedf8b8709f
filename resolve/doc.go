// Package resolve turns the facts of all files of a snapshot into a graph: a
// pure function, deterministic, over the whole repository each time.
//
// Each language's resolver gives exactly one verdict for each reference site;
// this package makes nodes of definitions, edges of verdicts, and keeps the
// rest as unresolved or external. Two invariants are enforced here for every
// language: nothing in or below a damaged region is resolved_static, and no
// edge joins two resolvers' languages.
package resolve
