package golang

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// kind is the kind of a type.
type kind uint8

const (
	tExternal kind = iota // declared outside the repository
	tBasic
	tUntyped // of a constant
	tNamed
	tPointer
	tSlice
	tArray
	tMap
	tChan
	tFunc
	tStruct
	tInterface
	tParam
	tTuple
	tUnion
	tHint // one of results, or made of them: what an external generic gives
)

// typ is a type. A nil *typ is one that is not known.
type typ struct {
	kind     kind
	variadic bool
	name     string // of basic types; of external ones as far as known
	named    *named
	args     []*typ // of an instantiated named type
	elem     *typ
	key      *typ
	params   []*typ
	results  []*typ // of functions and tuples; the alternatives of a union
	tparams  []*typ // of a generic function that is not instantiated
	file     *file  // of struct and interface literals
	expr     facts.ExprID
	bound    *typ // of a type parameter
	env      subst
}

// subst maps type parameters to types.
type subst []binding

type binding struct{ param, to *typ }

func (s subst) find(p *typ) *typ {
	for _, b := range s {
		if b.param == p {
			return b.to
		}
	}
	return nil
}

// apply replaces type parameters in t. It gives t itself where nothing changes.
func (s subst) apply(t *typ) *typ {
	if t == nil || len(s) == 0 {
		return t
	}
	budget := maxType
	return s.deep(t, &budget)
}

// maxType bounds the nodes that are looked at to build or compare one type:
// types that double with each instantiation are not known.
const maxType = 10_000

func (s subst) deep(t *typ, budget *int) *typ {
	if t == nil {
		return nil
	}
	if *budget--; *budget < 0 {
		return nil
	}
	switch t.kind {
	case tParam:
		if to := s.find(t); to != nil {
			return to
		}
		return t
	case tBasic, tUntyped:
		return t
	case tStruct, tInterface:
		c := *t
		c.env = append(append(subst{}, t.env...), s...)
		for i := range t.env {
			c.env[i].to = s.deep(t.env[i].to, budget)
		}
		return &c
	}
	c := *t
	changed := false
	one := func(p **typ) {
		if *p != nil {
			if n := s.deep(*p, budget); n != *p {
				*p, changed = n, true
			}
		}
	}
	list := func(p *[]*typ) {
		var out []*typ
		for i, x := range *p {
			n := s.deep(x, budget)
			if n != x && out == nil {
				out = append([]*typ{}, *p...)
			}
			if out != nil {
				out[i] = n
			}
		}
		if out != nil {
			*p, changed = out, true
		}
	}
	one(&c.elem)
	one(&c.key)
	list(&c.args)
	list(&c.params)
	list(&c.results)
	if !changed {
		return t
	}
	return &c
}

// maxDepth bounds the nesting of types and evaluations.
const maxDepth = 200

func basic(name string) *typ { return &typ{kind: tBasic, name: name} }

var (
	tInt        = basic("int")
	tString     = basic("string")
	tBool       = basic("bool")
	tRune       = basic("int32")
	tByte       = basic("uint8")
	tFloat      = basic("float64")
	tError      = &typ{kind: tExternal, name: "error"}
	tAny        = &typ{kind: tExternal, name: "any"}
	tComparable = &typ{kind: tExternal, name: "comparable"}

	untyped = map[string]*typ{
		"int": {kind: tUntyped, name: "int", elem: tInt}, "float": {kind: tUntyped, name: "float", elem: tFloat},
		"complex": {kind: tUntyped, name: "complex", elem: basic("complex128")}, "rune": {kind: tUntyped, name: "rune", elem: tRune},
		"string": {kind: tUntyped, name: "string", elem: tString}, "bool": {kind: tUntyped, name: "bool", elem: tBool},
		"nil": {kind: tUntyped, name: "nil"},
	}

	universeTypes = func() map[string]*typ {
		m := map[string]*typ{"byte": tByte, "rune": tRune, "error": tError, "any": tAny, "comparable": tComparable,
			"int": tInt, "string": tString, "bool": tBool, "uint8": tByte, "int32": tRune, "float64": tFloat}
		for _, name := range []string{"complex64", "complex128", "float32", "int8", "int16", "int64", "uint", "uint16", "uint32", "uint64", "uintptr"} {
			m[name] = basic(name)
		}
		return m
	}()

	builtins = words("append cap clear close complex copy delete imag len make max min new panic print println real recover")
)

