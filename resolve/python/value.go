package python

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// valueKind is what a value is.
type valueKind uint8

const (
	isModule   valueKind = iota + 1
	isClass              // a class object of the repository
	isInstance           // an instance of one
	isFunction           // a function, or a method taken from its class
	isMethod             // a method bound to a receiver
	isVariable           // a variable whose value nobody knows, known by its definition
	isExternal           // a module, class or function from outside, known by its dotted name
	isForeign            // an instance of an external class: name, and args where generic
	isNone
	isAwaited  // what awaiting gives is args[0]
	isContext  // what entering gives is args[0]
	isCallable // what calling gives is args[0]
	isTypeVar  // a type parameter: name
	isTypeOf   // type[T] of a type parameter: T is args[0]
	isSuper    // super(): class is where the search starts after
	isSelfType // typing.Self
)

// why says what keeps a value from being proved.
type why uint8

const (
	proved      why = iota
	hinted          // by an annotation, an inferred result, an attribute
	conditional     // one of several conditional bindings
	ambiguous       // one of several bindings
	wildcard        // through a star import without __all__
	rebindable      // an attribute that is assigned to
)

// route is how a name was reached: it becomes the rule of an edge.
type route uint8

const (
	lexical route = iota
	explicit
	relative
	reexport
	memberOf // module.member
)

// value is one value that an expression may have.
type value struct {
	kind  valueKind
	why   why
	route route
	self  bool // an instance of the class or of any of its subclasses
	pkg   bool // isModule: a package, whose folder is name
	file  int32
	def   facts.DefID
	class int32    // isInstance, isClass, isMethod (of the receiver), isSuper: index into resolver.classes
	after int32    // isSuper: the class in whose order the search starts after it
	name  string   // isExternal, isForeign, isTypeVar: name; isModule: folder
	args  []values // set by of, which bounds them
	size  uint16   // how many values are nested in args
	recv  *value   // isMethod
}

// plainValue is a value without arguments and receiver, as a key.
type plainValue struct {
	kind         valueKind
	why          why
	route        route
	self, pkg    bool
	file         int32
	def          facts.DefID
	class, after int32
	name         string
}

func (v value) plain() plainValue {
	return plainValue{v.kind, v.why, v.route, v.self, v.pkg, v.file, v.def, v.class, v.after, v.name}
}

// values are what an expression may be; empty when nothing is known.
type values []value

// maxValues bounds how many values are followed.
const maxValues = 12

func (v value) same(w value) bool {
	if v.kind != w.kind || v.file != w.file || v.def != w.def || v.class != w.class || v.name != w.name || len(v.args) != len(w.args) {
		return false
	}
	for i := range v.args {
		if len(v.args[i]) != len(w.args[i]) {
			return false
		}
		for j := range v.args[i] {
			if !v.args[i][j].same(w.args[i][j]) {
				return false
			}
		}
	}
	return true
}

// add appends values that are not there yet. The weaker reason of two equal
// values wins.
func (vs values) add(more ...value) values {
	for _, m := range more {
		if i := slices.IndexFunc(vs, m.same); i >= 0 {
			vs[i].why = max(vs[i].why, m.why)
			vs[i].self = vs[i].self || m.self
			continue
		}
		if len(vs) < maxValues {
			vs = append(vs, m)
		}
	}
	return vs
}

// weaken gives the values with at least the given doubt.
func (vs values) weaken(w why) values {
	if w == proved {
		return vs
	}
	out := make(values, len(vs))
	for i, v := range vs {
		v.why = max(v.why, w)
		out[i] = v
	}
	return out
}

func (vs values) has(k valueKind) bool {
	return slices.ContainsFunc(vs, func(v value) bool { return v.kind == k })
}

// maxSize bounds how many values are nested in one: a few lines of tuples of
// tuples could say more than memory holds.
const maxSize = 256

// of gives the value with type arguments. Where they would grow too large, the
// nested ones are forgotten first, then all of them; their number stays.
func (v value) of(args ...values) value {
	v.args = args
	if v.size = sizeOf(args); v.size <= maxSize {
		return v
	}
	v.args = make([]values, len(args))
	for i, a := range args {
		for _, x := range a {
			if x.size == 0 {
				v.args[i] = append(v.args[i], x)
			}
		}
	}
	if v.size = sizeOf(v.args); v.size > maxSize {
		v.args, v.size = make([]values, len(args)), 0
	}
	return v
}

// sizeOf counts the values in args, nested ones too, up to just over maxSize.
func sizeOf(args []values) uint16 {
	n := 0
	for _, a := range args {
		for _, x := range a {
			if n += 1 + int(x.size); n > maxSize {
				return maxSize + 1
			}
		}
	}
	return uint16(n)
}

func foreign(name string, args ...values) value {
	return value{kind: isForeign, name: name, why: hinted}.of(args...)
}

func one(v value) values { return values{v} }
