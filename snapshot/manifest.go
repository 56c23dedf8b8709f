package snapshot

// ObjectFormat is the hash of a repository's object names: "sha1" or "sha256".
type ObjectFormat string

// The object formats of Git.
const (
	SHA1   ObjectFormat = "sha1"
	SHA256 ObjectFormat = "sha256"
)

// Source says where a snapshot's bytes come from.
type Source string

// The two sources of a snapshot.
const (
	FromCommit   Source = "commit"
	FromWorktree Source = "worktree"
)

// Reason says why a file of the manifest is not indexed.
type Reason string

// The reasons of the specification, and not_in_clone: the object is absent from
// a shallow or partial clone and is never fetched.
const (
	ExcludedDirectory   Reason = "excluded_directory"
	CredentialFile      Reason = "credential_file"
	ExcludedPattern     Reason = "excluded_pattern"
	UnsupportedContent  Reason = "unsupported_content"
	Symlink             Reason = "symlink"
	Submodule           Reason = "submodule"
	MissingWorktreeFile Reason = "missing_worktree_file"
	NonRegularFile      Reason = "non_regular_file"
	FileTooLarge        Reason = "file_too_large"
	BinaryFile          Reason = "binary_file"
	LFSPointer          Reason = "lfs_pointer"
	UnsupportedEncoding Reason = "unsupported_encoding"
	UnrepresentablePath Reason = "unrepresentable_path"
	GeneratedFile       Reason = "generated_file"
	MinifiedFile        Reason = "minified_file"
	NotInClone          Reason = "not_in_clone"
)

// Entry is one path of a manifest.
type Entry struct {
	Path     string // the exact bytes of the path, '/' between components; never folded or normalised
	Mode     uint32 // Git's mode, such as 0100644
	Blob     string // object id in hex: of the blob, of the worktree's bytes, or a submodule's commit
	SHA256   string // hex of the content's SHA-256; "" when the content was not read
	Size     int64  // bytes; -1 when the content was not read
	Language string // what Options.Language said; "" when nothing indexes it
	Reason   Reason // why it is omitted; "" when it is included
}

// Included says whether the file's content is indexed.
func (e *Entry) Included() bool { return e.Reason == "" }

// Manifest is a snapshot's inventory: every path, omitted ones included.
type Manifest struct {
	ObjectFormat ObjectFormat
	Commit       string // hex; "" when HEAD is unborn
	Tree         string // hex of the commit's root tree; "" when HEAD is unborn
	Source       Source
	// Dirty says whether in-scope bytes differ from the commit's; always false
	// for a commit. It is found by hashing.
	Dirty bool
	// PolicyDigest is the hex SHA-256 of the filter policy in force.
	PolicyDigest string
	Entries      []Entry // sorted bytewise by Path, without duplicates
	// Worktree states what the index and the attributes add; nil for a commit.
	Worktree *WorktreeState
}

// WorktreeState is what was observed beside the bytes of a worktree snapshot.
// It is reported and is outside the fingerprint.
type WorktreeState struct {
	IndexVersion uint32
	Conflicted   []string // paths with stages 1 to 3
	IntentToAdd  []string
	AssumeClean  int // entries with assume-unchanged or skip-worktree: their bytes were read all the same
	Staged       int // entries whose index blob differs from the commit's
	// Converted are paths whose worktree bytes differ from the blob only by
	// Git's eol, encoding or filter conversion, with the attribute that says so.
	Converted []Conversion
	// Filtered are paths whose bytes are not the commit's and that a filter
	// driver would have to run over to tell whether they changed. None is run.
	Filtered []string
}

// Conversion is a path and what Git's conversion does to it, such as "eol",
// "working-tree-encoding,eol", "ident" or "lfs".
type Conversion struct{ Path, How string }

// Find gives the entry of a path, or nil.
func (m *Manifest) Find(path string) *Entry {
	lo, hi := 0, len(m.Entries)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.Entries[mid].Path < path {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(m.Entries) && m.Entries[lo].Path == path {
		return &m.Entries[lo]
	}
	return nil
}
