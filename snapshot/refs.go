package snapshot

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

const (
	// maxSymrefs is how many symbolic refs are followed, as in Git.
	maxSymrefs = 5
	// maxPeel bounds tags of tags, and the steps of one ~n or ^ suffix.
	maxPeel = 100000
	// minAbbrev is the shortest abbreviated object id.
	minAbbrev = 4
)

// Revision is a commit and its root tree, in hex; both are "" for an unborn HEAD.
type Revision struct{ Commit, Tree string }

// Resolve gives the commit that rev names: HEAD or @, a full ref, a branch, a tag
// (peeled), a full or unambiguous abbreviated object id of at least 4 digits,
// each with any of the suffixes ^, ^n, ~, ~n, ^{commit} and ^{} (gitrevisions(7)).
// A ref wins over an abbreviated id, as in Git. refs/replace is ignored: the
// original commit counts.
//
// An unborn HEAD gives the zero Revision. Errors: fault.TargetMissing when
// nothing bears the name, fault.InvalidRequest for an ambiguous or malformed
// one, fault.ObjectMissing when the commit lies outside a shallow clone.
func (r *Repository) Resolve(ctx context.Context, rev string) (Revision, error) {
	if err := ctx.Err(); err != nil {
		return Revision{}, err
	}
	base, steps, err := parseRevision(rev)
	if err != nil {
		return Revision{}, err
	}
	rd := r.reader()
	defer r.release(rd)
	id, err := r.resolveBase(rd, base, rev)
	if err != nil {
		return Revision{}, err
	}
	if id.IsZero() {
		if len(steps) > 0 {
			return Revision{}, fault.New(fault.TargetMissing, "HEAD has no commit yet, so %q names nothing", rev)
		}
		return Revision{}, nil
	}
	c, err := peel(rd, id, rev)
	if err != nil {
		return Revision{}, err
	}
	for _, s := range steps {
		if err := ctx.Err(); err != nil {
			return Revision{}, err
		}
		if c, err = c.step(rd, s, rev); err != nil {
			return Revision{}, err
		}
	}
	return Revision{Commit: c.id.String(), Tree: c.tree.String()}, nil
}

// revStep is one suffix: the n-th parent, or n generations of first parents.
type revStep struct {
	generations bool
	n           int
}

// parseRevision splits a revision into its base and its suffixes.
func parseRevision(rev string) (base string, steps []revStep, err error) {
	bad := func() (string, []revStep, error) {
		return "", nil, fault.New(fault.InvalidRequest, "%q is not a revision that is understood", rev).
			WithHint("use HEAD, a branch, a tag or a commit id, with ^ or ~n")
	}
	i := strings.IndexAny(rev, "^~")
	if i < 0 {
		i = len(rev)
	}
	base = rev[:i]
	if base == "" || base[0] == '-' || strings.Contains(base, "..") || strings.Contains(base, "@{") ||
		strings.ContainsAny(base, " \x00\n\t:?*[\\") {
		return bad()
	}
	for rest := rev[i:]; rest != ""; {
		if rest[0] == '^' && strings.HasPrefix(rest, "^{") {
			word, after, ok := strings.Cut(rest[2:], "}")
			if !ok || word != "" && word != "commit" {
				return bad()
			}
			rest = after
			continue
		}
		op, j := rest[0], 1
		if op != '^' && op != '~' {
			return bad()
		}
		for j < len(rest) && rest[j] >= '0' && rest[j] <= '9' {
			j++
		}
		n := 1
		if j > 1 {
			if n, err = strconv.Atoi(rest[1:j]); err != nil || n > maxPeel {
				return bad()
			}
		}
		steps = append(steps, revStep{generations: op == '~', n: n})
		rest = rest[j:]
	}
	return base, steps, nil
}

