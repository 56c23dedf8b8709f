// Package render shows a packet to people and agents as Markdown, plain text or
// JSON.
//
// Repository text is untrusted material. It is only ever shown escaped: what
// does not print, or reorders or hides text, becomes ⟦U+202E⟧, and the mark ⟦
// itself does too, so that an escape cannot be forged. Quoted lines carry their
// numbers and stand between two lines that bear a random mark of this delivery,
// which the content cannot hold; names and paths are cut to a length and never
// leave their code span. One fixed sentence says that what is quoted is data.
// Nothing is deleted, and the number of escapes is told. Digests and line
// numbers are those of the raw bytes.
//
// Packet is the function to start with; Escape and Name are for other text of a
// repository that a face prints.
package render
