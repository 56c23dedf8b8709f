package snapshot

import (
	"bytes"
	"crypto/sha1"
	"os/exec"
	"syscall"
)

func runGit(dir string, args ...string) error {
	return exec.Command("git", append([]string{"-C", dir}, args...)...).Run()
}

func mkfifo(path string) error { return syscall.Mkfifo(path, 0o644) }

// rename replaces a name of the same length or shorter in a raw index of one
// entry and mends the checksum.
func rename(raw []byte, old, name string) []byte {
	padded := append([]byte(name), make([]byte, len(old)-len(name))...)
	out := bytes.Replace(raw[:len(raw)-sha1.Size], []byte(old), padded, 1)
	sum := sha1.Sum(out)
	return append(out, sum[:]...)
}
