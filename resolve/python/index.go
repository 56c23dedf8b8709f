package python

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
)

// symbol is a name, numbered the same in all files.
type symbol uint32

// symbols numbers names.
type symbols struct {
	ids   map[string]symbol
	names []string
}

func (s *symbols) id(name string) symbol {
	if id, ok := s.ids[name]; ok {
		return id
	}
	id := symbol(len(s.names))
	s.names = append(s.names, name)
	s.ids[name] = id
	return id
}

// file is one file with what resolution looks up in it again and again.
type file struct {
	*facts.File
	symbols  []symbol // of each string
	package_ bool     // it is an __init__ file
	dir      string

	// heads and next chain the bindings of a name in a scope, last one first.
	heads map[nameKey]int32
	next  []int32
	// narrows chains BindNarrow bindings likewise.
	narrows map[nameKey]int32
	deletes map[nameKey][]uint32 // offsets of del x, in the order of the source
	first   []int32              // the first binding of each scope, or -1
	stars   []facts.ImportID     // star imports at module level
	attrs   []int32              // BindAttr bindings

	allKnown bool // __all__ is static
	all      map[symbol]bool
	allFrom  []facts.ExprID // expressions of __all__ of other modules

	exprs    []int32  // memo of expressions: 0 not yet, -1 under way, n known[n-1]
	bound    []int32  // memo of bindings, likewise
	known    []values // memo pool
	imported []int32  // memo of imports: index into resolver.found
}

type nameKey struct {
	scope facts.ScopeID
	name  symbol
}

func newFile(f *facts.File, syms *symbols) *file {
	x := &file{File: f, dir: folder(f.Path)}
	base := f.Path[len(x.dir):]
	x.package_ = base == "/__init__.py" || base == "/__init__.pyi" || base == "__init__.py" || base == "__init__.pyi"
	x.symbols = make([]symbol, len(f.Strings))
	for i, s := range f.Strings {
		x.symbols[i] = syms.id(s)
	}
	x.heads = make(map[nameKey]int32, len(f.Bindings))
	x.next = make([]int32, len(f.Bindings))
	x.imported = make([]int32, len(f.Imports))
	x.first = make([]int32, len(f.Scopes))
	for i := range x.first {
		x.first[i] = -1
	}
	for i := range f.Bindings {
		b := &f.Bindings[i]
		if x.first[b.Scope] < 0 {
			x.first[b.Scope] = int32(i)
		}
		heads := x.heads
		switch b.Kind {
		case facts.BindAttr:
			x.attrs = append(x.attrs, int32(i))
			continue
		case facts.BindNarrow:
			if x.narrows == nil {
				x.narrows = map[nameKey]int32{}
			}
			heads = x.narrows
		case facts.BindDelete:
			if x.deletes == nil {
				x.deletes = map[nameKey][]uint32{}
			}
			key := nameKey{b.Scope, x.symbols[b.Name]}
			x.deletes[key] = append(x.deletes[key], b.Start)
			continue
		}
		key := nameKey{b.Scope, x.symbols[b.Name]}
		if head, ok := heads[key]; ok {
			x.next[i] = head
		} else {
			x.next[i] = -1
		}
		heads[key] = int32(i)
	}
	for i := range f.Imports {
		if f.Imports[i].Kind == facts.ImportStar && f.Imports[i].Scope == 0 {
			x.stars = append(x.stars, facts.ImportID(i))
		}
	}
	for i := range f.Exports {
		e := &f.Exports[i]
		if e.Kind != facts.ExportAll {
			continue
		}
		x.allKnown = true
		if e.Value != 0 {
			x.allFrom = append(x.allFrom, e.Value)
			continue
		}
		if x.all == nil {
			x.all = map[symbol]bool{}
		}
		x.all[x.symbols[e.Name]] = true
	}
	return x
}

// reach says from where a name is read.
type reach struct {
	at     uint32 // offset of the mention
	inside bool   // in the very scope that binds it: order matters
}

// bindings gives the bindings of a name in a scope that may be in force, in the
// order of the source. An assignment later in the same straight line replaces
// those before it; one in a branch does not.
func (x *file) bindings(scope facts.ScopeID, name symbol, from reach, out []int32) []int32 {
	head, ok := x.heads[nameKey{scope, name}]
	if !ok {
		return out
	}
	start := len(out)
	for i := head; i >= 0; i = x.next[i] {
		b := &x.Bindings[i]
		if from.inside && !x.precedes(b, from.at) {
			continue
		}
		if b.Kind == facts.BindDef && x.updates(b) && x.next[i] >= 0 {
			continue // @x.setter and its kin: the property is defined by the first
		}
		out = append(out, i)
		if x.settles(b, from) {
			break
		}
	}
	if len(out) == start && from.inside && (x.Scopes[scope].Kind != facts.ScopeClass || x.Bindings[head].Order > from.at) {
		// Read before it is bound in the text: a loop comes round again.
		return x.bindings(scope, name, reach{at: from.at}, out)
	}
	for i, j := start, len(out)-1; i < j; i, j = i+1, j-1 {
		out[i], out[j] = out[j], out[i]
	}
	return out
}

