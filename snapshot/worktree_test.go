package snapshot

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Case 9: an edit that keeps size and times.
func TestEditOfEqualSizeAndTime(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(r.path("a.py"), old, old); err != nil {
		t.Fatal(err)
	}
	r.commit("one")
	repo := open(t, r.dir)
	same(t, repo, Options{})
	r.write("a.py", "a = 2\n")
	if err := os.Chtimes(r.path("a.py"), old, old); err != nil {
		t.Fatal(err)
	}
	m, files := scanWorktree(t, repo, Options{})
	if !m.Dirty || files["a.py"] != "a = 2\n" || m.Find("a.py").Blob != HashBlob(SHA1, []byte("a = 2\n")) {
		t.Errorf("dirty %v, %q", m.Dirty, files)
	}
}

// Case 10: a clean checkout whose bytes differ from the blobs is the commit, and
// says so; a real change in it is a change.
func TestConversions(t *testing.T) {
	const text = "one\ntwo\nthree\n"
	for _, c := range []struct {
		name, attrs, config, content, how string
	}{
		{"eol=crlf", "*.py eol=crlf\n", "", text, "eol"},
		{"text and core.eol", "*.py text\n", "core.eol=crlf", text, "eol"},
		{"text=auto", "* text=auto eol=crlf\n", "", text, "eol"},
		{"autocrlf", "", "core.autocrlf=true", text, "eol"},
		{"crlf attribute", "*.py crlf\n", "core.eol=crlf", text, "eol"},
		{"ident", "*.py ident\n", "", "# $Id$\nx = 1\n", "ident"},
		{"all at once", "*.py ident eol=crlf\n", "", "# $Id$\nx = 1\n", "eol,ident"},
		{"encoding", "*.py working-tree-encoding=UTF-16LE-BOM\n", "", "one\n", "working-tree-encoding"},
		{"macro", "[attr]win eol=crlf\n*.py win\n", "", text, "eol"},
		{"nothing", "*.py -text\n", "core.autocrlf=true", text, ""},
		{"latin-1", "*.py working-tree-encoding=ISO-8859-1\n", "", "caf\u00e9 = 1\n", "working-tree-encoding"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newRepo(t)
			if c.attrs != "" {
				r.write(".gitattributes", c.attrs)
				r.git("add", ".gitattributes")
			}
			id := r.gitIn(c.content, "hash-object", "-w", "--stdin")
			r.git("update-index", "--add", "--cacheinfo", "100644,"+id+",sub/a.py")
			r.git("commit", "-q", "-m", "one")
			if key, value, ok := strings.Cut(c.config, "="); ok {
				r.git("config", key, value)
			}
			r.git("checkout", "-q", "--", ".")
			raw, err := os.ReadFile(r.path("sub/a.py"))
			if err != nil {
				t.Fatal(err)
			}
			if c.how != "" && string(raw) == c.content {
				t.Fatal("git converted nothing; the test proves nothing")
			}
			if out := r.git("status", "--porcelain"); out != "" {
				t.Fatalf("git finds a change: %s", out)
			}
			repo := open(t, r.dir)
			m := same(t, repo, Options{})
			if i := slices.IndexFunc(m.Worktree.Converted, func(v Conversion) bool { return v.Path == "sub/a.py" }); c.how == "" && i >= 0 ||
				c.how != "" && (i < 0 || m.Worktree.Converted[i].How != c.how) {
				t.Errorf("converted: %v, want %q", m.Worktree.Converted, c.how)
			}
			if clean, how, ok := repo.Normalize(t.Context(), "sub/a.py", raw); !ok || how != c.how || string(clean) != c.content {
				t.Errorf("Normalize: %q %q %v", clean, how, ok)
			}
			edited := bytes.Replace(raw, []byte("ne"), []byte("nE"), 1)
			if bytes.Equal(edited, raw) {
				edited = append(raw, '#')
			}
			r.write("sub/a.py", string(edited))
			m, _ = scanWorktree(t, repo, Options{})
			if !m.Dirty || m.Find("sub/a.py").Blob != HashBlob(SHA1, edited) {
				t.Errorf("a real change is not seen: %+v", m.Find("sub/a.py"))
			}
		})
	}
}

