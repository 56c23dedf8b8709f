package packet_test

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
)

// signed makes a key and a grant of a golden packet, as a mint would.
func signed(t *testing.T, golden string) (*keys.Key, *packet.Envelope, []byte) {
	t.Helper()
	indented, err := os.ReadFile(filepath.FromSlash("../testdata/packet/" + golden + ".golden"))
	if err != nil {
		t.Fatal(err)
	}
	body, _, _ := strings.Cut(string(indented), "\nsha256:")
	p := new(packet.Packet)
	if err := json.Unmarshal([]byte(body), p); err != nil {
		t.Fatal(err)
	}
	data, err := packet.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	k, err := keys.Store{Dir: filepath.Join(t.TempDir(), "config")}.New("default", "ada@example.org", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 5, 4, 3, 2, 1, 999, time.FixedZone("x", 3600))
	terms, _, err := packet.LocalTerms(k.Issuer(), strings.Repeat("a", 64), "owner/repo", now.Add(-time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	st, err := packet.NewStatement(data, terms, now, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	e, err := packet.Sign(context.Background(), st, k)
	if err != nil {
		t.Fatal(err)
	}
	return k, e, data
}

func TestGrantIsSignedOverItsExactBytes(t *testing.T) {
	k, e, data := signed(t, "impact")
	body, err := e.Body()
	if err != nil {
		t.Fatal(err)
	}
	if !ed25519.Verify(k.Key, packet.PAE(packet.PayloadType, body), e.Signatures[0].Bytes()) {
		t.Fatal("the signature does not verify")
	}
	st, err := packet.DecodeStatement(body)
	if err != nil {
		t.Fatal(err)
	}
	if "sha256:"+st.Subject[0].Digest.SHA256 != packet.Address(data) || len(st.Subject) != 4 || st.Subject[1].Digest.GitCommit != strings.Repeat("3", 40) {
		t.Errorf("subjects %+v", st.Subject)
	}
	g := st.Predicate
	if g.IssuedAt != "2026-05-04T02:02:01Z" || g.NotAfter != "2026-05-04T03:02:01Z" || g.Audience[0] != "local:operator" || g.Issuer != "ada@example.org" {
		t.Errorf("grant %+v", g)
	}
}

// Any changed byte of the file is refused, or leaves what is signed as it was.
func TestEveryByteFlipOfABundle(t *testing.T) {
	k, e, data := signed(t, "absence")
	file, err := packet.EncodeBundle(&packet.Bundle{Schema: packet.BundleSchema, Packet: string(data), Grants: []packet.Envelope{*e}})
	if err != nil {
		t.Fatal(err)
	}
	body, _ := e.Body()
	harmless := 0
	for i := range file {
		bad := bytes.Clone(file)
		bad[i] ^= 1
		b, _, err := packet.DecodeBundle(bad)
		if err != nil || len(b.Grants) != 1 {
			continue
		}
		got, err := b.Grants[0].Body()
		if err != nil {
			continue
		}
		if !ed25519.Verify(k.Key, packet.PAE(b.Grants[0].PayloadType, got), b.Grants[0].Signatures[0].Bytes()) {
			continue
		}
		st, err := packet.DecodeStatement(got)
		if err != nil || "sha256:"+st.Subject[0].Digest.SHA256 != packet.Address([]byte(b.Packet)) {
			continue
		}
		if b.Packet != string(data) || !bytes.Equal(got, body) {
			t.Fatalf("byte %d changed what is signed and passes", i)
		}
		harmless++
	}
	// The 43 characters of the fingerprint in keyid, at most, are no more than a hint.
	if harmless > 60 {
		t.Errorf("%d bytes are harmless", harmless)
	}
}

// openssl knows neither DSSE nor us: it gets the encoding, the signature, the key.
func TestOpenSSLVerifiesAGrant(t *testing.T) {
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("no openssl")
	}
	k, e, _ := signed(t, "impact")
	message, err := e.Message()
	if err != nil {
		t.Fatal(err)
	}
	public, err := k.PEM()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	verify := func(message []byte) (string, error) {
		for name, b := range map[string][]byte{"pae": message, "sig": e.Signatures[0].Bytes(), "key.pem": public} {
			if err := os.WriteFile(filepath.Join(dir, name), b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.Command(openssl, "pkeyutl", "-verify", "-pubin", "-inkey", "key.pem", "-rawin", "-in", "pae", "-sigfile", "sig")
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	if out, err := verify(message); err != nil {
		t.Fatalf("openssl refuses: %v\n%s", err, out)
	}
	message[len(message)-1] ^= 1
	if out, err := verify(message); err == nil {
		t.Fatalf("openssl accepts a changed message: %s", out)
	}
}

func TestSignStopsWithItsContext(t *testing.T) {
	k, _, _ := signed(t, "impact")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := k.Sign(ctx, nil); err == nil {
		t.Error("signed after the context ended")
	}
}
