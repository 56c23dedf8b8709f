package python

import (
	"slices"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/resolve/graph"
)

// gathered is what was found out about one reference.
type gathered struct {
	targets  []graph.DefRef
	why      why
	rule     string
	open     string // the rule of a dispatch that a subclass decides, or ""
	external string // dotted name
	reason   string // of external
	missing  string // reason of what is not resolved
	local    bool   // it is a value without definition
}

func (g *gathered) add(ref graph.DefRef, w why, rule string) {
	if !slices.Contains(g.targets, ref) {
		g.targets = append(g.targets, ref)
	}
	g.why = max(g.why, w)
	if g.rule == "" {
		g.rule = rule
	}
}

func (g *gathered) outside(name, reason string) {
	if g.external == "" {
		g.external, g.reason = name, reason
	}
}

func (g *gathered) miss(reason string) {
	if g.missing == "" {
		g.missing = reason
	}
}

// verdict makes a verdict of what was gathered.
func (g *gathered) verdict() graph.Verdict {
	if len(g.targets) > 0 {
		targets, omitted := bounded(g.targets)
		v := graph.Verdict{Outcome: graph.OutcomeResolved, Rule: g.rule, Targets: targets, Omitted: omitted}
		switch {
		case g.open != "":
			v.Outcome, v.Rule = graph.OutcomeCandidate, g.open
		case g.why != proved:
			v.Outcome, v.Rule = graph.OutcomeCandidate, doubtRules[g.why]
		case len(g.targets) > 1 || g.external != "" || g.missing != "":
			v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RuleAmbiguousBinding
		}
		return v
	}
	switch {
	case g.missing != "" && g.external == "":
		return graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: g.missing}
	case g.external != "":
		return graph.Verdict{Outcome: graph.OutcomeExternal, Reason: g.reason, Target: g.external}
	case g.local:
		return graph.Verdict{Outcome: graph.OutcomeLocal}
	}
	return graph.Verdict{Outcome: graph.OutcomeUnresolved, Reason: graph.ReasonUnresolvedName}
}

// maxCandidates bounds the targets of one site. The definition that was found
// first, which any override overrides, always is one of them; those beyond the
// bound are counted.
const maxCandidates = 64

func bounded(targets []graph.DefRef) (kept []graph.DefRef, omitted int) {
	first := targets[0]
	slices.SortFunc(targets, compareRefs)
	if omitted = max(len(targets)-maxCandidates, 0); omitted > 0 {
		targets = targets[:maxCandidates:maxCandidates]
		if !slices.Contains(targets, first) {
			targets[maxCandidates-1] = first
		}
	}
	return targets, omitted
}

var doubtRules = [...]string{
	hinted: graph.RuleReceiverHint, conditional: graph.RuleConditionalBinding, ambiguous: graph.RuleAmbiguousBinding,
	wildcard: graph.RuleWildcardImport, rebindable: graph.RuleAttributeRebinding,
}

var routeRules = [...]string{
	lexical: graph.RuleLexicalBinding, explicit: graph.RuleExplicitImport, relative: graph.RuleRelativeImport,
	reexport: graph.RuleReexport, memberOf: graph.RuleModuleExport,
}

// file gives the verdicts of a file.
func (r *resolver) file(fi int32, f *file) []graph.Verdict {
	r.room = graph.Room(r.room, len(f.Refs))
	out := r.room
	for i := range f.Imports {
		if ref := f.Imports[i].Ref; ref >= 0 {
			out[ref] = r.importVerdict(fi, f, facts.ImportID(i))
		}
	}
	for i := range f.Refs {
		if ref := &f.Refs[i]; ref.Kind != facts.RefImport {
			out[i] = r.verdict(fi, f, ref)
		}
		if f.Refs[i].Flags&facts.FlagDamaged != 0 && out[i].Outcome == graph.OutcomeResolved {
			out[i].Outcome, out[i].Rule = graph.OutcomeCandidate, graph.RulePartialParse
		}
	}
	return out
}

func (r *resolver) importVerdict(fi int32, f *file, id facts.ImportID) graph.Verdict {
	imp := &f.Imports[id]
	g := gathered{}
	ds := r.imports(fi, id)
	if imp.Kind == facts.ImportModule {
		ds = r.modules(fi, imp)
	}
	for _, d := range ds {
		switch d.kind {
		case declModule:
			switch {
			case d.mod.file >= 0:
				w := d.why
				if imp.Kind == facts.ImportStar {
					w = wildcard
				}
				g.add(graph.DefRef{File: d.mod.file, Def: graph.FileDef}, w, routeRules[d.route])
			case d.mod.file == -2:
				g.miss(graph.ReasonNotIndexed)
			default:
				g.local = true // a namespace package is a folder, and no node
			}
		case declDef:
			if damagedDef(r, d.ref) {
				d.why = max(d.why, ambiguous)
			}
			g.add(d.ref, d.why, routeRules[d.route])
		case declExternal:
			g.outside(d.name, graph.ReasonExternalImport)
		case declMissing:
			g.miss(d.reason)
		case declLocal:
			g.local = true
		}
	}
	if len(ds) == 0 {
		g.miss(graph.ReasonCyclicBinding)
	}
	return g.verdict()
}

