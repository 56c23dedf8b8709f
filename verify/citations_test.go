package verify

import (
	"bytes"
	"context"
	"errors"
	"math/rand"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// forge signs a packet that nobody checked, as a dishonest sender would.
func (w *world) forge(change func(p *packet.Packet)) []byte {
	w.t.Helper()
	p, err := packet.Assemble(w.answer, source, w.limits)
	if err != nil {
		w.t.Fatal(err)
	}
	change(p)
	raw, err := packet.Encode(p)
	if err != nil {
		w.t.Fatal(err)
	}
	st, err := packet.NewStatement(raw, w.terms, noon, rand.New(rand.NewSource(1)))
	if err != nil {
		w.t.Fatal(err)
	}
	payload, err := packet.EncodeStatement(st)
	if err != nil {
		w.t.Fatal(err)
	}
	return seal(w.t, raw, payload, w.key)
}

func (w *world) in(repo *snapshot.Repository) Options {
	o := w.options()
	o.Repository = repo
	return o
}

// site gives the verdict on the call site of the first document.
func site(t testing.TB, r *Report) CitationReport {
	t.Helper()
	for _, c := range r.Citations {
		if c.At == "documents[0].citations[0]" {
			return c
		}
	}
	t.Fatalf("no verdict on documents[0].citations[0]: %v", r.Refusals)
	return CitationReport{}
}

func TestACleanCloneProvesEverything(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	dir := filepath.Join(t.TempDir(), "clone")
	git(t, t.TempDir(), "clone", "-q", w.dir, dir)
	o := w.in(open(t, dir))
	o.RequireWorktree, o.Expect.Revision = true, "HEAD"
	r := check(t, bundle, o).Report
	if !r.OK || r.Depth != 2 || !r.Repository.AtHead || r.Repository.Bare {
		t.Fatalf("report: %+v", r)
	}
	// One definition of the seed, and a site with both ends for each of two claims.
	if r.Counts.Citations != 7 || r.Counts.OK != 7 || r.Counts.Commit[Verified] != 7 || r.Counts.Worktree[WorktreeSame] != 7 {
		t.Fatalf("counts: %+v", r.Counts)
	}
}

func TestABareCloneProvesTheCommitAlone(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	dir := filepath.Join(t.TempDir(), "clone.git")
	git(t, t.TempDir(), "clone", "-q", "--bare", w.dir, dir)
	r := check(t, bundle, w.in(open(t, dir))).Report
	if !r.OK || !r.Repository.Bare || r.Counts.Worktree[WorktreeNone] != r.Counts.Citations {
		t.Fatalf("report: %+v, counts %+v", r, r.Counts)
	}
	var text bytes.Buffer
	if err := r.Print(&text); err != nil || !strings.Contains(text.String(), "bare") {
		t.Fatalf("the text does not say that the clone is bare:\n%s", text.String())
	}
	o := w.in(open(t, dir))
	o.RequireWorktree = true
	if r := check(t, bundle, o).Report; r.OK || r.Refusals[0].Reason != WorktreeFailed {
		t.Fatalf("a worktree was required and there is none: %+v", r)
	}
}

// TestWorktreeVerdicts edits the worktree after the packet was minted. The
// commit goes on deciding; with RequireWorktree the worktree counts too.
func TestWorktreeVerdicts(t *testing.T) {
	const app = "src/app.py"
	for _, c := range []struct {
		name       string
		edit       func(w *world)
		want       WorktreeVerdict
		movedTo    int
		conversion string
	}{
		{"untouched", func(w *world) {}, WorktreeSame, 0, ""},
		{"two lines above", func(w *world) { put(t, w.dir, app, "# a\n# b\n"+appPy) }, WorktreeMoved, 7, ""},
		{"the line moved below its twin", func(w *world) {
			put(t, w.dir, app, strings.Replace(strings.Replace(appPy, "    a = run(\"a\")\n", "", 1), "    return", "    a = run(\"a\")\n    return", 1))
		}, WorktreeMoved, 6, ""},
		{"the line changed", func(w *world) { put(t, w.dir, app, strings.Replace(appPy, `run("a")`, `run("A")`, 1)) }, WorktreeChanged, 0, ""},
		{"only another line changed", func(w *world) { put(t, w.dir, app, strings.Replace(appPy, `run("b")`, `run("B")`, 1)) }, WorktreeSame, 0, ""},
		{"emptied", func(w *world) { put(t, w.dir, app, "") }, WorktreeChanged, 0, ""},
		{"changed in size and time to the same", func(w *world) {
			path := filepath.Join(w.dir, app)
			info, err := os.Stat(path)
			if err != nil {
				t.Fatal(err)
			}
			put(t, w.dir, app, strings.Replace(appPy, `run("a")`, `run("c")`, 1))
			if err := os.Chtimes(path, time.Time{}, info.ModTime()); err != nil {
				t.Fatal(err)
			}
		}, WorktreeChanged, 0, ""},
		{"deleted", func(w *world) { remove(t, w.dir, app) }, WorktreeMissing, 0, ""},
		{"no longer tracked", func(w *world) { git(t, w.dir, "rm", "-q", "--cached", app) }, WorktreeUntracked, 0, ""},
		{"staged otherwise", func(w *world) {
			put(t, w.dir, app, "staged\n")
			git(t, w.dir, "add", app)
			put(t, w.dir, app, appPy)
		}, WorktreeSame, 0, ""},
		{"assume-unchanged", func(w *world) {
			git(t, w.dir, "update-index", "--assume-unchanged", app)
			put(t, w.dir, app, "other\n")
		}, WorktreeChanged, 0, ""},
		{"a link to a copy", func(w *world) {
			put(t, w.dir, "../copy.py", appPy)
			remove(t, w.dir, app)
			link(t, "../../copy.py", filepath.Join(w.dir, app))
		}, WorktreeMissing, 0, ""},
		{"the folder a link to a copy", func(w *world) {
			put(t, w.dir, "../copy/app.py", appPy)
			remove(t, w.dir, "src")
			link(t, "../copy", filepath.Join(w.dir, "src"))
		}, WorktreeMissing, 0, ""},
		{"a folder in its place", func(w *world) {
			remove(t, w.dir, app)
			put(t, w.dir, app+"/x", "")
		}, WorktreeMissing, 0, ""},
		{"a branch without the file", func(w *world) {
			git(t, w.dir, "checkout", "-q", "--orphan", "empty")
			git(t, w.dir, "rm", "-q", "-r", "-f", ".")
		}, WorktreeMissing, 0, ""},
		{"checked out with CRLF", func(w *world) {
			put(t, w.dir, ".git/info/attributes", "*.py text eol=crlf\n")
			remove(t, w.dir, app)
			git(t, w.dir, "checkout", "-q", "--", app)
			mustHold(t, w.dir, app, "\r\n")
		}, WorktreeSame, 0, "eol"},
		{"checked out with CRLF and moved", func(w *world) {
			put(t, w.dir, ".git/info/attributes", "*.py text eol=crlf\n")
			put(t, w.dir, app, "# a\r\n"+strings.ReplaceAll(appPy, "\n", "\r\n"))
		}, WorktreeMoved, 6, "eol"},
		{"checked out with CRLF and changed", func(w *world) {
			put(t, w.dir, ".git/info/attributes", "*.py text eol=crlf\n")
			put(t, w.dir, app, strings.Replace(strings.ReplaceAll(appPy, "\n", "\r\n"), `run("a")`, `run("A")`, 1))
		}, WorktreeChanged, 0, "eol"},
		{"CRLF that nothing converts", func(w *world) {
			put(t, w.dir, app, strings.ReplaceAll(appPy, "\n", "\r\n"))
		}, WorktreeChanged, 0, ""},
		{"UTF-16 in the worktree", func(w *world) {
			put(t, w.dir, ".git/info/attributes", "*.py text working-tree-encoding=UTF-16LE eol=lf\n")
			remove(t, w.dir, app)
			git(t, w.dir, "checkout", "-q", "--", app)
			mustHold(t, w.dir, app, "r\x00u\x00n\x00")
		}, WorktreeSame, 0, "working-tree-encoding"},
		{"made by a filter driver", func(w *world) {
			put(t, w.dir, ".git/info/attributes", "*.py filter=rot\n")
			git(t, w.dir, "config", "filter.rot.clean", "tr a-z n-za-m")
			git(t, w.dir, "config", "filter.rot.smudge", "tr a-z n-za-m")
			remove(t, w.dir, app)
			git(t, w.dir, "checkout", "-q", "--", app)
			mustHold(t, w.dir, app, "qrs znva")
		}, WorktreeUndecided, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			bundle := w.mint().Bundle
			c.edit(w)
			repo := open(t, w.dir)
			result := check(t, bundle, w.in(repo))
			r := result.Report
			got := site(t, r)
			if !r.OK || got.Commit != Verified || !got.OK {
				t.Errorf("the commit does not decide: %v", r.Refusals)
			}
			if got.Worktree != c.want || got.MovedTo != c.movedTo || c.conversion != "" && got.Conversion != c.conversion {
				t.Errorf("worktree: %s, moved to %d, conversion %q; want %s, %d, %q", got.Worktree, got.MovedTo, got.Conversion, c.want, c.movedTo, c.conversion)
			}
			o := w.in(repo)
			o.RequireWorktree = true
			holds := c.want == WorktreeSame || c.want == WorktreeMoved
			for _, other := range r.Citations {
				holds = holds && (other.Worktree == WorktreeSame || other.Worktree == WorktreeMoved)
			}
			if required := check(t, bundle, o).Report; required.OK != holds {
				t.Errorf("with RequireWorktree: OK is %v: %v", required.OK, required.Refusals)
			}
		})
	}
}

