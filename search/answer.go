package search

// AnswerSchema is the schema of an Answer.
const AnswerSchema = "exhibit.answer.v1"

// Answer is what one operation over one generation gives.
type Answer struct {
	Schema             string  `json:"schema"`
	Scope              string  `json:"scope,omitempty"`
	Fingerprint        string  `json:"fingerprint"`
	ContentFingerprint string  `json:"content_fingerprint"`
	Commit             string  `json:"commit"`
	Tree               string  `json:"tree"`
	ObjectFormat       string  `json:"object_format"`
	Source             string  `json:"source"`
	Dirty              bool    `json:"dirty"`
	CheckedAt          string  `json:"checked_at,omitempty"` // RFC 3339, set at delivery
	Operation          Request `json:"operation"`
	Status             string  `json:"status"` // ok, partial
	// GenerationComplete says whether every eligible file was parsed whole;
	// AnswerComplete whether no bound cut this answer.
	GenerationComplete bool      `json:"generation_complete"`
	AnswerComplete     bool      `json:"answer_complete"`
	Seeds              []NodeRef `json:"seeds,omitempty"`
	Items              []Item    `json:"items"`
	Ambiguous          []NodeRef `json:"unresolved_entities,omitempty"` // definitions of one name, listed for choice
	Mentions           *Mentions `json:"unresolved_mentions,omitempty"`
	Coverage           *Coverage `json:"coverage,omitempty"`
	Cuts               []Cut     `json:"truncations,omitempty"`
	Limitations        []string  `json:"limitations,omitempty"` // sorted codes
}

// Request is one operation with its bounds, as asked and with defaults filled in.
type Request struct {
	Kind       string   `json:"kind"` // impact, dependency, symbol, related_tests, callers, callees, symbols, map
	Target     string   `json:"target,omitempty"`
	SymbolID   string   `json:"symbol_id,omitempty"`
	Query      string   `json:"query,omitempty"`
	PathPrefix string   `json:"path_prefix,omitempty"`
	Language   string   `json:"language,omitempty"`
	NodeKind   string   `json:"node_kind,omitempty"`
	Level      string   `json:"level,omitempty"` // map: directory, skeleton, source
	Paths      []string `json:"paths,omitempty"`
	Depth      int      `json:"depth,omitempty"`
	NodeBudget int      `json:"node_budget,omitempty"`
	Limit      int      `json:"limit,omitempty"`
	MaxBytes   int      `json:"max_bytes,omitempty"` // whole serialised body, 512..32768
}

// NodeRef is a definition, file or package with what a citation of it needs.
// Lines are 1-based and inclusive. In JSON an end of a relationship that the
// answer has described before is its id alone; see Answer.MarshalJSON.
type NodeRef struct {
	ID          string `json:"id,omitempty"`
	Kind        string `json:"kind,omitempty"` // the DefKind vocabulary, file; directory for map
	Language    string `json:"language,omitempty"`
	Name        string `json:"name,omitempty"`
	Qualified   string `json:"qualified_name,omitempty"`
	Signature   string `json:"signature,omitempty"`
	Path        string `json:"path,omitempty"`
	StartLine   int    `json:"start_line,omitempty"`
	EndLine     int    `json:"end_line,omitempty"`
	NameLine    int    `json:"name_line,omitempty"`
	Blob        string `json:"blob,omitempty"`
	FileSHA256  string `json:"file_sha256,omitempty"`
	Test        bool   `json:"test,omitempty"`         // a test entry point or in a test file
	ParseStatus string `json:"parse_status,omitempty"` // partial or failed; absent when parsed whole
}

// SiteRef is where a relationship stands. StartLine and EndLine are the lines of
// the whole call or statement; Line and Column (0-based bytes) those of the name.
// In JSON blob and file_sha256 are left out where the site is in the file of the
// item's node.
type SiteRef struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Name       string `json:"name"`
	Blob       string `json:"blob,omitempty"`
	FileSHA256 string `json:"file_sha256,omitempty"`
}

