package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Case 3: a missing subtree is an error that names the object, never a shorter list.
func TestMissingSubtree(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	r.write("sub/b.py", "b = 1\n")
	r.commit("one")
	tree := r.git("rev-parse", "HEAD:sub")
	if err := os.Remove(r.loose(tree)); err != nil {
		t.Fatal(err)
	}
	repo := open(t, r.dir)
	_, err := repo.ScanCommit(t.Context(), resolve(t, repo, "HEAD"), Options{}, nil)
	refused(t, err, fault.ObjectMissing, tree, "tree")
}

// Case 4: newlines, tabs and control bytes in paths.
func TestOddPaths(t *testing.T) {
	r := newRepo(t)
	paths := []string{"a\nb.py", "tab\there.py", "bell\a.py", "esc\x1b[31m.py", "quote\".py", "back\\slash.py", " space.py", "-dash.py", "plain.py"}
	for _, p := range paths {
		r.write(p, "x = 1\n")
	}
	r.commit("one")
	m, files := scanCommit(t, open(t, r.dir), "HEAD", Options{})
	for _, p := range paths {
		if files[p] == "" {
			t.Errorf("%q is not listed", p)
		}
	}
	if len(m.Entries) != len(paths) {
		t.Errorf("%d entries, want %d", len(m.Entries), len(paths))
	}
	same(t, open(t, r.dir), Options{})
}

// Case 5: paths that are not UTF-8 stay apart; case and normal-form twins too.
func TestPathsAreBytes(t *testing.T) {
	r := newRepo(t)
	blob := r.gitIn("x = 1\n", "hash-object", "-w", "--stdin")
	names := []string{"README", "caf\xe9.py", "caf\xe8.py", "cafe\u0301.py", "caf\u00e9.py", "readme"}
	var entries []string
	for _, n := range names {
		entries = append(entries, rawEntry("100644", n, blob))
	}
	commit, _ := r.plantTree(entries...)
	repo := open(t, r.dir)
	m, files := scanCommit(t, repo, commit, Options{})
	if len(m.Entries) != 6 || len(files) != 4 {
		t.Fatalf("%d entries, %d files: %+v", len(m.Entries), len(files), m.Entries)
	}
	for _, n := range names[1:3] {
		if got := reasonOf(t, m, n); got != UnrepresentablePath {
			t.Errorf("%q is %q", n, got)
		}
	}
	other, _ := r.plantTree(append([]string{rawEntry("100644", "README", blob), rawEntry("100644", "caf\xe9.py", blob),
		rawEntry("100644", "caf\xeb.py", blob)}, entries[3:]...)...)
	m2, _ := scanCommit(t, repo, other, Options{})
	m2.Commit = m.Commit
	if ContentFingerprint(m, Rules{}) == ContentFingerprint(m2, Rules{}) {
		t.Error("two different byte paths give one fingerprint")
	}
}

// Case 6: entries that Git forbids refuse the snapshot and are named.
func TestForbiddenTreeEntries(t *testing.T) {
	r := newRepo(t)
	blob := r.gitIn("x\n", "hash-object", "-w", "--stdin")
	sub := r.git("hash-object", "-t", "tree", "-w", "--stdin")
	for _, name := range []string{"", ".", "..", ".git", ".GIT", ".Git", "git~1", "GIT~1", ".git.", ".git ", ".git::$INDEX_ALLOCATION",
		".g\u200cit", "a/b"} {
		t.Run(fmt.Sprintf("%q", name), func(t *testing.T) {
			commit, tree := r.plantTree(rawEntry("100644", "ok.py", blob), rawEntry("100644", name, blob))
			repo := open(t, r.dir)
			_, err := repo.ScanCommit(t.Context(), resolve(t, repo, commit), Options{}, nil)
			refused(t, err, fault.ObjectCorrupt, tree, fmt.Sprintf("%q", name))
			_, _, _, err = repo.Lookup(t.Context(), tree, "ok.py")
			refused(t, err, fault.ObjectCorrupt, tree)
		})
	}
	for what, entries := range map[string][]string{
		"a duplicate":            {rawEntry("100644", "dup.py", blob), rawEntry("100644", "dup.py", blob)},
		"a file and a folder":    {rawEntry("100644", "dup", blob), rawEntry("100644", "dup.py", blob), rawEntry("40000", "dup", sub)},
		"a duplicate out of row": {rawEntry("100644", "dup", blob), rawEntry("100644", "a", blob), rawEntry("100644", "dup", blob)},
	} {
		t.Run(what, func(t *testing.T) {
			commit, _ := r.plantTree(entries...)
			repo := open(t, r.dir)
			_, err := repo.ScanCommit(t.Context(), resolve(t, repo, commit), Options{}, nil)
			refused(t, err, fault.ObjectCorrupt, `"dup`, "twice")
		})
	}
	t.Run("names that only look like it", func(t *testing.T) {
		commit, _ := r.plantTree(rawEntry("100644", ".gitignore", blob), rawEntry("100644", "...", blob), rawEntry("100644", ".git2", blob), rawEntry("100644", "git~2", blob), rawEntry("100644", "x.git", blob))
		if m, _ := scanCommit(t, open(t, r.dir), commit, Options{}); len(m.Entries) != 5 {
			t.Errorf("%+v", m.Entries)
		}
	})
	t.Run("cut short", func(t *testing.T) {
		commit, tree := r.plantTree(rawEntry("100644", "ok.py", blob)[:20])
		repo := open(t, r.dir)
		_, err := repo.ScanCommit(t.Context(), resolve(t, repo, commit), Options{}, nil)
		refused(t, err, fault.ObjectCorrupt, tree)
	})
}

