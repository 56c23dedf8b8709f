package snapshot

import (
	"errors"
	"os"
	"path/filepath"
	"sort"
	"strings"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// layout is where the parts of a repository are, as absolute paths without links.
type layout struct {
	root      string // worktree; "" when bare
	gitDir    string // HEAD, index, per-worktree refs
	commonDir string // objects, refs, config; gitDir itself unless a linked worktree
	config    config // the repository's own, with config.worktree when it is enabled
}

// discover finds the repository that holds path, upward, in Git's order at each
// folder: a .git file or folder, then the folder itself as a bare repository
// (gitrepository-layout(5)). The GIT_* environment variables are not consulted.
func discover(path string) (layout, error) {
	abs, err := filepath.Abs(path)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return layout{}, fault.New(fault.RepositoryRoot, "cannot open %q: %w", path, err).
			WithHint("name a folder inside a Git repository")
	}
	for dir := abs; ; dir = filepath.Dir(dir) {
		dotGit := filepath.Join(dir, ".git")
		if st, err := os.Stat(dotGit); err == nil {
			if st.IsDir() {
				if isGitDir(dotGit) {
					return layoutOf(dotGit, dir)
				}
			} else {
				gitDir, err := readGitFile(dotGit)
				if err != nil {
					return layout{}, err
				}
				return layoutOf(gitDir, dir)
			}
		}
		if isGitDir(dir) {
			return layoutOf(dir, "")
		}
		if dir == filepath.Dir(dir) {
			return layout{}, fault.New(fault.RepositoryRoot, "%q is not inside a Git repository", path).
				WithHint("run git init, or name a folder inside a Git repository")
		}
	}
}

// isGitDir says whether dir looks like a repository's folder: HEAD, and objects
// and refs of its own or a commondir file.
func isGitDir(dir string) bool {
	if _, err := os.Lstat(filepath.Join(dir, "HEAD")); err != nil {
		return false
	}
	if _, err := os.Stat(filepath.Join(dir, "commondir")); err == nil {
		return true
	}
	for _, name := range []string{"objects", "refs"} {
		if st, err := os.Stat(filepath.Join(dir, name)); err != nil || !st.IsDir() {
			return false
		}
	}
	return true
}

// readGitFile follows a .git file ("gitdir: PATH", relative to the file).
func readGitFile(file string) (string, error) {
	data, err := readSmallFile(file, 64<<10)
	if err != nil {
		if errors.Is(err, errNotRegular) {
			return "", err
		}
		return "", fault.New(fault.RepositoryRoot, "cannot read %q: %w", file, err)
	}
	target, ok := strings.CutPrefix(strings.TrimRight(string(data), "\r\n"), "gitdir: ")
	if !ok || target == "" {
		return "", fault.New(fault.RepositoryRoot, "%q is not a gitdir file", file)
	}
	dir, err := resolveFrom(filepath.Dir(file), target)
	if err != nil || !isGitDir(dir) {
		return "", fault.New(fault.RepositoryRoot, "%q points at %q, which is not a Git repository", file, target).
			WithHint("git worktree repair mends the links of moved worktrees")
	}
	return dir, nil
}

// layoutOf completes the layout from a git folder and the worktree it was found
// from ("" when the git folder itself was named).
func layoutOf(gitDir, root string) (layout, error) {
	l := layout{root: root, gitDir: gitDir, commonDir: gitDir}
	if real, err := filepath.EvalSymlinks(gitDir); err == nil {
		l.gitDir, l.commonDir = real, real
	}
	data, err := readSmallFile(filepath.Join(l.gitDir, "commondir"), 64<<10)
	if err == nil {
		l.commonDir, err = resolveFrom(l.gitDir, strings.TrimRight(string(data), "\r\n"))
	}
	if errors.Is(err, errNotRegular) {
		return layout{}, err
	}
	if err != nil && !os.IsNotExist(err) || err == nil && !isGitDir(l.commonDir) {
		return layout{}, fault.New(fault.RepositoryRoot, "linked worktree %q has lost its repository", l.gitDir).
			WithHint("git worktree repair mends the links of moved worktrees")
	}
	if l.config, err = readConfig(filepath.Join(l.commonDir, "config")); err != nil {
		return layout{}, err
	}
	if err := checkFormat(l.config); err != nil {
		return layout{}, err
	}
	if l.config.boolean("extensions.worktreeconfig", false) {
		own, err := readConfig(filepath.Join(l.gitDir, "config.worktree"))
		if err != nil {
			return layout{}, err
		}
		l.config.merge(own)
	}
	return l, l.findRoot()
}

