package facts

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Format is the version of the encoding that Encode writes and of the facts
// themselves. It is part of every extraction key.
//
//	1  columns of varints over a string table
const Format = 1

// ErrCorrupt is returned, wrapped, for bytes that Encode did not write.
var ErrCorrupt = errors.New("corrupt facts")

// Encode writes facts as columns of varints: each table's length, then each
// field of all its rows. Offsets are differences to the row before, so that
// most take one byte. The same facts give the same bytes.
func Encode(f *File) []byte {
	w := &columns{buf: make([]byte, 0, 64+24*len(f.Refs)+12*len(f.Exprs))}
	w.uint(Format)
	transfer(w, f)
	return w.buf
}

// Decode reads what Encode wrote. It checks every index, so that a resolver may
// follow them without fear; anything else is ErrCorrupt.
func Decode(b []byte) (*File, error) {
	r := &columns{buf: b, reading: true}
	if v := r.uint(0); r.err == nil && v != Format {
		return nil, fmt.Errorf("%w: format %d, want %d", ErrCorrupt, v, Format)
	}
	f := &File{}
	transfer(r, f)
	if r.err == nil && len(r.buf) != 0 {
		r.fail("trailing bytes")
	}
	if r.err == nil {
		r.err = check(f, r)
	}
	if r.err != nil {
		return nil, r.err
	}
	return f, nil
}

// transfer names every field once, for both directions.
func transfer(c *columns, f *File) {
	c.string(&f.Path)
	c.string(&f.Language)
	lineStarts(c, &f.LineStarts)
	num(c, &f.Status)
	c.string(&f.Failure)
	spans(c, &f.Damage)
	spans(c, &f.Blanked)
	if table(c, &f.Strings) {
		for i := range f.Strings {
			c.string(&f.Strings[i])
		}
	}
	if table(c, &f.Signatures) {
		for i := range f.Signatures {
			c.string(&f.Signatures[i])
		}
	}
	if table(c, &f.Scopes) {
		column(c, f.Scopes, func(s *Scope) *ScopeKind { return &s.Kind })
		column(c, f.Scopes, func(s *Scope) *ScopeID { return &s.Parent })
		column(c, f.Scopes, func(s *Scope) *DefID { return &s.Def })
		spanColumn(c, f.Scopes, func(s *Scope) *Span { return &s.Span })
	}
	transferDefs(c, f)
	transferBindings(c, f)
	transferModules(c, f)
	transferExprs(c, f)
	if table(c, &f.Refs) {
		column(c, f.Refs, func(r *Ref) *RefKind { return &r.Kind })
		column(c, f.Refs, func(r *Ref) *Flags { return &r.Flags })
		column(c, f.Refs, func(r *Ref) *Str { return &r.Name })
		column(c, f.Refs, func(r *Ref) *ScopeID { return &r.Scope })
		column(c, f.Refs, func(r *Ref) *DefID { return &r.Owner })
		column(c, f.Refs, func(r *Ref) *ExprID { return &r.Expr })
		spanColumn(c, f.Refs, func(r *Ref) *Span { return &r.Span })
		spanColumn(c, f.Refs, func(r *Ref) *Span { return &r.Site })
	}
	if table(c, &f.Headings) {
		column(c, f.Headings, func(h *Heading) *uint32 { return &h.Level })
		column(c, f.Headings, func(h *Heading) *Str { return &h.Text })
		column(c, f.Headings, func(h *Heading) *uint32 { return &h.Line })
	}
}

func transferDefs(c *columns, f *File) {
	if !table(c, &f.Defs) {
		return
	}
	column(c, f.Defs, func(d *Def) *DefKind { return &d.Kind })
	column(c, f.Defs, func(d *Def) *Flags { return &d.Flags })
	column(c, f.Defs, func(d *Def) *Str { return &d.Name })
	column(c, f.Defs, func(d *Def) *Str { return &d.Qual })
	column(c, f.Defs, func(d *Def) *DefID { return &d.Parent })
	column(c, f.Defs, func(d *Def) *ScopeID { return &d.Scope })
	column(c, f.Defs, func(d *Def) *ScopeID { return &d.Body })
	spanColumn(c, f.Defs, func(d *Def) *Span { return &d.Span })
	column(c, f.Defs, func(d *Def) *uint32 { return &d.NameStart })
	column(c, f.Defs, func(d *Def) *uint32 { return &d.NameEnd })
	column(c, f.Defs, func(d *Def) *uint32 { return &d.BodyStart })
	for _, get := range []func(*Def) *ExprID{
		func(d *Def) *ExprID { return &d.Recv }, func(d *Def) *ExprID { return &d.Type },
		func(d *Def) *ExprID { return &d.Value }, func(d *Def) *ExprID { return &d.Bases },
		func(d *Def) *ExprID { return &d.Decorators }, func(d *Def) *ExprID { return &d.TypeParams },
	} {
		column(c, f.Defs, get)
	}
}

