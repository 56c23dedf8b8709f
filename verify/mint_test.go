package verify

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func TestMintIsAFunctionOfItsOrder(t *testing.T) {
	w := newWorld(t)
	first, second := w.mint(), w.mint()
	if !bytes.Equal(first.Bundle, second.Bundle) {
		t.Fatal("two bundles of one order differ")
	}
	if !first.Report.OK || first.Report.Depth != 2 || first.Dropped != 0 || first.Statement.Predicate.IssuedAt != packet.Timestamp(noon) {
		t.Fatalf("minted: %+v", first)
	}
	// In another folder, by another key and at another time the evidence is the same.
	other := newWorld(t)
	other.key = ed25519.NewKeyFromSeed(bytes.Repeat([]byte{8}, ed25519.SeedSize))
	order := other.order()
	order.Now, order.Random = at(noon.Add(time.Minute)), rand.New(rand.NewSource(2))
	third, err := Mint(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	if third.Address != first.Address || bytes.Equal(third.Bundle, first.Bundle) {
		t.Fatalf("addresses %s and %s", third.Address, first.Address)
	}
}

// TestMintDropsWhatCannotBeProved: the answer was made from bytes that the
// commit does not have.
func TestMintDropsWhatCannotBeProved(t *testing.T) {
	w := newWorld(t)
	tampered := strings.Replace(appPy, `run("b")`, `run("B")`, 1)
	order := w.order()
	order.Source = files{"src/lib.py": libPy, "src/app.py": appPy, "src/app2.py": tampered}
	// The second site is in a file that the commit does not hold.
	second := &w.answer.Items[1]
	site := *second.CallSite
	site.Path, site.Blob, site.FileSHA256 = "src/app2.py", snapshot.HashBlob(snapshot.SHA1, []byte(tampered)), packet.Digest256([]byte(tampered))
	second.CallSite = &site
	m, err := Mint(context.Background(), order)
	if err != nil {
		t.Fatal(err)
	}
	if m.Dropped != 1 || m.DroppedDocuments != 1 || len(m.Packet.Documents) != 1 || !m.Report.OK {
		t.Fatalf("minted: %+v", m)
	}
	for _, code := range []string{packet.ProviderWarning, packet.DocumentLimit} {
		if !slices.Contains(m.Packet.Omissions, code) {
			t.Errorf("the packet does not say %s: %v", code, m.Packet.Omissions)
		}
	}
	if m.Packet.Completeness == packet.Complete {
		t.Error("a packet that lost a claim is complete")
	}
	if r := check(t, m.Bundle, w.in(w.repo)).Report; !r.OK {
		t.Fatal(r.Refusals)
	}
}

func TestMintRefuses(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(w *world, o *Order)
		want   fault.Code
	}{
		{"an answer none of whose claims is so", func(w *world, o *Order) {
			edited := "#\n" + appPy
			o.Source = files{"src/lib.py": libPy, "src/app.py": edited}
			w.rebind(edited, 0)
		}, fault.CodeChanged},
		{"source bytes that are not the answer's", func(w *world, o *Order) {
			o.Source = files{"src/lib.py": libPy, "src/app.py": appPy + "#"}
		}, fault.IndexIntegrity},
		{"a commit that the repository lacks", func(w *world, o *Order) { w.answer.Commit = strings.Repeat("1", 40) }, fault.ObjectMissing},
		{"a tree that is not the commit's", func(w *world, o *Order) { w.answer.Tree = strings.Repeat("1", 40) }, fault.IndexIntegrity},
		{"another object format", func(w *world, o *Order) {
			w.answer.ObjectFormat = "sha256"
			w.answer.Commit, w.answer.Tree = strings.Repeat("1", 64), strings.Repeat("1", 64)
			w.answer.Items, w.answer.Seeds = nil, nil
		}, fault.GitFormat},
		{"an authorization that ended", func(w *world, o *Order) { o.Terms.Expires = noon }, fault.Unauthorized},
		{"a signature by another key", func(w *world, o *Order) {
			o.Signer = signer{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{9}, ed25519.SeedSize))}
		}, fault.CodeChanged},
		{"nobody to deliver to", func(w *world, o *Order) { o.Terms.Audience = nil }, fault.GrantInvalid},
		{"no public key", func(w *world, o *Order) { o.Public = nil }, fault.KeyUnavailable},
	} {
		w := newWorld(t)
		o := w.order()
		c.change(w, &o)
		m, err := Mint(context.Background(), o)
		if fault.CodeOf(err) != c.want {
			t.Errorf("%s: %q (%v), want %q", c.name, fault.CodeOf(err), err, c.want)
		}
		if m != nil {
			t.Errorf("%s: refused, and the bundle is handed over", c.name)
		}
	}
}

func TestVerificationWritesNothing(t *testing.T) {
	w := newWorld(t)
	bundle := w.mint().Bundle
	before := listing(t, w.dir)
	if r := check(t, bundle, w.in(open(t, w.dir))).Report; !r.OK {
		t.Fatal(r.Refusals)
	}
	if after := listing(t, w.dir); after != before {
		t.Fatalf("the repository changed:\n%s\n%s", before, after)
	}
}

// listing is every file of a repository, .git included, with digest and time.
func listing(t testing.TB, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		b.WriteString(path + " " + packet.Digest256(data) + " " + info.ModTime().String() + "\n")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}
