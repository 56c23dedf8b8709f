// Package kv keeps generations: complete, immutable indexes of one snapshot
// each, on disk.
//
// The one idea is that nothing a reader may hold is ever written again. A build
// fills a staging folder, checks it with the reader's own code, syncs it,
// renames it into place and then swaps one small pointer file. Killed at any
// moment it leaves the previous generation serving and the next build able to
// run.
//
// # On disk
//
//	bindings/<key>/binding.json     which worktree this is; key is a hash of its canonical root
//	bindings/<key>/lock             held under flock by the one build
//	bindings/<key>/current          the pointer: serving and previous generation, with their digests
//	bindings/<key>/outcome.json     how the last build ended
//	bindings/<key>/staging/<name>/  a generation in the making
//	bindings/<key>/generations/<name>/
//	    graph.db         bbolt: manifest, nodes, adjacency, names, unresolved references, metadata
//	    sources.pack     zstd frames, one per distinct content
//	    facts.pack       zstd frames, one per extraction key
//	    generation.json  size and SHA-256 of the three above, and the identity
//	    lease            readers hold it under a shared flock
//	    text/            Bleve: nominates, is outside every digest, is rebuilt when damaged
//	    text.json        size and SHA-256 of the files below text/
//
// # Invariants
//
//   - The pointer binds generation.json by digest, which binds every other file
//     but the text index. All are checked before a byte is mapped; damage is
//     fault.IndexIntegrity, never a wrong answer and never a fault of the process.
//   - graph.db, sources.pack and facts.pack are a pure function of the snapshot
//     and the analysis rules: two builds give the same bytes.
//   - A generation made under other rules (another parser, resolver or schema)
//     is never served: fault.IndexMissing says so.
//   - The current, the previous and every leased generation stay. A lease ends
//     with the process that holds it, because the kernel drops its flock.
//
// It refuses a cache inside a repository, a second build at the same time, a
// build beyond the cache budget, and to delete what is in use.
package kv
