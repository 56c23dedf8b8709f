package snapshot

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sort"
	"strings"

	"github.com/go-git/go-git/v5/plumbing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// The modes of tree entries, as Git itself writes them.
const (
	modeTree       = 0o040000
	modeFile       = 0o100644
	modeExecutable = 0o100755
	modeSymlink    = 0o120000
	modeSubmodule  = 0o160000
)

const (
	// maxTreeDepth bounds the nesting of folders.
	maxTreeDepth = 1024
	// maxManifest bounds the paths of one manifest, omitted ones included, and the
	// folders they are in: a tree of a few objects can name any number of either.
	maxManifest = 1_000_000
	// maxPathBytes bounds what those paths and folders add up to, in bytes: a name
	// may be as long as a tree object, and each path below it repeats it.
	maxPathBytes = 512 << 20
)

// treeEntry is one entry of a tree object.
type treeEntry struct {
	mode uint32
	name string
	id   plumbing.Hash
}

// parseTree reads a tree object's bytes: entries of an octal mode, a space, a
// name, a NUL and 20 bytes of object id. It refuses what Git forbids (git-fsck:
// hasDot, hasDotdot, hasDotgit, fullPathname, emptyName, duplicateEntries, bad
// modes) and names the entry; an order other than Git's is accepted.
func parseTree(data []byte) ([]treeEntry, error) {
	var entries []treeEntry
	for len(data) > 0 {
		var mode uint32
		i := 0
		for ; i < len(data) && data[i] != ' '; i++ {
			if data[i] < '0' || data[i] > '7' || i >= 6 {
				return nil, errors.New("an entry's mode is malformed")
			}
			mode = mode<<3 | uint32(data[i]-'0')
		}
		if i == 0 || i == len(data) {
			return nil, errors.New("an entry is cut short")
		}
		data = data[i+1:]
		end := bytes.IndexByte(data, 0)
		if end < 0 || len(data) < end+1+20 {
			return nil, errors.New("an entry is cut short")
		}
		e := treeEntry{mode: mode, name: string(data[:end]), id: plumbing.Hash(data[end+1 : end+21])}
		data = data[end+21:]
		if why := badName(e.name); why != "" {
			return nil, entryError{e.name, why}
		}
		if e.mode = canonicalMode(mode); e.mode == 0 {
			return nil, entryError{e.name, "it has a mode that Git does not know"}
		}
		entries = append(entries, e)
	}
	return entries, checkUnique(entries)
}

// canonicalMode gives the mode that Git makes of one that is stored, by its type
// and, for a regular file, its owner's executable bit: early versions of Git and
// importers wrote 100664, 100600 or 40755. It is 0 for a type that no tree holds.
func canonicalMode(mode uint32) uint32 {
	const typeBits, regular = 0o170000, 0o100000
	switch t := mode & typeBits; t {
	case modeTree, modeSymlink, modeSubmodule:
		return t
	case regular:
		if mode&0o100 != 0 {
			return modeExecutable
		}
		return modeFile
	}
	return 0
}

// entryError names the entry of a tree that is refused.
type entryError struct{ name, why string }

func (e entryError) Error() string { return e.why }

// checkUnique refuses two entries of one name, adjacent or not.
func checkUnique(entries []treeEntry) error {
	if slices.IsSortedFunc(entries, func(a, b treeEntry) int { return strings.Compare(a.name, b.name) }) {
		for i := 1; i < len(entries); i++ {
			if entries[i].name == entries[i-1].name {
				return entryError{entries[i].name, "the name occurs twice"}
			}
		}
		return nil
	}
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.name
	}
	sort.Strings(names)
	for i := 1; i < len(names); i++ {
		if names[i] == names[i-1] {
			return entryError{names[i], "the name occurs twice"}
		}
	}
	return nil
}

// badName says why a path component is refused, or "".
func badName(name string) string {
	switch {
	case name == "":
		return "the name is empty"
	case name == "." || name == "..":
		return "the name is a relative step"
	case strings.IndexByte(name, '/') >= 0:
		return "the name holds a slash"
	case isDotGit(name):
		return "the name stands for .git"
	}
	return ""
}

// isDotGit says whether some file system takes name for ".git": in any case, as
// NTFS's short name or with trailing dots, spaces or a stream, or on HFS+ with
// code points that it ignores.
func isDotGit(name string) bool {
	if len(name) < 4 {
		return false
	}
	if strings.IndexFunc(name, func(r rune) bool { return r >= 0x80 }) >= 0 {
		name = strings.Map(func(r rune) rune {
			switch {
			case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
				return -1
			}
			return r
		}, name)
	}
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	return strings.EqualFold(name, ".git") || strings.EqualFold(name, "git~1")
}

