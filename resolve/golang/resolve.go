package golang

import (
	"context"
	"slices"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// Version of the resolver; part of the fingerprint.
//
//	1: first
//	2: candidates of an interface call are types that a program with the call can hold
const Version = 2

// Resolve gives the verdict on each reference of the Go files in its input. The
// error is that of the context.
func Resolve(ctx context.Context, in *graph.Input) (graph.Part, error) {
	return graph.Collect(len(in.Files), func(give graph.Give) error { return Each(ctx, in, give) })
}

// Each gives the verdicts of each file as soon as they are known, so that they
// need not all be held at once.
func Each(ctx context.Context, in *graph.Input, give graph.Give) error {
	r := load(in)
	var verdicts []graph.Verdict
	for i, f := range r.files {
		if err := ctx.Err(); err != nil {
			return err
		}
		verdicts = graph.Room(verdicts, len(f.Refs))
		for k := range f.Imports {
			if ref := f.Imports[k].Ref; ref >= 0 && int(ref) < len(verdicts) {
				verdicts[ref] = r.importVerdict(f, f.byImport[k])
			}
		}
		for j := range f.Refs {
			if f.Refs[j].Kind != facts.RefImport {
				verdicts[j] = r.trust(&f.Refs[j], r.verdict(f, &f.Refs[j]))
			}
		}
		give(i, verdicts)
	}
	return nil
}

func (r *resolver) importVerdict(f *file, imp *imported) graph.Verdict {
	if imp.pkg != nil {
		for _, test := range []bool{false, true} {
			for _, g := range imp.pkg.files {
				k := slices.IndexFunc(g.Defs, func(d facts.Def) bool { return d.Kind == facts.KindPackage })
				if g.test == test && k >= 0 {
					return graph.Verdict{Outcome: graph.OutcomeResolved, Rule: graph.RuleGoImport, Targets: []graph.DefRef{{File: g.index, Def: facts.DefID(k)}}}
				}
			}
		}
	}
	if dir, inside := r.inside(f, imp.path); inside {
		if r.paths[dir] {
			return unresolved(graph.ReasonNotIndexed)
		}
		return unresolved(graph.ReasonUnresolvedModule)
	}
	return externalVerdict(graph.ReasonExternalImport, imp.path)
}

func unresolved(reason string) graph.Verdict {
	return graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: reason}
}

func externalVerdict(reason, target string) graph.Verdict {
	return graph.Verdict{Outcome: graph.OutcomeExternal, Reason: reason, Target: target}
}

// verdict judges one reference that is no import.
func (r *resolver) verdict(f *file, ref *facts.Ref) graph.Verdict {
	e, indexed := ref.Expr, false
	if ref.Kind == facts.RefCall && f.Exprs[e].Kind == facts.ExprIndex {
		e, indexed = f.Child(e, 0), true
	}
	if e == 0 {
		return unresolved(graph.ReasonPartialParse)
	}
	x := &f.Exprs[e]
	switch x.Kind {
	case facts.ExprName:
		if x.Level > 0 {
			return r.localVerdict(f, ref, int32(x.Level-1), indexed)
		}
		return r.nameVerdict(f, ref, f.Text(x.Name), indexed)
	case facts.ExprAttr:
		obj := f.Child(e, 0)
		if obj == 0 {
			return unresolved(graph.ReasonDynamicReceiver)
		}
		o := r.eval(f, obj)
		if o.mode == mPackage {
			return r.qualifiedVerdict(f, ref, r.lookup(f, f.Text(f.Exprs[obj].Name)), f.Text(x.Name), indexed)
		}
		return r.memberVerdict(f, ref, o, f.Text(x.Name), indexed)
	case facts.ExprMember:
		return r.keyVerdict(f, ref, e)
	}
	return unresolved(graph.ReasonDynamicCall)
}

