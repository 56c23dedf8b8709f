// Package search answers bounded questions over one pinned generation: names,
// full text and graph traversal. Run is where to start; Answer says what comes
// back, Reader what a generation must offer.
//
// # Invariants
//
//   - The same generation and request give the same bytes: everything is put
//     into an order of its own, and what the reader happens to do first decides
//     nothing. The text index only nominates.
//   - Every bound that cuts is stated with a count (Cut), and AnswerComplete is
//     false exactly when one did. Whether the generation is complete is said
//     apart from it.
//   - Several definitions of one name are all walked from, all listed
//     (unresolved_entities), and every item says by its witness path which one
//     it is about.
//   - One item a call site. An item is the one edge that the walk crossed, with
//     its hop and the node it was reached from; there are no shortcuts.
//   - Every answer about a name counts the references that bear it and became no
//     edge (unresolved_mentions): an empty list is never "none".
//   - The serialised body has at most max_bytes bytes, with items left out whole.
//
// # Order of a walk
//
// By hop; within it static paths before candidate ones, what stays inside of the
// seeds after what does not; then by site. A budget cut drops what is last.
// node_budget counts nodes that the walk entered beyond the seeds and what they
// stand for; a further call site of an entered node is free of it and counts
// among the 1000 relationships. File, package and type seeds stand for what they
// contain. Importers of a seed's module (granularity module) and importers of
// files that were reached come after everything else, with what is left of the
// budget. Containment between a function and one nested in it is crossed as a
// relationship; a call of a class is one of its constructor (granularity class).
//
// # What it refuses
//
// Fields that a kind does not take and numbers out of range (invalid_request,
// with the field), kinds that this release does not answer
// (unsupported_capability), symbol ids of another generation
// (code_target_missing), budgets that do not hold the envelope
// (budget_too_small), and to guess: there is no prefix, substring or edit
// distance in finding a target.
package search
