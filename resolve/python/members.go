package python

import (
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// dispatch adds a method with what may override it for the receiver of v. It
// is open where any subclass of the class that declares it overrides it, even
// if the receiver is known to be of another: checkers of types say the same.
func (r *resolver) dispatch(g *gathered, v value, target graph.DefRef, w why, rule string) {
	g.add(target, w, rule)
	r.open(g, target)
	f := r.files[target.File]
	name := f.symbols[f.Defs[target.Def].Name]
	if v.kind != isMethod && !v.self && v.why == proved {
		return // constructed right here: of this very class
	}
	for _, o := range r.overrides(v.class, name) {
		switch r.files[o.File].Defs[o.Def].Kind {
		case facts.KindMethod, facts.KindFunction, facts.KindClass:
			g.add(o, w, rule)
		}
	}
}

// open notes that a subclass may decide what a call of a method runs.
func (r *resolver) open(g *gathered, target graph.DefRef) {
	f := r.files[target.File]
	d := &f.Defs[target.Def]
	owner := r.ownerOf(target)
	switch {
	case d.Flags&facts.FlagAbstract != 0 || owner >= 0 && r.classes[owner].proto:
		g.open = graph.RuleInterfaceDispatch
	case owner >= 0 && g.open == "" && len(r.overrides(owner, f.symbols[d.Name])) > 0:
		g.open = graph.RuleVirtualDispatch
	}
}

// attributeTargets finds what x.name refers to.
func (r *resolver) attributeTargets(g *gathered, fi int32, f *file, ref *facts.Ref, id facts.ExprID) {
	name := f.symbols[f.Exprs[id].Name]
	vs := r.eval(fi, f.Child(id, 0))
	receivers := 0
	for _, v := range vs {
		if v.kind == isNone {
			continue
		}
		receivers++
		r.memberTargets(g, v, name, ref)
	}
	if receivers == 0 {
		g.miss(graph.ReasonDynamicReceiver)
	}
	if receivers > 1 && g.why == proved && len(g.targets) > 0 {
		g.why = ambiguous
	}
}

func (r *resolver) memberTargets(g *gathered, v value, name symbol, ref *facts.Ref) {
	text := r.syms.names[name]
	switch v.kind {
	case isModule:
		ds := r.member(moduleOf(v), name)
		for _, d := range ds {
			d.why = max(d.why, v.why)
			if d.route != reexport {
				d.route = v.route
				if d.route == lexical {
					d.route = memberOf
				}
			}
			r.declTargets(g, d, ref)
		}
		if len(ds) == 0 {
			g.miss(graph.ReasonUnresolvedMember)
		}
	case isClass, isInstance:
		m, ok := r.find(v.class, name, -1)
		if !ok {
			r.missingMember(g, v, text, ref)
			return
		}
		r.foundMember(g, v, m, ref)
	case isSuper:
		m, ok := r.find(v.class, name, v.after)
		if !ok {
			r.missingMember(g, v, text, ref)
			return
		}
		r.superMember(g, m, ref)
	case isExternal:
		reason := graph.ReasonExternalImport
		if v.recv != nil {
			reason = graph.ReasonExternalMember
		}
		g.outside(v.name+"."+text, reason)
	case isForeign:
		g.outside(v.name+"."+text, graph.ReasonExternalMember)
	case isAwaited, isContext, isCallable:
		g.outside("types."+text, graph.ReasonExternalMember)
	case isFunction, isMethod:
		if strings.HasPrefix(text, "__") {
			g.outside("types.FunctionType."+text, graph.ReasonExternalMember)
			return
		}
		g.miss(graph.ReasonDynamicReceiver)
	case isTypeVar:
		n := 0
		for _, b := range v.args {
			for _, w := range b {
				if w.kind == isInstance || w.kind == isForeign {
					n++
					r.memberTargets(g, w, name, ref)
				}
			}
		}
		if n == 0 {
			g.miss(graph.ReasonDynamicReceiver)
		}
	default:
		g.miss(graph.ReasonDynamicReceiver)
	}
}

// missingMember says what it means that no class of the repository has a
// member.
func (r *resolver) missingMember(g *gathered, v value, text string, ref *facts.Ref) {
	k := &r.classes[v.class]
	if v.self && k.outside == "" && !k.unknown && r.mixedIn(g, v, text, ref) {
		return
	}
	if _, ok := r.find(v.class, r.well.getattr, -1); ok {
		g.miss(graph.ReasonDynamicReceiver)
		return
	}
	switch {
	case k.unknown:
		g.miss(graph.ReasonDynamicReceiver)
	case k.outside != "":
		g.outside(k.outside+"."+text, graph.ReasonExternalMember)
	case objectMembers[text] || v.kind == isClass && typeMembers[text]:
		g.outside("builtins.object."+text, graph.ReasonExternalMember)
	default:
		g.miss(graph.ReasonUnresolvedMember)
	}
}

// maxMixins bounds how many subclasses of a mixin are looked at.
const maxMixins = 64

// mixedIn finds a member that a mixin takes for granted in the classes that
// mix it in. Which of them the receiver is of, nobody knows: candidates.
func (r *resolver) mixedIn(g *gathered, v value, text string, ref *facts.Ref) bool {
	if v.kind == isSuper {
		return false
	}
	name := r.syms.id(text)
	known := false
	for _, c := range r.below(v.class, maxMixins) {
		m, ok := r.find(c, name, -1)
		if !ok {
			if out := r.classes[c].outside; out != "" && !known {
				g.outside(out+"."+text, graph.ReasonExternalMember)
				known = true
			}
			continue
		}
		f := r.files[m.file]
		for _, b := range m.bindings {
			d := f.Bindings[b].Def
			if d < 0 {
				continue
			}
			if k := f.Defs[d].Kind; k == facts.KindMethod || k == facts.KindFunction || k == facts.KindClass || ref.Kind == facts.RefUse {
				g.add(graph.DefRef{File: m.file, Def: d}, hinted, graph.RuleMixinMember)
				g.open = graph.RuleMixinMember
			}
		}
		if len(g.targets) == 0 && ref.Kind == facts.RefUse {
			g.local, known = true, true
		}
	}
	if len(g.targets) > 0 {
		g.external = ""
	}
	return known || len(g.targets) > 0
}

// below gives the subclasses of a class, nearest first, at most n.
func (r *resolver) below(c int32, n int) []int32 {
	out := []int32{}
	work := []int32{c}
	for len(work) > 0 && len(out) < n {
		next := work[0]
		work = work[1:]
		for _, s := range r.classes[next].subs {
			if s != c && !slices.Contains(out, s) && len(out) < n {
				out = append(out, s)
				work = append(work, s)
			}
		}
	}
	return out
}

var objectMembers = words(`__class__ __delattr__ __dict__ __dir__ __doc__ __eq__ __format__ __ge__ __getattribute__ __gt__ __hash__
__init__ __init_subclass__ __le__ __lt__ __module__ __ne__ __new__ __reduce__ __reduce_ex__ __repr__ __setattr__ __sizeof__
__slots__ __str__ __subclasshook__ __weakref__ __getstate__ __annotations__ __dataclass_fields__ __wrapped__ __post_init__`)

var typeMembers = words(`__name__ __qualname__ __bases__ __mro__ mro __subclasses__ __base__ __abstractmethods__ __call__ __members__`)

// foundMember adds the definition of a member of a class or instance.
func (r *resolver) foundMember(g *gathered, v value, m found, ref *facts.Ref) {
	f := r.files[m.file]
	w := max(v.why, m.why)
	if len(m.bindings) > 1 {
		w = max(w, conditional)
	}
	rule := graph.RuleReceiverType
	switch {
	case v.kind == isClass:
		rule = graph.RuleClassMember
		if v.self {
			rule = graph.RuleSelfMember
		}
	case v.self:
		rule = graph.RuleSelfMember
	}
	defined := false
	for _, b := range m.bindings {
		d := f.Bindings[b].Def
		if d < 0 {
			// an import in the body of the class
			for _, v := range r.boundValue(m.file, b) {
				r.calledValue(g, v, rule)
				defined = true
			}
			continue
		}
		target := graph.DefRef{File: m.file, Def: d}
		def := &f.Defs[d]
		switch def.Kind {
		case facts.KindMethod, facts.KindFunction:
			defined = true
			if len(m.attrs) > 0 || m.assigned {
				w = max(w, rebindable)
			}
			if def.Flags&facts.FlagProperty != 0 && ref.Kind == facts.RefCall {
				r.calledProperty(g, v, target, ref)
				continue
			}
			if ref.Kind == facts.RefCall && !r.kept(target) {
				g.open = graph.RuleDecorated
			}
			if v.kind == isClass && !v.self {
				g.add(target, w, rule)
				continue
			}
			r.dispatch(g, v, target, w, rule)
		case facts.KindClass:
			defined = true
			g.add(target, w, rule)
		default:
			if ref.Kind == facts.RefUse {
				defined = true
				if v.kind == isInstance {
					w = max(w, hinted)
				}
				g.add(target, w, rule)
			}
		}
	}
	if defined {
		return
	}
	if ref.Kind == facts.RefUse {
		g.local = true // data of the instance
		return
	}
	before := len(g.targets)
	outside := ""
	named := true
	for _, b := range append(m.bindings[:len(m.bindings):len(m.bindings)], m.attrs...) {
		named = named && r.alias(m.file, b)
	}
	for _, w := range r.memberValues(v, m) {
		w.why = max(w.why, hinted)
		if w.kind == isExternal || w.kind == isForeign {
			outside = w.name
			continue
		}
		if !named {
			continue
		}
		r.calledValue(g, w, graph.RuleReceiverHint)
	}
	if len(g.targets) == before {
		if outside != "" {
			g.outside(outside, graph.ReasonExternalMember)
		} else {
			g.miss(graph.ReasonDynamicCall)
		}
	}
}

// calledProperty adds what a property that is called at once gives.
func (r *resolver) calledProperty(g *gathered, v value, target graph.DefRef, ref *facts.Ref) {
	before := len(g.targets)
	for _, w := range r.taken(v, target) {
		w.why = max(w.why, hinted)
		r.calledValue(g, w, graph.RuleReceiverHint)
	}
	if len(g.targets) == before {
		g.miss(graph.ReasonDynamicCall)
	}
}

// superMember adds the member that super() finds: the one that the source
// names, whatever a sibling in some subclass's order may put between.
func (r *resolver) superMember(g *gathered, m found, ref *facts.Ref) {
	f := r.files[m.file]
	w := m.why
	if len(m.bindings) > 1 {
		w = max(w, conditional)
	}
	for _, b := range m.bindings {
		d := f.Bindings[b].Def
		if d < 0 {
			continue
		}
		target := graph.DefRef{File: m.file, Def: d}
		switch def := &f.Defs[d]; def.Kind {
		case facts.KindMethod, facts.KindFunction, facts.KindClass:
			g.add(target, w, graph.RuleSuperMember)
		default:
			if ref.Kind == facts.RefUse {
				g.add(target, w, graph.RuleSuperMember)
			}
		}
	}
	if len(g.targets) == 0 {
		if ref.Kind == facts.RefUse {
			g.local = true
		} else {
			g.miss(graph.ReasonDynamicCall)
		}
	}
}
