package keys

import (
	"context"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/pem"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func newStore(t *testing.T) Store {
	t.Helper()
	return Store{Dir: filepath.Join(t.TempDir(), "config")}
}

func newKey(t *testing.T, s Store) *Key {
	t.Helper()
	k, err := s.New(DefaultName, "ada@example.org", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func wantRefused(t *testing.T, err error, code fault.Code, msg string) {
	t.Helper()
	if fault.CodeOf(err) != code || !strings.Contains(err.Error(), msg) {
		t.Errorf("error %q (%s), want %q (%s)", err, fault.CodeOf(err), msg, code)
	}
}

func TestNewKeyIsPrivateAndComesBack(t *testing.T) {
	s := newStore(t)
	made := newKey(t, s)
	for path, want := range map[string]os.FileMode{s.Dir: 0o700, s.folder(): 0o700, s.file(DefaultName): 0o600} {
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: mode %v (%v), want %v", path, info.Mode().Perm(), err, want)
		}
	}
	k, err := s.Load(DefaultName)
	if err != nil {
		t.Fatal(err)
	}
	if k.KeyID() != made.KeyID() || k.Issuer() != "ada@example.org" || k.Name != DefaultName {
		t.Errorf("loaded %q %q %q", k.KeyID(), k.Issuer(), k.Name)
	}
	sig, err := k.Sign(context.Background(), []byte("message"))
	if err != nil || !ed25519.Verify(made.Key, []byte("message"), sig) {
		t.Errorf("the loaded key does not sign for the one that was made: %v", err)
	}
	list, err := s.List()
	if err != nil || len(list) != 1 || list[0].Name != DefaultName || list[0].KeyID() != made.KeyID() {
		t.Errorf("list %v, %v", list, err)
	}
	_, err = s.New(DefaultName, "eve", rand.Reader)
	wantRefused(t, err, fault.KeyUnavailable, "already a key")
}

func TestLooseFilesAreRefused(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(s Store) error
		msg   string
	}{
		"file readable by others": {func(s Store) error { return os.Chmod(s.file(DefaultName), 0o604) }, "open to others"},
		"file of the group":       {func(s Store) error { return os.Chmod(s.file(DefaultName), 0o620) }, "open to others"},
		"folder":                  {func(s Store) error { return os.Chmod(s.folder(), 0o755) }, "open to others"},
		"configuration folder":    {func(s Store) error { return os.Chmod(s.Dir, 0o750) }, "open to others"},
		"symbolic link": {func(s Store) error {
			if err := os.Rename(s.file(DefaultName), s.file("real")); err != nil {
				return err
			}
			return os.Symlink("real", s.file(DefaultName))
		}, "symbolic link"},
		"folder in place of the file": {func(s Store) error {
			_ = os.Remove(s.file(DefaultName))
			return os.Mkdir(s.file(DefaultName), 0o700)
		}, "regular file"},
		"nothing there": {func(s Store) error { return os.Remove(s.file(DefaultName)) }, "there is no key"},
		"garbage":       {func(s Store) error { return os.WriteFile(s.file(DefaultName), []byte("x"), 0o600) }, "cannot be read as a private key"},
		"huge": {func(s Store) error {
			return os.WriteFile(s.file(DefaultName), make([]byte, 1<<20), 0o600)
		}, "at most"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t)
			newKey(t, s)
			if err := c.spoil(s); err != nil {
				t.Fatal(err)
			}
			_, err := s.Load(DefaultName)
			wantRefused(t, err, fault.KeyUnavailable, c.msg)
		})
	}
}

