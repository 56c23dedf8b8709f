package facts

import (
	"errors"
	"reflect"
	"testing"
)

// sample uses every table, negative indexes and offsets that go backwards.
func sample() *File {
	b := NewBuilder("pkg/ä.py", "python", 120)
	x := b.Expr(Expr{Kind: ExprName, Name: b.Str("x"), Def: None, Span: Span{10, 11}})
	call := b.Expr(Expr{Kind: ExprCall, Def: None, Span: Span{10, 13}}, x, 0)
	scope := b.Scope(Scope{Kind: ScopeFunction, Parent: 0, Def: 0, Span: Span{5, 90}})
	def := b.Def(Def{Kind: KindFunction, Flags: FlagGenerated | FlagExported, Name: b.Str("f"), Qual: b.Str("f"), Parent: None,
		Scope: 0, Body: scope, Span: Span{5, 90}, NameStart: 9, NameEnd: 10, BodyStart: 20, Value: call})
	ref := b.Ref(Ref{Kind: RefCall, Name: b.Str("x"), Scope: scope, Owner: def, Span: Span{10, 11}, Expr: call, Site: Span{4, 13}})
	imp := b.Import(Import{Kind: ImportName, Module: b.Str("m"), Level: 2, Name: b.Str("n"), Ref: ref, Span: Span{1, 2}})
	b.File.Bindings = append(b.File.Bindings, Binding{Kind: BindImport, Name: b.Str("n"), Def: None, Import: imp, Span: Span{50, 51}},
		Binding{Kind: BindParam, Name: b.Str("x"), Scope: scope, Def: None, Import: None, Type: x, Order: 3, Span: Span{7, 8}})
	b.File.Exports = append(b.File.Exports, Export{Kind: ExportAll, Name: b.Str("f"), Def: None, Ref: None})
	b.File.Headings = append(b.File.Headings, Heading{Level: 1, Text: b.Str("Title"), Line: 4})
	b.File.Signatures = []string{"def f(x)"}
	b.File.LineStarts, b.File.Status, b.File.Damage = []uint32{0, 7, 300}, Partial, []Span{{3, 5}, {60, 61}}
	return b.File
}

func TestCodecRoundTrip(t *testing.T) {
	want := sample()
	got, err := Decode(Encode(want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("got %+v\nwant %+v", got, want)
	}
}

func TestDecodeRefusesDamage(t *testing.T) {
	good := Encode(sample())
	for n := range good {
		if _, err := Decode(good[:n]); !errors.Is(err, ErrCorrupt) {
			t.Fatalf("cut to %d of %d bytes: %v", n, len(good), err)
		}
	}
	if _, err := Decode(append(good[:len(good):len(good)], 0)); !errors.Is(err, ErrCorrupt) {
		t.Fatalf("trailing byte: %v", err)
	}
	for name, spoil := range map[string]func(*File){
		"string":         func(f *File) { f.Refs[0].Name = 99 },
		"expression":     func(f *File) { f.Defs[0].Value = 99 },
		"scope parent":   func(f *File) { f.Scopes[1].Parent = 1 },
		"own container":  func(f *File) { f.Defs[0].Parent = 0 },
		"child to later": func(f *File) { f.Kids[0] = 2 },
		"owner":          func(f *File) { f.Refs[0].Owner = 7 },
	} {
		f := sample()
		spoil(f)
		if _, err := Decode(Encode(f)); !errors.Is(err, ErrCorrupt) {
			t.Errorf("%s out of range: %v", name, err)
		}
	}
}

// FuzzDecode: whatever decodes encodes to the same facts again.
func FuzzDecode(f *testing.F) {
	f.Add(Encode(sample()))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := Decode(b)
		if err != nil {
			return
		}
		again, err := Decode(Encode(got))
		if err != nil || !reflect.DeepEqual(got, again) {
			t.Fatalf("second round: %v", err)
		}
	})
}
