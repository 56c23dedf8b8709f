package resolve_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// TestGold resolves the checkouts below $GOLD_REPOS and writes their edges in
// gold form below $GOLD_OUT. It is how a rule is tried while it is written;
// `make gold` does the same through the command line and scores it.
func TestGold(t *testing.T) {
	root := os.Getenv("GOLD_REPOS")
	if root == "" {
		t.Skip("GOLD_REPOS is not set")
	}
	out := os.Getenv("GOLD_OUT")
	if out == "" {
		out = t.TempDir()
	}
	for _, name := range []string{"fzf", "restic", "httpx", "rich", "rtk", "typeorm"} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(root, name)
			if _, err := os.Stat(dir); err != nil {
				t.Skip(err)
			}
			begin := time.Now()
			in := readTree(t, dir)
			extracted, files := time.Now(), len(in.Files)
			g, err := resolve.Resolve(context.Background(), in)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%d files, extracted in %v, resolved in %v: %d nodes, %d edges, %+v", files, extracted.Sub(begin), time.Since(extracted), len(g.Nodes), len(g.Edges), g.Coverage)
			w, err := os.Create(filepath.Join(out, name+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer w.Close()
			rows := resolve.NewGoldRows(w)
			rows.Outer(g.Unresolved)
			for i := range g.Edges {
				e := &g.Edges[i]
				if err := rows.Write(e, &g.Nodes[e.From], &g.Nodes[e.To]); err != nil {
					t.Fatal(err)
				}
			}
			if err := rows.Flush(); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func readTree(t *testing.T, dir string) *graph.Input {
	t.Helper()
	list, err := exec.Command("git", "-C", dir, "ls-files", "-z").Output()
	if err != nil {
		t.Fatal(err)
	}
	in := &graph.Input{Paths: strings.Split(strings.TrimRight(string(list), "\x00"), "\x00")}
	slices.Sort(in.Paths)
	p := flat.NewParser()
	defer p.Close()
	for _, name := range in.Paths {
		language := extract.Language(name)
		if language == "" {
			continue
		}
		full := filepath.Join(dir, name)
		if info, err := os.Lstat(full); err != nil || !info.Mode().IsRegular() {
			continue
		}
		src, err := os.ReadFile(full)
		if err != nil || !utf8.Valid(src) || len(src) > 2<<20 {
			continue
		}
		if resolve.ConfigFile(name) {
			in.Config = append(in.Config, graph.ConfigFile{Path: name, Bytes: src})
		}
		f := extract.File(p, name, language, src)
		if f.Status == facts.Failed {
			t.Logf("%s: %s", name, f.Failure)
		}
		in.Files = append(in.Files, f)
	}
	return in
}
