package packet

// The fixed words of a packet.
const (
	Schema   = "exhibit.packet.v1"
	Provider = "exhibit"
	Kind     = "repository"

	// SourceKind says what a document was made from; consumers of other
	// providers' packets know graph evidence by this word.
	SourceKind = "local_repository_graph"
)

// Completeness of a packet, of its generation and of its query.
const (
	Complete = "complete"
	Partial  = "partial"
	Unknown  = "unknown"
)

// Confidence of a document.
const (
	Extracted = "extracted" // resolved_static, or a definition itself
	Inferred  = "inferred"  // one candidate
	Uncertain = "unknown"   // several candidates
)

// Omission codes. SecretSuspected is that of withheld snippets.
const (
	ProviderPartial        = "provider_partial"
	ProviderHasMore        = "provider_has_more"
	UnresolvedEntities     = "unresolved_entities"
	ProviderWarning        = "provider_warning"
	ProviderCompaction     = "provider_compaction"
	TextLimit              = "text_limit"
	DocumentLimit          = "document_limit"
	SourceTitleUnavailable = "source_title_unavailable"
	MissingCitation        = "missing_citation"
	UnsupportedRecordKind  = "unsupported_record_kind"
	SecretSuspected        = "secret_suspected"
)

// Bounds on the parts of a packet that are the same for every policy.
const (
	MaxOmissions      = 10
	MaxCitations      = 10 // of one document
	MaxMentionSites   = 5
	MaxPacketBytes    = 262144 // no packet is larger, whatever the policy
	MaxDocuments      = 50
	MaxCitedLines     = 12 // of one citation
	maxListedFiles    = 20
	maxListedRanges   = 100
	maxListedEntities = 20
	maxSeeds          = 50
	maxCuts           = 20
	maxPathBytes      = 4096
	maxTargetBytes    = 8192
)

// Packet is the evidence, schema exhibit.packet.v1. Every member is derived
// from the content of one generation and one request.
type Packet struct {
	Schema             string     `json:"schema"`
	Provider           string     `json:"provider"`
	Kind               string     `json:"kind"`
	Repository         Repository `json:"repository"`
	ContentFingerprint string     `json:"content_fingerprint"` // hex SHA-256
	Source             string     `json:"source"`              // commit, worktree
	Dirty              bool       `json:"dirty"`
	// WorktreeDigest is the content fingerprint of the worktree's bytes;
	// present exactly when Source is worktree.
	WorktreeDigest string `json:"worktree_digest,omitempty"`

	Question string   `json:"question"` // impact, dependency, symbol, related_tests, symbols, map
	Target   string   `json:"target"`   // as asked; "" when Paths are the target
	Paths    []string `json:"paths,omitempty"`
	Bounds   Bounds   `json:"bounds"`
	Seeds    []Seed   `json:"seeds"` // the definitions that the target names

	Completeness           string   `json:"completeness"` // complete, partial, unknown
	GenerationCompleteness string   `json:"generation_completeness"`
	QueryCompleteness      string   `json:"query_completeness"`
	Truncated              bool     `json:"truncated"` // a bound left claims out
	Omissions              []string `json:"omissions"` // sorted codes, at most 10
	Cuts                   []Cut    `json:"cuts"`
	Limitations            []string `json:"limitations"` // sorted codes

	// UnresolvedEntities are the definitions that share the target's name when
	// the target is ambiguous: listed for choice, never merged.
	UnresolvedEntities []Entity  `json:"unresolved_entities,omitempty"`
	UnresolvedMentions *Mentions `json:"unresolved_mentions,omitempty"`
	Coverage           *Coverage `json:"coverage,omitempty"`

	Documents []Document `json:"documents"` // in the answer's order
}

// Repository names the bound content. Commit and Tree are hex object ids, both
// "" for a worktree whose HEAD is unborn.
type Repository struct {
	ObjectFormat string `json:"object_format"` // sha1, sha256
	Commit       string `json:"commit"`
	Tree         string `json:"tree"`
}

// Bounds are the request's bounds as they were in force; 0 where the question
// has none.
type Bounds struct {
	Depth      int    `json:"depth"`
	NodeBudget int    `json:"node_budget"`
	MaxBytes   int    `json:"max_bytes"` // of the answer, before claims were made
	Limit      int    `json:"limit,omitempty"`
	PathPrefix string `json:"path_prefix,omitempty"`
	Language   string `json:"language,omitempty"`
	NodeKind   string `json:"node_kind,omitempty"`
	Level      string `json:"level,omitempty"`
}

// Entity names a definition, file or package. A path that is not valid UTF-8
// is in PathBase64 (standard base64 of its bytes) and Path is absent; exactly
// one of the two is there.
type Entity struct {
	ID            string `json:"id"` // valid with the packet's content fingerprint only
	Kind          string `json:"kind"`
	Language      string `json:"language"`
	Name          string `json:"name"`
	QualifiedName string `json:"qualified_name"`
	Path          string `json:"path,omitempty"`
	PathBase64    string `json:"path_base64,omitempty"`
	StartLine     int    `json:"start_line"` // 1-based, inclusive: the whole declaration
	EndLine       int    `json:"end_line"`
}

// Seed is a definition that the target names, with the lines that declare it.
// Citations is empty only for a file without lines.
type Seed struct {
	Entity    Entity     `json:"entity"`
	Citations []Citation `json:"citations"` // 0 or 1
}

