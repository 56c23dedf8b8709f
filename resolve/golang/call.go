package golang

import (
	"strings"
	"unicode"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

func isUpper(c rune) bool { return unicode.IsUpper(c) }

// call types a call, conversion or use of a builtin.
func (r *resolver) call(f *file, e facts.ExprID) operand {
	kids := f.Children(e)
	if len(kids) == 0 {
		return operand{}
	}
	fn := r.eval(f, kids[0])
	switch {
	case fn.mode == mType:
		return value(fn.t)
	case fn.mode == mBuiltin:
		return r.builtin(f, f.Text(f.Exprs[kids[0]].Name), kids[1:])
	case fn.t == nil:
		return operand{}
	}
	t := fn.t
	if path := r.unsafeCall(f, kids[0]); path != "" {
		return value(r.unsafe(f, path, kids[1:]))
	}
	if t.kind == tExternal {
		return value(r.externalCall(f, t, kids[1:]))
	}
	if t.kind == tHint {
		return value(t)
	}
	if t.kind != tFunc {
		if t = r.underlying(t); t == nil {
			return operand{}
		}
		if t.kind == tExternal {
			return value(external(t.name + "()"))
		}
	}
	if t.kind != tFunc {
		return operand{}
	}
	if len(t.tparams) > 0 {
		t = r.infer(f, t, kids[1:])
	}
	switch len(t.results) {
	case 0:
		return operand{}
	case 1:
		return value(t.results[0])
	}
	return value(&typ{kind: tTuple, results: t.results})
}

func (r *resolver) builtin(f *file, name string, args []facts.ExprID) operand {
	arg := func(i int) *typ {
		if i < len(args) {
			return r.typeOf(f, args[i])
		}
		return nil
	}
	switch name {
	case "append", "make":
		return value(arg(0))
	case "new":
		return value(pointer(defaulted(arg(0))))
	case "len", "cap", "copy":
		return value(tInt)
	case "min", "max":
		for i := range args {
			if t := arg(i); t != nil && t.kind != tUntyped {
				return value(t)
			}
		}
		return value(arg(0))
	case "recover":
		return value(tAny)
	}
	return operand{}
}

// infer instantiates a generic function from the types of its arguments.
func (r *resolver) infer(f *file, t *typ, args []facts.ExprID) *typ {
	env := make(subst, 0, len(t.tparams))
	for _, p := range t.tparams {
		env = append(env, binding{param: p})
	}
	// Typed arguments first, untyped constants afterwards.
	types, spread := r.argTypes(f, args)
	for pass := 0; pass < 2; pass++ {
		for i, at := range types {
			if at == nil || (at.kind == tUntyped) != (pass == 1) {
				continue
			}
			r.unify(env, paramAt(t, i, spread), defaulted(at), 0)
		}
	}
	// Constraints such as ~[]E tell one parameter by another.
	for range t.tparams {
		for i := range env {
			if core := r.core(env[i].param); core != nil && core.kind != tInterface {
				if env[i].to != nil {
					r.unify(env, core, r.underlying(env[i].to), 0)
				} else if known(env, core, 0) {
					env[i].to = env.apply(core)
				}
			}
		}
	}
	bound := env[:0:0]
	for _, b := range env {
		if b.to != nil {
			bound = append(bound, b)
		} else {
			bound = append(bound, binding{b.param, nil})
		}
	}
	return &typ{kind: tFunc, variadic: t.variadic, params: t.params, results: bound.results(t.results)}
}

// argTypes gives the types of arguments; one call with several results stands for
// all. spread says that the last one is x... .
func (r *resolver) argTypes(f *file, args []facts.ExprID) (types []*typ, spread bool) {
	for _, a := range args {
		t := r.typeOf(f, a)
		if t != nil && t.kind == tTuple && len(args) == 1 {
			return t.results, false
		}
		types = append(types, t)
		spread = f.Exprs[a].Kind == facts.ExprSpread
	}
	return types, spread
}

// results applies s to result types; what stays a parameter that was not
// inferred is not known.
func (s subst) results(list []*typ) []*typ {
	out := make([]*typ, len(list))
	for i, t := range list {
		if t != nil && t.kind == tParam {
			for _, b := range s {
				if b.param == t {
					t = b.to
					break
				}
			}
			out[i] = t
			continue
		}
		out[i] = s.known().apply(t)
	}
	return out
}

func (s subst) known() subst {
	var out subst
	for _, b := range s {
		if b.to != nil {
			out = append(out, b)
		}
	}
	return out
}

// known says whether all type parameters in t have been inferred.
func known(env subst, t *typ, depth int) bool {
	if t == nil || depth > maxDepth {
		return false
	}
	if t.kind == tParam {
		return env.find(t) != nil
	}
	for _, x := range []*typ{t.elem, t.key} {
		if x != nil && !known(env, x, depth+1) {
			return false
		}
	}
	for _, x := range t.args {
		if !known(env, x, depth+1) {
			return false
		}
	}
	return t.kind != tFunc
}

func paramAt(t *typ, i int, spread bool) *typ {
	last := len(t.params) - 1
	if i < last || i == last && (!t.variadic || spread) {
		return t.params[i]
	}
	if t.variadic && last >= 0 && t.params[last] != nil {
		return t.params[last].elem
	}
	return nil
}

// unify finds type parameters of env in p by comparing it with a.
func (r *resolver) unify(env subst, p, a *typ, depth int) {
	if p == nil || a == nil || depth > maxDepth {
		return
	}
	if p.kind == tParam {
		for i := range env {
			if env[i].param == p {
				if env[i].to == nil {
					env[i].to = a
				}
				return
			}
		}
		return
	}
	if p.kind == tNamed && a.kind == tNamed && p.named == a.named {
		for i := range p.args {
			if i < len(a.args) {
				r.unify(env, p.args[i], a.args[i], depth+1)
			}
		}
		return
	}
	if p.kind == tNamed {
		if len(p.args) == 0 {
			return
		}
		// A generic function or interface type as parameter.
		if p = r.underlying(p); p == nil {
			return
		}
	}
	if a.kind != p.kind {
		if a = r.underlying(a); a == nil || a.kind != p.kind {
			return
		}
	}
	r.unify(env, p.elem, a.elem, depth+1)
	r.unify(env, p.key, a.key, depth+1)
	for i := range p.params {
		if i < len(a.params) {
			r.unify(env, p.params[i], a.params[i], depth+1)
		}
	}
	for i := range p.results {
		if i < len(a.results) {
			r.unify(env, p.results[i], a.results[i], depth+1)
		}
	}
}

// instantiated applies explicit type arguments to a generic function; those that
// are not given stay to be inferred.
func instantiated(t *typ, args []*typ) *typ {
	env := make(subst, 0, len(args))
	for i, p := range t.tparams {
		if i < len(args) {
			env = append(env, binding{p, args[i]})
		}
	}
	out := &typ{kind: tFunc, variadic: t.variadic}
	for _, p := range t.params {
		out.params = append(out.params, env.apply(p))
	}
	out.results = env.results(t.results)
	if len(args) < len(t.tparams) {
		out.tparams = t.tparams[len(args):]
		out.results = nil
		for _, p := range t.results {
			out.results = append(out.results, env.apply(p))
		}
	}
	return out
}

// mentionsOwn says whether a type is made of one that the repository declares.
func mentionsOwn(t *typ, depth int) bool {
	if t == nil || depth > 8 {
		return false
	}
	if t.kind == tNamed || t.kind == tParam || t.kind == tStruct || mentionsOwn(t.elem, depth+1) || mentionsOwn(t.key, depth+1) {
		return true
	}
	for _, list := range [][]*typ{t.args, t.params, t.results} {
		for _, x := range list {
			if mentionsOwn(x, depth+1) {
				return true
			}
		}
	}
	return false
}

// hint gives what is known of a value that a generic function or type from
// outside made: its type has to do with the type arguments that the repository
// declares.
func hint(args []*typ) *typ {
	var own []*typ
	for _, a := range args {
		if mentionsOwn(a, 0) {
			own = append(own, a)
		}
	}
	if len(own) == 0 {
		return nil
	}
	return &typ{kind: tHint, results: own}
}

// externalCall types a call of something outside the repository. What the
// generic functions of the standard library give is known; of other modules'
// functions the result is external, unless types of the repository go in, which
// may come out again.
func (r *resolver) externalCall(f *file, fn *typ, args []facts.ExprID) *typ {
	if t, ok := r.standardCall(f, fn, args); ok {
		return t
	}
	result := external(fn.name + "()")
	first, _, _ := strings.Cut(fn.name, "/")
	if dot := strings.IndexByte(first, '.'); dot >= 0 && strings.Contains(fn.name, "/") {
		for _, a := range args {
			if mentionsOwn(r.typeOf(f, a), 0) {
				return nil
			}
		}
	}
	if h := hint(fn.args); h != nil {
		return h
	}
	return result
}
