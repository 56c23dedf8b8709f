package verify

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
)

// exhibits writes a minted grant in the forms that other tools read: into
// $EXHIBIT_INTEROP_KEEP when that is set, else into a temporary folder.
func exhibits(t *testing.T) (dir string, e *packet.Envelope) {
	t.Helper()
	w := newWorld(t)
	b, _, err := packet.DecodeBundle(w.mint().Bundle)
	if err != nil {
		t.Fatal(err)
	}
	e = &b.Grants[0]
	public := keys.Public{Key: w.key.Public().(ed25519.PublicKey)}
	pem, err := public.PEM()
	if err != nil {
		t.Fatal(err)
	}
	dsse, err := packet.EncodeEnvelope(e)
	if err != nil {
		t.Fatal(err)
	}
	sigstore, err := ExportSigstoreBundle(e)
	if err != nil {
		t.Fatal(err)
	}
	if dir = os.Getenv("EXHIBIT_INTEROP_KEEP"); dir == "" {
		dir = t.TempDir()
	}
	for name, data := range map[string][]byte{"signer.pem": pem, "grant.dsse.json": dsse, "grant.sigstore.json": sigstore, "packet.json": []byte(b.Packet)} {
		put(t, dir, name, string(data))
	}
	return dir, e
}

func TestInteropOpenSSL(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("no openssl here")
	}
	dir, e := exhibits(t)
	payload, err := base64.StdEncoding.DecodeString(e.Payload)
	if err != nil {
		t.Fatal(err)
	}
	sig, err := base64.StdEncoding.DecodeString(e.Signatures[0].Sig)
	if err != nil {
		t.Fatal(err)
	}
	put(t, dir, "signature", string(sig))
	verify := func(payload []byte) error {
		put(t, dir, "message", string(packet.PAE(packet.PayloadType, payload)))
		out, err := exec.Command(openssl, "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", filepath.Join(dir, "signer.pem"),
			"-in", filepath.Join(dir, "message"), "-sigfile", filepath.Join(dir, "signature")).CombinedOutput()
		t.Logf("%s", bytes.TrimSpace(out))
		return err
	}
	altered := bytes.Clone(payload)
	altered[0] ^= 1
	if verify(altered) == nil {
		t.Error("openssl accepts an altered grant")
	}
	if err := verify(payload); err != nil {
		t.Errorf("openssl refuses the grant: %v", err)
	}
}

func TestInteropNode(t *testing.T) {
	if os.Getenv("EXHIBIT_INTEROP") == "" {
		t.Skip("needs npm's registry: set EXHIBIT_INTEROP=1, or make interop")
	}
	dir, _ := exhibits(t)
	tools := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "verify.mjs"} {
		data, err := os.ReadFile(filepath.Join("..", "testdata", "interop", name))
		if err != nil {
			t.Fatal(err)
		}
		put(t, tools, name, string(data))
	}
	for _, args := range [][]string{{"npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"}, {"node", "verify.mjs", dir}} {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Dir = tools
		out, err := cmd.CombinedOutput()
		t.Logf("%s", bytes.TrimSpace(out))
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
	}
}

func TestASigstoreBundleCarriesOneSignature(t *testing.T) {
	_, e := exhibits(t)
	out, err := ExportSigstoreBundle(e)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		MediaType            string
		VerificationMaterial struct{ PublicKey struct{ Hint string } }
		DSSEEnvelope         packet.Envelope
	}
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	if got.MediaType != SigstoreMediaType || got.VerificationMaterial.PublicKey.Hint != e.Signatures[0].KeyID || got.DSSEEnvelope.Payload != e.Payload {
		t.Fatalf("exported: %s", out)
	}
	e.Signatures = append(e.Signatures, e.Signatures[0])
	if _, err := ExportSigstoreBundle(e); err == nil {
		t.Fatal("two signatures are exported as one")
	}
}
