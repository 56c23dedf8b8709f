package golang

import (
	"strings"

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
	hint      bool           // the type that has it is a guess: see hinted
	iface     *typ           // selInterface: the interface that the value has
	external  string         // selExternal: what the member is
	from      *typ           // selExternal: the type that has it
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
	if t.kind == tHint {
		return r.hinted(f, t, name)
	}
	return r.level(f, []*typ{t}, name)
}

// hinted finds the member in the types that a hint names: the one that has it.
func (r *resolver) hinted(f *file, t *typ, name string) selection {
	var found selection
	for _, own := range t.results {
		s := r.sel(f, own, name)
		if s.kind != selMethod && s.kind != selField && s.kind != selInterface {
			continue
		}
		if found.kind != selUnknown {
			return selection{}
		}
		found = s
		found.hint = true
	}
	return found
}

// level searches types of one embedding depth, then what they embed.
func (r *resolver) level(f *file, current []*typ, name string) selection {
	var seen map[*named]visit
	var ext *typ
	extDepth := 0 // where ext stands, or the next depth as long as there is none
	for depth := 0; len(current) > 0 && depth < maxDepth; depth++ {
		var found selection
		var next []*typ
		count := 0
		for _, t := range current {
			if t = r.deref(t); t == nil {
				continue
			}
			if t.kind == tNamed {
				// A type met again deeper is hidden by itself; met twice at one
				// depth it is looked at twice, and its members are ambiguous.
				v, met := seen[t.named]
				if met && (v.depth < depth || v.times == 2) {
					continue
				}
				if seen == nil {
					seen = map[*named]visit{}
				}
				seen[t.named] = visit{depth, v.times + 1}
			}
			s, embedded := r.own(f, t, name)
			if s.kind == selExternal {
				if ext == nil || !mayHave(ext, name) {
					ext = s.from
				}
				continue
			}
			if s.kind != selNone {
				found = s
				count++
			}
			next = append(next, embedded...)
		}
		if ext == nil {
			extDepth = depth + 1
		}
		switch {
		case count > 1:
			return selection{kind: selAmbiguous, depth: depth}
		case count == 1:
			found.depth, found.uncertain = depth, extDepth < depth && mayHave(ext, name)
			return found
		}
		current = next
	}
	// Nobody selects what another package does not export, but for cgo's.
	if ext != nil && (isExported(name) || strings.HasPrefix(ext.name, "C.")) {
		return r.externalMember(ext, name)
	}
	return selection{kind: selNone}
}

// visit is where a type was met while searching embedded fields.
type visit struct{ depth, times int }

// small are types of the standard library that are often embedded, with all the
// members they have.
var small = map[string]map[string]bool{
	"sync.Mutex":     words("Lock TryLock Unlock"),
	"sync.RWMutex":   words("Lock TryLock Unlock RLock TryRLock RUnlock RLocker"),
	"sync.Locker":    words("Lock Unlock"),
	"sync.WaitGroup": words("Add Done Go Wait"),
	"sync.Once":      words("Do"),
	"error":          words("Error"),
	"io.Reader":      words("Read"),
	"io.Writer":      words("Write"),
	"io.Closer":      words("Close"),
	"fmt.Stringer":   words("String"),
}

// mayHave says whether an external type can have a member of this name that code
// of the repository can select.
func mayHave(t *typ, name string) bool {
	if t == nil || !isExported(name) {
		return false
	}
	members, known := small[t.name]
	return !known || members[name]
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
		if len(t.named.obj.defs) > 1 {
			return r.anyVariant(f, t, name), nil
		}
		u := r.underlying(t)
		if u == nil || u.kind == tPointer {
			return none, nil
		}
		s, embedded := r.own(f, u, name)
		if s.kind == selInterface {
			s.iface = t
		}
		return s, embedded
	case tStruct:
		return r.structMember(t, name)
	case tInterface:
		list := r.interfaceMethods(t)
		if i, ok := list.index[name]; ok {
			m := &list.methods[i]
			s := selection{kind: selInterface, t: m.t, iface: t}
			if m.def.File >= 0 {
				s.defs = []graph.DefRef{m.def}
			}
			return s, nil
		}
		if list.external != nil {
			return selection{kind: selExternal, from: list.external}, nil
		}
	case tExternal:
		return selection{kind: selExternal, from: t}, nil
	}
	return none, nil
}

// anyVariant finds the member in each definition of a type that has several,
// under different build constraints.
func (r *resolver) anyVariant(f *file, t *typ, name string) selection {
	found := selection{kind: selNone}
	if r.searching[t.named] {
		return found // it embeds itself
	}
	r.searching[t.named] = true
	defer delete(r.searching, t.named)
	for _, u := range r.variants(f, t) {
		if u = r.underlying(u); u == nil || u.kind == tPointer {
			continue
		}
		s := r.level(f, []*typ{u}, name)
		switch {
		case s.kind == selInterface && s.depth == 0:
			s.iface = t
		case s.kind == selNone || s.kind == selUnknown:
			continue
		}
		if found.kind == selNone || found.kind == selExternal {
			found = s
		} else if s.kind == found.kind {
			found.defs = append(found.defs[:len(found.defs):len(found.defs)], s.defs...)
		}
	}
	return found
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
	index    map[string]int // into methods, by name
	external *typ           // an embedded interface from outside the repository
}

type method struct {
	name string
	def  graph.DefRef // File is -1 in anonymous interfaces
	t    *typ
}

// interfaceMethods collects the methods of an interface type literal.
func (r *resolver) interfaceMethods(t *typ) *methodList {
	out := &methodList{index: map[string]int{}}
	r.collectMethods(t, out, map[literal]bool{})
	return out
}

// literal names a type literal by where it stands.
type literal struct {
	file *file
	expr facts.ExprID
}

func (r *resolver) collectMethods(t *typ, out *methodList, seen map[literal]bool) {
	if at := (literal{t.file, t.expr}); seen[at] {
		return
	} else {
		seen[at] = true
	}
	for _, k := range t.file.Children(t.expr) {
		x := &t.file.Exprs[k]
		if x.Kind == facts.ExprKeyword {
			m := method{name: t.file.Text(x.Name), def: graph.DefRef{File: -1}, t: t.env.apply(r.typeOf(t.file, t.file.Child(k, 0)))}
			if x.Level > 0 {
				m.def = graph.DefRef{File: t.file.index, Def: facts.DefID(x.Level - 1)}
			}
			if _, known := out.index[m.name]; !known {
				out.index[m.name] = len(out.methods)
				out.methods = append(out.methods, m)
			}
			continue
		}
		u := r.underlying(t.env.apply(r.typeOf(t.file, k)))
		switch {
		case u == nil:
		case u.kind == tInterface:
			r.collectMethods(u, out, seen)
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
