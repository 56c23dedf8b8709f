package facts

// ExprKind is the kind of an expression node. Languages share the vocabulary;
// what each kind's children mean is said beside it.
type ExprKind uint8

const (
	ExprNone      ExprKind = iota
	ExprOpaque             // something whose value nobody can tell; children may be kept
	ExprName               // Name; Level is a local name's index in File.Bindings plus one, where the extractor resolves those (Go)
	ExprAttr               // Name is the member, [object]
	ExprCall               // [callee, args...]
	ExprNew                // [callee, args...]
	ExprIndex              // [object, indexes...]; also generic instantiation and subscripted annotation
	ExprSlice              // [object]: x[a:b]
	ExprLiteral            // Name is string, bytes, number, bool, none, regexp, template, fstring
	ExprList               // [elements...]: list literal, JS array, any plain sequence of expressions
	ExprTuple              // [elements...]
	ExprSet                // [elements...]
	ExprDict               // [key, value, key, value...]
	ExprObject             // [ExprKeyword...]: JS object literal
	ExprKeyword            // Name = [value]: keyword argument, object member, composite literal field
	ExprSpread             // [value]: *x, **x, ...x
	ExprStar               // [x]: pointer type or dereference
	ExprAddr               // [x]: &x
	ExprUnary              // Name is the operator, [x]
	ExprBinary             // Name is the operator, [left, right]
	ExprCond               // [then, else]: either may be the value
	ExprAwait              // [x]
	ExprYield              // [x]
	ExprIter               // [x]: an element of iterating x (range value, for-of, for-in of Python); FlagAsync for async for
	ExprKey                // [x]: the key or index of iterating x (Go range key, JS for-in)
	ExprUnpack             // Level is the index, [x]: the i-th part of x
	ExprMember             // Name, [x]: the member taken apart from x by an object pattern
	ExprEnter              // [x]: what entering the context x gives
	ExprRecv               // [x]: received from channel x
	ExprAssert             // [x, type]: Go assertion, TS as/satisfies/!; type 0 for `!` and `.(type)`
	ExprComposite          // [type, elements...]: Go composite literal; elements may be ExprKeyword or ExprDict pairs
	ExprLambda             // Def is the KindLambda (or function, class expression) definition
	ExprThis               // this: Def is the class it speaks of, else Level is 1 + the function that binds it
	ExprSuper              // super, super(): Def is the class it stands in
	ExprArgs               // [args...] where only arguments are kept
	ExprRest               // Level is the index, [x]: what remains of x from the i-th part on

	// Types.
	ExprSliceType  // [elem]
	ExprArrayType  // [elem]
	ExprMapType    // [key, elem]
	ExprChanType   // [elem]
	ExprFuncType   // Level is the number of parameters, [params..., results...]; Def its KindLambda where it has one
	ExprStructType // Def of the anonymous struct or None; named structs use Def.Kind
	ExprInterfaceType
	ExprUnionType        // [alternatives...]; also Go constraint unions and Python X | Y
	ExprIntersectionType // [parts...]
	ExprTypeParam        // Name, [constraint, default]
	ExprTypeOf           // [x]: typeof x
	ExprKeyOf            // [x]
	ExprTypeLiteral      // object type: [ExprKeyword...]
	ExprConditionalType  // [check, extends, then, else]
	ExprEllipsis         // [elem]: variadic parameter type
	ExprString           // Name is the text: a string whose content matters (forward reference, require argument, key)
	ExprTemplate         // [parts...]
	ExprPredicate        // [type]: x is T
	ExprTypeName         // Name: a name that stands in a type position
)

// Expr is one node of the expression table.
type Expr struct {
	Kind  ExprKind
	Flags Flags
	Name  Str
	Level uint32 // see the kinds that use it
	Def   DefID  // ExprLambda and the anonymous types; None otherwise
	Span
	kid uint32 // where its children start in File.Kids; they end where the next expression's start
}

// Children gives the children of an expression. An absent child is 0.
func (f *File) Children(id ExprID) []ExprID {
	start, end := f.kids(id)
	return f.Kids[start:end:end]
}

func (f *File) kids(id ExprID) (start, end uint32) {
	start, end = f.Exprs[id].kid, uint32(len(f.Kids))
	if int(id)+1 < len(f.Exprs) {
		end = f.Exprs[id+1].kid
	}
	return start, end
}

// Child gives the i-th child, or 0 when there is none.
func (f *File) Child(id ExprID, i int) ExprID {
	start, end := f.kids(id)
	if i < 0 || uint32(i) >= end-start {
		return 0
	}
	return f.Kids[start+uint32(i)]
}

// Text gives a string of the table.
func (f *File) Text(s Str) string { return f.Strings[s] }