// findRoot settles the worktree: core.worktree first, then where the search
// found .git, then what a git folder that was named itself says.
func (l *layout) findRoot() error {
	linked := l.gitDir != l.commonDir
	// core.bare of the main repository does not make its linked worktrees bare.
	bare := !linked && l.config.boolean("core.bare", false)
	if wt, ok := l.config.get("core.worktree"); ok && !bare {
		root, err := resolveFrom(l.gitDir, wt)
		if err != nil {
			return fault.New(fault.RepositoryRoot, "core.worktree names %q, which cannot be opened", wt)
		}
		l.root = root
		return nil
	}
	switch {
	case bare:
		l.root = ""
	case l.root == "" && linked:
		data, err := readSmallFile(filepath.Join(l.gitDir, "gitdir"), 64<<10)
		if errors.Is(err, errNotRegular) {
			return err
		}
		if err == nil {
			if f, err := resolveFrom(l.gitDir, strings.TrimRight(string(data), "\r\n")); err == nil {
				l.root = filepath.Dir(f)
			}
		}
	case l.root == "" && filepath.Base(l.gitDir) == ".git":
		l.root = filepath.Dir(l.gitDir)
	}
	return nil
}

// resolveFrom gives target as an absolute path without links, base being where
// a relative one starts.
func resolveFrom(base, target string) (string, error) {
	if !filepath.IsAbs(target) {
		target = filepath.Join(base, target)
	}
	return filepath.EvalSymlinks(target)
}

// allowedExtensions are the repository extensions that do not change how
// objects, refs and the index are read, or whose change is handled here.
var allowedExtensions = map[string]bool{
	"noop":                 true,
	"noop-v1":              true,
	"preciousobjects":      true, // forbids deleting objects; nothing is deleted here
	"partialclone":         true, // absent objects are reported, never fetched
	"worktreeconfig":       true, // config.worktree is read
	"relativeworktrees":    true, // links are resolved from their own folder
	"compatobjectformat":   true, // a second name for each object; the first is used
	"objectformat":         true, // its value is checked
	"refstorage":           true, // its value is checked
	"submodulepathconfig":  true, // where submodules' git folders are; never entered
	"submoduleencodedname": true,
}

// checkFormat refuses a repository whose format or extensions are not
// understood, naming the first one in sorted order (gitrepository-layout,
// "repository-version").
func checkFormat(c config) error {
	if v, ok := c.get("extensions.objectformat"); ok && strings.ToLower(v) != string(SHA1) {
		return fault.New(fault.GitFormat, "the repository's object format is %s, which is not supported (only sha1 is)", strings.ToLower(v)).
			WithHint("index a sha1 clone of it")
	}
	if v, ok := c.get("extensions.refstorage"); ok && strings.ToLower(v) != "files" {
		name, _, _ := strings.Cut(strings.ToLower(v), ":")
		return fault.New(fault.GitFormat, "the repository's ref storage is %s, which is not supported (only files is)", name).
			WithHint("git refs migrate --ref-format=files converts it")
	}
	version, _ := c.get("core.repositoryformatversion")
	if version != "" && version != "0" && version != "1" {
		return fault.New(fault.GitFormat, "repository format version %q is not supported", version)
	}
	if version != "1" {
		return nil // Git ignores unknown extensions of a version 0 repository
	}
	var unknown []string
	for key := range c {
		if name, ok := strings.CutPrefix(key, "extensions."); ok && !allowedExtensions[name] {
			unknown = append(unknown, name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	sort.Strings(unknown)
	return fault.New(fault.GitFormat, "the repository uses extension %q, which is not supported", unknown[0])
}
