package facts

import "slices"

// Indexes into the arrays of one File.
type (
	Str      uint32 // File.Strings; 0 is ""
	ExprID   uint32 // File.Exprs; 0 is none
	ScopeID  int32  // File.Scopes; 0 is the module scope
	DefID    int32  // File.Defs
	ImportID int32  // File.Imports
)

// None is the absent ScopeID, DefID or ImportID.
const None = -1

// Span is a byte range, 0-based and half-open.
type Span struct{ Start, End uint32 }

// ParseStatus says how much of a file its facts cover.
type ParseStatus uint8

const (
	Parsed  ParseStatus = iota // no ERROR or MISSING node
	Partial                    // some ranges could not be parsed: File.Damage
	Failed                     // nothing could be extracted: File.Failure says why
)

// File is the facts of one file.
type File struct {
	Path     string
	Language string // registry name: "python", "javascript", "typescript", "tsx", "go", "text"
	// LineStarts are the byte offsets at which lines start: after each LF, and 0
	// for a file that is not empty. A final LF starts no line.
	LineStarts []uint32

	Status  ParseStatus
	Failure string // why Status is Failed: a code such as "parse_timeout" or "too_deep"
	Damage  []Span // ERROR and MISSING regions, sorted, disjoint
	// Blanked are constructs that the grammar cannot read and that were blanked
	// with spaces before parsing (every offset is kept), sorted.
	Blanked []Span

	Strings []string // Strings[0] == ""
	// Signatures are the definitions' texts from the line of the name to the
	// body, white space folded, by DefID; made by extract.File.
	Signatures []string
	Scopes     []Scope // Scopes[0] is the module
	Defs       []Def   // in order of Start; a container comes before its members
	Bindings   []Binding
	Imports    []Import
	Exports    []Export
	Exprs      []Expr   // Exprs[0] is the zero Expr
	Kids       []ExprID // children of expressions, see Expr.Kids
	Refs       []Ref    // in order of Start
	Headings   []Heading
}

// Line gives the 1-based line of a byte offset, 0 in an empty file.
func (f *File) Line(offset uint32) uint32 {
	at, found := slices.BinarySearch(f.LineStarts, offset)
	if found {
		at++
	}
	return uint32(at)
}

// ScopeKind is the kind of a lexical scope.
type ScopeKind uint8

const (
	ScopeModule        ScopeKind = iota
	ScopeClass                   // Python and JS class bodies, TS interfaces, Go struct and interface types
	ScopeFunction                // parameters and body
	ScopeBlock                   // block scopes of Go and JS
	ScopeComprehension           // Python comprehensions and generator expressions
	ScopeTypeParams              // Python 3.12 type parameter lists, where they need one of their own
	ScopeNamespace               // TS namespaces
)

// Scope is a lexical scope. Parents come before children.
type Scope struct {
	Kind   ScopeKind
	Parent ScopeID // None for the module
	Def    DefID   // the definition whose body this is, or None
	Span
}

// DefKind is the kind of a definition. Its String is the public vocabulary.
type DefKind uint8

const (
	KindFunction DefKind = iota + 1
	KindMethod
	KindConstructor // TS/JS constructor; Python __init__ stays a method
	KindAccessor    // get/set of JS/TS
	KindClass
	KindInterface // TS interface, Go interface type; abstract members of it are KindMethod with FlagAbstract
	KindStruct    // Go struct type
	KindType      // type alias or other named type
	KindEnum
	KindEnumMember
	KindConstant // Go const, module-level const that is never rebound
	KindVariable // module-level (or class-level) variable
	KindField    // struct field, class attribute, interface property
	KindPackage  // Go package clause, one per file; same package, same directory are one node
	KindNamespace
	KindLambda // an unnamed function that owns a scope: not a node of the graph
)

var defKindNames = [...]string{
	KindFunction: "function", KindMethod: "method", KindConstructor: "constructor", KindAccessor: "accessor",
	KindClass: "class", KindInterface: "interface", KindStruct: "struct", KindType: "type", KindEnum: "enum",
	KindEnumMember: "enum_member", KindConstant: "constant", KindVariable: "variable", KindField: "field",
	KindPackage: "package", KindNamespace: "namespace", KindLambda: "lambda",
}