// deleted says whether a name is deleted between its last of some bindings and
// an offset.
func (x *file) deleted(scope facts.ScopeID, name symbol, bound []int32, at uint32) bool {
	for _, d := range x.deletes[nameKey{scope, name}] {
		if d < at && (len(bound) == 0 || d > x.Bindings[bound[len(bound)-1]].Start) {
			return true
		}
	}
	return false
}

// precedes says whether a binding is made before the mention at an offset.
func (x *file) precedes(b *facts.Binding, at uint32) bool {
	switch b.Kind {
	case facts.BindParam, facts.BindReceiver, facts.BindTypeParam, facts.BindGlobal, facts.BindNonlocal:
		return true
	}
	if b.Start >= at {
		return false
	}
	return b.Value == 0 || b.Kind == facts.BindFor || at >= x.Exprs[b.Value].End || at < x.Exprs[b.Value].Start
}

// settles says whether no earlier binding can be in force after this one.
func (x *file) settles(b *facts.Binding, from reach) bool {
	switch b.Kind {
	case facts.BindParam, facts.BindReceiver, facts.BindTypeParam, facts.BindGlobal, facts.BindNonlocal:
		return true
	}
	if b.Kind == facts.BindVar && x.rewraps(b) {
		return false
	}
	return b.Order == 0 || from.inside && from.at < b.Order
}

// rewraps says whether a binding is like C = decorate(C): what the name meant
// before is still what it is about.
func (x *file) rewraps(b *facts.Binding) bool {
	if b.Value == 0 || x.Scopes[b.Scope].Kind == facts.ScopeFunction || x.Exprs[b.Value].Kind != facts.ExprCall {
		return false
	}
	work := x.Children(b.Value)[1:]
	for depth := 0; len(work) > 0 && depth < 4; depth++ {
		a := work[0]
		switch e := &x.Exprs[a]; e.Kind {
		case facts.ExprName:
			return e.Name == b.Name
		case facts.ExprCall:
			work = x.Children(a)[1:]
		default:
			return false
		}
	}
	return false
}

// updates says whether a definition adds to the one before it: a property's
// setter, getter or deleter.
func (x *file) updates(b *facts.Binding) bool {
	d := &x.Defs[b.Def]
	if d.Decorators == 0 {
		return false
	}
	for _, c := range x.Children(d.Decorators) {
		e := &x.Exprs[c]
		if e.Kind == facts.ExprAttr && x.Exprs[x.Child(c, 0)].Kind == facts.ExprName && x.Exprs[x.Child(c, 0)].Name == d.Name {
			switch x.Text(e.Name) {
			case "setter", "getter", "deleter":
				return true
			}
		}
	}
	return false
}

// narrowed gives the class expression that a name is known to be an instance of
// at an offset, or 0: the innermost region wins.
func (x *file) narrowed(scope facts.ScopeID, name symbol, at uint32) facts.ExprID {
	if x.narrows == nil {
		return 0
	}
	for s := scope; s >= 0; s = x.Scopes[s].Parent {
		head, ok := x.narrows[nameKey{s, name}]
		if ok {
			for i := head; i >= 0; i = x.next[i] {
				if b := &x.Bindings[i]; b.Start <= at && at < b.Order && !x.rebound(b, at) {
					return b.Type
				}
			}
		}
		if _, bound := x.heads[nameKey{s, name}]; bound {
			return 0
		}
	}
	return 0
}

// rebound says whether a narrowed name is assigned between the start of the
// region and an offset.
func (x *file) rebound(n *facts.Binding, at uint32) bool {
	head, ok := x.heads[nameKey{n.Scope, x.symbols[n.Name]}]
	if !ok {
		return false
	}
	for i := head; i >= 0; i = x.next[i] {
		b := &x.Bindings[i]
		if b.Start >= n.Start && b.Start < at && x.precedes(b, at) && b.Kind != facts.BindParam && b.Kind != facts.BindReceiver {
			return true
		}
	}
	return false
}

// parameters gives the bindings of the parameters of a function.
func (x *file) parameters(d *facts.Def) []facts.Binding {
	if d.Body < 0 || x.first[d.Body] < 0 {
		return nil
	}
	start := x.first[d.Body]
	end := start
	for int(end) < len(x.Bindings) {
		if k := x.Bindings[end].Kind; k != facts.BindParam && k != facts.BindReceiver {
			break
		}
		end++
	}
	return x.Bindings[start:end]
}

// enclosing gives the definition whose body a scope belongs to, classes and
// functions only, or None for the module.
func (x *file) enclosing(scope facts.ScopeID) facts.DefID {
	for s := scope; s > 0; s = x.Scopes[s].Parent {
		if d := x.Scopes[s].Def; d >= 0 && x.Defs[d].Kind != facts.KindLambda {
			return d
		}
	}
	return facts.None
}

// classAround gives the class in whose method a scope stands, or None.
func (x *file) classAround(scope facts.ScopeID) facts.DefID {
	for d := x.enclosing(scope); d >= 0; d = x.Defs[d].Parent {
		if x.Defs[d].Kind == facts.KindClass {
			return d
		}
	}
	return facts.None
}
