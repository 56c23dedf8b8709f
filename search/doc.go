// Package search answers bounded questions over one pinned generation: names,
// full text and graph traversal.
//
// The text index only nominates; a stable key of our own orders. Every cut is
// stated, every answer about a name says how many unresolved references still
// bear it, and the same generation and request give the same bytes.
package search