// resolveBase turns the name before the suffixes into an object id; the zero id
// stands for an unborn HEAD.
func (r *Repository) resolveBase(rd *objectReader, base, rev string) (plumbing.Hash, error) {
	if id, ok := parseID(base); ok {
		return id, nil
	}
	if base == "@" {
		base = "HEAD"
	}
	for _, name := range []string{base, "refs/" + base, "refs/tags/" + base, "refs/heads/" + base,
		"refs/remotes/" + base, "refs/remotes/" + base + "/HEAD"} {
		id, found, err := r.readRef(name)
		if err != nil {
			return id, err
		}
		if found {
			return id, nil
		}
		if name == "HEAD" {
			return plumbing.ZeroHash, nil // unborn: HEAD names a branch without a commit
		}
	}
	if len(base) >= minAbbrev && len(base) < 40 && isHex(base) {
		return r.resolveAbbrev(rd, strings.ToLower(base), rev)
	}
	e := fault.New(fault.TargetMissing, "no branch, tag or commit is named %q", base)
	if r.store.partial {
		return plumbing.ZeroHash, e.WithHint("the clone is shallow or partial; fetch the ref with git first")
	}
	return plumbing.ZeroHash, e.WithHint("git branch --all and git tag list what there is")
}

func isHex(s string) bool {
	for i := 0; i < len(s); i++ {
		c := s[i]
		if !(c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F') {
			return false
		}
	}
	return true
}

// resolveAbbrev expands an abbreviated id. Where several objects share it, the
// one commit or tag among them is meant (core.disambiguate's "committish").
func (r *Repository) resolveAbbrev(rd *objectReader, prefix, rev string) (plumbing.Hash, error) {
	const max = 4096
	ids, err := r.store.withPrefix(prefix, max)
	if err != nil {
		return plumbing.ZeroHash, err
	}
	if len(ids) == 0 {
		return plumbing.ZeroHash, fault.New(fault.TargetMissing, "no branch, tag or commit is named %q", prefix).
			WithHint("git branch --all and git tag list what there is")
	}
	if len(ids) == 1 {
		return ids[0], nil
	}
	var commits []plumbing.Hash
	if len(ids) < max {
		for _, id := range ids {
			if t, _, err := rd.read(id, "", maxMetaBytes, nil); err == nil &&
				(t == plumbing.CommitObject || t == plumbing.TagObject) {
				commits = append(commits, id)
			}
		}
	}
	if len(commits) == 1 {
		return commits[0], nil
	}
	return plumbing.ZeroHash, fault.New(fault.InvalidRequest, "%q is ambiguous: %d objects start with it", rev, len(ids)).
		WithHint("give more digits of the commit id")
}

// readRef follows a ref to an object id. found is false when neither a loose nor a
// packed ref bears the name, or when a symbolic ref ends at such a name.
func (r *Repository) readRef(name string) (id plumbing.Hash, found bool, err error) {
	for range maxSymrefs {
		if !safeRefName(name) {
			return id, false, nil
		}
		dir := r.commonDir
		if perWorktree(name) {
			dir = r.gitDir
		}
		data, err := readSmallFile(filepath.Join(dir, filepath.FromSlash(name)), 1<<20)
		if fault.CodeOf(err) != "" && !(errors.Is(err, errFolder) && strings.HasPrefix(name, "refs/")) {
			return id, false, err
		}
		if err != nil {
			// A folder of refs, or nothing: perhaps it is packed.
			return r.packedRef(name)
		}
		line, _, _ := strings.Cut(string(data), "\n") // FETCH_HEAD goes on after the id
		if target, ok := strings.CutPrefix(line, "ref:"); ok {
			name = strings.TrimSpace(target)
			continue
		}
		if len(line) > 40 && (line[40] == ' ' || line[40] == '\t') {
			line = line[:40]
		}
		id, ok := parseID(strings.TrimSpace(line))
		if !ok {
			return id, false, fault.New(fault.RepositoryFailed, "ref %q does not hold a sha1 object id", name)
		}
		return id, true, nil
	}
	return id, false, fault.New(fault.RepositoryFailed, "symbolic ref %q goes around in a circle", name)
}

// perWorktree says whether a ref belongs to one worktree (gitrepository-layout(5)).
func perWorktree(name string) bool {
	return !strings.HasPrefix(name, "refs/") || strings.HasPrefix(name, "refs/bisect/") ||
		strings.HasPrefix(name, "refs/worktree/") || strings.HasPrefix(name, "refs/rewritten/")
}

