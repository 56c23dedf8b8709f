package kv

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/exhibit-dev/exhibit/resolve/graph"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// everything renders all that a reader can see of the current generation.
func everything(w *world) (string, error) {
	g, err := w.cache.Open(w.ctx, w.b)
	if err != nil {
		return "", err
	}
	defer g.Close()
	var s strings.Builder
	m := g.Meta()
	fmt.Fprintf(&s, "%+v\n", m.Contents)
	g.Entries("", func(e snapshot.Entry) bool {
		fmt.Fprintf(&s, "%+v\n", e)
		if e.Included() {
			var b []byte
			if b, err = g.Content(e.Path); err != nil {
				return false
			}
			fmt.Fprintf(&s, "%q\n", b)
		}
		status, _ := g.FileStatus(e.Path)
		fmt.Fprintf(&s, "%+v\n", status)
		return true
	})
	if err != nil {
		return "", err
	}
	for id := range graph.NodeID(g.NodeCount()) {
		n, err1 := g.Node(id)
		out, err2 := g.Out(id)
		in, err3 := g.In(id)
		mentions, err4 := g.Mentions(n.Name)
		fmt.Fprintf(&s, "%+v %+v %+v %+v\n", n, out, in, mentions)
		for _, err := range []error{err1, err2, err3, err4} {
			if err != nil {
				return "", err
			}
		}
	}
	ids, err := g.TextCandidates(w.ctx, []string{"config", "readme"}, 10)
	fmt.Fprintln(&s, ids, g.Err())
	return s.String(), err
}

// damages is what can happen to a file.
var damages = map[string]func(path string, r *rand.Rand) error{
	"flip": func(path string, r *rand.Rand) error {
		b, err := os.ReadFile(path)
		if err != nil || len(b) == 0 {
			return err
		}
		b[r.IntN(len(b))] ^= 1 << r.IntN(8)
		return os.WriteFile(path, b, 0o600)
	},
	"truncate": func(path string, r *rand.Rand) error {
		info, err := os.Stat(path)
		if err != nil || info.Size() == 0 {
			return err
		}
		return os.Truncate(path, r.Int64N(info.Size()))
	},
	"append": func(path string, _ *rand.Rand) error {
		f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = f.WriteString("x")
		return err
	},
	"empty":  func(path string, _ *rand.Rand) error { return os.Truncate(path, 0) },
	"delete": func(path string, _ *rand.Rand) error { return os.Remove(path) },
	"folder": func(path string, _ *rand.Rand) error {
		if err := os.Remove(path); err != nil {
			return err
		}
		return os.Mkdir(path, 0o700)
	},
	"link": func(path string, _ *rand.Rand) error {
		if err := os.Rename(path, path+".moved"); err != nil {
			return err
		}
		return os.Symlink(path+".moved", path)
	},
}

// TestDamageIsNeverAWrongAnswer damages every file of a published generation in
// every way. The answers are then those of before (the text index is rebuilt,
// the lease says nothing) or a refusal that says what to do; and the next build
// serves again.
func TestDamageIsNeverAWrongAnswer(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	want, err := everything(w)
	if err != nil {
		t.Fatal(err)
	}
	pristine := filepath.Join(t.TempDir(), "pristine")
	binding := w.cache.bindingDir(w.b)
	if err := os.CopyFS(pristine, os.DirFS(binding)); err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	var files []string
	filepath.WalkDir(pristine, func(p string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			rel, _ := filepath.Rel(pristine, p)
			files = append(files, rel)
		}
		return err
	})
	refused := 0
	for _, name := range files {
		for kind, damage := range damages {
			tries := 1
			if kind == "flip" && strings.HasSuffix(filepath.Dir(name), filepath.Base(w.current())) || name == "current" {
				tries = 12
			}
			for range tries {
				if err := damage(filepath.Join(binding, name), r); err != nil {
					t.Fatal(err)
				}
				got, err := everything(w)
				switch {
				case err == nil && got != want:
					t.Fatalf("%s of %s: another answer", kind, name)
				case err != nil:
					refused++
					wantCode(t, err, fault.IndexIntegrity, fault.IndexMissing, fault.StorageFailed)
				case bound(name):
					if info, _ := os.Stat(filepath.Join(pristine, name)); info.Size() > 0 && kind != "link" || filepath.Base(name) != leaseFile {
						t.Fatalf("%s of %s went unnoticed", kind, name)
					}
				}
				restore(t, binding, pristine)
			}
		}
	}
	if refused < 40 {
		t.Errorf("only %d refusals", refused)
	}
}

