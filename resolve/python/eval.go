package python

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// eval gives the values that an expression may have.
func (r *resolver) eval(fi int32, id facts.ExprID) values {
	if id == 0 {
		return nil
	}
	f := r.files[fi]
	if f.exprs == nil {
		f.exprs = make([]int32, len(f.Exprs))
	}
	switch m := f.exprs[id]; {
	case m > 0:
		return f.known[m-1]
	case m < 0 || r.depth >= maxDepth:
		return nil
	}
	f.exprs[id] = -1
	r.depth++
	vs := r.evaluate(fi, f, id)
	r.depth--
	f.exprs[id] = r.remember(f, vs)
	return vs
}

// remember numbers values for the memo of a file. Those of nothing known are
// half of all, and most of the rest are one plain value that many expressions
// have: equal ones are kept once.
func (r *resolver) remember(f *file, vs values) int32 {
	if len(f.known) == 0 {
		f.known = append(f.known, nil)
	}
	if len(vs) == 0 {
		return 1
	}
	if len(vs) == 1 && vs[0].recv == nil && len(vs[0].args) == 0 {
		key := vs[0].plain()
		if known, ok := r.plain[key]; ok {
			vs = known
		} else {
			vs = slices.Clip(vs)
			r.plain[key] = vs
		}
	}
	f.known = append(f.known, vs)
	return int32(len(f.known))
}

// forget drops what is remembered of a file whose own references are done. What
// other files still ask of it is found again: little, and of a few definitions.
func (x *file) forget() { x.exprs, x.bound, x.known = nil, nil, nil }

func (r *resolver) evaluate(fi int32, f *file, id facts.ExprID) values {
	x := &f.Exprs[id]
	switch x.Kind {
	case facts.ExprName:
		return r.evalName(fi, f, x)
	case facts.ExprAttr:
		name := f.symbols[x.Name]
		var out values
		for _, v := range r.eval(fi, f.Child(id, 0)) {
			out = out.add(r.attribute(v, name)...)
		}
		return out
	case facts.ExprCall:
		var out values
		for _, v := range r.eval(fi, f.Child(id, 0)) {
			out = out.add(r.call(v, fi, id)...)
		}
		return out
	case facts.ExprIndex:
		return r.index(fi, f, id)
	case facts.ExprSlice:
		return r.slice(fi, f, id)
	case facts.ExprLiteral:
		return literal(f.Text(x.Name))
	case facts.ExprString:
		return one(foreign("str"))
	case facts.ExprList, facts.ExprSet, facts.ExprTuple, facts.ExprDict:
		return r.display(fi, f, id)
	case facts.ExprCond:
		return r.either(fi, f, id)
	case facts.ExprBinary:
		return r.binary(fi, f, id)
	case facts.ExprUnary:
		if f.Text(x.Name) == "not" {
			return one(foreign("bool"))
		}
		return r.eval(fi, f.Child(id, 0))
	case facts.ExprYield:
		return r.sent(fi, f, x)
	case facts.ExprAwait:
		return r.each(fi, f.Child(id, 0), r.awaited)
	case facts.ExprIter:
		return r.each(fi, f.Child(id, 0), r.element)
	case facts.ExprEnter:
		return r.each(fi, f.Child(id, 0), r.entered)
	case facts.ExprUnpack:
		return r.each(fi, f.Child(id, 0), func(v value) values { return r.part(v, int(x.Level)) })
	case facts.ExprRest:
		return one(foreign("list", r.each(fi, f.Child(id, 0), r.element)))
	case facts.ExprLambda:
		return one(value{kind: isFunction, file: fi, def: x.Def})
	}
	return nil
}

func (r *resolver) each(fi int32, id facts.ExprID, of func(value) values) values {
	var out values
	for _, v := range r.eval(fi, id) {
		out = out.add(of(v)...)
	}
	return out
}

func literal(kind string) values {
	switch kind {
	case "none":
		return one(value{kind: isNone})
	case "string", "fstring":
		return one(foreign("str"))
	}
	return one(foreign(kind))
}

// maxElements bounds how many elements of a literal are looked at.
const maxElements = 8

