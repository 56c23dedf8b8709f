package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// call gives the values of calling v with the arguments of call expression id.
func (r *resolver) call(v value, fi int32, id facts.ExprID) values {
	switch v.kind {
	case isClass:
		return one(value{kind: isInstance, class: v.class, self: v.self, why: v.why})
	case isFunction, isMethod:
		return r.result(v, fi, id)
	case isInstance:
		var out values
		for _, m := range r.attribute(v, r.well.call) {
			if m.kind == isMethod {
				out = out.add(r.result(m, fi, id)...)
			}
		}
		return out
	case isCallable, isTypeOf:
		return v.args[0]
	case isExternal:
		return r.callExternal(v, fi, id)
	}
	return nil
}

// result gives what a function returns when it is called at expression id of a
// file (0 when it is called implicitly).
func (r *resolver) result(v value, fi int32, id facts.ExprID) values {
	if v.kind != isFunction && v.kind != isMethod {
		return nil
	}
	ref := graph.DefRef{File: v.file, Def: v.def}
	vs := r.resultOf(v, ref, fi, id)
	if len(vs) > 0 || r.depth >= maxDepth {
		return vs
	}
	// The implementation says nothing: its overloads may.
	var out values
	for _, o := range r.overloads(ref) {
		r.depth++
		w := v
		w.def = o
		out = out.add(r.resultOf(w, graph.DefRef{File: v.file, Def: o}, fi, id)...)
		r.depth--
	}
	return out
}

// overloads gives the overload signatures of a function.
func (r *resolver) overloads(ref graph.DefRef) []facts.DefID {
	f := r.files[ref.File]
	d := &f.Defs[ref.Def]
	if d.Kind == facts.KindLambda || d.Flags&facts.FlagOverload != 0 {
		return nil
	}
	var out []facts.DefID
	head, ok := f.heads[nameKey{d.Scope, f.symbols[d.Name]}]
	for i := head; ok && i >= 0; i = f.next[i] {
		if b := &f.Bindings[i]; b.Kind == facts.BindDef && f.Defs[b.Def].Flags&facts.FlagOverload != 0 {
			out = append(out, b.Def)
		}
	}
	return out
}

func (r *resolver) resultOf(v value, ref graph.DefRef, fi int32, id facts.ExprID) values {
	vs := r.returns(ref)
	if v.kind == isMethod && v.recv != nil {
		vs = r.forReceiver(vs, v)
	}
	if mentions(vs, 0) {
		m := r.unifyCall(v, fi, id)
		if v.kind == isMethod && v.recv != nil {
			if c := r.ownerOf(ref); c >= 0 {
				for p, a := range r.typeMap(v.recv.class, v.recv.args, c, 0) {
					if _, ok := m[p]; !ok {
						m[p] = a
					}
				}
			}
		}
		vs = r.substitute(vs, m)
	}
	return vs
}

// forReceiver replaces Self, and a returned receiver, by what the receiver is.
func (r *resolver) forReceiver(vs values, v value) values {
	var out values
	for _, w := range vs {
		if w.kind == isSelfType || w.kind == isInstance && w.self {
			recv := *v.recv
			recv.kind = isInstance
			recv.why = max(recv.why, hinted)
			w = recv
		} else if len(w.args) > 0 && mentions(one(w), 0) {
			args := make([]values, len(w.args))
			for i, a := range w.args {
				args[i] = r.forReceiver(a, v)
			}
			w = w.of(args...)
		}
		out = out.add(w)
	}
	return out
}

func (r *resolver) ownerOf(ref graph.DefRef) int32 {
	p := r.files[ref.File].Defs[ref.Def].Parent
	if p < 0 {
		return -1
	}
	if c, ok := r.classOf[graph.DefRef{File: ref.File, Def: p}]; ok {
		return c
	}
	return -1
}

// returns gives what the body or the annotation of a function says it returns,
// wrapped as async, generators and context managers wrap it.
func (r *resolver) returns(ref graph.DefRef) values {
	if vs, ok := r.returned[ref]; ok {
		return vs
	}
	r.returned[ref] = nil
	if r.depth >= maxDepth {
		delete(r.returned, ref)
		return nil
	}
	r.depth++
	vs := r.inferResult(ref)
	r.depth--
	r.returned[ref] = vs
	return vs
}

func (r *resolver) inferResult(ref graph.DefRef) values {
	f := r.files[ref.File]
	d := &f.Defs[ref.Def]
	var vs values
	if d.Type != 0 {
		vs = r.annotation(ref.File, d.Type)
		if d.Flags&facts.FlagAsync != 0 && d.Flags&facts.FlagGenerator == 0 {
			vs = one(value{kind: isAwaited, why: hinted}.of(vs))
		}
	} else {
		vs = r.inferBody(ref.File, f, d)
	}
	for _, c := range f.Children(d.Decorators) {
		vs = r.decorate(ref.File, f, c, vs)
	}
	return vs
}

