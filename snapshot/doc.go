// Package snapshot answers which files, with which exact bytes, at which
// identity: it reads a commit's blobs or the worktree's bytes into a manifest,
// and says later whether it is still so.
//
// It reads Git through go-git at plumbing level only, never runs git, never
// writes below .git, never follows a link, and re-hashes every object that it
// hands out. What it cannot read or will not index stays in the manifest with a
// reason.
package snapshot
