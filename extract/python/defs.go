package python

import (
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// decorated reads a definition with its decorators: the definition starts at
// the first of them.
func (e *extractor) decorated(i int) {
	base := len(e.kids)
	flags := facts.Flags(0)
	for c := range e.children(i) {
		switch e.kind(c) {
		case kDecorator:
			d := e.decorator(c)
			flags |= e.decoratorFlags(d)
			e.kids = append(e.kids, d)
		case kFunction, kClass:
			list := e.pop(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: e.span(i)}, base)
			saved := e.enter(c)
			if e.kind(c) == kFunction {
				e.functionWith(c, i, list, flags)
			} else {
				e.class(c, i, list)
			}
			e.flags = saved
			base = len(e.kids)
		default:
			e.node(c)
		}
	}
	e.kids = e.kids[:base]
}

func (e *extractor) decorator(i int) facts.ExprID {
	saved := e.enter(i)
	defer func() { e.flags = saved }()
	c := e.first(i)
	if c < 0 {
		return 0
	}
	if e.kind(c) == kCall {
		inner := e.enter(c)
		id := e.call(c, facts.FlagDecorator)
		e.flags = inner
		return id
	}
	return e.mention(c, facts.RefUse, e.span(i), facts.FlagDecorator)
}

// decoratorFlags says what a decorator, known by its last name, makes of the
// definition. FlagDecorated is for those that may put something else in its
// place.
func (e *extractor) decoratorFlags(id facts.ExprID) facts.Flags {
	x := e.f.Exprs[id]
	if x.Kind == facts.ExprCall {
		x = e.f.Exprs[e.f.Child(id, 0)]
	}
	switch name := e.f.Text(x.Name); name {
	case "property", "cached_property", "setter", "getter", "deleter", "abstractproperty":
		f := facts.FlagProperty
		if name == "abstractproperty" {
			f |= facts.FlagAbstract
		}
		return f
	case "staticmethod":
		return facts.FlagStatic
	case "classmethod":
		return facts.FlagClassMethod
	case "abstractmethod":
		return facts.FlagAbstract
	case "overload":
		return facts.FlagOverload
	case "abstractclassmethod":
		return facts.FlagAbstract | facts.FlagClassMethod
	case "abstractstaticmethod":
		return facts.FlagAbstract | facts.FlagStatic
	case "wraps", "contextmanager", "asynccontextmanager", "lru_cache", "cache", "override", "final", "fixture",
		"total_ordering", "dataclass", "runtime_checkable", "no_type_check", "deprecated":
		return 0
	}
	return facts.FlagDecorated
}

func (e *extractor) function(i, whole int, decorators facts.ExprID) {
	e.functionWith(i, whole, decorators, 0)
}

func (e *extractor) functionWith(i, whole int, decorators facts.ExprID, flags facts.Flags) {
	name := e.t.Child(i, fName)
	if name < 0 {
		e.nodes(i)
		return
	}
	if e.kind(i+1) == tAsync {
		flags |= facts.FlagAsync
	}
	parent := e.owner
	inClass := e.f.Scopes[e.scope].Kind == facts.ScopeClass
	d := facts.Def{
		Kind: facts.KindFunction, Flags: e.flags | flags, Name: e.str(name), Parent: parent, Scope: e.scope, Body: facts.None,
		Span: e.span(whole), NameStart: e.t.Nodes[name].Start, NameEnd: e.t.Nodes[name].End, BodyStart: e.t.Nodes[whole].End,
		Decorators: decorators,
	}
	d.Qual = e.qualified(parent, d.Name)
	text := e.f.Text(d.Name)
	if inClass {
		d.Kind = facts.KindMethod
		switch text {
		case "__new__":
			d.Flags |= facts.FlagStatic
		case "__init_subclass__", "__class_getitem__":
			d.Flags |= facts.FlagClassMethod
		}
	}
	if !inClass && e.f.Scopes[e.scope].Kind != facts.ScopeModule {
		d.Flags |= facts.FlagLocal
	} else {
		d.Flags |= e.exported(d.Name)
	}
	if e.testFile && strings.HasPrefix(text, "test") && e.testScope(inClass) {
		d.Flags |= facts.FlagTest
	}
	if e.stub {
		d.Flags |= facts.FlagDeclare
	}
	def := e.b.Def(d)
	e.bindDef(def)
	e.functionBody(i, def, inClass)
}

