package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/extract"
	"github.com/exhibit-dev/exhibit/search"
)

func symbolsCommand() *cli.Command {
	return &cli.Command{
		Name:      "symbols",
		Usage:     "find definitions by name or words",
		ArgsUsage: "QUERY",
		Description: example("Exact qualified names come first, then names, then parts of identifiers, then full text. The query is never syntax.",
			"exhibit symbols parseConfig", "exhibit symbols 'http client' --kind class --path src"),
		Flags: []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag(), revFlag(), worktreeFlag(), pathFlag(), maxBytesFlag(),
			&cli.StringFlag{Name: "language", Usage: "only definitions in `LANGUAGE`"},
			&cli.StringFlag{Name: "kind", Usage: "only definitions of `KIND` (function, method, class, ...)"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N` definitions (default 20, at most 50)"}},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exactly(c, "QUERY"); err != nil {
				return err
			}
			if l := c.String("language"); l != "" && extract.Find(l) == nil {
				return usagef("there is no language %q", l).WithHint("`exhibit status` lists the languages")
			}
			return ask(c, search.Request{Kind: search.KindSymbols, Query: c.Args().First(), PathPrefix: c.String("path"), Language: c.String("language"),
				NodeKind: c.String("kind"), Limit: c.Int("limit"), MaxBytes: c.Int("max-bytes")}, printSymbols)
		},
	}
}

func mapCommand() *cli.Command {
	return &cli.Command{
		Name:        "map",
		Usage:       "outline the repository: folders, files, definitions, tests",
		Description: example("", "exhibit map", "exhibit map --path src/server --level skeleton"),
		Flags: []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag(), revFlag(), worktreeFlag(), pathFlag(), maxBytesFlag(),
			&cli.StringFlag{Name: "level", Usage: "`LEVEL` of detail, directory or skeleton (default directory)"},
			&cli.IntFlag{Name: "depth", Usage: "`N` levels of folders (default 2, at most 5)"},
			&cli.IntFlag{Name: "limit", Usage: "at most `N` entries (default 20, at most 50)"}},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exactly(c); err != nil {
				return err
			}
			return ask(c, search.Request{Kind: search.KindMap, PathPrefix: c.String("path"), Level: c.String("level"), Depth: c.Int("depth"),
				Limit: c.Int("limit"), MaxBytes: c.Int("max-bytes")}, printMap)
		},
	}
}

func revFlag() cli.Flag {
	return &cli.StringFlag{Name: "rev", Usage: "answer about the commit that `REV` names (default HEAD)"}
}

func worktreeFlag() cli.Flag {
	return &cli.BoolFlag{Name: "worktree", Usage: "answer about the worktree's bytes, indexed with 'exhibit index --worktree'"}
}

func pathFlag() cli.Flag {
	return &cli.StringFlag{Name: "path", Usage: "only below `PATH`"}
}

func maxBytesFlag() cli.Flag {
	return &cli.IntFlag{Name: "max-bytes", Usage: "the answer's body is at most `N` bytes of JSON (default 16000, 512 to 32768)"}
}

// ask answers one question and prints the answer.
func ask(c *cli.Context, req search.Request, text func(io.Writer, *search.Answer)) error {
	w, err := openWorkspace(c.Context, c)
	if err != nil {
		return err
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(c.Context, queryDeadline)
	defer cancel()
	g, err := w.open(ctx, c)
	if err != nil {
		return err
	}
	defer g.Close()
	a, err := g.ask(ctx, req)
	if err != nil {
		return err
	}
	if !c.Bool("json") {
		text(c.App.Writer, a)
		return nil
	}
	// max_bytes bounds the body as it is encoded without white space.
	body, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = c.App.Writer.Write(plain(append(body, '\n')))
	return err
}

func printSymbols(out io.Writer, a *search.Answer) {
	for _, item := range a.Items {
		n := item.Node
		fmt.Fprintf(out, "%s:%d\t%s %s\t%s\n", safe(n.Path), n.NameLine, n.Kind, safe(n.Qualified), safe(n.Signature))
	}
	if len(a.Items) == 0 {
		fmt.Fprintln(out, "no definition matches")
	}
	printCuts(out, a)
}

func printMap(out io.Writer, a *search.Answer) {
	if len(a.Items) == 0 {
		fmt.Fprintln(out, "nothing is indexed there")
	}
	for _, item := range a.Items {
		n := item.Node
		fmt.Fprintf(out, "%s\t%s", safe(n.Path), n.Kind)
		if item.Files > 0 {
			fmt.Fprintf(out, "\t%d files", item.Files)
		}
		fmt.Fprintln(out)
		for _, child := range item.Children {
			fmt.Fprintf(out, "    %s\n", safe(child))
		}
	}
	printCuts(out, a)
}

// printCuts says what an answer leaves out.
func printCuts(out io.Writer, a *search.Answer) {
	for _, cut := range a.Cuts {
		fmt.Fprintf(out, "cut by %s (%d)", strings.ReplaceAll(cut.Bound, "_", " "), cut.Limit)
		if cut.Dropped > 0 {
			fmt.Fprintf(out, ": %d left out", cut.Dropped)
		}
		fmt.Fprintln(out)
	}
}
