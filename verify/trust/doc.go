// Package trust decides which public keys may vouch for packets: it reads a
// trust file in the allowed_signers syntax of OpenSSH (ssh-keygen(1), ALLOWED
// SIGNERS) and a plain list of revoked keys, and answers whether a signature was
// made by a key that is trusted for a namespace, at a time, and for a principal.
//
// The meaning is that of ssh-keygen -Y verify, with these differences, each of
// which refuses more:
//   - only Ed25519 and ECDSA P-256 keys are used; a line with another key
//     vouches for nothing and is reported as a Problem;
//   - valid-after and valid-before must say Z, since a time without a zone means
//     another instant on every machine;
//   - a cert-authority line vouches for nothing: an envelope carries no
//     certificate, and an authority's own key is not a signer;
//   - a list of revoked keys with one unreadable line is refused whole.
//
// Two other files are accepted because they are what a newcomer has at hand: one
// that holds nothing but bare OpenSSH public keys (id_ed25519.pub), and one
// public key in PEM (SubjectPublicKeyInfo). Each of those keys is trusted for
// every principal, in the one namespace that ParseFor names and in no other.
//
// The algorithm comes from the trusted key and never from the envelope, whose
// key id is a hint. The package is pure but for Load, which refuses a trust file
// that lies inside a folder the caller names, such as the repository under
// examination.
package trust