// Case 10: text=auto leaves a blob alone that holds CRLF, or that is binary.
func TestAutoLeavesCRLFBlobsAlone(t *testing.T) {
	r := newRepo(t)
	r.write("crlf.py", "a\r\nb\r\n")
	r.write("mixed.py", "a\r\nb\n")
	r.commit("one")
	r.write(".gitattributes", "* text=auto\n")
	r.commit("two")
	r.git("rm", "-q", "--cached", "crlf.py", "mixed.py")
	for _, f := range []string{"crlf.py", "mixed.py"} {
		r.git("update-index", "--add", "--cacheinfo", "100644,"+r.git("rev-parse", "HEAD:"+f)+","+f)
	}
	m := same(t, open(t, r.dir), Options{})
	if len(m.Worktree.Converted) != 0 {
		t.Errorf("converted %v", m.Worktree.Converted)
	}
	// The same lines with other ends are a change there.
	r.write("crlf.py", "a\nb\n")
	if m, _ := scanWorktree(t, open(t, r.dir), Options{}); !m.Dirty {
		t.Error("changed line ends of a CRLF blob are not seen")
	}
}

// Case 10: a clean filter is never run; what it hides is reported.
func TestFilterIsNotRun(t *testing.T) {
	r := newRepo(t)
	trap := filepath.Join(t.TempDir(), "ran")
	r.write(".gitattributes", "*.py filter=up\n")
	r.git("add", ".gitattributes")
	id := r.gitIn("LOUD\n", "hash-object", "-w", "--stdin")
	r.git("update-index", "--add", "--cacheinfo", "100644,"+id+",a.py")
	r.git("commit", "-q", "-m", "one")
	r.git("config", "filter.up.clean", "touch "+trap+"; tr a-z A-Z")
	r.write("a.py", "loud\n")
	repo := open(t, r.dir)
	m, files := scanWorktree(t, repo, Options{})
	if !slices.Equal(m.Worktree.Filtered, []string{"a.py"}) || files["a.py"] != "loud\n" {
		t.Errorf("filtered %v, files %q", m.Worktree.Filtered, files)
	}
	if _, _, ok := repo.Normalize(t.Context(), "a.py", []byte("loud\n")); ok {
		t.Error("Normalize claims to know")
	}
	if _, err := os.Stat(trap); err == nil {
		t.Error("the filter ran")
	}
	// Bytes that are the blob's need no filter to be known.
	r.write("a.py", "LOUD\n")
	if m := same(t, repo, Options{}); len(m.Worktree.Filtered) != 0 {
		t.Errorf("filtered %v", m.Worktree.Filtered)
	}
}

// Case 17: LFS, as a pointer on disk and smudged.
func TestLFS(t *testing.T) {
	r := newRepo(t)
	content := "x = 1\n" + strings.Repeat("# pad\n", 500_000) // over the file limit
	pointer := fmt.Sprintf("version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n",
		sha256.Sum256([]byte(content)), len(content))
	r.write("x.py", pointer)
	r.write(".gitattributes", "*.py filter=lfs diff=lfs merge=lfs -text\n")
	r.commit("one")
	repo := open(t, r.dir)
	m := same(t, repo, Options{})
	if reasonOf(t, m, "x.py") != LFSPointer {
		t.Errorf("x.py is %q", reasonOf(t, m, "x.py"))
	}
	r.write("x.py", content)
	m = same(t, repo, Options{})
	if len(m.Worktree.Converted) != 1 || m.Worktree.Converted[0].How != "lfs" {
		t.Errorf("converted %v", m.Worktree.Converted)
	}
	r.write("x.py", content+"# more\n")
	if m, _ := scanWorktree(t, repo, Options{}); !m.Dirty {
		t.Error("a changed LFS file is not seen")
	}
}

