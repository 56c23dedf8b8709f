// Package snapshot answers which files, with which exact bytes, at which
// identity: it reads a commit's blobs or the worktree's bytes into a manifest,
// and says later whether it is still so.
//
// Start with Open, Repository.Resolve and Repository.ScanCommit or
// Repository.ScanWorktree; ContentFingerprint names what was scanned.
//
// Invariants:
//   - Nothing is ever written below .git, no git process runs, nothing is
//     fetched, and no hook, filter driver or include of a configuration is
//     followed.
//   - Every object that is handed out or relied on has been hashed again: commits,
//     tags, trees and blobs. refs/replace and grafts change nothing.
//   - No symbolic link below the worktree's root is followed, at any component.
//   - Paths are bytes. They are never folded, normalised or cut.
//   - What is not indexed stays in the manifest with a reason, and an aggregate
//     over its limit fails the scan: a manifest is never a part.
//   - A clean worktree and its commit give equal entries, hence one fingerprint,
//     whatever line ends and encodings Git checked out.
//   - Whether bytes changed is found by hashing them, never by times or sizes.
//
// It refuses by name what it does not understand: object formats other than
// sha1, ref storage other than files, unknown extensions, trees and indexes with
// entries that Git forbids, and damaged objects. A missing blob is an omission
// (not_in_clone); a missing commit or tree is an error that names it.
//
// How it is done: go-git's decoders of packs, pack indexes and loose objects are
// used, below its repository type, storage and worktree, which refuse many real
// repositories, skip missing trees in silence and trust times (objects.go and
// reader.go). Discovery, configuration, refs, trees, the index, attributes and
// conversion are decoded here, each with a fuzz test.
package snapshot