func transferBindings(c *columns, f *File) {
	if !table(c, &f.Bindings) {
		return
	}
	column(c, f.Bindings, func(b *Binding) *BindKind { return &b.Kind })
	column(c, f.Bindings, func(b *Binding) *Flags { return &b.Flags })
	column(c, f.Bindings, func(b *Binding) *Str { return &b.Name })
	column(c, f.Bindings, func(b *Binding) *ScopeID { return &b.Scope })
	spanColumn(c, f.Bindings, func(b *Binding) *Span { return &b.Span })
	column(c, f.Bindings, func(b *Binding) *DefID { return &b.Def })
	column(c, f.Bindings, func(b *Binding) *ImportID { return &b.Import })
	column(c, f.Bindings, func(b *Binding) *ExprID { return &b.Type })
	column(c, f.Bindings, func(b *Binding) *ExprID { return &b.Value })
	column(c, f.Bindings, func(b *Binding) *ExprID { return &b.Target })
	column(c, f.Bindings, func(b *Binding) *uint32 { return &b.Order })
}

func transferModules(c *columns, f *File) {
	if table(c, &f.Imports) {
		column(c, f.Imports, func(i *Import) *ImportKind { return &i.Kind })
		column(c, f.Imports, func(i *Import) *Flags { return &i.Flags })
		column(c, f.Imports, func(i *Import) *Str { return &i.Module })
		column(c, f.Imports, func(i *Import) *uint32 { return &i.Level })
		column(c, f.Imports, func(i *Import) *Str { return &i.Name })
		column(c, f.Imports, func(i *Import) *Str { return &i.Local })
		column(c, f.Imports, func(i *Import) *ScopeID { return &i.Scope })
		spanColumn(c, f.Imports, func(i *Import) *Span { return &i.Span })
		spanColumn(c, f.Imports, func(i *Import) *Span { return &i.ModuleSpan })
		column(c, f.Imports, func(i *Import) *int32 { return &i.Ref })
		column(c, f.Imports, func(i *Import) *ExprID { return &i.Expr })
	}
	if table(c, &f.Exports) {
		column(c, f.Exports, func(e *Export) *ExportKind { return &e.Kind })
		column(c, f.Exports, func(e *Export) *Flags { return &e.Flags })
		column(c, f.Exports, func(e *Export) *Str { return &e.Name })
		column(c, f.Exports, func(e *Export) *Str { return &e.Local })
		column(c, f.Exports, func(e *Export) *Str { return &e.Module })
		column(c, f.Exports, func(e *Export) *ExprID { return &e.Value })
		column(c, f.Exports, func(e *Export) *DefID { return &e.Def })
		spanColumn(c, f.Exports, func(e *Export) *Span { return &e.Span })
		column(c, f.Exports, func(e *Export) *int32 { return &e.Ref })
	}
}

func transferExprs(c *columns, f *File) {
	if table(c, &f.Exprs) {
		column(c, f.Exprs, func(e *Expr) *ExprKind { return &e.Kind })
		column(c, f.Exprs, func(e *Expr) *Flags { return &e.Flags })
		column(c, f.Exprs, func(e *Expr) *Str { return &e.Name })
		column(c, f.Exprs, func(e *Expr) *uint32 { return &e.Level })
		column(c, f.Exprs, func(e *Expr) *DefID { return &e.Def })
		spanColumn(c, f.Exprs, func(e *Expr) *Span { return &e.Span })
		kidCounts(c, f)
	}
	if table(c, &f.Kids) {
		column(c, f.Kids, func(k *ExprID) *ExprID { return k })
	}
}