// readTree reads and checks one tree; path is for messages.
func readTree(rd *objectReader, id plumbing.Hash, path string) ([]treeEntry, error) {
	_, data, err := rd.read(id, "tree", maxMetaBytes, nil)
	var large errTooLarge
	if errors.As(err, &large) {
		return nil, fault.New(fault.RepositoryLimit, "tree %s at %q has %d bytes", id, clip(path), large.size)
	}
	if err != nil {
		return nil, err
	}
	entries, err := parseTree(data)
	if err == nil {
		return entries, nil
	}
	var bad entryError
	if errors.As(err, &bad) {
		return nil, fault.New(fault.ObjectCorrupt, "tree %s holds the entry %q at %q, which Git forbids: %s",
			id, clip(bad.name), clip(path), bad.why).WithHint("git fsck says which commits hold it")
	}
	return nil, corrupt("tree", id.String(), err.Error())
}

// walkTree lists every path of a tree, sorted bytewise, with neither Size nor
// SHA256, and refuses more than limit of them. A subtree that is missing is an
// error that names it.
func walkTree(ctx context.Context, rd *objectReader, root plumbing.Hash, limit int) ([]Entry, error) {
	w := &treeWalk{rd: rd, limit: limit}
	if err := w.walk(ctx, root, "", 0); err != nil {
		return nil, err
	}
	sortEntries(w.found)
	return w.found, nil
}

// treeWalk gathers the paths below one or more trees. Folders are bounded as
// paths are: Git writes no empty one, but a few objects that link to each other
// and at last to the empty tree can name any number of folders and no path.
type treeWalk struct {
	rd      *objectReader
	limit   int // paths, and as many folders
	folders int
	bytes   int     // of all paths and folders
	found   []Entry // unsorted
}

// walk takes in the tree id, which stands at prefix ("" or ending in a slash).
func (w *treeWalk) walk(ctx context.Context, id plumbing.Hash, prefix string, depth int) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if depth > maxTreeDepth {
		return fault.New(fault.RepositoryLimit, "folders are nested more than %d deep at %q", maxTreeDepth, clip(prefix))
	}
	if w.folders++; w.folders > w.limit {
		return fault.New(fault.RepositoryLimit, "the tree names more than %d folders, the last of them tree %s at %q", w.limit, id, clip(prefix)).
			WithHint("git ls-tree -r -t shows them; index a commit without them")
	}
	entries, err := readTree(w.rd, id, prefix)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if w.bytes += len(prefix) + len(e.name); w.bytes > maxPathBytes {
			return fault.New(fault.RepositoryLimit, "the paths of the tree add up to more than %d bytes, the last of them in tree %s at %q", maxPathBytes, id, clip(prefix)).
				WithHint("git ls-tree -r -t shows them; index a commit without them")
		}
		if e.mode == modeTree {
			if err := w.walk(ctx, e.id, prefix+e.name+"/", depth+1); err != nil {
				return err
			}
			continue
		}
		if len(w.found) >= w.limit {
			return fault.New(fault.RepositoryLimit, "the tree names more than %d paths", w.limit)
		}
		w.found = append(w.found, Entry{Path: prefix + e.name, Mode: e.mode, Blob: e.id.String(), Size: -1})
	}
	return nil
}

func sortEntries(e []Entry) {
	slices.SortFunc(e, func(a, b Entry) int { return strings.Compare(a.Path, b.Path) })
}

// clip shortens a path for a message.
func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "..."
	}
	return s
}

// Lookup finds one path in a commit's tree, given in hex, reading only the trees
// above it. found is false when the path does not exist. Errors:
// fault.InvalidPath, fault.ObjectMissing and fault.ObjectCorrupt.
func (r *Repository) Lookup(ctx context.Context, tree, path string) (mode uint32, blob string, found bool, err error) {
	if err := checkPath(path); err != nil {
		return 0, "", false, err
	}
	id, ok := parseID(tree)
	if !ok {
		return 0, "", false, fault.New(fault.InvalidRequest, "%q is not a sha1 object id", tree)
	}
	rd := r.reader()
	defer r.release(rd)
	parts := strings.Split(path, "/")
	for i, part := range parts {
		if err := ctx.Err(); err != nil {
			return 0, "", false, err
		}
		entries, err := readTree(rd, id, strings.Join(parts[:i], "/"))
		if err != nil {
			return 0, "", false, err
		}
		at := slices.IndexFunc(entries, func(e treeEntry) bool { return e.name == part })
		if at < 0 {
			return 0, "", false, nil
		}
		e := entries[at]
		if i == len(parts)-1 {
			return e.mode, e.id.String(), true, nil
		}
		if e.mode != modeTree {
			return 0, "", false, nil
		}
		id = e.id
	}
	return 0, "", false, nil
}

// checkPath refuses a path that is not relative, clean and inside the worktree.
func checkPath(path string) error {
	bad := func(why string) error {
		return fault.New(fault.InvalidPath, "path %q is refused: %s", clip(path), why).
			WithHint("give a path relative to the repository's root, with / between components")
	}
	if path == "" {
		return bad("it is empty")
	}
	if strings.IndexByte(path, 0) >= 0 {
		return bad("it holds a NUL")
	}
	if path[0] == '/' {
		return bad("it is absolute")
	}
	for _, part := range strings.Split(path, "/") {
		if why := badName(part); why != "" {
			return bad(why)
		}
	}
	return nil
}
