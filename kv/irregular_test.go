package kv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// soon gives what run gives, and fails the test when it hangs.
func soon(t *testing.T, what string, run func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- run() }()
	select {
	case err := <-done:
		return err
	case <-time.After(30 * time.Second):
		t.Fatalf("%s hangs", what)
		return nil
	}
}

// oddities are what can stand in place of a file.
var oddities = map[string]func(path string) error{
	"pipe":   func(path string) error { return unix.Mkfifo(path, 0o600) },
	"device": func(path string) error { return os.Symlink("/dev/zero", path) },
	"link":   func(path string) error { return os.Symlink("nowhere", path) },
	"folder": func(path string) error { return os.MkdirAll(filepath.Join(path, "full"), 0o700) },
}

// helps checks that a refusal's hint names what to remove, removes it and gives
// it back.
func helps(t *testing.T, err error) {
	t.Helper()
	wantCode(t, err, fault.IndexIntegrity, fault.StorageFailed)
	var f *fault.Error
	if !errors.As(err, &f) || !strings.HasPrefix(f.Hint, "remove \"") {
		t.Fatalf("%v: hint %q", err, f.Hint)
	}
	path, _, _ := strings.Cut(strings.TrimPrefix(f.Hint, "remove \""), "\"")
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

// TestNothingOddHangs puts a pipe, a device, a link and a folder in place of each
// file and folder of a binding. Asking answers or refuses at once, and says what
// to remove; with that done, or at once, the next build serves.
func TestNothingOddHangs(t *testing.T) {
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
	var names []string
	filepath.WalkDir(pristine, func(p string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(pristine, p); rel != "." && !strings.Contains(rel, textFolder) {
			names = append(names, rel)
		}
		return err
	})
	refused := 0
	for _, name := range names {
		for kind, plant := range oddities {
			if info, err := os.Lstat(filepath.Join(pristine, name)); err != nil || info.IsDir() && kind == "folder" {
				continue
			}
			what := kind + " for " + name
			file := filepath.Join(binding, name)
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if err := plant(file); err != nil {
				t.Fatal(err)
			}
			ask := func() (err error) {
				if w.b, err = w.cache.Bind(w.ctx, w.repo, ""); err != nil {
					return err
				}
				if _, err = w.cache.Status(w.b); err != nil {
					return err
				}
				_, err = everything(w)
				return err
			}
			err := soon(t, what, ask)
			if err != nil && fault.CodeOf(err) != fault.IndexMissing {
				refused++
				wantCode(t, err, fault.IndexIntegrity, fault.StorageFailed)
			}
			build := func() (err error) {
				if w.b, err = w.cache.Bind(w.ctx, w.repo, ""); err == nil {
					_, err = w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{})
				}
				return err
			}
			if err := soon(t, what, func() error { _, err := w.cache.Clear(w.ctx, w.b); return err }); err != nil {
				helps(t, err)
			}
			if err := soon(t, what, build); err != nil {
				helps(t, err)
				if err := soon(t, what, build); err != nil {
					t.Fatalf("%s: what the hint says did not help: %v", what, err)
				}
			}
			if err := soon(t, what, ask); err != nil {
				helps(t, err)
				if err := soon(t, what, ask); err != nil {
					t.Fatalf("%s: not mended: %v", what, err)
				}
			}
			restore(t, binding, pristine)
			if w.b, err = w.cache.Bind(w.ctx, w.repo, ""); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got, err := everything(w); err != nil || got != want {
		t.Errorf("restored: another answer, %v", err)
	}
	if refused < 20 {
		t.Errorf("only %d refusals", refused)
	}
}

// Asking and building, without clearing first, name what is in the way.
func TestHintsNameWhatIsInTheWay(t *testing.T) {
	for _, name := range []string{"lock", "current", "binding.json", "generations", "staging", leaseFile, generationFile, graphFile} {
		for kind, plant := range oddities {
			w := newWorld(t, sample())
			w.build(BuildOptions{})
			file := filepath.Join(w.cache.bindingDir(w.b), name)
			if name == leaseFile || name == generationFile || name == graphFile {
				file = filepath.Join(w.current(), name)
			}
			if info, err := os.Lstat(file); err != nil || info.IsDir() && kind == "folder" {
				continue
			}
			if err := os.RemoveAll(file); err != nil {
				t.Fatal(err)
			}
			if err := plant(file); err != nil {
				t.Fatal(err)
			}
			err := soon(t, kind+" for "+name, func() error {
				b, err := w.cache.Bind(w.ctx, w.repo, "")
				if err != nil {
					return err
				}
				if _, err := w.cache.Status(b); err != nil {
					return err
				}
				g, err := w.cache.Open(w.ctx, b)
				if err == nil {
					g.Close()
				}
				return err
			})
			if name == "binding.json" && kind != "folder" {
				if fault.CodeOf(err) != fault.IndexIntegrity { // it was replaced, and the index is another binding's
					t.Errorf("%s for %s: %v", kind, name, err)
				}
				continue
			}
			if name == "staging" || name == "generations" { // what a build needs
				_, err = w.cache.Build(w.ctx, w.b, w.repo, BuildOptions{})
			}
			var f *fault.Error
			if !errors.As(err, &f) || !strings.Contains(f.Hint, "remove \""+file+"\"") {
				t.Errorf("%s for %s: %v, hint %v", kind, name, err, f)
			}
		}
	}
}
