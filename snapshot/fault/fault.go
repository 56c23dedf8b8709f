package fault

import (
	"errors"
	"fmt"
)

// Code names one kind of refusal. The set is closed: it is the error table of
// docs/format.md.
type Code string

// The codes, grouped as the table groups them.
const (
	InvalidRequest    Code = "invalid_request"
	InvalidPath       Code = "invalid_path"
	TargetMissing     Code = "code_target_missing"
	RangeMissing      Code = "code_range_missing"
	BudgetTooSmall    Code = "budget_too_small"
	RepositoryRoot    Code = "repository_root_required"
	CacheInside       Code = "code_cache_inside_repository"
	CodeChanged       Code = "code_changed"
	BaselineMissing   Code = "baseline_unavailable"
	WorkspaceBusy     Code = "workspace_busy"
	RevisionStale     Code = "revision_stale"
	Unsupported       Code = "unsupported_capability"
	Disabled          Code = "code_disabled"
	Unconfigured      Code = "code_repository_unconfigured"
	IndexMissing      Code = "code_index_missing"
	Timeout           Code = "code_timeout"
	IndexIntegrity    Code = "index_integrity_failed"
	StorageFailed     Code = "code_storage_unavailable"
	BuildFailed       Code = "code_build_failed"
	RepositoryLimit   Code = "repository_limit_exceeded"
	RepositoryFailed  Code = "repository_unavailable"
	GitFormat         Code = "unsupported_git_object_format"
	ParserUnavailable Code = "code_parser_unavailable"

	// ObjectMissing: the object is not in this clone (shallow or partial). It
	// is never fetched, and never called corrupt.
	ObjectMissing Code = "object_not_in_clone"
	// ObjectCorrupt: an object's bytes do not hash to its name, or a tree holds
	// an entry that Git forbids.
	ObjectCorrupt Code = "object_corrupt"

	// Packets, grants, keys and trust.
	PacketInvalid    Code = "packet_invalid"
	GrantInvalid     Code = "grant_invalid"
	SignatureInvalid Code = "signature_invalid"
	SignerUntrusted  Code = "signer_untrusted"
	AuthorizationBad Code = "authorization_invalid"
	Unauthorized     Code = "unauthorized"
	KeyUnavailable   Code = "key_unavailable"
)

// Error is a refusal. Msg is lower case, has no full stop and names the input;
// Hint, where there is one, says what to do next. Field names the offending
// member of a request or document. Err is the cause: Msg already tells it.
type Error struct {
	Code  Code
	Msg   string
	Hint  string
	Field string
	Err   error
}

// Error gives the message; the code and hint are for the faces.
func (e *Error) Error() string { return e.Msg }

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// New makes a refusal with a formatted message; %w in the format keeps the cause.
func New(code Code, format string, args ...any) *Error {
	err := fmt.Errorf(format, args...)
	return &Error{Code: code, Msg: err.Error(), Err: errors.Unwrap(err)}
}

// WithHint returns the same refusal with what to do next.
func (e *Error) WithHint(format string, args ...any) *Error {
	c := *e
	c.Hint = fmt.Sprintf(format, args...)
	return &c
}

// WithField returns the same refusal with the name of the offending member.
func (e *Error) WithField(name string) *Error {
	c := *e
	c.Field = name
	return &c
}

// CodeOf gives the code of the first *Error in err's chain, or "" when none is.
func CodeOf(err error) Code {
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}