// safeRefName admits a pseudo-ref such as HEAD or a name below refs/ that cannot
// leave it (git-check-ref-format(1)).
func safeRefName(name string) bool {
	if !strings.HasPrefix(name, "refs/") {
		for i := 0; i < len(name); i++ {
			if c := name[i]; !(c >= 'A' && c <= 'Z' || c == '_') {
				return false
			}
		}
		return name != ""
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") || strings.Contains(part, "..") {
			return false
		}
	}
	return !strings.ContainsAny(name, "\x00\\:?*[^~ \x7f") && len(name) < 4096
}

// packedRef looks a name up in packed-refs.
func (r *Repository) packedRef(name string) (id plumbing.Hash, found bool, err error) {
	f, _, err := openGitFile(filepath.Join(r.commonDir, "packed-refs"))
	if os.IsNotExist(err) {
		return id, false, nil
	}
	if err != nil {
		return id, false, cannotRead(err, "packed-refs")
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 64<<10)
	for sc.Scan() {
		line := sc.Bytes()
		if len(line) < 42 || line[0] == '#' || line[0] == '^' || line[40] != ' ' || string(line[41:]) != name {
			continue
		}
		id, ok := parseID(string(line[:40]))
		if !ok {
			return id, false, fault.New(fault.RepositoryFailed, "packed ref %q does not hold a sha1 object id", name)
		}
		return id, true, nil
	}
	if err := sc.Err(); err != nil {
		return id, false, fault.New(fault.RepositoryFailed, "cannot read packed-refs: %w", err)
	}
	return id, false, nil
}

// commit is what is used of a commit object.
type commit struct {
	id, tree plumbing.Hash
	parents  []plumbing.Hash
}

// peel follows tags to a commit.
func peel(rd *objectReader, id plumbing.Hash, rev string) (commit, error) {
	for range 64 {
		t, data, err := rd.read(id, "", maxMetaBytes, nil)
		if fault.CodeOf(err) == fault.ObjectMissing {
			return commit{}, rd.store.missing("commit", id.String())
		}
		if err != nil {
			return commit{}, err
		}
		switch t {
		case plumbing.CommitObject:
			return parseCommit(id, data)
		case plumbing.TagObject:
			line, _, _ := bytes.Cut(data, []byte("\n"))
			target, ok := parseID(strings.TrimPrefix(string(line), "object "))
			if !ok {
				return commit{}, corrupt("tag", id.String(), "it names no object")
			}
			id = target
		default:
			return commit{}, fault.New(fault.InvalidRequest, "%q names a %s, not a commit", rev, t)
		}
	}
	return commit{}, corrupt("tag", id.String(), "tags are nested too deeply")
}

// parseCommit reads the headers of a commit up to its parents.
func parseCommit(id plumbing.Hash, data []byte) (commit, error) {
	c := commit{id: id}
	line, rest, _ := bytes.Cut(data, []byte("\n"))
	tree, ok := parseID(strings.TrimPrefix(string(line), "tree "))
	if !ok || !bytes.HasPrefix(line, []byte("tree ")) {
		return c, corrupt("commit", id.String(), "it names no tree")
	}
	c.tree = tree
	for bytes.HasPrefix(rest, []byte("parent ")) {
		line, rest, _ = bytes.Cut(rest, []byte("\n"))
		p, ok := parseID(string(line[len("parent "):]))
		if !ok {
			return c, corrupt("commit", id.String(), "a parent is malformed")
		}
		c.parents = append(c.parents, p)
	}
	return c, nil
}

// step applies one suffix.
func (c commit) step(rd *objectReader, s revStep, rev string) (commit, error) {
	if !s.generations && s.n == 0 {
		return c, nil
	}
	count, parent := 1, s.n
	if s.generations {
		count, parent = s.n, 1
	}
	for range count {
		if parent > len(c.parents) {
			return c, fault.New(fault.TargetMissing, "%q does not exist: commit %s has %d parents", rev, c.id, len(c.parents))
		}
		next, err := peel(rd, c.parents[parent-1], rev)
		if err != nil {
			return c, err
		}
		c = next
	}
	return c, nil
}
