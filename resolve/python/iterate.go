package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// method calls a special method of an instance without arguments.
func (r *resolver) method(v value, name symbol) (values, bool) {
	if _, ok := r.find(v.class, name, -1); !ok {
		return nil, false
	}
	var out values
	for _, m := range r.attribute(v, name) {
		out = out.add(r.result(m, 0, 0)...)
	}
	return out.weaken(hinted), true
}

// awaited gives what awaiting a value gives.
func (r *resolver) awaited(v value) values {
	if v.kind == isAwaited {
		return v.args[0]
	}
	if v.kind == isForeign {
		if len(v.args) == 1 && (strings.HasSuffix(v.name, "Future") || strings.HasSuffix(v.name, "Task")) {
			return v.args[0]
		}
		return one(v)
	}
	return nil
}

// element gives what iterating over a value gives.
func (r *resolver) element(v value) values {
	if r.depth >= maxDepth {
		return nil
	}
	switch v.kind {
	case isForeign:
		switch v.name {
		case "str":
			return one(foreign("str"))
		case "bytes":
			return one(foreign("int"))
		case "tuple":
			var out values
			for _, a := range v.args {
				out = out.add(a...)
			}
			return out
		}
		if len(v.args) > 0 {
			return v.args[0]
		}
	case isInstance:
		r.depth++
		defer func() { r.depth-- }()
		for _, name := range [...]symbol{r.well.iter, r.well.aiter} {
			if vs, ok := r.method(v, name); ok {
				var out values
				for _, w := range vs {
					if w.kind == isInstance && w.class == v.class {
						out = out.add(r.stepped(w)...)
						continue
					}
					out = out.add(r.element(w)...)
				}
				return out
			}
		}
		if vs, ok := r.method(v, r.well.getitem); ok {
			return vs
		}
		var out values
		for _, w := range r.holder(v) {
			out = out.add(r.element(w)...)
		}
		return out
	case isClass:
		if isEnum(r.classes[v.class].outside) {
			return one(value{kind: isInstance, class: v.class, why: hinted})
		}
	case isTypeVar:
		var out values
		for _, b := range v.args {
			for _, w := range b {
				out = out.add(r.element(w)...)
			}
		}
		return out
	}
	return nil
}

// stepped gives what next() gives for an iterator of the repository.
func (r *resolver) stepped(v value) values {
	if vs, ok := r.method(v, r.well.next); ok {
		return vs
	}
	vs, ok := r.method(v, r.well.anext)
	if !ok {
		return nil
	}
	var out values
	for _, w := range vs {
		out = out.add(r.awaited(w)...)
	}
	return out
}

// entered gives what a with statement binds.
func (r *resolver) entered(v value) values {
	switch v.kind {
	case isContext:
		return v.args[0]
	case isForeign:
		return one(v)
	case isInstance:
		if vs, ok := r.method(v, r.well.enter); ok {
			return vs
		}
		if vs, ok := r.method(v, r.well.aenter); ok {
			var out values
			for _, w := range vs {
				out = out.add(r.awaited(w)...)
			}
			return out
		}
	}
	return nil
}

// part gives the i-th part that v is taken apart into.
func (r *resolver) part(v value, i int) values {
	if v.kind == isForeign && v.name == "tuple" {
		if i < len(v.args) {
			return v.args[i]
		}
		return nil
	}
	if v.kind == isInstance && isNamedTuple(r.classes[v.class].outside) {
		return r.field(v.class, i)
	}
	return r.element(v)
}

// field gives the i-th annotated field of a class.
func (r *resolver) field(c int32, i int) values {
	k := &r.classes[c]
	f := r.files[k.file]
	body := f.Defs[k.def].Body
	if body < 0 || f.first[body] < 0 {
		return nil
	}
	for b := int(f.first[body]); b < len(f.Bindings); b++ {
		bd := &f.Bindings[b]
		if bd.Scope != body || bd.Kind != facts.BindVar || bd.Type == 0 {
			continue
		}
		if i == 0 {
			return r.annotation(k.file, bd.Type)
		}
		i--
	}
	return nil
}

func isNamedTuple(outside string) bool {
	return outside == "typing.NamedTuple" || outside == "typing_extensions.NamedTuple"
}

func isEnum(outside string) bool { return len(outside) > 5 && outside[:5] == "enum." }

// index evaluates x[i].
func (r *resolver) index(fi int32, f *file, id facts.ExprID) values {
	kids := f.Children(id)
	var out values
	for _, v := range r.eval(fi, kids[0]) {
		switch v.kind {
		case isClass:
			if isEnum(r.classes[v.class].outside) {
				out = out.add(value{kind: isInstance, class: v.class, why: hinted})
				continue
			}
			v = v.of(r.typeArguments(fi, id)...)
			out = out.add(v)
		case isExternal:
			out = out.add(v)
		case isInstance:
			if vs, ok := r.method(v, r.well.getitem); ok {
				out = out.add(vs...)
			} else {
				for _, w := range r.holder(v) {
					out = out.add(r.item(w, f, kids)...)
				}
			}
		case isForeign:
			out = out.add(r.item(v, f, kids)...)
		}
	}
	return out
}

func (r *resolver) item(v value, f *file, kids []facts.ExprID) values {
	switch v.name {
	case "dict":
		if len(v.args) > 1 {
			return v.args[1]
		}
		return nil
	case "tuple":
		return r.element(v)
	}
	return r.element(v)
}

func (r *resolver) slice(fi int32, f *file, id facts.ExprID) values {
	var out values
	for _, v := range r.eval(fi, f.Child(id, 0)) {
		switch v.kind {
		case isForeign:
			out = out.add(v)
		case isInstance:
			if vs, ok := r.method(v, r.well.getitem); ok {
				out = out.add(vs...)
			}
		}
	}
	return out
}

// wellKnown are the names that evaluation itself looks up.
type wellKnown struct {
	call, iter, aiter, next, anext, getitem, enter, aenter, getattr, get symbol
}

func newWellKnown(s *symbols) wellKnown {
	return wellKnown{
		call: s.id("__call__"), iter: s.id("__iter__"), aiter: s.id("__aiter__"), next: s.id("__next__"), anext: s.id("__anext__"),
		getitem: s.id("__getitem__"), enter: s.id("__enter__"), aenter: s.id("__aenter__"), getattr: s.id("__getattr__"), get: s.id("__get__"),
	}
}
