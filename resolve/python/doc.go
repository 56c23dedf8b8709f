// Package python resolves the references of Python files: a pure function from
// the facts of all of them to one verdict for each reference.
//
// It evaluates expressions to the values they may have (modules, classes,
// functions, instances) as far as the source alone tells: imports are followed
// to definitions, names through the scopes that the language defines, members
// through the method resolution order. What the source proves is
// resolved_static. What rests on an annotation, an inferred result or attribute,
// on one of several bindings, or on a member that a subclass in the repository
// overrides, is a candidate. A name alone never makes an edge.
//
// Evaluation is memoised for each expression and each binding, and an
// expression that is met again while it is being evaluated has no value, so
// cycles of imports, classes and assignments end. Everything is visited in the
// order of files and references: the same facts give the same verdicts.
//
// Imports are found as Python finds them: relative to the package, else in the
// folder of the script or of the package's parent, in the roots of the project
// around it (its src folder and configured package folders, the operator's
// source roots, the repository), and last in the other projects of the
// repository. A module of the standard library is one of the repository only
// where Python would find that file first, or where the repository is the
// standard library.
package python
