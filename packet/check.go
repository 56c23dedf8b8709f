package packet

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// checker holds the first rule that a document breaks.
type checker struct {
	code  fault.Code
	what  string
	first error
}

// that notes a broken rule of a member.
func (c *checker) that(ok bool, field, format string, args ...any) {
	if !ok && c.first == nil {
		c.first = fault.New(c.code, "invalid %s: %s: %s", c.what, field, fmt.Sprintf(format, args...)).WithField(field)
	}
}

func (c *checker) oneOf(value, field string, allowed ...string) {
	c.that(slices.Contains(allowed, value), field, "%s is none of %s", shown(value), strings.Join(allowed, ", "))
}

func (c *checker) hex(value, field string, digits int) {
	c.that(isHex(value, digits), field, "want %d lower-case hex digits", digits)
}

func (c *checker) codes(values []string, field string, max int) {
	c.that(len(values) <= max, field, "%d are more than %d", len(values), max)
	for i, v := range values {
		c.that(isCode(v), field, "%s is no code", shown(v))
		c.that(i == 0 || values[i-1] < v, field, "not sorted, or a code stands twice")
	}
}

// shown quotes text of a document for an error.
func shown(s string) string {
	if len(s) > 64 {
		s = s[:64] + "..."
	}
	return fmt.Sprintf("%+q", s)
}

func isHex(s string, digits int) bool {
	return len(s) == digits && strings.Trim(s, "0123456789abcdef") == ""
}

