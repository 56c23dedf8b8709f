// Package strictjson reads untrusted JSON into Go types with one meaning only,
// and writes them in canonical form (RFC 8785, JCS).
//
// encoding/json lets the last duplicate win, matches member names whatever
// their case, ignores unknown members and trailing data, and repairs invalid
// text. Each of these lets two readers of the same signed bytes see different
// documents. Unmarshal refuses them all, and names the member.
//
// The type is the schema. A struct member without omitempty is required; one
// with omitempty may be absent, and must be when it is empty, so that a value
// has one form; one with the tag `strict:"optional"` may be absent or empty.
// null is never accepted. Numbers are integers of magnitude below 2^53, the
// ones that every JSON reader agrees on. Nesting cannot exceed that of the
// type, because every value that the type does not foresee is refused where it
// starts.
package strictjson
