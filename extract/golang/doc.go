// Package golang extracts the facts of one Go file in one descent of its
// flattened tree.
//
// Names of local variables are resolved here, with Go's block scopes and
// declaration order, because only the tree shows them: an ExprName whose Level
// is n+1 means File.Bindings[n], and its Level is 0 where the name is a
// package-level, imported or predeclared one. Such expressions are shared:
// every mention of one variable, and every x.f of one x, is one Expr, so that a
// resolver types it once. The Span of a shared Expr is that of its first mention.
//
// What the kinds of facts mean for Go:
//
//   - The KindPackage definition is the package clause; its Value, when not 0,
//     is an ExprString: the build constraint of the file, //go:build lines and
//     the _GOOS and _GOARCH of its name joined by "&&".
//   - A function's, method's or lambda's Type is its ExprFuncType. A method's
//     Recv is the receiver's type as written; its Parent is the type's
//     definition when that comes before it in the same file.
//   - A struct's Type is an ExprStructType of ExprKeywords (Name = [type],
//     FlagEmbedded), an interface's an ExprInterfaceType of ExprKeywords (methods)
//     and embedded types. The Level of such an ExprKeyword is the DefID of the
//     field or method plus one, or 0. Anonymous structs have no definitions.
//   - A type alias has FlagAlias. Constants of a group repeat the type and value
//     that they inherit.
//   - An ExprMember with Name and [type] is a key of a composite literal of that
//     type; its Level is the local variable that bears the name, as in ExprName.
//   - A type parameter's binding has its constraint as Type; one that a receiver
//     declares has the receiver's base type as Value, and Order in both.
//
// Scopes are the module, functions and lambdas; blocks inside functions are not
// recorded, because no name is left to look up in them. Mentions of predeclared
// types (string, error) that are not called make no reference.
//
// Inside an ERROR node, and inside the parent of a MISSING one, everything is
// FlagDamaged, and so are statements at the top level, which Go does not have. A
// declaration that swallowed the next one is blanked for the parser, but for a
// function's signature, and is damage; so what follows stands in its own scope.
// File.Blanked names those, and the words new and make that were read as other
// names because no type follows them.
package golang
