package kv

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// TestMain lets the test binary be a builder or a reader of its own, so that
// one can be killed.
func TestMain(m *testing.M) {
	switch os.Getenv("KV_TEST_CHILD") {
	case "":
		os.Exit(m.Run())
	case "build":
		os.Exit(child(childBuild))
	case "read":
		os.Exit(child(childRead))
	case "hold":
		os.Exit(child(childHold))
	}
	os.Exit(2)
}

func child(run func(*Cache, *snapshot.Repository, Binding) error) int {
	err := func() error {
		c, err := OpenCache(os.Getenv("KV_TEST_CACHE"))
		if err != nil {
			return err
		}
		repo, err := snapshot.Open(os.Getenv("KV_TEST_REPO"))
		if err != nil {
			return err
		}
		defer repo.Close()
		b, err := c.Bind(context.Background(), repo, "")
		if err != nil {
			return err
		}
		return run(c, repo, b)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, fault.CodeOf(err), err)
		return 1
	}
	return 0
}

func childBuild(c *Cache, repo *snapshot.Repository, b Binding) error {
	_, err := c.Build(context.Background(), b, repo, BuildOptions{Force: os.Getenv("KV_TEST_FORCE") != ""})
	return err
}

// childRead reads whole generations until its input ends. What it finds must be
// one of the commits that were indexed, complete.
func childRead(c *Cache, _ *snapshot.Repository, b Binding) error {
	for stop := time.Now().Add(20 * time.Second); time.Now().Before(stop); {
		g, err := c.Open(context.Background(), b)
		if err != nil {
			return err
		}
		err = g.Verify(context.Background())
		if err == nil {
			err = checkVersion(g)
		}
		g.Close()
		if err != nil {
			return err
		}
		if _, err := os.Stat(os.Getenv("KV_TEST_STOP")); err == nil {
			return nil
		}
	}
	return nil
}

// checkVersion checks that the files of a versioned repository are of one version.
func checkVersion(g *Generation) error {
	first, err := g.Content("doc/0.md")
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(first), "\n")
	version := strings.TrimPrefix(line, "# version ")
	var failed error
	g.Entries("doc/", func(e snapshot.Entry) bool {
		var b []byte
		if b, failed = g.Content(e.Path); failed == nil && !strings.HasPrefix(string(b), "# version "+version+"\n") {
			failed = fmt.Errorf("%s is not of version %s", e.Path, version)
		}
		return failed == nil
	})
	return failed
}

// childHold opens the current generation, says so, and waits to be killed.
func childHold(c *Cache, _ *snapshot.Repository, b Binding) error {
	if _, err := c.Open(context.Background(), b); err != nil {
		return err
	}
	fmt.Println("held")
	time.Sleep(time.Minute)
	return nil
}

// childProcess starts the test binary in a role.
func childProcess(t *testing.T, role, cache, repo string, env ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe)
	cmd.Env = append(os.Environ(), append(env, "KV_TEST_CHILD="+role, "KV_TEST_CACHE="+cache, "KV_TEST_REPO="+repo)...)
	cmd.Stderr = os.Stderr
	return cmd
}

// git runs git in dir.
func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false", "-c", "core.autocrlf=false"}, args...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_DATE=2024-01-01T00:00:00Z", "GIT_COMMITTER_DATE=2024-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}

func writeFiles(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// newRepo makes a repository with one commit.
func newRepo(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	writeFiles(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "one")
	return dir
}

func commitFiles(t *testing.T, dir string, files map[string]string) string {
	t.Helper()
	writeFiles(t, dir, files)
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "next")
	return git(t, dir, "rev-parse", "HEAD")
}

// sample holds a file of each language, and contents that must round-trip.
func sample() map[string]string {
	return map[string]string{
		"README.md":        "# Title\n\nSome words.\n\n## Second heading\n",
		"crlf.md":          "# One\r\ntwo\r\n",
		"empty.md":         "",
		"ünïcode/naïve.md": "# Grüße\n",
		"noeol.txt":        "no newline at the end",
		"twin.txt":         "no newline at the end",
		"go.mod":           "module example.org/m\n\ngo 1.26\n",
		"pkg/a.go":         "package pkg\n\n// ParseConfig reads.\nfunc ParseConfig(name string) error { return helper(name) }\n\nfunc helper(s string) error { return unknown(s) }\n",
		"pkg/b.go":         "package pkg\n\nfunc Run() { _ = ParseConfig(\"x\") }\n",
		"lib/mod.py":       "import json\n\nclass Client:\n    def get(self, url):\n        return self.send(url)\n\n    def send(self, url):\n        return json.loads(url)\n\n\ndef main():\n    Client().get('x')\n",
		"web/app.ts":       "import { f } from './util';\n\nexport class App { run(): number { return f(1); } }\n",
		"web/util.ts":      "export function f(n: number): number { return n + 1; }\n",
		"broken.py":        "def ok():\n    return 1\n\ndef broken(:\n    pass\n",
		"image.png":        "\x89PNG\r\n\x1a\n\x00\x00",
	}
}

type world struct {
	t     *testing.T
	ctx   context.Context
	cache *Cache
	dir   string // of the repository
	repo  *snapshot.Repository
	b     Binding
}

func newWorld(t *testing.T, files map[string]string) *world {
	t.Helper()
	return openWorld(t, newRepo(t, files), filepath.Join(t.TempDir(), "cache"))
}

func openWorld(t *testing.T, dir, cache string) *world {
	t.Helper()
	w := &world{t: t, ctx: context.Background(), dir: dir}
	var err error
	if w.cache, err = OpenCache(cache); err != nil {
		t.Fatal(err)
	}
	if w.repo, err = snapshot.Open(dir); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { w.repo.Close() })
	if w.b, err = w.cache.Bind(w.ctx, w.repo, ""); err != nil {
		t.Fatal(err)
	}
	return w
}

func (w *world) build(o BuildOptions) Meta {
	w.t.Helper()
	m, err := w.cache.Build(w.ctx, w.b, w.repo, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (w *world) open() *Generation {
	w.t.Helper()
	g, err := w.cache.Open(w.ctx, w.b)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { g.Close() })
	return g
}

// current gives the folder of the current generation.
func (w *world) current() string {
	w.t.Helper()
	p, err := w.cache.readPointer(w.b)
	if err != nil || p.Current == nil {
		w.t.Fatal("nothing is published", err)
	}
	return w.cache.generationDir(w.b, p.Current)
}

func (w *world) generations() []string {
	w.t.Helper()
	entries, err := os.ReadDir(filepath.Join(w.cache.bindingDir(w.b), "generations"))
	if err != nil {
		w.t.Fatal(err)
	}
	var list []string
	for _, e := range entries {
		list = append(list, e.Name())
	}
	return list
}

// wantCode checks the code of a refusal.
func wantCode(t *testing.T, err error, codes ...fault.Code) {
	t.Helper()
	for _, c := range codes {
		if fault.CodeOf(err) == c {
			return
		}
	}
	t.Fatalf("got %q (%v), want %v", fault.CodeOf(err), err, codes)
}