func damagedDef(r *resolver, ref graph.DefRef) bool {
	return ref.Def >= 0 && r.files[ref.File].Defs[ref.Def].Flags&facts.FlagDamaged != 0
}

func (r *resolver) verdict(fi int32, f *file, ref *facts.Ref) graph.Verdict {
	x := &f.Exprs[ref.Expr]
	g := gathered{}
	switch x.Kind {
	case facts.ExprName:
		r.nameTargets(&g, fi, f, ref, x)
	case facts.ExprAttr:
		r.attributeTargets(&g, fi, f, ref, ref.Expr)
	default:
		g.miss(graph.ReasonDynamicCall)
	}
	for _, t := range g.targets {
		if damagedDef(r, t) && g.why == proved {
			v := g.verdict()
			v.Outcome, v.Rule = graph.OutcomeCandidate, graph.RulePartialParse
			return v
		}
	}
	return g.verdict()
}

// nameTargets finds what a plain name refers to.
func (r *resolver) nameTargets(g *gathered, fi int32, f *file, ref *facts.Ref, x *facts.Expr) {
	ds := r.lookup(fi, facts.ScopeID(x.Level), f.symbols[x.Name], x.Start)
	if len(ds) == 0 {
		if len(f.stars) > 0 {
			g.miss(graph.ReasonWildcardImport)
		}
		g.miss(graph.ReasonUnresolvedName)
		return
	}
	for _, d := range ds {
		r.declTargets(g, d, ref)
	}
}

// declTargets adds what a name leads to.
func (r *resolver) declTargets(g *gathered, d decl, ref *facts.Ref) {
	rule := routeRules[d.route]
	if d.why == wildcard {
		rule = graph.RuleWildcardImport
	}
	switch d.kind {
	case declExternal:
		reason := graph.ReasonExternalImport
		if strings.HasPrefix(d.name, "builtins.") {
			reason = graph.ReasonExternalBuiltin
		}
		g.outside(d.name, reason)
	case declMissing:
		g.miss(d.reason)
	case declModule:
		if ref.Kind == facts.RefUse {
			g.local = true // the import is the edge
		} else {
			g.miss(graph.ReasonDynamicCall)
		}
	case declDef:
		switch r.files[d.ref.File].Defs[d.ref.Def].Kind {
		case facts.KindClass, facts.KindFunction, facts.KindMethod:
			if ref.Kind == facts.RefCall && !r.kept(d.ref) {
				g.open = graph.RuleDecorated
			}
			g.add(d.ref, d.why, rule)
			return
		}
		if ref.Kind == facts.RefUse {
			g.add(d.ref, d.why, rule)
			return
		}
		r.valueTargets(g, d, ref, rule)
	case declLocal:
		if ref.Kind == facts.RefUse {
			g.local = true
			return
		}
		if d.binding >= 0 && r.files[d.ref.File].Bindings[d.binding].Kind == facts.BindParam {
			g.miss(graph.ReasonDynamicCall) // whatever the caller passes
			return
		}
		r.valueTargets(g, d, ref, rule)
	}
}

// valueTargets adds what a variable that is called, or derived from, is another
// name of: f = g, f = obj.method, f = Class. What a call, a table or a loop gave
// it is not followed: any such call may be of anything.
func (r *resolver) valueTargets(g *gathered, d decl, ref *facts.Ref, rule string) {
	before := len(g.targets)
	outside := ""
	alias := ref.Kind != facts.RefCall || d.binding >= 0 && r.alias(d.ref.File, d.binding)
	for _, v := range r.valueOf(d) {
		v.why = max(v.why, d.why)
		if d.kind == declDef && d.route != lexical {
			v.why = max(v.why, rebindable) // a variable of another module: anyone may assign to it
		}
		switch {
		case v.kind == isExternal || v.kind == isForeign:
			outside = v.name
		case alias:
			r.calledValue(g, v, rule)
		}
	}
	if len(g.targets) == before {
		if outside != "" {
			g.outside(outside, graph.ReasonExternalMember)
		} else {
			g.miss(graph.ReasonDynamicCall)
		}
	}
}

// alias says whether a binding gives its name to what another name means. The
// class that a class method is called on counts as one.
func (r *resolver) alias(fi int32, binding int32) bool {
	f := r.files[fi]
	b := &f.Bindings[binding]
	switch b.Kind {
	case facts.BindReceiver, facts.BindImport, facts.BindDef:
		return true
	case facts.BindVar, facts.BindAttr:
		k := f.Exprs[b.Value].Kind
		return k == facts.ExprName || k == facts.ExprAttr || k == facts.ExprIndex
	}
	return false
}

// calledValue adds the target of calling a value. Calling an instance is not
// followed: it is a call of a value.
func (r *resolver) calledValue(g *gathered, v value, rule string) {
	switch v.kind {
	case isClass:
		k := &r.classes[v.class]
		w := v.why
		if v.self {
			w = max(w, hinted)
		}
		g.add(graph.DefRef{File: k.file, Def: k.def}, w, rule)
	case isFunction:
		if r.files[v.file].Defs[v.def].Kind != facts.KindLambda {
			g.add(graph.DefRef{File: v.file, Def: v.def}, v.why, rule)
		}
	case isMethod:
		// Under another name only the method that it was taken as is named.
		target := graph.DefRef{File: v.file, Def: v.def}
		g.add(target, v.why, rule)
		r.open(g, target)
	}
}
