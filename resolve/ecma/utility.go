package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// utility evaluates the types that the language's own library defines.
func (r *resolver) utility(name string, args []*typ) *typ {
	a := func(i int) *typ {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	switch name {
	case "Partial", "Required", "Readonly", "Pick", "Omit", "NonNullable", "Extract", "Exclude", "NoInfer", "ThisType":
		return a(0)
	case "Awaited":
		return r.awaited(a(0))
	case "Record":
		return builtin("Record", a(0), a(1))
	case "Array", "ReadonlyArray", "ArrayLike", "Iterable", "IterableIterator", "Iterator", "AsyncIterable", "AsyncIterableIterator",
		"Generator", "AsyncGenerator", "ArrayIterator":
		return builtin("Array", a(0))
	case "Set", "ReadonlySet", "WeakSet":
		return builtin("Set", a(0))
	case "Map", "ReadonlyMap", "WeakMap":
		return builtin("Map", a(0), a(1))
	case "Promise", "PromiseLike":
		return builtin("Promise", a(0))
	case "ReturnType":
		return weaken(r.call(a(0), nil, nil))
	case "InstanceType":
		if t := a(0); t != nil && t.k == kClass {
			return r.instance(t.defs[0], nil)
		}
		return nil
	case "Parameters", "ConstructorParameters", "OmitThisParameter", "Uppercase", "Lowercase", "Capitalize":
		return nil
	case "String":
		return tString
	case "any", "unknown":
		return nil
	}
	return builtin(name, args...)
}

// awaited unwraps a promise.
func (r *resolver) awaited(t *typ) *typ {
	if t == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	switch t.k {
	case kBuiltin:
		if t.name == "Promise" {
			return weakenIf(t.weak, r.awaited(arg(t, 0)))
		}
	case kUnion:
		ts := make([]*typ, len(t.args))
		for i, p := range t.args {
			ts[i] = r.awaited(p)
		}
		return weakenIf(t.weak, union(ts...))
	case kInter:
		for _, p := range t.args {
			if p.k == kBuiltin && p.name == "Promise" {
				return weakenIf(t.weak, r.awaited(p))
			}
		}
	}
	return t
}

// element gives what iterating or indexing a type yields.
func (r *resolver) element(t *typ) *typ {
	if t == nil || !r.enter() {
		return nil
	}
	defer r.leave()
	switch t.k {
	case kBuiltin:
		switch t.name {
		case "Array", "Set":
			return weakenIf(t.weak, arg(t, 0))
		case "Map":
			return &typ{k: kTuple, args: []*typ{arg(t, 0), arg(t, 1)}, weak: t.weak}
		case "Record":
			return weakenIf(t.weak, arg(t, 1))
		}
		return tOutside
	case kTuple:
		return weakenIf(t.weak, union(t.args...))
	case kPrim:
		return tString
	case kUnion:
		ts := make([]*typ, len(t.args))
		for i, p := range t.args {
			ts[i] = r.element(p)
		}
		return weakenIf(t.weak, union(ts...))
	case kExternal:
		return t
	case kParam:
		return r.element(r.bound(t))
	case kInst:
		for _, b := range r.basesOf(t) {
			if e := r.element(b); e != nil {
				return e
			}
		}
		return r.indexSignature(t)
	case kInter:
		for _, p := range t.args {
			if e := r.element(p); e != nil {
				return e
			}
		}
	case kObject:
		return r.indexSignature(t)
	}
	return nil
}

// bound gives what an open type parameter is known to extend.
func (r *resolver) bound(t *typ) *typ {
	if t.expr == 0 {
		return nil
	}
	return r.typeOf(r.files[t.file], t.expr, t.env)
}

// indexSignature gives the value type of [k: string]: T in an object type.
func (r *resolver) indexSignature(t *typ) *typ {
	if t.k == kInst {
		for _, d := range t.defs {
			x, def := r.files[d.File], r.def(d)
			if def.Kind != facts.KindInterface || def.Type == 0 {
				continue
			}
			ev := r.instEnv(t, d)
			for _, k := range x.f.Children(def.Type) {
				if x.f.Exprs[k].Kind == facts.ExprMapType {
					return r.typeOf(x, x.f.Child(k, 1), ev)
				}
			}
		}
		return nil
	}
	x := r.files[t.file]
	f := x.f
	switch f.Exprs[t.expr].Kind {
	case facts.ExprMapType:
		return r.mapped(t, t.expr, "")
	case facts.ExprTypeLiteral:
		for _, k := range f.Children(t.expr) {
			if f.Exprs[k].Kind == facts.ExprMapType {
				return r.mapped(t, k, "")
			}
		}
	case facts.ExprObject:
		var ts []*typ
		for _, k := range f.Children(t.expr) {
			if f.Exprs[k].Kind == facts.ExprKeyword {
				ts = append(ts, r.valueOf(x, f.Child(k, 0), t.env))
			}
		}
		return weaken(union(ts...))
	}
	return nil
}

// mapped evaluates the value of a mapped type for a key, "" for any.
func (r *resolver) mapped(t *typ, id facts.ExprID, key string) *typ {
	x := r.files[t.file]
	f := x.f
	ev := t.env
	if n := f.Exprs[id].Name; n != 0 {
		k := &typ{k: kLiteral, name: key}
		if key == "" {
			k = tString
		}
		ev = &env{parent: ev, names: []string{f.Text(n)}, types: []*typ{k}}
	}
	return r.typeOf(x, f.Child(id, 1), ev)
}

// instEnv binds the type parameters of a declaration to an instance's arguments.
func (r *resolver) instEnv(t *typ, d graph.DefRef) *env {
	ev := &env{this: t}
	if names := r.typeParamNames(d); len(names) > 0 {
		ev.names = names
		ev.types = make([]*typ, len(names))
		copy(ev.types, t.args)
	}
	return ev
}
