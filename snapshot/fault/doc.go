// Package fault is the one error envelope of Exhibit: a stable code that a
// caller decides on, a sentence that says what happened to which input, and a
// hint that says what to do next.
//
// Every package returns its refusals as *Error (wrapped with %w where context
// helps); the faces print them and choose the exit code, and nobody else
// inspects message text. The codes are those of the specification's error
// table, and no code is made up at a call site.
package fault
