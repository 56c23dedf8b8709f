package kv

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Outcome is how a build ended.
type Outcome struct {
	Started     string     `json:"started"` // RFC 3339
	Finished    string     `json:"finished"`
	OK          bool       `json:"ok"`
	Fingerprint string     `json:"fingerprint,omitempty"` // what it published
	Code        fault.Code `json:"code,omitempty"`        // why it failed
	Message     string     `json:"message,omitempty"`
	Hint        string     `json:"hint,omitempty"`
}

func (c *Cache) outcomePath(b Binding) string { return filepath.Join(c.bindingDir(b), "outcome.json") }

func (c *Cache) writeOutcome(b Binding, started string, meta Meta, err error) error {
	o := Outcome{Started: started, Finished: now(), OK: err == nil, Fingerprint: meta.Fingerprint}
	if err != nil {
		o.Message, o.Code = err.Error(), fault.CodeOf(err)
		var f *fault.Error
		if errors.As(err, &f) {
			o.Hint = f.Hint
		}
	}
	return writeSealed(c.outcomePath(b), o)
}

// Published names a generation that is published, without opening it.
type Published struct {
	Fingerprint string `json:"fingerprint"`
	Commit      string `json:"commit"`
	Source      string `json:"source"`
	Dirty       bool   `json:"dirty"`
	BuiltAt     string `json:"built_at"`
}

// Status is the state of a binding.
type Status struct {
	// State is missing (nothing published), building, failed (the last build,
	// with nothing or an older generation serving) or ready.
	State     string     `json:"state"`
	Current   *Published `json:"current,omitempty"`
	Previous  *Published `json:"previous,omitempty"`
	LastBuild *Outcome   `json:"last_build,omitempty"`
	Bytes     int64      `json:"bytes"` // on disk, all generations
	Budget    int64      `json:"budget"`
}

// Status says what is published and how the last build ended. It opens no
// generation. A pointer that is damaged is fault.IndexIntegrity.
func (c *Cache) Status(b Binding) (Status, error) {
	s := Status{State: "missing", Bytes: folderSize(c.bindingDir(b)), Budget: c.budget}
	p, err := c.readPointer(b)
	if err != nil {
		return s, err
	}
	s.Current, s.Previous = published(p.Current), published(p.Previous)
	if s.Current != nil {
		s.State = "ready"
	}
	var o Outcome
	switch err := readSealed(c.outcomePath(b), &o); {
	case err == nil:
		s.LastBuild = &o
		if !o.OK {
			s.State = "failed"
		}
	case !errors.Is(err, fs.ErrNotExist) && !errors.Is(err, errMalformed):
		return s, storage("read the last build's outcome", err)
	}
	lock, err := tryLock(filepath.Join(c.bindingDir(b), "lock"), os.O_RDONLY, unix.LOCK_SH)
	switch {
	case errors.Is(err, errLocked):
		s.State = "building"
	case err == nil:
		lock.Close()
	case !errors.Is(err, fs.ErrNotExist):
		return s, storage("look at the build lock", err)
	}
	return s, nil
}

func published(p *publication) *Published {
	if p == nil {
		return nil
	}
	return &Published{Fingerprint: p.Fingerprint, Commit: p.Commit, Source: string(p.Source), Dirty: p.Dirty, BuiltAt: p.BuiltAt}
}
