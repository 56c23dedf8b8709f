package ecma

import (
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// maxCandidates bounds the targets of one site. The declaration that the source
// names always is one of them; those beyond the bound are counted.
const maxCandidates = 64

func resolved(rule string, d graph.DefRef) graph.Verdict {
	return graph.Verdict{Outcome: graph.OutcomeResolved, Rule: rule, Targets: []graph.DefRef{d}}
}

func candidates(rule string, defs []graph.DefRef) graph.Verdict {
	declared := defs[0]
	defs = sortDefs(slices.Clone(defs))
	omitted := max(len(defs)-maxCandidates, 0)
	if kept := defs[:len(defs)-omitted]; omitted > 0 && !slices.Contains(kept, declared) {
		kept[len(kept)-1] = declared
	}
	return graph.Verdict{Outcome: graph.OutcomeCandidate, Rule: rule, Targets: defs[:len(defs)-omitted], Omitted: omitted}
}

func unresolved(reason string) graph.Verdict {
	return graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: reason}
}

func external(reason, target string) graph.Verdict {
	return graph.Verdict{Outcome: graph.OutcomeExternal, Reason: reason, Target: target}
}

// verdict resolves one reference.
func (r *resolver) verdict(x *file, j int32) graph.Verdict {
	v := r.judge(x, j)
	if v.Outcome == graph.OutcomeResolved && x.f.Refs[j].Flags&facts.FlagDamaged != 0 {
		v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RulePartialParse
	}
	if v.Outcome == graph.OutcomeResolved && x.f.Refs[j].Kind != facts.RefImport && x.f.Refs[j].Flags&facts.FlagConditional != 0 {
		v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RuleConditionalBinding
	}
	// What was declared in a damaged region is not proven either.
	if v.Outcome == graph.OutcomeResolved {
		if t := v.Targets[0]; t.Def >= 0 && r.def(t).Flags&facts.FlagDamaged != 0 {
			v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RulePartialParse
		}
	}
	return v
}

func (r *resolver) judge(x *file, j int32) graph.Verdict {
	ref := &x.f.Refs[j]
	switch ref.Kind {
	case facts.RefImport:
		return r.importVerdict(x, j, ref)
	case facts.RefCall:
		return r.callVerdict(x, ref)
	case facts.RefInherit:
		return r.nameVerdict(x, ref, inTypes)
	}
	sp := inValues
	if ref.Flags&facts.FlagTypeOnly != 0 && x.f.Exprs[ref.Expr].Kind != facts.ExprName {
		sp = inTypes
	}
	return r.nameVerdict(x, ref, sp)
}

func (r *resolver) importVerdict(x *file, j int32, ref *facts.Ref) graph.Verdict {
	f := x.f
	if id, ok := x.importRef[j]; ok && f.Imports[id].Kind != facts.ImportDynamic && ref.Expr == 0 {
		im := &f.Imports[id]
		first, second := inValues, inTypes
		if im.Flags&facts.FlagTypeOnly != 0 {
			first, second = second, first
		}
		e := r.imported(x, id, first)
		if e.kind == entNone || e.kind == entGlobal { // a type may be named as a value of the platform is
			if o := r.imported(x, id, second); o.kind != entNone {
				e = o
			}
		}
		return r.entityVerdict(e)
	}
	if k, ok := x.exportRef[j]; ok && f.Exports[k].Kind == facts.ExportFrom {
		e := r.exportEntry(x, &f.Exports[k], inValues)
		if e.kind == entNone || e.kind == entGlobal {
			if o := r.exportEntry(x, &f.Exports[k], inTypes); o.kind != entNone {
				e = o
			}
		}
		return r.entityVerdict(e)
	}
	spec := f.Text(ref.Name)
	m := r.resolveModule(x.i, spec)
	if m.file < 0 {
		return r.entityVerdict(outside(m, spec, ""))
	}
	return resolved(m.rule, graph.DefRef{File: m.file, Def: graph.FileDef})
}

