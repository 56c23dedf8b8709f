package snapshot

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// errFolder: where Git keeps a file there is a folder.
var errFolder = fmt.Errorf("%w: a folder", errNotRegular)

// openGitFile opens a file that Git keeps below its folder. A link is followed,
// as Git does. Nobody vouches for what stands there: a FIFO would keep open(2)
// waiting for a writer, out of reach of any context, so that opening never
// blocks, and what is not a regular file is fault.RepositoryFailed with
// errNotRegular in its chain.
func openGitFile(path string) (*os.File, fs.FileInfo, error) {
	f, err := os.OpenFile(path, gitFileFlags, 0)
	if err != nil {
		// A socket cannot be opened at all: say what it is rather than ENXIO.
		if st, statErr := os.Stat(path); statErr == nil && !st.Mode().IsRegular() {
			err = irregular(path, st.Mode())
		}
		return nil, nil, err
	}
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		err = irregular(path, st.Mode())
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, st, nil
}

// irregular refuses a file of this mode.
func irregular(path string, mode fs.FileMode) error {
	what, cause := "a special file", errNotRegular
	switch {
	case mode.IsDir():
		what, cause = "a folder", errFolder
	case mode&fs.ModeNamedPipe != 0:
		what = "a named pipe"
	case mode&fs.ModeSocket != 0:
		what = "a socket"
	case mode&fs.ModeDevice != 0:
		what = "a device"
	}
	e := fault.New(fault.RepositoryFailed, "%q is %s, where Git keeps a regular file", path, what).
		WithHint("move it away and run git fsck, or clone the repository again")
	e.Err = cause
	return e
}

// readSmallFile reads a regular file of at most limit bytes.
func readSmallFile(path string, limit int64) ([]byte, error) {
	f, st, err := openGitFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	tooLarge := fault.New(fault.RepositoryFailed, "%q is larger than %d bytes", path, limit)
	if st.Size() > limit {
		return nil, tooLarge
	}
	data, err := io.ReadAll(io.LimitReader(f, limit+1)) // it may grow meanwhile
	if err != nil {
		return nil, err
	}
	if int64(len(data)) > limit {
		return nil, tooLarge
	}
	return data, nil
}

// cannotRead gives a failure to read one of Git's files its code. A refusal that
// has one, and a hint, stays as it is.
func cannotRead(err error, format string, args ...any) error {
	var known *fault.Error
	if errors.As(err, &known) {
		return err
	}
	return fault.New(fault.RepositoryFailed, "cannot read "+format+": %w", append(args, err)...)
}
