package snapshot

import (
	"bytes"
	"compress/zlib"
	"crypto/sha1"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// testRepo is a real repository made by the git command.
type testRepo struct {
	t   testing.TB
	dir string
}

// newRepo makes a repository in a temporary folder, away from the user's
// configuration.
func newRepo(t testing.TB, initArgs ...string) *testRepo {
	t.Helper()
	isolate(t)
	r := &testRepo{t, realPath(t, t.TempDir())}
	r.git(append([]string{"init", "-q", "-b", "main"}, initArgs...)...)
	return r
}

func isolate(t testing.TB) {
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Setenv("GIT_AUTHOR_NAME", "A")
	t.Setenv("GIT_AUTHOR_EMAIL", "a@example.org")
	t.Setenv("GIT_COMMITTER_NAME", "A")
	t.Setenv("GIT_COMMITTER_EMAIL", "a@example.org")
	t.Setenv("GIT_AUTHOR_DATE", "2024-01-01T00:00:00Z")
	t.Setenv("GIT_COMMITTER_DATE", "2024-01-01T00:00:00Z")
	t.Setenv("GIT_ALLOW_PROTOCOL", "file")
}

func realPath(t testing.TB, path string) string {
	t.Helper()
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		t.Fatal(err)
	}
	return real
}

func (r *testRepo) git(args ...string) string { r.t.Helper(); return r.gitIn("", args...) }

func (r *testRepo) gitIn(stdin string, args ...string) string {
	r.t.Helper()
	cmd := exec.Command("git", append([]string{"-C", r.dir}, args...)...)
	cmd.Stdin = strings.NewReader(stdin)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		r.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return strings.TrimSpace(string(out))
}

func (r *testRepo) path(name string) string { return filepath.Join(r.dir, filepath.FromSlash(name)) }

func (r *testRepo) write(name, content string) {
	r.t.Helper()
	if err := os.MkdirAll(filepath.Dir(r.path(name)), 0o755); err != nil {
		r.t.Fatal(err)
	}
	if err := os.WriteFile(r.path(name), []byte(content), 0o644); err != nil {
		r.t.Fatal(err)
	}
}

// commit adds everything and commits it.
func (r *testRepo) commit(msg string) string {
	r.t.Helper()
	r.git("add", "-A", "-f")
	r.git("commit", "-q", "--allow-empty", "-m", msg)
	return r.git("rev-parse", "HEAD")
}

// clone runs git clone with a file:// address and gives the new repository.
func (r *testRepo) clone(args ...string) *testRepo {
	r.t.Helper()
	dir := filepath.Join(realPath(r.t, r.t.TempDir()), "clone")
	r.git(append(append([]string{"clone", "-q"}, args...), "file://"+r.dir, dir)...)
	return &testRepo{r.t, dir}
}

func open(t testing.TB, path string) *Repository {
	t.Helper()
	r, err := Open(path)
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func resolve(t testing.TB, r *Repository, rev string) Revision {
	t.Helper()
	v, err := r.Resolve(t.Context(), rev)
	if err != nil {
		t.Fatalf("Resolve(%q): %v", rev, err)
	}
	return v
}

// gathered collects what was visited.
type gathered struct {
	mu    sync.Mutex
	files map[string]string
}

func (g *gathered) visit(_ int, e *Entry, content []byte) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.files == nil {
		g.files = map[string]string{}
	}
	if _, twice := g.files[e.Path]; twice {
		return fmt.Errorf("%q was visited twice", e.Path)
	}
	if got := fmt.Sprintf("%x", sha256.Sum256(content)); got != e.SHA256 || HashBlob(SHA1, content) != e.Blob {
		return fmt.Errorf("%q was visited with bytes that are not its entry's", e.Path)
	}
	g.files[e.Path] = string(content)
	return nil
}

func scanCommit(t testing.TB, r *Repository, rev string, o Options) (*Manifest, map[string]string) {
	t.Helper()
	var g gathered
	m, err := r.ScanCommit(t.Context(), resolve(t, r, rev), o, g.visit)
	if err != nil {
		t.Fatalf("ScanCommit(%q): %v", rev, err)
	}
	return m, g.files
}

