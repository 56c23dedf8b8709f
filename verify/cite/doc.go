// Package cite compares cited lines with bytes: it is the core of citation
// checking, without repository, file or packet.
//
// Lines end at LF only, the LF belongs to the line that it ends, and a last line
// without one is a line too: the bytes of lines a to b are what
// sed -n 'a,bp' prints. A snippet is those bytes and nothing is trimmed, folded
// or normalised, so "the line exists" is never a match and equality of digests
// is equality of bytes.
//
// Every function takes time proportional to its input, or is bounded and says
// that it gave up: contents and ranges come from others.
package cite
