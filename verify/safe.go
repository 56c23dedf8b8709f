package verify

import (
	"strings"

	"github.com/exhibit-dev/exhibit/packet/render"
)

// safe makes text from a bundle or a repository fit for one line of a terminal.
func safe(s string) string {
	out, _ := render.Escape(s)
	return strings.NewReplacer("\n", "⟦U+000A⟧", "\t", "⟦U+0009⟧").Replace(out)
}

// name is safe for a name or path, cut to a length.
func name(s string) string {
	out, _ := render.Name(s)
	return out
}
