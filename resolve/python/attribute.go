package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// attribute gives the values of v.name.
func (r *resolver) attribute(v value, name symbol) values {
	if r.depth >= maxDepth {
		return nil
	}
	r.depth++
	defer func() { r.depth-- }()
	switch v.kind {
	case isModule:
		ds := r.member(moduleOf(v), name)
		for i := range ds {
			if ds[i].route != reexport {
				ds[i].route = memberOf
			}
		}
		return r.valuesOf(ds).weaken(v.why)
	case isClass, isInstance:
		m, ok := r.find(v.class, name, -1)
		if !ok {
			return r.absent(v, name)
		}
		return r.memberValues(v, m)
	case isSuper:
		m, ok := r.find(v.class, name, v.after)
		if !ok {
			return r.absent(v, name)
		}
		return r.memberValues(*v.recv, m)
	case isExternal:
		return one(value{kind: isExternal, name: v.name + "." + r.syms.names[name], why: v.why})
	case isForeign, isContext, isAwaited:
		recv := v
		return one(value{kind: isExternal, name: v.name + "." + r.syms.names[name], recv: &recv, why: v.why})
	case isTypeVar:
		var out values
		for _, b := range v.args {
			for _, w := range b {
				out = out.add(r.attribute(w, name)...)
			}
		}
		return out
	}
	return nil
}

// absent gives what a member is that no class of the repository has.
func (r *resolver) absent(v value, name symbol) values {
	text := r.syms.names[name]
	switch {
	case text == "__class__" && v.kind == isInstance:
		return one(value{kind: isClass, class: v.class, self: v.self, why: max(v.why, hinted)})
	case text == "__dict__" || text == "__doc__" || text == "__name__" || text == "__module__":
		return one(foreign("builtins." + text))
	}
	if held := r.holder(v); len(held) > 0 {
		return one(value{kind: isExternal, name: held[0].name + "." + text, recv: &held[0]})
	}
	if out := r.classes[v.class].outside; out != "" {
		return one(value{kind: isExternal, name: out + "." + text})
	}
	return nil
}

// memberValues gives the values of a member that was found, taken from v.
func (r *resolver) memberValues(v value, m found) values {
	f := r.files[m.file]
	doubt := m.why
	if len(m.bindings) > 1 {
		doubt = max(doubt, ambiguous)
	}
	var out values
	for _, b := range m.bindings {
		bd := &f.Bindings[b]
		if bd.Kind == facts.BindDef {
			out = out.add(r.taken(v, graph.DefRef{File: m.file, Def: bd.Def})...)
			continue
		}
		vs := r.boundValue(m.file, b)
		if v.kind == isClass && strings.HasPrefix(r.classes[m.class].outside, "enum.") {
			vs = one(value{kind: isInstance, class: m.class})
		}
		vs = r.described(vs)
		// A plain function that is assigned to a name of the class is a method.
		for _, w := range vs {
			if w.kind == isFunction && v.kind == isInstance && bd.Kind == facts.BindVar {
				recv := v
				w = value{kind: isMethod, file: w.file, def: w.def, class: v.class, recv: &recv, why: hinted}
			}
			w.why = max(w.why, hinted)
			out = out.add(w)
		}
	}
	known := len(out) > 0
	for _, b := range m.attrs {
		if known && f.Bindings[b].Type == 0 && len(m.bindings) > 0 {
			continue // declared in the class: assignments only have to agree
		}
		for _, w := range r.boundValue(m.file, b) {
			if w.kind != isNone {
				w.why = max(w.why, hinted)
				out = out.add(w)
			}
		}
	}
	out = out.weaken(max(doubt, min(v.why, hinted)))
	if len(v.args) > 0 || len(r.classes[v.class].params) > 0 || len(r.classes[m.class].params) > 0 {
		out = r.substitute(out, r.typeMap(v.class, v.args, m.class, 0))
	}
	return out
}

// described replaces descriptors by what their __get__ gives.
func (r *resolver) described(vs values) values {
	if !vs.has(isInstance) {
		return vs
	}
	var out values
	for _, v := range vs {
		if v.kind == isInstance {
			if got, ok := r.method(v, r.well.get); ok {
				for _, w := range got {
					if w.kind != isNone {
						out = out.add(w)
					}
				}
				continue
			}
		}
		out = out.add(v)
	}
	return out
}

// taken gives what a definition in a class is when it is taken from v.
func (r *resolver) taken(v value, ref graph.DefRef) values {
	d := &r.files[ref.File].Defs[ref.Def]
	switch d.Kind {
	case facts.KindClass:
		return one(value{kind: isClass, class: r.classOf[ref]})
	case facts.KindMethod, facts.KindFunction:
	default:
		return nil
	}
	switch {
	case d.Flags&facts.FlagProperty != 0:
		if v.kind == isClass {
			return nil
		}
		recv := v
		return r.result(value{kind: isMethod, file: ref.File, def: ref.Def, class: v.class, recv: &recv}, ref.File, 0)
	case d.Flags&facts.FlagStatic != 0:
		return one(value{kind: isFunction, file: ref.File, def: ref.Def})
	case v.kind == isInstance || d.Flags&facts.FlagClassMethod != 0:
		recv := v
		return one(value{kind: isMethod, file: ref.File, def: ref.Def, class: v.class, recv: &recv, self: v.self})
	}
	return one(value{kind: isFunction, file: ref.File, def: ref.Def})
}