// display evaluates a list, tuple, set or dict written out, or a comprehension.
func (r *resolver) display(fi int32, f *file, id facts.ExprID) values {
	x := &f.Exprs[id]
	kids := f.Children(id)
	switch x.Kind {
	case facts.ExprTuple:
		if len(kids) > 32 {
			return one(foreign("tuple"))
		}
		parts := make([]values, len(kids))
		for i, k := range kids {
			parts[i] = r.eval(fi, k)
		}
		return one(foreign("tuple", parts...))
	case facts.ExprDict:
		var keys, vals values
		for i := 0; i+1 < len(kids) && i < 2*maxElements; i += 2 {
			keys = keys.add(r.eval(fi, kids[i])...)
			vals = vals.add(r.eval(fi, kids[i+1])...)
		}
		return one(foreign("dict", keys, vals))
	}
	var elems values
	for i, k := range kids {
		if i == maxElements {
			break
		}
		if f.Exprs[k].Kind == facts.ExprSpread {
			elems = elems.add(r.each(fi, f.Child(k, 0), r.element)...)
			continue
		}
		elems = elems.add(r.eval(fi, k)...)
	}
	name := "list"
	switch {
	case x.Kind == facts.ExprSet:
		name = "set"
	case x.Flags&facts.FlagGenerator != 0:
		name = "generator"
	}
	return one(foreign(name, elems))
}

func (r *resolver) either(fi int32, f *file, id facts.ExprID) values {
	var out values
	out = out.add(r.eval(fi, f.Child(id, 0))...)
	out = out.add(r.eval(fi, f.Child(id, 1))...)
	if len(out) > 1 {
		out = out.weaken(ambiguous)
	}
	return out
}

var operators = map[string]string{
	"+": "__add__", "-": "__sub__", "*": "__mul__", "/": "__truediv__", "//": "__floordiv__", "%": "__mod__", "@": "__matmul__",
	"|": "__or__", "&": "__and__", "^": "__xor__", "<<": "__lshift__", ">>": "__rshift__", "**": "__pow__", "+=": "__add__",
}

func (r *resolver) binary(fi int32, f *file, id facts.ExprID) values {
	op := f.Text(f.Exprs[id].Name)
	left, right := f.Child(id, 0), f.Child(id, 1)
	switch op {
	case "and":
		return r.eval(fi, right).weaken(hinted)
	case "or":
		return r.either(fi, f, id)
	}
	var out values
	for _, v := range r.eval(fi, left) {
		if v.kind == isInstance {
			for _, m := range r.attribute(v, r.syms.id(operators[op])) {
				out = out.add(r.result(m, fi, 0)...)
			}
			continue
		}
		if v.kind == isForeign {
			out = out.add(v)
		}
	}
	return out
}

// evalName evaluates a name where it stands.
func (r *resolver) evalName(fi int32, f *file, x *facts.Expr) values {
	name := f.symbols[x.Name]
	scope := facts.ScopeID(x.Level)
	if class := f.narrowed(scope, name, x.Start); class != 0 {
		if vs := r.instances(fi, class); len(vs) > 0 {
			return r.within(vs, r.valuesOf(r.lookup(fi, scope, name, x.Start)))
		}
	}
	return r.valuesOf(r.lookup(fi, scope, name, x.Start))
}

// within gives the values that isinstance leaves of those before. That something
// is a dict says nothing new of an instance of a class that derives from dict.
func (r *resolver) within(narrowed, before values) values {
	if slices.ContainsFunc(narrowed, func(v value) bool { return v.kind != isForeign }) {
		return narrowed
	}
	var kept values
	for _, v := range before {
		if v.kind == isInstance && (r.classes[v.class].outside != "" || r.classes[v.class].unknown) {
			kept = kept.add(v)
		}
	}
	if len(kept) > 0 {
		return kept
	}
	return narrowed
}

// instances gives the instances of the classes that the second argument of
// isinstance names.
func (r *resolver) instances(fi int32, class facts.ExprID) values {
	f := r.files[fi]
	if k := f.Exprs[class].Kind; k == facts.ExprTuple || k == facts.ExprUnionType || k == facts.ExprBinary {
		var out values
		for _, c := range f.Children(class) {
			out = out.add(r.instances(fi, c)...)
		}
		return out
	}
	if vs := r.annotation(fi, class); len(vs) > 0 {
		return vs
	}
	var out values
	for _, v := range r.eval(fi, class) {
		if v.kind == isClass {
			out = out.add(value{kind: isInstance, class: v.class, why: hinted})
		}
	}
	return out
}

