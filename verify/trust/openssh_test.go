package trust

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

const testNamespace = "packet@exhibit.test"

// identity is a private key with its public line, as a user has it.
type identity struct {
	private crypto.Signer
	line    string // "type base64"
}

func newIdentity(t testing.TB, private crypto.Signer) identity {
	t.Helper()
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	return identity{private, strings.TrimSpace(string(ssh.MarshalAuthorizedKey(public)))}
}

func newEd25519(t testing.TB) identity {
	t.Helper()
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newIdentity(t, private)
}

func newECDSA(t testing.TB, curve elliptic.Curve) identity {
	t.Helper()
	private, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return newIdentity(t, private)
}

// sign signs as a DSSE envelope is signed: Ed25519 over the message, ECDSA in
// ASN.1 over its SHA-256.
func (id identity) sign(t testing.TB, message []byte) []byte {
	t.Helper()
	var sig []byte
	var err error
	if _, ok := id.private.(ed25519.PrivateKey); ok {
		sig, err = id.private.Sign(rand.Reader, message, crypto.Hash(0))
	} else {
		sum := sha256.Sum256(message)
		sig, err = id.private.Sign(rand.Reader, sum[:], crypto.SHA256)
	}
	if err != nil {
		t.Fatal(err)
	}
	return sig
}