// kidCounts transfers how many children each expression has: they lie one after
// another in the order of their parents.
func kidCounts(c *columns, f *File) {
	at := uint32(0)
	for i := range f.Exprs {
		n := uint32(0)
		if !c.reading {
			start, end := f.kids(ExprID(i))
			n = end - start
		}
		num(c, &n)
		if c.reading {
			f.Exprs[i].kid = at
			if at += n; at < n {
				c.fail("too many children")
			}
		}
	}
	c.kids = at
}

// check refuses facts whose indexes lead nowhere.
func check(f *File, c *columns) error {
	v := &checker{f: f}
	if len(f.Strings) == 0 || f.Strings[0] != "" || len(f.Exprs) == 0 || len(f.Scopes) == 0 {
		return fmt.Errorf("%w: reserved entries are absent", ErrCorrupt)
	}
	for i := range f.Exprs {
		e := &f.Exprs[i]
		v.str(e.Name)
		v.def(e.Def)
	}
	if c.kids != uint32(len(f.Kids)) {
		return fmt.Errorf("%w: %d children, want %d", ErrCorrupt, len(f.Kids), c.kids)
	}
	// A child stands before its parent, which rules out cycles.
	for i := range f.Exprs {
		for _, k := range f.Children(ExprID(i)) {
			if int(k) >= max(i, 1) {
				v.bad = true
			}
		}
	}
	for i := range f.Scopes {
		s := &f.Scopes[i]
		if s.Parent < None || int(s.Parent) >= max(i, 1) || (i == 0) != (s.Parent == None) {
			v.bad = true
		}
		v.def(s.Def)
	}
	v.bad = v.bad || len(f.Signatures) != 0 && len(f.Signatures) != len(f.Defs)
	v.tables()
	if !v.bad && cyclicParents(f.Defs) {
		return fmt.Errorf("%w: a definition contains itself", ErrCorrupt)
	}
	if v.bad {
		return fmt.Errorf("%w: an index leads out of its table", ErrCorrupt)
	}
	return nil
}

// cyclicParents walks up from each definition, at most once through each.
func cyclicParents(defs []Def) bool {
	seen := make([]int32, len(defs)) // the walk that came here, plus one
	for i := range defs {
		for d := DefID(i); d != None && seen[d] != int32(i)+1; d = defs[d].Parent {
			if seen[d] != 0 {
				break // an earlier walk ended well from here
			}
			seen[d] = int32(i) + 1
			if p := defs[d].Parent; p != None && seen[p] == int32(i)+1 {
				return true
			}
		}
	}
	return false
}

type checker struct {
	f   *File
	bad bool
}

func (v *checker) str(s Str)       { v.bad = v.bad || int(s) >= len(v.f.Strings) }
func (v *checker) expr(e ExprID)   { v.bad = v.bad || int(e) >= len(v.f.Exprs) }
func (v *checker) def(d DefID)     { v.bad = v.bad || d < None || int(d) >= len(v.f.Defs) }
func (v *checker) scope(s ScopeID) { v.bad = v.bad || s < None || int(s) >= len(v.f.Scopes) }
func (v *checker) ref(r int32)     { v.bad = v.bad || r < None || int(r) >= len(v.f.Refs) }

func (v *checker) tables() {
	f := v.f
	for i := range f.Defs {
		d := &f.Defs[i]
		v.str(d.Name)
		v.str(d.Qual)
		v.def(d.Parent)
		v.scope(d.Scope)
		v.scope(d.Body)
		for _, e := range []ExprID{d.Recv, d.Type, d.Value, d.Bases, d.Decorators, d.TypeParams} {
			v.expr(e)
		}
	}
	for i := range f.Bindings {
		b := &f.Bindings[i]
		v.str(b.Name)
		v.scope(b.Scope)
		v.def(b.Def)
		v.bad = v.bad || b.Import < None || int(b.Import) >= len(f.Imports)
		v.expr(b.Type)
		v.expr(b.Value)
		v.expr(b.Target)
	}
	for i := range f.Imports {
		m := &f.Imports[i]
		v.str(m.Module)
		v.str(m.Name)
		v.str(m.Local)
		v.scope(m.Scope)
		v.ref(m.Ref)
		v.expr(m.Expr)
	}
	for i := range f.Exports {
		e := &f.Exports[i]
		v.str(e.Name)
		v.str(e.Local)
		v.str(e.Module)
		v.expr(e.Value)
		v.def(e.Def)
		v.ref(e.Ref)
	}
	for i := range f.Refs {
		r := &f.Refs[i]
		v.str(r.Name)
		v.scope(r.Scope)
		v.def(r.Owner)
		v.expr(r.Expr)
	}
	for i := range f.Headings {
		v.str(f.Headings[i].Text)
	}
}