// defaulted gives the type that a variable gets from a constant.
func defaulted(t *typ) *typ {
	if t != nil && t.kind == tUntyped {
		return t.elem
	}
	return t
}

func external(name string) *typ { return &typ{kind: tExternal, name: name} }

func pointer(t *typ) *typ {
	if t == nil {
		return nil
	}
	return &typ{kind: tPointer, elem: t}
}

func sliceOf(t *typ) *typ { return &typ{kind: tSlice, elem: t} }

// def gives a definition with its file.
func (r *resolver) def(d graph.DefRef) (*file, *facts.Def) {
	f := r.files[d.File]
	return f, &f.Defs[d.Def]
}

// typeDef gives the definition that stands for a named type.
func (r *resolver) typeDef(n *named) (*file, *facts.Def) {
	for _, d := range n.obj.defs {
		if f, def := r.def(d); isTypeKind(def.Kind) {
			return f, def
		}
	}
	return nil, nil
}

// declared gives the type that a type name means: for an alias what it stands for.
func (r *resolver) declared(n *named) *typ {
	f, def := r.typeDef(n)
	if def == nil {
		return nil
	}
	if def.Flags&facts.FlagAlias == 0 {
		return n.self
	}
	if len(n.obj.defs) == 1 && def.TypeParams == 0 {
		return r.typeOf(f, def.Type)
	}
	return r.typeOf(f, def.Type)
}

// instantiate applies type arguments to a declared generic type.
func (r *resolver) instantiate(n *named, args []*typ) *typ {
	f, def := r.typeDef(n)
	if def == nil {
		return nil
	}
	if def.Flags&facts.FlagAlias != 0 {
		return r.env(n, args).apply(r.typeOf(f, def.Type))
	}
	return &typ{kind: tNamed, named: n, args: args}
}

// typeParams gives the type parameters of a named type.
func (r *resolver) typeParams(n *named) []*typ {
	if n.params == nil {
		if f, def := r.typeDef(n); def != nil {
			n.params = r.paramList(f, def)
		}
	}
	return n.params
}

// paramList gives the type parameters that a definition declares.
func (r *resolver) paramList(f *file, def *facts.Def) []*typ {
	if def.TypeParams == 0 {
		return nil
	}
	var out []*typ
	for _, p := range f.Children(def.TypeParams) {
		if level := f.Exprs[p].Level; level > 0 {
			out = append(out, r.param(f, int32(level-1)))
		}
	}
	return out
}

// param gives the type parameter of a binding. One that a receiver declares is
// the parameter of the receiver's type.
func (r *resolver) param(f *file, b int32) *typ {
	if t := f.params[b]; t != nil {
		return t
	}
	bind := &f.Bindings[b]
	if bind.Value != 0 {
		if n := r.namedOf(f, f.Text(f.Exprs[bind.Value].Name)); n != nil {
			if params := r.typeParams(n); int(bind.Order) < len(params) {
				return params[bind.Order]
			}
		}
	}
	t := &typ{kind: tParam, name: f.Text(bind.Name)}
	if f.params == nil {
		f.params = map[int32]*typ{}
	}
	f.params[b] = t
	if bind.Type != 0 {
		t.bound = r.typeOf(f, bind.Type)
	}
	return t
}

// namedOf gives the type of a package-level name in a file's own package.
func (r *resolver) namedOf(f *file, name string) *named {
	if o := f.pkg.scope[name]; o != nil {
		return o.named
	}
	return nil
}

