package keys

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Namespace is the allowed_signers namespace of grants, so that a key that is
// trusted for Git alone cannot vouch for packets.
const Namespace = "exhibit-packet@exhibit.dev"

// Public is the public half of a key.
type Public struct {
	Name      string // in the store; "" for a key outside it
	Principal string // whom the signer says it is; the trust file decides
	Key       ed25519.PublicKey
}

// KeyID is the SSH fingerprint, "SHA256:..." as ssh-keygen -l prints it.
func (p *Public) KeyID() string { return ssh.FingerprintSHA256(p.ssh()) }

// Issuer is the principal, or the fingerprint of a key that has none.
func (p *Public) Issuer() string {
	if p.Principal == "" {
		return p.KeyID()
	}
	return p.Principal
}

func (p *Public) ssh() ssh.PublicKey {
	key, err := ssh.NewPublicKey(p.Key)
	if err != nil {
		// Key is always 32 bytes: every constructor in this package checks it.
		return nil
	}
	return key
}

// AuthorizedKey is the OpenSSH public line: algorithm, base64, principal. It
// has no line end.
func (p *Public) AuthorizedKey() string {
	line := strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(p.ssh())), "\n")
	if p.Principal != "" {
		line += " " + p.Principal
	}
	return line
}

// AllowedSigner is the line for a verifier's trust file (ssh-keygen(1),
// ALLOWED SIGNERS), for the namespace of grants only. It has no line end.
func (p *Public) AllowedSigner() string {
	line := strings.TrimSuffix(string(ssh.MarshalAuthorizedKey(p.ssh())), "\n")
	return p.Issuer() + ` namespaces="` + Namespace + `" ` + line
}

// PEM is the key as a SubjectPublicKeyInfo PEM block (RFC 8410), for openssl,
// cosign and node.
func (p *Public) PEM() ([]byte, error) {
	der, err := x509.MarshalPKIXPublicKey(p.Key)
	if err != nil {
		return nil, fault.New(fault.KeyUnavailable, "cannot write the public key as PEM: %w", err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil
}

// parsePublic reads an OpenSSH public line with its comment as principal.
func parsePublic(line []byte) (*Public, error) {
	key, comment, _, _, err := ssh.ParseAuthorizedKey(line)
	if err != nil {
		return nil, err
	}
	crypto, ok := key.(ssh.CryptoPublicKey)
	if !ok {
		return nil, errNotEd25519
	}
	ed, ok := crypto.CryptoPublicKey().(ed25519.PublicKey)
	if !ok {
		return nil, errNotEd25519
	}
	return &Public{Principal: comment, Key: ed}, nil
}

// checkPrincipal refuses a principal that has another meaning, or none, in an
// allowed_signers line.
func checkPrincipal(s string) error {
	const allowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._+@:/-"
	if s == "" || len(s) > 128 || strings.Trim(s, allowed) != "" || strings.HasPrefix(s, "-") {
		return fault.New(fault.InvalidRequest, "%q is no principal", s).
			WithHint("use 1 to 128 letters, digits and any of . _ + @ : / - such as ada@example.org")
	}
	return nil
}
