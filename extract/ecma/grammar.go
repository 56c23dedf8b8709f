package ecma

import "github.com/exhibit-dev/exhibit/extract/flat"

// Grammar gives the grammar that reads a language of this package.
func Grammar(language string) *flat.Language { return dialectOf(language).lang }
