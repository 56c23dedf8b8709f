package pinned_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/search/pinned"
	"github.com/exhibit-dev/exhibit/snapshot"
)

var shop = map[string]string{
	"README.md":           "# Shop\n\nSome words.\n\n## Install\n",
	"docs/guide.md":       "# Guide\n",
	"logo.png":            "\x89PNG\r\n\x1a\n\x00\x00",
	"go.mod":              "module example.org/shop\n\ngo 1.26\n",
	"pkg/config.go":       "package pkg\n\n// ParseConfig reads.\nfunc ParseConfig(name string) error {\n\treturn helper(name)\n}\n\nfunc helper(s string) error {\n\treturn nil\n}\n",
	"pkg/config_test.go":  "package pkg\n\nimport \"testing\"\n\nfunc TestParseConfig(t *testing.T) {\n\tif ParseConfig(\"x\") != nil {\n\t\tt.Fatal()\n\t}\n}\n",
	"pkg/run.go":          "package pkg\n\nfunc Run() {\n\t_ = ParseConfig(\"a\")\n\t_ = ParseConfig(\"b\")\n}\n",
	"lib/mod.py":          "class Client:\n    def __init__(self):\n        self.n = prepare()\n\n    def get(self, url):\n        return url\n\n\ndef prepare():\n    return 1\n\n\ndef main():\n    c = Client()\n    return c\n",
	"lib/test_mod.py":     "from lib.mod import main\n\n\ndef test_main():\n    assert main()\n",
	"web/util.ts":         "export function double(n: number): number { return n * 2; }\n",
	"web/app.ts":          "import { double } from './util';\n\nexport function run(): number {\n  return double(1) + double(2);\n}\n",
	"web/app.test.ts":     "import { run } from './app';\n\ntest('runs', () => { run(); });\n",
	"lib/broken.py":       "def ok():\n    return 1\n\ndef broken(:\n    pass\n",
	"lib/__init__.py":     "",
	"vendor_free/note.md": "# Note\n",
}

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

// open builds a generation of a fresh repository and pins it.
func open(t *testing.T, files map[string]string) (search.Reader, string) {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q", "-b", "main")
	for name, content := range files {
		p := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(p, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "-m", "one")
	cache, err := kv.OpenCache(filepath.Join(t.TempDir(), "cache"))
	if err != nil {
		t.Fatal(err)
	}
	repo, err := snapshot.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	ctx := context.Background()
	b, err := cache.Bind(ctx, repo, "shop")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cache.Build(ctx, b, repo, kv.BuildOptions{}); err != nil {
		t.Fatal(err)
	}
	g, err := cache.Open(ctx, b)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { g.Close() })
	return pinned.Reader(g), dir
}

func ask(t *testing.T, r search.Reader, req search.Request) *search.Answer {
	t.Helper()
	a, err := search.Run(context.Background(), r, req)
	if err != nil {
		t.Fatalf("%+v: %v", req, err)
	}
	return a
}

func TestIdentityAndCoverage(t *testing.T) {
	r, dir := open(t, shop)
	a := ask(t, r, search.Request{Kind: search.KindMap})
	if a.Commit != git(t, dir, "rev-parse", "HEAD") || a.Tree != git(t, dir, "rev-parse", "HEAD^{tree}") || a.Scope != "shop" || a.ObjectFormat != "sha1" ||
		a.Source != "commit" || a.Dirty || len(a.Fingerprint) != 64 || len(a.ContentFingerprint) != 64 {
		t.Errorf("identity: %+v", a)
	}
	if a.Coverage.Eligible == 0 || a.Coverage.Parsed == 0 || a.Coverage.Skipped["binary_file"]+a.Coverage.Skipped["unsupported_content"] == 0 {
		t.Errorf("coverage: %+v", a.Coverage)
	}
	var dirs []string
	for _, it := range a.Items {
		dirs = append(dirs, it.Node.Path)
	}
	if !slices.Contains(dirs, ".") || !slices.Contains(dirs, "docs") {
		t.Errorf("directories: %v", dirs)
	}
}