func remove(t testing.TB, dir, name string) {
	t.Helper()
	if err := os.RemoveAll(filepath.Join(dir, name)); err != nil {
		t.Fatal(err)
	}
}

func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Fatal(err)
	}
}

func mustHold(t testing.TB, dir, name, want string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil || !bytes.Contains(data, []byte(want)) {
		t.Fatalf("git did not write %q into %s: %q, %v", want, name, data, err)
	}
}

// TestForgedCitations: a trusted key signed citations that are not so.
func TestForgedCitations(t *testing.T) {
	zero := strings.Repeat("0", 40)
	first := func(p *packet.Packet) *packet.Citation { return &p.Documents[0].Citations[0] }
	for _, c := range []struct {
		name   string
		change func(c *packet.Citation)
		want   CommitVerdict
	}{
		{"as it is", func(c *packet.Citation) {}, Verified},
		{"without its snippet", func(c *packet.Citation) { c.Snippet = "" }, Verified},
		{"another path", func(c *packet.Citation) { c.Path = "src/none.py" }, Missing},
		{"a folder", func(c *packet.Citation) { c.Path = "src" }, Changed},
		{"below a file", func(c *packet.Citation) { c.Path = "src/app.py/x" }, Missing},
		{"in capitals", func(c *packet.Citation) { c.Path = "src/App.py" }, Missing},
		{"below .git", func(c *packet.Citation) { c.Path = ".git/HEAD" }, Missing},
		{"another file's blob", func(c *packet.Citation) { c.Blob = snapshot.HashBlob(snapshot.SHA1, []byte(libPy)) }, Changed},
		{"no object's blob", func(c *packet.Citation) { c.Blob = zero }, Changed},
		{"another line", func(c *packet.Citation) { c.StartLine, c.EndLine = 6, 6 }, Changed},
		{"beyond the end", func(c *packet.Citation) { c.StartLine, c.EndLine = 8, 8 }, OutOfRange},
		{"far beyond the end", func(c *packet.Citation) { c.StartLine, c.EndLine = 1<<53-1, 1<<53-1 }, OutOfRange},
		{"another digest", func(c *packet.Citation) {
			c.Snippet, c.SnippetSHA256 = "", packet.Digest256([]byte("    a = run(\"z\")\n"))
		}, Changed},
		{"a snippet that the file does not hold", func(c *packet.Citation) {
			c.Snippet = "    a = run(\"z\")\n"
			c.SnippetSHA256 = packet.Digest256([]byte(c.Snippet))
		}, Changed},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := newWorld(t)
			bundle := w.forge(func(p *packet.Packet) { c.change(first(p)) })
			r := check(t, bundle, w.in(w.repo)).Report
			if got := site(t, r); got.Commit != c.want || got.OK != (c.want == Verified) {
				t.Errorf("verdict %s, ok %v, want %s (%s)", got.Commit, got.OK, c.want, got.Note)
			}
			if r.OK != (c.want == Verified) || !r.OK && r.Refusals[0].Reason != CitationFailed {
				t.Errorf("OK is %v: %v", r.OK, r.Refusals)
			}
			if r.Counts.OK != r.Counts.Commit[Verified] {
				t.Errorf("counts: %+v", r.Counts)
			}
		})
	}
}

