package verify

import (
	"bytes"
	"crypto/ed25519"
	"reflect"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/packet"
)

// TestNoByteOfABundleCanBeChanged changes every single byte of a bundle file,
// several ways. Each result must be refused or, where the byte is outside what
// is signed, harmless: the verified packet bytes and claims are the same.
func TestNoByteOfABundleCanBeChanged(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	w := newWorld(t)
	m := w.mint()
	options := w.options()
	good := check(t, m.Bundle, options)
	if !good.Report.OK {
		t.Fatal(good.Report.Refusals)
	}
	harmless := map[string]int{}
	try := func(i int, data []byte) {
		r := check(t, data, options)
		if !r.Report.OK {
			if r.Packet != nil || r.Bytes != nil || r.Statement != nil {
				t.Fatalf("byte %d: refused, and the packet is handed over", i)
			}
			return
		}
		if !bytes.Equal(r.Bytes, good.Bytes) || !reflect.DeepEqual(r.Statement, good.Statement) || !reflect.DeepEqual(r.Packet, good.Packet) {
			t.Fatalf("byte %d changed from %q to %q: accepted, and says something else", i, m.Bundle[i], data[i])
		}
		harmless[where(m.Bundle, i)]++
	}
	data := bytes.Clone(m.Bundle)
	for i, b := range m.Bundle {
		// One bit in turn, and another letter case, digit or sign.
		for _, with := range []byte{b ^ 1<<(i%8), b ^ 1<<5} {
			data[i] = with
			try(i, data)
		}
		data[i] = b
	}
	for place := range harmless {
		if place != "keyid" && place != "space" { // a line end that became another
			t.Errorf("a changed byte of %s is harmless %d times", place, harmless[place])
		}
	}
	if harmless["keyid"] == 0 {
		t.Error("no change of the key id, which is a hint, is harmless: the test does not reach acceptance")
	}
}

// where names the part of a bundle that a byte stands in.
func where(bundle []byte, i int) string {
	if start := bytes.Index(bundle, []byte(`"keyid":"`)) + len(`"keyid":"`); i >= start && i < start+bytes.IndexByte(bundle[start:], '"') {
		return "keyid"
	}
	// Space may stand between any two tokens of the bundle and after the last.
	inString := false
	for j := 0; j < i; j++ {
		if bundle[j] == '\\' && inString {
			j++
		} else if bundle[j] == '"' {
			inString = !inString
		}
	}
	if !inString {
		return "space"
	}
	start := bytes.LastIndexByte(bundle[:i], '"')
	return "the string that begins " + string(bundle[start:min(start+20, len(bundle))])
}

func TestTamperedMembers(t *testing.T) {
	w := newWorld(t)
	m := w.mint()
	raw, payload := parts(t, m.Bundle)
	edit := func(old, new string) []byte {
		if strings.Count(string(m.Bundle), old) != 1 {
			t.Fatalf("%q stands %d times in the bundle", old, strings.Count(string(m.Bundle), old))
		}
		return []byte(strings.Replace(string(m.Bundle), old, new, 1))
	}
	// inPacket changes the packet's own text and keeps the old grant.
	inPacket := func(old, new string) []byte {
		if !strings.Contains(string(raw), old) {
			t.Fatalf("%q is not in the packet", old)
		}
		return seal(t, []byte(strings.Replace(string(raw), old, new, 1)), payload, w.key)
	}
	// A packet that is as good as the signed one, and was not signed.
	w.answer.Items = w.answer.Items[:1]
	swapped, _ := parts(t, w.mint().Bundle)
	stranger := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))
	for _, c := range []struct {
		name   string
		bundle []byte
		want   Reason
	}{
		{"unknown member", edit(`"schema":"exhibit.bundle.v1"`, `"schema":"exhibit.bundle.v1","trust":"me"`), BundleInvalid},
		{"member twice", edit(`"schema":"exhibit.bundle.v1"`, `"schema":"exhibit.bundle.v1","schema":"exhibit.bundle.v1"`), BundleInvalid},
		{"member in capitals", edit(`"schema":"exhibit.bundle.v1"`, `"Schema":"exhibit.bundle.v1"`), BundleInvalid},
		{"member twice, once in capitals", edit(`"schema":"exhibit.bundle.v1"`, `"schema":"exhibit.bundle.v1","SCHEMA":"exhibit.bundle.v1"`), BundleInvalid},
		{"folded member", edit(`"schema":"exhibit.bundle.v1"`, `"ſchema":"exhibit.bundle.v1"`), BundleInvalid},
		{"member removed", edit(`,"schema":"exhibit.bundle.v1"`, ""), BundleInvalid},
		{"another schema", edit(`"schema":"exhibit.bundle.v1"`, `"schema":"exhibit.bundle.v2"`), BundleInvalid},
		{"trailing data", append(bytes.Clone(m.Bundle), "{}"...), BundleInvalid},
		{"two bundles", append(bytes.Clone(m.Bundle), m.Bundle...), BundleInvalid},
		{"a byte order mark", append([]byte("\ufeff"), m.Bundle...), BundleInvalid},
		{"empty", nil, BundleInvalid},
		{"cut short", m.Bundle[:len(m.Bundle)/2], BundleInvalid},
		{"too large", make([]byte, packet.MaxBundleBytes+1), TooLarge},
		{"another payload type", edit(packet.PayloadType, "application/json"), PayloadType},
		{"signature removed", edit(`"signatures":[{`, `"signatures":[],"x":[{`), BundleInvalid},
		{"a key in the envelope", edit(`"keyid"`, `"publicKey":"AAAA","keyid"`), BundleInvalid},
		{"a grant by a stranger", seal(t, raw, payload, stranger), "signer_untrusted"},
		{"another packet under a good grant", seal(t, swapped, payload, w.key), PacketDigest},
		{"another line in the packet", inPacket(`"start_line":5`, `"start_line":6`), PacketDigest},
		{"a claim removed", inPacket(`"hop":1,`, ``), PacketDigest},
		{"another commit in the packet", inPacket(w.rev.Commit, strings.Repeat("1", 40)), PacketDigest},
	} {
		r := check(t, c.bundle, w.options())
		if r.Report.OK || r.Report.Refusals[0].Reason != c.want {
			t.Errorf("%s: %v, want %q", c.name, r.Report.Refusals, c.want)
		}
	}
}

func FuzzBundle(f *testing.F) {
	w := newWorld(f)
	m := w.mint()
	options := w.options()
	good := check(f, m.Bundle, options)
	f.Add(m.Bundle)
	f.Add([]byte(`{"schema":"exhibit.bundle.v1","packet":"","grants":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := check(t, data, options)
		if r.Report.OK && (!bytes.Equal(r.Bytes, good.Bytes) || !reflect.DeepEqual(r.Statement, good.Statement)) {
			t.Fatal("a bundle that nobody signed is accepted")
		}
	})
}