// String gives the public name of the kind, "" for an unknown one.
func (k DefKind) String() string {
	if int(k) < len(defKindNames) {
		return defKindNames[k]
	}
	return ""
}

// Flags qualify definitions, bindings, imports, exports and references.
type Flags uint32

const (
	FlagExported    Flags = 1 << iota // Go capital, TS/JS export, Python: not underscored (or in __all__)
	FlagDefault                       // export default; a parameter with a default value
	FlagStatic                        // static member, @staticmethod
	FlagClassMethod                   // @classmethod
	FlagProperty                      // @property and friends: read without call
	FlagAbstract                      // abstract method, interface member, Protocol member
	FlagAsync
	FlagGenerator
	FlagConditional // under if/try/match/build tag: may not be the one in force
	FlagOverload    // an overload signature without body
	FlagConst       // const, final, readonly: cannot be rebound
	FlagVariadic    // *args, ...rest
	FlagKeyword     // **kwargs
	FlagOptional    // x?: T, a?.b
	FlagTypeOnly    // import type, export type
	FlagTest        // test entry point, by the language's convention
	FlagDamaged     // inside or below an ERROR or MISSING region: nothing here is resolved_static
	FlagEmbedded    // Go embedded field; Go embedded interface
	FlagPointer     // Go pointer receiver
	FlagWildcard    // star import, star export, Go dot import
	FlagRelative    // relative import
	FlagRebound     // this binding is assigned after its declaration
	FlagDecorated   // has a decorator that may replace the definition
	FlagDeclare     // ambient: declare, .d.ts, .pyi
	FlagJSX         // JSX element use
	FlagDecorator   // reference made by a decorator
	FlagNew         // constructed with new
	FlagTypeChecking
	FlagLocal // defined inside a function body
	FlagTag   // tagged template
	FlagGenerated
	FlagAlias // Go type alias
)

// Def is a definition: something with a name (or a lambda with a scope).
type Def struct {
	Kind   DefKind
	Flags  Flags
	Name   Str
	Qual   Str     // dotted path of names inside the file, "Class.method"; Go methods "Type.Method"
	Parent DefID   // the definition that contains it, or None for the file
	Scope  ScopeID // scope that its name is bound in (the scope it stands in)
	Body   ScopeID // its own scope, or None
	// Span covers the whole declaration, decorators and export keyword included.
	Span
	NameStart uint32 // where the name stands; Start when anonymous
	NameEnd   uint32
	Sig       Str    // signature: from the name's line to the body, white space folded; set by extract.File
	BodyStart uint32 // where the body starts, End when there is none: Start..BodyStart is the signature
	// Recv is the receiver type of a Go method. Type is the declared type of a
	// variable or field, the result type of a function, the aliased type of a
	// type definition, the underlying type of a struct or interface. Value is
	// the initialiser, or what a function's every return gives (a Kids list
	// under an ExprTuple) where the language's resolver uses it.
	Recv, Type, Value ExprID
	Bases             ExprID // ExprList of bases: Python bases, extends/implements (see Expr.Flags), Go embedded types
	Decorators        ExprID // ExprList, outermost first
	TypeParams        ExprID // ExprList of ExprTypeParam
}

// BindKind says how a name came to be bound in a scope.
type BindKind uint8

const (
	BindDef      BindKind = iota + 1 // Def
	BindImport                       // Import
	BindParam                        // parameter; Type and default Value
	BindReceiver                     // Go receiver, and the first parameter of a Python method
	BindResult                       // named result of a Go function
	BindVar                          // declared or assigned variable; Value is its initialiser
	BindFor                          // loop variable: Value is Iter(x)
	BindWith                         // with x as y: Value is Enter(x)
	BindCatch                        // except E as e, catch (e)
	BindGlobal                       // Python global statement: the name means the module's
	BindNonlocal                     // Python nonlocal statement
	BindTypeParam
	BindAttr   // self.x = value, this.x = value, Class.x = value: Owner expression in Target
	BindDelete // del x
	BindMatch  // captured by a pattern
	BindNarrow // not a binding: between Start and Order the name is known to be an instance of Type
)