// entityVerdict is the verdict on a name that means an entity.
func (r *resolver) entityVerdict(e entity) graph.Verdict {
	switch e.kind {
	case entDefs:
		return r.defsVerdict(e)
	case entLocal, entParam:
		return graph.Verdict{Outcome: graph.OutcomeLocal}
	case entModule:
		return resolved(ruleOr(e.rule, graph.RuleESMImport), graph.DefRef{File: e.file, Def: graph.FileDef})
	case entExternal:
		return external(reasonOr(e.reason, graph.ReasonExternalImport), e.name)
	case entGlobal:
		return external(graph.ReasonExternalGlobal, e.name)
	}
	return unresolved(reasonOr(e.reason, graph.ReasonUnresolvedName))
}

func ruleOr(rule, or string) string {
	if rule != "" {
		return rule
	}
	return or
}

func reasonOr(reason, or string) string {
	if reason != "" {
		return reason
	}
	return or
}

// defsVerdict is the verdict on a name that means declarations. Declarations
// that merge are one answer; two functions with bodies are not.
func (r *resolver) defsVerdict(e entity) graph.Verdict {
	defs := r.primaryFirst(e.defs)
	rule := ruleOr(e.rule, graph.RuleLexicalBinding)
	var bodies []graph.DefRef
	for _, d := range defs {
		def := r.def(d)
		if def.Kind == facts.KindFunction && def.Flags&facts.FlagOverload == 0 && def.Body >= 0 {
			bodies = append(bodies, d)
		}
	}
	switch {
	case len(bodies) > 1:
		return candidates(graph.RuleAmbiguousBinding, bodies)
	case e.weak:
		return candidates(graph.RuleConditionalBinding, defs[:1])
	case r.def(defs[0]).Kind == facts.KindFunction && r.def(defs[0]).Flags&facts.FlagRebound != 0:
		return candidates(graph.RuleConditionalBinding, defs[:1])
	}
	return resolved(rule, defs[0])
}

// nameVerdict is the verdict on a mention that is no call.
func (r *resolver) nameVerdict(x *file, ref *facts.Ref, sp space) graph.Verdict {
	f := x.f
	id := ref.Expr
	if id == 0 {
		return unresolved(graph.ReasonUnresolvedName)
	}
	e := &f.Exprs[id]
	switch e.Kind {
	case facts.ExprName, facts.ExprTypeName:
		if ref.Kind == facts.RefInherit && e.Kind == facts.ExprName {
			sp = inValues
		}
		got := r.lookup(x, ref.Scope, e.Name, sp)
		if got.kind == entNone || sp == inValues && got.kind == entGlobal {
			if o := r.lookup(x, ref.Scope, e.Name, 1-sp); o.kind == entDefs || o.kind == entExternal || o.kind == entModule {
				got = o
			}
		}
		if sp == inTypes && got.kind == entNone {
			return external(graph.ReasonExternalGlobal, f.Text(e.Name)) // a type of the platform's library, or of ambient declarations
		}
		return r.entityVerdict(got)
	case facts.ExprAttr:
		if sp == inTypes || e.Flags&facts.FlagTypeOnly != 0 {
			return r.entityVerdict(r.entityOf(x, id, inTypes))
		}
		v := r.memberVerdict(x, ref, id, false)
		if ref.Kind == facts.RefInherit && v.Outcome == graph.OutcomeUnresolved {
			if o := r.entityOf(x, id, inTypes); o.kind != entNone {
				return r.entityVerdict(o)
			}
		}
		return v
	}
	return unresolved(graph.ReasonDynamicReceiver)
}

