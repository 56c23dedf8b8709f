package graph

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// Input is what resolution reads: all facts of a snapshot and the bytes of the
// files that configure resolution. It is read only.
type Input struct {
	// Files are sorted by path. A language's resolver gets only its own files.
	Files []*facts.File
	// Config holds go.mod, go.work, package.json, tsconfig*.json,
	// jsconfig*.json, pyproject.toml, setup.cfg and pnpm-workspace.yaml, as far as
	// they are indexed, sorted by path.
	Config []ConfigFile
	// Paths are all paths of the manifest, sorted, omitted ones included: an
	// import of a file that is there but not indexed is not an external one.
	Paths []string
	// SourceRoots are the operator's Python source roots, relative folders.
	SourceRoots []string
}

// ConfigFile is a file that configures resolution.
type ConfigFile struct {
	Path  string
	Bytes []byte
}

// FileDef is the DefID that means the file itself.
const FileDef = facts.DefID(facts.None)

// DefRef names a definition by file (index into Input.Files) and Def. FileDef
// means the file. A Go package is the KindPackage definition of any file in it.
type DefRef struct {
	File int32
	Def  facts.DefID
}

// Outcome is the kind of a verdict.
type Outcome uint8

const (
	// OutcomeLocal: the name means a parameter or local variable; no edge, and
	// nothing to report.
	OutcomeLocal Outcome = iota
	OutcomeResolved
	OutcomeCandidate
	OutcomeUnresolved
	OutcomeExternal
)

// Verdict is what resolution says of one reference site. Exactly one is given
// for each Ref of each file.
type Verdict struct {
	Outcome Outcome
	Rule    string // for Resolved and Candidate
	Reason  string // for Unresolved and External
	Target  string // for External: what the name is, as far as known
	// Kind is what the reference turned out to be, where the extractor could not
	// tell: a Go conversion T(x) looks like a call. 0 means Ref.Kind.
	Kind    facts.RefKind
	Targets []DefRef // one for Resolved; sorted and without duplicates for Candidate
	// Omitted is how many more candidates a bound left out. The site is then an
	// unresolved mention as well as edges, so that a question about one of those
	// learns of it.
	Omitted int
}

// Part is the verdicts of one language: Part[i][j] is of Files[i].Refs[j].
type Part [][]Verdict

// Give takes the verdicts of one file, verdicts[j] being of Files[file].Refs[j].
// The slice is valid only during the call. It may be called by several
// goroutines.
type Give func(file int, verdicts []Verdict)

// Room gives n zero verdicts in a buffer that is used again.
func Room(buffer []Verdict, n int) []Verdict {
	buffer = slices.Grow(buffer[:0], n)[:n]
	clear(buffer)
	return buffer
}

// Collect makes the Part of what each gives for n files.
func Collect(n int, each func(Give) error) (Part, error) {
	part := make(Part, n)
	if err := each(func(file int, verdicts []Verdict) { part[file] = slices.Clone(verdicts) }); err != nil {
		return nil, err
	}
	return part, nil
}