// valuesOf gives the values of what a name leads to. Several bindings that all
// give the same leave no doubt.
func (r *resolver) valuesOf(ds []decl) values {
	var out, plain values
	agree := true
	for _, d := range ds {
		vs := r.valueOf(d)
		agree = agree && len(vs) == 1 && d.kind != declMissing && (d.why == conditional || d.why == ambiguous)
		plain = plain.add(vs...)
		out = out.add(vs.weaken(d.why)...)
	}
	if agree && len(plain) == 1 {
		return plain
	}
	return out
}

func (r *resolver) valueOf(d decl) values {
	switch d.kind {
	case declModule:
		return one(value{kind: isModule, file: d.mod.file, name: d.mod.dir, pkg: d.mod.pkg, route: d.route})
	case declExternal:
		return one(value{kind: isExternal, name: d.name})
	case declLocal:
		return r.boundValue(d.ref.File, d.binding)
	case declDef:
		switch r.files[d.ref.File].Defs[d.ref.Def].Kind {
		case facts.KindClass:
			return one(value{kind: isClass, class: r.classOf[d.ref], route: d.route})
		case facts.KindFunction, facts.KindMethod:
			if vs := r.applied(d.ref); len(vs) > 0 {
				return vs
			}
			return one(value{kind: isFunction, file: d.ref.File, def: d.ref.Def, route: d.route})
		case facts.KindType:
			return nil
		}
		vs := r.boundValue(d.ref.File, d.binding)
		if d.route != lexical {
			// A variable of another module: anything may assign to it.
			w := vs.weaken(proved)
			out := make(values, len(w))
			for i, v := range w {
				if v.kind == isInstance {
					v.why = max(v.why, hinted)
				}
				out[i] = v
			}
			return out
		}
		return vs
	}
	return nil
}

func moduleOf(v value) module { return module{file: v.file, dir: v.name, pkg: v.pkg} }

// boundValue gives the values that a binding gives its name.
func (r *resolver) boundValue(fi int32, binding int32) values {
	if binding < 0 {
		return nil
	}
	f := r.files[fi]
	if f.bound == nil {
		f.bound = make([]int32, len(f.Bindings))
	}
	switch m := f.bound[binding]; {
	case m > 0:
		return f.known[m-1]
	case m < 0 || r.depth >= maxDepth:
		return nil
	}
	f.bound[binding] = -1
	r.depth++
	vs := r.bind(fi, f, &f.Bindings[binding])
	r.depth--
	f.bound[binding] = r.remember(f, vs)
	return vs
}

func (r *resolver) bind(fi int32, f *file, b *facts.Binding) values {
	switch b.Kind {
	case facts.BindReceiver:
		return r.receiver(fi, f, b)
	case facts.BindParam:
		return r.parameter(fi, f, b)
	case facts.BindTypeParam:
		return one(value{kind: isTypeVar, name: f.Text(b.Name), why: hinted}.of(r.annotation(fi, b.Type)))
	case facts.BindCatch:
		return r.instances(fi, b.Value)
	case facts.BindDef:
		ref := graph.DefRef{File: fi, Def: b.Def}
		return r.valueOf(decl{kind: declDef, ref: ref, binding: -1})
	case facts.BindImport:
		return r.valuesOf(r.imports(fi, b.Import))
	}
	if b.Type != 0 {
		declared := r.annotation(fi, b.Type)
		if f.Scopes[b.Scope].Kind == facts.ScopeFunction && b.Value != 0 && b.Kind == facts.BindVar {
			// The checker of types narrows a local to what it was assigned.
			if vs := r.eval(fi, b.Value); vs.has(isInstance) {
				return vs.weaken(hinted)
			}
		}
		if len(declared) > 0 {
			return declared
		}
	}
	return r.eval(fi, b.Value)
}

// receiver gives what the first parameter of a method is.
func (r *resolver) receiver(fi int32, f *file, b *facts.Binding) values {
	method := f.Scopes[b.Scope].Def
	if method < 0 {
		return nil
	}
	c, ok := r.classOf[graph.DefRef{File: fi, Def: f.Defs[method].Parent}]
	if !ok {
		return nil
	}
	if f.Defs[method].Flags&facts.FlagClassMethod != 0 {
		return one(value{kind: isClass, class: c, self: true})
	}
	if outside := r.classes[c].outside; outside == "builtins.type" || outside == "abc.ABCMeta" || outside == "enum.EnumMeta" {
		return one(value{kind: isInstance, class: c, self: true, why: hinted})
	}
	return one(value{kind: isInstance, class: c, self: true})
}

