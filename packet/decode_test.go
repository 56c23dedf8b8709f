package packet

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

func packetBytes(t testing.TB) []byte {
	f := loadFixture(t)
	return encoded(t, assemble(t, f.impact(), f, DefaultLimits()))
}

func wantFault(t *testing.T, err error, code fault.Code, field, msg string) {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v, want %s", err, code)
	}
	if e.Code != code || e.Field != field || !strings.Contains(e.Msg, msg) {
		t.Errorf("%s %q %q, want %s %q %q", e.Code, e.Field, e.Msg, code, field, msg)
	}
}

func TestDecodeIsTheInverse(t *testing.T) {
	data := packetBytes(t)
	p, err := Decode(data)
	if err != nil {
		t.Fatal(err)
	}
	if again := encoded(t, p); !bytes.Equal(again, data) {
		t.Errorf("%s\n%s", data, again)
	}
}

// One change of the text each, and the member that is named.
func TestDecodeRefuses(t *testing.T) {
	good := string(packetBytes(t))
	for _, c := range []struct{ name, old, new, field, msg string }{
		{"unknown member", `"kind":"repository"`, `"kind":"repository","kinds":1`, "", `unknown member "kinds"`},
		{"duplicate", `"kind":"repository"`, `"kind":"repository","kind":"repository"`, "", "stands twice"},
		{"duplicate deep", `"hop":1`, `"hop":1,"hop":1`, "documents[0].claim", "stands twice"},
		{"case", `"commit":"333`, `"Commit":"333`, "repository", `is not "commit"`},
		{"order", `"bounds":`, ` "bounds":`, "", "canonical"},
		{"escape that is not needed", `"kind":"repository"`, `"kind":"\u0072epository"`, "", "canonical"},
		{"other schema", Schema, "exhibit.packet.v2", "schema", "is none of"},
		{"other provider", `"provider":"exhibit"`, `"provider":"other"`, "provider", "is none of"},
		{"upper-case hex", `"commit":"3333`, `"commit":"A333`, "repository.commit", "hex"},
		{"text", "Client.get calls send", "Client.get never calls send", "documents[0].text", "not the sentence"},
		{"relation", `"relation":"calls"`, `"relation":"haunts"`, "documents[0].claim.relation", "is none of"},
		{"confidence", `"confidence":"inferred"`, `"confidence":"extracted"`, "documents[2].confidence", "is none of"},
		{"strength", `"strength":"candidate"`, `"strength":"resolved_static"`, "documents[2].claim.candidates", "candidate"},
		{"snippet", "return send(Request", "return Send(Request", "documents[0].citations[0].snippet", "digest"},
		{"role", "call site: calls", "call site: haunts", "documents[0].citations[0].role", "no role"},
		{"other role", "call site: calls", "call site: tests", "documents[0].citations", "nothing cites the call site: calls"},
		{"path", `"path":"pkg/http.py"`, `"path":"../http.py"`, "documents[0].citations[0].path", "no path inside"},
		{"absolute path", `"path":"pkg/http.py"`, `"path":"/http.py"`, "documents[0].citations[0].path", "no path inside"},
		{"path as base64 without need", `"path":"pkg/http.py"`, `"path_base64":"cGtn"`, "documents[0].citations[0].path_base64", "not valid UTF-8"},
		{"lines", `"start_line":17`, `"start_line":18`, "documents[0].citations[0].start_line", "not a range"},
		{"completeness", `"completeness":"unknown"`, `"completeness":"complete"`, "completeness", "contradicts"},
		{"truncated", `"truncated":false`, `"truncated":true`, "truncated", "contradicts"},
		{"omission", `["unresolved_entities"]`, `["nothing_left_out"]`, "omissions", "is none of"},
		{"dirty commit", `"dirty":false`, `"dirty":true`, "dirty", "never dirty"},
		{"count", `"count":1`, `"count":0`, "unresolved_mentions.count", "less than"},
	} {
		t.Run(c.name, func(t *testing.T) {
			bad := strings.Replace(good, c.old, c.new, 1)
			if bad == good {
				t.Fatalf("%q is not in the packet", c.old)
			}
			_, err := Decode([]byte(bad))
			wantFault(t, err, fault.PacketInvalid, c.field, c.msg)
		})
	}
	for name, bad := range map[string]string{"trailing LF": good + "\n", "trailing document": good + good, "cut": good[:len(good)-1], "empty": "",
		"indented": func() string {
			var b bytes.Buffer
			_ = json.Indent(&b, []byte(good), "", " ")
			return b.String()
		}(), "too large": strings.Repeat(" ", MaxPacketBytes) + good} {
		if _, err := Decode([]byte(bad)); fault.CodeOf(err) != fault.PacketInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A flipped bit gives a refusal or another address, never another packet under
// the old one.
func TestEveryByteFlip(t *testing.T) {
	for bit, data := range map[byte][]byte{1: packetBytes(t), 0x20: smallPacket(t), 0x80: smallPacket(t)} {
		address := Address(data)
		for i := range data {
			bad := bytes.Clone(data)
			bad[i] ^= bit
			p, err := Decode(bad)
			if err != nil {
				continue
			}
			if again := encoded(t, p); !bytes.Equal(again, bad) || Address(again) == address {
				t.Fatalf("byte %d: the flipped packet reads as another", i)
			}
		}
	}
}

// smallPacket is one document with one snippet less: short seeds are mutated
// where it matters.
func smallPacket(t testing.TB) []byte {
	f := loadFixture(t)
	a := f.impact()
	a.Items, a.Mentions, a.Coverage, a.Seeds = a.Items[2:3], nil, nil, nil
	l := DefaultLimits()
	l.TextBytes = 80
	return encoded(t, assemble(t, a, f, l))
}

// Either the bytes are refused, or they are what the packet encodes to. The
// second arm reads them leniently, to reach packets that strict reading would
// never let through.
func FuzzDecode(f *testing.F) {
	f.Add(smallPacket(f))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := Decode(data)
		if err == nil {
			again, err := Encode(p)
			if err != nil || !bytes.Equal(again, data) {
				t.Fatalf("decode then encode is not the identity: %v\n%s\n%s", err, data, again)
			}
		} else if fault.CodeOf(err) != fault.PacketInvalid {
			t.Fatalf("no packet fault: %v", err)
		}
		lenient := new(Packet)
		if json.Unmarshal(data, lenient) != nil {
			return
		}
		b, err := Encode(lenient)
		if err != nil {
			return
		}
		if p, err = Decode(b); err != nil {
			t.Fatalf("written and not read: %v\n%s", err, b)
		}
		if again, err := Encode(p); err != nil || !bytes.Equal(again, b) {
			t.Fatalf("encode then decode is not the identity: %v\n%s\n%s", err, b, again)
		}
	})
}

