package packet

import "fmt"

// The relations of a claim. Defines has no object; Resembles is a hint by name
// or folder, never a relationship that was found in the code.
const (
	Calls      = "calls"
	Imports    = "imports"
	Inherits   = "inherits"
	References = "references"
	Contains   = "contains"
	Tests      = "tests"
	Defines    = "defines"
	Resembles  = "resembles"
)

// words are the relation words of a sentence: as fact, and as candidate.
var words = map[string][2]string{
	Calls:      {"calls", "may call"},
	Imports:    {"imports", "may import"},
	Inherits:   {"inherits from", "may inherit from"},
	References: {"references", "may reference"},
	Contains:   {"contains", "may contain"},
	Tests:      {"tests", "may test"},
}

// The strengths of a claim.
const (
	ResolvedStatic = "resolved_static"
	Candidate      = "candidate"
)

// Sentence is the text of a claim. It is the only text that a document may
// have: a reader can derive it again, and it says nothing that the claim does
// not.
func Sentence(c Claim, strength string) string {
	switch {
	case c.Relation == Defines:
		return fmt.Sprintf("%s is defined (%s)", c.Subject.QualifiedName, c.Subject.Kind)
	case c.Object == nil:
		return ""
	case c.Relation == Resembles && c.Reason == "directory_hint":
		return fmt.Sprintf("%s stands near %s; a hint by folder only", c.Subject.QualifiedName, c.Object.QualifiedName)
	case c.Relation == Resembles:
		return fmt.Sprintf("%s is named like %s; a hint by name only", c.Subject.QualifiedName, c.Object.QualifiedName)
	}
	word := words[c.Relation][0]
	if strength == Candidate {
		word = words[c.Relation][1]
	}
	s := fmt.Sprintf("%s %s %s", c.Subject.QualifiedName, word, c.Object.QualifiedName)
	if strength == Candidate && c.Candidates > 1 {
		s += fmt.Sprintf(", one of %d candidates", c.Candidates)
	}
	switch c.Granularity {
	case "module":
		s += ", by its module"
	case "class":
		s += ", by its class"
	}
	if c.Within != nil {
		s += ", inside " + c.Within.QualifiedName
	}
	if c.Hop > 0 {
		s += fmt.Sprintf("; hop %d", c.Hop)
		switch c.Via {
		case c.Object.ID:
			s += ", reached from " + c.Object.QualifiedName
		case c.Subject.ID:
			s += ", reached from " + c.Subject.QualifiedName
		}
	}
	return s
}

// confidenceOf is the specification's table.
func confidenceOf(c Claim, strength string) string {
	switch {
	case strength == Candidate && c.Candidates > 1:
		return Uncertain
	case strength == Candidate || c.Relation == Resembles:
		return Inferred
	}
	return Extracted
}
