package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// kept says whether calling a definition by its name runs its own body: no
// decorator puts something else in its place. Decorators of the language and
// the standard library keep the function, and so do those of the repository
// that return a function; one that makes an object of a class, and one of a
// dependency, may not.
func (r *resolver) kept(ref graph.DefRef) bool {
	f := r.files[ref.File]
	d := &f.Defs[ref.Def]
	if d.Flags&facts.FlagDecorated == 0 || d.Kind == facts.KindClass {
		return true
	}
	if known, ok := r.keeps[ref]; ok {
		return known
	}
	r.keeps[ref] = true
	for _, c := range f.Children(d.Decorators) {
		if !r.keeping(ref.File, f, c) {
			r.keeps[ref] = false
			return false
		}
	}
	return true
}

func (r *resolver) keeping(fi int32, f *file, c facts.ExprID) bool {
	callee, called := c, false
	if f.Exprs[c].Kind == facts.ExprCall {
		callee, called = f.Child(c, 0), true
	}
	for _, v := range r.eval(fi, callee) {
		switch v.kind {
		case isExternal:
			top, _, _ := strings.Cut(v.name, ".")
			if !standard[top] && !strings.HasPrefix(v.name, "pytest.mark") && !strings.HasPrefix(v.name, "typing_extensions.") {
				return false
			}
		case isClass:
			return false
		case isFunction, isMethod:
			made := r.result(v, fi, 0)
			if called {
				var inner values
				for _, m := range made {
					inner = inner.add(r.call(m, fi, 0)...)
				}
				made = inner
			}
			if made.has(isInstance) || made.has(isClass) {
				return false
			}
		}
	}
	return true
}

// applied gives what the decorators of a function put in its place, where they
// are known to make something that is no function: the object of a class.
func (r *resolver) applied(ref graph.DefRef) values {
	f := r.files[ref.File]
	d := &f.Defs[ref.Def]
	if d.Flags&facts.FlagDecorated == 0 || r.depth >= maxDepth {
		return nil
	}
	if vs, ok := r.made[ref]; ok {
		return vs
	}
	r.made[ref] = nil
	r.depth++
	defer func() { r.depth-- }()
	// The outermost decorator has the last word.
	for _, c := range f.Children(d.Decorators) {
		var out values
		for _, v := range r.eval(ref.File, c) {
			for _, m := range r.call(v, ref.File, 0) {
				if m.kind == isInstance {
					out = out.add(m)
				}
			}
		}
		if len(out) > 0 {
			r.made[ref] = out.weaken(hinted)
			break
		}
	}
	return r.made[ref]
}
