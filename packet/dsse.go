package packet

import (
	"context"
	"encoding/base64"
	"strconv"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Envelope is a DSSE envelope with JSON members as its specification names
// them (https://github.com/secure-systems-lab/dsse, envelope.md).
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"`    // standard base64, padded, of the exact signed bytes
	Signatures  []Signature `json:"signatures"` // 1..16
}

// Signature is one signature over PAE(payloadType, payload). KeyID is a hint
// and proves nothing; empty or absent means that every trusted key is tried.
type Signature struct {
	KeyID string `json:"keyid" strict:"optional"`
	Sig   string `json:"sig"` // standard base64, padded
}

// Bounds on an envelope.
const (
	MaxEnvelopeBytes  = 65536
	MaxStatementBytes = 32768
	maxSignatures     = 16
)

// Signer signs a message with one key. A key file and an agent are both one.
type Signer interface {
	// KeyID is the SSH fingerprint of the public key, "SHA256:...".
	KeyID() string
	// Sign gives the signature in the form of the algorithm: for Ed25519 the
	// 64 bytes of RFC 8032 over message itself.
	Sign(ctx context.Context, message []byte) ([]byte, error)
}

// PAE is DSSE's pre-authentication encoding, the bytes that are signed:
// "DSSEv1" SP len(type) SP type SP len(body) SP body (protocol.md).
func PAE(payloadType string, payload []byte) []byte {
	b := make([]byte, 0, len(payload)+len(payloadType)+32)
	b = append(b, "DSSEv1 "...)
	b = strconv.AppendInt(b, int64(len(payloadType)), 10)
	b = append(b, ' ')
	b = append(b, payloadType...)
	b = append(b, ' ')
	b = strconv.AppendInt(b, int64(len(payload)), 10)
	b = append(b, ' ')
	return append(b, payload...)
}

// Sign puts a statement's canonical bytes into an envelope with one signature.
func Sign(ctx context.Context, st *Statement, s Signer) (*Envelope, error) {
	payload, err := EncodeStatement(st)
	if err != nil {
		return nil, err
	}
	sig, err := s.Sign(ctx, PAE(PayloadType, payload))
	if err != nil {
		return nil, err
	}
	return &Envelope{
		PayloadType: PayloadType,
		Payload:     base64.StdEncoding.EncodeToString(payload),
		Signatures:  []Signature{{KeyID: s.KeyID(), Sig: base64.StdEncoding.EncodeToString(sig)}},
	}, nil
}

// DecodeEnvelope reads an envelope strictly. Nothing in it is verified.
func DecodeEnvelope(data []byte) (*Envelope, error) {
	e := new(Envelope)
	if err := decode(fault.GrantInvalid, "envelope", data, MaxEnvelopeBytes, false, e); err != nil {
		return nil, err
	}
	if _, err := e.Body(); err != nil {
		return nil, err
	}
	return e, nil
}

// EncodeEnvelope gives the envelope as canonical JSON.
func EncodeEnvelope(e *Envelope) ([]byte, error) {
	if _, err := e.Body(); err != nil {
		return nil, err
	}
	return encode(fault.GrantInvalid, "envelope", e)
}

// Body gives the payload's exact bytes, after the form of the envelope's
// members, the payload type included, was checked. Decode the statement from
// these bytes, never from a second reading of the envelope.
func (e *Envelope) Body() ([]byte, error) {
	c := &checker{code: fault.GrantInvalid, what: "envelope"}
	c.oneOf(e.PayloadType, "payloadType", PayloadType)
	c.that(len(e.Signatures) >= 1 && len(e.Signatures) <= maxSignatures, "signatures", "want 1 to %d", maxSignatures)
	for i := range e.Signatures {
		c.that(len(e.Signatures[i].KeyID) <= 256, "signatures.keyid", "longer than 256 bytes")
		_, ok := exactBase64(e.Signatures[i].Sig)
		c.that(ok && e.Signatures[i].Sig != "", "signatures.sig", "not standard base64")
	}
	body, ok := exactBase64(e.Payload)
	c.that(ok && len(body) > 0, "payload", "not standard base64")
	c.that(len(body) <= MaxStatementBytes, "payload", "larger than %d bytes", MaxStatementBytes)
	return body, c.first
}

// Message gives what every signature of the envelope signs.
func (e *Envelope) Message() ([]byte, error) {
	body, err := e.Body()
	if err != nil {
		return nil, err
	}
	return PAE(e.PayloadType, body), nil
}

// Bytes gives the signature's bytes; nil when they are not standard base64.
func (s *Signature) Bytes() []byte {
	b, _ := exactBase64(s.Sig)
	return b
}

// exactBase64 decodes padded standard base64 that has one form only: no line
// breaks, no stray bits.
func exactBase64(s string) ([]byte, bool) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || base64.StdEncoding.EncodeToString(b) != s {
		return nil, false
	}
	return b, true
}
