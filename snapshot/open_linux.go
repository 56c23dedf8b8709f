package snapshot

import (
	"errors"

	"golang.org/x/sys/unix"
)

// openBeneath resolves the whole path in the kernel (openat2(2), Linux 5.6),
// falling back where it is absent or a sandbox forbids it.
func openBeneath(dir int, path string) (int, error) {
	how := unix.OpenHow{Flags: openFlags,
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_SYMLINKS | unix.RESOLVE_NO_MAGICLINKS}
	for {
		fd, err := unix.Openat2(dir, path, &how)
		switch {
		case errors.Is(err, unix.EINTR), errors.Is(err, unix.EAGAIN):
			continue
		case errors.Is(err, unix.ENOSYS), errors.Is(err, unix.EPERM):
			return openByStep(dir, path)
		}
		return fd, err
	}
}