// isCode says whether s is [a-z][a-z0-9_]{0,63}.
func isCode(s string) bool {
	return s != "" && len(s) <= 64 && s[0] >= 'a' && s[0] <= 'z' && strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// hexLength is the number of digits of an object id.
func hexLength(objectFormat string) int {
	if objectFormat == "sha256" {
		return 64
	}
	return 40
}

// check holds a packet against every rule of the schema. What is derived in
// Assemble (text, confidence, the sums of completeness) must be what the other
// members say.
func check(p *Packet) error {
	c := &checker{code: fault.PacketInvalid, what: "packet"}
	c.oneOf(p.Schema, "schema", Schema)
	c.oneOf(p.Provider, "provider", Provider)
	c.oneOf(p.Kind, "kind", Kind)
	c.repository(p)
	c.hex(p.ContentFingerprint, "content_fingerprint", 64)
	c.that(isCode(p.Question), "question", "%s is no question", shown(p.Question))
	c.that(len(p.Target) <= maxTargetBytes, "target", "longer than %d bytes", maxTargetBytes)
	c.that(len(p.Paths) <= 100, "paths", "more than 100")
	for _, n := range []int{p.Bounds.Depth, p.Bounds.NodeBudget, p.Bounds.MaxBytes, p.Bounds.Limit} {
		c.that(n >= 0, "bounds", "a bound is negative")
	}
	c.oneOf(p.GenerationCompleteness, "generation_completeness", Complete, Partial, Unknown)
	c.codes(p.Omissions, "omissions", MaxOmissions)
	c.codes(p.Limitations, "limitations", 64)
	for _, code := range p.Omissions {
		c.oneOf(code, "omissions", ProviderPartial, ProviderHasMore, UnresolvedEntities, ProviderWarning, ProviderCompaction, TextLimit,
			DocumentLimit, SourceTitleUnavailable, MissingCitation, UnsupportedRecordKind, SecretSuspected)
	}
	c.that(len(p.Cuts) <= maxCuts, "cuts", "more than %d", maxCuts)
	for _, cut := range p.Cuts {
		c.that(isCode(cut.Bound) && cut.Limit >= 0 && cut.Dropped >= 0, "cuts", "not a bound with its limit")
	}
	sums := *p
	summarize(&sums)
	c.that(p.Truncated == sums.Truncated, "truncated", "contradicts the cuts and omissions")
	c.that(p.QueryCompleteness == sums.QueryCompleteness, "query_completeness", "contradicts the cuts and omissions")
	c.that(p.Completeness == sums.Completeness, "completeness", "contradicts the other members")
	c.parts(p)
	return c.first
}

func (c *checker) repository(p *Packet) {
	r := p.Repository
	c.oneOf(r.ObjectFormat, "repository.object_format", "sha1", "sha256")
	c.oneOf(p.Source, "source", "commit", "worktree")
	if r.Commit != "" || r.Tree != "" || p.Source == "commit" {
		c.hex(r.Commit, "repository.commit", hexLength(r.ObjectFormat))
		c.hex(r.Tree, "repository.tree", hexLength(r.ObjectFormat))
	}
	if p.Source == "worktree" {
		c.hex(p.WorktreeDigest, "worktree_digest", 64)
	} else {
		c.that(p.WorktreeDigest == "", "worktree_digest", "only a worktree has one")
		c.that(!p.Dirty, "dirty", "a commit is never dirty")
	}
}

// parts checks what holds entities and citations.
func (c *checker) parts(p *Packet) {
	blob := hexLength(p.Repository.ObjectFormat)
	c.that(len(p.Seeds) <= maxSeeds, "seeds", "more than %d", maxSeeds)
	for i := range p.Seeds {
		at := fmt.Sprintf("seeds[%d]", i)
		c.entity(&p.Seeds[i].Entity, at+".entity")
		c.citations(p.Seeds[i].Citations, at+".citations", blob, 1)
	}
	c.that(len(p.UnresolvedEntities) <= maxListedEntities, "unresolved_entities", "more than %d", maxListedEntities)
	for i := range p.UnresolvedEntities {
		c.entity(&p.UnresolvedEntities[i], fmt.Sprintf("unresolved_entities[%d]", i))
	}
	if m := p.UnresolvedMentions; m != nil {
		c.that(m.Count >= len(m.Sites), "unresolved_mentions.count", "less than the sites")
		c.that(m.External >= 0, "unresolved_mentions.external", "negative")
		c.citations(m.Sites, "unresolved_mentions.sites", blob, MaxMentionSites)
	}
	if p.Coverage != nil {
		c.coverage(p.Coverage)
	}
	c.that(len(p.Documents) <= MaxDocuments, "documents", "more than %d", MaxDocuments)
	for i := range p.Documents {
		c.document(&p.Documents[i], fmt.Sprintf("documents[%d]", i), blob)
	}
}

func (c *checker) document(d *Document, at string, blob int) {
	cl := &d.Claim
	c.entity(&cl.Subject, at+".claim.subject")
	c.oneOf(cl.Relation, at+".claim.relation", Calls, Imports, Inherits, References, Contains, Tests, Defines, Resembles)
	c.that((cl.Object == nil) == (cl.Relation == Defines), at+".claim.object", "a definition has none and a relationship has one")
	if cl.Object != nil {
		c.entity(cl.Object, at+".claim.object")
	}
	if cl.Within != nil {
		c.entity(cl.Within, at+".claim.within")
		c.that(words[cl.Relation][0] != "", at+".claim.within", "only a relationship has one")
	}
	c.that(cl.Hop >= 0 && cl.Candidates >= 0, at+".claim", "a count is negative")
	if words[cl.Relation][0] != "" {
		c.oneOf(d.Strength, at+".strength", ResolvedStatic, Candidate)
	} else {
		c.that(d.Strength == "", at+".strength", "neither a definition nor a hint has one")
	}
	c.that((cl.Candidates > 0) == (d.Strength == Candidate), at+".claim.candidates", "a candidate has one or more, nothing else has any")
	c.that(d.RuleID == "" || isCode(d.RuleID), at+".rule_id", "%s is no rule", shown(d.RuleID))
	for field, v := range map[string]string{"granularity": cl.Granularity, "reason": cl.Reason, "tier": cl.Tier} {
		c.that(v == "" || isCode(v), at+".claim."+field, "%s is no code", shown(v))
	}
	if c.first != nil {
		return // the rest reads members that may be absent
	}
	c.that(d.Text == Sentence(*cl, d.Strength), at+".text", "is not the sentence of the claim")
	c.oneOf(d.Confidence, at+".confidence", confidenceOf(*cl, d.Strength))
	c.oneOf(d.SourceKind, at+".source_kind", SourceKind)
	c.that(len(d.Citations) > 0, at+".citations", "a claim without a citation")
	c.citations(d.Citations, at+".citations", blob, MaxCitations)
	missing := checkShown(d)
	c.that(missing == "", at+".citations", "nothing cites the %s", missing)
}

// checkShown gives the role that a document's claim needs and no citation has.
func checkShown(d *Document) string {
	cl := &d.Claim
	var need []string
	if words[cl.Relation][0] != "" && cl.Relation != Contains {
		need = append(need, RoleSite+cl.Relation)
	}
	if cl.Relation == Defines || cl.Within != nil && cl.Within.Kind != "file" {
		need = append(need, RoleDefinition)
	}
	if cl.Relation != Defines {
		if cl.Subject.Kind != "file" {
			need = append(need, RoleSubjectDefinition)
		}
		if cl.Object != nil && cl.Object.Kind != "file" && cl.Object.ID != cl.Subject.ID {
			need = append(need, RoleObjectDefinition)
		}
	}
	for _, role := range need {
		if !slices.ContainsFunc(d.Citations, func(c Citation) bool { return c.Role == role }) {
			return role
		}
	}
	return ""
}

func (c *checker) entity(e *Entity, at string) {
	c.that(e.ID != "" && len(e.ID) <= 64, at+".id", "want 1 to 64 bytes")
	c.that(isCode(e.Kind), at+".kind", "%s is no kind", shown(e.Kind))
	c.that(e.Language == "" || isCode(e.Language), at+".language", "%s is no language", shown(e.Language))
	c.that(e.QualifiedName != "" && len(e.QualifiedName) <= maxPathBytes+16, at+".qualified_name", "empty or too long")
	c.that(len(e.Name) <= maxPathBytes+16, at+".name", "too long")
	c.that(e.StartLine >= 0 && e.EndLine >= e.StartLine, at+".start_line", "not a range of lines")
	c.path(e.Path, e.PathBase64, at)
}

func (c *checker) citations(list []Citation, at string, blob, max int) {
	c.that(len(list) <= max, at, "%d are more than %d", len(list), max)
	for i := range list {
		c.citation(&list[i], fmt.Sprintf("%s[%d]", at, i), blob)
	}
}

func (c *checker) citation(t *Citation, at string, blob int) {
	c.path(t.Path, t.PathBase64, at)
	lines := t.EndLine - t.StartLine + 1
	c.that(t.StartLine >= 1 && lines >= 1 && lines <= MaxCitedLines, at+".start_line", "not a range of 1 to %d lines", MaxCitedLines)
	relation, isSite := strings.CutPrefix(t.Role, RoleSite)
	if !isSite {
		relation, isSite = strings.CutPrefix(t.Role, RoleWitness)
	}
	c.that(isSite && words[relation][0] != "" || slices.Contains([]string{RoleDefinition, RoleSubjectDefinition, RoleObjectDefinition, RoleMention}, t.Role),
		at+".role", "%s is no role", shown(t.Role))
	c.hex(t.Blob, at+".blob", blob)
	c.hex(t.SnippetSHA256, at+".snippet_sha256", 64)
	if t.Snippet == "" && t.SnippetBase64 == "" {
		return
	}
	c.base64(t.Snippet, t.SnippetBase64, at+".snippet_base64")
	raw := t.RawSnippet()
	all, ok := Lines(raw, 1, lines)
	c.that(ok && len(all) == len(raw), at+".snippet", "is not %d lines", lines)
	c.that(Digest256(raw) == t.SnippetSHA256, at+".snippet", "does not have the digest of snippet_sha256")
}

// path checks the two members of a path: exactly one, relative, without "..".
func (c *checker) path(text, b64, at string) {
	c.base64(text, b64, at+".path_base64")
	raw := rawPath(text, b64)
	c.that(validPath(raw), at+".path", "%s is no path inside a repository", shown(raw))
}

func validPath(p string) bool {
	if p == "" || len(p) > maxPathBytes || strings.IndexByte(p, 0) >= 0 {
		return false
	}
	for part := range strings.SplitSeq(p, "/") {
		if part == "" || part == "." || part == ".." {
			return false
		}
	}
	return true
}

// base64 checks that bytes are in the one member they belong in.
func (c *checker) base64(text, b64, at string) {
	if b64 == "" {
		return
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(b64)
	c.that(err == nil && base64.StdEncoding.EncodeToString(raw) == b64, at, "not standard base64")
	c.that(text == "" && !utf8.Valid(raw), at, "stands only for bytes that are not valid UTF-8")
}

func (c *checker) coverage(v *Coverage) {
	for _, n := range []int{v.Eligible, v.Parsed, v.Partial, v.Failed, v.Resolved, v.Candidate, v.Unresolved, v.External} {
		c.that(n >= 0, "coverage", "a count is negative")
	}
	for i, s := range v.Skipped {
		c.that(isCode(s.Reason) && s.Files >= 0, "coverage.skipped", "not a reason with a count")
		c.that(i == 0 || v.Skipped[i-1].Reason < s.Reason, "coverage.skipped", "not sorted, or a reason stands twice")
	}
	c.that(len(v.PartialFiles) <= maxListedFiles && len(v.FailedFiles) <= maxListedFiles, "coverage", "more than %d files listed", maxListedFiles)
	for i := range v.PartialFiles {
		f := &v.PartialFiles[i]
		at := fmt.Sprintf("coverage.partial_files[%d]", i)
		c.path(f.Path, f.PathBase64, at)
		c.that(len(f.Ranges) <= maxListedRanges, at+".ranges", "more than %d", maxListedRanges)
		for _, r := range f.Ranges {
			c.that(r.StartLine >= 1 && r.EndLine >= r.StartLine, at+".ranges", "not a range of lines")
		}
	}
	for i := range v.FailedFiles {
		c.path(v.FailedFiles[i].Path, v.FailedFiles[i].PathBase64, fmt.Sprintf("coverage.failed_files[%d]", i))
	}
}
