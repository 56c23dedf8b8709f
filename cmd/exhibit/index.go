package main

import (
	"fmt"
	"io"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/kv"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:  "init",
		Usage: "bind a worktree under a name of yours (index does it by itself)",
		Description: example("Gives the worktree a scope name and a place in the cache. Nothing is written inside the repository.",
			"exhibit init --scope payments --repo ~/src/payments"),
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
			return output(c, w.binding, func(out io.Writer) {
				fmt.Fprintf(out, "scope %s\nroot  %s\n", safe(w.binding.Scope), safe(w.binding.Root))
			})
		},
	}
}

func indexCommand() *cli.Command {
	return &cli.Command{
		Name:  "index",
		Usage: "index a commit (HEAD unless --rev says otherwise), or the worktree's bytes",
		Description: example("Reads the commit's blobs, extracts and resolves them, and publishes one immutable generation. Nothing of the\n"+
			"repository is run and nothing is written inside it.",
			"exhibit index", "exhibit index --rev v1.2.0 --repo ~/src/payments"),
		Flags: []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag(),
			&cli.StringFlag{Name: "rev", Usage: "index the commit that `REV` names"},
			&cli.BoolFlag{Name: "worktree", Usage: "index the bytes in the worktree instead of a commit's"},
			&cli.StringSliceFlag{Name: "exclude", Usage: "leave out paths that match `GLOB` (repeatable)"},
			&cli.StringSliceFlag{Name: "source-root", Usage: "a Python source root, a `DIR` inside the repository (repeatable)"},
			&cli.IntFlag{Name: "max-files", Usage: "refuse snapshots of more than `N` files (default 20000, at most 500000)"},
			&cli.BoolFlag{Name: "force", Usage: "build again even when this very content is indexed"},
		},
		OnUsageError: usageError,
		Action:       runIndex,
	}
}

func runIndex(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	if c.IsSet("rev") && c.Bool("worktree") {
		return usagef("--rev and --worktree exclude each other").WithHint("a worktree generation has the bytes on disk, a commit's has its blobs")
	}
	w, err := openWorkspace(c.Context, c)
	if err != nil {
		return err
	}
	defer w.Close()
	stage, stop := boundHeap()
	defer stop()
	show := progress(c)
	begin := time.Now()
	meta, err := w.cache.Build(c.Context, w.binding, w.repo, kv.BuildOptions{
		Revision: c.String("rev"), Worktree: c.Bool("worktree"), Exclude: c.StringSlice("exclude"), SourceRoots: c.StringSlice("source-root"),
		MaxFiles: c.Int("max-files"), Force: c.Bool("force"), Progress: func(name string, done, total int) {
			stage(name)
			if show != nil {
				show(name, done, total)
			}
		},
	})
	if err != nil {
		return err
	}
	return output(c, meta, func(out io.Writer) {
		printMeta(out, meta)
		fmt.Fprintf(out, "took          %.2f s\n", time.Since(begin).Seconds())
	})
}
