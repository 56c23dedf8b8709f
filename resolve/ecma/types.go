package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// kind of a type.
type kind uint8

const (
	kExternal kind = iota + 1 // of a dependency: nothing of it is ours
	kPrim                     // string, number, boolean, ...
	kVoid                     // undefined, null, void, never
	kInst                     // instance of a class, or an interface
	kClass                    // a class as a value
	kEnum                     // an enum as a value
	kModule                   // a module's namespace
	kNamespace
	kFunc
	kObject  // an object literal or an object type
	kBuiltin // Array, Promise, Map, ...
	kUnion
	kInter
	kTuple
	kParam  // a type parameter that is not known here
	kGlobal // a global as a value: console, Math, Array
	kLiteral
)

// typ is a type; nil is the unknown type.
type typ struct {
	k    kind
	weak bool // hinted, not proven
	name string
	defs []graph.DefRef // kInst, kClass, kEnum, kNamespace, kFunc
	args []*typ         // type arguments; parts of unions, intersections, tuples
	file int32          // kModule, kObject, kFunc from an expression
	expr facts.ExprID
	env  *env
	recv *typ // kFunc: the object it was taken from
	cjs  bool
	// explicit are the type arguments that a call wrote out.
	explicit []*typ
}

// env binds type parameters by name.
type env struct {
	parent *env
	names  []string
	types  []*typ
	this   *typ
}

func (e *env) lookup(name string) (*typ, bool) {
	for ; e != nil; e = e.parent {
		for i, n := range e.names {
			if n == name {
				return e.types[i], true
			}
		}
	}
	return nil, false
}

// empty says whether an environment binds no type parameter.
func (e *env) empty() bool {
	for ; e != nil; e = e.parent {
		if len(e.names) > 0 {
			return false
		}
	}
	return true
}

func (e *env) receiver() *typ {
	for ; e != nil; e = e.parent {
		if e.this != nil {
			return e.this
		}
	}
	return nil
}

var (
	tString  = &typ{k: kPrim, name: "string"}
	tNumber  = &typ{k: kPrim, name: "number"}
	tBool    = &typ{k: kPrim, name: "boolean"}
	tVoid    = &typ{k: kVoid, name: "undefined"}
	tRegexp  = &typ{k: kBuiltin, name: "RegExp"}
	tOutside = &typ{k: kExternal, name: ""}
)

func builtin(name string, args ...*typ) *typ { return &typ{k: kBuiltin, name: name, args: args} }

func arg(t *typ, i int) *typ {
	if t != nil && i < len(t.args) {
		return t.args[i]
	}
	return nil
}

// weaken gives the same type as a hint.
func weaken(t *typ) *typ {
	if t == nil || t.weak {
		return t
	}
	c := *t
	c.weak = true
	return &c
}

func weakenIf(weak bool, t *typ) *typ {
	if weak {
		return weaken(t)
	}
	return t
}

// union joins types; undefined and null drop out, unknown parts make the rest a hint.
func union(ts ...*typ) *typ {
	var parts []*typ
	unknown := false
	var void *typ
	var add func(t *typ)
	add = func(t *typ) {
		switch {
		case t == nil:
			unknown = true
		case t.k == kVoid:
			void = t
		case t.k == kUnion:
			for _, p := range t.args {
				add(weakenIf(t.weak, p))
			}
		default:
			for _, p := range parts {
				if same(p, t) {
					return
				}
			}
			if len(parts) < 24 {
				parts = append(parts, t)
			}
		}
	}
	for _, t := range ts {
		add(t)
	}
	switch len(parts) {
	case 0:
		if unknown {
			return nil
		}
		return void
	case 1:
		return weakenIf(unknown, parts[0])
	}
	return &typ{k: kUnion, args: parts, weak: unknown}
}

// same says whether two types are plainly the same.
func same(a, b *typ) bool {
	if a == b {
		return true
	}
	if a == nil || b == nil || a.k != b.k || a.name != b.name || a.file != b.file || a.expr != b.expr ||
		len(a.defs) != len(b.defs) || len(a.args) != len(b.args) {
		return false
	}
	for i := range a.defs {
		if a.defs[i] != b.defs[i] {
			return false
		}
	}
	for i := range a.args {
		if a.args[i] != b.args[i] && !(a.args[i] != nil && b.args[i] != nil && shallow(a.args[i], b.args[i])) {
			return false
		}
	}
	return a.env == b.env || a.k != kObject && a.k != kFunc
}

func shallow(a, b *typ) bool {
	return a.k == b.k && a.name == b.name && a.file == b.file && a.expr == b.expr && len(a.defs) == len(b.defs) &&
		(len(a.defs) == 0 || a.defs[0] == b.defs[0]) && len(a.args) == 0 && len(b.args) == 0
}

// enter counts a step of evaluation; false means that a bound is reached.
func (r *resolver) enter() bool {
	if r.steps <= 0 || r.depth > 60 {
		r.cut = true
		return false
	}
	r.steps--
	r.depth++
	return true
}

func (r *resolver) leave() { r.depth-- }