// localVerdict judges a local name: a type that the function declares, a closure
// (nothing to report), or a value of which nobody knows what it calls.
func (r *resolver) localVerdict(f *file, ref *facts.Ref, b int32, indexed bool) graph.Verdict {
	bind := &f.Bindings[b]
	switch bind.Kind {
	case facts.BindDef:
		v := r.defsVerdict(f, ref, []graph.DefRef{{File: f.index, Def: bind.Def}}, graph.RuleLexicalBinding, indexed)
		return v
	case facts.BindTypeParam:
		return graph.Verdict{}
	}
	if ref.Kind == facts.RefCall && !indexed && (bind.Value == 0 || f.Exprs[bind.Value].Kind != facts.ExprLambda) {
		return unresolved(graph.ReasonDynamicCall)
	}
	return graph.Verdict{}
}

func (r *resolver) nameVerdict(f *file, ref *facts.Ref, name string, indexed bool) graph.Verdict {
	m := r.lookup(f, name)
	switch {
	case len(m.defs) > 0 && m.dotted:
		return r.defsVerdict(f, ref, m.defs, graph.RuleGoImport, indexed)
	case len(m.defs) > 0:
		return r.defsVerdict(f, ref, m.defs, graph.RuleGoPackage, indexed)
	case m.imp != nil && m.dotted:
		return externalVerdict(graph.ReasonExternalImport, m.imp.path+"."+name)
	case m.imp != nil:
		return graph.Verdict{} // the qualifier of a qualified name
	case m.universe != "":
		return externalVerdict(graph.ReasonExternalBuiltin, "builtin."+name)
	case name == "iota":
		return externalVerdict(graph.ReasonExternalBuiltin, "builtin.iota")
	}
	return unresolved(graph.ReasonUnresolvedName)
}

// qualifiedVerdict judges pkg.Name.
func (r *resolver) qualifiedVerdict(f *file, ref *facts.Ref, m meaning, name string, indexed bool) graph.Verdict {
	if m.imp.pkg == nil {
		if dir, inside := r.inside(f, m.imp.path); inside {
			if r.paths[dir] {
				return unresolved(graph.ReasonNotIndexed)
			}
			return unresolved(graph.ReasonUnresolvedModule)
		}
		return externalVerdict(graph.ReasonExternalImport, m.imp.path+"."+name)
	}
	o := m.imp.pkg.scope[name]
	if o == nil {
		return unresolved(graph.ReasonUnresolvedMember)
	}
	defs := r.visible(f, o)
	if len(defs) == 0 {
		return unresolved(graph.ReasonUnresolvedMember)
	}
	if !isExported(name) {
		return unresolved(graph.ReasonUnexportedMember)
	}
	return r.defsVerdict(f, ref, defs, graph.RuleGoImport, indexed)
}

// defsVerdict judges a reference to package-level definitions of one name.
func (r *resolver) defsVerdict(f *file, ref *facts.Ref, defs []graph.DefRef, rule string, indexed bool) graph.Verdict {
	v := graph.Verdict{Outcome: graph.OutcomeResolved, Rule: rule, Targets: defs}
	if len(defs) > 1 {
		v.Outcome, v.Rule, v.Targets = graph.OutcomeCandidate, graph.RuleBuildConstraint, sorted(slices.Clone(defs))
	}
	if ref.Kind == facts.RefCall {
		_, def := r.def(defs[0])
		switch {
		case isTypeKind(def.Kind):
			v.Kind = facts.RefUse // a conversion
		case def.Kind == facts.KindVariable && indexed:
			v.Kind = facts.RefUse // table[key](): the table is read
		case def.Kind == facts.KindVariable || def.Kind == facts.KindConstant:
			// What the variable holds when it is called is not known.
			v.Outcome = graph.OutcomeCandidate
		}
	}
	return v
}

// trust makes edges from or to damaged regions candidates.
func (r *resolver) trust(ref *facts.Ref, v graph.Verdict) graph.Verdict {
	if v.Outcome != graph.OutcomeResolved {
		return v
	}
	if ref.Flags&facts.FlagDamaged != 0 {
		v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RulePartialParse
	}
	for _, t := range v.Targets {
		if _, def := r.def(t); def.Flags&facts.FlagDamaged != 0 {
			v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RulePartialParse
		}
	}
	return v
}