func TestSkeletonAndSymbolsOfText(t *testing.T) {
	r, dir := open(t, shop)
	a := ask(t, r, search.Request{Kind: search.KindMap, Level: search.LevelSkeleton, PathPrefix: "README.md"})
	if len(a.Items) != 1 || !slices.Equal(a.Items[0].Children, []string{"1: # Shop", "5: ## Install"}) {
		t.Errorf("skeleton: %+v", a.Items)
	}
	a = ask(t, r, search.Request{Kind: search.KindSymbols, Query: "docs/guide.md"})
	if len(a.Items) != 1 || a.Items[0].Tier != "qualified" || a.Items[0].Node.Blob != git(t, dir, "rev-parse", "HEAD:docs/guide.md") || len(a.Items[0].Node.FileSHA256) != 64 {
		t.Errorf("symbols: %+v", a.Items)
	}
	if a = ask(t, r, search.Request{Kind: search.KindSymbols, Query: "the guide of docs"}); len(a.Items) == 0 || a.Items[0].Node.Path != "docs/guide.md" {
		t.Errorf("symbols by text: %+v", a.Items)
	}
	if a = ask(t, r, search.Request{Kind: search.KindSymbols, Query: "zyzzyva"}); len(a.Items) != 0 || a.Mentions == nil {
		t.Errorf("no match: %+v", a)
	}
}

// names gives the qualified names of what was found, in order.
func names(a *search.Answer) string {
	var out []string
	for _, it := range a.Items {
		out = append(out, it.Node.Qualified)
	}
	return strings.Join(out, " ")
}

func TestRelationshipsOfRealCode(t *testing.T) {
	r, _ := open(t, shop)
	for _, c := range []struct {
		resolver string
		req      search.Request
		want     string
	}{
		{"go", search.Request{Kind: search.KindCallers, Target: "ParseConfig"}, "TestParseConfig Run Run"},
		{"go", search.Request{Kind: search.KindCallers, Target: "pkg.ParseConfig"}, "TestParseConfig Run Run"},
		{"go", search.Request{Kind: search.KindDependency, Target: "Run"}, "ParseConfig ParseConfig helper"},
		{"go", search.Request{Kind: search.KindRelatedTests, Target: "helper"}, "TestParseConfig"},
		{"python", search.Request{Kind: search.KindCallers, Target: "Client.__init__"}, "main"},
		{"python", search.Request{Kind: search.KindRelatedTests, Target: "lib/mod.py::main"}, "test_main"},
		{"ecma", search.Request{Kind: search.KindCallers, Target: "double"}, "run run"},
		{"ecma", search.Request{Kind: search.KindRelatedTests, Target: "double"}, "web/app.test.ts"},
	} {
		if resolve.Builds()[c.resolver] == 0 {
			t.Logf("there is no resolver %s: %s %s not asked", c.resolver, c.req.Kind, c.req.Target)
			continue
		}
		if got := names(ask(t, r, c.req)); got != c.want {
			t.Errorf("%s %s: %q, want %q", c.req.Kind, c.req.Target, got, c.want)
		}
	}
}

// Two builds, in two folders and caches, give the same answers but for what is local.
func TestSameBytesFromTwoBuilds(t *testing.T) {
	one, _ := open(t, shop)
	two, _ := open(t, shop)
	for _, req := range []search.Request{
		{Kind: search.KindMap}, {Kind: search.KindMap, Level: search.LevelSkeleton}, {Kind: search.KindSymbols, Query: "config guide shop"},
		{Kind: search.KindImpact, Target: "ParseConfig"}, {Kind: search.KindSymbol, Target: "main"}, {Kind: search.KindRelatedTests, Paths: []string{"pkg/config.go", "lib/mod.py"}},
	} {
		a, b := ask(t, one, req), ask(t, two, req)
		if a.ContentFingerprint != b.ContentFingerprint {
			t.Fatal("two builds of the same content have two fingerprints")
		}
		for _, x := range []*search.Answer{a, b} {
			x.Fingerprint = "" // holds the binding, which is local
		}
		x, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		y, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(x, y) {
			t.Errorf("%s: two answers\n%s\n%s", req.Kind, x, y)
		}
	}
}
