package marker

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// Language is what a fixture is run with.
type Language struct {
	// Comment introduces a marker: "//@" or "#@".
	Comment string
	// Name gives the registry name of a file's language, or "" for a file that
	// is not source: such a file becomes configuration.
	Name        func(path string) string
	Extract     func(p *flat.Parser, path, language string, src []byte) (*facts.File, error)
	Resolve     func(ctx context.Context, in *graph.Input) (graph.Part, error)
	SourceRoots []string
}

// Run checks every txtar file of a folder in a subtest of its own.
func Run(t *testing.T, dir string, l Language) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "*.txtar"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no fixtures in %s (%v)", dir, err)
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			problems, err := Check(archive, l)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range problems {
				t.Error(p)
			}
		})
	}
}

// Check runs one fixture and gives what is not as its markers say, in the order
// of files and lines. A fixture without any marker is an error.
func Check(a *txtar.Archive, l Language) ([]string, error) {
	in := &graph.Input{SourceRoots: l.SourceRoots}
	parser := flat.NewParser()
	defer parser.Close()
	sort.Slice(a.Files, func(i, j int) bool { return a.Files[i].Name < a.Files[j].Name })
	var sources [][]byte
	for _, f := range a.Files {
		in.Paths = append(in.Paths, f.Name)
		language := l.Name(f.Name)
		if language == "" {
			in.Config = append(in.Config, graph.ConfigFile{Path: f.Name, Bytes: f.Data})
			continue
		}
		file, err := l.Extract(parser, f.Name, language, f.Data)
		if err != nil {
			return nil, fmt.Errorf("extract %s: %w", f.Name, err)
		}
		in.Files = append(in.Files, file)
		sources = append(sources, f.Data)
	}
	part, err := l.Resolve(context.Background(), in)
	if err != nil {
		return nil, fmt.Errorf("resolve: %w", err)
	}
	problems := form(in, part)
	if len(problems) > 0 {
		return problems, nil
	}
	clauses := 0
	for i, src := range sources {
		c := checker{in: in, part: part, file: i, source: src, lines: lineStarts(src)}
		marked, err := parse(src, l.Comment)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", in.Files[i].Path, err)
		}
		for _, m := range marked {
			clauses += len(m.clauses)
			c.line(m)
		}
		problems = append(problems, c.problems...)
	}
	if clauses == 0 {
		return nil, fmt.Errorf("no marker %s in any file", l.Comment)
	}
	return problems, nil
}

// form checks what every part must fulfil whatever the fixture is about.
func form(in *graph.Input, part graph.Part) []string {
	var problems []string
	if len(part) != len(in.Files) {
		return []string{fmt.Sprintf("verdicts for %d files, want %d", len(part), len(in.Files))}
	}
	for i, f := range in.Files {
		if len(part[i]) != len(f.Refs) {
			problems = append(problems, fmt.Sprintf("%s: %d verdicts for %d references", f.Path, len(part[i]), len(f.Refs)))
			continue
		}
		for j, v := range part[i] {
			bad := func(what string) {
				problems = append(problems, fmt.Sprintf("%s: reference %d %q: %s", f.Path, j, f.Text(f.Refs[j].Name), what))
			}
			switch v.Outcome {
			case graph.OutcomeResolved:
				if len(v.Targets) != 1 || v.Rule == "" {
					bad("resolved without one target and a rule")
				}
			case graph.OutcomeCandidate:
				if len(v.Targets) == 0 || v.Rule == "" {
					bad("candidate without target or rule")
				}
			case graph.OutcomeUnresolved, graph.OutcomeExternal:
				if len(v.Targets) != 0 || v.Reason == "" {
					bad("unresolved or external with a target or without a reason")
				}
			}
			for k, t := range v.Targets {
				if t.File < 0 || int(t.File) >= len(in.Files) || t.Def < facts.None || int(t.Def) >= len(in.Files[t.File].Defs) {
					bad("target out of range")
				} else if t.Def >= 0 && in.Files[t.File].Defs[t.Def].Kind == facts.KindLambda {
					bad("target is a lambda")
				}
				if k > 0 && !less(v.Targets[k-1], t) {
					bad("targets not sorted or not unique")
				}
			}
		}
	}
	return problems
}

func less(a, b graph.DefRef) bool {
	if a.File != b.File {
		return a.File < b.File
	}
	return a.Def < b.Def
}

func lineStarts(src []byte) []uint32 {
	starts := []uint32{0}
	for i, c := range src {
		if c == '\n' {
			starts = append(starts, uint32(i+1))
		}
	}
	return starts
}

// clause is one expectation.
type clause struct {
	words []string
	text  string
}

// marked is a line with its clauses. Number and at are 1-based: the line spoken
// of, and the line where the marker stands.
type marked struct {
	number, at int
	clauses    []*clause
}

func parse(src []byte, comment string) ([]marked, error) {
	var out []marked
	var pending []*clause
	for i, line := range bytes.Split(src, []byte("\n")) {
		text, found := string(line), false
		k := strings.LastIndex(text, comment)
		var own []*clause
		if k >= 0 {
			found = true
			for _, part := range strings.Split(text[k+len(comment):], ";") {
				words := strings.Fields(strings.ReplaceAll(part, `"`, ""))
				if len(words) == 0 {
					return nil, fmt.Errorf("line %d: empty marker clause", i+1)
				}
				if !verbs[words[0]] {
					return nil, fmt.Errorf("line %d: unknown marker verb %q", i+1, words[0])
				}
				own = append(own, &clause{words: words, text: strings.TrimSpace(part)})
			}
		}
		if found && strings.TrimSpace(text[:k]) == "" {
			pending = append(pending, own...)
			continue
		}
		if own = append(pending, own...); len(own) > 0 {
			out = append(out, marked{number: i + 1, at: i + 1, clauses: own})
		}
		pending = nil
	}
	if len(pending) > 0 {
		return nil, fmt.Errorf("marker at the end speaks of no line")
	}
	return out, nil
}

var verbs = map[string]bool{
	"calls": true, "imports": true, "inherits": true, "references": true,
	"external": true, "unresolved": true, "none": true, "def": true, "status": true,
}
