package snapshot

import (
	"strconv"
	"strings"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

const (
	// maxAttributeBytes bounds one attributes file, as Git does (100 MB there).
	maxAttributeBytes = 1 << 20
	// maxAttributeRules bounds the rules of one snapshot that set an attribute
	// which is used here: each file is matched against each of them.
	maxAttributeRules = 4000
)

// The states of an attribute (gitattributes(5)); any other value is its string.
const (
	attrUnspecified = ""
	attrSet         = "\x00set"
	attrUnset       = "\x00unset"
)

// usedAttributes are the attributes that decide something here; the others are
// dropped while parsing.
var usedAttributes = map[string]bool{
	"text": true, "eol": true, "crlf": true, "ident": true, "working-tree-encoding": true,
	"filter": true, "linguist-generated": true,
}

type attrAssign struct{ name, value string }

type attrRule struct {
	pattern glob
	assigns []attrAssign
}

// attributes are the rules of one snapshot. Precedence, lowest first: the
// user's file, .gitattributes from the root down to the file's folder, then
// info/attributes.
type attributes struct {
	user   []attrRule
	dirs   map[string][]attrRule // by folder, "" for the root
	info   []attrRule
	macros map[string][]attrAssign
	count  int
}

func newAttributes() *attributes {
	return &attributes{dirs: map[string][]attrRule{},
		macros: map[string][]attrAssign{"binary": {{"text", attrUnset}}}}
}

// addDir parses the .gitattributes of a folder.
func (a *attributes) addDir(dir string, data []byte) error {
	rules, err := a.parse(data, dir == "")
	if err != nil {
		return err
	}
	a.dirs[dir] = rules
	return nil
}

// parse reads an attributes file: one pattern and its assignments a line. Lines
// that Git ignores with a warning (a negative pattern, a malformed quote) are
// ignored.
func (a *attributes) parse(data []byte, macros bool) ([]attrRule, error) {
	if len(data) > maxAttributeBytes {
		return nil, nil // as Git does with a file that is too large
	}
	var rules []attrRule
	for _, line := range strings.Split(strings.TrimPrefix(string(data), "\xef\xbb\xbf"), "\n") {
		line = strings.TrimLeft(line, " \t\r")
		if line == "" || line[0] == '#' {
			continue
		}
		pattern, rest, ok := attrPattern(line)
		if !ok || pattern == "" || pattern[0] == '!' {
			continue
		}
		assigns := a.assigns(strings.Fields(rest))
		if name, ok := strings.CutPrefix(pattern, "[attr]"); ok {
			if macros && name != "" {
				a.macros[name] = assigns
			}
			continue
		}
		if len(assigns) == 0 {
			continue
		}
		if a.count++; a.count > maxAttributeRules {
			return nil, fault.New(fault.RepositoryLimit, "the .gitattributes files hold more than %d rules", maxAttributeRules)
		}
		rules = append(rules, attrRule{parseGlob(pattern), assigns})
	}
	return rules, nil
}

// attrPattern splits a line after its pattern, which may be quoted as in C.
func attrPattern(line string) (pattern, rest string, ok bool) {
	if line[0] != '"' {
		i := strings.IndexAny(line, " \t\r")
		if i < 0 {
			return line, "", true
		}
		return line[:i], line[i:], true
	}
	quoted, err := strconv.QuotedPrefix(line)
	if err != nil {
		return "", "", false
	}
	pattern, err = strconv.Unquote(quoted)
	return pattern, line[len(quoted):], err == nil
}

// assigns parses "name", "-name", "!name" and "name=value", keeping those that
// are used and the names of macros.
func (a *attributes) assigns(words []string) []attrAssign {
	var out []attrAssign
	for _, w := range words {
		as := attrAssign{name: w, value: attrSet}
		switch {
		case w[0] == '-':
			as = attrAssign{w[1:], attrUnset}
		case w[0] == '!':
			as = attrAssign{w[1:], attrUnspecified}
		default:
			if name, value, ok := strings.Cut(w, "="); ok {
				as = attrAssign{name, value}
			}
		}
		if usedAttributes[as.name] {
			out = append(out, as)
		} else if macro, ok := a.macros[as.name]; ok && as.value == attrSet {
			out = append(out, macro...)
		}
	}
	return out
}

// of gives the attributes of a path; nil when none is specified.
func (a *attributes) of(path string) map[string]string {
	if a == nil || len(a.user)+len(a.info)+len(a.dirs) == 0 {
		return nil
	}
	var out map[string]string
	parts := strings.Split(path, "/")
	apply := func(rules []attrRule, depth int) {
		for _, r := range rules {
			if !r.pattern.matchFile(parts[depth:], true) {
				continue
			}
			if out == nil {
				out = map[string]string{}
			}
			for _, as := range r.assigns {
				out[as.name] = as.value
			}
		}
	}
	apply(a.user, 0)
	apply(a.dirs[""], 0)
	for i, at := 1, 0; i < len(parts); i++ {
		at += len(parts[i-1]) + 1
		if rules := a.dirs[path[:at-1]]; rules != nil {
			apply(rules, i)
		}
	}
	apply(a.info, 0)
	return out
}

// generated says whether linguist-generated is set on a path.
func (a *attributes) generated(path string) bool {
	v := a.of(path)["linguist-generated"]
	return v == attrSet || v == "true"
}
