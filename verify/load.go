package verify

import (
	"os"
	"path/filepath"

	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/verify/trust"
)

// TrustEnv names the trust file that is used when none is given.
const TrustEnv = "EXHIBIT_TRUST"

// DefaultTrust is $EXHIBIT_TRUST, or allowed_signers in the configuration folder.
func DefaultTrust() (string, error) {
	if path := os.Getenv(TrustEnv); path != "" {
		return path, nil
	}
	dir, err := keys.ConfigDir()
	if err != nil {
		return "", err
	}
	return filepath.Join(dir, "allowed_signers"), nil
}

// LoadTrust reads a trust file ("": DefaultTrust) and a list of revoked keys
// ("": the trust file's name with .revoked, when that is there). Neither may lie
// in the worktree or the Git folders of repo, which may be nil.
func LoadTrust(path, revoked string, repo *snapshot.Repository) (*trust.File, *trust.Revoked, error) {
	if path == "" {
		var err error
		if path, err = DefaultTrust(); err != nil {
			return nil, nil, err
		}
	}
	s := trust.Source{Path: path, Revoked: revoked, Namespace: keys.Namespace}
	if repo != nil {
		s.Outside = []string{repo.Root(), repo.GitDir(), repo.CommonDir()}
		if common := repo.CommonDir(); filepath.Base(common) == ".git" {
			s.Outside = append(s.Outside, filepath.Dir(common)) // the main worktree of a linked one
		}
	}
	return trust.Load(s)
}
