package trust

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/binary"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// The key types that may sign, by their names in RFC 8709 and RFC 5656.
const (
	typeEd25519 = "ssh-ed25519"
	typeP256    = "ecdsa-sha2-nistp256"
)

// Key is a trusted public key: Ed25519 or ECDSA on P-256.
type Key struct {
	wire    string // SSH wire encoding (RFC 4253, section 6.6): the key's identity
	ed25519 ed25519.PublicKey
	p256    *ecdsa.PublicKey
}

// Type gives the key's SSH type name.
func (k Key) Type() string {
	if k.p256 != nil {
		return typeP256
	}
	return typeEd25519
}

// Fingerprint gives what ssh-keygen -l prints: SHA256: and unpadded base64.
func (k Key) Fingerprint() string {
	sum := sha256.Sum256([]byte(k.wire))
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

// Verify says whether the key signed message. An Ed25519 signature is the 64
// bytes of RFC 8032, pure Ed25519 and not Ed25519ph; an ECDSA signature is the
// ASN.1 DER of RFC 3279 over SHA-256.
func (k Key) Verify(message, signature []byte) bool {
	switch {
	case k.p256 != nil:
		sum := sha256.Sum256(message)
		return ecdsa.VerifyASN1(k.p256, sum[:], signature)
	case len(k.ed25519) == ed25519.PublicKeySize:
		return ed25519.Verify(k.ed25519, message, signature)
	}
	return false
}

// NewKey gives the trusted form of an Ed25519 public key.
func NewKey(public ed25519.PublicKey) (Key, error) {
	if len(public) != ed25519.PublicKeySize {
		return Key{}, fmt.Errorf("an Ed25519 public key has %d bytes, not %d", ed25519.PublicKeySize, len(public))
	}
	wire := appendString(appendString(nil, []byte(typeEd25519)), public)
	return Key{wire: string(wire), ed25519: bytes.Clone(public)}, nil
}

func newP256(public *ecdsa.PublicKey) (Key, error) {
	if public.Curve != elliptic.P256() {
		return Key{}, errors.New("of the elliptic curves only P-256 is supported")
	}
	point, err := public.Bytes()
	if err != nil {
		return Key{}, fmt.Errorf("not a point of P-256: %w", err)
	}
	wire := appendString(nil, []byte(typeP256))
	wire = appendString(wire, []byte("nistp256"))
	wire = appendString(wire, point)
	return Key{wire: string(wire), p256: public}, nil
}

// readKey reads "type base64 comment", as sshkey_read does. isKey says whether
// text begins like a key at all: with a known type name and base64 that decodes.
func readKey(text string) (key Key, isKey bool, err error) {
	kind, rest, found := cutBlank(text)
	if !found || !keyTypes[kind] {
		return Key{}, false, errors.New("no key")
	}
	encoded, _, _ := cutBlank(rest)
	wire, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(wire) == 0 {
		return Key{}, false, errors.New("the key is not valid base64")
	}
	key, err = parseWire(kind, wire)
	return key, true, err
}

// keyTypes are the type names with which an OpenSSH public key begins.
var keyTypes = map[string]bool{
	typeEd25519: true, typeP256: true,
	"ssh-rsa": true, "ssh-dss": true,
	"ecdsa-sha2-nistp384": true, "ecdsa-sha2-nistp521": true,
	"sk-ssh-ed25519@openssh.com": true, "sk-ecdsa-sha2-nistp256@openssh.com": true,
	"ssh-ed25519-cert-v01@openssh.com": true, "ssh-rsa-cert-v01@openssh.com": true,
	"ecdsa-sha2-nistp256-cert-v01@openssh.com": true,
}

// parseWire reads the SSH wire encoding of a key and wants it to be of the type
// that the line names, without trailing bytes.
func parseWire(kind string, wire []byte) (Key, error) {
	inner, rest, ok := cutString(wire)
	if !ok || string(inner) != kind {
		return Key{}, fmt.Errorf("the key's bytes are not of its type %s", kind)
	}
	switch kind {
	case typeEd25519:
		public, rest, ok := cutString(rest)
		if !ok || len(rest) != 0 {
			return Key{}, errors.New("the Ed25519 key is malformed")
		}
		return NewKey(public)
	case typeP256:
		curve, rest, ok1 := cutString(rest)
		point, rest, ok2 := cutString(rest)
		if !ok1 || !ok2 || len(rest) != 0 || string(curve) != "nistp256" {
			return Key{}, errors.New("the ECDSA key is malformed")
		}
		public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
		if err != nil {
			return Key{}, errors.New("the ECDSA key is not a point of P-256")
		}
		return newP256(public)
	}
	return Key{}, fmt.Errorf("keys of type %s are not supported: only Ed25519 and ECDSA P-256", kind)
}

// readPEM reads one SubjectPublicKeyInfo in PEM (RFC 7468, section 13) and
// nothing after it.
func readPEM(data []byte) (Key, error) {
	block, rest := pem.Decode(data)
	if block == nil || block.Type != "PUBLIC KEY" || len(bytes.TrimSpace(rest)) != 0 {
		return Key{}, errors.New("want exactly one PEM block of type PUBLIC KEY")
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Key{}, errors.New("the PEM block does not hold a public key")
	}
	switch public := public.(type) {
	case ed25519.PublicKey:
		return NewKey(public)
	case *ecdsa.PublicKey:
		return newP256(public)
	}
	return Key{}, errors.New("only Ed25519 and ECDSA P-256 keys are supported")
}

// cutString cuts a length-prefixed string (RFC 4251, section 5) off b.
func cutString(b []byte) (s, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := binary.BigEndian.Uint32(b)
	if uint64(n) > uint64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}

func appendString(b, s []byte) []byte {
	return append(binary.BigEndian.AppendUint32(b, uint32(len(s))), s...)
}

// cutBlank cuts text at its first run of blanks; found says whether there was
// one and something after it.
func cutBlank(text string) (word, rest string, found bool) {
	i := strings.IndexAny(text, blanks)
	if i < 0 {
		return text, "", false
	}
	rest = strings.TrimLeft(text[i:], blanks)
	return text[:i], rest, rest != ""
}

// blanks are the bytes that separate the fields of a line; a carriage return
// stands at the end of a line that a Windows editor wrote.
const blanks = " \t\r"
