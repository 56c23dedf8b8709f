package render

import (
	"bytes"
	"encoding/json"
	"reflect"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// Schema is that of the JSON rendering. It is a view: the packet itself, which
// digests and signatures are of, is the bundle's.
const Schema = "exhibit.rendered.v1"

// view is the JSON rendering. Every string of Packet is escaped as Escape does;
// bytes that are not UTF-8 are escaped in the plain members, and the base64
// members stay beside them.
type view struct {
	Schema  string         `json:"schema"`
	Notice  string         `json:"notice"`
	Address string         `json:"address"`
	Escaped int            `json:"escaped_characters"`
	Notes   []note         `json:"notes,omitempty"`
	Packet  *packet.Packet `json:"packet"`
}

// note is Options.Note of a citation.
type note struct {
	Path          string `json:"path"`
	StartLine     int    `json:"start_line"`
	SnippetSHA256 string `json:"snippet_sha256"`
	Note          string `json:"note"`
}

func renderJSON(data []byte, o Options) ([]byte, Report, error) {
	copied, err := packet.Decode(data) // a deep copy that may be escaped in place
	if err != nil {
		return nil, Report{}, err
	}
	v := view{Schema: Schema, Notice: Notice, Address: packet.Address(data), Packet: copied}
	var r Report
	eachCitation(copied, func(c *packet.Citation) {
		if c.RawSnippet() != nil {
			r.Quoted++
		}
		if o.Note == nil {
			return
		}
		if s := o.Note(c); s != "" {
			path, _ := Name(c.RawPath())
			text, n := Name(s)
			r.Escaped += n
			v.Notes = append(v.Notes, note{Path: path, StartLine: c.StartLine, SnippetSHA256: c.SnippetSHA256, Note: text})
		}
	})
	escapeStrings(reflect.ValueOf(copied).Elem(), &r.Escaped)
	v.Escaped = r.Escaped
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return nil, Report{}, fault.New(fault.PacketInvalid, "cannot show the packet: %w", err)
	}
	return b.Bytes(), r, nil
}

func eachCitation(p *packet.Packet, do func(*packet.Citation)) {
	lists := [][]packet.Citation{}
	for i := range p.Documents {
		lists = append(lists, p.Documents[i].Citations)
	}
	for i := range p.Seeds {
		lists = append(lists, p.Seeds[i].Citations)
	}
	if p.UnresolvedMentions != nil {
		lists = append(lists, p.UnresolvedMentions.Sites)
	}
	for _, list := range lists {
		for i := range list {
			do(&list[i])
		}
	}
}

// escapeStrings escapes every string in place. Raw bytes that have a base64
// member get their escaped form in the plain member too.
func escapeStrings(v reflect.Value, escaped *int) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			escapeStrings(v.Elem(), escaped)
		}
	case reflect.Slice:
		for i := range v.Len() {
			escapeStrings(v.Index(i), escaped)
		}
	case reflect.Struct:
		showRaw(v.Addr().Interface())
		for i := range v.NumField() {
			escapeStrings(v.Field(i), escaped)
		}
	case reflect.String:
		s, n := Escape(v.String())
		*escaped += n
		v.SetString(s)
	}
}

func showRaw(v any) {
	switch v := v.(type) {
	case *packet.Citation:
		v.Snippet, v.Path = string(v.RawSnippet()), v.RawPath()
	case *packet.Entity:
		v.Path = v.RawPath()
	case *packet.FileRef:
		v.Path = v.RawPath()
	case *packet.PartialFile:
		v.Path = v.RawPath()
	}
}
