// Package pinned lets search read an opened generation of kv.
//
// It is the only place where the two meet: search itself imports no storage, so
// packets and verifiers that need its vocabulary alone stay free of it.
package pinned
