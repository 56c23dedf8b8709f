package golang

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// mode says what an expression stands for.
type mode uint8

const (
	mUnknown mode = iota
	mValue
	mType
	mBuiltin
	mPackage
)

// operand is an expression with what is known about it.
type operand struct {
	t     *typ
	mode  mode
	state uint8 // 0 not looked at, 1 being looked at, 2 known
}

func value(t *typ) operand { return operand{t: t, mode: mValue} }

func typeOperand(t *typ) operand { return operand{t: t, mode: mType} }

// typeOf gives the type of an expression or the type that it denotes.
func (r *resolver) typeOf(f *file, e facts.ExprID) *typ {
	if e == 0 {
		return nil
	}
	return r.eval(f, e).t
}

// eval types an expression. It is nothing when it depends on itself.
func (r *resolver) eval(f *file, e facts.ExprID) operand {
	if e == 0 {
		return operand{}
	}
	v := &f.values[e]
	switch v.state {
	case 2:
		return *v
	case 1:
		return operand{}
	}
	v.state = 1
	r.depth++
	var o operand
	if r.depth < 4*maxDepth {
		o = r.compute(f, e)
	}
	r.depth--
	o.state = 2
	f.values[e] = o
	return o
}

func (r *resolver) compute(f *file, e facts.ExprID) operand {
	x := &f.Exprs[e]
	switch x.Kind {
	case facts.ExprName:
		if x.Level > 0 {
			return r.binding(f, int32(x.Level-1))
		}
		return r.global(f, f.Text(x.Name))
	case facts.ExprAttr:
		return r.attr(f, e, x)
	case facts.ExprCall:
		return r.call(f, e)
	case facts.ExprIndex:
		return r.index(f, e)
	case facts.ExprSlice:
		t := r.typeOf(f, f.Child(e, 0))
		if u := r.underlying(r.deref(t)); u != nil && u.kind == tArray {
			return value(sliceOf(u.elem))
		}
		return value(defaulted(t))
	case facts.ExprLiteral:
		return value(untyped[f.Text(x.Name)])
	case facts.ExprStar:
		o := r.eval(f, f.Child(e, 0))
		if o.mode == mType {
			return typeOperand(pointer(o.t))
		}
		return value(r.element(o.t, tPointer))
	case facts.ExprAddr:
		return value(pointer(r.typeOf(f, f.Child(e, 0))))
	case facts.ExprUnary, facts.ExprSpread:
		return r.eval(f, f.Child(e, 0))
	case facts.ExprBinary:
		return r.binary(f, e)
	case facts.ExprIter:
		_, v := r.ranged(r.typeOf(f, f.Child(e, 0)))
		return value(v)
	case facts.ExprKey:
		k, _ := r.ranged(r.typeOf(f, f.Child(e, 0)))
		return value(k)
	case facts.ExprRecv:
		return value(r.element(r.typeOf(f, f.Child(e, 0)), tChan))
	case facts.ExprUnpack:
		return r.unpack(f, e, int(x.Level))
	case facts.ExprAssert:
		return value(r.typeOf(f, f.Child(e, 1)))
	case facts.ExprComposite:
		return value(r.typeOf(f, f.Child(e, 0)))
	case facts.ExprLambda:
		return value(r.funcType(f, x.Def))
	}
	return r.typeExpr(f, e, x)
}

// typeExpr evaluates the kinds that only types have.
func (r *resolver) typeExpr(f *file, e facts.ExprID, x *facts.Expr) operand {
	switch x.Kind {
	case facts.ExprSliceType, facts.ExprEllipsis:
		return typeOperand(sliceOf(r.typeOf(f, f.Child(e, 0))))
	case facts.ExprArrayType:
		return typeOperand(&typ{kind: tArray, elem: r.typeOf(f, f.Child(e, 0))})
	case facts.ExprMapType:
		return typeOperand(&typ{kind: tMap, key: r.typeOf(f, f.Child(e, 0)), elem: r.typeOf(f, f.Child(e, 1))})
	case facts.ExprChanType:
		return typeOperand(&typ{kind: tChan, elem: r.typeOf(f, f.Child(e, 0))})
	case facts.ExprFuncType:
		t := &typ{kind: tFunc}
		kids := f.Children(e)
		for i, k := range kids {
			if uint32(i) < x.Level {
				t.params = append(t.params, r.typeOf(f, k))
				t.variadic = f.Exprs[k].Kind == facts.ExprEllipsis
			} else {
				t.results = append(t.results, r.typeOf(f, k))
			}
		}
		return typeOperand(t)
	case facts.ExprStructType:
		return typeOperand(&typ{kind: tStruct, file: f, expr: e})
	case facts.ExprInterfaceType:
		return typeOperand(&typ{kind: tInterface, file: f, expr: e})
	case facts.ExprUnionType:
		t := &typ{kind: tUnion}
		for _, k := range f.Children(e) {
			t.results = append(t.results, r.typeOf(f, k))
		}
		return typeOperand(t)
	}
	return operand{}
}

