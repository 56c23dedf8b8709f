package facts

// Builder makes the facts of one file. It interns strings and keeps the
// children of expressions together; everything else is appended to File
// directly.
type Builder struct {
	File *File
	strs map[string]Str
}

// NewBuilder starts the facts of a file with its module scope, which spans
// size bytes.
func NewBuilder(path, language string, size uint32) *Builder {
	f := &File{Path: path, Language: language}
	f.Strings = append(f.Strings, "")
	f.Exprs = append(f.Exprs, Expr{Def: None})
	f.Scopes = append(f.Scopes, Scope{Kind: ScopeModule, Parent: None, Def: None, Span: Span{0, size}})
	return &Builder{File: f, strs: map[string]Str{"": 0}}
}

// Str interns a string.
func (b *Builder) Str(s string) Str {
	if id, ok := b.strs[s]; ok {
		return id
	}
	id := Str(len(b.File.Strings))
	b.File.Strings = append(b.File.Strings, s)
	b.strs[s] = id
	return id
}

// Bytes interns the string that bytes spell, without allocating when it is known.
func (b *Builder) Bytes(s []byte) Str {
	if id, ok := b.strs[string(s)]; ok {
		return id
	}
	return b.Str(string(s))
}

// Expr appends an expression with its children and gives its id. The Def of e
// is kept as it is: set it to None where there is none.
func (b *Builder) Expr(e Expr, kids ...ExprID) ExprID {
	e.kid = uint32(len(b.File.Kids))
	b.File.Kids = append(b.File.Kids, kids...)
	b.File.Exprs = append(b.File.Exprs, e)
	return ExprID(len(b.File.Exprs) - 1)
}

// Scope appends a scope.
func (b *Builder) Scope(s Scope) ScopeID {
	b.File.Scopes = append(b.File.Scopes, s)
	return ScopeID(len(b.File.Scopes) - 1)
}

// Def appends a definition.
func (b *Builder) Def(d Def) DefID {
	b.File.Defs = append(b.File.Defs, d)
	return DefID(len(b.File.Defs) - 1)
}

// Import appends an import.
func (b *Builder) Import(i Import) ImportID {
	b.File.Imports = append(b.File.Imports, i)
	return ImportID(len(b.File.Imports) - 1)
}

// Ref appends a reference site and gives its index.
func (b *Builder) Ref(r Ref) int32 {
	b.File.Refs = append(b.File.Refs, r)
	return int32(len(b.File.Refs) - 1)
}