func (r *resolver) inferBody(fi int32, f *file, d *facts.Def) values {
	var out, yields values
	for _, c := range f.Children(d.Value) {
		if f.Exprs[c].Kind == facts.ExprYield {
			yields = yields.add(r.eval(fi, f.Child(c, 0))...)
			continue
		}
		for _, v := range r.eval(fi, c) {
			if v.kind != isNone {
				out = out.add(v)
			}
		}
	}
	if d.Kind != facts.KindLambda {
		out = out.weaken(hinted)
	}
	switch {
	case d.Flags&facts.FlagGenerator != 0:
		return one(foreign("generator", yields.weaken(hinted)))
	case d.Flags&facts.FlagAsync != 0:
		return one(value{kind: isAwaited, why: hinted}.of(out))
	}
	return out
}

// decorate gives what a decorator makes of a function's result.
func (r *resolver) decorate(fi int32, f *file, c facts.ExprID, vs values) values {
	x := &f.Exprs[c]
	callee := c
	if x.Kind == facts.ExprCall {
		callee = f.Child(c, 0)
	}
	switch f.Text(f.Exprs[callee].Name) {
	case "contextmanager", "asynccontextmanager":
		var elem values
		for _, v := range vs {
			elem = elem.add(r.element(v)...)
		}
		return one(value{kind: isContext, why: hinted}.of(elem))
	}
	// A decorator of the repository that is annotated with what it returns.
	for _, v := range r.eval(fi, callee) {
		if v.kind != isFunction {
			continue
		}
		made := r.returns(graph.DefRef{File: v.file, Def: v.def})
		if x.Kind == facts.ExprCall {
			var inner values
			for _, m := range made {
				inner = inner.add(r.call(m, fi, 0)...)
			}
			made = inner
		}
		for _, m := range made {
			if m.kind == isCallable && len(m.args[0]) > 0 && !mentions(m.args[0], 0) {
				return m.args[0].weaken(hinted)
			}
		}
	}
	return vs
}

// unifyCall finds what the type parameters of a function are at a call, from
// parameters annotated with them.
func (r *resolver) unifyCall(v value, fi int32, id facts.ExprID) map[string]values {
	m := map[string]values{}
	f := r.files[v.file]
	d := &f.Defs[v.def]
	var args []facts.ExprID
	if id != 0 {
		args = r.files[fi].Children(id)[1:]
	}
	params := f.parameters(d)
	for i := range params {
		b := &params[i]
		if b.Scope != d.Body || b.Type == 0 {
			continue
		}
		if b.Kind == facts.BindReceiver && v.recv != nil {
			r.unify(r.annotation(v.file, b.Type), one(*v.recv), m, 0)
			continue
		}
		if b.Kind != facts.BindParam {
			continue
		}
		if arg := argument(r.files[fi], args, int(b.Order), r.files[v.file].Text(b.Name)); arg != 0 {
			r.unify(r.annotation(v.file, b.Type), r.eval(fi, arg), m, 0)
		}
	}
	return m
}

// argument gives the argument for a parameter, by keyword or by position.
func argument(f *file, args []facts.ExprID, order int, name string) facts.ExprID {
	n := 0
	for _, a := range args {
		x := &f.Exprs[a]
		switch x.Kind {
		case facts.ExprKeyword:
			if f.Text(x.Name) == name {
				return f.Child(a, 0)
			}
		case facts.ExprSpread:
			n = 1 << 20
		default:
			if n == order {
				return a
			}
			n++
		}
	}
	return 0
}

func (r *resolver) unify(param, arg values, m map[string]values, depth int) {
	if depth > maxNesting {
		return
	}
	for _, p := range param {
		switch {
		case p.kind == isTypeVar:
			for _, a := range arg {
				if a.kind != isNone {
					m[p.name] = m[p.name].add(a)
				}
			}
		case p.kind == isCallable:
			for _, a := range arg {
				r.unify(p.args[0], r.call(a, 0, 0), m, depth+1)
			}
		case p.kind == isTypeOf:
			for _, a := range arg {
				if a.kind == isClass {
					r.unify(p.args[0], one(value{kind: isInstance, class: a.class, why: hinted}), m, depth+1)
				}
			}
		case p.kind == isForeign && len(p.args) == 1:
			for _, a := range arg {
				r.unify(p.args[0], r.element(a), m, depth+1)
			}
		case len(p.args) > 0:
			for _, a := range arg {
				for i := range min(len(p.args), len(a.args)) {
					r.unify(p.args[i], a.args[i], m, depth+1)
				}
			}
		}
	}
}
