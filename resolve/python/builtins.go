package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// callExternal gives what calling something outside of the repository gives,
// where that decides what repository values flow on: containers, iteration,
// super and type, copies. The result of anything else of the standard library
// is foreign; that of a dependency is unknown, unless it is a class by its name.
func (r *resolver) callExternal(v value, fi int32, id facts.ExprID) values {
	f := r.files[fi]
	arg := func(i int) facts.ExprID {
		kids := f.Children(id)
		if id == 0 || i+1 >= len(kids) {
			return 0
		}
		if k := f.Exprs[kids[i+1]].Kind; k == facts.ExprKeyword || k == facts.ExprSpread {
			return 0
		}
		return kids[i+1]
	}
	if v.recv != nil {
		return r.callForeignMethod(v, fi, arg)
	}
	name, inBuiltins := strings.CutPrefix(v.name, "builtins.")
	if inBuiltins {
		if vs, ok := r.callBuiltin(name, fi, id, arg); ok {
			return vs
		}
	}
	switch v.name {
	case "copy.copy", "copy.deepcopy", "dataclasses.replace", "asyncio.shield", "weakref.proxy", "contextlib.nullcontext", "contextlib.closing":
		vs := r.eval(fi, arg(0)).weaken(hinted)
		if strings.HasPrefix(v.name, "contextlib.") {
			return one(value{kind: isContext, why: hinted}.of(vs))
		}
		return vs
	case "typing.cast", "typing_extensions.cast":
		return r.annotation(fi, arg(0))
	case "functools.partial":
		return one(value{kind: isCallable, why: hinted}.of(r.callAll(fi, arg(0))))
	case "asyncio.create_task", "asyncio.ensure_future", "asyncio.wait_for":
		return r.eval(fi, arg(0)).weaken(hinted)
	case "asyncio.run", "anyio.run", "trio.run":
		return r.each(fi, arg(0), r.awaited)
	case "collections.deque":
		return one(foreign("list", r.each(fi, arg(0), r.element)))
	case "collections.OrderedDict":
		return one(foreign("dict"))
	case "collections.defaultdict":
		return one(foreign("dict", nil, r.callAll(fi, arg(0))))
	case "itertools.chain", "itertools.islice", "itertools.cycle", "itertools.takewhile", "itertools.dropwhile":
		return one(foreign("generator", r.each(fi, arg(0), r.element)))
	case "itertools.zip_longest", "itertools.product":
		vs, _ := r.callBuiltin("zip", fi, id, arg)
		return vs
	case "itertools.pairwise", "itertools.permutations", "itertools.combinations", "more_itertools.pairwise":
		return one(foreign("generator", one(foreign("tuple*", r.each(fi, arg(0), r.element)))))
	case "itertools.groupby":
		return one(foreign("generator", one(foreign("tuple", nil, one(foreign("generator", r.each(fi, arg(0), r.element)))))))
	case "itertools.accumulate", "itertools.compress", "itertools.filterfalse", "itertools.repeat", "heapq.nlargest", "heapq.nsmallest", "random.choice", "random.sample":
		return r.drawn(v.name, fi, arg)
	case "itertools.chain.from_iterable", "functools.reduce", "asyncio.gather", "typing.NewType", "typing.TypeVar", "weakref.ref",
		"functools.wraps", "functools.lru_cache", "functools.cache", "contextlib.contextmanager", "typing.overload":
		return nil
	}
	top, _, _ := strings.Cut(v.name, ".")
	if inBuiltins || standard[top] {
		return one(value{kind: isForeign, name: v.name, why: hinted})
	}
	last := v.name[strings.LastIndexByte(v.name, '.')+1:]
	if last != "" && last[0] >= 'A' && last[0] <= 'Z' && last != strings.ToUpper(last) {
		return one(value{kind: isForeign, name: v.name, why: hinted})
	}
	return nil
}

// drawn gives what functions give that pick from one of their arguments.
func (r *resolver) drawn(name string, fi int32, arg func(int) facts.ExprID) values {
	switch name {
	case "itertools.repeat":
		return one(foreign("generator", r.eval(fi, arg(0))))
	case "random.choice":
		return r.each(fi, arg(0), r.element).weaken(hinted)
	case "itertools.filterfalse", "heapq.nlargest", "heapq.nsmallest":
		return one(foreign("list", r.each(fi, arg(1), r.element)))
	}
	return one(foreign("list", r.each(fi, arg(0), r.element)))
}

// callAll calls whatever an expression may be, without arguments.
func (r *resolver) callAll(fi int32, id facts.ExprID) values {
	return r.each(fi, id, func(v value) values {
		if r.depth >= maxDepth {
			return nil
		}
		return r.call(v, fi, 0)
	}).weaken(hinted)
}

