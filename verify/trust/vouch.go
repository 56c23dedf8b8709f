package trust

import (
	"fmt"
	"strings"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Use is what a signature is asked to vouch for.
type Use struct {
	Namespace string
	At        time.Time // now: a key must be valid at the moment of checking
	Revoked   *Revoked  // nil: none
}

// Signer is a trusted key that made a signature, with the lines that allow it.
type Signer struct {
	Key     Key
	Entries []Entry // never empty
}

// Allows says whether one of the signer's lines lists the principal.
func (s *Signer) Allows(principal string) bool {
	for _, e := range s.Entries {
		if principal != "" && matchList(principal, e.Principals) {
			return true
		}
	}
	return false
}

// Reason says why a signature does not vouch.
type Reason string

// The reasons, from the least to the most that is known about the signature.
const (
	ReasonSignerUntrusted  Reason = "signer_untrusted"  // no trusted key made it
	ReasonSignatureInvalid Reason = "signature_invalid" // it names a trusted key that did not make it
	ReasonKeyIsAuthority   Reason = "key_is_authority"  // made by a cert-authority's own key
	ReasonKeyRevoked       Reason = "key_revoked"
	ReasonNamespace        Reason = "namespace_not_allowed"
	ReasonKeyNotYetValid   Reason = "key_not_yet_valid"
	ReasonKeyExpired       Reason = "key_expired"
)

// Refusal says why a signature does not vouch, in a word and in a sentence.
type Refusal struct {
	Reason Reason
	Detail string
}

// Error gives the sentence.
func (r *Refusal) Error() string { return r.Detail }

// Vouch finds the trusted key that made the signature over message and checks
// that it is not revoked and that a line allows it for this namespace and time.
// keyID is a hint that only words the refusal: every trusted key is tried.
func (f *File) Vouch(message, signature []byte, keyID string, use Use) (*Signer, *Refusal) {
	var made []Entry
	for _, e := range f.Entries {
		if len(made) > 0 && made[0].Key.wire == e.Key.wire || e.Key.Verify(message, signature) {
			made = append(made, e)
		}
	}
	if len(made) == 0 {
		return nil, f.unknown(keyID)
	}
	key := made[0].Key
	if use.Revoked.Has(key) {
		return nil, refuse(ReasonKeyRevoked, "the signing key %s is on the list of revoked keys", key.Fingerprint())
	}
	signer := &Signer{Key: key}
	refusal := refuse(ReasonKeyIsAuthority, "the signing key %s is trusted as cert-authority only, which does not vouch for a plain signature", key.Fingerprint())
	for _, e := range made {
		if e.Authority {
			continue
		}
		if r := e.refuse(use); r != nil {
			refusal = r
			continue
		}
		signer.Entries = append(signer.Entries, e)
	}
	if len(signer.Entries) == 0 {
		return nil, refusal
	}
	return signer, nil
}

// refuse checks a line's namespaces and times, in OpenSSH's order.
func (e *Entry) refuse(use Use) *Refusal {
	fp := e.Key.Fingerprint()
	if e.Namespaces != nil && !matchList(use.Namespace, *e.Namespaces) {
		return refuse(ReasonNamespace, "line %d trusts the signing key %s for the namespaces %q only, not for %q", e.Line, fp, *e.Namespaces, use.Namespace)
	}
	now := use.At.Truncate(time.Second)
	if !e.After.IsZero() && now.Before(e.After) {
		return refuse(ReasonKeyNotYetValid, "line %d trusts the signing key %s only after %s", e.Line, fp, e.After.Format(time.RFC3339))
	}
	if !e.Before.IsZero() && now.After(e.Before) {
		return refuse(ReasonKeyExpired, "line %d trusts the signing key %s only until %s", e.Line, fp, e.Before.Format(time.RFC3339))
	}
	return nil
}

// unknown words the refusal of a signature that no trusted key made.
func (f *File) unknown(keyID string) *Refusal {
	for _, e := range f.Entries {
		if keyID != "" && e.Key.Fingerprint() == keyID {
			return refuse(ReasonSignatureInvalid, "the signature names the trusted key %s, which did not make it: the grant was altered", keyID)
		}
	}
	detail := "no key of the trust file made the signature"
	if strings.HasPrefix(keyID, "SHA256:") && len(keyID) < 64 {
		detail += fmt.Sprintf("; it names the key %q", keyID)
	}
	if len(f.Problems) > 0 {
		p := f.Problems[0]
		detail += fmt.Sprintf("; line %d of the trust file is not usable: %s", p.Line, p.Reason)
	}
	return &Refusal{Reason: ReasonSignerUntrusted, Detail: detail}
}

func refuse(reason Reason, format string, args ...any) *Refusal {
	return &Refusal{Reason: reason, Detail: fmt.Sprintf(format, args...)}
}

// Revoked is a set of public keys that vouch for nothing, whatever a trust file says.
type Revoked struct {
	keys map[string]bool // by wire encoding
}

// Has says whether the key is revoked; a nil set has none.
func (r *Revoked) Has(k Key) bool { return r != nil && r.keys[k.wire] }

// Len gives the number of keys.
func (r *Revoked) Len() int {
	if r == nil {
		return 0
	}
	return len(r.keys)
}

// ParseRevoked reads a plain list of OpenSSH public keys, one a line, with
// comments. Key revocation lists in OpenSSH's binary format are refused. A line
// that is not a key refuses the whole list: it might be the one that matters.
// Keys that could not sign anyway, such as RSA keys, are passed over.
func ParseRevoked(data []byte) (*Revoked, error) {
	if len(data) > MaxFileBytes {
		return nil, fmt.Errorf("larger than %d bytes", MaxFileBytes)
	}
	if strings.HasPrefix(string(data), "SSHKRL\n") {
		return nil, fault.New(fault.Unsupported, "a binary key revocation list").
			WithHint("list the revoked public keys one a line, as in their .pub files")
	}
	set := &Revoked{keys: make(map[string]bool)}
	for number, line := range strings.Split(string(data), "\n") {
		line = strings.Trim(line, blanks)
		if line == "" || line[0] == '#' {
			continue
		}
		key, isKey, err := readKey(line)
		kind, _, _ := cutBlank(line)
		if err != nil && (!isKey || kind == typeEd25519 || kind == typeP256) {
			return nil, fmt.Errorf("line %d is not a public key: %w", number+1, err)
		}
		if err == nil {
			set.keys[key.wire] = true
		}
	}
	return set, nil
}
