package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// annotation gives the values of what is annotated with a type expression.
func (r *resolver) annotation(fi int32, id facts.ExprID) values {
	if id == 0 || r.depth >= maxDepth {
		return nil
	}
	f := r.files[fi]
	key := typeKey{fi, id}
	if m, ok := r.types[key]; ok {
		return m
	}
	r.types[key] = nil
	r.depth++
	vs := r.typed(fi, f, id)
	r.depth--
	r.types[key] = vs
	return vs
}

type typeKey struct {
	file int32
	expr facts.ExprID
}

func (r *resolver) typed(fi int32, f *file, id facts.ExprID) values {
	x := &f.Exprs[id]
	switch x.Kind {
	case facts.ExprName:
		return r.named(r.lookup(fi, facts.ScopeID(x.Level), f.symbols[x.Name], x.Start), nil)
	case facts.ExprAttr:
		var out values
		for _, v := range r.eval(fi, f.Child(id, 0)) {
			out = out.add(r.memberType(v, f.symbols[x.Name], nil)...)
		}
		return out
	case facts.ExprIndex:
		return r.subscripted(fi, f, id)
	case facts.ExprUnionType, facts.ExprBinary, facts.ExprTuple:
		var out values
		for _, c := range f.Children(id) {
			out = out.add(r.annotation(fi, c)...)
		}
		return out
	case facts.ExprLiteral:
		if f.Text(x.Name) == "none" {
			return one(value{kind: isNone})
		}
	case facts.ExprString:
		// A forward reference in an alias: X = Union[str, "Y"].
		return r.named(r.lookup(fi, 0, f.symbols[x.Name], x.Start), nil)
	case facts.ExprCall:
		// NewType("X", T), TypeVar("T", bound=B)
		return r.typeCall(fi, f, id)
	}
	return nil
}

// memberType gives the instances of the class module.Name or Class.Name.
func (r *resolver) memberType(v value, name symbol, args []values) values {
	switch v.kind {
	case isModule:
		return r.named(r.member(moduleOf(v), name), args)
	case isExternal:
		return r.outsideType(v.name+"."+r.syms.names[name], args)
	case isClass:
		m, ok := r.find(v.class, name, -1)
		if !ok {
			return nil
		}
		var ds []decl
		for _, b := range m.bindings {
			ds = append(ds, r.declare(m.file, []int32{b})...)
		}
		return r.named(ds, args)
	}
	return nil
}

// named gives the instances of the types that a name leads to.
func (r *resolver) named(ds []decl, args []values) values {
	var out values
	for _, d := range ds {
		switch d.kind {
		case declExternal:
			out = out.add(r.outsideType(d.name, args)...)
		case declLocal, declDef:
			out = out.add(r.typeOf(d, args)...)
		}
	}
	return out
}

func (r *resolver) typeOf(d decl, args []values) values {
	f := r.files[d.ref.File]
	if d.kind == declDef {
		def := &f.Defs[d.ref.Def]
		switch def.Kind {
		case facts.KindClass:
			return one(value{kind: isInstance, class: r.classOf[d.ref], why: hinted}.of(args...))
		case facts.KindType:
			return r.annotation(d.ref.File, def.Type)
		case facts.KindFunction, facts.KindMethod:
			return nil
		}
	}
	if d.binding < 0 {
		return nil
	}
	b := &f.Bindings[d.binding]
	switch b.Kind {
	case facts.BindTypeParam:
		return r.boundValue(d.ref.File, d.binding)
	case facts.BindVar:
		vs := r.annotation(d.ref.File, b.Value)
		if len(vs) == 0 && b.Value != 0 {
			// X = some_class, through an expression that is no type
			for _, v := range r.eval(d.ref.File, b.Value) {
				if v.kind == isClass {
					vs = vs.add(value{kind: isInstance, class: v.class, why: hinted})
				}
			}
		}
		return vs
	}
	return nil
}

// typeCall reads a call in a place where a type is defined.
func (r *resolver) typeCall(fi int32, f *file, id facts.ExprID) values {
	callee := &f.Exprs[f.Child(id, 0)]
	switch f.Text(callee.Name) {
	case "NewType":
		return r.annotation(fi, f.Child(id, 2))
	case "TypeVar":
		v := value{kind: isTypeVar, why: hinted}.of(nil)
		if x := &f.Exprs[f.Child(id, 1)]; x.Kind == facts.ExprString {
			v.name = f.Text(x.Name)
		}
		for _, a := range f.Children(id)[1:] {
			if x := &f.Exprs[a]; x.Kind == facts.ExprKeyword && f.Text(x.Name) == "bound" {
				v = v.of(r.annotation(fi, f.Child(a, 0)))
				if b := &f.Exprs[f.Child(a, 0)]; b.Kind == facts.ExprString {
					v = v.of(r.named(r.lookup(fi, 0, f.symbols[b.Name], b.Start), nil))
				}
			}
		}
		return one(v)
	}
	return nil
}

// typeArguments gives the values of the arguments of X[A, B].
func (r *resolver) typeArguments(fi int32, id facts.ExprID) []values {
	f := r.files[fi]
	kids := f.Children(id)
	if len(kids) == 2 && f.Exprs[kids[1]].Kind == facts.ExprTuple {
		kids = append(kids[:1:1], f.Children(kids[1])...)
	}
	var args []values
	for _, c := range kids[1:] {
		args = append(args, r.annotation(fi, c))
	}
	return args
}