// testScope says whether tests are collected from where the definition stands:
// the module or a class. Which classes are is a project's own choice (unittest's
// bases, pytest's python_classes), so any class of a test file will do.
func (e *extractor) testScope(inClass bool) bool {
	return e.owner < 0 || inClass && e.f.Defs[e.owner].Kind == facts.KindClass
}

func (e *extractor) bindDef(def facts.DefID) {
	d := &e.f.Defs[def]
	scope := d.Scope
	for _, m := range e.frames[len(e.frames)-1].moved {
		if m.name == d.Name {
			scope = m.scope
		}
	}
	e.bind(facts.Binding{
		Kind: facts.BindDef, Flags: e.flags, Name: d.Name, Scope: scope, Span: facts.Span{Start: d.NameStart, End: d.NameEnd},
		Def: def, Import: facts.None, Order: e.condEnd,
	})
}

// saved is the state of the descent that a body of its own replaces.
type saved struct {
	scope    facts.ScopeID
	owner    facts.DefID
	flags    facts.Flags
	condEnd  uint32
	blockEnd uint32
	results  int
}

func (e *extractor) push(scope facts.ScopeID, owner facts.DefID, named bool) saved {
	s := saved{e.scope, e.owner, e.flags, e.condEnd, e.blockEnd, len(e.results)}
	e.frames = append(e.frames, frame{scope: scope, def: owner, results: len(e.results)})
	e.scope = scope
	if named {
		e.owner = owner
	}
	e.flags &= facts.FlagDamaged | facts.FlagTypeChecking
	e.condEnd = 0
	return s
}

// pull ends a body: it gives its returns as an ExprTuple, and says whether the
// body yields.
func (e *extractor) pull(s saved, span facts.Span) (facts.ExprID, bool) {
	gen := e.frames[len(e.frames)-1].gen
	e.frames = e.frames[:len(e.frames)-1]
	value := facts.ExprID(0)
	if len(e.results) > s.results {
		value = e.b.Expr(facts.Expr{Kind: facts.ExprTuple, Def: facts.None, Span: span}, e.results[s.results:]...)
	}
	e.results = e.results[:s.results]
	e.scope, e.owner, e.flags, e.condEnd, e.blockEnd = s.scope, s.owner, s.flags, s.condEnd, s.blockEnd
	return value, gen
}

// typeParameters opens a scope for [T, *Ts, **P] and binds them in it.
func (e *extractor) typeParameters(i int, def facts.DefID) facts.ExprID {
	e.scope = e.b.Scope(facts.Scope{Kind: facts.ScopeTypeParams, Parent: e.scope, Def: facts.None, Span: e.span(i)})
	base := len(e.kids)
	for c := range e.children(i) {
		x, bound := c, facts.ExprID(0)
		for e.kind(x) == kType || e.kind(x) == kConstrained || e.kind(x) == kSplatType || e.kind(x) == kAssignment {
			f := e.first(x)
			if f < 0 {
				break
			}
			if next := int(e.t.Nodes[f].Next); e.kind(x) == kConstrained && next < int(e.t.Nodes[x].Next) {
				for r := next; r < int(e.t.Nodes[x].Next); r = int(e.t.Nodes[r].Next) {
					if e.t.Nodes[r].IsNamed() {
						bound = e.annotation(r)
					}
				}
			}
			x = f
		}
		if e.kind(x) != kIdentifier {
			continue
		}
		name := e.str(x)
		e.kids = append(e.kids, e.b.Expr(facts.Expr{Kind: facts.ExprTypeParam, Name: name, Level: uint32(e.scope), Def: facts.None, Span: e.span(x)}, bound))
		e.bind(facts.Binding{
			Kind: facts.BindTypeParam, Flags: e.flags, Name: name, Scope: e.scope, Span: e.span(x), Def: facts.None, Import: facts.None, Type: bound,
		})
	}
	return e.pop(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: e.span(i)}, base)
}

