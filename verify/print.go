package verify

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Print writes the report for people. Everything in it that comes from a bundle
// or a repository is made safe for a terminal.
func (r *Report) Print(w io.Writer) error {
	var b strings.Builder
	line := func(label, format string, args ...any) {
		fmt.Fprintf(&b, "%-12s%s\n", label, fmt.Sprintf(format, args...))
	}
	if r.OK {
		line("verified", "%s", map[int]string{1: "the grant; citations were not checked, no repository was named", 2: "the grant and every citation"}[r.Depth])
	} else {
		line("REFUSED", "%s", strings.Join(words(r.Reasons()), ", "))
	}
	for i := range r.Refusals {
		// Failed citations have their own lines below.
		if f := &r.Refusals[i]; f.Reason != CitationFailed {
			line("  reason", "%s: %s", f.Reason, f.Detail)
		}
	}
	if p := r.Packet; p != nil {
		line("packet", "%s (%d bytes, %d documents)", p.Address, p.Bytes, p.Documents)
		line("question", "%s %s", name(p.Question), name(p.Target))
		line("answer", "%s%s", p.Completeness, after("; left out: ", strings.Join(p.Omissions, ", ")))
		if len(p.Limitations) > 0 {
			line("limits", "%s", strings.Join(p.Limitations, ", "))
		}
		line("commit", "%s", orNone(p.Commit))
		if p.Source == "worktree" {
			line("source", "the worktree%s", map[bool]string{true: ", which differs from the commit"}[p.Dirty])
		}
	}
	if g := r.Grant; g != nil {
		line("signed by", "%s, key %s (line %d of the trust file)", name(g.Claims.Issuer), g.Signer, g.TrustLine)
		line("for", "%s", safe(strings.Join(g.Claims.Audience, ", ")))
		line("valid", "%s to %s", safe(g.Claims.NotBefore), safe(g.Claims.NotAfter))
	}
	r.printCitations(&b, line)
	_, err := io.WriteString(w, b.String())
	return err
}

func (r *Report) printCitations(b *strings.Builder, line func(label, format string, args ...any)) {
	if r.Repository == nil {
		return
	}
	switch {
	case r.Repository.Bare:
		line("clone", "bare: there is no worktree, the commit alone was checked")
	case r.Repository.AtHead:
		line("clone", "HEAD is at the packet's commit")
	default:
		line("clone", "HEAD is at %s, not at the packet's commit", orNone(r.Repository.Head))
	}
	if r.Counts == nil {
		return
	}
	line("citations", "%d of %d hold; the %s decides", r.Counts.OK, r.Counts.Citations, r.Repository.Decides)
	line("  commit", "%s", tally(r.Counts.Commit))
	line("  worktree", "%s", tally(r.Counts.Worktree))
	for i := range r.Citations {
		c := &r.Citations[i]
		if c.OK && (c.Worktree == WorktreeSame || c.Worktree == WorktreeNone) {
			continue
		}
		fmt.Fprintf(b, "  %-5s %s:%d-%d (%s, %s) commit: %s, worktree: %s", map[bool]string{true: "holds", false: "FAILS"}[c.OK],
			name(c.raw()), c.StartLine, c.EndLine, safe(c.Role), c.At, c.Commit, c.Worktree)
		if c.MovedTo > 0 {
			fmt.Fprintf(b, " to line %d", c.MovedTo)
		}
		if c.Conversion != "" {
			fmt.Fprintf(b, " (Git converts this file: %s)", safe(c.Conversion))
		}
		if c.Note != "" {
			fmt.Fprintf(b, ": %s", safe(c.Note))
		}
		b.WriteByte('\n')
	}
}

// tally lists counts by falling number and then by word.
func tally[V ~string](counts map[V]int) string {
	keys := make([]V, 0, len(counts))
	for k := range counts {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b V) int {
		if counts[a] != counts[b] {
			return counts[b] - counts[a]
		}
		return strings.Compare(string(a), string(b))
	})
	parts := make([]string, len(keys))
	for i, k := range keys {
		parts[i] = fmt.Sprintf("%d %s", counts[k], k)
	}
	return orNone(strings.Join(parts, ", "))
}

func words(reasons []Reason) []string {
	out := make([]string, len(reasons))
	for i, r := range reasons {
		out[i] = string(r)
	}
	return out
}

func after(prefix, s string) string {
	if s == "" {
		return ""
	}
	return prefix + s
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
