package packet

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

var testNow = time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)

func testTerms() Terms {
	return Terms{Issuer: "ada@example.org", Audience: []string{"codex:reviewer", "claude:builder", "claude:builder"}, Connection: "main",
		Generation: strings.Repeat("a", 64), RepositoryID: "owner/repo", WorkItem: "issue 7",
		Policy: GrantPolicy{Version: "3", Digest: strings.Repeat("b", 64)}, SourceBuiltAt: testNow.Add(-time.Minute), Lifetime: time.Hour}
}

func testStatement(t testing.TB) *Statement {
	st, err := NewStatement(packetBytes(t), testTerms(), testNow, bytes.NewReader(make([]byte, 16)))
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// The exact bytes that are signed, for whoever writes another implementation.
func TestStatementBytes(t *testing.T) {
	b, err := EncodeStatement(testStatement(t))
	if err != nil {
		t.Fatal(err)
	}
	want := `{"_type":"https://in-toto.io/Statement/v1","predicate":{"audience":["claude:builder","codex:reviewer"],"connection":"main",` +
		`"generation":"` + strings.Repeat("a", 64) + `","issued_at":"2026-05-04T03:02:01Z","issuer":"ada@example.org","nonce":"` + strings.Repeat("0", 32) +
		`","not_after":"2026-05-04T04:02:01Z","not_before":"2026-05-04T03:02:01Z","policy":{"digest":"` + strings.Repeat("b", 64) + `","version":"3"},` +
		`"repository":{"id":"owner/repo","object_format":"sha1"},"source_built_at":"2026-05-04T03:01:01Z","work_item":"issue 7"},` +
		`"predicateType":"https://exhibit.dev/grant/v1","subject":[{"digest":{"sha256":"` + Digest256(packetBytes(t)) + `"},"name":"packet"},` +
		`{"digest":{"gitCommit":"` + strings.Repeat("3", 40) + `"},"name":"commit"},{"digest":{"gitTree":"` + strings.Repeat("4", 40) + `"},"name":"tree"},` +
		`{"digest":{"sha256":"` + strings.Repeat("2", 64) + `"},"name":"content_fingerprint"}]}`
	if string(b) != want {
		t.Errorf("got  %s\nwant %s", b, want)
	}
}

// The example of DSSE's protocol.md.
func TestPAE(t *testing.T) {
	got := string(PAE("http://example.com/HelloWorld", []byte("hello world")))
	if want := "DSSEv1 29 http://example.com/HelloWorld 11 hello world"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := string(PAE("", []byte("é"))); got != "DSSEv1 0  2 é" {
		t.Errorf("lengths are not of bytes: %q", got)
	}
}

func TestStatementRefuses(t *testing.T) {
	b, err := EncodeStatement(testStatement(t))
	if err != nil {
		t.Fatal(err)
	}
	good := string(b)
	for _, c := range []struct{ name, old, new, field string }{
		{"type", "in-toto.io/Statement/v1", "in-toto.io/Statement/v0", "_type"},
		{"predicate type", "exhibit.dev/grant/v1", "exhibit.dev/grant/v2", "predicateType"},
		{"unknown member", `"issuer":`, `"issues":1,"issuer":`, "predicate"},
		{"no audience", `["claude:builder","codex:reviewer"]`, `[]`, "predicate.audience"},
		{"audience order", `["claude:builder","codex:reviewer"]`, `["codex:reviewer","claude:builder"]`, "predicate.audience"},
		{"audience grammar", `"claude:builder"`, `"claude"`, "predicate.audience"},
		{"time without Z", `"issued_at":"2026-05-04T03:02:01Z"`, `"issued_at":"2026-05-04T03:02:01+00:00"`, "predicate.issued_at"},
		{"time with fraction", `"issued_at":"2026-05-04T03:02:01Z"`, `"issued_at":"2026-05-04T03:02:01.0Z"`, "predicate.issued_at"},
		{"end before start", `"not_after":"2026-05-04T04`, `"not_after":"2026-05-04T01`, "predicate.not_after"},
		{"built after issue", `"source_built_at":"2026-05-04T03:01`, `"source_built_at":"2026-05-04T03:09`, "predicate.source_built_at"},
		{"nonce", `"nonce":"00`, `"nonce":"0x`, "predicate.nonce"},
		{"issuer of two lines", `ada@example.org`, `ada\neve`, "predicate.issuer"},
		{"bidirectional issuer", `ada@example.org`, "ada\u202eeve", "predicate.issuer"},
		{"digest of another kind", `{"gitCommit":`, `{"gitTree":`, "subject[1].digest.gitCommit"},
		{"two digests", `{"gitCommit":"` + strings.Repeat("3", 40) + `"`, `{"gitCommit":"` + strings.Repeat("3", 40) + `","sha256":"` + strings.Repeat("5", 64) + `"`, "subject[1].digest"},
		{"subject name", `"name":"commit"`, `"name":"commits"`, "subject[1].name"},
		{"a subject less", `,"name":"tree"},`, `,"name":"tree"},{"digest":{},"name":"x"},`, "subject"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.new, 1)
			if bad == good {
				t.Fatalf("%q is not in the statement", c.old)
			}
			_, err := DecodeStatement([]byte(bad))
			wantFault(t, err, fault.GrantInvalid, c.field, "")
		})
	}
}

