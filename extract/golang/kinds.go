package golang

import (
	treesitter "github.com/tree-sitter/tree-sitter-go/bindings/go"

	"github.com/exhibit-dev/exhibit/extract/flat"
)

// op is what the walk does with a node: grammar kinds folded to small
// constants, so that a switch becomes a jump table.
type op uint8

const (
	opOther op = iota // visit the children
	opSkip
	opPackage
	opImport
	opFunction
	opMethod
	opVarDecl
	opVarSpec
	opConstDecl
	opConstSpec
	opTypeDecl
	opTypeSpec
	opTypeAlias
	opBlock
	opShortVar
	opAssign
	opIf
	opFor
	opRange
	opSwitch
	opTypeSwitch
	opCase
	opTypeCase
	opComm
	opReceive
	opLabeled

	opIdent
	opSelector
	opCall
	opConversion
	opInstantiation
	opIndex
	opSlice
	opAssertion
	opComposite
	opFuncLit
	opUnary
	opBinary
	opParen
	opVariadic
	opInt
	opFloat
	opImaginary
	opRune
	opString
	opNil
	opBool

	opTypeIdent
	opQualified
	opGeneric
	opPointer
	opSliceType
	opArrayType
	opMapType
	opChanType
	opFuncType
	opStructType
	opInterfaceType
	opParenType
	opNegated
	opTypeElem
)

var lang = flat.NewLanguage(treesitter.Language())

var ops = func() []op {
	byName := map[string]op{
		"package_clause": opPackage, "import_spec": opImport,
		"function_declaration": opFunction, "method_declaration": opMethod,
		"var_declaration": opVarDecl, "var_spec": opVarSpec, "const_declaration": opConstDecl, "const_spec": opConstSpec,
		"type_declaration": opTypeDecl, "type_spec": opTypeSpec, "type_alias": opTypeAlias,
		"block": opBlock, "short_var_declaration": opShortVar, "assignment_statement": opAssign, "if_statement": opIf,
		"for_statement": opFor, "range_clause": opRange, "expression_switch_statement": opSwitch,
		"type_switch_statement": opTypeSwitch, "expression_case": opCase, "default_case": opCase, "type_case": opTypeCase,
		"communication_case": opComm, "receive_statement": opReceive, "labeled_statement": opLabeled,
		"break_statement": opSkip, "continue_statement": opSkip, "goto_statement": opSkip, "comment": opSkip,
		"label_name": opSkip, "field_identifier": opSkip, "package_identifier": opSkip,

		"identifier": opIdent, "selector_expression": opSelector, "call_expression": opCall,
		"type_conversion_expression": opConversion, "type_instantiation_expression": opInstantiation,
		"index_expression": opIndex, "slice_expression": opSlice, "type_assertion_expression": opAssertion,
		"composite_literal": opComposite, "func_literal": opFuncLit, "unary_expression": opUnary,
		"binary_expression": opBinary, "parenthesized_expression": opParen, "variadic_argument": opVariadic,
		"int_literal": opInt, "float_literal": opFloat, "imaginary_literal": opImaginary, "rune_literal": opRune,
		"interpreted_string_literal": opString, "raw_string_literal": opString, "nil": opNil, "true": opBool,
		"false": opBool, "iota": opInt,

		"type_identifier": opTypeIdent, "qualified_type": opQualified, "generic_type": opGeneric,
		"pointer_type": opPointer, "slice_type": opSliceType, "array_type": opArrayType,
		"implicit_length_array_type": opArrayType, "map_type": opMapType, "channel_type": opChanType,
		"function_type": opFuncType, "struct_type": opStructType, "interface_type": opInterfaceType,
		"parenthesized_type": opParenType, "negated_type": opNegated, "type_elem": opTypeElem, "type_constraint": opTypeElem,
	}
	var table []op
	for name, o := range byName {
		kind := int(lang.Kind(name))
		for len(table) <= kind {
			table = append(table, opOther)
		}
		table[kind] = o
	}
	return table
}()

// Kinds and tokens that are asked for by name.
var (
	kindComment    = lang.Kind("comment")
	kindImportDecl = lang.Kind("import_declaration")
	kindIdentifier = lang.Kind("identifier")
	kindParameter  = lang.Kind("parameter_declaration")
	kindVariadic   = lang.Kind("variadic_parameter_declaration")
	kindParameters = lang.Kind("parameter_list")
	kindTypeParam  = lang.Kind("type_parameter_declaration")
	kindField      = lang.Kind("field_declaration")
	kindFields     = lang.Kind("field_declaration_list")
	kindMethodElem = lang.Kind("method_elem")
	kindKeyed      = lang.Kind("keyed_element")
	kindElement    = lang.Kind("literal_element")
	kindLiteral    = lang.Kind("literal_value")
	kindPackageID  = lang.Kind("package_identifier")
	kindDot        = lang.Kind("dot")
	tokenDefine    = lang.Token(":=")
)

var (
	fieldName     = lang.Field("name")
	fieldPath     = lang.Field("path")
	fieldType     = lang.Field("type")
	fieldTypePars = lang.Field("type_parameters")
	fieldTypeArgs = lang.Field("type_arguments")
	fieldParams   = lang.Field("parameters")
	fieldResult   = lang.Field("result")
	fieldReceiver = lang.Field("receiver")
	fieldBody     = lang.Field("body")
	fieldValue    = lang.Field("value")
	fieldKey      = lang.Field("key")
	fieldElement  = lang.Field("element")
	fieldLength   = lang.Field("length")
	fieldPackage  = lang.Field("package")
	fieldOperand  = lang.Field("operand")
	fieldField    = lang.Field("field")
	fieldFunction = lang.Field("function")
	fieldArgs     = lang.Field("arguments")
	fieldIndex    = lang.Field("index")
	fieldLeft     = lang.Field("left")
	fieldRight    = lang.Field("right")
	fieldOperator = lang.Field("operator")
	fieldAlias    = lang.Field("alias")
	fieldLabel    = lang.Field("label")
)