func (e *extractor) functionBody(i int, def facts.DefID, method bool) {
	outer := e.scope
	var typeParams, result facts.ExprID
	body := -1
	owner := e.owner
	params := -1
	scope := facts.ScopeID(facts.None)
	for c := range e.children(i) {
		n := &e.t.Nodes[c]
		switch n.Field {
		case fTypeParams:
			typeParams = e.typeParameters(c, def)
		case fParameters:
			params = c
			scope = e.b.Scope(facts.Scope{Kind: facts.ScopeFunction, Parent: e.scope, Def: def, Span: facts.Span{Start: n.Start, End: e.t.Nodes[i].End}})
			e.parameters(params, scope, method && e.f.Defs[def].Flags&facts.FlagStatic == 0)
		case fReturnType:
			result = e.annotation(c)
		case fBody:
			body = c
		default:
			if n.Kind != kIdentifier {
				e.node(c)
			}
		}
	}
	if scope < 0 {
		scope = e.b.Scope(facts.Scope{Kind: facts.ScopeFunction, Parent: e.scope, Def: def, Span: e.span(i)})
	}
	var value facts.ExprID
	gen := false
	if body >= 0 {
		s := e.push(scope, def, true)
		e.node(body)
		value, gen = e.pull(s, e.span(body))
	}
	e.scope, e.owner = outer, owner
	d := &e.f.Defs[def]
	d.Body, d.TypeParams, d.Type, d.Value = scope, typeParams, result, value
	if gen {
		d.Flags |= facts.FlagGenerator
	}
	if body >= 0 {
		d.BodyStart = e.t.Nodes[body].Start
	}
}

// parameters binds parameters in scope. Annotations and defaults are evaluated
// in the current one.
func (e *extractor) parameters(i int, scope facts.ScopeID, receiver bool) {
	order := uint32(0)
	for c := range e.children(i) {
		b := facts.Binding{Kind: facts.BindParam, Flags: e.flags, Scope: scope, Def: facts.None, Import: facts.None, Order: order}
		name := -1
		switch e.kind(c) {
		case kIdentifier:
			name = c
		case kTyped, kDefault, kTypedDefault:
			for p := range e.children(c) {
				switch {
				case e.t.Nodes[p].Field == fType:
					b.Type = e.annotation(p)
				case e.t.Nodes[p].Field == fValue:
					b.Value = e.expr(p)
					b.Flags |= facts.FlagDefault
				default:
					name = p
				}
			}
		case kSplatPattern, kDictPattern:
			name = c
		case kTuplePattern:
			e.tupleParameter(c, scope)
			order++
			continue
		default:
			continue
		}
		if name < 0 {
			continue
		}
		switch e.kind(name) {
		case kSplatPattern:
			b.Flags |= facts.FlagVariadic
			name = e.first(name)
		case kDictPattern:
			b.Flags |= facts.FlagKeyword
			name = e.first(name)
		case kTuplePattern:
			e.tupleParameter(name, scope)
			order++
			continue
		}
		if name < 0 || e.kind(name) != kIdentifier {
			continue
		}
		b.Name, b.Span = e.str(name), e.span(name)
		if receiver && order == 0 && b.Flags&(facts.FlagVariadic|facts.FlagKeyword) == 0 {
			b.Kind = facts.BindReceiver
			receiver = false
			e.bind(b)
			continue
		}
		receiver = false
		order++
		e.bind(b)
	}
}

// tupleParameter binds the names of Python 2's def f((a, b)).
func (e *extractor) tupleParameter(i int, scope facts.ScopeID) {
	for c := range e.children(i) {
		if e.kind(c) == kIdentifier {
			e.bind(facts.Binding{Kind: facts.BindParam, Flags: e.flags, Name: e.str(c), Scope: scope, Span: e.span(c), Def: facts.None, Import: facts.None})
		} else {
			e.tupleParameter(c, scope)
		}
	}
}

func (e *extractor) lambda(i int) facts.ExprID {
	owner := e.owner
	def := e.b.Def(facts.Def{
		Kind: facts.KindLambda, Flags: e.flags, Parent: owner, Scope: e.scope, Body: facts.None, Span: e.span(i),
		NameStart: e.t.Nodes[i].Start, NameEnd: e.t.Nodes[i].Start, BodyStart: e.t.Nodes[i].End,
	})
	scope := e.b.Scope(facts.Scope{Kind: facts.ScopeFunction, Parent: e.scope, Def: def, Span: e.span(i)})
	e.f.Defs[def].Body = scope
	body := -1
	for c := range e.children(i) {
		switch e.t.Nodes[c].Field {
		case fParameters:
			e.parameters(c, scope, false)
		case fBody:
			body = c
		}
	}
	if body >= 0 {
		s := e.push(scope, def, false)
		v := e.expr(body)
		e.results = append(e.results, v)
		value, _ := e.pull(s, e.span(body))
		e.f.Defs[def].Value = value
		e.f.Defs[def].BodyStart = e.t.Nodes[body].Start
	}
	return e.b.Expr(facts.Expr{Kind: facts.ExprLambda, Def: def, Span: e.span(i)})
}

