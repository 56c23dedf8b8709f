package packet

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// onlyFile checks that a folder holds one name and nothing else.
func onlyFile(t *testing.T, dir, name string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() != name {
			t.Errorf("%q was left behind", e.Name())
		}
	}
}

func TestWriteFileIsPrivateAndReplaces(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out.json")
	if err := os.WriteFile(path, []byte("old"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WriteFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	got, _ := os.ReadFile(path)
	info, _ := os.Stat(path)
	if string(got) != "new" || info.Mode().Perm() != 0o600 {
		t.Errorf("%q, mode %v", got, info.Mode())
	}
	onlyFile(t, dir, "out.json")
}

func TestWriteFileReplacesALinkAndNotWhatItPointsTo(t *testing.T) {
	elsewhere := filepath.Join(t.TempDir(), "victim")
	if err := os.WriteFile(elsewhere, []byte("victim"), 0o600); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for name, target := range map[string]string{"link": elsewhere, "dangling": filepath.Join(dir, "nothing")} {
		path := filepath.Join(dir, name)
		if err := os.Symlink(target, path); err != nil {
			t.Fatal(err)
		}
		if err := WriteFile(path, []byte("new")); err != nil {
			t.Fatal(err)
		}
		if info, _ := os.Lstat(path); !info.Mode().IsRegular() {
			t.Errorf("%s is still %v", name, info.Mode())
		}
	}
	if b, _ := os.ReadFile(elsewhere); string(b) != "victim" {
		t.Errorf("the link was followed: %q", b)
	}
	if _, err := os.Lstat(filepath.Join(dir, "nothing")); err == nil {
		t.Error("the dangling link was followed")
	}
}

func TestWriteFileRefusesWithWhatToDo(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, msg string }{
		"folder":           {dir, "it is a folder"},
		"no such folder":   {filepath.Join(dir, "a", "b"), "no such file or directory"},
		"file as a folder": {filepath.Join(file, "b"), "not a directory"},
	} {
		err := WriteFile(c.path, []byte("x"))
		if fault.CodeOf(err) != fault.StorageFailed || !strings.Contains(err.Error(), c.msg) || strings.Contains(err.Error(), ".tmp") {
			t.Errorf("%s: %v", name, err)
		}
	}
	onlyFile(t, dir, "file")
}

// asChild runs this test alone in a process of its own, so that a limit
// there touches nothing else.
func asChild(t *testing.T, env ...string) {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), env...)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// A full disk, as the file size limit of a process: writing stops half-way.
func TestWriteFileOnAFullDiskLeavesTheOldFile(t *testing.T) {
	dir := os.Getenv("WRITEFILE_FULL")
	if dir == "" {
		dir = t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "out"), []byte("old"), 0o600); err != nil {
			t.Fatal(err)
		}
		asChild(t, "WRITEFILE_FULL="+dir)
		if b, _ := os.ReadFile(filepath.Join(dir, "out")); string(b) != "old" {
			t.Errorf("the old file is now %d bytes", len(b))
		}
		onlyFile(t, dir, "out")
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: 4096, Max: 4096}); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(filepath.Join(dir, "out"), bytes.Repeat([]byte("x"), 100000))
	if fault.CodeOf(err) != fault.StorageFailed || !errors.Is(err, syscall.EFBIG) {
		t.Fatalf("a write that cannot be finished: %v", err)
	}
}

// A folder that may be read and not written, for a user who is not root: the
// file system identity of one thread, which ends with its goroutine.
func TestWriteFileInAReadOnlyFolder(t *testing.T) {
	dir, err := os.MkdirTemp("", "exhibit-readonly")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.RemoveAll(dir) }()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o555); err != nil {
		t.Fatal(err)
	}
	result := make(chan error)
	go func() {
		if os.Geteuid() == 0 {
			runtime.LockOSThread()
			if err := syscall.Setfsuid(65534); err != nil {
				result <- err
				return
			}
		}
		result <- WriteFile(path, []byte("new"))
	}()
	err = <-result
	var f *fault.Error
	if !errors.As(err, &f) || f.Code != fault.StorageFailed || !errors.Is(err, os.ErrPermission) || f.Hint == "" {
		t.Errorf("a read-only folder: %v", err)
	}
	if b, _ := os.ReadFile(path); string(b) != "old" {
		t.Errorf("the old file is now %q", b)
	}
	onlyFile(t, dir, "out")
}

// TestDevicesAndPipesAreRefused: replacing /dev/stdout or a pipe by a file would
// break them for everyone.
func TestDevicesAndPipesAreRefused(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(dir, "link")
	if err := os.Symlink(pipe, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{pipe, link} {
		before, _ := os.Lstat(path)
		if err := WriteFile(path, []byte("x")); fault.CodeOf(err) != fault.StorageFailed {
			t.Errorf("%s: %v", path, err)
		}
		if after, err := os.Lstat(path); err != nil || after.Mode() != before.Mode() {
			t.Errorf("%s is %v now, %v", path, after, err)
		}
	}
}