func (id identity) key(t testing.TB) Key {
	t.Helper()
	key, _, err := readKey(id.line)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// TestMeaningOfSSHKeygen runs ssh-keygen -Y verify and Vouch on the same files.
// In the lines, ED, EC, OTHER, RSA and P384 stand for public keys; the signature
// is by ED unless a case says otherwise.
func TestMeaningOfSSHKeygen(t *testing.T) {
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[string]identity{
		"ED": newEd25519(t), "EC": newECDSA(t, elliptic.P256()), "OTHER": newEd25519(t),
		"RSA": newIdentity(t, rsaKey), "P384": newECDSA(t, elliptic.P384()),
	}
	const ns = `namespaces="` + testNamespace + `" `
	for _, c := range []struct {
		name    string
		lines   string
		revoked string // "-": no list
		signer  string
		user    string // ann unless given
		at      string // YYYYMMDDHHMMSSZ
		want    bool
		// stricter: ssh-keygen accepts and we refuse, for the reason of doc.go.
		stricter bool
	}{
		{name: "plain line", lines: "ann ED", want: true},
		{name: "plain line, ECDSA", lines: "ann EC", signer: "EC", want: true},
		{name: "comment after the key", lines: "ann ED ann's key # of work", want: true},
		{name: "comments, blank lines, CRLF, tabs", lines: "# signers\r\n\r\n  \t\n \tann\t ED\r\n", want: true},
		{name: "other key", lines: "ann OTHER", want: false},
		{name: "other principal", lines: "bob ED", want: false},
		{name: "one principal of a list", lines: "bob,ann ED", want: true},
		{name: "pattern", lines: "a* ED", want: true},
		{name: "question mark", lines: "an? ED", want: true},
		{name: "question mark wants a byte", lines: "ann? ED", want: false},
		{name: "pattern must match whole", lines: "an ED", want: false},
		{name: "negated pattern", lines: "*,!ann ED", want: false},
		{name: "negated pattern of another", lines: "*,!bob ED", want: true},
		{name: "only negated patterns", lines: "!bob ED", want: false},
		{name: "case counts", lines: "Ann ED", want: false},
		{name: "quoted principals", lines: `"ann" ED`, want: true},
		{name: "quoted principals with a space", lines: `"ann lee,bob" ED`, user: "ann lee", want: true},
		{name: "unclosed quote", lines: `"ann ED`, want: false},
		{name: "our namespace", lines: "ann " + ns + "ED", want: true},
		{name: "for git only", lines: `ann namespaces="git" ED`, want: false},
		{name: "for git and us", lines: `ann namespaces="git,` + testNamespace + `" ED`, want: true},
		{name: "for a namespace pattern", lines: `ann namespaces="packet@*" ED`, want: true},
		{name: "all namespaces but ours", lines: `ann namespaces="*,!packet@*" ED`, want: false},
		{name: "empty namespaces", lines: `ann namespaces="" ED`, want: false},
		{name: "for git only, then any", lines: "ann namespaces=\"git\" ED\nann ED", want: true},
		{name: "option names in any case", lines: `ann NameSpaces="git" ED`, want: false},
		{name: "namespaces twice", lines: "ann " + `namespaces="git",` + ns + "ED", want: false},
		{name: "unquoted namespaces", lines: "ann namespaces=" + testNamespace + " ED", want: false},
		{name: "unknown option", lines: "ann no-pty ED", want: false},
		{name: "trailing comma", lines: `ann namespaces="` + testNamespace + `", ED`, want: false},
		{name: "in the window", lines: `ann valid-after="20260101Z",valid-before="20270101Z" ED`, at: "20260601000000Z", want: true},
		{name: "before the window", lines: `ann valid-after="20260101Z" ED`, at: "20251231235959Z", want: false},
		{name: "first second of the window", lines: `ann valid-after="20260101Z" ED`, at: "20260101000000Z", want: true},
		{name: "last second of the window", lines: `ann valid-before="202601011200Z" ED`, at: "20260101120000Z", want: true},
		{name: "after the window", lines: `ann valid-before="20260101115959Z" ED`, at: "20260101120000Z", want: false},
		{name: "window upside down", lines: `ann valid-after="20270101Z",valid-before="20260101Z" ED`, at: "20260601000000Z", want: false},
		{name: "malformed time", lines: `ann valid-after="2026-01-01Z" ED`, at: "20260601000000Z", want: false},
		{name: "no such day", lines: `ann valid-after="20261301Z" ED`, at: "20270601000000Z", want: false},
		{name: "time without Z", lines: `ann valid-after="20250101" ED`, at: "20260601000000Z", want: true, stricter: true},
		{name: "expired line, then a good one", lines: "ann valid-before=\"20250101Z\" ED\nann ED", at: "20260601000000Z", want: true},
		{name: "an authority's own key", lines: "ann cert-authority ED", want: false},
		{name: "authority, then plain", lines: "ann cert-authority ED\nann ED", want: true},
		{name: "line without principals", lines: "ED\nbob OTHER", want: false},
		{name: "broken line, then a good one", lines: "ann ssh-ed25519 AAAA\nann ED", want: true},
		{name: "key type that does not fit", lines: "ann ssh-rsa" + strings.TrimPrefix(keys["ED"].line, "ssh-ed25519"), want: false},
		{name: "no newline at the end, no comment", lines: "bob OTHER\nann ED", want: true},
		{name: "RSA", lines: "ann RSA", signer: "RSA", want: true, stricter: true},
		{name: "P-384", lines: "ann P384", signer: "P384", want: true, stricter: true},
		{name: "RSA line beside ours", lines: "ann RSA\nann ED", want: true},
		{name: "revoked", lines: "ann ED", revoked: "# lost\nED lost laptop", want: false},
		{name: "another revoked", lines: "ann ED", revoked: "OTHER", want: true},
		{name: "RSA revoked", lines: "ann ED", revoked: "RSA", want: true},
		{name: "empty list of revoked keys", lines: "ann ED", revoked: "\n", want: true},
		{name: "unreadable line in the list of revoked keys", lines: "ann ED", revoked: "ED2551 AAAA\n", want: false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.signer == "" {
				c.signer = "ED"
			}
			if c.user == "" {
				c.user = "ann"
			}
			if c.at == "" {
				c.at = "20260601000000Z"
			}
			expand := func(s string) string {
				for _, name := range []string{"OTHER", "P384", "RSA", "ED", "EC"} {
					s = replaceWord(s, name, keys[name].line)
				}
				return s
			}
			lines, revoked := expand(c.lines), expand(c.revoked)
			if got := sshKeygen(t, keys[c.signer], lines, revoked, c.user, c.at); got != c.want {
				t.Errorf("ssh-keygen says %v, the table %v", got, c.want)
			}
			want := c.want && !c.stricter
			if got, why := ours(t, keys[c.signer], lines, revoked, c.user, c.at); got != want {
				t.Errorf("Vouch says %v (%s), the table %v", got, why, want)
			}
		})
	}
}

