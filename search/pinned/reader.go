package pinned

import (
	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/search"
)

// The bounds of the lists in a coverage.
const (
	maxListed = 20 // files
	maxRanges = 8  // unparsed ranges of one file
)

// Reader answers questions over a generation. The caller closes the generation
// after the last answer.
func Reader(g *kv.Generation) search.Reader { return reader{g} }

type reader struct{ *kv.Generation }

func (r reader) Facts() search.Facts {
	m := r.Meta()
	return search.Facts{Scope: m.Scope, Fingerprint: m.Fingerprint, ContentFingerprint: m.ContentFingerprint,
		ObjectFormat: string(m.ObjectFormat), Commit: m.Commit, Tree: m.Tree, Source: string(m.Source), Dirty: m.Dirty,
		Nodes: m.Nodes, Coverage: coverage(&m.Contents)}
}

func coverage(c *kv.Contents) search.Coverage {
	v := search.Coverage{Eligible: c.Files.Parsed + c.Files.Partial + c.Files.Failed, Parsed: c.Files.Parsed, Partial: c.Files.Partial,
		Failed: c.Files.Failed, Skipped: c.Files.ByReason, Resolved: int(c.References.Resolved), Candidate: int(c.References.Candidate),
		Unresolved: int(c.References.Unresolved), External: int(c.References.External)}
	for _, p := range c.Partial[:min(len(c.Partial), maxListed)] {
		f := search.PartialFile{Path: p.Path, Ranges: [][2]int{}}
		for _, l := range p.Ranges[:min(len(p.Ranges), maxRanges)] {
			f.Ranges = append(f.Ranges, [2]int{l.First, l.Last})
		}
		v.PartialFiles = append(v.PartialFiles, f)
	}
	for _, f := range c.Failed[:min(len(c.Failed), maxListed)] {
		v.FailedFiles = append(v.FailedFiles, f.Path)
	}
	return v
}

// File gives false for a path that was not read: no parser looked at it.
func (r reader) File(path string) (search.File, bool, error) {
	s, ok := r.FileStatus(path)
	if err := r.Err(); err != nil || !ok {
		return search.File{}, false, err
	}
	f := search.File{Status: s.Status}
	for _, h := range s.Headings {
		f.Headings = append(f.Headings, search.Heading{Level: h.Level, Line: h.Line, Text: h.Text})
	}
	return f, true, nil
}