// binding types a local name.
func (r *resolver) binding(f *file, b int32) operand {
	bind := &f.Bindings[b]
	switch bind.Kind {
	case facts.BindTypeParam:
		return typeOperand(r.param(f, b))
	case facts.BindDef:
		return typeOperand(r.declared(r.localType(f, bind.Def)))
	}
	if bind.Type != 0 {
		return value(r.typeOf(f, bind.Type))
	}
	t := r.typeOf(f, bind.Value)
	if bind.Flags&facts.FlagConst == 0 {
		t = defaulted(t)
	}
	return value(t)
}

// localType gives the named type that a function declares.
func (r *resolver) localType(f *file, d facts.DefID) *named {
	if n := f.locals[d]; n != nil {
		return n
	}
	o := &object{name: f.Text(f.Defs[d].Name), defs: []graph.DefRef{{File: f.index, Def: d}}}
	o.named = r.newNamed(o, f.pkg)
	if f.locals == nil {
		f.locals = map[facts.DefID]*named{}
	}
	f.locals[d] = o.named
	return o.named
}

// global types a name of the package, an import, a dot import or the universe.
func (r *resolver) global(f *file, name string) operand {
	m := r.lookup(f, name)
	switch {
	case len(m.defs) > 0:
		return r.object(m.object, m.defs)
	case m.imp != nil && m.universe == "":
		if m.dotted {
			return value(external(m.imp.path + "." + name))
		}
		return operand{mode: mPackage}
	case m.universe != "":
		return universe(name)
	}
	return operand{}
}

func universe(name string) operand {
	if t := universeTypes[name]; t != nil {
		return typeOperand(t)
	}
	if builtins[name] {
		return operand{mode: mBuiltin}
	}
	return operand{}
}

// object types a package-level object.
func (r *resolver) object(o *object, defs []graph.DefRef) operand {
	f, def := r.def(defs[0])
	switch def.Kind {
	case facts.KindFunction:
		return value(r.funcType(f, defs[0].Def))
	case facts.KindConstant, facts.KindVariable:
		if def.Type != 0 {
			return value(r.typeOf(f, def.Type))
		}
		t := r.typeOf(f, def.Value)
		if def.Kind == facts.KindVariable {
			t = defaulted(t)
		}
		return value(t)
	}
	if o.named == nil {
		return operand{}
	}
	return typeOperand(r.declared(o.named))
}

// funcType gives the type of a function, method or function literal, with its
// type parameters when it has any.
func (r *resolver) funcType(f *file, d facts.DefID) *typ {
	if t, ok := f.defTypes[d]; ok {
		return t
	}
	def := &f.Defs[d]
	t := r.typeOf(f, def.Type)
	if params := r.paramList(f, def); len(params) > 0 && t != nil {
		c := *t
		c.tparams = params
		t = &c
	}
	f.defTypes[d] = t
	return t
}

func (r *resolver) attr(f *file, e facts.ExprID, x *facts.Expr) operand {
	obj, name := f.Child(e, 0), f.Text(x.Name)
	o := r.eval(f, obj)
	if o.mode == mPackage {
		m := r.lookup(f, f.Text(f.Exprs[obj].Name))
		if m.imp.pkg == nil {
			return operand{t: external(m.imp.path + "." + name), mode: mUnknown}
		}
		if member := m.imp.pkg.scope[name]; member != nil {
			if defs := r.visible(f, member); len(defs) > 0 {
				return r.object(member, defs)
			}
		}
		return operand{}
	}
	if o.t == nil {
		return operand{}
	}
	s := r.sel(f, o.t, name)
	if o.mode == mType && s.t != nil && s.t.kind == tFunc {
		c := *s.t // a method expression takes the receiver first
		c.params = append([]*typ{o.t}, c.params...)
		return value(&c)
	}
	return value(s.t)
}

