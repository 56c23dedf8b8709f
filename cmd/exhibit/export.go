package main

import (
	"bufio"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/resolve"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

func exportCommand() *cli.Command {
	return &cli.Command{
		Name:         "export",
		Usage:        "write the graph in a form for other tools",
		OnUsageError: usageError,
		Subcommands: []*cli.Command{{
			Name: "edges", Usage: "write every edge, one a line",
			Description: example("text: relation, strength, rule, from, path and name of the target, path:line:column of the site, separated by tabs.\n"+
				"json (also --json): every edge as one JSON object a line.\n"+
				"gold: the same for comparison with compiler-made gold, without what that has no rows for.",
				"exhibit export edges | awk -F'\\t' '$1 == \"calls\"'", "exhibit export edges --format gold > edges.jsonl"),
			Flags: []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag(), revFlag(), worktreeFlag(),
				&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORMAT`: text, json or gold"}},
			OnUsageError: usageError,
			Action:       runExportEdges,
		}},
	}
}

// edgeWriter takes edges with both their ends.
type edgeWriter interface {
	Write(e *graph.Edge, from, to *graph.Node) error
	Flush() error
}

func runExportEdges(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	var rows edgeWriter
	switch format := c.String("format"); {
	case format == "gold":
		rows = resolve.NewGoldRows(c.App.Writer)
	case format == "json" || format == "text" && c.Bool("json"):
		rows = resolve.NewEdgeRows(c.App.Writer)
	case format == "text":
		rows = textRows{bufio.NewWriter(c.App.Writer)}
	default:
		return usagef("there is no edge format %q", format).WithHint("text, json or gold")
	}
	w, err := openWorkspace(c.Context, c)
	if err != nil {
		return err
	}
	defer w.Close()
	g, err := w.open(c.Context, c)
	if err != nil {
		return err
	}
	defer g.Close()
	if gold, ok := rows.(*resolve.EdgeRows); ok {
		nameless, err := g.Mentions(facts.Nameless)
		if err != nil {
			return err
		}
		gold.Outer(nameless)
	}
	if err := writeEdges(rows, g.Generation); err != nil {
		return err
	}
	return rows.Flush()
}

func writeEdges(rows edgeWriter, g *kv.Generation) error {
	nodes := make([]graph.Node, g.NodeCount())
	for id := range nodes {
		var err error
		if nodes[id], err = g.Node(graph.NodeID(id)); err != nil {
			return err
		}
	}
	for id := range nodes {
		edges, err := g.Out(graph.NodeID(id))
		if err != nil {
			return err
		}
		for i := range edges {
			if err := rows.Write(&edges[i], &nodes[edges[i].From], &nodes[edges[i].To]); err != nil {
				return err
			}
		}
	}
	return nil
}

type textRows struct{ *bufio.Writer }

func (t textRows) Write(e *graph.Edge, from, to *graph.Node) error {
	_, err := fmt.Fprintf(t.Writer, "%s\t%s\t%s\t%s\t%s\t%s\t%s:%d:%d\n", e.Kind, e.Strength, e.Rule, safe(from.Qualified), safe(to.Path), safe(to.Qualified),
		safe(e.Site.Path), e.Site.Line, e.Site.Col+1)
	return err
}

func clearCommand() *cli.Command {
	return &cli.Command{
		Name:         "clear",
		Usage:        "remove this worktree's generations from the cache",
		Description:  example("The repository is not touched. What a reader holds stays until it is done.", "exhibit clear"),
		Flags:        []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exactly(c); err != nil {
				return err
			}
			w, err := openWorkspace(c.Context, c)
			if err != nil {
				return err
			}
			defer w.Close()
			r, err := w.cache.Clear(c.Context, w.binding)
			if err != nil {
				return err
			}
			return output(c, r, func(out io.Writer) {
				fmt.Fprintf(out, "removed %d generations, %.1f MB\n", r.Generations, float64(r.Bytes)/1e6)
				if r.Leased > 0 {
					fmt.Fprintf(out, "%d are still read; the next build removes them\n", r.Leased)
				}
			})
		},
	}
}