// Case 11: what the index claims is observed, and the bytes are read all the same.
func TestIndexFlags(t *testing.T) {
	r := newRepo(t)
	for _, f := range []string{"assumed.py", "skipped.py", "mode.py", "same.py"} {
		r.write(f, "x = 1\n")
	}
	r.commit("one")
	r.git("update-index", "--assume-unchanged", "assumed.py")
	r.git("update-index", "--skip-worktree", "skipped.py")
	repo := open(t, r.dir)
	m := same(t, repo, Options{})
	if m.Worktree.AssumeClean != 2 {
		t.Errorf("assume clean %d", m.Worktree.AssumeClean)
	}
	r.write("assumed.py", "x = 2\n")
	r.write("skipped.py", "x = 3\n")
	r.write("intent.py", "x = 4\n")
	r.git("add", "-N", "intent.py")
	r.write("untracked.py", "x = 5\n")
	m, files := scanWorktree(t, repo, Options{})
	if !m.Dirty || files["assumed.py"] != "x = 2\n" || files["skipped.py"] != "x = 3\n" || files["intent.py"] != "x = 4\n" {
		t.Errorf("dirty %v, %q", m.Dirty, files)
	}
	if _, ok := files["untracked.py"]; ok || m.Find("untracked.py") != nil {
		t.Error("an untracked file is in the snapshot")
	}
	if !slices.Equal(m.Worktree.IntentToAdd, []string{"intent.py"}) {
		t.Errorf("intent to add %v", m.Worktree.IntentToAdd)
	}

	t.Run("fileMode", func(t *testing.T) {
		r.git("reset", "-q", "--hard")
		r.git("update-index", "--no-assume-unchanged", "assumed.py")
		r.git("update-index", "--no-skip-worktree", "skipped.py")
		r.git("checkout", "-q", "--", ".")
		if err := os.Chmod(r.path("mode.py"), 0o755); err != nil {
			t.Fatal(err)
		}
		if m, _ := scanWorktree(t, open(t, r.dir), Options{}); !m.Dirty || m.Find("mode.py").Mode != 0o100755 {
			t.Error("the executable bit is not seen")
		}
		r.git("config", "core.fileMode", "false")
		same(t, open(t, r.dir), Options{})
	})
}

// Case 11: a conflicted index: each path once, with the bytes on disk.
func TestConflictedIndex(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "base\n")
	r.write("gone.py", "base\n")
	r.commit("base")
	r.git("checkout", "-q", "-b", "side")
	r.write("a.py", "side\n")
	r.write("gone.py", "side\n")
	r.commit("side")
	r.git("checkout", "-q", "main")
	r.write("a.py", "main\n")
	r.git("rm", "-q", "-f", "gone.py")
	r.commit("main")
	cmd := "merge"
	if err := runGit(r.dir, cmd, "side"); err == nil {
		t.Fatal("the merge did not conflict")
	}
	m, files := scanWorktree(t, open(t, r.dir), Options{})
	if !slices.Equal(m.Worktree.Conflicted, []string{"a.py", "gone.py"}) || !m.Dirty {
		t.Errorf("conflicted %v", m.Worktree.Conflicted)
	}
	if !strings.Contains(files["a.py"], "<<<<<<<") || len(m.Entries) != 2 {
		t.Errorf("%q", files)
	}
	if tracked, err := open(t, r.dir).Tracked("gone.py"); err != nil || !tracked {
		t.Errorf("gone.py: %v %v", tracked, err)
	}
}

// Case 2: index version 4, a split index, an untracked cache, no checksum.
func TestIndexFormats(t *testing.T) {
	for name, setup := range map[string]func(r *testRepo){
		"v2": func(r *testRepo) { r.git("update-index", "--index-version", "2") },
		"v3": func(r *testRepo) { r.git("update-index", "--skip-worktree", "dir/b.py") },
		"v4": func(r *testRepo) { r.git("update-index", "--index-version", "4") },
		"v4 split": func(r *testRepo) {
			r.git("update-index", "--index-version", "4")
			r.git("update-index", "--split-index")
		},
		"split":           func(r *testRepo) { r.git("update-index", "--split-index") },
		"untracked cache": func(r *testRepo) { r.git("update-index", "--force-untracked-cache"); r.git("status") },
		"skipHash": func(r *testRepo) {
			r.git("config", "index.skipHash", "true")
			r.git("update-index", "--force-write-index")
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			for i := range 70 {
				r.write(fmt.Sprintf("dir/f%02d.py", i), fmt.Sprintf("x = %d\n", i))
			}
			r.write("dir/b.py", "b\n")
			r.write("dir/"+strings.Repeat("n", 200)+".py", "long\n")
			r.commit("one")
			setup(r)
			check := func() {
				t.Helper()
				repo := open(t, r.dir)
				x, err := repo.readIndex(t.Context())
				if err != nil {
					t.Fatal(err)
				}
				var got strings.Builder
				for _, e := range x.entries {
					fmt.Fprintf(&got, "%06o %s %d\t%s\n", e.mode, e.id, e.stage, e.path)
				}
				if want := r.git("ls-files", "-s"); strings.TrimSpace(got.String()) != want {
					t.Errorf("index is\n%s\nwant\n%s", got.String(), want)
				}
			}
			check()
			same(t, open(t, r.dir), Options{})
			// Change, delete and add on top: a split index then has all three.
			r.write("dir/f07.py", "changed\n")
			r.write("aaa.py", "new\n")
			r.write("zzz.py", "new\n")
			r.git("rm", "-q", "--cached", "dir/f33.py")
			r.git("add", "dir/f07.py", "aaa.py", "zzz.py")
			check()
			if strings.Contains(name, "split") {
				if shared, _ := filepath.Glob(r.path(".git/sharedindex.*")); len(shared) == 0 {
					t.Fatal("the index is not split; the test proves nothing")
				}
			}
		})
	}
}

