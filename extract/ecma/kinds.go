package ecma

import (
	"sync"

	javascript "github.com/tree-sitter/tree-sitter-javascript/bindings/go"
	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"

	"github.com/exhibit-dev/exhibit/extract/flat"
)

// op is what the walker does at a node. The kinds of the three grammars map to
// it, so that one walker serves them all.
type op uint8

const (
	opNone op = iota // descend
	opSkip           // comments, literals of no interest
	opIdentifier
	opPropertyIdentifier
	opThis
	opSuper
	opString
	opTemplate
	opNumber
	opBool
	opNull
	opRegexp
	opCall
	opNew
	opMember
	opSubscript
	opParen
	opAs
	opNonNull
	opAwait
	opYield
	opSpread
	opUnary
	opBinary
	opTernary
	opAssign
	opAugmented
	opUpdate
	opSequence
	opArray
	opObject
	opInstantiation
	opArrow
	opFunctionExpr
	opFunctionDecl
	opFunctionSignature
	opClass // declaration, abstract, or expression
	opMethod
	opMethodSignature
	opField
	opStaticBlock
	opInterface
	opTypeAlias
	opEnum
	opNamespace
	opAmbient
	opVarDecl
	opBlock
	opIf
	opFor
	opForIn
	opCatch
	opSwitchBody
	opReturn
	opImportStatement
	opImportAlias
	opExport
	opDecorator
	opJSXElement
	opJSXSelf
	opJSXAttribute
	opLabel
	opImportWord
	opMeta

	// Types.
	opTypeIdentifier
	opNestedType
	opGenericType
	opUnionType
	opIntersectionType
	opArrayType
	opTupleType
	opFunctionType
	opConstructorType
	opObjectType
	opPredefinedType
	opLiteralType
	opTypeQuery
	opLookupType
	opConditionalType
	opInferType
	opKeyOf
	opParenType
	opReadonlyType
	opOptionalType
	opRestType
	opTypeAnnotation
	opTypePredicate
	opThisType
	opTemplateType
	opTypeArguments
	opTypeParameters
	opFormalParameters
)

