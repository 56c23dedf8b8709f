package graph

// The rule vocabulary. A new rule gets a constant here, a fixture where it
// holds and one where it must not, a paragraph in docs/resolution.md, and a
// bump of its resolver's version.
const (
	RuleSyntaxContains     = "syntax_contains"
	RuleLexicalBinding     = "lexical_binding"
	RuleExplicitImport     = "explicit_import"
	RuleRelativeImport     = "relative_import"
	RuleModuleExport       = "module_export"
	RuleReexport           = "reexport"
	RuleESMImport          = "esm_import"
	RuleCommonJSRequire    = "commonjs_require"
	RuleTsconfigPath       = "tsconfig_path"
	RuleWorkspacePackage   = "workspace_package"
	RuleGoPackage          = "go_package"
	RuleGoImport           = "go_import"
	RuleGoReceiverType     = "go_receiver_type"
	RuleGoPromotedMethod   = "go_promoted_method"
	RuleInterfaceDispatch  = "interface_dispatch"
	RuleReceiverHint       = "receiver_hint"
	RuleReceiverType       = "receiver_type"
	RuleSelfMember         = "self_member"
	RuleSuperMember        = "super_member"
	RuleClassMember        = "class_member"
	RuleVirtualDispatch    = "virtual_dispatch"
	RuleConditionalBinding = "conditional_binding"
	RuleAmbiguousBinding   = "ambiguous_binding"
	RuleWildcardImport     = "wildcard_import"
	RuleAttributeRebinding = "attribute_rebinding"
	RulePartialParse       = "partial_parse"
	RuleMixinMember        = "mixin_member"         // self.x that only the classes that mix the class in have
	RuleDecorated          = "decorated_definition" // a decorator may have put something else in its place
	RuleBuildConstraint    = "build_constraint"
)

// The reason vocabulary of unresolved and external references.
const (
	ReasonUnresolvedName   = "unresolved_name"
	ReasonDynamicReceiver  = "dynamic_receiver"
	ReasonDynamicCall      = "dynamic_call"
	ReasonExternalImport   = "external_import"
	ReasonExternalBuiltin  = "external_builtin"
	ReasonExternalMember   = "external_member"
	ReasonExternalGlobal   = "external_global"
	ReasonAmbiguousMember  = "ambiguous_member"
	ReasonAmbiguousTarget  = "ambiguous_target"
	ReasonCyclicBinding    = "cyclic_binding"
	ReasonCyclicExport     = "cyclic_export"
	ReasonWildcardImport   = "wildcard_import"
	ReasonUnresolvedMember = "unresolved_member"
	ReasonUnresolvedExport = "unresolved_export"
	ReasonUnresolvedModule = "unresolved_module"
	ReasonBeyondTopPackage = "beyond_top_package"
	ReasonUnexportedMember = "unexported_member"
	ReasonPartialParse     = "partial_parse"
	ReasonNotIndexed       = "not_indexed"
	ReasonTooManyTargets   = "too_many_targets"
)