// Case 7: an object stored under another's name, of every kind.
func TestObjectUnderAnotherName(t *testing.T) {
	for _, kind := range []string{"blob", "tree", "commit"} {
		t.Run(kind, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.py", "a = 1\n")
			r.commit("one")
			spec := map[string]string{"blob": "HEAD:a.py", "tree": "HEAD^{tree}", "commit": "HEAD"}[kind]
			id := r.git("rev-parse", spec)
			other := r.gitIn("evil = 1\n", "hash-object", "-w", "--stdin")
			body := map[string]string{"blob": "evil = 1\n", "tree": rawEntry("100644", "a.py", other),
				"commit": strings.Replace(r.git("cat-file", "commit", "HEAD"), "one", "two", 1) + "\n"}[kind]
			r.plantLoose(id, kind, body)
			repo := open(t, r.dir)
			rev, err := repo.Resolve(t.Context(), "HEAD")
			if err == nil {
				_, err = repo.ScanCommit(t.Context(), rev, Options{}, nil)
			}
			refused(t, err, fault.ObjectCorrupt, id)
			if kind == "blob" {
				_, err = repo.Blob(t.Context(), id)
				refused(t, err, fault.ObjectCorrupt, id)
			}
		})
	}
}

// Case 8: refs/replace changes nothing.
func TestReplaceRefsAreIgnored(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "original\n")
	id := r.commit("one")
	blob := r.git("rev-parse", "HEAD:a.py")
	r.git("replace", blob, r.gitIn("replaced\n", "hash-object", "-w", "--stdin"))
	r.write("b.py", "b\n")
	r.git("replace", id, r.commit("two"))
	r.git("reset", "-q", "--hard", id)
	repo := open(t, r.dir)
	m, files := scanCommit(t, repo, id, Options{})
	if m.Commit != id || len(files) != 1 || files["a.py"] != "original\n" {
		t.Errorf("got %q", files)
	}
}

// Case 13: what a shallow or partial clone lacks is "not in this clone".
func TestObjectsOutsideTheClone(t *testing.T) {
	src := newRepo(t)
	src.git("config", "uploadpack.allowFilter", "true")
	src.write("old.py", "old = 1\n")
	first := src.commit("one")
	oldBlob := src.git("rev-parse", "HEAD:old.py")
	src.git("rm", "-q", "old.py")
	src.write("new.py", "new = 1\n")
	src.commit("two")

	t.Run("shallow", func(t *testing.T) {
		c := src.clone("--depth", "1")
		r := open(t, c.dir)
		same(t, r, Options{})
		_, err := r.Resolve(t.Context(), first)
		refused(t, err, fault.ObjectMissing, first, "not in this clone")
		_, err = r.Resolve(t.Context(), "HEAD^")
		refused(t, err, fault.ObjectMissing, first, "not in this clone")
		_, err = r.Blob(t.Context(), oldBlob)
		refused(t, err, fault.ObjectMissing, oldBlob, "not in this clone")
	})
	t.Run("partial", func(t *testing.T) {
		c := src.clone("--filter=blob:none", "--no-checkout")
		before := digestTree(t, c.path(".git"))
		r := open(t, c.dir)
		m, files := scanCommit(t, r, first, Options{})
		if len(files) != 0 || reasonOf(t, m, "old.py") != NotInClone {
			t.Errorf("got %+v", m.Entries)
		}
		_, err := r.Blob(t.Context(), oldBlob)
		refused(t, err, fault.ObjectMissing, oldBlob, "not in this clone")
		if digestTree(t, c.path(".git")) != before {
			t.Error("something was fetched")
		}
	})
	t.Run("treeless", func(t *testing.T) {
		c := src.clone("--filter=tree:0", "--no-checkout")
		r := open(t, c.dir)
		_, err := r.ScanCommit(t.Context(), resolve(t, r, first), Options{}, nil)
		refused(t, err, fault.ObjectMissing, "tree", "not in this clone")
	})
}