func (r *resolver) callVerdict(x *file, ref *facts.Ref) graph.Verdict {
	f := x.f
	id := ref.Expr
	e := &f.Exprs[id]
	for e.Kind == facts.ExprAssert || e.Kind == facts.ExprIndex && e.Flags&facts.FlagTypeOnly != 0 {
		id = f.Child(id, 0)
		e = &f.Exprs[id]
	}
	switch e.Kind {
	case facts.ExprName:
		got := r.lookup(x, ref.Scope, e.Name, inValues)
		switch got.kind {
		case entLocal, entParam:
			return r.localCall(x, got)
		case entModule:
			if got.cjs {
				if o := r.exportOf(got.file, "export=", inValues); o.kind == entDefs {
					o.rule = graph.RuleCommonJSRequire
					return r.defsVerdict(o)
				}
			}
			return unresolved(graph.ReasonDynamicCall)
		case entDefs:
			if r.isValue(got.defs[0]) {
				return unresolved(graph.ReasonDynamicCall)
			}
		}
		return r.entityVerdict(got)
	case facts.ExprAttr:
		return r.memberVerdict(x, ref, id, true)
	case facts.ExprSuper:
		return r.superCall(x, e)
	}
	return unresolved(graph.ReasonDynamicCall)
}

// isValue says whether a definition is a value that a call does not name: a
// variable that was taken out of something, an enum member.
func (r *resolver) isValue(d graph.DefRef) bool {
	def := r.def(d)
	switch def.Kind {
	case facts.KindEnumMember, facts.KindField:
		return true
	case facts.KindConstant, facts.KindVariable:
		switch r.files[d.File].f.Exprs[def.Value].Kind {
		case facts.ExprMember, facts.ExprUnpack, facts.ExprRest:
			return true
		}
	}
	return false
}

// localCall is the verdict on a call of a parameter or a local variable: what
// it holds is known only when it runs, unless it is plainly something outside.
func (r *resolver) localCall(x *file, e entity) graph.Verdict {
	b := &x.f.Bindings[e.binding]
	if b.Kind != facts.BindParam {
		if t := r.bindingType(x, e.binding); t != nil && t.k == kExternal {
			return external(graph.ReasonExternalMember, t.name)
		}
	}
	return unresolved(graph.ReasonDynamicCall)
}

func (r *resolver) superCall(x *file, e *facts.Expr) graph.Verdict {
	if e.Def < 0 {
		return unresolved(graph.ReasonDynamicCall)
	}
	def := &x.f.Defs[e.Def]
	if def.Bases != 0 {
		for _, b := range x.f.Children(def.Bases) {
			if r.implements(x, def, b) {
				continue
			}
			if x.f.Exprs[b].Kind == facts.ExprIndex {
				b = x.f.Child(b, 0)
			}
			got := r.entityOf(x, b, inValues)
			switch got.kind {
			case entDefs:
				if k := r.def(got.defs[0]).Kind; k != facts.KindClass {
					return unresolved(graph.ReasonDynamicCall)
				}
				got.rule = graph.RuleSuperMember
				return r.defsVerdict(got)
			case entLocal:
				return unresolved(graph.ReasonDynamicCall)
			case entNone:
				return unresolved(reasonOr(got.reason, graph.ReasonDynamicCall))
			}
			return r.entityVerdict(got)
		}
	}
	return unresolved(graph.ReasonDynamicCall)
}

// memberVerdict is the verdict on a.b, called or not.
func (r *resolver) memberVerdict(x *file, ref *facts.Ref, id facts.ExprID, call bool) graph.Verdict {
	f := x.f
	name := f.Text(f.Exprs[id].Name)
	obj := f.Child(id, 0)
	t := r.valueOf(x, obj, nil)
	if t == nil {
		// What the platform's globals hold is theirs.
		return unresolved(graph.ReasonDynamicReceiver)
	}
	m := r.member(t, name)
	if m == nil && f.Exprs[obj].Kind == facts.ExprName {
		// What was assigned to a member of it: app.use = function () {}.
		if got := r.memberEntity(r.entityOf(x, obj, inValues), name, inValues, 0); got.kind == entDefs {
			return r.defsVerdict(got)
		}
	}
	if m == nil {
		if t.weak || t.k == kParam || t.k == kUnion {
			return unresolved(graph.ReasonDynamicReceiver)
		}
		if t.k == kInst && r.outsideBase(t) {
			return external(graph.ReasonExternalMember, r.typeName(t)+"."+name)
		}
		return unresolved(graph.ReasonUnresolvedMember)
	}
	// Beside this function stands the name of another: module.exports = { f, g() { this.f() } }.
	if call && t.weak && t.k == kObject && f.Exprs[obj].Kind == facts.ExprThis && m.how == dField &&
		m.t != nil && m.t.k == kFunc && len(m.t.defs) > 0 {
		return candidates(graph.RuleReceiverHint, m.t.defs[:1])
	}
	rule := graph.RuleReceiverType
	super := false
	switch f.Exprs[obj].Kind {
	case facts.ExprThis:
		rule = graph.RuleSelfMember
	case facts.ExprSuper:
		rule, super = graph.RuleSuperMember, true
	}
	return r.dispatch(m, name, rule, call, super)
}

