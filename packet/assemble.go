package packet

import (
	"slices"
	"sort"

	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Assemble makes the packet of an answer: one document for each item, in the
// answer's order, within the limits. It is a pure function of its arguments.
//
// An item that cannot be cited is left out (missing_citation), as is one whose
// relation has no sentence (unsupported_record_kind); a document over the limits
// is left out whole (document_limit), a snippet over them leaves its citation
// behind (text_limit). It is fault.BudgetTooSmall when not even a packet without
// documents fits.
func Assemble(a *search.Answer, src Source, lim Limits) (*Packet, error) {
	if err := lim.check(); err != nil {
		return nil, err
	}
	m := &maker{answer: a, limits: lim, citer: citer{source: src, files: map[string][]byte{}}, omissions: map[string]bool{}}
	p := m.envelope()
	if err := m.seeds(p); err != nil {
		return nil, err
	}
	if err := m.mentions(p); err != nil {
		return nil, err
	}
	if err := m.documents(p); err != nil {
		return nil, err
	}
	m.conclude(p)
	if err := m.fit(p); err != nil {
		return nil, err
	}
	if err := check(p); err != nil {
		return nil, err
	}
	return p, nil
}

// maker is the state of one assembly.
type maker struct {
	answer    *search.Answer
	limits    Limits
	citer     citer
	omissions map[string]bool
	dropped   map[string]int // documents left out, by the bound of the limits
}

// envelope fills in what needs no source.
func (m *maker) envelope() *Packet {
	a, op := m.answer, m.answer.Operation
	p := &Packet{
		Schema: Schema, Provider: Provider, Kind: Kind,
		Repository:         Repository{ObjectFormat: a.ObjectFormat, Commit: a.Commit, Tree: a.Tree},
		ContentFingerprint: a.ContentFingerprint,
		Source:             a.Source,
		Dirty:              a.Dirty,
		Question:           op.Kind,
		Target:             op.Target,
		Paths:              slices.Clone(op.Paths),
		Bounds: Bounds{Depth: op.Depth, NodeBudget: op.NodeBudget, MaxBytes: op.MaxBytes, Limit: op.Limit,
			PathPrefix: op.PathPrefix, Language: op.Language, NodeKind: op.NodeKind, Level: op.Level},
		Seeds: []Seed{}, Omissions: []string{}, Cuts: []Cut{}, Limitations: sortedCodes(a.Limitations), Documents: []Document{},
	}
	if p.Target == "" {
		p.Target = op.Query
	}
	if p.Target == "" {
		p.Target = op.SymbolID
	}
	if a.Source == "worktree" {
		p.WorktreeDigest = a.ContentFingerprint
	}
	for _, n := range a.Ambiguous[:min(len(a.Ambiguous), maxListedEntities)] {
		p.UnresolvedEntities = append(p.UnresolvedEntities, entity(&n))
	}
	if len(a.Ambiguous) > 0 {
		m.omissions[UnresolvedEntities] = true
	}
	p.Coverage = coverage(a.Coverage)
	for _, c := range a.Cuts {
		p.Cuts = append(p.Cuts, Cut{Bound: c.Bound, Limit: c.Limit, Dropped: c.Dropped})
	}
	m.dropped = map[string]int{}
	return p
}

func sortedCodes(codes []string) []string {
	out := append([]string{}, codes...)
	sort.Strings(out)
	return slices.Compact(out)
}

func entity(n *search.NodeRef) Entity {
	e := Entity{ID: n.ID, Kind: n.Kind, Language: n.Language, Name: n.Name, QualifiedName: n.Qualified, StartLine: n.StartLine, EndLine: n.EndLine}
	e.Path, e.PathBase64 = textOrBase64(n.Path)
	if e.QualifiedName == "" {
		e.QualifiedName = n.Name
	}
	if n.Kind == "file" && e.PathBase64 != "" {
		// Both names of a file are its path, which has no text.
		e.Name, e.QualifiedName = "file:"+e.PathBase64, "file:"+e.PathBase64
	}
	return e
}

func coverage(c *search.Coverage) *Coverage {
	if c == nil {
		return nil
	}
	out := &Coverage{Eligible: c.Eligible, Parsed: c.Parsed, Partial: c.Partial, Failed: c.Failed,
		Skipped: []Skipped{}, PartialFiles: []PartialFile{}, FailedFiles: []FileRef{},
		Resolved: c.Resolved, Candidate: c.Candidate, Unresolved: c.Unresolved, External: c.External}
	for reason, n := range c.Skipped {
		out.Skipped = append(out.Skipped, Skipped{Reason: reason, Files: n})
	}
	sort.Slice(out.Skipped, func(i, j int) bool { return out.Skipped[i].Reason < out.Skipped[j].Reason })
	for _, f := range c.PartialFiles[:min(len(c.PartialFiles), maxListedFiles)] {
		p := PartialFile{Ranges: []LineRange{}}
		p.Path, p.PathBase64 = textOrBase64(f.Path)
		for i, r := range f.Ranges {
			if i < maxListedRanges {
				p.Ranges = append(p.Ranges, LineRange{StartLine: r[0], EndLine: r[1]})
			} else {
				p.Ranges[maxListedRanges-1].EndLine = r[1] // the last range covers the rest
			}
		}
		out.PartialFiles = append(out.PartialFiles, p)
	}
	for _, path := range c.FailedFiles[:min(len(c.FailedFiles), maxListedFiles)] {
		var f FileRef
		f.Path, f.PathBase64 = textOrBase64(path)
		out.FailedFiles = append(out.FailedFiles, f)
	}
	return out
}

func (m *maker) seeds(p *Packet) error {
	nodes := m.answer.Seeds
	if len(nodes) > maxSeeds {
		p.Cuts = append(p.Cuts, Cut{Bound: "seeds", Limit: maxSeeds, Dropped: len(nodes) - maxSeeds})
		nodes = nodes[:maxSeeds]
	}
	for i := range nodes {
		s := Seed{Entity: entity(&nodes[i]), Citations: []Citation{}}
		c, ok, err := m.citer.definition(&nodes[i], RoleDefinition)
		if err != nil {
			return err
		}
		if ok {
			s.Citations = append(s.Citations, c)
		} else if nodes[i].Kind != "file" {
			m.omissions[MissingCitation] = true
		}
		p.Seeds = append(p.Seeds, s)
	}
	return nil
}

func (m *maker) mentions(p *Packet) error {
	in := m.answer.Mentions
	if in == nil {
		return nil
	}
	out := &Mentions{Name: in.Name, Count: in.Count, Sites: []Citation{}, External: in.External}
	for i := range in.Sites[:min(len(in.Sites), MaxMentionSites)] {
		c, ok, err := m.citer.site(&in.Sites[i], RoleMention)
		if err != nil {
			return err
		}
		if ok {
			out.Sites = append(out.Sites, c)
		} else {
			m.omissions[MissingCitation] = true
		}
	}
	p.UnresolvedMentions = out
	return nil
}

// documents makes the documents without snippets, within every limit but that
// of the packet.
func (m *maker) documents(p *Packet) error {
	text := 0
	for i := range m.answer.Items {
		if len(p.Documents) == m.limits.Documents {
			m.dropped["documents"] = len(m.answer.Items) - i
			break
		}
		d, code, err := m.document(&m.answer.Items[i])
		if err != nil {
			return err
		}
		if code != "" {
			m.omissions[code] = true
			continue
		}
		if size(d) > m.limits.DocumentBytes {
			m.dropped["document_bytes"]++
			continue
		}
		if text+len(d.Text) > m.limits.TextBytes {
			m.dropped["text_bytes"]++
			continue
		}
		text += len(d.Text)
		if d.Confidence == Uncertain {
			m.omissions[UnresolvedEntities] = true
		}
		p.Documents = append(p.Documents, d)
	}
	return nil
}

// document makes one claim with its citations, or gives the omission code that
// says why it cannot.
func (m *maker) document(it *search.Item) (Document, string, error) {
	claim, ends, ok := claimOf(it, m.answer.Seeds)
	if !ok {
		return Document{}, UnsupportedRecordKind, nil
	}
	d := Document{Text: Sentence(claim, it.Strength), Claim: claim, Strength: it.Strength, RuleID: it.RuleID,
		Confidence: confidenceOf(claim, it.Strength), SourceKind: SourceKind, Citations: []Citation{}}
	if it.CallSite != nil && ends.related {
		c, ok, err := m.citer.site(it.CallSite, RoleSite+claim.Relation)
		if err != nil || !ok {
			return Document{}, MissingCitation, err
		}
		d.Citations = append(d.Citations, c)
	} else if ends.related && claim.Relation != Contains {
		return Document{}, MissingCitation, nil
	}
	for _, end := range ends.defs {
		c, ok, err := m.citer.definition(end.node, end.role)
		if err != nil {
			return Document{}, "", err
		}
		if ok {
			d.Citations = append(d.Citations, c)
		} else if end.node.Kind != "file" {
			return Document{}, MissingCitation, nil
		}
	}
	if err := m.witness(it, &d); err != nil {
		return Document{}, "", err
	}
	if len(d.Citations) == 0 {
		return Document{}, MissingCitation, nil
	}
	rules := &checker{code: fault.PacketInvalid, what: "document"}
	if rules.document(&d, "document", hexLength(m.answer.ObjectFormat)); rules.first != nil || size(&d) == 0 {
		return Document{}, UnsupportedRecordKind, nil
	}
	return d, "", nil
}

// witness cites the earlier steps of the way from a seed, as far as the bound on
// citations goes: they show the hop.
func (m *maker) witness(it *search.Item, d *Document) error {
	for i := range it.Steps {
		s := &it.Steps[i]
		if s.CallSite == nil || words[s.Relation][0] == "" || len(d.Citations) == MaxCitations {
			continue
		}
		c, ok, err := m.citer.site(s.CallSite, RoleWitness+s.Relation)
		if err != nil {
			return err
		}
		if ok {
			d.Citations = append(d.Citations, c)
		}
	}
	return nil
}

// ends are the definitions that a claim's citations must show.
type ends struct {
	related bool // the claim is a relationship found in the code, so it has a site
	defs    []struct {
		node *search.NodeRef
		role string
	}
}

func (e *ends) add(n *search.NodeRef, role string) {
	e.defs = append(e.defs, struct {
		node *search.NodeRef
		role string
	}{n, role})
}

// claimOf reads an item as a claim; false when it is no kind of claim that a
// packet can state.
func claimOf(it *search.Item, seeds []search.NodeRef) (Claim, ends, bool) {
	var e ends
	c := Claim{Hop: it.Hop, Via: it.Via, Granularity: it.Granularity, Reason: it.Reason, Tier: it.Tier, Witness: slices.Clone(it.WitnessPath)}
	switch {
	case it.From != nil && it.To != nil && words[it.Relation][0] != "":
		if it.Strength != ResolvedStatic && it.Strength != Candidate {
			return c, e, false
		}
		e.related = true
		c.Relation, c.Subject = it.Relation, entity(it.From)
		object := entity(it.To)
		c.Object = &object
		if it.Strength == Candidate {
			c.Candidates = max(1, it.Candidates)
		}
		e.add(it.From, RoleSubjectDefinition)
		if it.From.ID != it.To.ID {
			e.add(it.To, RoleObjectDefinition)
		}
		if it.Node.Test && it.Node.ID != it.From.ID && it.Node.ID != it.To.ID {
			within := entity(&it.Node)
			c.Within = &within
			e.add(&it.Node, RoleDefinition)
		}
	case it.Reason == "name_hint" || it.Reason == "directory_hint":
		of := it.To
		if of == nil && len(seeds) > 0 {
			of = &seeds[0]
		}
		if of == nil || it.Strength != "" {
			return c, e, false
		}
		object := entity(of)
		c.Relation, c.Subject, c.Object = Resembles, entity(&it.Node), &object
		e.add(&it.Node, RoleSubjectDefinition)
		if it.Node.ID != of.ID {
			e.add(of, RoleObjectDefinition)
		}
	case it.Relation == "" && it.Strength == "" && it.Node.Kind != "directory":
		c.Relation, c.Subject = Defines, entity(&it.Node)
		e.add(&it.Node, RoleDefinition)
	default:
		return c, e, false
	}
	return c, e, true
}

// conclude derives the members that sum the packet up. It is run again whenever
// something was left out.
func (m *maker) conclude(p *Packet) {
	a := m.answer
	n := len(a.Cuts)
	if len(a.Seeds) > maxSeeds {
		n++
	}
	p.Cuts = p.Cuts[:n]
	for _, b := range []struct {
		bound string
		limit int
	}{{"documents", m.limits.Documents}, {"document_bytes", m.limits.DocumentBytes}, {"text_bytes", m.limits.TextBytes}, {"packet_bytes", m.limits.PacketBytes}} {
		if m.dropped[b.bound] > 0 {
			p.Cuts = append(p.Cuts, Cut{Bound: b.bound, Limit: b.limit, Dropped: m.dropped[b.bound]})
			m.omissions[DocumentLimit] = true
		}
	}
	if len(a.Cuts) > 0 || !a.AnswerComplete {
		m.omissions[ProviderHasMore] = true
	}
	if !a.GenerationComplete {
		m.omissions[ProviderPartial] = true
	}
	p.GenerationCompleteness = Complete
	switch {
	case a.Coverage == nil:
		p.GenerationCompleteness = Unknown
	case !a.GenerationComplete:
		p.GenerationCompleteness = Partial
	}
	p.Omissions = p.Omissions[:0]
	for code := range m.omissions {
		p.Omissions = append(p.Omissions, code)
	}
	sort.Strings(p.Omissions)
	summarize(p)
}

// lossy are the omissions that leave claims out.
var lossy = []string{ProviderHasMore, ProviderWarning, DocumentLimit, MissingCitation, UnsupportedRecordKind}

// summarize derives query_completeness, completeness and truncated from the
// other members. Completeness is unknown, not complete, while unresolved
// references bear the target's name or a claim has several candidates: either
// may hide a relationship. It is unknown too when the target does not exist or
// its uses are not all indexed, and when nothing was found while references of
// that name were judged external.
func summarize(p *Packet) {
	has := func(code string) bool { return slices.Contains(p.Omissions, code) }
	p.Truncated = len(p.Cuts) > 0 || has(ProviderHasMore) || has(DocumentLimit)
	p.QueryCompleteness = Complete
	if p.Truncated || slices.ContainsFunc(lossy, has) {
		p.QueryCompleteness = Partial
	}
	silent := len(p.Documents) == 0 && (p.Coverage == nil || p.UnresolvedMentions == nil)
	open := slices.Contains(p.Limitations, search.LimitNoDefinition) || slices.Contains(p.Limitations, search.LimitMemberReads)
	if m := p.UnresolvedMentions; m != nil {
		open = open || m.Count > 0 || len(p.Documents) == 0 && m.External > 0
	}
	switch {
	case p.QueryCompleteness == Partial || p.GenerationCompleteness == Partial:
		p.Completeness = Partial
	case p.GenerationCompleteness == Unknown || silent || open || has(UnresolvedEntities):
		p.Completeness = Unknown
	default:
		p.Completeness = Complete
	}
}

// fit drops documents from the end until the packet fits without snippets, then
// puts snippets in, in order, while they fit.
func (m *maker) fit(p *Packet) error {
	m.omissions[TextLimit] = true // its room is kept until it is known not to be needed
	m.conclude(p)
	for size(p) > m.limits.PacketBytes {
		if len(p.Documents) == 0 {
			return fault.New(fault.BudgetTooSmall, "a packet without any document needs %d bytes and the limit is %d", size(p), m.limits.PacketBytes).
				WithHint("raise packet_bytes in the policy")
		}
		p.Documents = p.Documents[:len(p.Documents)-1]
		m.dropped["packet_bytes"]++
		m.conclude(p)
	}
	if m.snippets(p) {
		delete(m.omissions, TextLimit)
		m.conclude(p)
	}
	return nil
}

// snippets says whether every snippet fitted.
func (m *maker) snippets(p *Packet) bool {
	all := true
	packetLeft, textLeft := m.limits.PacketBytes-size(p), m.limits.TextBytes
	for i := range p.Documents {
		textLeft -= len(p.Documents[i].Text)
	}
	put := func(c *Citation, documentLeft int) int {
		bare := *c
		m.citer.attach(c)
		grown := size(c) - size(&bare)
		if n := len(c.RawSnippet()); grown > documentLeft || grown > packetLeft || n > textLeft {
			*c, all = bare, false
			return 0
		} else {
			packetLeft, textLeft = packetLeft-grown, textLeft-n
		}
		return grown
	}
	for i := range p.Documents {
		d := &p.Documents[i]
		left := m.limits.DocumentBytes - size(d)
		for j := range d.Citations {
			left -= put(&d.Citations[j], left)
		}
	}
	for i := range p.Seeds {
		for j := range p.Seeds[i].Citations {
			put(&p.Seeds[i].Citations[j], m.limits.DocumentBytes)
		}
	}
	if p.UnresolvedMentions != nil {
		for i := range p.UnresolvedMentions.Sites {
			put(&p.UnresolvedMentions.Sites[i], m.limits.DocumentBytes)
		}
	}
	return all
}
