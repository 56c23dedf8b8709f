// Package keys holds the Ed25519 keys that sign grants, as OpenSSH files in the
// user's configuration folder.
//
// A private key is 0600 in a folder that is 0700, owned by the user, outside
// every repository; anything looser is refused, never repaired. Only plain
// Ed25519 signs: other algorithms and passphrase-protected files are refused
// with what to do instead. New makes a key, Store.Load and LoadFile read one,
// and Default is the one that signs when none is named. What a verifier needs
// comes out in the forms that other tools read: an OpenSSH public line, an
// allowed_signers line in the namespace of this tool, and SPKI PEM.
package keys
