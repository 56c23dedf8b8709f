package search

import (
	"maps"

	"github.com/exhibit-dev/exhibit/kv"
)

// maxPartialFiles bounds the lists of files that could not be read whole.
const maxPartialFiles = 20

// Over reads a published generation.
func Over(g *kv.Generation) Reader { return generation{g} }

type generation struct{ *kv.Generation }

// Facts gives what an answer repeats of the generation.
func (g generation) Facts() Facts {
	m := g.Meta()
	c := Coverage{
		Eligible: m.Files.Parsed + m.Files.Partial + m.Files.Failed, Parsed: m.Files.Parsed, Partial: m.Files.Partial, Failed: m.Files.Failed,
		Skipped: maps.Clone(m.Files.ByReason), Resolved: int(m.References.Resolved), Candidate: int(m.References.Candidate),
		Unresolved: int(m.References.Unresolved), External: int(m.References.External),
	}
	for _, f := range m.Partial[:min(len(m.Partial), maxPartialFiles)] {
		p := PartialFile{Path: f.Path}
		for _, r := range f.Ranges {
			p.Ranges = append(p.Ranges, [2]int{r.First, r.Last})
		}
		c.PartialFiles = append(c.PartialFiles, p)
	}
	for _, f := range m.Failed[:min(len(m.Failed), maxPartialFiles)] {
		c.FailedFiles = append(c.FailedFiles, f.Path)
	}
	return Facts{Scope: m.Scope, Fingerprint: m.Fingerprint, ContentFingerprint: m.ContentFingerprint, ObjectFormat: string(m.ObjectFormat),
		Commit: m.Commit, Tree: m.Tree, Source: string(m.Source), Dirty: m.Dirty, Nodes: m.Nodes, Coverage: c}
}

// File gives what parsing said of an indexed file.
func (g generation) File(path string) (File, bool, error) {
	s, ok := g.FileStatus(path)
	f := File{Status: s.Status}
	for _, h := range s.Headings {
		f.Headings = append(f.Headings, Heading{Level: h.Level, Line: h.Line, Text: h.Text})
	}
	return f, ok, nil
}
