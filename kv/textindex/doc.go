// Package textindex is the full-text index of a generation: words of names,
// paths and signatures to the files that bear them, in a Bleve index that is
// built once and opened read-only. A document for each definition would cost ten
// times as much and nominate little better: whoever asks looks into the files.
//
// It only nominates. Bleve gives other bytes for the same input each time, ties
// in any order, and does not notice damage; so it is outside every identity,
// its owner checks its files by digest and rebuilds it, and Candidates orders by
// a key of its own: how many of the words a file bears, then its number.
// Words are split by Terms, at indexing and at asking alike; nothing that a user
// types is query syntax.
//
// It refuses to wait for an index that does not open.
package textindex
