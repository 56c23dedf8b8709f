package verify

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify/cite"
)

// Against is what citations are held against: a commit's tree and, where the
// repository has one, its worktree.
type Against struct {
	Repository *snapshot.Repository
	Tree       string          // hex; "" when there is no commit
	Decides    snapshot.Source // whose verdict makes a citation OK
}

// Cited lists a packet's citations, with the place of each: those of the seeds,
// of the documents and of the unresolved mentions.
func Cited(p *packet.Packet) (places []string, list []packet.Citation) {
	add := func(at string, citations []packet.Citation) {
		for i := range citations {
			places = append(places, fmt.Sprintf("%s[%d]", at, i))
			list = append(list, citations[i])
		}
	}
	for i := range p.Seeds {
		add(fmt.Sprintf("seeds[%d].citations", i), p.Seeds[i].Citations)
	}
	for i := range p.Documents {
		add(fmt.Sprintf("documents[%d].citations", i), p.Documents[i].Citations)
	}
	if p.UnresolvedMentions != nil {
		add("unresolved_mentions.sites", p.UnresolvedMentions.Sites)
	}
	return places, list
}

// Check gives the verdict on each citation, in their order. The error is only
// for a cancelled context: whatever else goes wrong is a verdict.
func (a Against) Check(ctx context.Context, list []packet.Citation) ([]CitationReport, error) {
	out := make([]CitationReport, len(list))
	byPath := map[string][]int{}
	for i := range list {
		c := &list[i]
		out[i] = CitationReport{Path: c.Path, PathBase64: c.PathBase64, StartLine: c.StartLine, EndLine: c.EndLine, Role: c.Role}
		byPath[c.RawPath()] = append(byPath[c.RawPath()], i)
	}
	paths := make([]string, 0, len(byPath))
	for path := range byPath {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	for _, path := range paths {
		// One file at a time: each is read once and let go.
		f := a.open(ctx, path)
		for _, i := range byPath[path] {
			f.judge(&list[i], &out[i])
			a.decide(&out[i])
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// decide says whether a citation holds.
func (a Against) decide(r *CitationReport) {
	if a.Decides == snapshot.FromWorktree {
		r.OK = r.Worktree == WorktreeSame && r.Note == ""
	} else {
		r.OK = r.Commit == Verified
	}
}

// why words a verdict.
func (r *CitationReport) why(by snapshot.Source) string {
	verdict := fmt.Sprintf("%s at the commit", r.Commit)
	if by == snapshot.FromWorktree {
		verdict = fmt.Sprintf("%s in the worktree", r.Worktree)
	}
	s := fmt.Sprintf("%q lines %d-%d: %s", r.raw(), r.StartLine, r.EndLine, verdict)
	if r.Note != "" {
		s += ": " + r.Note
	}
	return s
}

// raw gives the path as text, or as base64 where it is none.
func (r *CitationReport) raw() string {
	if r.PathBase64 != "" {
		return "base64:" + r.PathBase64
	}
	return r.Path
}

// file is one path at the commit and in the worktree.
type file struct {
	a    Against
	path string

	// At the commit: either a verdict for every citation, or blob and content.
	commit     CommitVerdict
	commitNote string
	blob       string
	content    []byte
	contentErr CommitVerdict

	// In the worktree: either a verdict for every citation, or bytes.
	worktree     WorktreeVerdict
	worktreeNote string
	raw          []byte
	clean        []byte // as Git would store raw
	decidable    bool   // clean is known
	conversion   string // what Git converts between the two
}

func (a Against) open(ctx context.Context, path string) *file {
	f := &file{a: a, path: path}
	f.openCommit(ctx)
	f.openWorktree(ctx)
	return f
}

func (f *file) openCommit(ctx context.Context) {
	if f.a.Tree == "" {
		f.commit, f.commitNote = Missing, "there is no commit"
		return
	}
	mode, blob, found, err := f.a.Repository.Lookup(ctx, f.a.Tree, f.path)
	switch {
	case fault.CodeOf(err) == fault.InvalidPath:
		f.commit, f.commitNote = Missing, "not a path that a commit can hold"
		return
	case err != nil:
		f.commit, f.commitNote = Unavailable, sentence(err)
		return
	case !found:
		f.commit = Missing
		return
	case mode&0o170000 != 0o100000:
		f.commit, f.commitNote = Changed, "not a regular file at the commit"
		return
	}
	f.blob = blob
	f.content, err = f.a.Repository.Blob(ctx, blob)
	if err != nil {
		f.contentErr, f.commitNote = Unavailable, sentence(err)
	}
}

// openWorktree comes after openCommit.
func (f *file) openWorktree(ctx context.Context) {
	repo := f.a.Repository
	if repo.Root() == "" {
		f.worktree = WorktreeNone
		return
	}
	raw, mode, err := repo.ReadWorktree(ctx, f.path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		f.worktree = WorktreeMissing
		return
	case fault.CodeOf(err) == fault.InvalidPath || err == nil && !mode.IsRegular():
		f.worktree, f.worktreeNote = WorktreeMissing, "not a regular file in the worktree"
		return
	case err != nil:
		f.worktree, f.worktreeNote = WorktreeUndecided, sentence(err)
		return
	}
	tracked, err := repo.Tracked(f.path)
	if err != nil {
		f.worktree, f.worktreeNote = WorktreeUndecided, sentence(err)
		return
	}
	if !tracked {
		f.worktree = WorktreeUntracked
		return
	}
	f.raw = raw
	clean, how, ok := repo.Normalize(ctx, f.path, raw)
	switch {
	case !ok:
		f.conversion, f.worktreeNote = how, "a filter driver makes this file's bytes, and is never run"
	case string(clean) == string(raw):
		f.clean, f.decidable = raw, true
	case strings.Contains(how, "eol") && bytes.Contains(f.content, []byte("\r\n")):
		// Under text=auto Git leaves such a file alone, under text it does not:
		// lines that differ by CR only prove nothing.
		f.conversion, f.worktreeNote = how, "the blob holds CRLF line ends, which Git may leave or convert"
	default:
		f.clean, f.decidable, f.conversion = clean, true, how
	}
}

// judge writes both verdicts on a citation of this file.
func (f *file) judge(c *packet.Citation, r *CitationReport) {
	want, ok := snippetOf(c)
	if !ok {
		r.Commit, r.Worktree, r.Note = Changed, WorktreeChanged, "the snippet is not the one that its digest names"
		return
	}
	lines, note := f.judgeCommit(c, r, want)
	if want.Bytes == nil {
		want.Bytes = lines
	}
	worktreeNote := f.judgeWorktree(c, r, want)
	if f.a.Decides == snapshot.FromWorktree {
		note, worktreeNote = worktreeNote, note
	}
	r.Note = note
	if note == "" && f.a.Decides != snapshot.FromWorktree {
		r.Note = worktreeNote
	}
}

// snippetOf reads what a citation says that its lines hold; false when it
// contradicts itself.
func snippetOf(c *packet.Citation) (cite.Snippet, bool) {
	var s cite.Snippet
	sum, err := hex.DecodeString(c.SnippetSHA256)
	if err != nil || len(sum) != len(s.SHA256) {
		return s, false
	}
	copy(s.SHA256[:], sum)
	s.Bytes = c.RawSnippet()
	return s, s.Bytes == nil || s.Is(s.Bytes)
}

// judgeCommit gives the lines when they are verified.
func (f *file) judgeCommit(c *packet.Citation, r *CitationReport, want cite.Snippet) (lines []byte, note string) {
	if f.commit != "" {
		r.Commit = f.commit
		return nil, f.commitNote
	}
	if f.blob != c.Blob {
		r.Commit = Changed
		return nil, fmt.Sprintf("the file's blob is %s, not %s", f.blob, c.Blob)
	}
	if f.contentErr != "" {
		r.Commit = f.contentErr
		return nil, f.commitNote
	}
	lines, ok := packet.Lines(f.content, c.StartLine, c.EndLine)
	switch {
	case !ok:
		r.Commit = OutOfRange
		return nil, fmt.Sprintf("the file has %d lines", cite.Count(f.content))
	case !want.Is(lines):
		r.Commit = Changed
		return nil, "the lines are not those of the snippet's digest"
	}
	r.Commit = Verified
	return lines, ""
}

// judgeWorktree looks for the lines first in the bytes as they are and then as
// Git would store them: either way they are there.
func (f *file) judgeWorktree(c *packet.Citation, r *CitationReport, want cite.Snippet) (note string) {
	if f.worktree != "" {
		r.Worktree = f.worktree
		return f.worktreeNote
	}
	match, line := cite.Find(f.raw, c.StartLine, c.EndLine, want)
	if match != cite.Same && f.decidable && f.conversion != "" {
		if m, l := cite.Find(f.clean, c.StartLine, c.EndLine, want); m == cite.Same || match != cite.Moved {
			match, line, r.Conversion = m, l, f.conversion
		}
	}
	switch {
	case match == cite.Same:
		r.Worktree = WorktreeSame
		if f.a.Decides == snapshot.FromWorktree && !f.is(c.Blob) {
			return "other lines of the file changed"
		}
	case match == cite.Moved:
		r.Worktree, r.MovedTo = WorktreeMoved, line
	case match == cite.Unsearch:
		r.Worktree = WorktreeUndecided
		return "not at the cited lines; the rest of the file is too large to search by digest"
	case !f.decidable:
		r.Worktree, r.Conversion = WorktreeUndecided, f.conversion
		return f.worktreeNote
	default:
		r.Worktree = WorktreeChanged
	}
	return ""
}

// is says whether the worktree's file is the blob, as it is or as Git would store it.
func (f *file) is(blob string) bool {
	format := f.a.Repository.ObjectFormat()
	return snapshot.HashBlob(format, f.raw) == blob || f.decidable && snapshot.HashBlob(format, f.clean) == blob
}
