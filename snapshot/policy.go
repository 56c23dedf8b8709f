package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// policyVersion is part of PolicyDigest. 1: first release.
const policyVersion = 1

// The default limits of a snapshot.
const (
	DefaultMaxFiles       = 20_000
	MaxMaxFiles           = 500_000 // what an operator may raise MaxFiles to
	DefaultMaxFileBytes   = 2 << 20
	DefaultMaxSourceBytes = 512 << 20
)

// Options says what of a snapshot is indexed and within which limits.
type Options struct {
	// Language names the language of a path; "" leaves the file out unread as
	// unsupported_content. Nil takes every file in, with no language. It is
	// called from several goroutines.
	Language func(path string) string
	// Exclude are the operator's patterns: gitignore(5) without negation, matched
	// from the root; a folder that matches is left out with all it holds.
	Exclude []string
	// MaxFiles bounds the files that are read, MaxFileBytes one file and
	// MaxSourceBytes all included content; 0 means the default.
	MaxFiles       int
	MaxFileBytes   int64
	MaxSourceBytes int64
	// Untracked asks for untracked files of the worktree. It is not supported yet
	// and refused.
	Untracked bool
	// Workers is how many goroutines read and visit; 0 means GOMAXPROCS.
	Workers int
}

// Dependency and cache folders, left out wherever they are and whether tracked
// or not. Names such as build, dist, vendor or venv are not among them: a
// folder of that name may well be the repository's own code.
var excludedDirs = []string{
	".cache", ".eggs", ".gradle", ".hypothesis", ".ipynb_checkpoints", ".mypy_cache", ".next", ".nox", ".nuxt",
	".nyc_output", ".parcel-cache", ".pnpm-store", ".pytest_cache", ".ruff_cache", ".svelte-kit", ".terraform",
	".tox", ".turbo", ".venv", ".yarn", "__pycache__", "__pypackages__", "bower_components", "jspm_packages",
	"node_modules", "site-packages",
}

// A folder that holds one of these files is a dependency folder by its content:
// a virtual environment, and a vendored Go tree (the file's last folder must be
// the marker's own, "vendor/modules.txt").
var dirMarkers = []string{"pyvenv.cfg", "vendor/modules.txt"}

// credentialFiles are patterns of file names, in lower case, matched without
// regard to case.
var credentialFiles = []string{
	".env", ".env.*", ".envrc", "*.pem", "*.key", "*.p12", "*.pfx", "*.jks", "*.keystore", "*.kdbx", "*.ppk", "*.pkcs12",
	"id_rsa*", "id_dsa*", "id_ecdsa*", "id_ed25519*", ".netrc", "_netrc", ".npmrc", ".yarnrc.yml", ".pypirc", ".pgpass",
	".my.cnf", ".git-credentials", ".htpasswd", ".dockercfg", ".dockerconfigjson", "credentials.json",
	"service-account*.json", "*.tfstate", "*.tfvars",
}

// credentialDirs are folders all of whose files are credentials.
var credentialDirs = []string{".aws", ".gnupg", ".ssh"}

// Thresholds of minified files, for the extensions of minifiable.
const (
	minifiedMinBytes = 8 << 10  // smaller files drown nothing
	minifiedAverage  = 200      // bytes a line on average
	minifiedLongest  = 20 << 10 // bytes of a line that makes up four fifths of the file
)

// minifiable are the languages that are shipped minified. TypeScript is not: its
// generated barrels have long lines and are code.
var minifiable = []string{".js", ".mjs", ".cjs", ".jsx", ".css"}

// policy decides which files are indexed. By name: non-UTF-8 paths, submodules,
// links, dependency and cache folders, credentials, the operator's patterns,
// linguist-generated of .gitattributes, and languages that nothing indexes. By
// content: size, LFS pointers, binary, encoding, and minified bundles.
//
// A source that merely says "Code generated ... DO NOT EDIT." stays in: it is
// code that the rest calls. Only what the repository itself marks as generated
// for readers, and what no reader could read, is left out.
type policy struct {
	options Options
	globs   []glob
	dirs    map[string]bool // dependency folders known by their content
	attrs   *attributes
	digest  string
}

// newPolicy checks the options and fills in their defaults. paths are those of
// the snapshot.
func newPolicy(o Options, entries []Entry, attrs *attributes) (*policy, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	globs, err := operatorGlobs(o.Exclude)
	if err != nil {
		return nil, err
	}
	p := &policy{options: o, globs: globs, attrs: attrs, dirs: map[string]bool{}}
	for i := range entries {
		for _, marker := range dirMarkers {
			path := entries[i].Path
			if !strings.HasSuffix(path, "/"+marker) && path != marker {
				continue
			}
			if slash := strings.LastIndexByte(path, '/'); slash > 0 {
				p.dirs[path[:slash]] = true
			}
		}
	}
	p.digest = p.computeDigest()
	return p, nil
}

