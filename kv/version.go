package kv

// Versions of what is stored. A change of any byte's meaning bumps the one that
// covers it, with a line of history.
const (
	// Schema is the version of graph.db and of the packs, and part of the
	// fingerprint.
	//
	//	1: first.
	Schema = 1
	// Layout is the version of the folders, pointer and generation.json.
	//
	//	1: first.
	Layout = 1
)

// The files of a generation.
const (
	graphFile      = "graph.db"
	sourcesFile    = "sources.pack"
	factsFile      = "facts.pack"
	generationFile = "generation.json"
	leaseFile      = "lease"
	textFolder     = "text"
	textFile       = "text.json"
)

// boundFiles are those whose size and digest generation.json holds.
var boundFiles = []string{factsFile, graphFile, sourcesFile}