func (e *extractor) class(i, whole int, decorators facts.ExprID) {
	name := e.t.Child(i, fName)
	if name < 0 {
		e.nodes(i)
		return
	}
	d := facts.Def{
		Kind: facts.KindClass, Flags: e.flags, Name: e.str(name), Parent: e.owner, Scope: e.scope, Body: facts.None,
		Span: e.span(whole), NameStart: e.t.Nodes[name].Start, NameEnd: e.t.Nodes[name].End, BodyStart: e.t.Nodes[whole].End,
		Decorators: decorators,
	}
	d.Qual = e.qualified(e.owner, d.Name)
	if e.f.Scopes[e.scope].Kind == facts.ScopeFunction {
		d.Flags |= facts.FlagLocal
	} else {
		d.Flags |= e.exported(d.Name)
	}
	if e.stub {
		d.Flags |= facts.FlagDeclare
	}
	for _, x := range e.f.Children(decorators) {
		d.Flags |= e.decoratorFlags(x) & facts.FlagDecorated
	}
	def := e.b.Def(d)
	e.bindDef(def)
	outer, owner := e.scope, e.owner
	// The site of a base is in the class: it inherits, not what surrounds it.
	e.owner = def
	body := -1
	for c := range e.children(i) {
		switch e.t.Nodes[c].Field {
		case fTypeParams:
			params := e.typeParameters(c, def)
			e.f.Defs[def].TypeParams = params
		case fSuper:
			bases := e.bases(c)
			e.f.Defs[def].Bases = bases
		case fBody:
			body = c
		default:
			if e.kind(c) != kIdentifier {
				e.node(c)
			}
		}
	}
	scope := e.b.Scope(facts.Scope{Kind: facts.ScopeClass, Parent: e.scope, Def: def, Span: e.span(i)})
	e.f.Defs[def].Body = scope
	if body >= 0 {
		e.f.Defs[def].BodyStart = e.t.Nodes[body].Start
		s := e.push(scope, def, true)
		e.node(body)
		e.pull(s, e.span(body))
	}
	e.scope, e.owner = outer, owner
}

// bases reads the arguments of a class statement: bases, and keywords such as
// metaclass.
func (e *extractor) bases(i int) facts.ExprID {
	saved := e.enter(i)
	base := len(e.kids)
	for c := range e.children(i) {
		if e.kind(c) == kKeyword {
			e.kids = append(e.kids, e.keyword(c))
			continue
		}
		e.kids = append(e.kids, e.mention(c, facts.RefInherit, e.span(c), 0))
	}
	e.flags = saved
	return e.pop(facts.Expr{Kind: facts.ExprList, Def: facts.None, Span: e.span(i)}, base)
}

// typeAlias reads `type X[T] = value`.
func (e *extractor) typeAlias(i int) {
	left, right := e.t.Child(i, fLeft), e.t.Child(i, fRight)
	name := left
	for name >= 0 && e.kind(name) != kIdentifier {
		name = e.first(name)
	}
	if name < 0 || right < 0 {
		e.nodes(i)
		return
	}
	outer := e.scope
	d := facts.Def{
		Kind: facts.KindType, Flags: e.flags, Name: e.str(name), Parent: e.owner, Scope: e.scope, Body: facts.None, Span: e.span(i),
		NameStart: e.t.Nodes[name].Start, NameEnd: e.t.Nodes[name].End, BodyStart: e.t.Nodes[i].End,
	}
	d.Qual = e.qualified(e.owner, d.Name)
	d.Flags |= e.exported(d.Name)
	def := e.b.Def(d)
	e.bindDef(def)
	for c, end := name, int(e.t.Nodes[left].Next); c < end; c++ {
		if e.kind(c) == kTypeParam {
			params := e.typeParameters(c, def)
			e.f.Defs[def].TypeParams = params
			break
		}
	}
	v := e.annotation(right)
	e.f.Defs[def].Type = v
	e.scope = outer
}
