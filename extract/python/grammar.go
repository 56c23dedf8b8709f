package python

import "github.com/exhibit-dev/exhibit/extract/flat"

// Grammar gives the grammar that reads a language of this package.
func Grammar(string) *flat.Language { return language }
