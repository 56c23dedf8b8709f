package main

import (
	"context"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/kv"
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

// generation opens the published generation of a revision and checks that the
// revision still names the commit that was indexed.
func (w *workspace) generation(ctx context.Context, rev string) (*kv.Generation, snapshot.Revision, error) {
	if rev == "" {
		rev = "HEAD"
	}
	at, err := w.repo.Resolve(ctx, rev)
	if err != nil {
		return nil, at, err
	}
	g, err := w.cache.OpenFor(ctx, w.binding, at)
	if fault.CodeOf(err) == fault.IndexMissing {
		return nil, at, fault.New(fault.IndexMissing, "%s (%s) is not indexed", rev, short(at.Commit)).WithHint("run `exhibit index%s` first", revFlagFor(rev))
	}
	return g, at, err
}

func revFlagFor(rev string) string {
	if rev == "HEAD" {
		return ""
	}
	return " --rev " + rev
}

func short(id string) string { return id[:min(12, len(id))] }