// replaceWord replaces a word that stands alone.
func replaceWord(s, word, with string) string {
	fields := strings.SplitAfter(s, "\n")
	for i, line := range fields {
		words := strings.Split(line, " ")
		for j, w := range words {
			bare := strings.TrimRight(w, "\r\n")
			if _, tail, ok := strings.Cut(bare, "\t"); ok && tail == word {
				bare = tail
			}
			if bare == word {
				words[j] = strings.Replace(w, word, with, 1)
			}
		}
		fields[i] = strings.Join(words, " ")
	}
	return strings.Join(fields, "")
}

func ours(t *testing.T, by identity, lines, revoked, user, at string) (bool, string) {
	t.Helper()
	now, err := time.Parse("20060102150405Z", at)
	if err != nil {
		t.Fatal(err)
	}
	file, err := ParseFor(testNamespace, []byte(lines))
	if err != nil {
		return false, err.Error()
	}
	use := Use{Namespace: testNamespace, At: now}
	if revoked != "" {
		if use.Revoked, err = ParseRevoked([]byte(revoked)); err != nil {
			return false, err.Error()
		}
	}
	message := []byte("a message")
	signer, refusal := file.Vouch(message, by.sign(t, message), "", use)
	if refusal != nil {
		return false, refusal.Error()
	}
	return signer.Allows(user), "principals"
}

// sshKeygen signs with the key and verifies; it says yes where there is no
// ssh-keygen only by skipping the test.
func sshKeygen(t *testing.T, by identity, lines, revoked, user, at string) bool {
	t.Helper()
	tool, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen here")
	}
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	block, err := ssh.MarshalPrivateKey(by.private, "")
	if err != nil {
		t.Fatal(err)
	}
	key := file("key", string(pem.EncodeToMemory(block)))
	message := file("message", "a message")
	if out, err := exec.Command(tool, "-Y", "sign", "-q", "-f", key, "-n", testNamespace, message).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen -Y sign: %v\n%s", err, out)
	}
	args := []string{"-Y", "verify", "-f", file("signers", lines), "-I", user, "-n", testNamespace, "-s", message + ".sig", "-O", "verify-time=" + at}
	if revoked != "" {
		args = append(args, "-r", file("revoked", revoked))
	}
	cmd := exec.Command(tool, args...)
	cmd.Env = append(os.Environ(), "TZ=UTC")
	cmd.Stdin = strings.NewReader("a message")
	return cmd.Run() == nil
}

