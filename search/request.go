package search

import (
	"path"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// The kinds of question that Run answers.
const (
	KindImpact       = "impact"
	KindDependency   = "dependency"
	KindSymbol       = "symbol"
	KindRelatedTests = "related_tests"
	KindCallers      = "callers"
	KindCallees      = "callees"
	KindSymbols      = "symbols"
	KindMap          = "map"
)

// The levels of a map.
const (
	LevelDirectory = "directory"
	LevelSkeleton  = "skeleton"
	LevelSource    = "source"
)

// The bounds of the request envelope and of one walk.
const (
	DefaultMaxBytes = 16000
	MinMaxBytes     = 512
	MaxMaxBytes     = 32768

	maxSeeds      = 8
	maxWalkEdges  = 1000
	maxWalkNodes  = 500
	maxNodeBudget = 200
	// Seeds and what they expand to are visited too: what is left of the walk's
	// nodes once the largest node budget is set aside.
	maxExpansion  = maxWalkNodes - maxNodeBudget
	maxPaths      = 100
	maxQueryRunes = 8192
	maxTargetSize = 4096 // bytes of a target, a path or a prefix
)

// bound is the default and the inclusive limit of a number; zero limit means
// that the kind does not take it.
type bound struct{ def, max int }

// takes is a row of the table of questions: which fields a kind takes, and the
// default and limit of its numbers. Everything else is refused.
type takes struct {
	target, paths, query, prefix, filter, level bool
	depth, nodeBudget, limit                    bound
}

var kinds = map[string]takes{
	KindImpact:       {target: true, prefix: true, depth: bound{2, 4}, nodeBudget: bound{40, maxNodeBudget}},
	KindDependency:   {target: true, prefix: true, depth: bound{2, 4}, nodeBudget: bound{40, maxNodeBudget}},
	KindSymbol:       {target: true, prefix: true, depth: bound{1, 4}, nodeBudget: bound{40, maxNodeBudget}},
	KindRelatedTests: {target: true, paths: true, prefix: true, limit: bound{20, 50}},
	KindCallers:      {target: true, prefix: true, limit: bound{20, 50}},
	KindCallees:      {target: true, prefix: true, limit: bound{20, 50}},
	KindSymbols:      {query: true, prefix: true, filter: true, limit: bound{20, 50}},
	KindMap:          {prefix: true, level: true, depth: bound{2, 5}, limit: bound{20, 50}},
}

// known are kinds of the specification that this release does not answer.
var known = map[string]bool{
	"status": true, "explore": true, "read": true, "file_api": true, "occurrences": true,
	"changes": true, "impact_changes": true, "inspect": true,
}

func invalid(field, format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidRequest, format, args...).WithField(field)
}

// normalize checks a request against its kind and fills in defaults. Zero
// numbers and empty strings are absent fields.
func normalize(r Request) (Request, error) {
	if r.Kind == "" {
		return r, invalid("kind", "the question has no kind").WithHint("name one of: callees, callers, dependency, impact, map, related_tests, symbol, symbols")
	}
	t, ok := kinds[r.Kind]
	if !ok {
		e := fault.New(fault.Unsupported, "there is no question of kind %q", r.Kind)
		if known[r.Kind] {
			e = fault.New(fault.Unsupported, "questions of kind %q are not answered by this release", r.Kind)
		}
		return r, e.WithField("kind").WithHint("ask one of: callees, callers, dependency, impact, map, related_tests, symbol, symbols")
	}
	for _, f := range []struct {
		name  string
		given bool
		taken bool
	}{
		{"target", r.Target != "", t.target},
		{"symbol_id", r.SymbolID != "", t.target},
		{"paths", len(r.Paths) > 0, t.paths},
		{"query", r.Query != "", t.query},
		{"path_prefix", r.PathPrefix != "", t.prefix},
		{"language", r.Language != "", t.filter},
		{"node_kind", r.NodeKind != "", t.filter},
		{"level", r.Level != "", t.level},
		{"depth", r.Depth != 0, t.depth.max > 0},
		{"node_budget", r.NodeBudget != 0, t.nodeBudget.max > 0},
		{"limit", r.Limit != 0, t.limit.max > 0},
	} {
		if f.given && !f.taken {
			return r, invalid(f.name, "a question of kind %q takes no %s", r.Kind, f.name).WithHint("leave %s out", f.name)
		}
	}
	for _, n := range []struct {
		name     string
		value    *int
		min, max int
		def      int
	}{
		{"depth", &r.Depth, 1, t.depth.max, t.depth.def},
		{"node_budget", &r.NodeBudget, 1, t.nodeBudget.max, t.nodeBudget.def},
		{"limit", &r.Limit, 1, t.limit.max, t.limit.def},
		{"max_bytes", &r.MaxBytes, MinMaxBytes, MaxMaxBytes, DefaultMaxBytes},
	} {
		if *n.value == 0 {
			*n.value = n.def
		} else if *n.value < n.min || *n.value > n.max {
			return r, invalid(n.name, "%s is %d", n.name, *n.value).WithHint("give %d to %d, or leave it out for %d", n.min, n.max, n.def)
		}
	}
	if err := checkSubject(r, t); err != nil {
		return r, err
	}
	var err error
	if r.PathPrefix, err = cleanPath("path_prefix", r.PathPrefix, true); err != nil {
		return r, err
	}
	if len(r.Paths) > 0 { // the caller's slice is not ours to change
		r.Paths = append([]string(nil), r.Paths...)
	}
	for i, p := range r.Paths {
		if r.Paths[i], err = cleanPath("paths", p, false); err != nil {
			return r, err
		}
	}
	if t.level {
		switch r.Level {
		case "":
			r.Level = LevelDirectory
		case LevelDirectory, LevelSkeleton:
		case LevelSource:
			return r, fault.New(fault.Unsupported, "a map of level %q is not answered by this release", r.Level).WithField("level").WithHint("ask for level directory or skeleton")
		default:
			return r, invalid("level", "there is no level %q", r.Level).WithHint("give directory, skeleton or source")
		}
	}
	return r, nil
}

