package trust

import "strings"

// maxPattern is the length of one pattern above which OpenSSH matches nothing.
const maxPattern = 1022

// matchList says whether s matches a comma-separated pattern list in which a
// pattern that begins with ! excludes what it matches (ssh_config(5), PATTERNS).
// Letters match in their own case.
func matchList(s, list string) bool {
	matched := false
	for list != "" {
		var pattern string
		pattern, list, _ = strings.Cut(list, ",")
		pattern, negated := strings.CutPrefix(pattern, "!")
		if len(pattern) > maxPattern {
			return false
		}
		if match(s, pattern) {
			if negated {
				return false
			}
			matched = true
		}
	}
	return matched
}

// match says whether the bytes of s match a pattern of literals, ? and *, in
// time proportional to len(s) times len(pattern).
func match(s, pattern string) bool {
	star, resume := -1, 0
	i, j := 0, 0
	for i < len(s) {
		switch {
		case j < len(pattern) && pattern[j] == '*':
			star, resume = j, i
			j++
		case j < len(pattern) && (pattern[j] == '?' || pattern[j] == s[i]):
			i++
			j++
		case star >= 0:
			resume++
			i, j = resume, star+1
		default:
			return false
		}
	}
	for j < len(pattern) && pattern[j] == '*' {
		j++
	}
	return j == len(pattern)
}
