package golang

import (
	"strconv"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

func (w *walker) packageClause(i int) {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Kind == kindPackageID {
			w.pkg = w.def(facts.Def{
				Kind: facts.KindPackage, Parent: facts.None, Body: facts.None, Span: w.span(i), BodyStart: w.n[i].End, Value: w.constraint,
			}, c)
			return
		}
	}
}

func (w *walker) importSpec(i int) {
	path, name := w.child(i, fieldPath), w.child(i, fieldName)
	if path < 0 {
		return
	}
	specifier, err := strconv.Unquote(string(w.tree.Text(path)))
	if err != nil {
		specifier = ""
	}
	imp := facts.Import{Kind: facts.ImportModule, Module: w.b.Str(specifier), Span: w.span(path), ModuleSpan: w.span(path)}
	if name >= 0 {
		imp.Local = w.str(name)
		if w.n[name].Kind == kindDot {
			imp.Kind, imp.Flags = facts.ImportStar, facts.FlagWildcard
		}
		setBool(&w.packages, imp.Local)
	} else {
		for _, guess := range packageNames(specifier) {
			setBool(&w.packages, w.b.Str(guess))
		}
	}
	imp.Ref = w.ref(facts.RefImport, path, 0, w.span(i))
	w.f.Refs[imp.Ref].Name = imp.Module
	w.b.Import(imp)
}

// packageNames guesses the name that a package has from its import path; the
// most likely first. It is right for all but the oddest packages, and a name
// that is not guessed only costs a reference that the resolver calls local.
func packageNames(path string) []string {
	rest, last := cutLast(path)
	if len(last) > 1 && last[0] == 'v' && digits(last[1:]) && rest != "" {
		_, last = cutLast(rest)
	}
	names := []string{last}
	for k := 0; k < len(last); k++ { // gopkg.in/yaml.v3
		if last[k] == '.' {
			names[0] = last[:k]
			break
		}
	}
	for k := len(last) - 1; k >= 0; k-- { // go-isatty, some-go
		if last[k] == '-' {
			names = append(names, last[k+1:], last[:k])
			break
		}
	}
	return names
}

func cutLast(path string) (rest, last string) {
	for k := len(path) - 1; k >= 0; k-- {
		if path[k] == '/' {
			return path[:k], path[k+1:]
		}
	}
	return "", path
}

func digits(s string) bool {
	for k := 0; k < len(s); k++ {
		if s[k] < '0' || s[k] > '9' {
			return false
		}
	}
	return true
}

// within runs f with d as the innermost named definition.
func (w *walker) within(d facts.DefID, f func()) {
	was := w.owner
	w.owner = d
	f()
	w.owner = was
}

func (w *walker) function(i int) {
	name := w.child(i, fieldName)
	if name < 0 {
		w.children(i)
		return
	}
	d := facts.Def{Kind: facts.KindFunction, Parent: facts.None, Scope: w.scope, Body: facts.None, Span: w.span(i)}
	if w.testFile && testEntry(string(w.tree.Text(name))) {
		d.Flags |= facts.FlagTest
	}
	id := w.def(d, name)
	w.within(id, func() {
		w.body(i, id, func() {
			if params := w.child(i, fieldTypePars); params >= 0 {
				w.f.Defs[id].TypeParams = w.typeParams(params)
			}
		}, func() {})
	})
}

func (w *walker) method(i int) {
	name, receiver := w.child(i, fieldName), w.child(i, fieldReceiver)
	if name < 0 || receiver < 0 {
		w.children(i)
		return
	}
	d := facts.Def{Kind: facts.KindMethod, Parent: facts.None, Scope: w.scope, Body: facts.None, Span: w.span(i)}
	base, pointer := w.receiverBase(receiver)
	if base >= 0 {
		if t, ok := w.types[w.str(base)]; ok {
			d.Parent = t
		}
		d.Qual = w.b.Str(string(w.tree.Text(base)) + "." + string(w.tree.Text(name)))
	}
	if pointer {
		d.Flags |= facts.FlagPointer
	}
	id := w.def(d, name)
	w.within(id, func() {
		var bind func()
		w.body(i, id, func() { bind = w.receiver(receiver, base, id) }, func() { bind() })
	})
}

// receiverBase gives the identifier node of a receiver's type, or -1.
func (w *walker) receiverBase(receiver int) (base int, pointer bool) {
	for c, end := receiver+1, w.next(receiver); c < end; c++ {
		switch w.op(c) {
		case opPointer:
			pointer = true
		case opTypeIdent:
			return c, pointer
		}
	}
	return -1, pointer
}

