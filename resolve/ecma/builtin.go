package ecma

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// builtinMember finds a member of what the platform defines. It is external;
// its type is kept where it leads back to types of the repository.
func (r *resolver) builtinMember(t *typ, name string) *member {
	base := t.name
	if t.k == kTuple {
		base = "Array"
	}
	if t.k == kBuiltin && t.name == "Record" {
		if objectMembers[name] {
			return &member{how: dExternal, name: "Object." + name}
		}
		return &member{how: dField, t: arg(t, 1), recv: t}
	}
	if t.k == kBuiltin && t.name == "Function" && !functionMembers[name] && !objectMembers[name] {
		return nil // it may be a class, and this a static member of it
	}
	m := &member{how: dExternal, name: base + "." + name}
	switch t.k {
	case kGlobal:
		if name == "prototype" {
			m.t = builtin(t.name)
			break
		}
		if t.name == "globalThis" || t.name == "window" || t.name == "self" || t.name == "global" {
			m.t = &typ{k: kGlobal, name: name}
			break
		}
		m.t = &typ{k: kFunc, name: t.name + "." + name}
	case kPrim, kLiteral:
		switch name {
		case "length":
			m.t = tNumber
		case "split", "match", "matchAll":
			m.t = &typ{k: kFunc, name: "String.split"}
		default:
			m.t = &typ{k: kFunc, name: "String." + name}
		}
	default:
		if name == "length" || name == "size" {
			m.t = tNumber
			break
		}
		m.t = &typ{k: kFunc, name: base + "." + name, recv: t}
	}
	return m
}

// asArray gives a receiver's elements and the type of a sequence of them.
func (r *resolver) asArray(t *typ) (elem, seq *typ) {
	elem = r.element(t)
	return elem, builtin("Array", elem)
}

// builtinCall gives what calling a function of the platform yields.
func (r *resolver) builtinCall(t *typ, explicit []*typ, args *callArgs) *typ {
	result := func(i int) *typ {
		if args == nil || i >= len(args.exprs) {
			return nil
		}
		return r.call(r.valueOf(args.x, args.exprs[i], nil), nil, nil)
	}
	value := func(i int) *typ {
		if args == nil || i >= len(args.exprs) {
			return nil
		}
		return r.valueOf(args.x, args.exprs[i], nil)
	}
	switch t.name {
	case "Array.filter", "Array.slice", "Array.concat", "Array.reverse", "Array.sort", "Array.splice", "Array.fill", "Array.values",
		"Array.toSorted", "Array.toReversed", "Array.with", "Set.values", "Set.keys", "Array.copyWithin", "Set.union", "Set.difference":
		_, seq := r.asArray(t.recv)
		return seq
	case "Array.find", "Array.pop", "Array.shift", "Array.at", "Array.findLast", "Record.get":
		elem, _ := r.asArray(t.recv)
		return elem
	case "Array.map":
		if len(explicit) > 0 {
			return builtin("Array", explicit[0])
		}
		return builtin("Array", result(0))
	case "Array.flatMap":
		return builtin("Array", r.flat(result(0)))
	case "Array.flat":
		elem, _ := r.asArray(t.recv)
		return builtin("Array", r.flat(elem))
	case "Array.reduce", "Array.reduceRight":
		if len(explicit) > 0 {
			return explicit[0]
		}
		if args != nil && len(args.exprs) > 1 {
			return value(1)
		}
		elem, _ := r.asArray(t.recv)
		return elem
	case "Array.entries":
		elem, _ := r.asArray(t.recv)
		return builtin("Array", &typ{k: kTuple, args: []*typ{tNumber, elem}})
	case "Array.join", "Array.toString":
		return tString
	case "Map.get":
		return arg(t.recv, 1)
	case "Map.values":
		return builtin("Array", arg(t.recv, 1))
	case "Map.keys":
		return builtin("Array", arg(t.recv, 0))
	case "Map.entries":
		return builtin("Array", r.element(t.recv))
	case "Map.set", "Set.add":
		return t.recv
	case "Promise.then":
		if len(explicit) > 0 {
			return builtin("Promise", explicit[0])
		}
		return builtin("Promise", r.awaited(result(0)))
	case "Promise.catch", "Promise.finally":
		return t.recv
	case "Promise.resolve":
		return builtin("Promise", r.awaited(value(0)))
	case "Promise.all", "Promise.allSettled":
		return r.promiseAll(value(0))
	case "Promise.race", "Promise.any":
		return builtin("Promise", r.awaited(r.element(value(0))))
	case "Object.values":
		return builtin("Array", weaken(r.element(value(0))))
	case "Object.entries":
		return builtin("Array", &typ{k: kTuple, args: []*typ{tString, weaken(r.element(value(0)))}})
	case "Object.keys", "Object.getOwnPropertyNames":
		return builtin("Array", tString)
	case "Object.freeze", "Object.seal", "structuredClone":
		return value(0)
	case "Object.assign":
		in := &typ{k: kInter}
		if args != nil {
			for i := range args.exprs {
				if v := value(i); v != nil {
					in.args = append(in.args, v)
				} else {
					in.weak = true
				}
			}
		}
		return in
	case "Object.create":
		return nil
	case "Array.from":
		if args != nil && len(args.exprs) > 1 {
			return builtin("Array", result(1))
		}
		return builtin("Array", r.element(value(0)))
	case "Array.of":
		return builtin("Array", value(0))
	case "String.split":
		return builtin("Array", tString)
	case "Function.bind":
		return t.recv
	}
	if len(t.name) > 7 && (t.name[:7] == "String." || t.name[:5] == "Math.") {
		return tString
	}
	if len(t.name) > 5 && t.name[:5] == "JSON." {
		if t.name == "JSON.stringify" {
			return tString
		}
		return nil
	}
	return tOutside
}

