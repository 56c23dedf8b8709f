// Package packet turns an answer into evidence that travels: claims and
// citations, cut to a budget, encoded canonically, addressed, signed, carried.
//
// Three things are kept apart. The Packet is the evidence: what was asked of
// which commit, the claims, the lines that show them, and what is left out. It
// holds no time, audience, local name or path, so the same content and request
// give the same bytes on every machine; its address is the SHA-256 of its
// canonical JSON (RFC 8785). The grant is the authority: an in-toto Statement
// in a DSSE envelope that says who vouches for that packet, for whom and until
// when. The Bundle is the file that carries one packet's exact bytes and its
// grants.
//
// Assemble is pure: it cites only bytes that its Source hands over and whose
// digest the answer named. Every sentence of a packet is a function of its
// claim, so text can say nothing that the claim does not. What does not fit is
// left out whole and said.
//
// Reading is closed. Decode, DecodeEnvelope, DecodeStatement, DecodeBundle and
// DecodeAuthorization refuse unknown, duplicate and case-variant members,
// trailing data, floats, lone surrogates and invalid UTF-8, naming the member;
// a packet or statement that is not in canonical form is refused too, so that
// what was verified and what is used are the same bytes.
package packet
