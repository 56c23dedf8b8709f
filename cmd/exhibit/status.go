package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/snapshot"
)

// statusReport is what `status` prints.
type statusReport struct {
	kv.Status
	Freshness string           `json:"freshness"` // fresh, stale, unknown: whether HEAD is the commit that serves
	Head      string           `json:"head"`
	Binding   kv.Binding       `json:"binding"`
	Serving   *kv.Meta         `json:"serving,omitempty"`
	Languages []languageReport `json:"languages"`
	Questions []string         `json:"questions"`
	Isolation string           `json:"isolation"` // none: parsing runs in this process
}

type languageReport struct {
	Name   string `json:"name"`
	Parser string `json:"parser"`
}

func statusCommand() *cli.Command {
	return &cli.Command{
		Name:         "status",
		Usage:        "say what is indexed, and whether it is still so",
		Description:  example("", "exhibit status", "exhibit status --json | jq .serving.content_fingerprint"),
		Flags:        []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag()},
		OnUsageError: usageError,
		Action:       runStatus,
	}
}

func runStatus(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	w, err := openWorkspace(c.Context, c)
	if err != nil {
		return err
	}
	defer w.Close()
	r := statusReport{Freshness: "unknown", Binding: w.binding, Isolation: "none", Questions: questions}
	for _, l := range extract.Languages() {
		r.Languages = append(r.Languages, languageReport{l.Name, extract.Build(l.Name)})
	}
	head, err := w.repo.Resolve(c.Context, "HEAD")
	if err != nil {
		return err
	}
	r.Head = head.Commit
	if r.Status, err = w.cache.Status(w.binding); err != nil {
		return err
	}
	if r.Current != nil {
		g, err := w.cache.Open(c.Context, w.binding)
		if err != nil {
			return err
		}
		defer g.Close()
		meta := g.Meta()
		r.Serving = &meta
		r.Freshness = freshness(meta, head)
		if r.Freshness == "stale" && r.Previous != nil && r.Previous.Commit == head.Commit && !r.Previous.Dirty {
			r.Freshness = "fresh" // the other generation that is kept serves HEAD
		}
		if r.Freshness == "stale" && r.State == "ready" {
			r.State = "stale"
		}
	}
	return output(c, r, func(out io.Writer) { printStatus(out, r) })
}

// freshness compares the serving generation with HEAD. A worktree's bytes are
// not read for it, so theirs is unknown.
func freshness(m kv.Meta, head snapshot.Revision) string {
	switch {
	case m.Commit != head.Commit:
		return "stale"
	case m.Source == snapshot.FromWorktree:
		return "unknown"
	}
	return "fresh"
}

func printStatus(out io.Writer, r statusReport) {
	fmt.Fprintf(out, "state         %s (%s)\nscope         %s\nhead          %s\n", r.State, r.Freshness, safe(r.Binding.Scope), r.Head)
	if r.Serving != nil {
		printMeta(out, *r.Serving)
	} else {
		fmt.Fprintln(out, "no generation is published: run `exhibit index`")
	}
	if r.LastBuild != nil && !r.LastBuild.OK {
		fmt.Fprintf(out, "last build    failed: %s\n", safe(r.LastBuild.Message))
	}
	if r.Previous != nil {
		fmt.Fprintf(out, "also kept     %s (%s)\n", r.Previous.Commit, r.Previous.Source)
	}
	fmt.Fprintf(out, "isolation     %s\n", r.Isolation)
}

// printMeta prints a generation for people.
func printMeta(out io.Writer, m kv.Meta) {
	fmt.Fprintf(out, "commit        %s\nsource        %s%s\ncontent       %s\n", m.Commit, m.Source, dirtyWord(m.Dirty), m.ContentFingerprint)
	fmt.Fprintf(out, "files         %d of %d indexed: %s\n", m.Files.Included, m.Files.Total, counts(m.Files.ByLanguage))
	if len(m.Files.ByReason) > 0 {
		fmt.Fprintf(out, "left out      %s\n", counts(m.Files.ByReason))
	}
	fmt.Fprintf(out, "parsed        %d whole, %d partly, %d failed\n", m.Files.Parsed, m.Files.Partial, m.Files.Failed)
	fmt.Fprintf(out, "symbols       %d\n", m.Nodes)
	strengths := map[string]int{}
	for kind, by := range m.EdgesByKind {
		for strength, n := range by {
			if kind != "contains" {
				strengths[strength] += n
			}
		}
	}
	fmt.Fprintf(out, "edges         %s\n", counts(strengths))
	fmt.Fprintf(out, "references    %d resolved, %d candidate, %d unresolved, %d external\n", m.References.Resolved, m.References.Candidate, m.References.Unresolved, m.References.External)
	fmt.Fprintf(out, "size          %.1f MB\n", float64(m.Bytes)/1e6)
}

func dirtyWord(dirty bool) string {
	if dirty {
		return ", differs from the commit"
	}
	return ""
}

// counts lists "12 go, 3 text", the largest first.
func counts(m map[string]int) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(a, b string) int {
		if m[a] != m[b] {
			return m[b] - m[a]
		}
		return strings.Compare(a, b)
	})
	for i, k := range keys {
		keys[i] = fmt.Sprintf("%d %s", m[k], k)
	}
	return strings.Join(keys, ", ")
}

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:         "version",
		Usage:        "print the release and what it is built from",
		Description:  example("", "exhibit version --json"),
		Flags:        []cli.Flag{jsonFlag()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exactly(c); err != nil {
				return err
			}
			v := struct {
				Version string `json:"version"`
				Go      string `json:"go"`
				System  string `json:"system"`
			}{release, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH}
			return output(c, v, func(out io.Writer) { fmt.Fprintf(out, "exhibit %s (%s, %s)\n", v.Version, v.Go, v.System) })
		},
	}
}