// checkSubject checks what the question is about: exactly one of target,
// symbol_id and paths, or a query.
func checkSubject(r Request, t takes) error {
	if t.target {
		given := 0
		for _, g := range []bool{r.Target != "", r.SymbolID != "", len(r.Paths) > 0} {
			if g {
				given++
			}
		}
		field := "target"
		if given > 1 && r.SymbolID != "" {
			field = "symbol_id"
		} else if given > 1 {
			field = "paths"
		}
		if given != 1 {
			return invalid(field, "a question of kind %q is about one thing, and %d were given", r.Kind, given).WithHint("give a target, or the symbol id of an earlier answer")
		}
		if r.Target != "" && strings.TrimSpace(r.Target) == "" {
			return invalid("target", "the target is blank").WithHint("name a definition, such as Client.Do, or a path")
		}
		if len(r.Target) > maxTargetSize {
			return invalid("target", "the target is %d bytes long", len(r.Target)).WithHint("give at most %d bytes", maxTargetSize)
		}
		if len(r.Paths) > maxPaths {
			return invalid("paths", "%d paths were given", len(r.Paths)).WithHint("give at most %d at a time", maxPaths)
		}
	}
	if t.query {
		if strings.TrimSpace(r.Query) == "" {
			return invalid("query", "the query is empty").WithHint("give a name or some words")
		}
		if n := utf8.RuneCountInString(r.Query); n > maxQueryRunes {
			return invalid("query", "the query is %d characters long", n).WithHint("give at most %d characters", maxQueryRunes)
		}
	}
	return nil
}

// cleanPath checks a repository path and drops "./" before and "/" after it.
func cleanPath(field, p string, mayBeEmpty bool) (string, error) {
	bad := func(what string) error {
		return fault.New(fault.InvalidPath, "the path %q %s", p, what).WithField(field).WithHint("give a path relative to the repository's root, with / between folders")
	}
	switch {
	case p == "" && mayBeEmpty:
		return "", nil
	case p == "":
		return "", bad("is empty")
	case len(p) > maxTargetSize:
		return "", fault.New(fault.InvalidPath, "a path of %d bytes was given", len(p)).WithField(field).WithHint("give at most %d bytes", maxTargetSize)
	case strings.HasPrefix(p, "/"):
		return "", bad("is absolute")
	case strings.ContainsRune(p, 0):
		return "", bad("holds a NUL byte")
	}
	for _, part := range strings.Split(p, "/") {
		if part == ".." {
			return "", bad("leaves the repository")
		}
	}
	c := path.Clean(p)
	if c == "." {
		if mayBeEmpty {
			return "", nil
		}
		return "", bad("is not a file")
	}
	return c, nil
}

// under says whether a path is the prefix itself or below it; prefixes end at
// a component, so src/a does not hold src/ab.
func under(p, prefix string) bool {
	return prefix == "" || p == prefix || strings.HasPrefix(p, prefix) && p[len(prefix)] == '/'
}