// Binding is one binding of a name. A scope may bind a name several times.
type Binding struct {
	Kind   BindKind
	Flags  Flags
	Name   Str
	Scope  ScopeID
	Span            // where the name stands
	Def    DefID    // BindDef, or None
	Import ImportID // BindImport, or None
	Type   ExprID   // annotation
	Value  ExprID   // what is bound; wrapped in ExprIter, ExprUnpack, ExprEnter where it is taken apart
	Target ExprID   // BindAttr: the object whose attribute is bound
	Order  uint32   // parameter index (receiver excluded) or result index
}

// ImportKind is the syntactic form of an import.
type ImportKind uint8

const (
	ImportModule    ImportKind = iota + 1 // import a.b [as c]; Go import; ESM side effect import
	ImportName                            // from m import n [as k]; import { n as k } from m
	ImportDefault                         // import d from m
	ImportNamespace                       // import * as ns from m
	ImportStar                            // from m import *; Go dot import
	ImportRequire                         // const x = require("m"); x is the whole of module.exports
	ImportDynamic                         // import("m"), require("m") in an expression
	ImportEquals                          // TS import x = require("m"); import x = A.B
)

// Import is one imported name or module.
type Import struct {
	Kind       ImportKind
	Flags      Flags
	Module     Str    // specifier or dotted module as written, without leading dots
	Level      uint32 // Python: number of leading dots
	Name       Str    // imported name (ImportName), "" otherwise
	Local      Str    // local name it is bound to, "" when none ("_" and "." as written in Go)
	Scope      ScopeID
	Span              // the identifier that a reader would click: imported name, or module specifier
	ModuleSpan Span   // the specifier
	Ref        int32  // index in Refs of the reference this import is, or None
	Expr       ExprID // ImportEquals, ImportDynamic: the expression
}

// ExportKind is the syntactic form of an export.
type ExportKind uint8

const (
	ExportLocal     ExportKind = iota + 1 // export { x as y }, export const x, export default x
	ExportFrom                            // export { x as y } from m
	ExportStar                            // export * from m
	ExportNamespace                       // export * as ns from m
	ExportAssign                          // module.exports = x, export = x
	ExportMember                          // exports.f = x, module.exports.f = x, module.exports = { f: x }
	ExportAll                             // Python __all__ entry
)

// Export is one name that a module offers.
type Export struct {
	Kind   ExportKind
	Flags  Flags
	Name   Str    // exported name; "default" for the default export
	Local  Str    // local name (ExportLocal) or the name in the other module (ExportFrom)
	Module Str    // specifier, for the From, Star and Namespace kinds
	Value  ExprID // expression exported, where it is not a plain name
	Def    DefID  // definition exported in place, or None
	Span
	Ref int32 // index in Refs of the reference this export is, or None
}

// RefKind is the kind of relationship that a reference site asks for.
type RefKind uint8

const (
	RefCall RefKind = iota + 1
	RefImport
	RefInherit
	RefUse // any other mention: a value, a type, a decorator without call, a JSX element
)

var refKindNames = [...]string{RefCall: "calls", RefImport: "imports", RefInherit: "inherits", RefUse: "references"}

// String gives the edge kind that the reference becomes.
func (k RefKind) String() string {
	if int(k) < len(refKindNames) {
		return refKindNames[k]
	}
	return ""
}

// Nameless is the name of a call site whose callee has none: the outer call of
// f()(x). Such a site is empty and stands where the callee begins.
const Nameless = "()"

// Ref is a reference site: a place in the source that names something. Exactly
// one verdict is given for each. Names that the extractor can see are local
// (parameters, local variables) and are not called are left out.
type Ref struct {
	Kind  RefKind
	Flags Flags
	Name  Str     // the identifier at the site, for imports the name or specifier
	Scope ScopeID // scope it is evaluated in
	Owner DefID   // innermost named definition (never a lambda) that encloses it, or None for the file
	Span          // the identifier: c in a.b.c()
	Expr  ExprID  // the callee, type or value expression (ExprName or ExprAttr for most)
	Site  Span    // the whole call or statement, for citation
}

// Heading is a navigation mark of a text file: a Markdown heading, a TOML table.
type Heading struct {
	Level uint32
	Text  Str
	Line  uint32
}
