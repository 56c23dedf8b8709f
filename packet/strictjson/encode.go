package strictjson

import (
	"encoding/json"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/gowebpki/jcs"
)

// Marshal writes v in canonical form (RFC 8785). It refuses what Unmarshal
// would not read back as the same value: a nil slice that is not optional,
// text that is not valid UTF-8, an integer of 2^53 or more.
func Marshal(v any) ([]byte, error) {
	if err := check(nil, reflect.ValueOf(v)); err != nil {
		return nil, err
	}
	plain, err := json.Marshal(v)
	if err != nil {
		return nil, &Error{Offset: -1, Msg: err.Error()}
	}
	canonical, err := jcs.Transform(plain)
	if err != nil {
		return nil, &Error{Offset: -1, Msg: err.Error()}
	}
	return canonical, nil
}

func check(p *path, v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return p.errorf(-1, "is missing")
		}
		return check(p, v.Elem())
	case reflect.Struct:
		for _, m := range members(v.Type()) {
			field := v.Field(m.index)
			if m.omitEmpty && empty(field) {
				continue
			}
			if err := check(&path{parent: p, name: m.name, index: -1}, field); err != nil {
				return err
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return p.errorf(-1, "is missing")
		}
		for i := range v.Len() {
			if err := check(&path{parent: p, index: i}, v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.String:
		if !utf8.ValidString(v.String()) {
			return p.errorf(-1, "is not valid UTF-8")
		}
	case reflect.Int, reflect.Int64:
		if n := v.Int(); n > MaxInteger || n < -MaxInteger {
			return p.errorf(-1, "the integer is not below 2^53")
		}
	case reflect.Bool:
	default:
		return p.errorf(-1, "a member of type %s has no JSON form here", v.Type())
	}
	return nil
}

// member is one field of a struct as its JSON sees it.
type member struct {
	name                string
	index               int
	omitEmpty, required bool
}

// members reads the tags of a struct type. A schema type tags every field.
func members(t reflect.Type) []member {
	out := make([]member, 0, t.NumField())
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" {
			continue
		}
		m := member{name: name, index: i, omitEmpty: opts == "omitempty"}
		m.required = !m.omitEmpty && f.Tag.Get("strict") != "optional"
		out = append(out, m)
	}
	return out
}

// empty is encoding/json's meaning of omitempty.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.String:
		return v.Len() == 0
	case reflect.Pointer:
		return v.IsNil()
	case reflect.Struct:
		return false
	}
	return v.IsZero()
}