// outsideBase says whether a class inherits from something outside.
func (r *resolver) outsideBase(t *typ) bool {
	for n := 0; n < 24 && t != nil && t.k == kInst; n++ {
		if r.h.outside[t.defs[0]] {
			return true
		}
		var next *typ
		for _, b := range r.h.bases[t.defs[0]] {
			if b != nil && b.k == kInst {
				next = b
				break
			}
		}
		t = next
	}
	return false
}

func (r *resolver) typeName(t *typ) string {
	d := t.defs[0]
	return r.files[d.File].f.Text(r.def(d).Name)
}

// dispatch turns a member into a verdict.
func (r *resolver) dispatch(m *member, name, rule string, call, super bool) graph.Verdict {
	switch m.how {
	case dExternal:
		return r.outsideMember(m, name)
	case dStatic:
		if call && r.isValue(m.defs[0]) {
			return unresolved(graph.ReasonDynamicCall)
		}
		e := entity{kind: entDefs, defs: m.defs, rule: ruleOr(m.rule, rule), weak: m.weak}
		if m.weak {
			return candidates(graph.RuleReceiverHint, m.defs[:1])
		}
		return r.defsVerdict(e)
	case dTyped:
		targets := []graph.DefRef{m.defs[0]}
		// A member that some subclass overrides is open, even where this receiver's
		// own subclasses do not: the declaration is not final.
		if !super && m.recv != nil && m.recv.k == kInst && m.owner != nil && r.overridden(m.owner, name) {
			return candidates(graph.RuleVirtualDispatch, append(targets, r.overrides(m.recv.defs[0], name)...))
		}
		if m.weak {
			return candidates(graph.RuleReceiverHint, targets)
		}
		return resolved(rule, targets[0])
	case dAbstract:
		targets := []graph.DefRef{m.defs[0]}
		if m.recv != nil && m.recv.k == kInst {
			for _, d := range m.recv.defs {
				targets = append(targets, r.implementations(d, name)...)
			}
		}
		if !call && r.def(m.defs[0]).Kind == facts.KindField {
			return graph.Verdict{Outcome: graph.OutcomeLocal}
		}
		return candidates(graph.RuleInterfaceDispatch, targets)
	case dField:
		if call {
			if m.t != nil && m.t.k == kExternal {
				return external(graph.ReasonExternalMember, name)
			}
			return unresolved(graph.ReasonDynamicCall)
		}
		// Reading a field is no reference: only members that are functions are.
		return graph.Verdict{Outcome: graph.OutcomeLocal}
	case dAmbiguous:
		return r.dispatchUnion(m, name, rule, call, super)
	}
	return unresolved(graph.ReasonUnresolvedMember)
}

func (r *resolver) dispatchUnion(m *member, name, rule string, call, super bool) graph.Verdict {
	var targets []graph.DefRef
	var last graph.Verdict
	omitted := 0
	for _, p := range m.parts {
		v := r.dispatch(p, name, rule, call, super)
		last = v
		omitted += v.Omitted
		targets = append(targets, v.Targets...)
	}
	if len(targets) == 0 {
		if last.Outcome == graph.OutcomeExternal || last.Outcome == graph.OutcomeUnresolved {
			return last
		}
		return unresolved(graph.ReasonAmbiguousMember)
	}
	v := candidates(graph.RuleReceiverHint, targets)
	v.Omitted += omitted
	return v
}