func (o *Options) fill() error {
	if o.MaxFiles == 0 {
		o.MaxFiles = DefaultMaxFiles
	}
	if o.MaxFileBytes == 0 {
		o.MaxFileBytes = DefaultMaxFileBytes
	}
	if o.MaxSourceBytes == 0 {
		o.MaxSourceBytes = DefaultMaxSourceBytes
	}
	switch {
	case o.MaxFiles < 0 || o.MaxFiles > MaxMaxFiles:
		return fault.New(fault.InvalidRequest, "max files %d is not between 1 and %d", o.MaxFiles, MaxMaxFiles).WithField("max_files")
	case o.MaxFileBytes < 0 || o.MaxFileBytes > maxBlobBytes:
		return fault.New(fault.InvalidRequest, "max file bytes %d is not between 1 and %d", o.MaxFileBytes, maxBlobBytes).WithField("max_file_bytes")
	case o.MaxSourceBytes < 0:
		return fault.New(fault.InvalidRequest, "max source bytes %d is negative", o.MaxSourceBytes).WithField("max_source_bytes")
	}
	return nil
}

// computeDigest hashes all that decides which files are in, apart from the
// languages, which the entries carry, and from the aggregate limits, which only
// fail a build.
func (p *policy) computeDigest() string {
	exclude := append([]string{}, p.options.Exclude...) // none and an empty list are one policy
	slices.Sort(exclude)
	data, err := canonical.Marshal(struct {
		_            struct{} `cbor:",toarray"`
		Version      int
		Dirs         []string
		Markers      []string
		Credentials  []string
		SecretDirs   []string
		Exclude      []string
		MaxFileBytes int64
		Minified     []int64
		Minifiable   []string
	}{Version: policyVersion, Dirs: excludedDirs, Markers: dirMarkers, Credentials: credentialFiles, SecretDirs: credentialDirs,
		Exclude: slices.Compact(exclude), MaxFileBytes: p.options.MaxFileBytes,
		Minified: []int64{minifiedMinBytes, minifiedAverage, minifiedLongest}, Minifiable: minifiable})
	if err != nil {
		panic(err) // a closed struct of strings and integers always encodes
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// byName decides what can be decided without content: it sets e's Reason, or its
// Language.
func (p *policy) byName(e *Entry) {
	e.Reason = p.nameReason(e)
	if e.Reason != "" || p.options.Language == nil {
		return
	}
	if e.Language = p.options.Language(e.Path); e.Language == "" {
		e.Reason = UnsupportedContent
	}
}

// admits says whether a path passes by name.
func (p *policy) admits(e Entry) bool {
	p.byName(&e)
	return e.Reason == ""
}

func (p *policy) nameReason(e *Entry) Reason {
	if !utf8.ValidString(e.Path) {
		return UnrepresentablePath
	}
	switch e.Mode {
	case modeSubmodule:
		return Submodule
	case modeSymlink:
		return Symlink
	}
	parts := strings.Split(e.Path, "/")
	for i, dir := range parts[:len(parts)-1] {
		if slices.Contains(excludedDirs, dir) {
			return ExcludedDirectory
		}
		if len(p.dirs) > 0 && p.dirs[strings.Join(parts[:i+1], "/")] {
			return ExcludedDirectory
		}
	}
	for _, dir := range parts[:len(parts)-1] {
		if slices.Contains(credentialDirs, dir) {
			return CredentialFile
		}
	}
	base := strings.ToLower(parts[len(parts)-1])
	for _, pattern := range credentialFiles {
		if matchPart(pattern, base) {
			return CredentialFile
		}
	}
	for _, g := range p.globs {
		if g.matchFile(parts, false) {
			return ExcludedPattern
		}
	}
	if p.attrs.generated(e.Path) {
		return GeneratedFile
	}
	return ""
}

// byContent decides what only the content can tell; "" includes the file.
func (p *policy) byContent(e *Entry, content []byte) Reason {
	switch {
	case isLFSPointer(content):
		return LFSPointer
	case bytes.HasPrefix(content, []byte("\xff\xfe")), bytes.HasPrefix(content, []byte("\xfe\xff")):
		return UnsupportedEncoding
	case bytes.IndexByte(content, 0) >= 0:
		return BinaryFile
	case !utf8.Valid(content):
		return UnsupportedEncoding
	case isMinified(e.Path, content):
		return MinifiedFile
	}
	return ""
}

// isLFSPointer recognises the pointer files of Git LFS (its spec.md: under 1024
// bytes, the version line first).
func isLFSPointer(content []byte) bool {
	return len(content) < 1024 && (bytes.HasPrefix(content, []byte("version https://git-lfs.github.com/spec/")) ||
		bytes.HasPrefix(content, []byte("version https://hawser.github.com/spec/"))) &&
		bytes.Contains(content, []byte("\noid "))
}

// isMinified tells a bundle by its lines: long on average, or nearly all in one.
func isMinified(path string, content []byte) bool {
	dot := strings.LastIndexByte(path, '.')
	if dot < 0 || len(content) < minifiedMinBytes || !slices.Contains(minifiable, strings.ToLower(path[dot:])) {
		return false
	}
	lines, longest := 0, 0
	for rest := content; len(rest) > 0; lines++ {
		n := bytes.IndexByte(rest, '\n') + 1
		if n == 0 {
			n = len(rest)
		}
		longest = max(longest, n)
		rest = rest[n:]
	}
	return len(content)/lines > minifiedAverage || longest > minifiedLongest && longest >= len(content)/5*4
}