// Many packs, deltas, a pack that appears while the repository is open, and gc
// that removes the packs in use.
func TestPacks(t *testing.T) {
	r := newRepo(t)
	r.git("config", "gc.auto", "0")
	want := map[string]string{}
	var body strings.Builder
	for i := range 12 {
		for line := range 400 {
			fmt.Fprintf(&body, "line %d of version %d\n", line, i)
		}
		name := fmt.Sprintf("f%02d.py", i%4)
		r.write(name, body.String())
		want[name] = body.String()
		r.commit("c")
		if i%3 == 2 {
			r.git("repack", "-q", "-d")
		}
	}
	repo := open(t, r.dir)
	check := func(when string) {
		t.Helper()
		if _, files := scanCommit(t, repo, "HEAD", Options{Workers: 4}); fmt.Sprint(files) != fmt.Sprint(want) {
			t.Errorf("%s: contents differ", when)
		}
		if n, err := filepath.Glob(r.path(".git/objects/pack/*.pack")); err != nil || len(n) == 0 {
			t.Fatal("no packs")
		}
	}
	check("several packs")
	r.write("late.py", "late = 1\n")
	want["late.py"] = "late = 1\n"
	r.commit("late")
	r.git("repack", "-q", "-a", "-d", "-f", "--depth=50", "--window=50")
	check("after repacking under an open repository")
	if out := r.git("verify-pack", "-v", strings.TrimSuffix(firstPack(t, r), ".pack")+".idx"); !strings.Contains(out, "chain length = ") {
		t.Fatal("the pack holds no deltas; the test proves nothing")
	}
	fresh := open(t, r.dir)
	for _, line := range strings.Split(r.git("rev-list", "--objects", "--all"), "\n") {
		id := line[:40]
		if r.git("cat-file", "-t", id) != "blob" {
			continue
		}
		got, err := fresh.Blob(t.Context(), id)
		if err != nil || HashBlob(SHA1, got) != id {
			t.Errorf("blob %s: %v", id, err)
		}
	}
}

func firstPack(t *testing.T, r *testRepo) string {
	t.Helper()
	packs, err := filepath.Glob(r.path(".git/objects/pack/*.pack"))
	if err != nil || len(packs) == 0 {
		t.Fatal("no packs")
	}
	return packs[0]
}

// One flipped bit anywhere in a pack is noticed or harmless, never a wrong byte.
func TestFlippedBitsInPack(t *testing.T) {
	r := newRepo(t)
	for i := range 6 {
		r.write("a.py", strings.Repeat(fmt.Sprintf("line %d\n", i), 50))
		r.commit("c")
	}
	r.git("gc", "-q", "--aggressive")
	file := firstPack(t, r)
	good, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	repo := open(t, r.dir)
	_, want := scanCommit(t, repo, "HEAD", Options{})
	if err := os.Chmod(file, 0o644); err != nil {
		t.Fatal(err)
	}
	noticed := 0
	for i := 0; i < len(good); i += 3 {
		bad := append([]byte(nil), good...)
		bad[i] ^= 1 << (i % 8)
		if err := os.WriteFile(file, bad, 0o644); err != nil {
			t.Fatal(err)
		}
		repo := open(t, r.dir)
		var g gathered
		rev, err := repo.Resolve(t.Context(), "HEAD")
		if err == nil {
			_, err = repo.ScanCommit(t.Context(), rev, Options{}, g.visit)
		}
		if err != nil {
			noticed++
			if c := fault.CodeOf(err); c != fault.ObjectCorrupt && c != fault.ObjectMissing {
				t.Fatalf("byte %d: %q %v", i, c, err)
			}
		} else if fmt.Sprint(g.files) != fmt.Sprint(want) {
			t.Fatalf("byte %d: wrong content and no error", i)
		}
		repo.Close()
	}
	if noticed == 0 {
		t.Error("no damage was noticed")
	}
}

func TestLookup(t *testing.T) {
	r := newRepo(t)
	r.write("a/b/c.py", "c = 1\n")
	r.write("run.sh", "#!/bin/sh\n")
	if err := os.Chmod(r.path("run.sh"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.commit("one")
	repo := open(t, r.dir)
	tree := resolve(t, repo, "HEAD").Tree
	mode, blob, found, err := repo.Lookup(t.Context(), tree, "a/b/c.py")
	if err != nil || !found || mode != 0o100644 || blob != r.git("rev-parse", "HEAD:a/b/c.py") {
		t.Errorf("%o %s %v %v", mode, blob, found, err)
	}
	if mode, _, _, _ := repo.Lookup(t.Context(), tree, "run.sh"); mode != 0o100755 {
		t.Errorf("run.sh has mode %o", mode)
	}
	for _, path := range []string{"a/x", "a/b/c.py/d", "A/b/c.py"} {
		if _, _, found, err := repo.Lookup(t.Context(), tree, path); found || err != nil {
			t.Errorf("%s: %v %v", path, found, err)
		}
	}
	for _, path := range []string{"", "/a", "../a", "a/../b", "a//b", "a\x00b", "./a", ".git/config", "a/"} {
		_, _, _, err := repo.Lookup(t.Context(), tree, path)
		refused(t, err, fault.InvalidPath)
		_, _, err = repo.ReadWorktree(t.Context(), path)
		refused(t, err, fault.InvalidPath)
		_, err = repo.Tracked(path)
		refused(t, err, fault.InvalidPath)
	}
}
