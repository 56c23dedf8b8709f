package ecma

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
)

// Version of the extractor: part of every extraction key.
//
//	1: first.
//	2: a call with type arguments behind await or another prefix is a call.
const Version = 3

// Extract gives the facts of one file. language is "javascript", "typescript"
// or "tsx". A file that cannot be parsed within the parser's bounds gives facts
// with Status Failed; the error is for a language that is not one of these.
func Extract(p *flat.Parser, path, language string, src []byte) (*facts.File, error) {
	d := dialectOf(language)
	if d == nil {
		return nil, fmt.Errorf("ecma: no grammar for language %q", language)
	}
	b := facts.NewBuilder(path, language, uint32(len(src)))
	f := b.File
	if !utf8.Valid(src) {
		f.Status, f.Failure = facts.Failed, "unsupported_encoding"
		return f, nil
	}
	t, err := p.Parse(d.lang, src, flat.Options{})
	if err != nil {
		f.Status, f.Failure = facts.Failed, err.Error()
		return f, nil
	}
	if len(t.Nodes) > 0 && t.Nodes[0].Flags&flat.HasError != 0 {
		t, f.Blanked, err = repair(p, d, t, src)
		if err != nil {
			f.Status, f.Failure = facts.Failed, err.Error()
			return f, nil
		}
	}
	w := &walker{d: d, t: t, src: src, b: b, f: f, owner: facts.None, class: facts.None}
	w.presize(len(t.Nodes))
	w.run()
	return f, nil
}

// TestFile says whether a path is a test by the conventions of the JavaScript
// test runners: *.test.*, *.spec.*, and what stands in a folder of tests.
func TestFile(p string) bool {
	base := path.Base(p)
	stem := strings.TrimSuffix(base, path.Ext(base))
	stem = strings.TrimSuffix(stem, ".d")
	for _, s := range [...]string{".test", ".spec", ".test-d", ".spec-d", "_test", "_spec", "-test", "-spec", ".e2e", ".cy"} {
		if strings.HasSuffix(stem, s) && len(stem) > len(s) {
			return true
		}
	}
	for dir := path.Dir(p); dir != "." && dir != "/"; dir = path.Dir(dir) {
		switch path.Base(dir) {
		case "__tests__", "__test__", "test", "tests", "spec", "specs", "e2e", "__mocks__", "__fixtures__", "cypress":
			return true
		}
	}
	return false
}

// finish drops the uses of names that are plainly local, orders references, and
// points imports and exports at theirs.
func (w *walker) finish() {
	f := w.f
	w.markRebound()
	index := map[int64][]int32{}
	for i := range f.Bindings {
		b := &f.Bindings[i]
		if b.Kind == facts.BindAttr || b.Kind == facts.BindMatch {
			continue
		}
		k := int64(b.Scope)<<32 | int64(b.Name)
		index[k] = append(index[k], int32(i))
	}
	keep := make([]int32, 0, len(f.Refs))
	for i := range f.Refs {
		r := &f.Refs[i]
		if r.Kind == facts.RefUse && r.Flags&facts.FlagExported == 0 {
			if e := &f.Exprs[r.Expr]; (e.Kind == facts.ExprName || e.Kind == facts.ExprTypeName) && w.local(index, r.Scope, e.Name, e.Kind == facts.ExprTypeName) {
				continue
			}
		}
		keep = append(keep, int32(i))
	}
	slices.SortStableFunc(keep, func(a, b int32) int {
		x, y := &f.Refs[a], &f.Refs[b]
		if x.Start != y.Start {
			return int(int64(x.Start) - int64(y.Start))
		}
		return int(x.Kind) - int(y.Kind)
	})
	moved := make([]int32, len(f.Refs))
	for i := range moved {
		moved[i] = facts.None
	}
	refs := make([]facts.Ref, len(keep))
	for to, from := range keep {
		refs[to], moved[from] = f.Refs[from], int32(to)
	}
	f.Refs = refs
	for i := range f.Imports {
		if r := f.Imports[i].Ref; r >= 0 {
			f.Imports[i].Ref = moved[r]
		}
	}
	for i := range f.Exports {
		if r := f.Exports[i].Ref; r >= 0 {
			f.Exports[i].Ref = moved[r]
		}
	}
	w.mergeDamage()
}

