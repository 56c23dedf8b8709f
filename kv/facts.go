package kv

import (
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

func sha256Sum(b []byte) [32]byte { return sha256.Sum256(b) }

// compact gives back what growing slices and single strings waste: all facts of
// a snapshot are in memory at once while it is resolved.
func compact(f *facts.File) {
	f.LineStarts = tight(f.LineStarts)
	f.Scopes, f.Defs, f.Bindings = tight(f.Scopes), tight(f.Defs), tight(f.Bindings)
	f.Imports, f.Exports = tight(f.Imports), tight(f.Exports)
	f.Exprs, f.Kids, f.Refs = tight(f.Exprs), tight(f.Kids), tight(f.Refs)
	f.Strings, f.Signatures = joined(f.Strings), joined(f.Signatures)
}

// tight copies a slice that wastes an eighth of its memory or more.
func tight[T any](s []T) []T {
	if cap(s)-len(s) <= len(s)/8 {
		return s
	}
	return append(make([]T, 0, len(s)), s...)
}

// joined copies strings behind each other into one.
func joined(list []string) []string {
	n := 0
	for _, s := range list {
		n += len(s)
	}
	var all strings.Builder
	all.Grow(n)
	for _, s := range list {
		all.WriteString(s)
	}
	rest, out := all.String(), make([]string, len(list))
	for i, s := range list {
		out[i], rest = rest[:len(s)], rest[len(s):]
	}
	return out
}

// statusOf puts a file's facts about itself into lines.
func statusOf(f *facts.File) FileStatus {
	s := FileStatus{Status: f.Status, Failure: f.Failure, Lines: len(f.LineStarts), Damage: lines(f, f.Damage), Blanked: lines(f, f.Blanked)}
	if f.Status == facts.Failed && s.Failure == "" {
		s.Failure = "extraction_failed"
	}
	for _, h := range f.Headings {
		s.Headings = append(s.Headings, Heading{Level: int(h.Level), Line: int(h.Line), Text: f.Text(h.Text)})
	}
	return s
}

// lines turns byte ranges into ranges of lines, sorted, those that touch made one.
func lines(f *facts.File, spans []facts.Span) []LineRange {
	var list []LineRange
	for _, s := range spans {
		first := int(max(1, f.Line(s.Start)))
		last := max(first, int(f.Line(max(s.Start, s.End-min(s.End, 1)))))
		list = append(list, LineRange{first, last})
	}
	slices.SortFunc(list, func(a, b LineRange) int { return a.First - b.First })
	merged := list[:0]
	for _, r := range list {
		if n := len(merged); n > 0 && r.First <= merged[n-1].Last+1 {
			merged[n-1].Last = max(merged[n-1].Last, r.Last)
			continue
		}
		merged = append(merged, r)
	}
	return merged
}