// columns is one encoding in progress, in either direction.
type columns struct {
	buf     []byte
	reading bool
	err     error
	kids    uint32 // children that the expressions have
}

func (c *columns) fail(what string) {
	if c.err == nil {
		c.err = fmt.Errorf("%w: %s", ErrCorrupt, what)
	}
	c.buf = nil
}

// uint appends v, or reads a value and gives it.
func (c *columns) uint(v uint64) uint64 {
	if !c.reading {
		c.buf = binary.AppendUvarint(c.buf, v)
		return v
	}
	v, n := binary.Uvarint(c.buf)
	if n <= 0 {
		c.fail("a number is cut off")
		return 0
	}
	c.buf = c.buf[n:]
	return v
}

func (c *columns) string(s *string) {
	n := c.uint(uint64(len(*s)))
	if !c.reading {
		c.buf = append(c.buf, *s...)
		return
	}
	if n > uint64(len(c.buf)) {
		c.fail("a string is cut off")
		return
	}
	*s = string(c.buf[:n])
	if !utf8.ValidString(*s) {
		c.fail("a string is not UTF-8")
		return
	}
	c.buf = c.buf[n:]
}

// table transfers the length of a table and says whether it has rows. Each row
// takes at least one byte a column, which bounds what a reader allocates.
func table[T any](c *columns, rows *[]T) bool {
	n := c.uint(uint64(len(*rows)))
	if c.reading {
		if n > uint64(len(c.buf)) {
			c.fail("a table is cut off")
			return false
		}
		if n > 0 {
			*rows = make([]T, n)
		}
	}
	return n > 0
}

type integer interface {
	~uint8 | ~uint32 | ~int32
}

// num transfers one number. Negative ones occur only as None.
func num[V integer](c *columns, v *V) {
	x := c.uint(uint64(uint32(int32(*v)+1)) & math.MaxUint32)
	if c.reading {
		*v = V(uint32(x) - 1)
		if x > math.MaxUint32 || uint64(uint32(int32(*v)+1)) != x {
			c.fail("a number is out of range")
		}
	}
}

func column[T any, V integer](c *columns, rows []T, get func(*T) *V) {
	for i := range rows {
		num(c, get(&rows[i]))
	}
}

// spanColumn transfers ranges: the start as a signed difference to the start of
// the row before, the end as a signed difference to the start.
func spanColumn[T any](c *columns, rows []T, get func(*T) *Span) {
	before := uint32(0)
	for i := range rows {
		s := get(&rows[i])
		start := c.uint(zigzag(int32(s.Start - before)))
		length := c.uint(zigzag(int32(s.End - s.Start)))
		if c.reading {
			if start > math.MaxUint32 || length > math.MaxUint32 {
				c.fail("a range is out of range")
				return
			}
			s.Start = before + uint32(unzigzag(start))
			s.End = s.Start + uint32(unzigzag(length))
		}
		before = s.Start
	}
}

func spans(c *columns, s *[]Span) {
	if table(c, s) {
		spanColumn(c, *s, func(s *Span) *Span { return s })
	}
}

// lineStarts transfers line starts as the lengths of the lines before them.
func lineStarts(c *columns, starts *[]uint32) {
	if !table(c, starts) {
		return
	}
	before := uint32(0)
	for i := range *starts {
		n := c.uint(uint64((*starts)[i] - before))
		if c.reading {
			if (i == 0) != (n == 0) || n > math.MaxUint32-uint64(before) {
				c.fail("lines are not in order")
				return
			}
			(*starts)[i] = before + uint32(n)
		}
		before = (*starts)[i]
	}
}

func zigzag(v int32) uint64   { return uint64(uint32(v<<1) ^ uint32(v>>31)) }
func unzigzag(v uint64) int32 { return int32(uint32(v)>>1) ^ -int32(uint32(v)&1) }