func (r *resolver) subscripted(fi int32, f *file, id facts.ExprID) values {
	args := r.typeArguments(fi, id)
	object := f.Child(id, 0)
	x := &f.Exprs[object]
	// tuple[X, ...] has one type for all of its parts.
	kids := f.Children(id)
	last := &f.Exprs[kids[len(kids)-1]]
	name := f.Text(x.Name)
	if (name == "Tuple" || name == "tuple") && len(args) == 2 && last.Kind == facts.ExprOpaque {
		return one(foreign("tuple*", args[0]))
	}
	switch x.Kind {
	case facts.ExprName:
		return r.named(r.lookup(fi, facts.ScopeID(x.Level), f.symbols[x.Name], x.Start), args)
	case facts.ExprAttr:
		var out values
		for _, v := range r.eval(fi, f.Child(object, 0)) {
			out = out.add(r.memberType(v, f.symbols[x.Name], args)...)
		}
		return out
	}
	return nil
}

// outsideType gives the instances of a type of the standard library or a
// dependency.
func (r *resolver) outsideType(dotted string, args []values) values {
	arg := func(i int) values {
		if i < len(args) {
			return args[i]
		}
		return nil
	}
	module, name := "", dotted
	if i := strings.LastIndexByte(dotted, '.'); i >= 0 {
		module, name = dotted[:i], dotted[i+1:]
	}
	switch module {
	case "typing", "typing_extensions", "collections.abc", "builtins", "collections", "contextlib", "types":
	default:
		return one(value{kind: isForeign, name: dotted, why: hinted}.of(args...))
	}
	switch name {
	case "Any", "object", "AnyStr":
		return nil
	case "Self":
		return one(value{kind: isSelfType, why: hinted})
	case "Optional", "Union", "ClassVar", "Final", "Annotated", "Required", "NotRequired", "ReadOnly", "TypeGuard":
		var out values
		for _, a := range args {
			out = out.add(a...)
		}
		return out
	case "Type", "type":
		var out values
		for _, v := range arg(0) {
			if v.kind == isInstance {
				out = out.add(value{kind: isClass, class: v.class, self: true, why: hinted})
			}
			if v.kind == isTypeVar {
				out = out.add(value{kind: isTypeOf, why: hinted}.of(one(v)))
			}
		}
		return out
	case "Callable":
		if len(args) == 2 {
			return one(value{kind: isCallable, why: hinted}.of(args[1]))
		}
		return one(value{kind: isCallable, why: hinted}.of(nil))
	case "Awaitable", "Coroutine":
		if len(args) > 0 {
			return one(value{kind: isAwaited, why: hinted}.of(args[len(args)-1]))
		}
		return one(value{kind: isAwaited, why: hinted}.of(nil))
	case "ContextManager", "AsyncContextManager", "AbstractContextManager", "AbstractAsyncContextManager":
		return one(value{kind: isContext, why: hinted}.of(arg(0)))
	case "List", "list", "Set", "set", "FrozenSet", "frozenset", "Deque", "deque", "Sequence", "MutableSequence", "Iterable", "Iterator",
		"Collection", "AbstractSet", "MutableSet", "Generator", "AsyncIterator", "AsyncIterable", "AsyncGenerator", "Reversible",
		"KeysView", "ValuesView", "Container":
		return one(foreign(sequences[name], arg(0)))
	case "Dict", "dict", "Mapping", "MutableMapping", "DefaultDict", "defaultdict", "OrderedDict", "ChainMap":
		return one(foreign("dict", arg(0), arg(1)))
	case "ItemsView":
		return one(foreign("generator", one(foreign("tuple", arg(0), arg(1)))))
	case "Counter":
		return one(foreign("dict", arg(0), one(foreign("int"))))
	case "Tuple", "tuple":
		return one(foreign("tuple", args...))
	case "Literal", "Text", "LiteralString":
		return one(foreign("str"))
	}
	if module == "builtins" {
		return one(foreign(name))
	}
	return one(value{kind: isForeign, name: dotted, why: hinted}.of(args...))
}

// sequences maps generic types with one parameter to the builtin whose methods
// stand for theirs.
var sequences = map[string]string{
	"List": "list", "list": "list", "Set": "set", "set": "set", "FrozenSet": "set", "frozenset": "set", "Deque": "list", "deque": "list",
	"Sequence": "list", "MutableSequence": "list", "Iterable": "generator", "Iterator": "generator", "Collection": "list",
	"AbstractSet": "set", "MutableSet": "set", "Generator": "generator", "AsyncIterator": "generator", "AsyncIterable": "generator",
	"AsyncGenerator": "generator", "Reversible": "generator", "KeysView": "generator", "ValuesView": "generator", "Container": "list",
}

// maxNesting bounds how deep type arguments are followed.
const maxNesting = 6

// substitute puts values in the place of type parameters.
func (r *resolver) substitute(vs values, m map[string]values) values {
	if len(m) == 0 {
		return vs
	}
	return r.substituted(vs, m, 0)
}

func (r *resolver) substituted(vs values, m map[string]values, depth int) values {
	if depth > maxNesting || !mentions(vs, depth) {
		return vs
	}
	var out values
	for _, v := range vs {
		if v.kind == isTypeVar {
			if w, ok := m[v.name]; ok {
				out = out.add(w.weaken(hinted)...)
				continue
			}
		}
		if v.kind != isTypeVar && len(v.args) > 0 {
			args := make([]values, len(v.args))
			for i, a := range v.args {
				args[i] = r.substituted(a, m, depth+1)
			}
			v = v.of(args...)
		}
		out = out.add(v)
	}
	return out
}

// mentions says whether values mention a type parameter.
func mentions(vs values, depth int) bool {
	if depth > maxNesting {
		return false
	}
	for _, v := range vs {
		if v.kind == isTypeVar || v.kind == isSelfType {
			return true
		}
		for _, a := range v.args {
			if mentions(a, depth+1) {
				return true
			}
		}
	}
	return false
}