func FuzzBundle(f *testing.F) {
	packet := smallPacket(f)
	for _, grants := range [][]Envelope{{}, {{PayloadType: PayloadType, Payload: "e30=", Signatures: []Signature{{Sig: "AAAA"}}}}} {
		data, err := EncodeBundle(&Bundle{Schema: BundleSchema, Packet: string(packet), Grants: grants})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b, _, err := DecodeBundle(data)
		if err != nil {
			return
		}
		again, err := EncodeBundle(b)
		if err != nil {
			t.Fatal(err)
		}
		if b2, _, err := DecodeBundle(again); err != nil || b2.Packet != b.Packet || len(b2.Grants) != len(b.Grants) {
			t.Fatalf("a bundle changes when it is written again: %v", err)
		}
	})
}

func FuzzStatement(f *testing.F) {
	st, err := EncodeStatement(testStatement(f))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(st)
	f.Fuzz(func(t *testing.T, data []byte) {
		st, err := DecodeStatement(data)
		if err != nil {
			return
		}
		if again, err := EncodeStatement(st); err != nil || !bytes.Equal(again, data) {
			t.Fatalf("decode then encode is not the identity: %v", err)
		}
	})
}

func FuzzAuthorization(f *testing.F) {
	f.Add([]byte(authorization))
	f.Fuzz(func(t *testing.T, data []byte) {
		a, err := DecodeAuthorization(data)
		if err != nil {
			return
		}
		b, err := EncodeAuthorization(a)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := DecodeAuthorization(b); err != nil {
			t.Fatal(err)
		}
	})
}
