package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/search"
	readers "github.com/exhibit-dev/exhibit/search/pinned"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// queryDeadline bounds a query with its checks.
const queryDeadline = 5 * time.Second

// The flags that most commands share.
func repoFlag() cli.Flag {
	return &cli.StringFlag{Name: "repo", Aliases: []string{"C"}, Value: ".", Usage: "a `DIR` inside the repository, or a bare one"}
}

func cacheFlag() cli.Flag {
	return &cli.StringFlag{Name: "cache", EnvVars: []string{"EXHIBIT_CACHE"}, Usage: "keep indexes below `DIR` (default: exhibit in the user's cache folder)"}
}

func jsonFlag() cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print one JSON object"}
}

func scopeFlag() cli.Flag {
	return &cli.StringFlag{Name: "scope", Usage: "your `NAME` for this worktree (default: its folder's name)"}
}

// workspace is a repository with its place in the cache.
type workspace struct {
	repo    *snapshot.Repository
	cache   *kv.Cache
	binding kv.Binding
}

func openWorkspace(ctx context.Context, c *cli.Context) (*workspace, error) {
	repo, err := snapshot.Open(c.String("repo"))
	if err != nil {
		return nil, err
	}
	w := &workspace{repo: repo}
	if err := w.bind(ctx, c); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *workspace) bind(ctx context.Context, c *cli.Context) error {
	dir := c.String("cache")
	if dir == "" {
		var err error
		if dir, err = kv.DefaultCacheDir(); err != nil {
			return err
		}
	}
	var err error
	if w.cache, err = kv.OpenCache(dir); err != nil {
		return err
	}
	w.binding, err = w.cache.Bind(ctx, w.repo, c.String("scope"))
	return err
}

func (w *workspace) Close() {
	_ = w.repo.Close()
}

// pinned is a generation to ask, with the check that it is still about what it
// says: the commit that the revision names, or the worktree's bytes.
type pinned struct {
	*kv.Generation
	check func(ctx context.Context) error
}

// open opens the generation that the command's --rev or --worktree names, and
// checks it.
func (w *workspace) open(ctx context.Context, c *cli.Context) (*pinned, error) {
	if c.Bool("worktree") {
		if c.IsSet("rev") {
			return nil, usagef("--rev and --worktree exclude each other").WithHint("a worktree generation has the bytes on disk, a commit's has its blobs")
		}
		return w.openWorktree(ctx)
	}
	return w.openRevision(ctx, c.String("rev"))
}

func (w *workspace) openWorktree(ctx context.Context) (*pinned, error) {
	g, err := w.cache.OpenWorktree(ctx, w.binding)
	if fault.CodeOf(err) == fault.IndexMissing {
		return nil, fault.New(fault.IndexMissing, "the worktree is not indexed: %w", err).WithHint("run `exhibit index --worktree` first")
	}
	if err != nil {
		return nil, err
	}
	p := &pinned{g, func(ctx context.Context) error { return g.CheckWorktree(ctx, w.repo) }}
	if err := p.check(ctx); err != nil {
		_ = g.Close()
		return nil, err
	}
	return p, nil
}

func (w *workspace) openRevision(ctx context.Context, rev string) (*pinned, error) {
	if rev == "" {
		rev = "HEAD"
	}
	at, err := w.repo.Resolve(ctx, rev)
	if err != nil {
		return nil, err
	}
	if at.Commit == "" {
		return nil, fault.New(fault.RevisionStale, "%s has no commit yet", rev).WithHint("commit first, or index and ask with --worktree")
	}
	g, err := w.cache.OpenFor(ctx, w.binding, at)
	if fault.CodeOf(err) == fault.IndexMissing {
		return nil, fault.New(fault.IndexMissing, "%s (%s) is not indexed: %w", rev, short(at.Commit), err).WithHint("run `exhibit index%s` first", revFlagFor(rev))
	}
	if err != nil {
		return nil, err
	}
	return &pinned{g, func(ctx context.Context) error {
		now, err := w.repo.Resolve(ctx, rev)
		if err == nil && now != at {
			err = fault.New(fault.CodeChanged, "%s moved from %s to %s while the question was answered", rev, short(at.Commit), short(now.Commit)).
				WithHint("index the new commit and ask again")
		}
		return err
	}}, nil
}

// ask answers one question and checks once more what it is about: an answer
// about something that changed meanwhile is discarded.
func (p *pinned) ask(ctx context.Context, req search.Request) (*search.Answer, error) {
	a, err := search.Run(ctx, readers.Reader(p.Generation), req)
	if err != nil {
		return nil, err
	}
	return a, p.check(ctx)
}

func revFlagFor(rev string) string {
	if rev == "HEAD" {
		return ""
	}
	return " --rev " + rev
}

func short(id string) string { return id[:min(12, len(id))] }
