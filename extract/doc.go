// Package extract turns the bytes of one file into facts, one language at a
// time. It owns the registry of languages: what a file name means, which
// grammar reads it and at which version, what a test file is called. Adding a
// language is adding an entry.
//
// Extraction is a pure function of path, language and bytes, bounded in time
// and depth, and never fails a build: a file that cannot be read yields facts
// whose status says why. Key identifies facts by everything they depend on.
package extract
