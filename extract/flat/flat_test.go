package flat

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	typescript "github.com/tree-sitter/tree-sitter-typescript/bindings/go"
)

var lang = NewLanguage(typescript.LanguageTypescript())

func parse(t *testing.T, p *Parser, src string) Tree {
	t.Helper()
	tree, err := p.Parse(lang, []byte(src), Options{})
	if err != nil {
		t.Fatal(err)
	}
	return tree
}

// TestFlatten: preorder, with the index after each subtree, and ranges inside
// the source.
func TestFlatten(t *testing.T) {
	p := NewParser()
	defer p.Close()
	src := "function f(a: number) { return g(a) }"
	tree := parse(t, p, src)
	call := -1
	for i, n := range tree.Nodes {
		if int(n.Next) <= i || int(n.Next) > len(tree.Nodes) || n.Start > n.End || int(n.End) > len(src) {
			t.Errorf("node %d: %+v", i, n)
		}
		if n.Kind == lang.Kind("call_expression") {
			call = i
		}
	}
	if call < 0 || string(tree.Text(call)) != "g(a)" || string(tree.Text(tree.Child(call, lang.Field("function")))) != "g" {
		t.Errorf("the call is node %d", call)
	}
}

// TestFinalNewline: the line feed that is served to the grammar is in no range.
func TestFinalNewline(t *testing.T) {
	p := NewParser()
	defer p.Close()
	tree, err := p.Parse(lang, []byte("x"), Options{Newline: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, n := range tree.Nodes {
		if n.End > 1 {
			t.Errorf("%+v", n)
		}
	}
}

// TestAfterAStop: a parser whose parse was stopped, wherever that was, parses
// the next file. Stopped while it balanced a tree, tree-sitter v0.25.0 aborts
// the process when the same parser goes on.
func TestAfterAStop(t *testing.T) {
	p := NewParser()
	defer p.Close()
	hostile := bytes.Repeat([]byte("a<"), 400_000)
	limits := []time.Duration{20 * time.Millisecond, 200 * time.Millisecond}
	if !testing.Short() {
		limits = append(limits, 900*time.Millisecond, 1500*time.Millisecond)
	}
	for _, cpu := range limits {
		if _, err := p.Parse(lang, hostile, Options{CPU: cpu}); err != nil && !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
		if tree := parse(t, p, "let x = 1"); tree.Nodes[0].Flags&HasError != 0 {
			t.Errorf("after %v: %+v", cpu, tree.Nodes[0])
		}
	}
}

// TestBudget: the parses of one file share its time.
func TestBudget(t *testing.T) {
	p := NewParser()
	defer p.Close()
	p.Begin(30 * time.Millisecond)
	hostile := bytes.Repeat([]byte("a<"), 400_000)
	for range 2 {
		if _, err := p.Parse(lang, hostile, Options{}); !errors.Is(err, ErrTimeout) {
			t.Fatal(err)
		}
	}
	if _, err := p.Parse(lang, []byte("x"), Options{}); !errors.Is(err, ErrTimeout) {
		t.Errorf("a parse began after the file's time was spent: %v", err)
	}
	p.Begin(time.Second)
	parse(t, p, "x")
}

// TestMemory: a parse that takes more memory than a file may is stopped.
func TestMemory(t *testing.T) {
	p := NewParser()
	defer p.Close()
	if _, err := p.Parse(lang, bytes.Repeat([]byte("a<"), 900_000), Options{CPU: time.Minute}); !errors.Is(err, ErrMemory) {
		t.Errorf("got %v", err)
	}
	parse(t, p, "x")
}

// TestDepth: a tree that nests too deep is refused, and the parser lives on.
func TestDepth(t *testing.T) {
	p := NewParser()
	defer p.Close()
	deep := []byte(strings.Repeat("(", 3000) + "1" + strings.Repeat(")", 3000))
	if _, err := p.Parse(lang, deep, Options{Depth: 500}); !errors.Is(err, ErrTooDeep) {
		t.Fatal(err)
	}
	parse(t, p, "x")
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("class A { m() {} }"))
	f.Add([]byte("a<b<c<"))
	p := NewParser()
	f.Fuzz(func(t *testing.T, src []byte) {
		tree, err := p.Parse(lang, src, Options{CPU: time.Second})
		if err != nil {
			return
		}
		for i, n := range tree.Nodes {
			if int(n.Next) <= i || int(n.Next) > len(tree.Nodes) || n.Start > n.End || int(n.End) > len(src) {
				t.Fatalf("node %d: %+v", i, n)
			}
		}
	})
}