// receiver binds the type parameters that a receiver's type names, and gives
// what binds the receiver: it is not in scope in the signature.
func (w *walker) receiver(list, base int, id facts.DefID) (bind func()) {
	for c, end := list+1, w.next(list); c < end; c++ {
		if w.op(c) == opGeneric && base >= 0 {
			w.receiverParams(c, base)
			break
		}
	}
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		t := w.child(c, fieldType)
		if w.n[c].Kind != kindParameter || t < 0 {
			continue
		}
		recv := w.typ(t)
		w.f.Defs[id].Recv = recv
		if name := w.child(c, fieldName); name >= 0 {
			return func() {
				w.bind(facts.Binding{Kind: facts.BindReceiver, Name: w.str(name), Span: w.span(name), Def: facts.None, Import: facts.None, Type: recv})
			}
		}
		break
	}
	return func() {}
}

func (w *walker) receiverParams(generic, base int) {
	args := w.child(generic, fieldTypeArgs)
	if args < 0 {
		return
	}
	order := uint32(0)
	for c, end := args+1, w.next(args); c < end; c = w.next(c) {
		for k := c; k < w.next(c); k++ {
			if w.op(k) != opTypeIdent {
				continue
			}
			w.bind(facts.Binding{
				Kind: facts.BindTypeParam, Name: w.str(k), Span: w.span(k), Def: facts.None, Import: facts.None,
				Value: w.global(w.str(base), w.span(base)), Order: order,
			})
			order++
			break
		}
		if w.op(c) == opTypeElem && w.op(c+1) != opTypeIdent {
			order++
		}
	}
}

// body opens the scope of a function, method or function literal and visits it.
// before is called first inside the scope, after when the types of the signature
// are built and before its names are bound.
func (w *walker) body(i int, id facts.DefID, before, after func()) {
	mark, block := w.push()
	outer := w.scope
	w.scope = w.b.Scope(facts.Scope{Kind: facts.ScopeFunction, Parent: outer, Def: id, Span: w.span(i)})
	w.f.Defs[id].Body = w.scope
	w.local++
	if before != nil {
		before()
	}
	w.f.Defs[id].Type = w.signature(i, after)
	body := w.child(i, fieldBody)
	if w.f.Defs[id].BodyStart = w.n[i].End; body >= 0 {
		w.f.Defs[id].BodyStart = w.n[body].Start
		w.children(body)
	}
	w.local--
	w.scope = outer
	w.pop(mark, block)
}

func (w *walker) typeParams(list int) facts.ExprID {
	var params []facts.ExprID
	order := uint32(0)
	// All parameters are in scope in all constraints.
	first := len(w.f.Bindings)
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		if w.n[c].Kind != kindTypeParam {
			continue
		}
		for k, end := c+1, w.next(c); k < end; k = w.next(k) {
			if w.n[k].Field == fieldName && w.n[k].Kind == kindIdentifier {
				w.bind(facts.Binding{Kind: facts.BindTypeParam, Name: w.str(k), Span: w.span(k), Def: facts.None, Import: facts.None, Order: order})
				order++
			}
		}
	}
	for c, end := list+1, w.next(list); c < end; c = w.next(c) {
		t := w.child(c, fieldType)
		if w.n[c].Kind != kindTypeParam || t < 0 {
			continue
		}
		constraint := w.typ(t)
		for k, end := c+1, w.next(c); k < end; k = w.next(k) {
			if w.n[k].Field != fieldName || w.n[k].Kind != kindIdentifier {
				continue
			}
			name := w.str(k)
			level := uint32(0)
			for b := first; b < len(w.f.Bindings); b++ {
				if w.f.Bindings[b].Start == w.n[k].Start {
					w.f.Bindings[b].Type = constraint
					level = uint32(b + 1)
				}
			}
			params = append(params, w.b.Expr(facts.Expr{Kind: facts.ExprTypeParam, Name: name, Level: level, Def: facts.None, Span: w.span(k)}, constraint))
		}
	}
	return w.b.Expr(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: w.span(list)}, params...)
}

// specs visits the specifications of a declaration with f; the one of an
// ungrouped declaration takes the span of the whole.
func (w *walker) specs(i int, want op, f func(spec int, span facts.Span)) {
	var only, count int
	grouped := false
	for c, end := i+1, w.next(i); c < end; c++ {
		switch o := w.op(c); {
		case o == want || want == opTypeSpec && o == opTypeAlias:
			only, count = c, count+1
			c = w.next(c) - 1
		case w.n[c].End-w.n[c].Start == 1 && w.src[w.n[c].Start] == '(':
			grouped = true
		}
	}
	if count == 1 && !grouped {
		f(only, w.span(i))
		for c, end := i+1, w.next(i); c < end; c = w.next(c) {
			if c != only {
				w.node(c)
			}
		}
		return
	}
	w.group(i, want, f)
}

func (w *walker) group(i int, want op, f func(spec int, span facts.Span)) {
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		switch o := w.op(c); {
		case o == want || want == opTypeSpec && o == opTypeAlias:
			f(c, w.span(c))
		case o == opOther:
			w.group(c, want, f)
		default:
			w.node(c)
		}
	}
}

