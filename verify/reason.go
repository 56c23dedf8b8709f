package verify

import "fmt"

// Reason says in a word why something does not hold. The set is closed; the
// reasons of a signature are those of package trust.
type Reason string

// The reasons, in the order in which they are looked for.
const (
	TooLarge      Reason = "too_large"
	BundleInvalid Reason = "bundle_invalid" // not a strict exhibit.bundle.v1
	NoGrant       Reason = "no_grant"
	NoTrust       Reason = "no_trust" // no trust file was given

	PayloadType      Reason = "payload_type"
	PayloadInvalid   Reason = "payload_invalid" // the envelope's form is wrong
	StatementInvalid Reason = "statement_invalid"
	StatementType    Reason = "statement_type"
	PredicateType    Reason = "predicate_type"
	IssuerNotAllowed Reason = "issuer_not_allowed" // the trust file does not list the issuer for the key

	PacketDigest   Reason = "packet_digest" // the grant is for other packet bytes
	PacketInvalid  Reason = "packet_invalid"
	SubjectSet     Reason = "subject_set" // a subject is missing, unknown or there twice
	SubjectCommit  Reason = "subject_commit"
	SubjectTree    Reason = "subject_tree"
	SubjectContent Reason = "subject_content_fingerprint"
	ObjectFormat   Reason = "object_format"

	NotYetValid Reason = "grant_not_yet_valid"
	Expired     Reason = "grant_expired"
	TooOld      Reason = "grant_too_old"

	RecipientMismatch  Reason = "recipient_not_named"
	IssuerMismatch     Reason = "issuer_mismatch"
	RepositoryMismatch Reason = "repository_mismatch"
	RevisionUnknown    Reason = "revision_unresolved"
	RevisionMismatch   Reason = "revision_mismatch"
	GenerationMismatch Reason = "generation_mismatch"
	PolicyMismatch     Reason = "policy_mismatch"
	ConnectionMismatch Reason = "connection_mismatch"
	WorkItemMismatch   Reason = "work_item_mismatch"

	CommitUnavailable Reason = "commit_unavailable"
	TreeMismatch      Reason = "tree_mismatch" // the commit has another tree than the packet says
	CitationFailed    Reason = "citation_failed"
	WorktreeFailed    Reason = "worktree_failed" // asked for, and a cited line is not in the worktree
	RevisionMoved     Reason = "revision_moved"  // while the check ran
)

// Refusal is a check that does not hold.
type Refusal struct {
	Reason Reason `json:"reason"`
	Detail string `json:"detail"` // a sentence for people, made safe for a terminal
}

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: safe(fmt.Sprintf(format, args...))}
}
