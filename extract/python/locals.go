package python

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// dropLocals leaves out the mentions of names that are local values:
// parameters and local variables, never definitions or imports. Calls stay.
func (e *extractor) dropLocals() {
	f := e.f
	locals := make(map[varKey]bool, len(f.Bindings)) // true when something may be a definition
	for i := range f.Bindings {
		b := &f.Bindings[i]
		k := f.Scopes[b.Scope].Kind
		if k == facts.ScopeModule || k == facts.ScopeClass || b.Kind == facts.BindNarrow {
			continue
		}
		key := varKey{b.Scope, b.Name}
		locals[key] = locals[key] || b.Kind == facts.BindDef || b.Kind == facts.BindImport || b.Kind == facts.BindGlobal || b.Kind == facts.BindNonlocal
	}
	keep := make([]int32, len(f.Refs))
	n := int32(0)
	for i := range f.Refs {
		r := &f.Refs[i]
		if r.Kind == facts.RefUse && f.Exprs[r.Expr].Kind == facts.ExprName && e.local(locals, r.Scope, r.Name) {
			keep[i] = facts.None
			continue
		}
		keep[i] = n
		f.Refs[n] = *r
		n++
	}
	f.Refs = f.Refs[:n]
	for i := range f.Imports {
		if r := f.Imports[i].Ref; r >= 0 {
			f.Imports[i].Ref = keep[r]
		}
	}
}

func (e *extractor) local(locals map[varKey]bool, s facts.ScopeID, name facts.Str) bool {
	for ; s > 0; s = e.f.Scopes[s].Parent {
		if e.f.Scopes[s].Kind == facts.ScopeClass {
			continue
		}
		if open, ok := locals[varKey{s, name}]; ok {
			return !open
		}
	}
	return false
}

// order puts references and bindings in the order of the source. The descent
// already follows it but for a few constructs.
func (e *extractor) order() {
	f := e.f
	sorted := slices.IsSortedFunc(f.Refs, func(a, b facts.Ref) int { return int(int64(a.Start) - int64(b.Start)) })
	if sorted {
		return
	}
	index := make([]int32, len(f.Refs))
	for i := range index {
		index[i] = int32(i)
	}
	slices.SortStableFunc(index, func(a, b int32) int { return int(int64(f.Refs[a].Start) - int64(f.Refs[b].Start)) })
	refs := make([]facts.Ref, len(index))
	where := make([]int32, len(index))
	for to, from := range index {
		refs[to] = f.Refs[from]
		where[from] = int32(to)
	}
	f.Refs = refs
	for i := range f.Imports {
		if r := f.Imports[i].Ref; r >= 0 {
			f.Imports[i].Ref = where[r]
		}
	}
}