func TestOtherKeysAreRefusedWithWhatToDo(t *testing.T) {
	write := func(block *pem.Block) string {
		path := filepath.Join(t.TempDir(), "key")
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	locked, err := ssh.MarshalPrivateKeyWithPassphrase(ed, "", []byte("secret"))
	if err != nil {
		t.Fatal(err)
	}
	_, err = LoadFile(write(locked))
	wantRefused(t, err, fault.KeyUnavailable, "passphrase")
	ec, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	block, err := ssh.MarshalPrivateKey(ec, "")
	if err != nil {
		t.Fatal(err)
	}
	_, err = LoadFile(write(block))
	wantRefused(t, err, fault.KeyUnavailable, "another kind of key")
	_, err = LoadFile(filepath.Join(t.TempDir(), "none"))
	wantRefused(t, err, fault.KeyUnavailable, "there is no key file")
}

func TestNamesAndPrincipals(t *testing.T) {
	s := newStore(t)
	for _, name := range []string{"", "../x", "a/b", "A", "a.pub", "-x", strings.Repeat("a", 65)} {
		_, err := s.New(name, "ada", rand.Reader)
		wantRefused(t, err, fault.InvalidRequest, "is no key name")
		_, err = s.Load(name)
		wantRefused(t, err, fault.InvalidRequest, "is no key name")
	}
	for _, principal := range []string{"", "a b", "a,b", "*", "!x", "a\nb", `a"b`, "#x", "-x"} {
		_, err := s.New("k", principal, rand.Reader)
		wantRefused(t, err, fault.InvalidRequest, "is no principal")
	}
}

func TestNoKeyInsideARepository(t *testing.T) {
	root := t.TempDir()
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err := Store{Dir: filepath.Join(root, "a", "config")}.New("k", "ada", rand.Reader)
	wantRefused(t, err, fault.KeyUnavailable, "inside the repository")
	if _, err := os.Stat(filepath.Join(root, "a")); !os.IsNotExist(err) {
		t.Error("the refused folder was made all the same")
	}
}

func TestDefaultTakesTheNamedFile(t *testing.T) {
	s := newStore(t)
	stored := newKey(t, s)
	other, err := s.New("other", "ci@example.org", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv(KeyFileEnv, "")
	if k, err := Default(s); err != nil || k.KeyID() != stored.KeyID() {
		t.Errorf("without the variable: %v, %v", k, err)
	}
	t.Setenv(KeyFileEnv, s.file("other"))
	k, err := Default(s)
	if err != nil || k.KeyID() != other.KeyID() || k.Issuer() != "ci@example.org" {
		t.Errorf("with the variable: %v, %v", k, err)
	}
	// The public file of another key says nothing about this one.
	if err := os.Rename(s.file(DefaultName)+".pub", s.file("other")+".pub"); err != nil {
		t.Fatal(err)
	}
	if k, err = Default(s); err != nil || k.Issuer() != k.KeyID() {
		t.Errorf("with a foreign public file the issuer is %q, %v", k.Issuer(), err)
	}
	t.Setenv(ConfigEnv, "relative")
	if _, err := ConfigDir(); err == nil {
		t.Error("a relative configuration folder was accepted")
	}
}

// ssh-keygen is the authority on the three forms.
func TestSSHKeygenAgrees(t *testing.T) {
	keygen, err := exec.LookPath("ssh-keygen")
	if err != nil {
		t.Skip("no ssh-keygen")
	}
	run := func(stdin string, args ...string) string {
		t.Helper()
		cmd := exec.Command(keygen, args...)
		cmd.Stdin = strings.NewReader(stdin)
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("ssh-keygen %v: %v\n%s", args, err, out)
		}
		return string(out)
	}
	s := newStore(t)
	k := newKey(t, s)
	if out := run("", "-l", "-f", s.file(DefaultName)+".pub"); !strings.Contains(out, k.KeyID()) {
		t.Errorf("fingerprint %q is not in %q", k.KeyID(), out)
	}
	if out := run("", "-y", "-f", s.file(DefaultName)); strings.TrimSpace(out) != k.AuthorizedKey() {
		t.Errorf("public line %q, ssh-keygen says %q", k.AuthorizedKey(), out)
	}
	signers := filepath.Join(t.TempDir(), "allowed_signers")
	if err := os.WriteFile(signers, []byte(k.AllowedSigner()+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	message := filepath.Join(t.TempDir(), "message")
	if err := os.WriteFile(message, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	run("", "-Y", "sign", "-n", Namespace, "-f", s.file(DefaultName), message)
	run("hello", "-Y", "verify", "-n", Namespace, "-I", "ada@example.org", "-f", signers, "-s", message+".sig")
	cmd := exec.Command(keygen, "-Y", "find-principals", "-f", signers, "-s", message+".sig")
	if out, err := cmd.CombinedOutput(); err != nil || strings.TrimSpace(string(out)) != "ada@example.org" {
		t.Errorf("find-principals: %q, %v", out, err)
	}
}

func FuzzParsePrivate(f *testing.F) {
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	block, err := ssh.MarshalPrivateKey(ed, "c")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(pem.EncodeToMemory(block))
	f.Add([]byte("-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIA==\n-----END PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		key, err := parsePrivate("k", data)
		if err == nil && len(key) != ed25519.PrivateKeySize {
			t.Fatalf("a key of %d bytes", len(key))
		}
	})
}