// env gives what instantiating n with args means for its parameters.
func (r *resolver) env(n *named, args []*typ) subst {
	if len(args) == 0 {
		return nil
	}
	params := r.typeParams(n)
	env := make(subst, 0, len(params))
	for i, p := range params {
		if i < len(args) {
			env = append(env, binding{p, args[i]})
		}
	}
	return env
}

// underlying gives the underlying type: a type literal, a basic or an external one.
func (r *resolver) underlying(t *typ) *typ {
	for depth := 0; t != nil && depth < maxDepth; depth++ {
		switch t.kind {
		case tNamed:
			u := r.underOf(t.named)
			t = r.env(t.named, t.args).apply(u)
		case tParam:
			core := r.core(t)
			if core == nil || core.kind == tInterface {
				return core
			}
			t = core
		case tUntyped:
			t = t.elem
		default:
			return t
		}
	}
	return nil
}

func (r *resolver) underOf(n *named) *typ {
	switch n.state {
	case 1:
		return nil // type T T
	case 0:
		n.state = 1
		if f, def := r.typeDef(n); def != nil {
			n.under = r.typeOf(f, def.Type)
		}
		n.state = 2
	}
	return n.under
}

// core gives the type that a constraint allows, where that is one type or the
// first of a union; else the constraint's interface.
func (r *resolver) core(p *typ) *typ {
	b := p.bound
	for depth := 0; b != nil && depth < maxDepth; depth++ {
		switch b.kind {
		case tNamed:
			b = r.env(b.named, b.args).apply(r.underOf(b.named))
		case tUnion:
			if len(b.results) == 0 {
				return nil
			}
			return b.results[0]
		case tParam:
			b = b.bound
		case tInterface:
			if elem := r.embeddedCore(b); elem != nil && (elem.kind == tUnion || elem.kind == tSlice || elem.kind == tMap ||
				elem.kind == tFunc || elem.kind == tPointer || elem.kind == tChan || elem.kind == tBasic || elem.kind == tArray) {
				b = elem
				continue
			}
			return b
		default:
			return b
		}
	}
	return nil
}

// embeddedCore gives the first element of an interface that is no method.
func (r *resolver) embeddedCore(t *typ) *typ {
	for _, k := range t.file.Children(t.expr) {
		if t.file.Exprs[k].Kind != facts.ExprKeyword {
			return t.env.apply(r.typeOf(t.file, k))
		}
	}
	return nil
}

// deref gives what a pointer points to, and other types as they are.
func (r *resolver) deref(t *typ) *typ {
	if t != nil && t.kind == tPointer {
		return t.elem
	}
	return t
}

// identical says whether two types are, as far as both are known, the same.
func (r *resolver) identical(a, b *typ, budget *int) bool {
	if *budget--; a == nil || b == nil || a == b || *budget < 0 {
		return true
	}
	if a.kind == tParam || b.kind == tParam {
		return true
	}
	if a.kind != b.kind {
		// any is an interface without methods.
		if a.kind == tInterface && b == tAny {
			a, b = b, a
		}
		return a == tAny && b.kind == tInterface && len(b.file.Children(b.expr)) == 0
	}
	switch a.kind {
	case tExternal, tBasic, tUntyped:
		return a.name == b.name || a.name == "" || b.name == ""
	case tNamed:
		return a.named == b.named && r.identicalLists(a.args, b.args, budget)
	case tFunc, tTuple:
		return a.variadic == b.variadic && r.identicalLists(a.params, b.params, budget) && r.identicalLists(a.results, b.results, budget)
	case tStruct, tInterface:
		return len(a.file.Children(a.expr)) == len(b.file.Children(b.expr))
	}
	return r.identical(a.elem, b.elem, budget) && r.identical(a.key, b.key, budget)
}

func (r *resolver) identicalLists(a, b []*typ, budget *int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !r.identical(a[i], b[i], budget) {
			return false
		}
	}
	return true
}
