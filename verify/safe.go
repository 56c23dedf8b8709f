package verify

import "strconv"

// safe makes text from a bundle or a repository fit for a terminal.
func safe(s string) string {
	q := strconv.QuoteToGraphic(s)
	return q[1 : len(q)-1]
}