func (r *resolver) callBuiltin(name string, fi int32, id facts.ExprID, arg func(int) facts.ExprID) (values, bool) {
	f := r.files[fi]
	elements := func(i int) values { return r.each(fi, arg(i), r.element).weaken(hinted) }
	switch name {
	case "super":
		return r.super(fi, f, id), true
	case "list", "set", "frozenset":
		return one(foreign(strings.TrimPrefix(name, "frozen"), elements(0))), true
	case "sorted":
		return one(foreign("list", elements(0))), true
	case "tuple":
		return one(foreign("tuple*", elements(0))), true
	case "reversed", "iter", "aiter":
		return one(foreign("generator", elements(0))), true
	case "next", "anext":
		vs := r.each(fi, arg(0), func(v value) values {
			if v.kind == isInstance {
				return r.stepped(v)
			}
			return r.element(v)
		})
		return vs.weaken(hinted), true
	case "enumerate":
		return one(foreign("generator", one(foreign("tuple", one(foreign("int")), elements(0))))), true
	case "zip":
		var parts []values
		for i := 0; i < 4 && arg(i) != 0; i++ {
			parts = append(parts, elements(i))
		}
		return one(foreign("generator", one(foreign("tuple", parts...)))), true
	case "map":
		return one(foreign("generator", r.callAll(fi, arg(0)))), true
	case "filter":
		return one(foreign("generator", elements(1))), true
	case "max", "min":
		if arg(1) == 0 {
			return elements(0), true
		}
		var out values
		for i := 0; i < 4; i++ {
			out = out.add(r.eval(fi, arg(i))...)
		}
		return out.weaken(hinted), true
	case "type":
		if arg(0) == 0 || arg(1) != 0 {
			return nil, true
		}
		return r.each(fi, arg(0), func(v value) values {
			if v.kind == isInstance {
				return one(value{kind: isClass, class: v.class, self: true, why: hinted})
			}
			return nil
		}), true
	case "getattr", "eval", "__import__", "vars", "globals", "locals", "sum", "input", "property", "staticmethod", "classmethod":
		return nil, true
	case "dict":
		return one(foreign("dict")), true
	case "str", "repr", "format", "ascii", "chr", "hex", "oct", "bin":
		return one(foreign("str")), true
	case "len", "int", "ord", "hash", "id", "round":
		return one(foreign("int")), true
	case "range":
		return one(foreign("list", one(foreign("int")))), true
	case "open":
		return one(foreign("io.TextIOWrapper")), true
	}
	if name != "" {
		return one(foreign(name)), true
	}
	return nil, false
}

// super gives what super() or super(C, self) is: the search for members starts
// after a class in the order of the receiver's.
func (r *resolver) super(fi int32, f *file, id facts.ExprID) values {
	callee := &f.Exprs[f.Child(id, 0)]
	class := f.classAround(facts.ScopeID(callee.Level))
	if kids := f.Children(id); len(kids) > 1 {
		for _, v := range r.eval(fi, kids[1]) {
			if v.kind == isClass {
				return one(r.superOf(v.class, f, callee))
			}
		}
		return nil
	}
	if class < 0 {
		return nil
	}
	c, ok := r.classOf[graph.DefRef{File: fi, Def: class}]
	if !ok {
		return nil
	}
	return one(r.superOf(c, f, callee))
}

func (r *resolver) superOf(c int32, f *file, callee *facts.Expr) value {
	recv := value{kind: isInstance, class: c, self: true}
	if m := f.enclosing(facts.ScopeID(callee.Level)); m >= 0 && f.Defs[m].Flags&facts.FlagClassMethod != 0 {
		recv.kind = isClass
	}
	return value{kind: isSuper, class: c, after: c, recv: &recv}
}

// callForeignMethod calls a method of a builtin or external instance.
func (r *resolver) callForeignMethod(v value, fi int32, arg func(int) facts.ExprID) values {
	recv := *v.recv
	_, method, _ := cutLast(v.name)
	elem := func(i int) values {
		if i < len(recv.args) {
			return recv.args[i]
		}
		return nil
	}
	switch recv.name {
	case "list", "tuple", "tuple*", "set", "generator":
		switch method {
		case "pop", "popleft", "__next__", "__getitem__":
			return r.element(recv)
		case "copy", "union", "difference", "intersection", "__iter__", "symmetric_difference":
			return one(recv)
		case "index", "count":
			return one(foreign("int"))
		}
		return nil
	case "dict":
		switch method {
		case "get", "pop", "setdefault", "__getitem__":
			return elem(1).weaken(hinted)
		case "values":
			return one(foreign("generator", elem(1)))
		case "keys":
			return one(foreign("generator", elem(0)))
		case "items":
			return one(foreign("generator", one(foreign("tuple", elem(0), elem(1)))))
		case "popitem":
			return one(foreign("tuple", elem(0), elem(1)))
		case "copy":
			return one(recv)
		}
		return nil
	case "str":
		return strMethod(method)
	case "bytes", "bytearray":
		if method == "decode" || method == "hex" {
			return one(foreign("str"))
		}
		return strMethod(method)
	}
	if recv.kind != isForeign {
		return nil
	}
	switch method {
	case "get", "get_nowait", "result", "peek":
		// ContextVar[T], Queue[T], Future[T] and their kin hand out a T.
		if len(recv.args) == 1 && len(recv.args[0]) > 0 {
			vs := recv.args[0].weaken(hinted)
			if recv.name == "asyncio.Queue" && method == "get" {
				return one(value{kind: isAwaited, why: hinted}.of(vs))
			}
			return vs
		}
	}
	return one(value{kind: isForeign, name: v.name, why: hinted})
}

func strMethod(method string) values {
	switch method {
	case "split", "rsplit", "splitlines":
		return one(foreign("list", one(foreign("str"))))
	case "partition", "rpartition":
		s := one(foreign("str"))
		return one(foreign("tuple", s, s, s))
	case "encode":
		return one(foreign("bytes"))
	case "find", "rfind", "index", "rindex", "count":
		return one(foreign("int"))
	}
	return one(foreign("str"))
}

func cutLast(s string) (before, after string, found bool) {
	if i := strings.LastIndexByte(s, '.'); i >= 0 {
		return s[:i], s[i+1:], true
	}
	return "", s, false
}