// bound says whether damage to a file must be refused.
func bound(name string) bool {
	base := filepath.Base(name)
	for _, f := range append([]string{"current", generationFile}, boundFiles...) {
		if base == f {
			return true
		}
	}
	return false
}

func restore(t *testing.T, binding, pristine string) {
	t.Helper()
	if err := os.RemoveAll(binding); err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(binding, os.DirFS(pristine)); err != nil {
		t.Fatal(err)
	}
}

// TestBuildAfterDamage: whatever is damaged, the next build serves.
func TestBuildAfterDamage(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	want, err := everything(w)
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{graphFile, sourcesFile, factsFile, generationFile, leaseFile, textFile, "current", filepath.Join(textFolder, "index_meta.json")} {
		for kind, damage := range damages {
			path := filepath.Join(w.current(), name)
			if name == "current" {
				path = w.cache.pointerPath(w.b)
			}
			if kind == "folder" && name == "current" {
				continue // a folder in the pointer's place is not ours to remove
			}
			if err := damage(path, r); err != nil {
				t.Fatal(err)
			}
			w.build(BuildOptions{})
			if got, err := everything(w); err != nil || got != want {
				t.Fatalf("%s of %s: %v after a build, same answer %v", kind, name, err, got == want)
			}
		}
	}
}

// TestDamageWhileOpen: a file that shrinks under a reader is an error, and does
// not take the process with it (case 63).
func TestDamageWhileOpen(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	for _, name := range boundFiles {
		if err := os.Truncate(filepath.Join(w.current(), name), 0); err != nil {
			t.Fatal(err)
		}
	}
	for id := range graph.NodeID(g.NodeCount()) {
		if _, err := g.Node(id); fault.CodeOf(err) != fault.IndexIntegrity {
			t.Fatalf("node %d: %v", id, err)
		}
	}
	if _, ok := g.Entry("README.md"); ok {
		t.Error("an entry out of nothing")
	}
	if err := g.Err(); fault.CodeOf(err) != fault.IndexIntegrity {
		t.Errorf("the damage is not kept: %v", err)
	}
	if _, err := g.Content("README.md"); fault.CodeOf(err) != fault.IndexIntegrity {
		t.Errorf("content: %v", err)
	}
}

// TestTextIndexIsRebuilt: a text index that is gone is made again from the graph,
// by the first question that needs it.
func TestTextIndexIsRebuilt(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	dir := w.current()
	if err := os.RemoveAll(filepath.Join(dir, textFolder)); err != nil {
		t.Fatal(err)
	}
	g := w.open()
	ids, err := g.TextCandidates(w.ctx, []string{"readme"}, 5)
	if err != nil || len(ids) == 0 {
		t.Fatal(ids, err)
	}
	if _, err := os.Stat(filepath.Join(dir, textFolder, "index_meta.json")); err != nil {
		t.Error(err)
	}
	if err := g.Verify(w.ctx); err != nil {
		t.Error(err)
	}
	checkModes(t, w.cache.Dir())
}

// TestConcurrentReaders shares one generation between goroutines; the race
// detector watches.
func TestConcurrentReaders(t *testing.T) {
	w := newWorld(t, sample())
	w.build(BuildOptions{})
	g := w.open()
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for j := range 3 * g.NodeCount() {
				id := graph.NodeID((i + j) % g.NodeCount())
				n, err := g.Node(id)
				if err != nil {
					t.Error(err)
					return
				}
				_, err1 := g.In(id)
				_, err2 := g.Mentions(n.Name)
				_, err3 := g.Content(n.Path)
				if _, ok := g.Entry(n.Path); !ok || err1 != nil || err2 != nil || err3 != nil {
					t.Error(ok, err1, err2, err3)
				}
			}
			if _, err := g.TextCandidates(w.ctx, []string{"readme"}, 3); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
