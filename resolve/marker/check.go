package marker

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// checker compares the lines of one file with their markers.
type checker struct {
	in       *graph.Input
	part     graph.Part
	file     int
	source   []byte
	lines    []uint32
	problems []string
}

func (c *checker) facts() *facts.File { return c.in.Files[c.file] }

// lineOf gives the 1-based line of a byte offset.
func (c *checker) lineOf(offset uint32) int {
	return sort.Search(len(c.lines), func(i int) bool { return c.lines[i] > offset })
}

func (c *checker) fail(m marked, format string, args ...any) {
	c.problems = append(c.problems, fmt.Sprintf("%s:%d: %s", c.facts().Path, m.number, fmt.Sprintf(format, args...)))
}

// line checks one marked line.
func (c *checker) line(m marked) {
	var refs []int
	for j, r := range c.facts().Refs {
		if c.lineOf(r.Start) == m.number {
			refs = append(refs, j)
		}
	}
	for _, cl := range m.clauses {
		var ok bool
		switch cl.words[0] {
		case "def":
			ok = c.definition(m, cl)
		case "status":
			ok = len(cl.words) == 2 && cl.words[1] == status(c.facts().Status)
		case "none":
			ok = !slices.ContainsFunc(refs, func(j int) bool {
				return len(c.part[c.file][j].Targets) > 0 && (len(cl.words) == 1 || c.name(j) == cl.words[1])
			})
		default:
			ok = slices.ContainsFunc(refs, func(j int) bool { return c.matches(cl, j) })
		}
		if !ok {
			c.fail(m, "want %q, got%s", cl.text, c.describe(refs))
		}
	}
	for _, j := range refs {
		c.complete(m, j)
	}
}

// complete checks that a reference of which one target is named has no other.
func (c *checker) complete(m marked, j int) {
	v := c.part[c.file][j]
	named := make([]bool, len(v.Targets))
	any := false
	for _, cl := range m.clauses {
		for k := range v.Targets {
			if c.matchesTarget(cl, j, v.Targets[k]) {
				named[k], any = true, true
			}
		}
	}
	for k, ok := range named {
		if any && !ok {
			c.fail(m, "unexpected target %s, got%s", c.target(v.Targets[k]), c.describe([]int{j}))
		}
	}
}

func (c *checker) name(j int) string { return c.facts().Text(c.facts().Refs[j].Name) }

// matches says whether reference j is as a clause other than def, status, none wants.
func (c *checker) matches(cl *clause, j int) bool {
	v := c.part[c.file][j]
	want := ""
	if len(cl.words) > 1 {
		var ok bool
		if want, ok = c.narrow(cl.words[1], j); !ok {
			return false
		}
	}
	switch cl.words[0] {
	case "external":
		return v.Outcome == graph.OutcomeExternal && (want == "" || want == v.Target)
	case "unresolved":
		return v.Outcome == graph.OutcomeUnresolved && (want == "" || want == v.Reason)
	}
	return slices.ContainsFunc(v.Targets, func(t graph.DefRef) bool { return c.matchesTarget(cl, j, t) })
}

// narrow takes "NAME=" off a word and says whether reference j bears the name.
func (c *checker) narrow(word string, j int) (rest string, ok bool) {
	if name, rest, found := strings.Cut(word, "="); found {
		return rest, c.name(j) == name
	}
	return word, true
}

// matchesTarget says whether an edge clause names target t of reference j.
func (c *checker) matchesTarget(cl *clause, j int, t graph.DefRef) bool {
	v := c.part[c.file][j]
	if cl.words[0] != cmp.Or(v.Kind, c.facts().Refs[j].Kind).String() || len(cl.words) < 2 {
		return false
	}
	want, ok := c.narrow(cl.words[1], j)
	if !ok {
		return false
	}
	full := c.target(t)
	if full != want && (strings.Contains(want, "::") || full[strings.Index(full, "::")+2:] != want) {
		return false
	}
	if len(cl.words) > 2 && cl.words[2] != strength(v.Outcome) {
		return false
	}
	return len(cl.words) <= 3 || cl.words[3] == v.Rule
}

// target writes a definition as "path::Qualified".
func (c *checker) target(t graph.DefRef) string {
	f := c.in.Files[t.File]
	if t.Def == graph.FileDef {
		return f.Path + "::"
	}
	return f.Path + "::" + f.Text(f.Defs[t.Def].Qual)
}

func (c *checker) describe(refs []int) string {
	var b strings.Builder
	for _, j := range refs {
		v := c.part[c.file][j]
		fmt.Fprintf(&b, "\n\t%s %s:", c.facts().Refs[j].Kind, c.name(j))
		switch v.Outcome {
		case graph.OutcomeLocal:
			b.WriteString(" local")
		case graph.OutcomeUnresolved:
			b.WriteString(" unresolved " + v.Reason)
		case graph.OutcomeExternal:
			b.WriteString(" external " + v.Target + " (" + v.Reason + ")")
		default:
			for _, t := range v.Targets {
				b.WriteString(" " + c.target(t))
			}
			b.WriteString(" " + strength(v.Outcome) + " " + v.Rule)
		}
	}
	if b.Len() == 0 {
		return " no reference"
	}
	return b.String()
}

func (c *checker) definition(m marked, cl *clause) bool {
	if len(cl.words) < 3 {
		return false
	}
	f := c.facts()
	for _, d := range f.Defs {
		if c.lineOf(d.NameStart) != m.number || d.Kind.String() != cl.words[1] || f.Text(d.Qual) != cl.words[2] {
			continue
		}
		for _, word := range cl.words[3:] {
			name, not := strings.CutPrefix(word, "!")
			if (d.Flags&defFlags[name] != 0) == not {
				return false
			}
		}
		return true
	}
	return false
}

var defFlags = map[string]facts.Flags{
	"exported": facts.FlagExported, "test": facts.FlagTest, "conditional": facts.FlagConditional,
	"damaged": facts.FlagDamaged, "abstract": facts.FlagAbstract, "overload": facts.FlagOverload,
}

func status(s facts.ParseStatus) string {
	return [...]string{facts.Parsed: "parsed", facts.Partial: "partial", facts.Failed: "failed"}[s]
}

func strength(o graph.Outcome) string {
	switch o {
	case graph.OutcomeResolved:
		return graph.ResolvedStatic.String()
	case graph.OutcomeCandidate:
		return graph.Candidate.String()
	}
	return ""
}
