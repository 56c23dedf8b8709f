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
	Kind       string   `json:"kind"` // impact, dependency, symbol, related_tests, symbols, map
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
// Lines are 1-based and inclusive.
type NodeRef struct {
	ID          string `json:"id"`
	Kind        string `json:"kind"`
	Language    string `json:"language"`
	Name        string `json:"name"`
	Qualified   string `json:"qualified_name"`
	Signature   string `json:"signature,omitempty"`
	Path        string `json:"path"`
	StartLine   int    `json:"start_line"`
	EndLine     int    `json:"end_line"`
	NameLine    int    `json:"name_line"`
	Blob        string `json:"blob"`
	FileSHA256  string `json:"file_sha256"`
	Test        bool   `json:"test,omitempty"`         // a test entry point or in a test file
	ParseStatus string `json:"parse_status,omitempty"` // partial or failed; absent when parsed whole
}

// SiteRef is where a relationship stands. StartLine and EndLine are the lines of
// the whole call or statement; Line and Column (0-based bytes) those of the name.
type SiteRef struct {
	Path       string `json:"path"`
	StartLine  int    `json:"start_line"`
	EndLine    int    `json:"end_line"`
	Line       int    `json:"line"`
	Column     int    `json:"column"`
	Name       string `json:"name"`
	Blob       string `json:"blob"`
	FileSHA256 string `json:"file_sha256"`
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
	Granularity string   `json:"granularity,omitempty"`  // module
	Reason      string   `json:"reason,omitempty"`       // static_path, candidate_path, name_hint, directory_hint
	WitnessPath []string `json:"witness_path,omitempty"` // ids from the seed to Node

	// From symbols and map.
	Tier     string   `json:"tier,omitempty"` // qualified, name, segments, text
	Children []string `json:"children,omitempty"`
	Files    int      `json:"files,omitempty"`
}

// Mentions counts the unresolved references that bear a target's name.
type Mentions struct {
	Name  string    `json:"name"`
	Count int       `json:"count"`
	Sites []SiteRef `json:"sites"` // at most five, by path and position
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
	Bound   string `json:"bound"` // node_budget, edge_budget, depth, seeds, max_bytes, limit, path_prefix
	Limit   int    `json:"limit"`
	Dropped int    `json:"dropped,omitempty"` // how many are known to be left out; 0 when not counted
}
