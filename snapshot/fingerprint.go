package snapshot

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/fxamacker/cbor/v2"
)

// fingerprintVersion is the first element of what is hashed. 1: first release.
const fingerprintVersion = 1

// canonical is deterministic CBOR (RFC 8949, section 4.2.1: shortest forms,
// definite lengths, map keys in bytewise order of their encodings).
var canonical = func() cbor.EncMode {
	mode, err := cbor.CoreDetEncOptions().EncMode()
	if err != nil {
		panic(err) // constant options
	}
	return mode
}()

// Rules are the analysis rules that a generation's identity depends on.
type Rules struct {
	ResolutionDigest string            // hex; of source roots and other resolution configuration
	Parsers          map[string]string // language to parser build
	Resolvers        map[string]string // language to resolver build
	Schema           int               // version of the stored graph
}

// ContentFingerprint gives the hex SHA-256 of the snapshot's content and the
// rules, the same on every machine and in every folder. What is hashed is one
// array in deterministic CBOR (RFC 8949, 4.2.1):
//
//	[ 1,                                   ; this layout's version
//	  object format (text),                ; "sha1"
//	  commit (bytes),                      ; 20 bytes, empty when HEAD is unborn
//	  [ entry, ... ],                      ; sorted bytewise by path
//	  policy digest (bytes),               ; 32 bytes
//	  resolution digest (text),
//	  { language (text): parser build (text), ... },
//	  { language (text): resolver build (text), ... },
//	  schema (integer) ]
//
//	entry = [ path (bytes),                ; exact, UTF-8 or not
//	          mode (integer),              ; such as 0o100644
//	          object id (bytes),           ; 20 bytes, empty when there is none
//	          SHA-256 (bytes),             ; 32 bytes, empty when not read
//	          size (integer),              ; bytes, -1 when not read
//	          language (text),
//	          reason (text) ]              ; empty when included
//
// Source, Dirty and Worktree are not part of it: the entries decide, so a clean
// worktree and its commit have one fingerprint.
func ContentFingerprint(m *Manifest, rules Rules) string {
	type entry struct {
		_        struct{} `cbor:",toarray"`
		Path     []byte
		Mode     uint32
		Blob     []byte
		SHA256   []byte
		Size     int64
		Language string
		Reason   string
	}
	doc := struct {
		_          struct{} `cbor:",toarray"`
		Version    int
		Format     string
		Commit     []byte
		Entries    []entry
		Policy     []byte
		Resolution string
		Parsers    map[string]string
		Resolvers  map[string]string
		Schema     int
	}{Version: fingerprintVersion, Format: string(m.ObjectFormat), Commit: unhex(m.Commit),
		Entries: make([]entry, len(m.Entries)), Policy: unhex(m.PolicyDigest), Resolution: rules.ResolutionDigest,
		Parsers: orEmpty(rules.Parsers), Resolvers: orEmpty(rules.Resolvers), Schema: rules.Schema}
	for i, e := range m.Entries {
		doc.Entries[i] = entry{Path: []byte(e.Path), Mode: e.Mode, Blob: unhex(e.Blob), SHA256: unhex(e.SHA256),
			Size: e.Size, Language: e.Language, Reason: string(e.Reason)}
	}
	h := sha256.New()
	if err := canonical.NewEncoder(h).Encode(doc); err != nil {
		panic(err) // a closed struct of strings, bytes and integers always encodes
	}
	return hex.EncodeToString(h.Sum(nil))
}

// LocalFingerprint binds a content fingerprint to one binding: the hex SHA-256
// of the deterministic CBOR array [content fingerprint (text), binding id (text)].
func LocalFingerprint(content, bindingID string) string {
	data, err := canonical.Marshal([]string{content, bindingID})
	if err != nil {
		panic(err) // strings always encode
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// unhex decodes an id that this package made; never nil, so that the encoding is
// an empty byte string and not null.
func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil || b == nil {
		return []byte{}
	}
	return b
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
