package strictjson

import (
	"bytes"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// MaxInteger is the largest magnitude of a number: 2^53-1.
const MaxInteger = 1<<53 - 1

// Unmarshal reads the one JSON value of data into the struct that v points to.
// data may be at most max bytes; white space around the value is accepted.
// The error is an *Error, and v is then of no use.
func Unmarshal(data []byte, max int, v any) error {
	dst := reflect.ValueOf(v)
	if dst.Kind() != reflect.Pointer || dst.IsNil() {
		return &Error{Msg: fmt.Sprintf("cannot read into %T", v), Offset: -1}
	}
	if len(data) > max {
		return &Error{Msg: fmt.Sprintf("%d bytes are more than the %d allowed", len(data), max)}
	}
	d := decoder{data: data}
	d.space()
	if err := d.value(nil, dst.Elem()); err != nil {
		return err
	}
	d.space()
	if d.pos < len(d.data) {
		return &Error{Offset: d.pos, Msg: "data after the end of the document"}
	}
	return nil
}

type decoder struct {
	data []byte
	pos  int
}

// value reads one value of dst's type. It returns error, not *Error, so that a
// nil stays nil.
func (d *decoder) value(p *path, dst reflect.Value) error {
	if dst.Kind() == reflect.Pointer {
		dst.Set(reflect.New(dst.Type().Elem()))
		return d.value(p, dst.Elem())
	}
	if d.pos >= len(d.data) {
		return p.errorf(d.pos, "the document ends too early")
	}
	switch dst.Kind() {
	case reflect.Struct:
		return d.object(p, dst)
	case reflect.Slice:
		return d.array(p, dst)
	case reflect.String:
		s, err := d.str(p)
		if err != nil {
			return err
		}
		dst.SetString(s)
	case reflect.Int, reflect.Int64:
		n, err := d.integer(p)
		if err != nil {
			return err
		}
		if dst.OverflowInt(n) {
			return p.errorf(d.pos, "the number is too large")
		}
		dst.SetInt(n)
	case reflect.Bool:
		switch {
		case d.literal("true"):
			dst.SetBool(true)
		case d.literal("false"):
			dst.SetBool(false)
		default:
			return p.errorf(d.pos, "want true or false, have %s", d.kind())
		}
	default:
		return p.errorf(d.pos, "the schema has a member of type %s, which has no JSON form", dst.Type())
	}
	return nil
}

func (d *decoder) object(p *path, dst reflect.Value) error {
	if !d.byte('{') {
		return p.errorf(d.pos, "want an object, have %s", d.kind())
	}
	fields := members(dst.Type())
	seen := make([]bool, len(fields))
	d.space()
	for more := !d.byte('}'); more; {
		if err := d.member(p, dst, fields, seen); err != nil {
			return err
		}
		d.space()
		if d.byte('}') {
			break
		}
		if !d.byte(',') {
			return p.errorf(d.pos, "want a comma or the end of the object")
		}
		d.space()
	}
	for i, ok := range seen {
		if !ok && fields[i].required {
			return p.errorf(d.pos, "member %q is missing", fields[i].name)
		}
	}
	return nil
}

// member reads one "name": value.
func (d *decoder) member(p *path, dst reflect.Value, fields []member, seen []bool) error {
	at := d.pos
	name, err := d.str(p)
	if err != nil {
		return err
	}
	i, err := find(p, at, fields, name)
	if err != nil {
		return err
	}
	if seen[i] {
		return p.errorf(at, "member %s stands twice", quote(name))
	}
	seen[i] = true
	d.space()
	if !d.byte(':') {
		return p.errorf(d.pos, "want a colon after member %s", quote(name))
	}
	d.space()
	at = d.pos
	in := &path{parent: p, name: name, index: -1}
	field := dst.Field(fields[i].index)
	if err := d.value(in, field); err != nil {
		return err
	}
	if fields[i].omitEmpty && empty(field) {
		return in.errorf(at, "must be left out when it is empty")
	}
	return nil
}

// find gives the index of the member that bears exactly this name.
func find(p *path, at int, fields []member, name string) (int, error) {
	for i := range fields {
		if fields[i].name == name {
			return i, nil
		}
	}
	for i := range fields {
		if strings.EqualFold(fields[i].name, name) {
			return 0, p.errorf(at, "member %s is not %q: names are exact", quote(name), fields[i].name)
		}
	}
	return 0, p.errorf(at, "unknown member %s", quote(name))
}

func (d *decoder) array(p *path, dst reflect.Value) error {
	if !d.byte('[') {
		return p.errorf(d.pos, "want an array, have %s", d.kind())
	}
	dst.Set(reflect.MakeSlice(dst.Type(), 0, 0))
	d.space()
	if d.byte(']') {
		return nil
	}
	for i := 0; ; i++ {
		elem := reflect.New(dst.Type().Elem()).Elem()
		if err := d.value(&path{parent: p, index: i}, elem); err != nil {
			return err
		}
		dst.Set(reflect.Append(dst, elem))
		d.space()
		if d.byte(']') {
			return nil
		}
		if !d.byte(',') {
			return p.errorf(d.pos, "want a comma or the end of the array")
		}
		d.space()
	}
}

// integer reads -?(0|[1-9][0-9]*) of magnitude below 2^53; -0 is refused,
// because canonical form has no such number.
func (d *decoder) integer(p *path) (int64, error) {
	start := d.pos
	if d.pos < len(d.data) && d.data[d.pos] == '-' {
		d.pos++
	}
	digits := d.pos
	for d.pos < len(d.data) && '0' <= d.data[d.pos] && d.data[d.pos] <= '9' {
		d.pos++
	}
	if d.pos == digits {
		d.pos = start
		return 0, p.errorf(start, "want an integer, have %s", d.kind())
	}
	if d.pos < len(d.data) {
		switch d.data[d.pos] {
		case '.', 'e', 'E':
			return 0, p.errorf(start, "want an integer without fraction or exponent")
		}
	}
	text := string(d.data[start:d.pos])
	if d.data[digits] == '0' && (d.pos > digits+1 || digits > start) {
		return 0, p.errorf(start, "the integer is not written plainly")
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n > MaxInteger || n < -MaxInteger {
		return 0, p.errorf(start, "the integer is not below 2^53")
	}
	return n, nil
}

// str reads a string. The result is valid UTF-8 and says what the input says:
// nothing is replaced.
func (d *decoder) str(p *path) (string, error) {
	if !d.byte('"') {
		return "", p.errorf(d.pos, "want a string, have %s", d.kind())
	}
	start := d.pos
	for d.pos < len(d.data) && d.data[d.pos] != '"' && d.data[d.pos] != '\\' && d.data[d.pos] >= 0x20 && d.data[d.pos] < utf8.RuneSelf {
		d.pos++
	}
	out := append([]byte(nil), d.data[start:d.pos]...)
	for d.pos < len(d.data) {
		switch c := d.data[d.pos]; {
		case c == '"':
			d.pos++
			return string(out), nil
		case c == '\\':
			r, err := d.escape(p)
			if err != nil {
				return "", err
			}
			out = utf8.AppendRune(out, r)
		case c < 0x20:
			return "", p.errorf(d.pos, "a control character stands unescaped in a string")
		default:
			r, n := utf8.DecodeRune(d.data[d.pos:])
			if r == utf8.RuneError && n <= 1 {
				return "", p.errorf(d.pos, "the string is not valid UTF-8")
			}
			out = append(out, d.data[d.pos:d.pos+n]...)
			d.pos += n
		}
	}
	return "", p.errorf(d.pos, "the document ends inside a string")
}

// escapes are the two-character escapes of RFC 8259.
var escapes = [256]rune{'"': '"', '\\': '\\', '/': '/', 'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t'}

func (d *decoder) escape(p *path) (rune, error) {
	at := d.pos
	d.pos++ // the reverse solidus
	if d.pos >= len(d.data) {
		return 0, p.errorf(at, "the document ends inside a string")
	}
	c := d.data[d.pos]
	if r := escapes[c]; r != 0 {
		d.pos++
		return r, nil
	}
	if c != 'u' {
		return 0, p.errorf(at, "unknown escape in a string")
	}
	d.pos++
	r, ok := d.hex4()
	if !ok {
		return 0, p.errorf(at, "a \\u escape wants four hex digits")
	}
	if !utf16.IsSurrogate(r) {
		return r, nil
	}
	if d.literal(`\u`) {
		if low, ok := d.hex4(); ok {
			if full := utf16.DecodeRune(r, low); full != utf8.RuneError {
				return full, nil
			}
		}
	}
	return 0, p.errorf(at, "a surrogate stands alone in a string")
}

func (d *decoder) hex4() (rune, bool) {
	if d.pos+4 > len(d.data) {
		return 0, false
	}
	n, err := strconv.ParseUint(string(d.data[d.pos:d.pos+4]), 16, 16)
	if err != nil {
		return 0, false
	}
	d.pos += 4
	return rune(n), true
}

func (d *decoder) space() {
	for d.pos < len(d.data) {
		switch d.data[d.pos] {
		case ' ', '\t', '\n', '\r':
			d.pos++
		default:
			return
		}
	}
}

// byte steps over c if it stands here.
func (d *decoder) byte(c byte) bool {
	if d.pos < len(d.data) && d.data[d.pos] == c {
		d.pos++
		return true
	}
	return false
}

// literal steps over s if it stands here.
func (d *decoder) literal(s string) bool {
	if bytes.HasPrefix(d.data[d.pos:], []byte(s)) {
		d.pos += len(s)
		return true
	}
	return false
}

// kind names what stands here, for an error.
func (d *decoder) kind() string {
	if d.pos >= len(d.data) {
		return "the end of the document"
	}
	switch c := d.data[d.pos]; {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == 't' || c == 'f':
		return "a boolean"
	case c == 'n':
		return "null"
	case c == '-' || '0' <= c && c <= '9':
		return "a number"
	}
	return "no JSON value"
}