// memberVerdict judges x.name where x is a value or a type.
func (r *resolver) memberVerdict(f *file, ref *facts.Ref, o operand, name string, indexed bool) graph.Verdict {
	if o.t == nil {
		return unresolved(graph.ReasonDynamicReceiver)
	}
	s := r.sel(f, o.t, name)
	v := r.selectionVerdict(f, ref, s, name, indexed)
	if s.hint && v.Outcome == graph.OutcomeResolved {
		v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RuleReceiverHint
	}
	return v
}

func (r *resolver) selectionVerdict(f *file, ref *facts.Ref, s selection, name string, indexed bool) graph.Verdict {
	switch s.kind {
	case selExternal:
		return externalVerdict(graph.ReasonExternalMember, s.external)
	case selAmbiguous:
		return unresolved(graph.ReasonAmbiguousMember)
	case selNone:
		return unresolved(graph.ReasonUnresolvedMember)
	case selInterface:
		targets, omitted := r.dispatch(f, s, name)
		if len(targets) == 0 {
			return unresolved(graph.ReasonDynamicReceiver)
		}
		return graph.Verdict{Outcome: graph.OutcomeCandidate, Rule: graph.RuleInterfaceDispatch, Targets: targets, Omitted: omitted}
	case selField:
		return r.fieldVerdict(ref, s, indexed)
	case selMethod:
		v := graph.Verdict{Outcome: graph.OutcomeResolved, Rule: graph.RuleGoReceiverType, Targets: s.defs}
		if s.depth > 0 {
			v.Rule = graph.RuleGoPromotedMethod
		}
		if len(s.defs) > 1 {
			v.Outcome, v.Rule, v.Targets = graph.OutcomeCandidate, graph.RuleBuildConstraint, sorted(slices.Clone(s.defs))
		} else if s.uncertain {
			v.Outcome = graph.OutcomeCandidate
		}
		return v
	}
	return unresolved(graph.ReasonDynamicReceiver)
}

// fieldVerdict judges a field: called, it holds a function that nobody knows;
// otherwise it is a reference to its definition.
func (r *resolver) fieldVerdict(ref *facts.Ref, s selection, indexed bool) graph.Verdict {
	if ref.Kind == facts.RefCall && !indexed {
		return unresolved(graph.ReasonDynamicCall)
	}
	if len(s.defs) == 0 {
		return graph.Verdict{} // of an anonymous struct
	}
	v := graph.Verdict{Outcome: graph.OutcomeResolved, Rule: graph.RuleGoReceiverType, Targets: s.defs, Kind: facts.RefUse}
	if len(s.defs) > 1 {
		v.Outcome, v.Rule, v.Targets = graph.OutcomeCandidate, graph.RuleBuildConstraint, sorted(slices.Clone(s.defs))
	}
	return v
}

// keyVerdict judges the key of a composite literal: a field when the literal is
// a struct, else a name.
func (r *resolver) keyVerdict(f *file, ref *facts.Ref, e facts.ExprID) graph.Verdict {
	x := &f.Exprs[e]
	name := f.Text(x.Name)
	t := r.deref(r.typeOf(f, f.Child(e, 0)))
	u := r.underlying(t)
	if t != nil && t.kind == tNamed && len(t.named.obj.defs) > 1 {
		for _, v := range r.variants(f, t) {
			if v = r.underlying(v); v != nil && v.kind != tExternal {
				u = v
				break
			}
		}
	}
	switch {
	case u == nil:
		if x.Level > 0 {
			return graph.Verdict{}
		}
		return unresolved(graph.ReasonUnresolvedMember)
	case u.kind == tStruct:
		s := r.sel(f, t, name)
		if s.kind == selField {
			return r.fieldVerdict(ref, s, false)
		}
		return unresolved(graph.ReasonUnresolvedMember)
	case u.kind == tExternal:
		return externalVerdict(graph.ReasonExternalMember, u.name+"."+name)
	case x.Level > 0:
		return r.localVerdict(f, ref, int32(x.Level-1), false)
	}
	return r.nameVerdict(f, ref, name, false)
}
