package golang

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// What is known of the standard library: the generic functions and types whose
// results are made of their arguments, as of Go 1.26. Everything else of it is
// external and stays so through calls, fields and elements.

func seq(params ...*typ) *typ {
	return &typ{kind: tFunc, params: []*typ{{kind: tFunc, params: params, results: []*typ{tBool}}}}
}

// externalGeneric gives an instantiated generic type or function from outside.
func externalGeneric(name string, args []*typ) *typ {
	switch name {
	case "iter.Seq", "iter.Seq2":
		return seq(args...)
	}
	return &typ{kind: tExternal, name: name, args: args}
}

// standardCall gives the result of the functions in the table.
func (r *resolver) standardCall(f *file, fn *typ, args []facts.ExprID) (*typ, bool) {
	if fn.elem != nil { // a method whose result is known
		return fn.elem, true
	}
	arg := func(i int) *typ {
		if i < len(args) {
			return defaulted(r.typeOf(f, args[i]))
		}
		return nil
	}
	elem := func(t *typ) *typ {
		_, e := r.ranged(t)
		return e
	}
	key := func(t *typ) *typ {
		k, _ := r.ranged(t)
		return k
	}
	pkg, name, _ := strings.Cut(fn.name, ".")
	switch pkg {
	case "slices":
		switch name {
		case "Clone", "Clip", "Grow", "Compact", "CompactFunc", "Delete", "DeleteFunc", "Insert", "Replace", "AppendSeq", "Concat", "Repeat":
			return arg(0), true
		case "Max", "Min", "MaxFunc", "MinFunc":
			return elem(arg(0)), true
		case "Sorted", "SortedFunc", "SortedStableFunc", "Collect":
			return sliceOf(key(arg(0))), true
		case "Values":
			return seq(elem(arg(0))), true
		case "All", "Backward":
			return seq(tInt, elem(arg(0))), true
		case "Chunk":
			return seq(arg(0)), true
		}
	case "maps":
		switch name {
		case "Clone":
			return arg(0), true
		case "Keys":
			return seq(key(arg(0))), true
		case "Values":
			return seq(elem(arg(0))), true
		case "All":
			return seq(key(arg(0)), elem(arg(0))), true
		case "Collect":
			k, e := r.ranged(arg(0))
			return &typ{kind: tMap, key: k, elem: e}, true
		}
	case "sync":
		if strings.HasPrefix(name, "OnceValue") {
			return arg(0), true
		}
	case "cmp":
		if name == "Or" {
			return arg(0), true
		}
	case "errors":
		if name == "AsType" && len(fn.args) == 1 {
			return &typ{kind: tTuple, results: []*typ{fn.args[0], tBool}}, true
		}
	case "reflect":
		if name == "TypeFor" {
			return external("reflect.Type"), true
		}
	case "iter":
		if name == "Pull" {
			next := &typ{kind: tFunc, results: []*typ{key(arg(0)), tBool}}
			return &typ{kind: tTuple, results: []*typ{next, {kind: tFunc}}}, true
		}
	}
	return nil, false
}

// externalMember gives a member of a type from outside. The Elem of its type is
// the result of calling it, where that is known.
func (r *resolver) externalMember(t *typ, name string) selection {
	full := t.name + "." + name
	member := &typ{kind: tExternal, name: full}
	if len(t.args) > 0 {
		switch t.name + "." + name {
		case "sync/atomic.Pointer.Load", "sync/atomic.Pointer.Swap", "weak.Pointer.Value":
			member.elem = pointer(t.args[0])
		case "unique.Handle.Value":
			member.elem = t.args[0]
		default:
			if hint(t.args) != nil {
				member.args = t.args
			}
		}
	}
	return selection{kind: selExternal, external: full, t: member, from: t}
}

// unsafeCall gives the name of a function of package unsafe that is called, or
// "". Inside the standard library the package is there, but its declarations
// say nothing.
func (r *resolver) unsafeCall(f *file, fn facts.ExprID) string {
	if f.Exprs[fn].Kind != facts.ExprAttr {
		return ""
	}
	obj := &f.Exprs[f.Child(fn, 0)]
	if obj.Kind != facts.ExprName || obj.Level > 0 || f.Text(obj.Name) != "unsafe" {
		return ""
	}
	if m := r.lookup(f, "unsafe"); m.imp == nil || m.imp.path != "unsafe" {
		return ""
	}
	return f.Text(f.Exprs[fn].Name)
}

func (r *resolver) unsafe(f *file, name string, args []facts.ExprID) *typ {
	var t *typ
	if len(args) > 0 {
		t = r.typeOf(f, args[0])
	}
	switch name {
	case "Slice":
		return sliceOf(r.element(t, tPointer))
	case "SliceData":
		return pointer(r.element(t, tSlice))
	case "String":
		return tString
	case "StringData":
		return pointer(tByte)
	}
	return external("unsafe." + name + "()")
}