// Document is one claim with what shows it.
type Document struct {
	// Text is Sentence(Claim, Strength): one plain sentence of a fixed vocabulary.
	Text       string     `json:"text"`
	Claim      Claim      `json:"claim"`
	Strength   string     `json:"strength,omitempty"` // resolved_static, candidate; absent for a definition or a hint
	RuleID     string     `json:"rule_id,omitempty"`  // how the relationship was established
	Confidence string     `json:"confidence"`         // extracted, inferred, unknown
	SourceKind string     `json:"source_kind"`        // local_repository_graph
	Citations  []Citation `json:"citations"`          // 1..10
}

// Claim is one relationship, or one definition when Relation is "defines" and
// there is no Object. Relation reads from Subject to Object, whichever way the
// walk went.
type Claim struct {
	Subject     Entity   `json:"subject"`
	Relation    string   `json:"relation"` // calls, imports, inherits, references, contains, tests, defines, resembles
	Object      *Entity  `json:"object,omitempty"`
	Hop         int      `json:"hop,omitempty"`          // 1 is next to a seed
	Via         string   `json:"via,omitempty"`          // id of the entity that the walk came from
	Candidates  int      `json:"candidates,omitempty"`   // targets of the site, when Strength is candidate
	Granularity string   `json:"granularity,omitempty"`  // module, class: the relationship is of the file or class, not of the symbol
	Reason      string   `json:"reason,omitempty"`       // static_path, candidate_path, name_hint, directory_hint
	Tier        string   `json:"tier,omitempty"`         // of a found definition: qualified, name, segments, text
	Witness     []string `json:"witness_path,omitempty"` // ids from the seed
	// Within is the test that holds the subject, where the subject is no test itself.
	Within *Entity `json:"within,omitempty"`
}

// Citation points at lines by content. StartLine and EndLine are 1-based and
// inclusive, lines end at LF only. SnippetSHA256 is of the exact bytes of those
// lines, the LF that ends the last one included where the file has it:
// what `sed -n 'START,ENDp' FILE | sha256sum` prints.
type Citation struct {
	Path          string `json:"path,omitempty"`
	PathBase64    string `json:"path_base64,omitempty"` // see Entity
	StartLine     int    `json:"start_line"`
	EndLine       int    `json:"end_line"`
	Role          string `json:"role"`
	Blob          string `json:"blob"`           // Git object id of the whole file's bytes
	SnippetSHA256 string `json:"snippet_sha256"` // hex
	// Snippet is the exact bytes of the lines, or SnippetBase64 where they are
	// not valid UTF-8. Both are absent when the budget or a policy withheld them.
	Snippet       string `json:"snippet,omitempty"`
	SnippetBase64 string `json:"snippet_base64,omitempty"`
}

// The roles of a citation. A site's role is RoleSite and its relation, that of
// an earlier step RoleWitness and its relation.
const (
	RoleDefinition        = "definition" // of a seed, a found definition or the test around a subject
	RoleSubjectDefinition = "definition: subject"
	RoleObjectDefinition  = "definition: object"
	RoleSite              = "call site: " // "call site: calls", "call site: imports", ...
	RoleWitness           = "witness: "   // the site of an earlier step from the seed: "witness: calls"
	RoleMention           = "unresolved mention"
)

// Mentions counts the references that bear the target's name and resolved to
// nothing: without them an empty list is no evidence of absence.
type Mentions struct {
	Name  string     `json:"name"`
	Count int        `json:"count"`
	Sites []Citation `json:"sites"` // of Count, at most five
	// External counts the references that bear the name and were judged to be
	// something outside the repository. One of them may be wrong where a
	// receiver's type comes from a dependency.
	External int `json:"external"`
}

// Coverage says what the generation could read.
type Coverage struct {
	Eligible     int           `json:"eligible"` // files with a language
	Parsed       int           `json:"parsed"`
	Partial      int           `json:"partial"`
	Failed       int           `json:"failed"`
	Skipped      []Skipped     `json:"skipped"`       // sorted by reason
	PartialFiles []PartialFile `json:"partial_files"` // at most 20
	FailedFiles  []FileRef     `json:"failed_files"`  // at most 20
	Resolved     int           `json:"resolved_references"`
	Candidate    int           `json:"candidate_references"`
	Unresolved   int           `json:"unresolved_references"`
	External     int           `json:"external_references"`
}

// Skipped counts files that are not indexed, by the manifest's reason.
type Skipped struct {
	Reason string `json:"reason"`
	Files  int    `json:"files"`
}

// FileRef names a file; see Entity for PathBase64.
type FileRef struct {
	Path       string `json:"path,omitempty"`
	PathBase64 string `json:"path_base64,omitempty"`
}

// PartialFile is a file with lines that could not be parsed.
type PartialFile struct {
	Path       string      `json:"path,omitempty"`
	PathBase64 string      `json:"path_base64,omitempty"`
	Ranges     []LineRange `json:"ranges"`
}

// LineRange is 1-based and inclusive.
type LineRange struct {
	StartLine int `json:"start_line"`
	EndLine   int `json:"end_line"`
}

// Cut is a bound that left something out: those of the answer, and "documents",
// "document_bytes", "text_bytes" and "packet_bytes" of the packet's own limits.
type Cut struct {
	Bound   string `json:"bound"`
	Limit   int    `json:"limit"`
	Dropped int    `json:"dropped"` // how many are known to be left out; 0 when not counted
}