func TestAPublicKeyFileIsATrustFile(t *testing.T) {
	ed, ec, other := newEd25519(t), newECDSA(t, elliptic.P256()), newEd25519(t)
	spki := func(id identity) string {
		der, err := x509.MarshalPKIXPublicKey(id.private.Public())
		if err != nil {
			t.Fatal(err)
		}
		return string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
	}
	message := []byte("a message")
	for _, c := range []struct {
		name, file string
		by         identity
	}{
		{"id_ed25519.pub", ed.line + " ann@laptop\n", ed},
		{"two .pub files in one", "# signers\n" + other.line + "\n" + ed.line + "\n", ed},
		{"id_ecdsa.pub", ec.line, ec},
		{"PEM, Ed25519", spki(ed), ed},
		{"PEM, P-256", spki(ec), ec},
	} {
		file, err := ParseFor(testNamespace, []byte(c.file))
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		signer, refusal := file.Vouch(message, c.by.sign(t, message), "", Use{Namespace: testNamespace, At: time.Now()})
		if refusal != nil {
			t.Errorf("%s: %v", c.name, refusal)
		} else if !signer.Allows("anyone at all") {
			t.Errorf("%s: does not vouch for every principal", c.name)
		}
		_, refusal = file.Vouch(message, c.by.sign(t, message), "", Use{Namespace: "git", At: time.Now()})
		if refusal == nil || refusal.Reason != ReasonNamespace {
			t.Errorf("%s: vouches for the namespace git too (%v)", c.name, refusal)
		}
	}
	for name, file := range map[string]string{
		"PEM of an RSA key":  "-----BEGIN PUBLIC KEY-----\n-----END PUBLIC KEY-----\n",
		"a private key":      "-----BEGIN OPENSSH PRIVATE KEY-----\nAAAA\n-----END OPENSSH PRIVATE KEY-----\n",
		"two PEM blocks":     spki(ed) + spki(ec),
		"PEM and a line":     spki(ed) + "ann " + ed.line,
		"nothing":            "",
		"only comments":      "# nobody\n",
		"a NUL byte":         "ann " + ed.line + "\x00\n",
		"only unusable keys": "ann ssh-ed25519 AAAA\n",
	} {
		if _, err := ParseFor(testNamespace, []byte(file)); err == nil {
			t.Errorf("%s is accepted as a trust file", name)
		}
	}
	// In a list of signers, a key without principals is a mistake, not a key for everyone.
	file, err := ParseFor(testNamespace, []byte("bob "+other.line+"\n"+ed.line+"\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, refusal := file.Vouch(message, ed.sign(t, message), "", Use{Namespace: testNamespace, At: time.Now()}); refusal == nil {
		t.Error("a bare key in a list of signers vouches")
	}
	if len(file.Problems) != 1 || file.Problems[0].Line != 2 || !strings.Contains(file.Problems[0].Reason, "without principals") {
		t.Errorf("problems: %v", file.Problems)
	}
}

func TestRefusalsSayWhy(t *testing.T) {
	ed, other := newEd25519(t), newEd25519(t)
	message := []byte("a message")
	at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC)
	altered := bytes.Clone(ed.sign(t, message))
	altered[3] ^= 1
	for _, c := range []struct {
		lines, keyID string
		sig          []byte
		revoked      string
		want         Reason
	}{
		{lines: "ann " + other.line, want: ReasonSignerUntrusted},
		{lines: "ann " + ed.line, sig: altered, keyID: ed.key(t).Fingerprint(), want: ReasonSignatureInvalid},
		{lines: "ann " + ed.line, sig: altered, want: ReasonSignerUntrusted},
		{lines: "ann cert-authority " + ed.line, want: ReasonKeyIsAuthority},
		{lines: "ann " + ed.line, revoked: ed.line, want: ReasonKeyRevoked},
		{lines: `ann namespaces="git" ` + ed.line, want: ReasonNamespace},
		{lines: `ann valid-after="20270101Z" ` + ed.line, want: ReasonKeyNotYetValid},
		{lines: `ann valid-before="20250101Z" ` + ed.line, want: ReasonKeyExpired},
		// A hint that lies changes nothing.
		{lines: "ann " + ed.line, keyID: other.key(t).Fingerprint(), want: ""},
		// The algorithm is the key's: an Ed25519 signature is none of an ECDSA key.
		{lines: "ann " + newECDSA(t, elliptic.P256()).line, want: ReasonSignerUntrusted},
	} {
		file, err := ParseFor(testNamespace, []byte(c.lines))
		if err != nil {
			t.Fatal(err)
		}
		revoked, err := ParseRevoked([]byte(c.revoked))
		if err != nil {
			t.Fatal(err)
		}
		if c.sig == nil {
			c.sig = ed.sign(t, message)
		}
		_, refusal := file.Vouch(message, c.sig, c.keyID, Use{Namespace: testNamespace, At: at, Revoked: revoked})
		got := Reason("")
		if refusal != nil {
			got = refusal.Reason
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.lines, got, c.want)
		}
	}
}

// Ed25519ph signs the same digest with the same key in another way; it is not
// what a packet's signature is.
func TestEd25519phIsRefused(t *testing.T) {
	id := newEd25519(t)
	message := []byte("a message")
	sum := sha512Sum(message)
	sig, err := id.private.Sign(rand.Reader, sum, &ed25519.Options{Hash: crypto.SHA512})
	if err != nil {
		t.Fatal(err)
	}
	if id.key(t).Verify(message, sig) || id.key(t).Verify(sum, sig) {
		t.Fatal("an Ed25519ph signature verifies")
	}
}
