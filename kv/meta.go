package kv

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// Meta describes a generation: its identity, where its snapshot came from, and
// counts for status and coverage.
type Meta struct {
	Contents
	Fingerprint string `json:"fingerprint"` // content fingerprint with the binding id
	BindingID   string `json:"binding_id"`
	Scope       string `json:"scope"`
	// Source and Dirty are of the snapshot that asked for this generation. A
	// clean worktree and its commit share one.
	Source   snapshot.Source         `json:"source"`
	Dirty    bool                    `json:"dirty"`
	Worktree *snapshot.WorktreeState `json:"worktree,omitempty"`
	BuiltAt  string                  `json:"built_at"` // RFC 3339, UTC, when it was published
	Bytes    int64                   `json:"bytes"`    // size on disk without the text index
}

// Contents is the part of Meta that is stored inside graph.db: a pure function
// of the snapshot and the rules, the same on every machine.
type Contents struct {
	Schema             int                   `json:"schema"`
	ContentFingerprint string                `json:"content_fingerprint"`
	ObjectFormat       snapshot.ObjectFormat `json:"object_format"`
	Commit             string                `json:"commit"`
	Tree               string                `json:"tree"`
	PolicyDigest       string                `json:"policy_digest"`
	Rules              snapshot.Rules        `json:"rules"`
	Files              FileCounts            `json:"files"`
	Nodes              int                   `json:"nodes"`
	NodesByKind        map[string]int        `json:"nodes_by_kind"`
	Edges              int                   `json:"edges"`
	// EdgesByKind counts edges by kind, then by strength.
	EdgesByKind map[string]map[string]int `json:"edges_by_kind"`
	References  References                `json:"references"`
	// Partial are the files with unparsed ranges, Failed those that gave
	// nothing; both sorted by path.
	Partial []PartialFile `json:"partial"`
	Failed  []FailedFile  `json:"failed"`
}

// Complete says whether every eligible file was parsed whole.
func (c *Contents) Complete() bool { return len(c.Partial) == 0 && len(c.Failed) == 0 }

// FileCounts counts the entries of the manifest.
type FileCounts struct {
	Total       int            `json:"total"`
	Included    int            `json:"included"`
	SourceBytes int64          `json:"source_bytes"` // of included files
	ByLanguage  map[string]int `json:"by_language"`  // included files
	ByReason    map[string]int `json:"by_reason"`    // omitted files
	Parsed      int            `json:"parsed"`
	Partial     int            `json:"partial"`
	Failed      int            `json:"failed"`
}

// References counts reference sites by verdict; a site counts once.
type References struct {
	Resolved   uint64 `json:"resolved"`
	Candidate  uint64 `json:"candidate"`
	Unresolved uint64 `json:"unresolved"`
	External   uint64 `json:"external"`
	Local      uint64 `json:"local"`
}

// LineRange is a range of lines, 1-based and inclusive.
type LineRange struct {
	First int `json:"first"`
	Last  int `json:"last"`
}

// PartialFile is a file of which some lines could not be parsed.
type PartialFile struct {
	Path   string      `json:"path"`
	Ranges []LineRange `json:"ranges"`
}

// FailedFile is a file that gave no facts, with the code that says why.
type FailedFile struct {
	Path    string `json:"path"`
	Failure string `json:"failure"`
}

// Heading is a navigation mark of a text file.
type Heading struct {
	Level int    `json:"level"`
	Line  int    `json:"line"` // 1-based
	Text  string `json:"text"`
}

// FileStatus is how one included file was read.
type FileStatus struct {
	Status   facts.ParseStatus
	Failure  string      // why Status is Failed
	Lines    int         // number of lines
	Damage   []LineRange // lines that could not be parsed, sorted
	Blanked  []LineRange // lines whose constructs the grammar cannot read and that were blanked before parsing
	Headings []Heading
}

// referencesOf copies the graph's coverage.
func referencesOf(c graph.Coverage) References {
	return References{Resolved: c.Resolved, Candidate: c.Candidate, Unresolved: c.Unresolved, External: c.External, Local: c.Local}
}
