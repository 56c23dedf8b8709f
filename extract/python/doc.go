// Package python turns one Python source file into facts.
//
// The file is parsed and flattened in one crossing of the C boundary and its
// tree is descended once, in source order. Scopes are the language's: a class
// body is invisible to the functions in it, a comprehension has a scope of its
// own whose first iterable is evaluated outside of it, a walrus binds in the
// enclosing function, and global and nonlocal statements move a binding to the
// scope that they mean.
//
// Conventions inside the shared vocabulary:
//   - an ExprName keeps the scope that it is evaluated in as Level, so that an
//     expression can be evaluated far from where it stands; so does an ExprYield;
//   - Binding.Order of anything but a parameter is the byte where the innermost
//     conditional block around the binding ends, 0 when none surrounds it;
//   - a BindNarrow binding says that between Start and Order the name is an
//     instance of Type (isinstance, match);
//   - Def.Value of a function is an ExprTuple of what it returns, and of an
//     ExprYield for each yield.
//
// A decorated definition starts at its first decorator. Bare carriage returns
// end a line, as they do in Python; offsets are those of the original bytes.
// Nothing in or below an ERROR or MISSING node is free of FlagDamaged. Bytes
// that are not UTF-8 are refused.
package python
