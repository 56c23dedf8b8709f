package packet

import (
	"bytes"
	"encoding/json"
	"flag"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

var update = flag.Bool("update", false, "rewrite the golden packets")

// golden compares a packet with the one that a reviewer read: the indented file
// is the packet, and its last line the address of the canonical bytes.
func golden(t *testing.T, name string, p *Packet) {
	t.Helper()
	data := encoded(t, p)
	var b bytes.Buffer
	if err := json.Indent(&b, data, "", "  "); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\n" + Address(data) + "\n")
	path := filepath.FromSlash("../testdata/packet/" + name + ".golden")
	if *update {
		if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(b.Bytes(), want) {
		t.Errorf("%s differs; go test ./packet -update, and read the difference\n%s", path, b.Bytes())
	}
}

func TestGoldenImpact(t *testing.T) {
	f := loadFixture(t)
	p := assemble(t, f.impact(), f, DefaultLimits())
	golden(t, "impact", p)
	data := encoded(t, p)
	for _, local := range []string{"a local name", strings.Repeat("1", 64), "2026"} {
		if bytes.Contains(data, []byte(local)) {
			t.Errorf("the packet holds the local value %q", local)
		}
	}
}

func TestGoldenAbsence(t *testing.T) {
	f := loadFixture(t)
	a := f.impact()
	a.Items = nil
	a.Coverage.Parsed, a.Coverage.Partial, a.Coverage.Failed = 2, 1, 1
	a.Coverage.PartialFiles = []search.PartialFile{{Path: "pkg/broken.py", Ranges: [][2]int{{3, 9}}}}
	a.Coverage.FailedFiles = []string{"pkg/\xff.py"}
	a.GenerationComplete = false
	p := assemble(t, a, f, DefaultLimits())
	golden(t, "absence", p)
	if p.Completeness != Partial || len(p.Documents) != 0 || p.UnresolvedMentions.Count != 1 {
		t.Errorf("absence is %s with %d documents", p.Completeness, len(p.Documents))
	}
}

func TestGoldenSymbols(t *testing.T) {
	f := loadFixture(t)
	a := f.impact()
	a.Operation = search.Request{Kind: "symbols", Query: "client get", Limit: 10, MaxBytes: 16000}
	a.Seeds, a.Mentions = nil, nil
	a.Items = []search.Item{{Node: f.get(), Tier: "segments"}, {Node: f.client(), Tier: "name"},
		{Node: f.testGet(), Reason: "name_hint", To: ptr(f.get())}, {Node: f.init()}}
	golden(t, "symbols", assemble(t, a, f, DefaultLimits()))
}

// A test that reaches the target by way of a helper of its own: the claim names
// the test, and the earlier step is cited.
func TestGoldenRelatedTests(t *testing.T) {
	f := loadFixture(t)
	a := f.impact()
	a.Operation = search.Request{Kind: "related_tests", Target: "send", Limit: 20, MaxBytes: 16000}
	it := related(f.fetch(), f.get(), Calls, ResolvedStatic, 2, f.site("pkg/crlf.py", 4, 4, 4, "send"))
	it.Node = f.testGet()
	it.Node.Test = true
	it.WitnessPath = []string{f.send().ID, f.get().ID, it.Node.ID}
	it.Steps = []search.Step{{Node: f.get(), Relation: Calls, Strength: ResolvedStatic, RuleID: "lexical_binding", CallSite: f.site("pkg/http.py", 17, 17, 17, "send")}}
	a.Items = []search.Item{it}
	p := assemble(t, a, f, DefaultLimits())
	golden(t, "related_tests", p)
	d := p.Documents[0]
	if d.Text != "fetch calls Client.get, inside test_get; hop 2, reached from Client.get" {
		t.Errorf("%q", d.Text)
	}
	var roles []string
	for _, c := range d.Citations {
		roles = append(roles, c.Role)
	}
	if !slices.Equal(roles, []string{"call site: calls", RoleSubjectDefinition, RoleObjectDefinition, RoleDefinition, "witness: calls"}) {
		t.Errorf("%q", roles)
	}
}

func ptr[T any](v T) *T { return &v }

// The sentences are the vocabulary: a reviewer reads them here.
func TestSentences(t *testing.T) {
	f := loadFixture(t)
	p := assemble(t, f.impact(), f, DefaultLimits())
	want := []string{
		"Client.get calls send; hop 1, reached from send / extracted",
		"Client.post calls send; hop 1, reached from send / extracted",
		"fetch may call send; hop 1, reached from send / inferred",
		"test_get may call Client.get, one of 2 candidates; hop 2, reached from Client.get / unknown",
	}
	for i, w := range want {
		if got := p.Documents[i].Text + " / " + p.Documents[i].Confidence; got != w {
			t.Errorf("got  %s\nwant %s", got, w)
		}
	}
	if !slices.Equal(p.Omissions, []string{UnresolvedEntities}) || p.Completeness != Unknown || p.Truncated {
		t.Errorf("omissions %v, completeness %s", p.Omissions, p.Completeness)
	}
}

// Every citation's lines, by another reading of the file than Assemble's.
func TestCitationsHoldTheirLines(t *testing.T) {
	f := loadFixture(t)
	p := assemble(t, f.impact(), f, DefaultLimits())
	for _, d := range p.Documents {
		for _, c := range d.Citations {
			lines := strings.SplitAfter(string(f[c.Path]), "\n")
			want := strings.Join(lines[c.StartLine-1:c.EndLine], "")
			if string(c.RawSnippet()) != want || Digest256([]byte(want)) != c.SnippetSHA256 || gitBlob(f[c.Path]) != c.Blob {
				t.Errorf("%s %d-%d: %q", c.Path, c.StartLine, c.EndLine, c.RawSnippet())
			}
		}
	}
	// The decorated signature whole, and not one line of the body.
	if c := p.Seeds[0].Citations[0]; c.StartLine != 4 || c.EndLine != 9 {
		t.Errorf("send is cited at %d-%d, want 4-9", c.StartLine, c.EndLine)
	}
	if c := p.Documents[2].Citations[0]; c.Snippet != "    return send(url)  # hé \u202e" || c.Role != "call site: calls" {
		t.Errorf("the last line without line end is %q (%s)", c.Snippet, c.Role)
	}
}

func TestLines(t *testing.T) {
	for _, c := range []struct {
		content    string
		start, end int
		want       string
		ok         bool
	}{
		{"a\nb\n", 1, 1, "a\n", true}, {"a\nb\n", 2, 2, "b\n", true}, {"a\nb\n", 1, 2, "a\nb\n", true},
		{"a\nb\n", 3, 3, "", false}, {"a\nb\n", 2, 3, "", false}, {"a\nb", 2, 2, "b", true}, {"a\r\nb", 1, 1, "a\r\n", true},
		{"a\rb", 1, 1, "a\rb", true}, {"a\rb", 2, 2, "", false}, {"", 1, 1, "", false}, {"\n", 1, 1, "\n", true}, {"\n", 2, 2, "", false},
		{"a", 0, 1, "", false}, {"a", 1, 0, "", false}, {"a", -1, -1, "", false},
	} {
		got, ok := Lines([]byte(c.content), c.start, c.end)
		if string(got) != c.want || ok != c.ok {
			t.Errorf("Lines(%q, %d, %d) = %q, %v", c.content, c.start, c.end, got, ok)
		}
	}
}

func TestALongDeclarationOrCallIsCitedInPart(t *testing.T) {
	body := "f(\n" + strings.Repeat("  x,\n", 100) + ")\n"
	f := fixture{"a.py": []byte(body)}
	c := citer{source: f, files: map[string][]byte{}}
	n := f.node("class", "f", "a.py", 1, 102, 1, "f("+strings.Repeat("x,", 100)+")")
	d, ok, err := c.definition(&n, RoleDefinition)
	if err != nil || !ok || d.StartLine != 1 || d.EndLine != 1 {
		t.Errorf("definition at %d-%d, %v, %v", d.StartLine, d.EndLine, ok, err)
	}
	n.NameLine = 50 // behind 49 lines of decorators
	if d, _, _ = c.definition(&n, RoleDefinition); d.StartLine != 50 || d.EndLine != 50 {
		t.Errorf("definition behind decorators at %d-%d", d.StartLine, d.EndLine)
	}
	s, ok, err := c.site(f.site("a.py", 1, 102, 3, "x"), RoleSite+Calls)
	if err != nil || !ok || s.StartLine != 3 || s.EndLine != 14 {
		t.Errorf("call at %d-%d, %v, %v", s.StartLine, s.EndLine, ok, err)
	}
}

// Maps and unsorted lists of the answer never show in the bytes.
func TestSameAnswerSameBytes(t *testing.T) {
	f := loadFixture(t)
	want := encoded(t, assemble(t, f.impact(), f, DefaultLimits()))
	for range 20 {
		a := f.impact()
		rand.Shuffle(len(a.Limitations), func(i, j int) { a.Limitations[i], a.Limitations[j] = a.Limitations[j], a.Limitations[i] })
		a.Limitations = append(a.Limitations, a.Limitations[0])
		a.Scope, a.Fingerprint, a.CheckedAt = "elsewhere", strings.Repeat("9", 64), "2027-02-02T00:00:00Z"
		if got := encoded(t, assemble(t, a, f, DefaultLimits())); !bytes.Equal(got, want) {
			t.Fatalf("other bytes:\n%s\n%s", got, want)
		}
	}
	// Items stand in the answer's order, whatever it is, and each keeps its claim.
	a := f.impact()
	slices.Reverse(a.Items)
	p, q := assemble(t, a, f, DefaultLimits()), assemble(t, f.impact(), f, DefaultLimits())
	slices.Reverse(p.Documents)
	if !bytes.Equal(encoded(t, p), encoded(t, q)) {
		t.Error("the order of the items changed more than the order of the documents")
	}
}

func TestLimits(t *testing.T) {
	f := loadFixture(t)
	full := assemble(t, f.impact(), f, DefaultLimits())
	bare := *full
	bare.Documents = nil
	for name, c := range map[string]struct {
		set       func(*Limits)
		documents int
		omission  string
		bound     string
	}{
		"documents":      {func(l *Limits) { l.Documents = 3 }, 3, DocumentLimit, "documents"},
		"document bytes": {func(l *Limits) { l.DocumentBytes = 200 }, 0, DocumentLimit, "document_bytes"},
		"text":           {func(l *Limits) { l.TextBytes = 60 }, 1, DocumentLimit, "text_bytes"},
		"packet":         {func(l *Limits) { l.PacketBytes = 6000 }, 3, DocumentLimit, "packet_bytes"},
		"snippets":       {func(l *Limits) { l.TextBytes = 300 }, 4, TextLimit, ""},
	} {
		t.Run(name, func(t *testing.T) {
			l := DefaultLimits()
			c.set(&l)
			p := assemble(t, f.impact(), f, l)
			data := encoded(t, p)
			if len(p.Documents) != c.documents || !slices.Contains(p.Omissions, c.omission) || len(data) > l.PacketBytes {
				t.Errorf("%d documents, omissions %v, %d bytes", len(p.Documents), p.Omissions, len(data))
			}
			if c.bound == "" {
				if p.Truncated || len(p.Cuts) > 0 {
					t.Errorf("a left out snippet is no left out claim: %v", p.Cuts)
				}
				return
			}
			if len(p.Cuts) != 1 || p.Cuts[0].Bound != c.bound || p.Cuts[0].Dropped != 4-c.documents {
				t.Errorf("cuts %+v", p.Cuts)
			}
			if !p.Truncated || p.Completeness != Partial {
				t.Errorf("truncated %v, completeness %s", p.Truncated, p.Completeness)
			}
		})
	}
}

// Whatever the limit, the packet is within it, or is refused; one byte decides.
func TestEveryPacketLimit(t *testing.T) {
	f := loadFixture(t)
	full := len(encoded(t, assemble(t, f.impact(), f, DefaultLimits())))
	smallest := 0
	for n := 1; n <= full+200; n += 1 + n%61 {
		l := DefaultLimits()
		l.PacketBytes = n
		p, err := Assemble(f.impact(), f, l)
		if err != nil {
			if fault.CodeOf(err) != fault.BudgetTooSmall || smallest != 0 {
				t.Fatalf("%d bytes: %v", n, err)
			}
			continue
		}
		if smallest == 0 {
			smallest = n
		}
		if got := len(encoded(t, p)); got > n {
			t.Fatalf("%d bytes for a limit of %d", got, n)
		}
	}
	if smallest == 0 || smallest > full/2 {
		t.Errorf("the smallest limit that is enough is %d of %d", smallest, full)
	}
	for _, l := range []Limits{{}, {PacketBytes: 1000, Documents: 5, DocumentBytes: 1000}, {PacketBytes: MaxPacketBytes + 1, Documents: 1, DocumentBytes: 1, TextBytes: 1}} {
		if _, err := Assemble(f.impact(), f, l); err == nil {
			t.Errorf("limits %+v were accepted", l)
		}
	}
}

func TestWhatCannotBeCitedIsLeftOut(t *testing.T) {
	f := loadFixture(t)
	for name, c := range map[string]struct {
		spoil    func(*search.Item)
		omission string
	}{
		"site behind the end":      {func(it *search.Item) { it.CallSite.StartLine, it.CallSite.EndLine, it.CallSite.Line = 99, 99, 99 }, MissingCitation},
		"no site":                  {func(it *search.Item) { it.CallSite = nil }, MissingCitation},
		"definition without lines": {func(it *search.Item) { it.From.StartLine, it.From.NameLine = 999, 999 }, MissingCitation},
		"unknown relation":         {func(it *search.Item) { it.Relation = "haunts" }, UnsupportedRecordKind},
		"unknown strength":         {func(it *search.Item) { it.Strength = "sure" }, UnsupportedRecordKind},
		"no name":                  {func(it *search.Item) { it.From.Name, it.From.Qualified = "", "" }, UnsupportedRecordKind},
		"directory": {func(it *search.Item) {
			*it = search.Item{Node: search.NodeRef{ID: "d", Kind: "directory", Path: "pkg"}}
		}, UnsupportedRecordKind},
	} {
		t.Run(name, func(t *testing.T) {
			a := f.impact()
			c.spoil(&a.Items[0])
			p := assemble(t, a, f, DefaultLimits())
			if len(p.Documents) != 3 || !slices.Contains(p.Omissions, c.omission) || p.QueryCompleteness != Partial {
				t.Errorf("%d documents, %v, %s", len(p.Documents), p.Omissions, p.QueryCompleteness)
			}
		})
	}
	other := loadFixture(t)
	other["pkg/http.py"] = append([]byte("\n"), other["pkg/http.py"]...)
	if _, err := Assemble(f.impact(), other, DefaultLimits()); fault.CodeOf(err) != fault.IndexIntegrity {
		t.Errorf("bytes that moved under the answer: %v", err)
	}
}

// A line over the budget is left out whole, never cut; its digest stays.
func TestALineLongerThanTheBudget(t *testing.T) {
	f := loadFixture(t)
	long := "send(" + strings.Repeat("x", 30000) + ")\n"
	f["long.py"] = []byte("def x():\n" + long)
	a := f.impact()
	x := f.node("function", "x", "long.py", 1, 2, 1, "def x()")
	a.Items = []search.Item{related(x, f.send(), Calls, ResolvedStatic, 1, f.site("long.py", 2, 2, 2, "send"))}
	p := assemble(t, a, f, DefaultLimits())
	c := p.Documents[0].Citations
	if c[0].RawSnippet() != nil || c[0].SnippetSHA256 != Digest256([]byte(long)) || c[1].Snippet != "def x():\n" {
		t.Errorf("%d bytes of the long line are carried, and %q", len(c[0].RawSnippet()), c[1].Snippet)
	}
	if !slices.Equal(p.Omissions, []string{TextLimit}) || p.Truncated {
		t.Errorf("omissions %v, truncated %v", p.Omissions, p.Truncated)
	}
}

func TestBytesThatAreNoText(t *testing.T) {
	f := loadFixture(t)
	f["p\xff.py"] = []byte("def x\xfe(): send()\n")
	a := f.impact()
	x := f.node("function", "x", "p\xff.py", 1, 1, 1, "def x")
	a.Items = []search.Item{related(x, f.send(), Calls, ResolvedStatic, 1, f.site("p\xff.py", 1, 1, 1, "send"))}
	p := assemble(t, a, f, DefaultLimits())
	q, err := Decode(encoded(t, p))
	if err != nil {
		t.Fatal(err)
	}
	c := q.Documents[0].Citations[0]
	if c.RawPath() != "p\xff.py" || string(c.RawSnippet()) != "def x\xfe(): send()\n" || c.Path != "" || c.Snippet != "" {
		t.Errorf("%q %q", c.RawPath(), c.RawSnippet())
	}
}

func TestWithout(t *testing.T) {
	f := loadFixture(t)
	p := assemble(t, f.impact(), f, DefaultLimits())
	before := encoded(t, p)
	q := Without(p, func(c *Citation) bool {
		return c.Path == "pkg/crlf.py" || c.Role == RoleDefinition || c.Role == RoleMention
	})
	if len(q.Documents) != 3 || len(q.Seeds) != 1 || len(q.Seeds[0].Citations) != 0 || len(q.UnresolvedMentions.Sites) != 0 {
		t.Errorf("%d documents, %d seeds", len(q.Documents), len(q.Seeds))
	}
	if !slices.Contains(q.Omissions, ProviderWarning) || !slices.Contains(q.Omissions, DocumentLimit) || !q.Truncated || q.Completeness != Partial {
		t.Errorf("%v %v %s", q.Omissions, q.Truncated, q.Completeness)
	}
	encoded(t, q)
	if !bytes.Equal(encoded(t, p), before) {
		t.Error("the packet itself was changed")
	}
	if same := Without(p, func(*Citation) bool { return false }); !bytes.Equal(encoded(t, same), before) {
		t.Error("nothing failed and the packet changed")
	}
}
