// Package verify proves packets again: any packet against trust, recipient,
// revision and time, and any citation against a commit and a worktree.
//
// Bundle does both. Depth 1 is the grant: a signature by a key that the trust
// file allows for this namespace, now, and that is not revoked; then the closed
// statement, every subject compared with the packet's own bytes, time, audience
// and what else the consumer names. Depth 2 is content: each cited blob is read
// and hashed again, and the cited lines are compared byte for byte, so that "the
// line exists" is never verification. Mint runs the same checks before it hands
// a new bundle over.
//
// Invariants:
//   - The bytes that are used are the bytes that were verified: Result.Packet is
//     decoded from the exact string whose digest the signature covers.
//   - Checks run in one order, the first failure ends them, and each has one
//     Reason. Claims of a grant are reported only once its signature holds.
//   - Trust is never taken from a bundle or from the repository under examination.
//   - Nothing is fetched, written, or read from an index or cache. An object that
//     the clone does not hold is unavailable, and never called corrupt.
//   - A verdict is a failure unless it is listed as a success; what could not be
//     decided is a failure.
//
// What decides: for a packet of a commit, the commit; the worktree's verdict is
// reported beside it and fails the whole only with Options.RequireWorktree. For
// a packet of a worktree the roles change: the worktree's bytes decide.
//
// Depth 3, replay, needs an indexer and is not here.
package verify
