package search

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

var update = flag.Bool("update", false, "write the answers into testdata/search")

// TestAnswers asks the questions of each archive of testdata/search: a graph,
// then "ask NAME" files with a question a line, then "want" with the answers.
// The same questions over shuffled edges must give the same bytes.
func TestAnswers(t *testing.T) {
	files, err := filepath.Glob("../testdata/search/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no archives: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			ar, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			m, err := parseGraph(section(ar, "graph"))
			if err != nil {
				t.Fatal(err)
			}
			var got strings.Builder
			for _, line := range strings.Split(strings.TrimSpace(section(ar, "ask")), "\n") {
				req := parseRequest(t, line)
				fmt.Fprintf(&got, "? %s\n", line)
				a, err := Run(context.Background(), m, req)
				got.WriteString(render(m, a, err))
				for seed := range uint64(5) {
					b, err2 := Run(context.Background(), m.shuffled(seed+1), req)
					if fmt.Sprint(err) != fmt.Sprint(err2) {
						t.Fatalf("%s: %v, and over shuffled edges %v", line, err, err2)
					}
					if err == nil && !bytes.Equal(body(t, a), body(t, b)) {
						t.Errorf("%s: other bytes over shuffled edges", line)
					}
				}
			}
			if *update {
				for i := range ar.Files {
					if ar.Files[i].Name == "want" {
						ar.Files = slices.Delete(ar.Files, i, i+1)
						break
					}
				}
				ar.Files = append(ar.Files, txtar.File{Name: "want", Data: []byte(got.String())})
				if err := os.WriteFile(file, txtar.Format(ar), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if want := section(ar, "want"); got.String() != want {
				t.Errorf("%s: the answers differ (go test ./search -run TestAnswers -update writes them)\n--- got\n%s--- want\n%s", file, got.String(), want)
			}
		})
	}
}

func section(ar *txtar.Archive, name string) string {
	for _, f := range ar.Files {
		if f.Name == name {
			return string(f.Data)
		}
	}
	return ""
}

func body(t *testing.T, a *Answer) []byte {
	t.Helper()
	b, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// parseRequest reads KIND name=value ...; values have no spaces, which + writes.
func parseRequest(t *testing.T, line string) Request {
	t.Helper()
	f := strings.Fields(line)
	r := Request{Kind: f[0]}
	for _, kv := range f[1:] {
		k, v, _ := strings.Cut(kv, "=")
		v = strings.ReplaceAll(v, "+", " ")
		n, _ := strconv.Atoi(v)
		switch k {
		case "target":
			r.Target = v
		case "query":
			r.Query = v
		case "prefix":
			r.PathPrefix = v
		case "language":
			r.Language = v
		case "kind":
			r.NodeKind = v
		case "level":
			r.Level = v
		case "path":
			r.Paths = append(r.Paths, v)
		case "depth":
			r.Depth = n
		case "budget":
			r.NodeBudget = n
		case "limit":
			r.Limit = n
		case "bytes":
			r.MaxBytes = n
		default:
			t.Fatalf("unknown field %q", k)
		}
	}
	return r
}

// render writes an answer for a reader of the golden files.
func render(m *memory, a *Answer, err error) string {
	var b strings.Builder
	if err != nil {
		fmt.Fprintf(&b, "refused %s: %v\n", fault.CodeOf(err), err)
		var f *fault.Error
		if errors.As(err, &f) {
			fmt.Fprintf(&b, "  field %q, hint: %s\n", f.Field, f.Hint)
		}
		return b.String()
	}
	name := map[string]string{}
	for i := range m.g.Nodes {
		n := &m.g.Nodes[i]
		s := n.Path + "::" + n.Qualified
		if n.Kind == "file" || n.Kind == "package" {
			s = n.Kind + ":" + n.Qualified
		}
		name[string(symbolID(n))] = s
	}
	fmt.Fprintf(&b, "%s", a.Status)
	if !a.GenerationComplete {
		b.WriteString(", generation incomplete")
	}
	b.WriteString("\n")
	for _, s := range a.Seeds {
		fmt.Fprintf(&b, "  seed %s\n", name[s.ID])
	}
	for _, s := range a.Ambiguous {
		fmt.Fprintf(&b, "  ambiguous %s\n", name[s.ID])
	}
	for _, it := range a.Items {
		b.WriteString("  " + renderItem(name, &it) + "\n")
	}
	if a.Mentions != nil {
		fmt.Fprintf(&b, "  unresolved mentions of %q: %d", a.Mentions.Name, a.Mentions.Count)
		for _, s := range a.Mentions.Sites {
			fmt.Fprintf(&b, " %s:%d", s.Path, s.Line)
		}
		b.WriteString("\n")
	}
	for _, c := range a.Cuts {
		fmt.Fprintf(&b, "  cut by %s %d: %d left out\n", c.Bound, c.Limit, c.Dropped)
	}
	for _, l := range a.Limitations {
		fmt.Fprintf(&b, "  limitation %s\n", l)
	}
	return b.String()
}

func renderItem(name map[string]string, it *Item) string {
	if it.From == nil {
		s := it.Node.Kind + " " + it.Node.Path
		if it.Node.Qualified != it.Node.Path {
			s += "::" + it.Node.Qualified
		}
		if it.Tier != "" {
			s = it.Tier + ": " + s
		}
		if it.Files > 0 {
			s += fmt.Sprintf(" files=%d tests=%d %v", it.Files, it.TestFiles, it.Languages)
		}
		for _, c := range it.Children {
			s += "\n    | " + c
		}
		return s
	}
	if it.Relation == "" {
		return fmt.Sprintf("%s: %s for %s", it.Reason, name[it.From.ID], name[it.To.ID])
	}
	s := fmt.Sprintf("hop %d: %s %s %s at %s:%d", it.Hop, name[it.From.ID], it.Relation, name[it.To.ID], it.CallSite.Path, it.CallSite.Line)
	if it.Node.ID != it.From.ID && it.Node.ID != it.To.ID {
		s += ", in " + name[it.Node.ID]
	}
	if it.Strength != "resolved_static" {
		s += fmt.Sprintf(", %s of %d", it.Strength, it.Candidates)
	}
	if it.Granularity != "" {
		s += ", granularity " + it.Granularity
	}
	var way []string
	for _, id := range it.WitnessPath {
		way = append(way, name[id])
	}
	for _, st := range it.Steps {
		s += fmt.Sprintf("\n    step to %s: %s at %s:%d, %s", name[st.Node.ID], st.Relation, st.CallSite.Path, st.CallSite.Line, st.Strength)
	}
	return s + "\n    " + it.Reason + " " + strings.Join(way, " > ")
}