func (w *walker) varDecl(i int) {
	w.specs(i, opVarSpec, func(spec int, span facts.Span) { w.values(spec, span, facts.KindVariable) })
}

func (w *walker) constDecl(i int) {
	w.constType, w.constValues = 0, nil
	w.specs(i, opConstSpec, func(spec int, span facts.Span) { w.values(spec, span, facts.KindConstant) })
}

// values declares the names of a variable or constant specification.
func (w *walker) values(i int, span facts.Span, kind facts.DefKind) {
	var names []int
	for c, end := i+1, w.next(i); c < end; c = w.next(c) {
		if w.n[c].Field == fieldName && w.op(c) == opIdent {
			names = append(names, c)
		}
	}
	var defs []facts.DefID
	outer := w.owner
	if w.local == 0 {
		for _, name := range names {
			if w.src[w.n[name].Start] == '_' && w.n[name].End-w.n[name].Start == 1 {
				defs = append(defs, facts.None)
				continue
			}
			id := w.def(facts.Def{Kind: kind, Parent: facts.None, Scope: w.scope, Body: facts.None, Span: span, BodyStart: span.End}, name)
			defs = append(defs, id)
			if w.owner == outer {
				w.owner = id
			}
		}
	}
	var typ facts.ExprID
	if t := w.child(i, fieldType); t >= 0 {
		typ = w.typ(t)
	}
	values := w.exprList(w.child(i, fieldValue), typ == 0 || kind == facts.KindConstant)
	if kind == facts.KindConstant {
		if typ == 0 && len(values) == 0 {
			typ, values = w.constType, w.constValues
		}
		w.constType, w.constValues = typ, values
	}
	w.owner = outer
	for k, name := range names {
		value := w.part(values, k, len(names))
		if w.local > 0 {
			b := facts.Binding{Kind: facts.BindVar, Name: w.str(name), Span: w.span(name), Def: facts.None, Import: facts.None, Type: typ, Value: value}
			if kind == facts.KindConstant {
				b.Flags |= facts.FlagConst
			}
			w.bind(b)
		} else if defs[k] != facts.None {
			d := &w.f.Defs[defs[k]]
			d.Type, d.Value = typ, value
			if kind == facts.KindConstant {
				d.Flags |= facts.FlagConst
			}
		}
	}
}

// part gives what the k-th of n names gets from a list of values.
func (w *walker) part(values []facts.ExprID, k, n int) facts.ExprID {
	if len(values) == 1 && n > 1 {
		if values[0] == 0 {
			return 0
		}
		return w.b.Expr(facts.Expr{Kind: facts.ExprUnpack, Level: uint32(k), Def: facts.None, Span: w.f.Exprs[values[0]].Span}, values[0])
	}
	if k < len(values) {
		return values[k]
	}
	return 0
}

func (w *walker) typeDecl(i int) {
	w.specs(i, opTypeSpec, func(spec int, span facts.Span) { w.typeSpec(spec, span) })
}

func (w *walker) typeSpec(i int, span facts.Span) {
	name, t := w.child(i, fieldName), w.child(i, fieldType)
	if name < 0 || t < 0 {
		w.children(i)
		return
	}
	d := facts.Def{Kind: facts.KindType, Parent: facts.None, Scope: w.scope, Body: facts.None, Span: span, BodyStart: span.End}
	if w.op(i) == opTypeAlias {
		d.Flags |= facts.FlagAlias
	}
	switch {
	case d.Flags&facts.FlagAlias != 0:
	case w.op(t) == opStructType:
		d.Kind = facts.KindStruct
	case w.op(t) == opInterfaceType:
		d.Kind = facts.KindInterface
	}
	if w.local > 0 {
		d.Parent = w.owner
	}
	d.Qual = w.qualify(d.Parent, w.str(name))
	id := w.def(d, name)
	if w.local == 0 {
		w.types[w.f.Defs[id].Name] = id
	} else {
		w.bind(facts.Binding{Kind: facts.BindDef, Name: w.str(name), Span: w.span(name), Def: id, Import: facts.None})
	}
	mark, block := w.push()
	w.within(id, func() {
		if params := w.child(i, fieldTypePars); params >= 0 {
			w.f.Defs[id].TypeParams = w.typeParams(params)
		}
		var typ facts.ExprID
		switch d.Kind {
		case facts.KindStruct:
			w.f.Defs[id].BodyStart = w.bodyStart(t)
			typ = w.structType(t, id)
		case facts.KindInterface:
			w.f.Defs[id].BodyStart = w.bodyStart(t)
			typ = w.interfaceType(t, id)
		default:
			typ = w.typ(t)
		}
		w.f.Defs[id].Type = typ
	})
	w.pop(mark, block)
}

// bodyStart gives the offset of the brace of a struct or interface type.
func (w *walker) bodyStart(t int) uint32 {
	for k := w.n[t].Start; k < w.n[t].End; k++ {
		if w.src[k] == '{' {
			return k
		}
	}
	return w.n[t].End
}