func (r *resolver) binary(f *file, e facts.ExprID) operand {
	x, y := r.typeOf(f, f.Child(e, 0)), r.typeOf(f, f.Child(e, 1))
	op := f.Text(f.Exprs[e].Name)
	if op != "<<" && op != ">>" && (x == nil || x.kind == tUntyped) && y != nil && (y.kind != tUntyped || x == nil || y.name == "float") {
		return value(y)
	}
	return value(x)
}

// element gives the element type of a type of one of the kinds.
func (r *resolver) element(t *typ, k kind) *typ {
	u := r.underlying(t)
	if u == nil {
		return nil
	}
	if u.kind == tExternal || u.kind == tHint {
		return u
	}
	if u.kind == k {
		return u.elem
	}
	return nil
}

// ranged gives the types of key and value when ranging over t.
func (r *resolver) ranged(t *typ) (key, elem *typ) {
	u := r.underlying(t)
	if u != nil && u.kind == tPointer {
		if p := r.underlying(u.elem); p != nil {
			u = p
		}
	}
	if u == nil {
		return nil, nil
	}
	switch u.kind {
	case tSlice, tArray:
		return tInt, u.elem
	case tMap:
		return u.key, u.elem
	case tChan:
		return u.elem, nil
	case tBasic:
		if u.name == "string" {
			return tInt, tRune
		}
		return t, nil
	case tFunc:
		if len(u.params) == 1 {
			if yield := r.underlying(u.params[0]); yield != nil && yield.kind == tFunc {
				if len(yield.params) > 0 {
					key = yield.params[0]
				}
				if len(yield.params) > 1 {
					elem = yield.params[1]
				}
			}
		}
		return key, elem
	case tExternal, tHint:
		return u, u
	}
	return nil, nil
}

// unpack gives the k-th value of a call with several results, or of the forms
// with a second boolean.
func (r *resolver) unpack(f *file, e facts.ExprID, k int) operand {
	x := f.Child(e, 0)
	t := r.typeOf(f, x)
	switch {
	case t == nil:
		return operand{}
	case t.kind == tTuple:
		if k < len(t.results) {
			return value(t.results[k])
		}
		return operand{}
	case f.Exprs[x].Kind == facts.ExprCall:
		return value(t) // external: the same is known of all results
	case k == 0:
		return value(t)
	}
	return value(tBool)
}

func (r *resolver) index(f *file, e facts.ExprID) operand {
	kids := f.Children(e)
	if len(kids) < 2 {
		return operand{}
	}
	o := r.eval(f, kids[0])
	if o.t == nil {
		return operand{}
	}
	if o.mode == mType || o.t.kind == tFunc && len(o.t.tparams) > 0 || o.t.kind == tExternal && o.mode == mUnknown {
		args := make([]*typ, 0, len(kids)-1)
		for _, k := range kids[1:] {
			args = append(args, r.typeOf(f, k))
		}
		switch {
		case o.mode == mUnknown:
			return operand{t: externalGeneric(o.t.name, args)}
		case o.t.kind == tNamed:
			return typeOperand(r.instantiate(o.t.named, args))
		case o.mode == mType:
			// A generic alias was expanded without its arguments.
			return typeOperand(r.aliasArgs(f, kids[0], args, o.t))
		}
		return value(instantiated(o.t, args))
	}
	u := r.underlying(o.t)
	if u != nil && u.kind == tPointer {
		u = r.underlying(u.elem)
	}
	if u == nil {
		return operand{}
	}
	switch u.kind {
	case tSlice, tArray, tMap:
		return value(u.elem)
	case tBasic:
		return value(tByte)
	case tExternal, tHint:
		return value(u)
	}
	return operand{}
}

// aliasArgs applies the arguments of a generic alias to what it stands for.
func (r *resolver) aliasArgs(f *file, name facts.ExprID, args []*typ, expanded *typ) *typ {
	var o *object
	switch x := &f.Exprs[name]; x.Kind {
	case facts.ExprName:
		if x.Level == 0 {
			o = r.lookup(f, f.Text(x.Name)).object
		}
	case facts.ExprAttr:
		if m := r.lookup(f, f.Text(f.Exprs[f.Child(name, 0)].Name)); m.imp != nil && m.imp.pkg != nil {
			o = m.imp.pkg.scope[f.Text(x.Name)]
		}
	}
	if o == nil || o.named == nil {
		return expanded
	}
	return r.env(o.named, args).apply(expanded)
}
