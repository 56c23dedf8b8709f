package verify

import (
	"slices"

	"github.com/exhibit-dev/exhibit/packet"
)

// ReportSchema is the schema of a Report.
const ReportSchema = "exhibit.verification.v1"

// Report is what verification found. OK is true only when everything that was
// asked for holds; Refusals then is empty.
type Report struct {
	Schema     string            `json:"schema"`
	OK         bool              `json:"ok"`
	Depth      int               `json:"depth"`      // that was asked for: 1 grant, 2 citations
	CheckedAt  string            `json:"checked_at"` // RFC 3339
	Refusals   []Refusal         `json:"refusals"`
	Packet     *PacketReport     `json:"packet,omitempty"` // once a grant holds for it
	Grant      *GrantReport      `json:"grant,omitempty"`  // the one that holds
	Rejected   []RejectedGrant   `json:"rejected_grants,omitempty"`
	Repository *RepositoryReport `json:"repository,omitempty"` // depth 2
	Citations  []CitationReport  `json:"citations,omitempty"`  // in the packet's order
	Counts     *Counts           `json:"counts,omitempty"`
}

// PacketReport sums up the packet that was verified.
type PacketReport struct {
	Address            string   `json:"address"`
	Bytes              int      `json:"bytes"`
	Question           string   `json:"question"`
	Target             string   `json:"target"`
	Source             string   `json:"source"`
	Dirty              bool     `json:"dirty"`
	ObjectFormat       string   `json:"object_format"`
	Commit             string   `json:"commit"`
	Tree               string   `json:"tree"`
	ContentFingerprint string   `json:"content_fingerprint"`
	Completeness       string   `json:"completeness"`
	Omissions          []string `json:"omissions"`
	Limitations        []string `json:"limitations"`
	Documents          int      `json:"documents"`
}

// GrantReport is a grant whose signature and claims hold.
type GrantReport struct {
	Index     int          `json:"index"` // in the bundle, from 0
	Signer    string       `json:"signer"`
	KeyType   string       `json:"key_type"`
	TrustLine int          `json:"trust_line"` // 1-based
	Claims    packet.Grant `json:"claims"`
}

// RejectedGrant is a grant of the bundle that does not hold.
type RejectedGrant struct {
	Index int `json:"index"`
	Refusal
}

// RepositoryReport says what the citations were held against.
type RepositoryReport struct {
	Bare    bool   `json:"bare"`
	Decides string `json:"decides"`           // commit, worktree
	Head    string `json:"head,omitempty"`    // commit that HEAD names
	AtHead  bool   `json:"at_head"`           // HEAD names the packet's commit
	Partial bool   `json:"partial,omitempty"` // shallow or partial clone
}

// CommitVerdict is what a citation is worth at the bound commit.
type CommitVerdict string

// The verdicts at the commit. Only Verified is a success.
const (
	Verified    CommitVerdict = "verified"
	Missing     CommitVerdict = "missing"      // no such file at the commit
	Changed     CommitVerdict = "changed"      // another blob, or other lines
	OutOfRange  CommitVerdict = "out_of_range" // the file has fewer lines
	Unavailable CommitVerdict = "unavailable"  // the clone has no sound copy of an object
)

// WorktreeVerdict is where a citation's lines are in the worktree.
type WorktreeVerdict string

// The verdicts in the worktree.
const (
	WorktreeSame      WorktreeVerdict = "same"      // at the cited lines
	WorktreeMoved     WorktreeVerdict = "moved"     // at other lines: MovedTo
	WorktreeChanged   WorktreeVerdict = "changed"   // nowhere in the file
	WorktreeMissing   WorktreeVerdict = "missing"   // no such regular file
	WorktreeUntracked WorktreeVerdict = "untracked" // a file that Git does not track
	WorktreeNone      WorktreeVerdict = "no_worktree"
	// WorktreeUndecided: the file cannot be compared or read, as when a filter
	// driver made its bytes, which is never run. It is neither same nor changed.
	WorktreeUndecided WorktreeVerdict = "undecided"
)

// CitationReport is the verdict on one citation.
type CitationReport struct {
	At         string          `json:"at"` // such as documents[0].citations[1]
	Path       string          `json:"path,omitempty"`
	PathBase64 string          `json:"path_base64,omitempty"` // where the path is not valid UTF-8
	StartLine  int             `json:"start_line"`
	EndLine    int             `json:"end_line"`
	Role       string          `json:"role"`
	OK         bool            `json:"ok"`
	Commit     CommitVerdict   `json:"commit"`
	Worktree   WorktreeVerdict `json:"worktree"`
	MovedTo    int             `json:"moved_to,omitempty"`   // 1-based line of the nearest place
	Conversion string          `json:"conversion,omitempty"` // what Git converts between blob and worktree here: eol, ...
	Note       string          `json:"note,omitempty"`       // why, where the verdict does not say it
}

// Counts sums up the citations by verdict.
type Counts struct {
	Citations int                     `json:"citations"`
	OK        int                     `json:"ok"`
	Commit    map[CommitVerdict]int   `json:"commit"`
	Worktree  map[WorktreeVerdict]int `json:"worktree"`
}

func count(list []CitationReport) *Counts {
	c := &Counts{Citations: len(list), Commit: map[CommitVerdict]int{}, Worktree: map[WorktreeVerdict]int{}}
	for _, r := range list {
		if r.OK {
			c.OK++
		}
		c.Commit[r.Commit]++
		c.Worktree[r.Worktree]++
	}
	return c
}

// Reasons lists why the report is not OK, each once, in the order found.
func (r *Report) Reasons() []Reason {
	var out []Reason
	for _, f := range r.Refusals {
		if !slices.Contains(out, f.Reason) {
			out = append(out, f.Reason)
		}
	}
	return out
}

func (r *Report) refuse(f *Refusal) {
	if f != nil {
		r.Refusals = append(r.Refusals, *f)
	}
}

func summary(p *packet.Packet, raw []byte) *PacketReport {
	return &PacketReport{
		Address: packet.Address(raw), Bytes: len(raw),
		Question: p.Question, Target: p.Target, Source: p.Source, Dirty: p.Dirty,
		ObjectFormat: p.Repository.ObjectFormat, Commit: p.Repository.Commit, Tree: p.Repository.Tree,
		ContentFingerprint: p.ContentFingerprint, Completeness: p.Completeness,
		Omissions: p.Omissions, Limitations: p.Limitations, Documents: len(p.Documents),
	}
}