// TestALinkIsNotAFile: the text of a symbolic link is a blob, and no source.
func TestALinkIsNotAFile(t *testing.T) {
	w := newWorld(t)
	link(t, "lib.py", filepath.Join(w.dir, "src/link.py"))
	git(t, w.dir, "add", ".")
	git(t, w.dir, "commit", "-q", "-m", "second")
	rev, err := w.repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	bundle := w.forge(func(p *packet.Packet) {
		p.Repository.Commit, p.Repository.Tree = rev.Commit, rev.Tree
		c := &p.Documents[0].Citations[0]
		c.Path, c.StartLine, c.EndLine, c.Snippet = "src/link.py", 1, 1, "lib.py"
		c.Blob, c.SnippetSHA256 = snapshot.HashBlob(snapshot.SHA1, []byte("lib.py")), packet.Digest256([]byte("lib.py"))
	})
	r := check(t, bundle, w.in(w.repo)).Report
	if got := site(t, r); r.OK || got.Commit != Changed || got.Worktree != WorktreeMissing {
		t.Fatalf("%+v", got)
	}
}

// TestEachCitationOfAPacketIsChecked forges one citation after the other.
func TestEachCitationOfAPacketIsChecked(t *testing.T) {
	w := newWorld(t)
	w.answer.Mentions.Count = 1
	w.answer.Mentions.Sites = []search.SiteRef{*w.answer.Items[0].CallSite}
	places, _ := Cited(decoded(t, w.forge(func(*packet.Packet) {})))
	if len(places) != 8 {
		t.Fatalf("cited: %v", places)
	}
	for i, place := range places {
		bundle := w.forge(func(p *packet.Packet) {
			n := 0
			walk(p, func(c *packet.Citation) {
				if n == i {
					c.Snippet, c.SnippetSHA256 = "", packet.Digest256(nil)
				}
				n++
			})
		})
		r := check(t, bundle, w.in(w.repo)).Report
		if r.OK || len(r.Refusals) != 1 || !strings.HasPrefix(r.Refusals[0].Detail, place+": ") {
			t.Errorf("a forged digest at %s: %v", place, r.Refusals)
		}
	}
}