// Item is one found definition, or one relationship that a walk crossed.
type Item struct {
	Node NodeRef `json:"node"` // what was found or reached

	// From a walk. Relation is the edge's kind read from From to To: for an
	// impact item, From is the reached node and To the node it was reached from.
	Relation    string   `json:"relation,omitempty"`
	From        *NodeRef `json:"from,omitempty"`
	To          *NodeRef `json:"to,omitempty"`
	Hop         int      `json:"hop,omitempty"` // 1 is next to a seed
	Via         string   `json:"via,omitempty"` // id of the node it was reached from
	Strength    string   `json:"strength,omitempty"`
	RuleID      string   `json:"rule_id,omitempty"`
	Candidates  int      `json:"candidates,omitempty"` // how many targets the call site has; 1 unless candidate
	CallSite    *SiteRef `json:"call_site,omitempty"`
	Granularity string   `json:"granularity,omitempty"`  // module: an importer of the seed's module; class: a call of a constructor's class
	Reason      string   `json:"reason,omitempty"`       // static_path, candidate_path, name_hint, directory_hint
	WitnessPath []string `json:"witness_path,omitempty"` // ids from the seed to Node, through the crossed edge
	// Steps, for related_tests, are the relationships of the witness path
	// before this one, nearest to the seed first.
	Steps []Step `json:"steps,omitempty"`

	// From symbols and map.
	Tier      string         `json:"tier,omitempty"`     // qualified, name, segments, text
	Children  []string       `json:"children,omitempty"` // skeleton: one line a definition, import or heading
	Files     int            `json:"files,omitempty"`    // indexed files below a directory
	TestFiles int            `json:"test_files,omitempty"`
	Languages map[string]int `json:"languages,omitempty"` // files by language
}

// Step is one relationship on the way from a seed to a test.
type Step struct {
	Node     NodeRef  `json:"node"` // what the step reached
	Relation string   `json:"relation"`
	Strength string   `json:"strength"`
	RuleID   string   `json:"rule_id"`
	CallSite *SiteRef `json:"call_site"`
}

// Mentions counts the references that bear a target's name and became no edge:
// those that resolved to nothing, and apart those that were judged to be
// something outside the repository.
type Mentions struct {
	Name     string    `json:"name"`
	Count    int       `json:"count"`
	Sites    []SiteRef `json:"sites"` // of Count, at most five, by path and position
	External int       `json:"external"`
}

// Coverage says how much of the snapshot the generation covers.
type Coverage struct {
	Eligible int            `json:"eligible"` // files with a language
	Parsed   int            `json:"parsed"`
	Partial  int            `json:"partial"`
	Failed   int            `json:"failed"`
	Skipped  map[string]int `json:"skipped,omitempty"` // by reason
	// PartialFiles are the files with unparsed ranges, sorted, at most 20;
	// FailedFiles those that gave nothing.
	PartialFiles []PartialFile `json:"partial_files,omitempty"`
	FailedFiles  []string      `json:"failed_files,omitempty"`
	Resolved     int           `json:"resolved_references"`
	Candidate    int           `json:"candidate_references"`
	Unresolved   int           `json:"unresolved_references"`
	External     int           `json:"external_references"`
}

// PartialFile is a file with the line ranges that could not be parsed.
type PartialFile struct {
	Path   string   `json:"path"`
	Ranges [][2]int `json:"ranges"`
}

// Cut says that a bound cut the answer, where, and how much is known to be behind.
type Cut struct {
	Bound   string `json:"bound"` // one of the Bound constants
	Limit   int    `json:"limit"`
	Dropped int    `json:"dropped,omitempty"` // how many are known to be left out; 0 when not counted
}

// The bounds that can cut an answer, with what Cut.Dropped counts.
const (
	BoundNodeBudget = "node_budget" // nodes that were next to a reached one and not entered
	BoundEdgeBudget = "edge_budget" // relationships
	BoundDepth      = "depth"       // relationships behind the last hop; for map, directories or definitions
	BoundSeeds      = "seeds"       // definitions of the target that were not walked from
	BoundExpansion  = "expansion"   // members of file and class seeds that were not walked from
	BoundMaxBytes   = "max_bytes"   // items
	BoundLimit      = "limit"       // items
	BoundPathPrefix = "path_prefix" // relationships that leave the prefix
	BoundChildren   = "children"    // lines of file skeletons
	BoundText       = "text"        // set when the text index had more to nominate; not counted
)

// The limitations that Run gives.
const (
	// LimitNoDefinition: nothing in the generation bears the target's name.
	LimitNoDefinition = "no_such_definition"
	// LimitNotIndexed: the target or a given path is in the snapshot but was not indexed.
	LimitNotIndexed = "target_not_indexed"
	// LimitMemberReads: the target is a field, accessor or enum member of
	// JavaScript, TypeScript or Python, whose reads the index does not hold.
	LimitMemberReads = "member_reads_not_indexed"
	// LimitPathMissing: a given path is not in the snapshot.
	LimitPathMissing = "path_not_in_snapshot"
	// LimitTests is on every answer about tests.
	LimitTests = "test_candidates_do_not_replace_required_tests"
	// LimitImportDependence: a test that only imports the target depends on it; that is not coverage.
	LimitImportDependence = "import_is_dependence_not_coverage"
	// LimitOutgoing: what the target mentions and resolution could not bind is not listed.
	LimitOutgoing = "unresolved_references_of_target_not_listed"
)
