package snapshot

import (
	"reflect"
	"testing"
)

// The layout is a format: these bytes do not change without a new version.
func TestFingerprintIsPinned(t *testing.T) {
	m := &Manifest{ObjectFormat: SHA1, Commit: "aa", PolicyDigest: "bb", Entries: []Entry{
		{Path: "a\xff", Mode: 0o100644, Blob: "01", SHA256: "02", Size: 3, Language: "go"},
		{Path: "b", Mode: 0o160000, Blob: "04", Size: -1, Reason: Submodule}}}
	rules := Rules{ResolutionDigest: "r", Parsers: map[string]string{"go": "1", "a": "2"}, Schema: 1}
	const want = "2f849490cf18a5bc6762e3a4e800c6b15f664a78f5129ee29c3e7d5abab47ff2"
	if got := ContentFingerprint(m, rules); got != want {
		t.Errorf("fingerprint is %s", got)
	}
	if LocalFingerprint("c", "x") == LocalFingerprint("c", "y") || LocalFingerprint("ab", "c") == LocalFingerprint("a", "bc") {
		t.Error("local fingerprints collide")
	}
}

// Everything that identifies a generation changes the fingerprint; what is only
// observed does not.
func TestFingerprintCoverage(t *testing.T) {
	base := func() (*Manifest, *Rules) {
		return &Manifest{ObjectFormat: SHA1, Commit: "aa", PolicyDigest: "bb", Entries: []Entry{{Path: "a", Blob: "01"}}},
			&Rules{Parsers: map[string]string{"go": "1"}, Resolvers: map[string]string{"go": "1"}}
	}
	m, r := base()
	want := ContentFingerprint(m, *r)
	for name, change := range map[string]func(m *Manifest, r *Rules){
		"format":   func(m *Manifest, _ *Rules) { m.ObjectFormat = SHA256 },
		"commit":   func(m *Manifest, _ *Rules) { m.Commit = "" },
		"policy":   func(m *Manifest, _ *Rules) { m.PolicyDigest = "cc" },
		"path":     func(m *Manifest, _ *Rules) { m.Entries[0].Path = "b" },
		"mode":     func(m *Manifest, _ *Rules) { m.Entries[0].Mode = 1 },
		"blob":     func(m *Manifest, _ *Rules) { m.Entries[0].Blob = "02" },
		"sha256":   func(m *Manifest, _ *Rules) { m.Entries[0].SHA256 = "02" },
		"size":     func(m *Manifest, _ *Rules) { m.Entries[0].Size = 9 },
		"language": func(m *Manifest, _ *Rules) { m.Entries[0].Language = "go" },
		"reason":   func(m *Manifest, _ *Rules) { m.Entries[0].Reason = Symlink },
		"entries":  func(m *Manifest, _ *Rules) { m.Entries = append(m.Entries, Entry{Path: "z"}) },
		"parser":   func(_ *Manifest, r *Rules) { r.Parsers["go"] = "2" },
		"resolver": func(_ *Manifest, r *Rules) { r.Resolvers["go"] = "2" },
		"schema":   func(_ *Manifest, r *Rules) { r.Schema = 2 },
		"rules":    func(_ *Manifest, r *Rules) { r.ResolutionDigest = "x" },
	} {
		m, r := base()
		change(m, r)
		if ContentFingerprint(m, *r) == want {
			t.Errorf("%s is not in the fingerprint", name)
		}
	}
	m, r = base()
	m.Source, m.Dirty, m.Worktree, m.Tree = FromWorktree, true, &WorktreeState{Staged: 1}, "cc"
	if ContentFingerprint(m, *r) != want {
		t.Error("observations are in the fingerprint")
	}
}

// Two clones in two folders, one packed, scanned with different numbers of
// workers: one fingerprint.
func TestFingerprintIsTheSameEverywhere(t *testing.T) {
	r := newRepo(t)
	for _, f := range []string{"a.py", "b/c.py", "b/d.js", "zz.bin"} {
		r.write(f, f+"\n")
	}
	r.commit("one")
	c := r.clone()
	c.git("gc", "-q")
	m1, _ := scanCommit(t, open(t, r.dir), "HEAD", Options{Workers: 1})
	m2, _ := scanCommit(t, open(t, c.dir), "HEAD", Options{Workers: 7})
	if !reflect.DeepEqual(m1, m2) || ContentFingerprint(m1, Rules{}) != ContentFingerprint(m2, Rules{}) {
		t.Error("the clone's manifest differs")
	}
	m3, _ := scanCommit(t, open(t, r.dir), "HEAD", Options{Exclude: []string{"nothing"}})
	if m3.PolicyDigest == m1.PolicyDigest {
		t.Error("the policy digest does not cover the patterns")
	}
}
