// Package facts is what parsing one file yields: definitions, scopes,
// bindings, imports, exports, expressions and reference sites. Facts are
// syntax only. They name no target in another file, hold no type that a
// compiler inferred, and are a pure function of path, bytes and language, so
// that they can be cached under an extraction key and never go stale.
//
// A file's facts are flat arrays that refer to each other by index. Index -1
// (None) means absent, except for expressions and strings, where entry 0 is
// reserved for "none". All offsets are byte offsets into the file, 0-based and
// half-open; lines are 1-based.
//
// The expression table is what lets a resolver be type-aware without the
// source: every callee, receiver, annotation, initialiser, base and decorator
// is kept as a small tree of Expr.
package facts
