// Package flat parses source with tree-sitter and hands the whole tree to Go as
// one array, in one crossing of the C boundary.
//
// Walking a tree node by node from Go costs several times its parsing. Here a C
// function parses the bytes in place and writes every node in preorder; Go then
// scans the array at memory speed. The allocator hooks that go-tree-sitter
// installs are undone. Each parse is bounded in CPU time, memory and depth, and
// a file beyond a bound is refused with a code, never half flattened.
//
// tree_sitter/api.h is the header of go-tree-sitter v0.25.0 (MIT), which is the
// release that go.mod pins and whose library is linked.
package flat