func walk(p *packet.Packet, f func(c *packet.Citation)) {
	for i := range p.Seeds {
		for j := range p.Seeds[i].Citations {
			f(&p.Seeds[i].Citations[j])
		}
	}
	for i := range p.Documents {
		for j := range p.Documents[i].Citations {
			f(&p.Documents[i].Citations[j])
		}
	}
	if p.UnresolvedMentions != nil {
		for i := range p.UnresolvedMentions.Sites {
			f(&p.UnresolvedMentions.Sites[i])
		}
	}
}

func decoded(t testing.TB, bundle []byte) *packet.Packet {
	t.Helper()
	_, p, err := packet.DecodeBundle(bundle)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestThePacketsTreeIsTheCommits(t *testing.T) {
	w := newWorld(t)
	old := w.rev.Tree
	put(t, w.dir, "src/app.py", "# nothing\n")
	git(t, w.dir, "commit", "-q", "-a", "-m", "second")
	second := git(t, w.dir, "rev-parse", "HEAD")
	// The old, honest content under the name of the new commit.
	bundle := w.forge(func(p *packet.Packet) { p.Repository.Commit, p.Repository.Tree = second, old })
	r := check(t, bundle, w.in(open(t, w.dir))).Report
	if r.OK || r.Refusals[0].Reason != TreeMismatch || len(r.Citations) != 0 {
		t.Fatalf("report: %+v", r)
	}
}

func TestACommitThatTheCloneLacksIsUnavailable(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	put(t, w.dir, "later.txt", "x\n")
	git(t, w.dir, "add", ".")
	git(t, w.dir, "commit", "-q", "-m", "second")
	shallow := filepath.Join(t.TempDir(), "shallow")
	git(t, t.TempDir(), "clone", "-q", "--depth", "1", "file://"+w.dir, shallow)
	r := check(t, bundle, w.in(open(t, shallow))).Report
	if r.OK || r.Refusals[0].Reason != CommitUnavailable || !strings.Contains(r.Refusals[0].Detail, "not in this clone") {
		t.Fatalf("report: %+v", r)
	}
	// A tag of the commit, given as the commit.
	git(t, w.dir, "tag", "-a", "-m", "tag", "v1", w.rev.Commit)
	tag := git(t, w.dir, "rev-parse", "v1")
	r = check(t, w.forge(func(p *packet.Packet) { p.Repository.Commit = tag }), w.in(w.repo)).Report
	if r.OK || r.Refusals[0].Reason != CommitUnavailable {
		t.Fatalf("a tag's id as the commit: %+v", r)
	}
	// The tree of the commit, given as the commit.
	bundle = w.forge(func(p *packet.Packet) { p.Repository.Commit = p.Repository.Tree })
	r = check(t, bundle, w.in(w.repo)).Report
	if r.OK || r.Refusals[0].Reason != CommitUnavailable {
		t.Fatalf("report: %+v", r)
	}
}

func TestObjectsThatAreMissingOrFalseAreUnavailable(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	object := func(id string) string { return filepath.Join(w.dir, ".git", "objects", id[:2], id[2:]) }
	app := snapshot.HashBlob(snapshot.SHA1, []byte(appPy))
	lib := snapshot.HashBlob(snapshot.SHA1, []byte(libPy))
	good, err := os.ReadFile(object(app))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		make func()
		note string
	}{
		{"missing", func() {}, "not in this clone"},
		{"another object under its name", func() { copyFile(t, object(lib), object(app)) }, "corrupt"},
		{"damaged", func() { write(t, object(app), good[:len(good)/2]) }, "corrupt"},
	} {
		if err := os.Remove(object(app)); err != nil {
			t.Fatal(err)
		}
		c.make()
		r := check(t, bundle, w.in(open(t, w.dir))).Report
		got := site(t, r)
		if r.OK || got.Commit != Unavailable || !strings.Contains(got.Note, c.note) {
			t.Errorf("%s: %s (%s)", c.name, got.Commit, got.Note)
		}
		// The packet carries the lines, so the worktree can still be compared.
		if got.Worktree != WorktreeSame {
			t.Errorf("%s: worktree %s", c.name, got.Worktree)
		}
		write(t, object(app), good)
	}
	if r := check(t, bundle, w.in(open(t, w.dir))).Report; !r.OK {
		t.Fatalf("with the object back: %v", r.Refusals)
	}
}