// flat unwraps one level of arrays.
func (r *resolver) flat(t *typ) *typ {
	if t == nil {
		return nil
	}
	if t.k == kBuiltin && t.name == "Array" || t.k == kTuple {
		return r.element(t)
	}
	if t.k == kUnion {
		ts := make([]*typ, len(t.args))
		for i, p := range t.args {
			ts[i] = r.flat(p)
		}
		return union(ts...)
	}
	return t
}

func (r *resolver) promiseAll(t *typ) *typ {
	if t == nil {
		return nil
	}
	parts := t.explicit
	if t.k == kTuple {
		parts = t.args
	}
	if parts != nil && len(parts) < 8 {
		tup := &typ{k: kTuple}
		for _, p := range parts {
			tup.args = append(tup.args, r.awaited(p))
		}
		return builtin("Promise", tup)
	}
	return builtin("Promise", builtin("Array", r.awaited(r.element(t))))
}

// globalCall gives what calling a global yields.
func (r *resolver) globalCall(t *typ, explicit []*typ, args *callArgs) *typ {
	switch t.name {
	case "String", "Number", "Boolean", "parseInt", "parseFloat":
		return tString
	case "require":
		return nil
	case "Symbol":
		return &typ{k: kPrim, name: "symbol"}
	case "structuredClone":
		if args != nil && len(args.exprs) > 0 {
			return r.valueOf(args.x, args.exprs[0], nil)
		}
	case "Array":
		return builtin("Array", explicit...)
	}
	return tOutside
}

// builtinCallback types the parameter of a callback that the platform calls.
func (r *resolver) builtinCallback(t *typ, kids []facts.ExprID, id facts.ExprID, i int, x *file) *typ {
	pos := -1
	for k, a := range kids[1:] {
		if a == id {
			pos = k
		}
	}
	switch t.name {
	case "Array.map", "Array.forEach", "Array.filter", "Array.find", "Array.findIndex", "Array.some", "Array.every", "Array.flatMap",
		"Array.findLast", "Array.findLastIndex", "Set.forEach":
		switch i {
		case 0:
			return r.element(t.recv)
		case 1:
			return tNumber
		case 2:
			return t.recv
		}
	case "Array.sort", "Array.toSorted":
		return r.element(t.recv)
	case "Array.reduce", "Array.reduceRight":
		switch i {
		case 0:
			if f := x.f.Exprs[kids[0]]; f.Kind == facts.ExprIndex {
				return r.typeOf(x, x.f.Child(kids[0], 1), nil)
			}
			if len(kids) > 2 {
				return r.valueOf(x, kids[2], nil)
			}
			return r.element(t.recv)
		case 1:
			return r.element(t.recv)
		case 2:
			return tNumber
		}
	case "Map.forEach":
		switch i {
		case 0:
			return arg(t.recv, 1)
		case 1:
			return arg(t.recv, 0)
		}
	case "Promise.then":
		if pos == 0 && i == 0 {
			return r.awaited(t.recv)
		}
	case "Array.from":
		if pos == 1 && i == 0 {
			return r.element(r.valueOf(x, kids[1], nil))
		}
	}
	return nil
}
