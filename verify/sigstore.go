package verify

import (
	"encoding/json"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// SigstoreMediaType is that of a Sigstore bundle v0.3
// (https://github.com/sigstore/protobuf-specs, sigstore_bundle.proto).
const SigstoreMediaType = "application/vnd.dev.sigstore.bundle.v0.3+json"

type sigstoreBundle struct {
	MediaType string           `json:"mediaType"`
	Material  sigstoreMaterial `json:"verificationMaterial"`
	Envelope  packet.Envelope  `json:"dsseEnvelope"`
}

type sigstoreMaterial struct {
	PublicKey struct {
		Hint string `json:"hint"`
	} `json:"publicKey"`
}

// ExportSigstoreBundle writes a grant's envelope as a Sigstore bundle v0.3, for
// verifiers that read those: signed by a key that the verifier knows under the
// hint, the envelope's key id, without certificate or transparency log. That
// format carries exactly one signature.
func ExportSigstoreBundle(e *packet.Envelope) ([]byte, error) {
	if _, err := e.Body(); err != nil {
		return nil, err
	}
	if len(e.Signatures) != 1 {
		return nil, fault.New(fault.Unsupported, "the grant carries %d signatures and a Sigstore bundle exactly one", len(e.Signatures))
	}
	b := sigstoreBundle{MediaType: SigstoreMediaType, Envelope: *e}
	b.Material.PublicKey.Hint = e.Signatures[0].KeyID
	out, err := json.MarshalIndent(b, "", "  ")
	if err != nil {
		return nil, fault.New(fault.GrantInvalid, "cannot write a Sigstore bundle: %w", err)
	}
	return append(out, '\n'), nil
}
