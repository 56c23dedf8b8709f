// Package graph is the vocabulary of a resolved repository: nodes, edges, and
// the verdict on every reference that became no edge.
//
// A graph is a pure function of the facts of a snapshot. Its arrays are sorted,
// its numbers are indexes into them, and two builds of the same bytes give the
// same arrays in the same order.
package graph