func write(t testing.TB, path string, data []byte) {
	t.Helper()
	_ = os.Remove(path)
	if err := os.WriteFile(path, data, 0o444); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t testing.TB, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	write(t, to, data)
}

// TestABlobWithCRLF: under text=auto Git leaves such a file's line ends alone, so
// a CR more in the worktree is a change, and under text it is none.
func TestABlobWithCRLF(t *testing.T) {
	w := newWorld(t)
	mixed := appPy + "x = 1\r\n"
	put(t, w.dir, "src/app.py", mixed)
	git(t, w.dir, "commit", "-q", "-a", "-m", "second")
	rev, err := w.repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	w.answer.Commit, w.answer.Tree = rev.Commit, rev.Tree
	w.rebind(mixed, 0)
	order := w.order()
	order.Source = files{"src/lib.py": libPy, "src/app.py": mixed}
	m, err := Mint(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	put(t, w.dir, ".git/info/attributes", "*.py text=auto eol=crlf\n")
	for content, want := range map[string]WorktreeVerdict{
		mixed: WorktreeSame,
		strings.ReplaceAll(strings.ReplaceAll(mixed, "\r\n", "\n"), "\n", "\r\n"): WorktreeUndecided,
	} {
		put(t, w.dir, "src/app.py", content)
		if got := site(t, check(t, m.Bundle, w.in(open(t, w.dir))).Report); got.Worktree != want {
			t.Errorf("%q: %s, want %s (%s)", content, got.Worktree, want, got.Note)
		}
	}
}

// TestAPacketOfAWorktree: the worktree's bytes decide, the commit is reported.
func TestAPacketOfAWorktree(t *testing.T) {
	w := newWorld(t)
	edited := "# edited\n" + appPy
	put(t, w.dir, "src/app.py", edited)
	w.answer.Source, w.answer.Dirty = "worktree", true
	w.rebind(edited, 1)
	order := w.order()
	order.Source = files{"src/lib.py": libPy, "src/app.py": edited}
	m, err := Mint(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	verdict := func() (*Report, CitationReport) {
		r := check(t, m.Bundle, w.in(w.repo)).Report
		return r, site(t, r)
	}
	if r, got := verdict(); !r.OK || got.Worktree != WorktreeSame || got.Commit != Changed || r.Repository.Decides != "worktree" {
		t.Fatalf("as minted: %+v, %v", got, r.Refusals)
	}
	put(t, w.dir, "src/app.py", "# more\n"+edited)
	if r, got := verdict(); r.OK || got.Worktree != WorktreeMoved || got.MovedTo != 7 {
		t.Fatalf("moved: %+v, %v", got, r.Refusals)
	}
	put(t, w.dir, "src/app.py", edited+"# more\n")
	if r, got := verdict(); r.OK || got.Worktree != WorktreeSame || got.Note == "" {
		t.Fatalf("another line changed: %+v, %v", got, r.Refusals)
	}
	put(t, w.dir, "src/app.py", appPy)
	if r, got := verdict(); r.OK || got.Worktree != WorktreeMoved {
		t.Fatalf("back at the commit: %+v, %v", got, r.Refusals)
	}
	bare := filepath.Join(t.TempDir(), "bare.git")
	git(t, t.TempDir(), "clone", "-q", "--bare", w.dir, bare)
	if r := check(t, m.Bundle, w.in(open(t, bare))).Report; r.OK || r.Counts.Worktree[WorktreeNone] == 0 {
		t.Fatalf("in a bare clone: %+v", r)
	}
}

// TestAPathThatIsNotText: the path travels as base64 and is found by its bytes.
func TestAPathThatIsNotText(t *testing.T) {
	w := newWorld(t)
	name := "src/caf\xe9.py"
	put(t, w.dir, name, appPy)
	if entries, err := os.ReadDir(filepath.Join(w.dir, "src")); err != nil || len(entries) != 3 {
		t.Skip("this file system does not keep such names")
	}
	git(t, w.dir, "add", ".")
	git(t, w.dir, "commit", "-q", "-m", "second")
	rev, err := w.repo.Resolve(context.Background(), "HEAD")
	if err != nil {
		t.Fatal(err)
	}
	w.answer.Commit, w.answer.Tree = rev.Commit, rev.Tree
	for i := range w.answer.Items {
		main := *w.answer.Items[i].From
		main.Path = name
		w.answer.Items[i].From, w.answer.Items[i].Node, w.answer.Items[i].CallSite.Path = &main, main, name
	}
	order := w.order()
	order.Source = files{"src/lib.py": libPy, name: appPy}
	m, err := Mint(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	r := check(t, m.Bundle, w.in(w.repo)).Report
	got := site(t, r)
	if !r.OK || got.Path != "" || got.PathBase64 == "" || got.Worktree != WorktreeSame {
		t.Fatalf("%+v, %v", got, r.Refusals)
	}
}

func TestTheRevisionIsLookedAtOnceMore(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	o := w.in(w.repo)
	o.Expect.Revision = "HEAD"
	r := check(t, bundle, o)
	if !r.Report.OK {
		t.Fatal(r.Report.Refusals)
	}
	git(t, w.dir, "commit", "-q", "--allow-empty", "-m", "second")
	if err := r.still(context.Background(), o); err != nil {
		t.Fatal(err)
	}
	if len(r.Report.Refusals) != 1 || r.Report.Refusals[0].Reason != RevisionMoved {
		t.Fatalf("HEAD moved during the check: %v", r.Report.Refusals)
	}
}

func TestACancelledCheckIsAnError(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if r, err := Bundle(ctx, bundle, w.in(w.repo)); !errors.Is(err, context.Canceled) {
		t.Fatalf("%+v, %v", r, err)
	}
}