func scanWorktree(t testing.TB, r *Repository, o Options) (*Manifest, map[string]string) {
	t.Helper()
	var g gathered
	m, err := r.ScanWorktree(t.Context(), o, g.visit)
	if err != nil {
		t.Fatalf("ScanWorktree: %v", err)
	}
	return m, g.files
}

// same asserts that the worktree is clean and gives its commit's snapshot.
func same(t testing.TB, r *Repository, o Options) *Manifest {
	t.Helper()
	want, wantFiles := scanCommit(t, r, "HEAD", o)
	got, gotFiles := scanWorktree(t, r, o)
	if got.Dirty {
		t.Error("a clean worktree is called dirty")
	}
	if a, b := ContentFingerprint(want, Rules{}), ContentFingerprint(got, Rules{}); a != b {
		t.Errorf("fingerprints differ: commit %s, worktree %s\n%s", a, b, diff(want.Entries, got.Entries))
	}
	if fmt.Sprint(wantFiles) != fmt.Sprint(gotFiles) {
		t.Errorf("contents differ: commit %q, worktree %q", wantFiles, gotFiles)
	}
	return got
}

func diff(a, b []Entry) string {
	var out strings.Builder
	for i := range a {
		if i >= len(b) || a[i] != b[i] {
			fmt.Fprintf(&out, "commit   %+v\n", a[i])
			if i < len(b) {
				fmt.Fprintf(&out, "worktree %+v\n", b[i])
			}
		}
	}
	return out.String()
}

func reasonOf(t testing.TB, m *Manifest, path string) Reason {
	t.Helper()
	e := m.Find(path)
	if e == nil {
		t.Fatalf("manifest has no %q", path)
	}
	return e.Reason
}

// refused asserts the code of an error and what its message names.
func refused(t testing.TB, err error, code fault.Code, names ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("accepted, want %s", code)
	}
	if got := fault.CodeOf(err); got != code {
		t.Fatalf("code %q, want %q: %v", got, code, err)
	}
	for _, n := range names {
		if !strings.Contains(err.Error(), n) {
			t.Errorf("message %q does not name %q", err, n)
		}
	}
}

// digestTree hashes names, modes, contents, sizes and times of a folder.
func digestTree(t testing.TB, dir string) string {
	t.Helper()
	h := sha256.New()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		st, err := d.Info()
		if err != nil {
			return err
		}
		fmt.Fprintln(h, path, st.Mode(), st.Size(), st.ModTime().UnixNano())
		if st.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			h.Write(data)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))
}

func (r *testRepo) loose(id string) string {
	return r.path(".git/objects/" + id[:2] + "/" + id[2:])
}

// plantLoose writes a loose object of any content under any name.
func (r *testRepo) plantLoose(id, kind, content string) {
	r.t.Helper()
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	fmt.Fprintf(w, "%s %d\x00%s", kind, len(content), content)
	w.Close()
	file := r.loose(id)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.t.Fatal(err)
	}
	os.Remove(file)
	if err := os.WriteFile(file, z.Bytes(), 0o444); err != nil {
		r.t.Fatal(err)
	}
}

// plantTree writes a tree object with these raw entries and commits it.
func (r *testRepo) plantTree(entries ...string) (commit, tree string) {
	r.t.Helper()
	raw := strings.Join(entries, "")
	tree = fmt.Sprintf("%x", hashObject(SHA1, "tree", []byte(raw)))
	r.plantLoose(tree, "tree", raw)
	body := fmt.Sprintf("tree %s\nauthor A <a@example.org> 0 +0000\ncommitter A <a@example.org> 0 +0000\n\nplanted\n", tree)
	commit = fmt.Sprintf("%x", hashObject(SHA1, "commit", []byte(body)))
	r.plantLoose(commit, "commit", body)
	return commit, tree
}

// rawEntry is one entry of a raw tree.
func rawEntry(mode, name, id string) string {
	h, _ := parseID(id)
	return mode + " " + name + "\x00" + string(h[:])
}

func runGit(dir string, args ...string) error {
	return exec.Command("git", append([]string{"-C", dir}, args...)...).Run()
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o644) }

// rename replaces a name of the same length or shorter in a raw index of one
// entry and mends the checksum.
func rename(raw []byte, old, name string) []byte {
	padded := append([]byte(name), make([]byte, len(old)-len(name))...)
	out := bytes.Replace(raw[:len(raw)-sha1.Size], []byte(old), padded, 1)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