func TestGrantEndsWithItsAuthorization(t *testing.T) {
	terms := testTerms()
	terms.Expires = testNow.Add(time.Minute)
	st, err := NewStatement(packetBytes(t), terms, testNow, bytes.NewReader(make([]byte, 16)))
	if err != nil || st.Predicate.NotAfter != "2026-05-04T03:03:01Z" {
		t.Errorf("ends %v, %v", st, err)
	}
	terms.Expires = testNow
	_, err = NewStatement(packetBytes(t), terms, testNow, bytes.NewReader(make([]byte, 16)))
	wantFault(t, err, fault.Unauthorized, "", "ended")
	if _, err = NewStatement(packetBytes(t), testTerms(), testNow, bytes.NewReader(nil)); err == nil {
		t.Error("a grant without random bytes")
	}
}

func TestEnvelopeRefuses(t *testing.T) {
	good := `{"payloadType":"application/vnd.in-toto+json","payload":"e30=","signatures":[{"keyid":"","sig":"AAAA"}]}`
	for _, ok := range []string{good, strings.Replace(good, `"keyid":"",`, "", 1), " " + good + "\n"} {
		if _, err := DecodeEnvelope([]byte(ok)); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, c := range []struct{ name, old, new, field string }{
		{"payload type", "in-toto+json", "in-toto+JSON", "payloadType"},
		{"empty payload type", `"application/vnd.in-toto+json"`, `""`, "payloadType"},
		{"key in the envelope", `"sig":"AAAA"`, `"sig":"AAAA","publicKey":"x"`, "signatures[0]"},
		{"no signature", `[{"keyid":"","sig":"AAAA"}]`, `[]`, "signatures"},
		{"empty signature", `"AAAA"`, `""`, "signatures.sig"},
		{"base64 of another alphabet", `"AAAA"`, `"A-_A"`, "signatures.sig"},
		{"base64 without padding", `"e30="`, `"e30"`, "payload"},
		{"base64 with a line end", `"e30="`, `"e3\n0="`, "payload"},
		{"base64 with stray bits", `"e30="`, `"e31="`, "payload"},
		{"empty payload", `"e30="`, `""`, "payload"},
		{"duplicate", `"payload":`, `"payload":"e30=","payload":`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeEnvelope([]byte(strings.Replace(good, c.old, c.new, 1)))
			wantFault(t, err, fault.GrantInvalid, c.field, "")
		})
	}
	big := strings.Replace(good, "e30=", base64.StdEncoding.EncodeToString(make([]byte, MaxStatementBytes+1)), 1)
	_, err := DecodeEnvelope([]byte(big))
	wantFault(t, err, fault.GrantInvalid, "payload", "larger")
}

