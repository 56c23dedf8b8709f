package golang

import (
	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// selKind is what a selector x.f came to.
type selKind uint8

const (
	selUnknown   selKind = iota // the type of x is not known
	selNone                     // the type has no such member
	selExternal                 // declared outside the repository
	selMethod                   // a method of a concrete type
	selInterface                // a method of an interface
	selField
	selAmbiguous // several at the same depth
)

// selection is the meaning of a selector.
type selection struct {
	kind      selKind
	defs      []graph.DefRef // several under different build constraints; none for members of anonymous types
	t         *typ           // type of the member
	depth     int            // how many embedded fields lead to it
	uncertain bool           // an external type embedded nearer may have a member of the name
	iface     *typ           // selInterface: the interface that the value has
	external  string
}

// sel finds the member of a type, as seen by file f (nil sees all): the
// shallowest one in the type and the types that it embeds.
func (r *resolver) sel(f *file, t *typ, name string) selection {
	if t == nil {
		return selection{}
	}
	t = r.deref(defaulted(t))
	if t != nil && t.kind == tParam {
		if t.bound == nil {
			return selection{}
		}
		if s := r.level(f, []*typ{t.bound}, name); s.kind != selNone {
			return s
		}
		t = r.core(t)
	}
	if t == nil {
		return selection{}
	}
	return r.level(f, []*typ{t}, name)
}

// level searches types of one embedding depth, then what they embed.
func (r *resolver) level(f *file, current []*typ, name string) selection {
	var seen map[*named]bool
	var ext *typ
	for depth := 0; len(current) > 0 && depth < maxDepth; depth++ {
		var found selection
		var next []*typ
		count := 0
		for _, t := range current {
			if t = r.deref(t); t == nil {
				continue
			}
			if t.kind == tNamed {
				if seen[t.named] {
					continue
				}
				if seen == nil {
					seen = map[*named]bool{}
				}
				seen[t.named] = true
			}
			s, embedded := r.own(f, t, name)
			if s.kind == selExternal {
				if ext == nil {
					ext = t
				}
				continue
			}
			if s.kind != selNone {
				found = s
				count++
			}
			next = append(next, embedded...)
		}
		switch {
		case count > 1:
			return selection{kind: selAmbiguous, depth: depth}
		case count == 1:
			found.depth, found.uncertain = depth, ext != nil && depth > 0
			return found
		}
		current = next
	}
	if ext != nil {
		return r.externalMember(ext, name)
	}
	return selection{kind: selNone}
}

// own finds the member that a type itself has, and the types that it embeds.
func (r *resolver) own(f *file, t *typ, name string) (selection, []*typ) {
	none := selection{kind: selNone}
	switch t.kind {
	case tNamed:
		if defs := t.named.methods[name]; len(defs) > 0 {
			if f != nil {
				defs = r.visibleDefs(f, defs)
			}
			if len(defs) > 0 {
				g, _ := r.def(defs[0])
				return selection{kind: selMethod, defs: defs, t: r.env(t.named, t.args).apply(r.funcType(g, defs[0].Def))}, nil
			}
		}
		under := r.variants(f, t)
		var found selection
		var embedded []*typ
		for _, u := range under {
			if u == nil {
				continue
			}
			if u.kind == tPointer || u.kind == tNamed {
				u = r.underlying(u)
				if u == nil || u.kind == tPointer {
					continue
				}
			}
			s, e := r.own(f, u, name)
			if s.kind == selInterface {
				s.iface = t
			}
			if s.kind != selNone {
				if found.kind == selUnknown {
					found = s
				} else {
					found.defs = append(found.defs[:len(found.defs):len(found.defs)], s.defs...)
				}
			}
			embedded = append(embedded, e...)
		}
		if found.kind != selUnknown {
			return found, nil
		}
		return none, embedded
	case tStruct:
		return r.structMember(t, name)
	case tInterface:
		list := r.interfaceMethods(t)
		for i := range list.methods {
			if m := &list.methods[i]; m.name == name {
				s := selection{kind: selInterface, t: m.t, iface: t}
				if m.def.File >= 0 {
					s.defs = []graph.DefRef{m.def}
				}
				return s, nil
			}
		}
		if list.external != nil {
			return selection{kind: selExternal}, nil
		}
	case tExternal:
		return selection{kind: selExternal}, nil
	}
	return none, nil
}

// variants gives the underlying types of a named type, one for each definition
// of it that a file can mean.
func (r *resolver) variants(f *file, t *typ) []*typ {
	defs := t.named.obj.defs
	if len(defs) == 1 {
		return []*typ{r.underlying(t)}
	}
	if f != nil {
		if seen := r.visibleDefs(f, defs); len(seen) > 0 {
			defs = seen
		}
	}
	var out []*typ
	for _, d := range defs {
		if g, def := r.def(d); isTypeKind(def.Kind) {
			out = append(out, r.env(t.named, t.args).apply(r.typeOf(g, def.Type)))
		}
	}
	return out
}

func (r *resolver) structMember(t *typ, name string) (selection, []*typ) {
	var embedded []*typ
	for _, k := range t.file.Children(t.expr) {
		x := &t.file.Exprs[k]
		if t.file.Text(x.Name) == name {
			s := selection{kind: selField, t: t.env.apply(r.typeOf(t.file, t.file.Child(k, 0)))}
			if x.Level > 0 {
				s.defs = []graph.DefRef{{File: t.file.index, Def: facts.DefID(x.Level - 1)}}
			}
			return s, nil
		}
		if x.Flags&facts.FlagEmbedded != 0 {
			if e := r.typeOf(t.file, t.file.Child(k, 0)); e != nil {
				embedded = append(embedded, t.env.apply(e))
			}
		}
	}
	return selection{kind: selNone}, embedded
}

// methodList is the methods of an interface, with those of embedded ones.
type methodList struct {
	methods  []method
	external *typ // an embedded interface from outside the repository
}

type method struct {
	name string
	def  graph.DefRef // File is -1 in anonymous interfaces
	t    *typ
}

// interfaceMethods collects the methods of an interface type literal.
func (r *resolver) interfaceMethods(t *typ) *methodList {
	out := &methodList{}
	r.collectMethods(t, out, 0)
	return out
}

func (r *resolver) collectMethods(t *typ, out *methodList, depth int) {
	if depth > 50 {
		return
	}
	for _, k := range t.file.Children(t.expr) {
		x := &t.file.Exprs[k]
		if x.Kind == facts.ExprKeyword {
			m := method{name: t.file.Text(x.Name), def: graph.DefRef{File: -1}, t: t.env.apply(r.typeOf(t.file, t.file.Child(k, 0)))}
			if x.Level > 0 {
				m.def = graph.DefRef{File: t.file.index, Def: facts.DefID(x.Level - 1)}
			}
			known := false
			for i := range out.methods {
				known = known || out.methods[i].name == m.name
			}
			if !known {
				out.methods = append(out.methods, m)
			}
			continue
		}
		u := r.underlying(t.env.apply(r.typeOf(t.file, k)))
		switch {
		case u == nil:
		case u.kind == tInterface:
			r.collectMethods(u, out, depth+1)
		case u.kind == tExternal && u != tComparable && u != tAny && out.external == nil:
			out.external = u
		}
	}
}

// methodsOf gives the methods of a type that is an interface, or nil.
func (r *resolver) methodsOf(t *typ) *methodList {
	if t.kind == tNamed && len(t.args) == 0 {
		if t.named.ifaces == nil {
			if u := r.underlying(t); u != nil && u.kind == tInterface {
				t.named.ifaces = r.interfaceMethods(u)
			}
		}
		return t.named.ifaces
	}
	if u := r.underlying(t); u != nil && u.kind == tInterface {
		return r.interfaceMethods(u)
	}
	return nil
}