var opNames = map[string]op{
	"comment": opSkip, "html_comment": opSkip, "hash_bang_line": opSkip, "empty_statement": opSkip, "debugger_statement": opSkip,
	"break_statement": opSkip, "continue_statement": opSkip, "jsx_text": opSkip, "statement_identifier": opSkip,
	"jsx_closing_element": opSkip, "import_attribute": opSkip,

	"identifier": opIdentifier, "undefined": opNull, "property_identifier": opPropertyIdentifier,
	"private_property_identifier": opPropertyIdentifier, "shorthand_property_identifier": opIdentifier,
	"this": opThis, "super": opSuper, "string": opString, "template_string": opTemplate, "number": opNumber,
	"true": opBool, "false": opBool, "null": opNull, "regex": opRegexp,
	"call_expression": opCall, "new_expression": opNew, "member_expression": opMember, "nested_identifier": opMember,
	"subscript_expression": opSubscript, "parenthesized_expression": opParen, "as_expression": opAs, "satisfies_expression": opAs,
	"type_assertion": opAs, "non_null_expression": opNonNull, "await_expression": opAwait, "yield_expression": opYield,
	"spread_element": opSpread, "unary_expression": opUnary, "binary_expression": opBinary, "ternary_expression": opTernary,
	"assignment_expression": opAssign, "augmented_assignment_expression": opAugmented, "update_expression": opUpdate,
	"sequence_expression": opSequence, "array": opArray, "object": opObject, "instantiation_expression": opInstantiation,
	"arrow_function": opArrow, "function_expression": opFunctionExpr, "generator_function": opFunctionExpr,
	"function_declaration": opFunctionDecl, "generator_function_declaration": opFunctionDecl, "function_signature": opFunctionSignature,
	"class_declaration": opClass, "abstract_class_declaration": opClass, "class": opClass,
	"method_definition": opMethod, "method_signature": opMethodSignature, "abstract_method_signature": opMethodSignature,
	"public_field_definition": opField, "field_definition": opField, "class_static_block": opStaticBlock,
	"interface_declaration": opInterface, "type_alias_declaration": opTypeAlias, "enum_declaration": opEnum,
	"internal_module": opNamespace, "module": opNamespace, "ambient_declaration": opAmbient,
	"lexical_declaration": opVarDecl, "variable_declaration": opVarDecl, "using_declaration": opVarDecl,
	"statement_block": opBlock, "if_statement": opIf, "for_statement": opFor, "for_in_statement": opForIn, "catch_clause": opCatch,
	"switch_body": opSwitchBody, "return_statement": opReturn, "import_statement": opImportStatement, "import_alias": opImportAlias,
	"export_statement": opExport, "decorator": opDecorator, "jsx_element": opJSXElement, "jsx_self_closing_element": opJSXSelf,
	"jsx_attribute": opJSXAttribute, "import": opImportWord, "meta_property": opMeta,

	"type_identifier": opTypeIdentifier, "nested_type_identifier": opNestedType, "generic_type": opGenericType,
	"union_type": opUnionType, "intersection_type": opIntersectionType, "array_type": opArrayType, "tuple_type": opTupleType,
	"function_type": opFunctionType, "constructor_type": opConstructorType, "object_type": opObjectType,
	"predefined_type": opPredefinedType, "literal_type": opLiteralType, "type_query": opTypeQuery, "lookup_type": opLookupType,
	"conditional_type": opConditionalType, "infer_type": opInferType, "index_type_query": opKeyOf, "parenthesized_type": opParenType,
	"readonly_type": opReadonlyType, "optional_type": opOptionalType, "rest_type": opRestType,
	"type_annotation": opTypeAnnotation, "omitting_type_annotation": opTypeAnnotation, "opting_type_annotation": opTypeAnnotation,
	"adding_type_annotation": opTypeAnnotation, "asserts_annotation": opTypePredicate, "type_predicate_annotation": opTypePredicate,
	"type_predicate": opTypePredicate, "asserts": opTypePredicate, "this_type": opThisType,
	"template_literal_type": opTemplateType, "type_arguments": opTypeArguments, "type_parameters": opTypeParameters,
	"formal_parameters": opFormalParameters,
}

// dialect is one grammar with its numbers.
type dialect struct {
	lang *flat.Language
	ops  []op // by kind
	typescript,
	jsx bool

	name, value, body, parameters, parameter, returnType, typeParameters, typeArguments, function, arguments,
	object, property, constructor, left, right, operator, source, declaration, alias, key, typ, pattern, decorator,
	constraint, index, condition, consequence, alternative, kind, module, argument uint8

	pair, pairPattern, objectPattern, arrayPattern, assignmentPattern, objectAssignmentPattern, restPattern,
	shorthandPattern, spread, requiredParameter, optionalParameter, classHeritage, extendsClause, implementsClause,
	extendsTypeClause, exportClause, exportSpecifier, namespaceExport, importClause, importSpecifier, namedImports, namespaceImport,
	importRequireClause, stringFragment, templateSubstitution, computedName, typeParameter, enumAssignment, mappedClause,
	callSignature, constructSignature, propertySignature, indexSignature, jsxOpening, jsxNamespaceName,
	variableDeclarator, accessibility, override, stringKind, identifier, callExpression, classBody, defaultType, constraintKind,
	jsxElement, jsxSelf, lexicalDeclaration, variableDeclaration, functionDeclaration, classDeclaration, undefinedWord, withStatement uint16
}

const noField, noKind = 0xff, 0xffff