// local says whether a name, seen from a scope, means a parameter, a local
// variable or a type parameter: nothing that a reference could be resolved to.
func (w *walker) local(index map[int64][]int32, scope facts.ScopeID, name facts.Str, typ bool) bool {
	f := w.f
	for s := scope; s >= 0; s = f.Scopes[s].Parent {
		found := false
		for _, i := range index[int64(s)<<32|int64(name)] {
			b := &f.Bindings[i]
			switch {
			case b.Kind == facts.BindTypeParam:
				if typ {
					return true
				}
			case b.Kind == facts.BindImport:
				return false
			case b.Kind == facts.BindDef:
				switch f.Defs[b.Def].Kind {
				case facts.KindInterface, facts.KindType:
					found = found || typ
				case facts.KindClass, facts.KindEnum, facts.KindNamespace:
					found = true
				default:
					found = found || !typ
				}
				if found {
					return false
				}
			case !typ:
				return true
			}
		}
	}
	return false
}

// markRebound flags the bindings of names that are assigned after their
// declaration, and keeps what was assigned as further bindings of the name.
func (w *walker) markRebound() {
	f := w.f
	if len(w.assigned) == 0 {
		return
	}
	type key struct {
		scope facts.ScopeID
		name  facts.Str
	}
	declared := make(map[key]int32, len(f.Bindings))
	for i := range f.Bindings {
		b := &f.Bindings[i]
		if b.Kind == facts.BindAttr || b.Kind == facts.BindTypeParam || b.Kind == facts.BindMatch {
			continue
		}
		k := key{b.Scope, b.Name}
		if _, dup := declared[k]; !dup {
			declared[k] = int32(i)
		}
	}
	for _, a := range w.assigned {
		for s := a.scope; s >= 0; s = f.Scopes[s].Parent {
			i, ok := declared[key{s, a.name}]
			if !ok {
				continue
			}
			b := &f.Bindings[i]
			// let x; x = f(): the one assignment is the initialiser.
			if b.Kind == facts.BindVar && b.Value == 0 && b.Flags&facts.FlagRebound == 0 && a.value != 0 {
				b.Value = a.value
				b.Flags |= facts.FlagRebound | facts.FlagConditional
			} else {
				b.Flags |= facts.FlagRebound
				if a.value != 0 {
					f.Bindings = append(f.Bindings, facts.Binding{Kind: facts.BindVar, Flags: facts.FlagRebound, Name: a.name,
						Scope: s, Span: a.span, Def: facts.None, Import: facts.None, Value: a.value})
				}
			}
			if d := f.Bindings[i].Def; d >= 0 {
				f.Defs[d].Flags |= facts.FlagRebound
				if f.Defs[d].Value == 0 && a.value != 0 {
					f.Defs[d].Value = a.value
				}
			}
			break
		}
	}
}

func (w *walker) mergeDamage() {
	f := w.f
	if len(f.Damage) == 0 {
		return
	}
	f.Status = facts.Partial
	slices.SortFunc(f.Damage, func(a, b facts.Span) int {
		if a.Start != b.Start {
			return int(int64(a.Start) - int64(b.Start))
		}
		return int(int64(b.End) - int64(a.End))
	})
	out := f.Damage[:0]
	for _, s := range f.Damage {
		if n := len(out); n > 0 && s.Start <= out[n-1].End {
			out[n-1].End = max(out[n-1].End, s.End)
			continue
		}
		out = append(out, s)
	}
	f.Damage = out
}
