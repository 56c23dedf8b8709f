package keys

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// TrustFile is the name of the trust file in the configuration folder.
const TrustFile = "allowed_signers"

// Trust adds a key's allowed_signers line to the trust file of the
// configuration folder, once, and gives the file's path.
func (s Store) Trust(p *Public) (string, error) {
	path := filepath.Join(s.Dir, TrustFile)
	old, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return path, fault.New(fault.KeyUnavailable, "cannot read the trust file: %w", err)
	}
	line := []byte(p.AllowedSigner() + "\n")
	if bytes.Contains(old, line) {
		return path, nil
	}
	if len(old) > 0 && old[len(old)-1] != '\n' {
		old = append(old, '\n')
	}
	return path, packet.WriteFile(path, append(old, line...))
}