// Case 12: links and folders in place of files, and folders replaced by links.
func TestLinksAreNotFollowed(t *testing.T) {
	outside := realPath(t, t.TempDir())
	if err := os.WriteFile(filepath.Join(outside, "b.py"), []byte("secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	r := newRepo(t)
	for _, f := range []string{"a.py", "dir/b.py", "in/b.py", "folder.py", "fifo.py", "keep.py", "gone.py"} {
		r.write(f, "x = 1\n")
	}
	if err := os.Symlink("keep.py", r.path("tracked-link.py")); err != nil {
		t.Fatal(err)
	}
	r.commit("one")
	repo := open(t, r.dir)
	same(t, repo, Options{})
	replace := func(name string, make func(path string) error) {
		t.Helper()
		if err := os.RemoveAll(r.path(name)); err != nil {
			t.Fatal(err)
		}
		if err := make(r.path(name)); err != nil {
			t.Fatal(err)
		}
	}
	replace("a.py", func(p string) error { return os.Symlink(filepath.Join(outside, "b.py"), p) })
	replace("dir", func(p string) error { return os.Symlink(outside, p) })
	replace("in", func(p string) error { return os.Symlink("dir", p) })
	replace("folder.py", func(p string) error { return os.Mkdir(p, 0o755) })
	replace("fifo.py", func(p string) error { return mkfifo(p) })
	replace("gone.py", func(p string) error { return nil })
	m, files := scanWorktree(t, repo, Options{})
	for path, want := range map[string]Reason{"a.py": Symlink, "dir/b.py": Symlink, "in/b.py": Symlink, "folder.py": NonRegularFile,
		"fifo.py": NonRegularFile, "gone.py": MissingWorktreeFile, "tracked-link.py": Symlink, "keep.py": ""} {
		if got := reasonOf(t, m, path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
	if len(files) != 1 || !m.Dirty {
		t.Errorf("files %q", files)
	}
	for _, path := range []string{"a.py", "dir/b.py", "in/b.py", "folder.py", "fifo.py"} {
		_, _, err := repo.ReadWorktree(t.Context(), path)
		refused(t, err, fault.InvalidPath, path)
	}
	if _, _, err := repo.ReadWorktree(t.Context(), "gone.py"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone.py: %v", err)
	}
	if data, mode, err := repo.ReadWorktree(t.Context(), "keep.py"); err != nil || string(data) != "x = 1\n" || mode.Perm() != 0o644 {
		t.Errorf("keep.py: %q %v %v", data, mode, err)
	}
}

// The slow way of opening obeys the same rules as openat2.
func TestOpenByStep(t *testing.T) {
	dir := realPath(t, t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(os.MkdirAll(filepath.Join(dir, "a/b"), 0o755))
	must(os.WriteFile(filepath.Join(dir, "a/b/c"), []byte("c"), 0o644))
	must(os.Symlink("b", filepath.Join(dir, "a/link")))
	must(os.Symlink("c", filepath.Join(dir, "a/b/link")))
	w, err := openWorktreeDir(dir)
	must(err)
	defer w.close()
	for path, want := range map[string]error{"a/b/c": nil, "a/link/c": errLink, "a/b/link": errLink, "a/x": fs.ErrNotExist, "a/b/c/d": fs.ErrNotExist} {
		fd, err := openByStep(int(w.root.Fd()), path)
		if err != nil {
			err = openError(path, err)
		} else {
			os.NewFile(uintptr(fd), path).Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", path, err, want)
		}
		f, err := w.open(path)
		if err == nil {
			f.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("openat2 %s: %v, want %v", path, err, want)
		}
	}
}

// Case 12: a folder that flips between itself and a link to outside while it is read.
func TestFolderFlipsWhileReading(t *testing.T) {
	outside := realPath(t, t.TempDir())
	r := newRepo(t)
	for i := range 20 {
		name := fmt.Sprintf("f%02d.py", i)
		r.write("dir/"+name, "inside\n")
		if err := os.WriteFile(filepath.Join(outside, name), []byte("secret\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r.commit("one")
	if err := os.Symlink(outside, r.path("link")); err != nil {
		t.Fatal(err)
	}
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-stop:
				return
			default:
			}
			os.Rename(r.path("dir"), r.path("aside"))
			os.Rename(r.path("link"), r.path("dir"))
			os.Rename(r.path("dir"), r.path("link"))
			os.Rename(r.path("aside"), r.path("dir"))
		}
	}()
	repo := open(t, r.dir)
	for range 50 {
		m, files := scanWorktree(t, repo, Options{})
		for path, content := range files {
			if content != "inside\n" {
				t.Fatalf("%s holds %q", path, content)
			}
		}
		if len(m.Entries) != 20 {
			t.Fatalf("%d entries", len(m.Entries))
		}
	}
	close(stop)
	<-stopped
}

// Case 14: what is untracked is not in the snapshot, however much there is of it.
func TestUntrackedFoldersAreNotWalked(t *testing.T) {
	r := newRepo(t)
	r.write(".gitignore", "ignored/\n")
	r.write("a.py", "a = 1\n")
	r.git("add", "-A")
	r.git("commit", "-q", "-m", "one")
	for i := range 300 {
		r.write(fmt.Sprintf("ignored/%d/x.py", i), "")
	}
	repo := open(t, r.dir)
	m := same(t, repo, Options{})
	if len(m.Entries) != 2 {
		t.Errorf("%d entries", len(m.Entries))
	}
	_, err := repo.ScanWorktree(t.Context(), Options{Untracked: true}, nil)
	refused(t, err, fault.Unsupported)
}

// Dirty counts what is in scope only, and what left the index.
func TestDirty(t *testing.T) {
	py := Options{Language: func(path string) string {
		if strings.HasSuffix(path, ".py") {
			return "python"
		}
		return ""
	}}
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	r.write("b.py", "b = 1\n")
	r.write("notes.txt", "n\n")
	r.commit("one")
	repo := open(t, r.dir)
	same(t, repo, py)
	r.write("notes.txt", "changed\n")
	if m, _ := scanWorktree(t, repo, py); m.Dirty {
		t.Error("a change out of scope makes it dirty")
	}
	r.git("rm", "-q", "--cached", "b.py")
	if m, files := scanWorktree(t, repo, py); !m.Dirty || files["b.py"] != "" {
		t.Error("a file that left the index is not seen")
	}
	r.git("reset", "-q")
	os.Remove(r.path("b.py"))
	if m, _ := scanWorktree(t, repo, py); !m.Dirty || reasonOf(t, m, "b.py") != MissingWorktreeFile {
		t.Error("a deleted file is not seen")
	}
	r.git("checkout", "-q", "--", "b.py")
	// Staged, then put back on disk: the bytes on disk count.
	r.write("a.py", "a = 2\n")
	r.git("add", "a.py")
	r.write("a.py", "a = 1\n")
	m, _ := scanWorktree(t, repo, py)
	if m.Dirty || m.Worktree.Staged != 1 {
		t.Errorf("dirty %v, staged %d", m.Dirty, m.Worktree.Staged)
	}
	if tracked, err := repo.Tracked("a.py"); !tracked || err != nil {
		t.Errorf("a.py: %v %v", tracked, err)
	}
	if tracked, err := repo.Tracked("b"); tracked || err != nil {
		t.Errorf("b: %v %v", tracked, err)
	}
}

// An index that holds a path Git forbids, or that is damaged, is refused.
func TestHostileIndex(t *testing.T) {
	r := newRepo(t)
	r.write("a.py", "a = 1\n")
	r.commit("one")
	raw, err := os.ReadFile(r.path(".git/index"))
	if err != nil {
		t.Fatal(err)
	}
	repo := open(t, r.dir)
	for _, name := range []string{"../a", "/etc", ".git"} {
		bad := rename(raw, "a.py", name)
		if err := os.WriteFile(r.path(".git/index"), bad, 0o644); err != nil {
			t.Fatal(err)
		}
		_, err := repo.ScanWorktree(t.Context(), Options{}, nil)
		refused(t, err, fault.ObjectCorrupt, name)
	}
	raw[40] ^= 1
	if err := os.WriteFile(r.path(".git/index"), raw, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err = repo.ScanWorktree(t.Context(), Options{}, nil)
	refused(t, err, fault.RepositoryFailed, "checksum")
}

// meddled is a file that changes while it is read.
type meddled struct {
	*os.File
	change func()
}

func (m meddled) Read(p []byte) (int, error) {
	n, err := m.File.Read(p)
	m.change()
	return n, err
}

func TestFileChangesWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.py")
	for name, change := range map[string]func(){
		"grows":    func() { os.WriteFile(path, []byte("a = 1\nb = 2\n"), 0o644) },
		"shrinks":  func() { os.Truncate(path, 2) },
		"touched":  func() { os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0)) },
		"new mode": func() { os.Chmod(path, 0o600) },
	} {
		if err := os.WriteFile(path, []byte("a = 1\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		os.Chmod(path, 0o644)
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, stable, err := readStable(f, 100, nil); !stable || err != nil {
			t.Errorf("%s: a file at rest is not stable: %v", name, err)
		}
		if _, err := f.Seek(0, 0); err != nil {
			t.Fatal(err)
		}
		if _, _, stable, err := readStable(meddled{f, change}, 100, nil); stable || err != nil {
			t.Errorf("%s: stable %v, %v", name, stable, err)
		}
		f.Close()
	}
}

// HEAD or the index moves during a scan: the bytes would belong to neither.
func TestHeadMovesDuringScan(t *testing.T) {
	for name, args := range map[string][]string{"HEAD": {"commit", "-q", "--allow-empty", "-m", "two"}, "index": {"rm", "-q", "--cached", "b.py"}} {
		t.Run(name, func(t *testing.T) {
			r := newRepo(t)
			r.write("a.py", "a\n")
			r.write("b.py", "b\n")
			r.commit("one")
			repo := open(t, r.dir)
			_, err := repo.ScanWorktree(t.Context(), Options{}, func(_ int, e *Entry, _ []byte) error {
				if e.Path == "a.py" {
					return runGit(r.dir, args...)
				}
				return nil
			})
			refused(t, err, fault.WorkspaceBusy, name)
			// git status rewrites the index with the same entries: no move.
			r.git("reset", "-q", "--hard")
			os.Chtimes(r.path("a.py"), time.Unix(1e9, 0), time.Unix(1e9, 0))
			if _, err := repo.ScanWorktree(t.Context(), Options{}, func(int, *Entry, []byte) error { return runGit(r.dir, "status") }); err != nil {
				t.Error(err)
			}
		})
	}
}

// Git's guess for text=auto, against Git's own verdict.
func TestAutoGuessesBinary(t *testing.T) {
	r := newRepo(t)
	r.write(".gitattributes", "*.auto text=auto\n*.text text\n")
	r.commit("one")
	repo := open(t, r.dir)
	for _, content := range []string{"a\r\n", "a\x00\r\n", "a\rb\r\n", "a\r", "\x01\x02\r\n", strings.Repeat("a", 200) + "\x01\r\n", "a\x1a\r\n",
		"a\r\n\x1a", "caf\xe9\r\n", "\x7f\r\n", "\r\n", "", "\t\x1b\x0c\b\r\n"} {
		for _, name := range []string{"f.auto", "f.text", "f.other"} {
			r.write(name, content)
			want := r.git("hash-object", name)
			clean, how, ok := repo.Normalize(t.Context(), name, []byte(content))
			if !ok || HashBlob(SHA1, clean) != want || (how != "") != (string(clean) != content) {
				t.Errorf("%s %q: %q %q %v, git has %s", name, content, clean, how, ok, want)
			}
		}
	}
}