func newDialect(lang *flat.Language, ts, jsx bool) *dialect {
	d := &dialect{lang: lang, typescript: ts, jsx: jsx}
	kinds := map[string]uint16{}
	for id := uint16(0); id < 2000; id++ {
		name := lang.KindName(id)
		o, known := opNames[name]
		for int(id) >= len(d.ops) {
			d.ops = append(d.ops, opNone)
		}
		if known {
			d.ops[id] = o
		}
		if _, dup := kinds[name]; !dup {
			kinds[name] = id
		}
	}
	kind := func(name string) uint16 {
		if _, ok := kinds[name]; !ok {
			return noKind
		}
		return lang.Kind(name)
	}
	// The grammar of JavaScript lacks the fields of types.
	tsField := func(name string) uint8 {
		if !ts {
			return noField
		}
		return lang.Field(name)
	}
	f := lang.Field
	d.name, d.value, d.body, d.parameters, d.parameter = f("name"), f("value"), f("body"), f("parameters"), f("parameter")
	d.function, d.arguments, d.object, d.property, d.constructor = f("function"), f("arguments"), f("object"), f("property"), f("constructor")
	d.left, d.right, d.operator, d.source, d.declaration = f("left"), f("right"), f("operator"), f("source"), f("declaration")
	d.alias, d.key, d.decorator, d.index, d.condition = f("alias"), f("key"), f("decorator"), f("index"), f("condition")
	d.consequence, d.alternative, d.kind = f("consequence"), f("alternative"), f("kind")
	d.argument = f("argument")
	d.returnType, d.typeParameters, d.typeArguments = tsField("return_type"), tsField("type_parameters"), tsField("type_arguments")
	d.typ, d.constraint, d.module, d.pattern = tsField("type"), tsField("constraint"), tsField("module"), tsField("pattern")

	for p, name := range map[*uint16]string{
		&d.pair: "pair", &d.pairPattern: "pair_pattern", &d.objectPattern: "object_pattern", &d.arrayPattern: "array_pattern",
		&d.assignmentPattern: "assignment_pattern", &d.objectAssignmentPattern: "object_assignment_pattern",
		&d.restPattern: "rest_pattern", &d.shorthandPattern: "shorthand_property_identifier_pattern", &d.spread: "spread_element",
		&d.requiredParameter: "required_parameter", &d.optionalParameter: "optional_parameter", &d.classHeritage: "class_heritage",
		&d.extendsClause: "extends_clause", &d.implementsClause: "implements_clause", &d.extendsTypeClause: "extends_type_clause",
		&d.exportClause: "export_clause", &d.exportSpecifier: "export_specifier", &d.namespaceExport: "namespace_export",
		&d.importClause: "import_clause", &d.importSpecifier: "import_specifier", &d.namedImports: "named_imports",
		&d.namespaceImport: "namespace_import", &d.importRequireClause: "import_require_clause", &d.stringFragment: "string_fragment",
		&d.templateSubstitution: "template_substitution", &d.computedName: "computed_property_name", &d.typeParameter: "type_parameter",
		&d.enumAssignment: "enum_assignment", &d.mappedClause: "mapped_type_clause", &d.callSignature: "call_signature",
		&d.constructSignature: "construct_signature", &d.propertySignature: "property_signature", &d.indexSignature: "index_signature",
		&d.jsxOpening: "jsx_opening_element", &d.jsxNamespaceName: "jsx_namespace_name", &d.variableDeclarator: "variable_declarator",
		&d.accessibility: "accessibility_modifier", &d.override: "override_modifier", &d.stringKind: "string", &d.identifier: "identifier",
		&d.callExpression: "call_expression", &d.classBody: "class_body", &d.defaultType: "default_type", &d.constraintKind: "constraint",
		&d.jsxElement: "jsx_element", &d.jsxSelf: "jsx_self_closing_element", &d.lexicalDeclaration: "lexical_declaration",
		&d.variableDeclaration: "variable_declaration", &d.functionDeclaration: "function_declaration",
		&d.classDeclaration: "class_declaration", &d.undefinedWord: "undefined", &d.withStatement: "with_statement",
	} {
		*p = kind(name)
	}
	return d
}

var (
	jsDialect  = sync.OnceValue(func() *dialect { return newDialect(flat.NewLanguage(javascript.Language()), false, true) })
	tsDialect  = sync.OnceValue(func() *dialect { return newDialect(flat.NewLanguage(typescript.LanguageTypescript()), true, false) })
	tsxDialect = sync.OnceValue(func() *dialect { return newDialect(flat.NewLanguage(typescript.LanguageTSX()), true, true) })
)

func dialectOf(language string) *dialect {
	switch language {
	case "javascript":
		return jsDialect()
	case "typescript":
		return tsDialect()
	case "tsx":
		return tsxDialect()
	}
	return nil
}