func TestBundleRefuses(t *testing.T) {
	packet := string(packetBytes(t))
	file, err := EncodeBundle(&Bundle{Schema: BundleSchema, Packet: packet, Grants: []Envelope{}})
	if err != nil {
		t.Fatal(err)
	}
	b, p, err := DecodeBundle(file)
	if err != nil || b.Packet != packet || p.Target != "send" {
		t.Fatalf("%v", err)
	}
	for name, bad := range map[string]string{
		"schema":         strings.Replace(string(file), BundleSchema, "exhibit.bundle.v2", 1),
		"unknown member": strings.Replace(string(file), `"grants"`, `"trust":"x","grants"`, 1),
		"no grants":      strings.Replace(string(file), `"grants":[],`, ``, 1),
		"packet object":  `{"grants":[],"packet":` + packet + `,"schema":"exhibit.bundle.v1"}`,
		"loose packet":   strings.Replace(string(file), `"packet":"`, `"packet":" `, 1),
		"trailing":       string(file) + "{}",
	} {
		if _, _, err := DecodeBundle([]byte(bad)); fault.CodeOf(err) != fault.PacketInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	many := &Bundle{Schema: BundleSchema, Packet: packet, Grants: make([]Envelope, MaxGrants+1)}
	if _, err := EncodeBundle(many); err == nil {
		t.Error("too many grants were written")
	}
}

var authorization = `{"schema":"exhibit.authorization.v1","connection":{"connection":"main","provider":"exhibit","kind":"repository","generation":"` +
	strings.Repeat("a", 64) + `","state":"verified","identity":{"repository_root":"/srv/repo"},"repositories":["owner/repo"],` +
	`"recipients":["claude:builder"],"expires_at":"2026-06-01T00:00:00Z","capabilities":{"search":true,"memory":false,"revision_binding":true}},` +
	`"policy":{"schema":"exhibit.policy.v1","connection":"main","policy_version":"3","required":true,"limits":{"documents":7}},` +
	`"repository":"owner/repo","work_item":"issue 7"}`

func TestAuthorization(t *testing.T) {
	a, err := DecodeAuthorization([]byte(authorization))
	if err != nil {
		t.Fatal(err)
	}
	terms, limits, err := a.Terms("ada", strings.Repeat("a", 64), testNow)
	if err != nil || limits.Documents != 7 || limits.PacketBytes != 262144 || terms.Lifetime != time.Hour || terms.WorkItem != "issue 7" {
		t.Errorf("%+v %+v %v", terms, limits, err)
	}
	_, _, err = a.Terms("ada", strings.Repeat("b", 64), testNow)
	wantFault(t, err, fault.Unauthorized, "connection.generation", "another generation")
	for _, c := range []struct{ name, old, new, field string }{
		{"unknown member", `"work_item"`, `"note":"","work_item"`, ""},
		{"over the ceiling", `"documents":7`, `"documents":51`, "policy.limits.documents"},
		{"negative", `"documents":7`, `"documents":-1`, "policy.limits.documents"},
		{"zero is no default", `"documents":7`, `"documents":0`, "policy.limits.documents"},
		{"age", `"documents":7`, `"age_seconds":86401`, "policy.limits.age_seconds"},
		{"policy of another connection", `"connection":"main","policy_version"`, `"connection":"side","policy_version"`, "policy.connection"},
		{"repository not listed", `"repository":"owner/repo"`, `"repository":"other/repo"`, "repository"},
		{"relative root", `"/srv/repo"`, `"repo"`, "connection.identity.repository_root"},
		{"root with ..", `"/srv/repo"`, `"/srv/../repo"`, "connection.identity.repository_root"},
		{"recipient", `["claude:builder"]`, `["claude"]`, "connection.recipients[0]"},
		{"recipient twice", `["claude:builder"]`, `["claude:builder","claude:builder"]`, "connection.recipients"},
		{"state", `"verified"`, `"pending"`, "connection.state"},
		{"time", `"2026-06-01T00:00:00Z"`, `"tomorrow"`, "connection.expires_at"},
		{"wrong type", `"required":true`, `"required":"true"`, "policy.required"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := DecodeAuthorization([]byte(strings.Replace(authorization, c.old, c.new, 1)))
			wantFault(t, err, fault.AuthorizationBad, c.field, "")
		})
	}
}
