package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// importModules reads `import a.b, c as d`.
func (e *extractor) importModules(i int) {
	for c := range e.children(i) {
		name, alias := c, -1
		if e.kind(c) == kAliasedImport {
			name, alias = e.t.Child(c, fName), e.t.Child(c, fAlias)
		}
		if name < 0 || e.kind(name) != kDottedName {
			e.node(c)
			continue
		}
		module := e.dotted(name)
		text := e.f.Text(module)
		local, at := module, name
		if alias >= 0 {
			local, at = e.str(alias), alias
		} else if dot := strings.IndexByte(text, '.'); dot >= 0 {
			local = e.b.Str(text[:dot])
		}
		ref := e.ref(facts.RefImport, module, e.last(name), 0, e.span(i), 0)
		imp := facts.Import{
			Kind: facts.ImportModule, Flags: e.flags, Module: module, Local: local, Scope: e.scope, Span: e.last(name), ModuleSpan: e.span(name), Ref: ref,
		}
		if alias >= 0 {
			imp.Name = local // told apart from `import a.b`, which binds a
		}
		e.bindImport(local, e.span(at), e.b.Import(imp))
	}
}

// last gives the span of the last part of a dotted or relative name: what a
// reader would click to see the module. The dots stand for themselves.
func (e *extractor) last(i int) facts.Span {
	last := i
	for c := range e.children(i) {
		last = c
	}
	if last != i && e.kind(last) == kDottedName {
		return e.last(last)
	}
	return e.span(last)
}

// dotted gives the text of a dotted name without white space.
func (e *extractor) dotted(i int) facts.Str {
	text := e.t.Text(i)
	for _, c := range text {
		if c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\\' || c == '#' {
			var parts []string
			for c := range e.children(i) {
				parts = append(parts, string(e.t.Text(c)))
			}
			return e.b.Str(strings.Join(parts, "."))
		}
	}
	return e.b.Bytes(text)
}

func (e *extractor) bindImport(local facts.Str, span facts.Span, id facts.ImportID) {
	scope := e.scope
	for _, m := range e.frames[len(e.frames)-1].moved {
		if m.name == local {
			scope = m.scope
		}
	}
	e.bind(facts.Binding{
		Kind: facts.BindImport, Flags: e.f.Imports[id].Flags, Name: local, Scope: scope, Span: span, Def: facts.None, Import: id, Order: e.condEnd,
	})
}

// importFrom reads `from .m import a, b as c` and `from m import *`. The
// module is an import of its own, which binds nothing.
func (e *extractor) importFrom(i int) {
	imp := facts.Import{Flags: e.flags, Scope: e.scope}
	module := e.t.Child(i, fModule)
	switch {
	case e.kind(i) == kImportFuture:
		imp.Module = e.b.Str("__future__")
		imp.ModuleSpan = e.future(i)
	case module < 0:
		e.nodes(i)
		return
	case e.kind(module) == kRelativeImport:
		imp.ModuleSpan = e.span(module)
		imp.Flags |= facts.FlagRelative
		for c := range e.children(module) {
			if e.kind(c) == kImportPrefix {
				for _, ch := range e.t.Text(c) {
					if ch == '.' {
						imp.Level++
					}
				}
			} else {
				imp.Module = e.dotted(c)
			}
		}
	default:
		imp.ModuleSpan = e.span(module)
		imp.Module = e.dotted(module)
	}
	specifier := imp.Module
	if imp.Level > 0 {
		specifier = e.b.Str(strings.Repeat(".", int(min(imp.Level, 64))) + e.f.Text(imp.Module))
	}
	whole := imp
	whole.Kind, whole.Span = facts.ImportModule, imp.ModuleSpan
	if module >= 0 {
		whole.Span = e.last(module)
	}
	whole.Ref = e.ref(facts.RefImport, specifier, whole.Span, 0, e.span(i), imp.Flags)
	e.b.Import(whole)
	for c := range e.children(i) {
		if c != module {
			e.importName(c, i, imp)
		}
	}
}

// future gives the span of the word __future__.
func (e *extractor) future(i int) facts.Span {
	for c, end := i+1, int(e.t.Nodes[i].Next); c < end; c = int(e.t.Nodes[c].Next) {
		if string(e.t.Text(c)) == "__future__" {
			return e.span(c)
		}
	}
	return e.span(i)
}

func (e *extractor) importName(c, statement int, imp facts.Import) {
	name, alias := c, -1
	switch e.kind(c) {
	case kWildcard:
		imp.Kind, imp.Name = facts.ImportStar, e.b.Str("*")
		imp.Span = e.span(c)
		imp.Flags |= facts.FlagWildcard
		imp.Ref = e.ref(facts.RefImport, imp.Name, imp.Span, 0, e.span(statement), imp.Flags)
		id := e.b.Import(imp)
		e.bindImport(imp.Name, imp.Span, id)
		return
	case kAliasedImport:
		name, alias = e.t.Child(c, fName), e.t.Child(c, fAlias)
	}
	if name < 0 || e.kind(name) != kDottedName {
		e.node(c)
		return
	}
	imp.Kind, imp.Name, imp.Span = facts.ImportName, e.dotted(name), e.span(name)
	imp.Local = imp.Name
	at := name
	if alias >= 0 {
		imp.Local, at = e.str(alias), alias
	}
	saved := e.enter(c)
	imp.Flags |= e.flags & facts.FlagDamaged
	imp.Ref = e.ref(facts.RefImport, imp.Name, imp.Span, 0, e.span(statement), imp.Flags)
	id := e.b.Import(imp)
	e.bindImport(imp.Local, e.span(at), id)
	e.flags = saved
}
