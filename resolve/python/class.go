package python

import (
	"math"
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// class is a class of the repository with its place in the hierarchy.
type class struct {
	file int32
	def  facts.DefID

	linked  uint8 // bases: 0 not yet, 1 under way, 2 done
	bases   []int32
	args    [][]values // type arguments of each base
	outside string     // an external base that may have members, or ""
	held    values     // what an external base is, with its arguments: list[T]
	unknown bool       // a base that nobody can tell
	early   bool       // an external or unknown base stands before one of the repository
	ordered uint8
	mro     []int32
	proto   bool
	params  []string // names of its type parameters
	subs    []int32
	attrs   map[symbol][]int32 // bindings of self.x in its methods
}

// plain are external bases that have no members of interest.
var plain = words(`builtins.object typing.Generic typing.Protocol typing_extensions.Protocol abc.ABC typing.Hashable
collections.abc.Hashable typing.Sized collections.abc.Sized abc.ABCMeta typing_extensions.Generic six.with_metaclass
typing.Callable collections.abc.Callable typing.SupportsInt typing.SupportsFloat`)

func (r *resolver) linkClasses() {
	for c := range r.classes {
		r.link(int32(c))
		for _, b := range r.classes[c].bases {
			r.classes[b].subs = append(r.classes[b].subs, int32(c))
		}
	}
	for i, f := range r.files {
		for _, b := range f.attrs {
			c := r.attributed(int32(i), f, b)
			if c < 0 {
				continue
			}
			k := &r.classes[c]
			if k.attrs == nil {
				k.attrs = map[symbol][]int32{}
			}
			name := f.symbols[f.Bindings[b].Name]
			k.attrs[name] = append(k.attrs[name], b)
		}
	}
	for c := range r.classes {
		r.order(int32(c))
	}
}

// attributed gives the class whose attribute a binding like self.x = y sets, or
// -1: self is the receiver of a method of it, or the name of the class.
func (r *resolver) attributed(fi int32, f *file, binding int32) int32 {
	x := &f.Exprs[f.Bindings[binding].Target]
	if x.Kind != facts.ExprName {
		return -1
	}
	name := f.symbols[x.Name]
	for s := facts.ScopeID(x.Level); s >= 0; s = f.Scopes[s].Parent {
		head, ok := f.heads[nameKey{s, name}]
		if !ok {
			continue
		}
		b := &f.Bindings[head]
		d := facts.DefID(facts.None)
		switch b.Kind {
		case facts.BindReceiver:
			if m := f.Scopes[s].Def; m >= 0 {
				d = f.Defs[m].Parent
			}
		case facts.BindDef:
			d = b.Def
		}
		if d >= 0 {
			if c, ok := r.classOf[graph.DefRef{File: fi, Def: d}]; ok {
				return c
			}
		}
		return -1
	}
	return -1
}

// link finds the bases of a class.
func (r *resolver) link(c int32) {
	if r.classes[c].linked != 0 {
		return
	}
	r.classes[c].linked = 1
	k := r.classes[c]
	f := r.files[k.file]
	d := &f.Defs[k.def]
	for _, p := range f.Children(d.TypeParams) {
		k.params = append(k.params, f.Text(f.Exprs[p].Name))
	}
	for _, b := range f.Children(d.Bases) {
		x := &f.Exprs[b]
		if x.Kind == facts.ExprKeyword {
			continue
		}
		k = r.linkBase(k, f, b)
	}
	k.linked = 2
	subs, attrs := r.classes[c].subs, r.classes[c].attrs
	r.classes[c] = k
	r.classes[c].subs, r.classes[c].attrs = subs, attrs
}

func (r *resolver) linkBase(k class, f *file, b facts.ExprID) class {
	object := b
	var args []values
	if f.Exprs[b].Kind == facts.ExprIndex {
		object = f.Child(b, 0)
	}
	vs := r.eval(k.file, object)
	if len(vs) == 0 {
		k.unknown = true
	}
	for _, v := range vs {
		switch v.kind {
		case isClass:
			if f.Exprs[b].Kind == facts.ExprIndex {
				args = r.typeArguments(k.file, b)
			}
			if !slices.Contains(k.bases, v.class) {
				k.bases = append(k.bases, v.class)
				k.args = append(k.args, args)
				k.early = k.early || k.outside != "" || k.unknown
			}
		case isExternal:
			if strings.HasSuffix(v.name, ".Protocol") {
				k.proto = true
			}
			if f.Exprs[b].Kind == facts.ExprIndex && len(k.params) == 0 && (strings.HasSuffix(v.name, ".Generic") || strings.HasSuffix(v.name, ".Protocol")) {
				for _, a := range f.Children(b)[1:] {
					k.params = append(k.params, f.Text(f.Exprs[a].Name))
				}
			}
			if !plain[v.name] {
				if k.outside == "" {
					k.outside = v.name
				}
				if f.Exprs[b].Kind == facts.ExprIndex && len(k.held) == 0 {
					k.held = r.outsideType(v.name, r.typeArguments(k.file, b))
					k.params = typeNames(k.held, k.params, 0)
				}
			}
		case isForeign:
			if k.outside == "" {
				k.outside = "builtins." + v.name
			}
		default:
			k.unknown = true
		}
	}
	return k
}

// typeNames adds the names of the type parameters in values, in their order.
func typeNames(vs values, out []string, depth int) []string {
	for _, v := range vs {
		if v.kind == isTypeVar && !slices.Contains(out, v.name) {
			out = append(out, v.name)
		}
		for _, a := range v.args {
			if depth < maxNesting {
				out = typeNames(a, out, depth+1)
			}
		}
	}
	return out
}

// holder gives the external container that an instance is, with its type
// arguments: for class Lines(List[Text]) a list of Text.
func (r *resolver) holder(v value) values {
	for _, c := range r.order(v.class) {
		if k := &r.classes[c]; len(k.held) > 0 {
			return r.substitute(k.held, r.typeMap(v.class, v.args, c, 0))
		}
	}
	return nil
}

// order computes the method resolution order: C3 where the language accepts
// the hierarchy, else depth first.
func (r *resolver) order(c int32) []int32 {
	k := &r.classes[c]
	switch k.ordered {
	case 1:
		return nil
	case 2:
		return k.mro
	}
	k.ordered = 1
	r.link(c)
	var lists [][]int32
	k = &r.classes[c]
	bases := k.bases
	for _, b := range bases {
		if m := r.order(b); len(m) > 0 {
			lists = append(lists, m)
		}
	}
	lists = append(lists, bases)
	mro, ok := merge(lists)
	if !ok {
		mro = mro[:0]
		for _, l := range lists {
			for _, x := range l {
				if !slices.Contains(mro, x) {
					mro = append(mro, x)
				}
			}
		}
	}
	k = &r.classes[c]
	k.mro = append([]int32{c}, slices.DeleteFunc(mro, func(x int32) bool { return x == c })...)
	for _, x := range k.mro[1:] {
		b := &r.classes[x]
		if k.outside == "" {
			k.outside = b.outside
		}
		k.unknown = k.unknown || b.unknown
		k.early = k.early || b.early
	}
	k.ordered = 2
	return k.mro
}

// merge is the merge step of C3.
func merge(lists [][]int32) ([]int32, bool) {
	lists = slices.Clone(lists)
	var out []int32
	for {
		lists = slices.DeleteFunc(lists, func(l []int32) bool { return len(l) == 0 })
		if len(lists) == 0 {
			return out, true
		}
		next := int32(-1)
		for _, l := range lists {
			if !slices.ContainsFunc(lists, func(o []int32) bool { return slices.Contains(o[1:], l[0]) }) {
				next = l[0]
				break
			}
		}
		if next < 0 {
			return out, false
		}
		out = append(out, next)
		for i, l := range lists {
			if l[0] == next {
				lists[i] = l[1:]
			}
		}
	}
}

// found is a member of a class: the bindings of its name in the first class of
// the order that has any.
type found struct {
	class    int32 // that has it
	file     int32
	bindings []int32
	attrs    []int32 // self.x = y in its methods
	assigned bool    // self.x = y in the methods of a class that it inherits from
	why      why
}

// find looks a member up. after is -1, or the class after which to start, for
// super().
func (r *resolver) find(c int32, name symbol, after int32) (found, bool) {
	mro := r.order(c)
	if after >= 0 {
		i := slices.Index(mro, after)
		mro = mro[i+1:]
	}
	for i, x := range mro {
		k := &r.classes[x]
		f := r.files[k.file]
		bound := f.bindings(f.Defs[k.def].Body, name, reach{}, nil)
		attrs := k.attrs[name]
		if len(bound) == 0 && len(attrs) == 0 {
			continue
		}
		m := found{class: x, file: k.file, bindings: bound, attrs: attrs}
		if i > 0 && (r.classes[c].early || r.doubtful(mro[:i])) {
			m.why = hinted
		}
		if f.deleted(f.Defs[k.def].Body, name, bound, math.MaxUint32) {
			m.why = max(m.why, conditional)
		}
		for _, base := range mro[i+1:] {
			m.assigned = m.assigned || len(r.classes[base].attrs[name]) > 0
		}
		return m, true
	}
	return found{}, false
}

// doubtful says whether one of the classes searched before has no base but one
// that nobody can tell.
func (r *resolver) doubtful(before []int32) bool {
	for _, x := range before {
		if k := &r.classes[x]; k.unknown && len(k.bases) == 0 {
			return true
		}
	}
	return false
}

// overrides gives the definitions of a member in the subclasses of a class,
// sorted.
func (r *resolver) overrides(c int32, name symbol) []graph.DefRef {
	key := memberKey{c, name}
	if refs, ok := r.overriding[key]; ok {
		return refs
	}
	var out []graph.DefRef
	seen := map[int32]bool{c: true}
	work := slices.Clone(r.classes[c].subs)
	for len(work) > 0 {
		x := work[len(work)-1]
		work = work[:len(work)-1]
		if seen[x] {
			continue
		}
		seen[x] = true
		k := &r.classes[x]
		work = append(work, k.subs...)
		f := r.files[k.file]
		for _, b := range f.bindings(f.Defs[k.def].Body, name, reach{}, nil) {
			if d := f.Bindings[b].Def; d >= 0 {
				out = append(out, graph.DefRef{File: k.file, Def: d})
			}
		}
	}
	slices.SortFunc(out, compareRefs)
	out = slices.Compact(out)
	r.overriding[key] = out
	return out
}

func compareRefs(a, b graph.DefRef) int {
	if a.File != b.File {
		return int(a.File - b.File)
	}
	return int(a.Def - b.Def)
}

// typeMap maps the names of a class's type parameters to the arguments that an
// instance has, through the bases up to the class where a member was found.
func (r *resolver) typeMap(c int32, args []values, at int32, depth int) map[string]values {
	k := &r.classes[c]
	var m map[string]values
	for i, p := range k.params {
		if i < len(args) && len(args[i]) > 0 {
			if m == nil {
				m = map[string]values{}
			}
			m[p] = args[i]
		}
	}
	if c == at || depth > 8 {
		return m
	}
	for i, b := range k.bases {
		if !slices.Contains(r.order(b), at) {
			continue
		}
		var inherited []values
		for _, a := range k.args[i] {
			inherited = append(inherited, r.substitute(a, m))
		}
		for p, v := range r.typeMap(b, inherited, at, depth+1) {
			if m == nil {
				m = map[string]values{}
			}
			if _, ok := m[p]; !ok {
				m[p] = v
			}
		}
	}
	return m
}
