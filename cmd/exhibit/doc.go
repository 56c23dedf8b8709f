// Command exhibit indexes a Git repository, answers bounded questions about its
// code, and mints each answer as a signed packet that anyone can verify.
//
// The command line parses, calls and prints; it has no logic of its own.
// Results go to standard output, everything else to standard error as
// "exhibit: error: …" and "exhibit: hint: …". With --json a command prints one
// JSON object on standard output, its refusals included. Exit codes: 0
// answered (also with zero matches), 1 refused or unusable, 2 wrong usage.
package main
