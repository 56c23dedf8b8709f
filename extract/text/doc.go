// Package text indexes files that are not code for navigation: headings of
// Markdown and reStructuredText, tables and keys of TOML, YAML, INI and JSON.
// It makes no references, so that prose never becomes an edge.
package text