func (r *resolver) parameter(fi int32, f *file, b *facts.Binding) values {
	var vs values
	switch {
	case b.Type != 0:
		vs = r.annotation(fi, b.Type)
	case b.Value != 0:
		for _, v := range r.eval(fi, b.Value) {
			if v.kind != isNone {
				vs = vs.add(v)
			}
		}
		vs = vs.weaken(hinted)
	default:
		if vs = r.inherited(fi, f, b); len(vs) == 0 {
			vs = r.fixture(fi, f, b)
		}
	}
	switch {
	case b.Flags&facts.FlagVariadic != 0:
		return one(foreign("tuple*", vs))
	case b.Flags&facts.FlagKeyword != 0:
		return one(foreign("dict", one(foreign("str")), vs))
	}
	return vs
}

// inherited gives what the parameter is annotated with in the method that this
// one overrides.
func (r *resolver) inherited(fi int32, f *file, b *facts.Binding) values {
	method := f.Scopes[b.Scope].Def
	if method < 0 || f.Defs[method].Kind != facts.KindMethod {
		return nil
	}
	c, ok := r.classOf[graph.DefRef{File: fi, Def: f.Defs[method].Parent}]
	if !ok || len(r.classes[c].bases) == 0 {
		return nil
	}
	m, ok := r.find(c, f.symbols[f.Defs[method].Name], c)
	if !ok {
		return nil
	}
	o := r.files[m.file]
	for _, x := range m.bindings {
		d := o.Bindings[x].Def
		if d < 0 || o.Defs[d].Body < 0 {
			continue
		}
		head, ok := o.heads[nameKey{o.Defs[d].Body, f.symbols[b.Name]}]
		if ok && o.Bindings[head].Kind == facts.BindParam {
			return r.boundValue(m.file, head)
		}
	}
	return nil
}

// sent gives what a yield expression gives: the second argument of the
// Generator that the function is annotated to return.
func (r *resolver) sent(fi int32, f *file, x *facts.Expr) values {
	d := f.enclosing(facts.ScopeID(x.Level))
	if d < 0 {
		return nil
	}
	t := f.Defs[d].Type
	if f.Exprs[t].Kind != facts.ExprIndex {
		return nil
	}
	switch f.Text(f.Exprs[f.Child(t, 0)].Name) {
	case "Generator", "AsyncGenerator":
		if args := r.typeArguments(fi, t); len(args) > 1 {
			return args[1]
		}
	}
	return nil
}

// fixture gives what pytest passes for a parameter of a test or fixture: the
// result of the fixture of that name that is nearest to the file.
func (r *resolver) fixture(fi int32, f *file, b *facts.Binding) values {
	candidates := r.fixtures[f.symbols[b.Name]]
	if len(candidates) == 0 {
		return nil
	}
	d := f.Scopes[b.Scope].Def
	if d < 0 || f.Defs[d].Flags&facts.FlagTest == 0 && (f.Defs[d].Decorators == 0 || !r.isFixture(f, &f.Defs[d])) {
		return nil
	}
	best, at := -1, graph.DefRef{}
	for _, c := range candidates {
		o := r.files[c.File]
		score := -1
		switch {
		case c.File == fi:
			score = 1 << 20
		case within(f.dir, o.dir) && (o.Path == join(o.dir, "conftest.py")):
			score = len(o.dir)
		}
		if score > best {
			best, at = score, c
		}
	}
	if best < 0 {
		return nil
	}
	var out values
	for _, v := range r.result(value{kind: isFunction, file: at.File, def: at.Def}, fi, 0) {
		switch {
		case v.kind == isForeign && len(v.args) > 0 && r.files[at.File].Defs[at.Def].Flags&facts.FlagGenerator != 0:
			out = out.add(v.args[0]...)
		case v.kind == isAwaited:
			out = out.add(v.args[0]...)
		default:
			out = out.add(v)
		}
	}
	return out.weaken(hinted)
}

// within says whether a folder is below another, or the same.
func within(dir, root string) bool {
	return root == "" || dir == root || len(dir) > len(root) && dir[:len(root)] == root && dir[len(root)] == '/'
}
