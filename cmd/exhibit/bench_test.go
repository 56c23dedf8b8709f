package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// The benchmarks measure whole processes: CPU seconds (user and system) and peak
// memory as the kernel accounts them, three runs each, the median quoted. What
// they are compared with runs in between, so that a noisy machine is noisy for
// both. They print and never judge. BENCH_PYTHON and BENCH_TYPESCRIPT name other
// corpora than the Python standard library and npm's own JavaScript.

const parseAloneEnv = "EXHIBIT_BENCH_PARSE"

func TestBenchIndex(t *testing.T) {
	if dir := os.Getenv(parseAloneEnv); dir != "" {
		parseAlone(t, dir)
		return
	}
	if os.Getenv("EXHIBIT_BENCH") == "" {
		t.Skip("EXHIBIT_BENCH is not set: run `make bench`")
	}
	exhibit := buildBinary(t)
	for _, corpus := range corpora(t) {
		t.Run(corpus.name, func(t *testing.T) { benchCorpus(t, exhibit, corpus) })
	}
}

type corpus struct{ name, dir, query string }

func benchCorpus(t *testing.T, exhibit string, c corpus) {
	repo := commitCopy(t, c.dir)
	cache := t.TempDir()
	run := func(args ...string) usageOf {
		cmd := exec.Command(exhibit, append(args, "--repo", repo, "--cache", cache)...)
		return measure(t, cmd)
	}
	var index, parse, query, version []usageOf
	for range 3 {
		if err := os.RemoveAll(cache); err != nil { // cold: no facts to reuse
			t.Fatal(err)
		}
		index = append(index, run("index"))
		parser := exec.Command(os.Args[0], "-test.run", "^TestBenchIndex$")
		parser.Env = append(os.Environ(), parseAloneEnv+"="+repo)
		parse = append(parse, measure(t, parser))
		version = append(version, measure(t, exec.Command(exhibit, "version")))
		query = append(query, run("query", "--question", "impact", "--target", c.query))
	}
	var meta struct {
		Files struct {
			Included    int   `json:"included"`
			SourceBytes int64 `json:"source_bytes"`
		} `json:"files"`
		Nodes int   `json:"nodes"`
		Edges int   `json:"edges"`
		Bytes int64 `json:"bytes"`
	}
	out, err := exec.Command(exhibit, "index", "--json", "--repo", repo, "--cache", cache).Output()
	if err == nil {
		err = json.Unmarshal(out, &meta)
	}
	if err != nil {
		t.Fatal(err)
	}
	i, p, q, v := median(index), median(parse), median(query), median(version)
	t.Logf("%s: %d files, %.1f MB of source, %d symbols, %d edges, %.1f MB on disk", c.name, meta.Files.Included, float64(meta.Files.SourceBytes)/1e6, meta.Nodes, meta.Edges, float64(meta.Bytes)/1e6)
	t.Logf("cold index            %6.2f CPU s  %5.0f MB peak  %6.2f s", i.cpu.Seconds(), i.peak, i.wall.Seconds())
	t.Logf("parse and flatten     %6.2f CPU s  %5.0f MB peak", p.cpu.Seconds(), p.peak)
	t.Logf("ratio                 %6.2f", i.cpu.Seconds()/p.cpu.Seconds())
	t.Logf("impact query, cold    %6.3f CPU s  %5.0f MB peak (of which the binary's own start %.3f)", q.cpu.Seconds(), q.peak, v.cpu.Seconds())
}

// parseAlone parses and flattens every code file of a folder and does nothing else.
func parseAlone(t *testing.T, dir string) {
	var files []string
	_ = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.IsDir() && d.Name() == ".git" {
			return filepath.SkipDir
		}
		if err == nil && d.Type().IsRegular() {
			if s := extract.Find(extract.Language(path)); s != nil && s.Code() {
				files = append(files, path)
			}
		}
		return nil
	})
	work := make(chan string)
	done := make(chan bool)
	for range runtime.GOMAXPROCS(0) {
		go func() {
			p := flat.NewParser()
			defer p.Close()
			for path := range work {
				if src, err := os.ReadFile(path); err == nil && len(src) <= 2<<20 {
					_, _ = extract.Parse(p, extract.Language(path), src)
				}
			}
			done <- true
		}()
	}
	for _, f := range files {
		work <- f
	}
	close(work)
	for range runtime.GOMAXPROCS(0) {
		<-done
	}
}

type usageOf struct {
	cpu, wall time.Duration
	peak      float64 // MB
}

func measure(t *testing.T, cmd *exec.Cmd) usageOf {
	t.Helper()
	begin := time.Now()
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, out)
	}
	u := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	return usageOf{cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), time.Since(begin), float64(u.Maxrss) / 1024}
}

func median(runs []usageOf) usageOf {
	best := runs[0]
	for _, r := range runs {
		lower := 0
		for _, o := range runs {
			if o.cpu < r.cpu {
				lower++
			}
		}
		if lower == len(runs)/2 {
			best = r
		}
	}
	for _, r := range runs {
		best.peak = max(best.peak, r.peak)
	}
	return best
}

func buildBinary(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "exhibit")
	if out, err := exec.Command("go", "build", "-o", path, ".").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func corpora(t *testing.T) []corpus {
	t.Helper()
	var list []corpus
	python := os.Getenv("BENCH_PYTHON")
	if python == "" {
		out, _ := exec.Command("python3", "-c", "import sysconfig; print(sysconfig.get_path('stdlib'))").Output()
		python = strings.TrimSpace(string(out))
	}
	script := os.Getenv("BENCH_TYPESCRIPT")
	if script == "" {
		out, _ := exec.Command("npm", "root", "-g").Output()
		script = strings.TrimSpace(string(out))
	}
	for _, c := range []corpus{{"python", python, "json.loads"}, {"typescript", script, "parse"}} {
		if info, err := os.Stat(c.dir); c.dir == "" || err != nil || !info.IsDir() {
			t.Logf("skipped: no %s corpus", c.name)
			continue
		}
		list = append(list, c)
	}
	return list
}

// commitCopy makes a repository of a folder's files, in one commit.
func commitCopy(t *testing.T, dir string) string {
	t.Helper()
	repo := filepath.Join(t.TempDir(), "corpus")
	script := fmt.Sprintf(`set -e
mkdir -p %[2]q && cd %[1]q
find . -name .git -prune -o -name site-packages -prune -o -type f -size -4096k \
  \( -name '*.py' -o -name '*.[jt]s' -o -name '*.[jt]sx' -o -name '*.[mc]js' -o -name '*.json' \) -print0 |
  tar --null -T - -cf - | tar -xf - -C %[2]q
cd %[2]q
find . -depth -name node_modules -type d -execdir mv {} modules \;
git init -q && git add -A -f . && git -c user.name=bench -c user.email=bench@example.org commit -q -m corpus && git repack -adq`, dir, repo)
	if out, err := exec.Command("bash", "-c", script).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return repo
}
