package packet

// Envelope is a DSSE envelope with JSON members as its specification names
// them (https://github.com/secure-systems-lab/dsse, envelope.md).
type Envelope struct {
	PayloadType string      `json:"payloadType"`
	Payload     string      `json:"payload"` // standard base64, padded, of the exact signed bytes
	Signatures  []Signature `json:"signatures"`
}

// Signature is one signature over PAE(payloadType, payload). KeyID is a hint
// and proves nothing; empty means that every trusted key is tried.
type Signature struct {
	KeyID string `json:"keyid,omitempty"`
	Sig   string `json:"sig"` // standard base64, padded
}
