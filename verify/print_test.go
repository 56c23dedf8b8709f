package verify

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
)

func text(t testing.TB, r *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.Print(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestReadableReports pins what a person sees; EXHIBIT_UPDATE=1 writes it anew.
func TestReadableReports(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	report := func(data []byte, change func(o *Options)) *Report {
		o := w.in(w.repo)
		change(&o)
		return check(t, data, o).Report
	}
	// What a packet's bytes are is pinned elsewhere.
	address := regexp.MustCompile(`sha256:[0-9a-f]{64} \([0-9]+ bytes`)
	var b strings.Builder
	show := func(title string, r *Report) {
		b.WriteString("== " + title + "\n" + address.ReplaceAllString(text(t, r), "sha256:PACKET (N bytes") + "\n")
	}
	show("a clean clone", report(bundle, func(o *Options) {}))
	show("the grant alone", report(bundle, func(o *Options) { o.Repository = nil }))
	show("expired", report(bundle, func(o *Options) { o.Now = at(noon.Add(2 * time.Hour)) }))
	show("a citation that is not so", report(w.forge(func(p *packet.Packet) { p.Documents[0].Citations[0].Path = "src/\x1b[2K\u202eyp.exe\n" }), func(o *Options) {}))
	put(t, w.dir, "src/app.py", "# one line more\n"+strings.Replace(appPy, `run("b")`, `run("c")`, 1))
	show("an edited worktree", report(bundle, func(o *Options) {}))
	show("an edited worktree, which counts", report(bundle, func(o *Options) { o.RequireWorktree = true }))

	golden := filepath.Join("..", "testdata", "verify", "reports.txt")
	if os.Getenv("EXHIBIT_UPDATE") != "" {
		put(t, filepath.Dir(golden), filepath.Base(golden), b.String())
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("the reports differ from %s:\n%s", golden, b.String())
	}
	if !strings.Contains(b.String(), "moved to line 6") {
		t.Error("no report gives the line that a citation moved to")
	}
	if strings.ContainsAny(b.String(), "\x1b\u202e") {
		t.Error("a report holds what a terminal obeys")
	}
}

// TestAReportIsJSON: members are named as documented and say the same as the text.
func TestAReportIsJSON(t *testing.T) {
	w := newWorld(t)
	r := check(t, w.mint().Bundle, w.in(w.repo)).Report
	data, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"schema", "ok", "depth", "checked_at", "refusals", "packet", "grant", "repository", "citations", "counts"} {
		if _, ok := got[member]; !ok {
			t.Errorf("no member %s in %s", member, data)
		}
	}
	if got["schema"] != ReportSchema || got["checked_at"] != "2026-06-01T12:10:00Z" {
		t.Errorf("report: %s", data)
	}
	// Of a grant that does not hold, no claim is reported.
	o := w.options()
	o.Trust = signers(t, "bob@example.org "+line(w.key))
	if data, err = json.Marshal(check(t, w.mint().Bundle, o).Report); err != nil || bytes.Contains(data, []byte("claude:builder")) {
		t.Errorf("a refused grant's claims are in the report: %s, %v", data, err)
	}
}
