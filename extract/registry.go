package extract

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/exhibit-dev/exhibit/extract/facts"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"github.com/exhibit-dev/exhibit/extract/text"
)

// Spec is one language of the registry.
type Spec struct {
	Name       string
	Extensions []string // lower case, with the dot
	Grammar    string   // module@version; "" where nothing is parsed
	Version    int      // of the extractor's output
	// Resolver names the resolver that reads its facts: languages that import
	// each other share one. "" for text.
	Resolver string
	TestFile func(path string) bool
	grammar  func(language string) *flat.Language
	extract  func(p *flat.Parser, path, language string, src []byte) (*facts.File, error)
}

// Code says whether files of the language can hold definitions.
func (s *Spec) Code() bool { return s.Resolver != "" }

// textSpec indexes prose and configuration for navigation.
var textSpec = Spec{
	Name:       "text",
	Extensions: []string{".md", ".markdown", ".mdx", ".rst", ".txt", ".toml", ".ini", ".cfg", ".yaml", ".yml", ".json", ".jsonc", ".mod", ".work"},
	Version:    text.Version,
	TestFile:   func(string) bool { return false },
	extract: func(_ *flat.Parser, path, _ string, src []byte) (*facts.File, error) {
		return text.Extract(path, src), nil
	},
}

// Languages gives the registry, sorted by name.
func Languages() []*Spec { return registry }

// Find gives a language by name, or nil.
func Find(name string) *Spec {
	for _, s := range registry {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Language names the language of a path by its extension, "" when nothing
// indexes it.
func Language(name string) string {
	if s := byExtension[strings.ToLower(path.Ext(name))]; s != nil {
		return s.Name
	}
	return ""
}

// TestFile says whether a path is a test file by its language's convention.
func TestFile(name string) bool {
	s := byExtension[strings.ToLower(path.Ext(name))]
	return s != nil && s.TestFile(name)
}

// Build names the parser build of a language: grammar, extractor version and
// facts format. Facts of another build are extracted again.
func Build(language string) string {
	s := Find(language)
	if s == nil {
		return ""
	}
	return fmt.Sprintf("%s;extractor=%d;facts=%d", s.Grammar, s.Version, facts.Format)
}

// Key identifies the facts of one file: SHA-256 over path, content digest,
// language and that language's parser build, each length-delimited.
func Key(path, sha256hex, language string) [32]byte {
	var b []byte
	for _, s := range []string{path, sha256hex, language, Build(language)} {
		b = binary.AppendUvarint(b, uint64(len(s)))
		b = append(b, s...)
	}
	return sha256.Sum256(b)
}

// parseCPU bounds the processor time that all parses of one file take.
const parseCPU = 5 * time.Second

// File extracts the facts of one file. It always gives facts: a file that
// cannot be parsed has status Failed and says why. src must be valid UTF-8.
func File(p *flat.Parser, path, language string, src []byte) (f *facts.File) {
	s := Find(language)
	if s == nil {
		return failed(path, language, src, "unknown_language")
	}
	p.Begin(parseCPU)
	// The trees of hostile input are a grammar's, not ours: whatever an
	// extractor did not foresee costs one file, never the build.
	defer func() {
		if r := recover(); r != nil {
			f = failed(path, language, src, "extractor_fault")
		}
	}()
	f, err := s.extract(p, path, language, src)
	if err != nil {
		return failed(path, language, src, err.Error())
	}
	f.LineStarts = lineStarts(src)
	addSignatures(f, src)
	return f
}

// Parse parses and flattens one file of code and extracts nothing: it is what
// the cost of a build is compared with.
func Parse(p *flat.Parser, language string, src []byte) (flat.Tree, error) {
	s := Find(language)
	if s == nil || !s.Code() {
		return flat.Tree{}, fmt.Errorf("extract: no grammar reads language %q", language)
	}
	return p.Parse(s.grammar(language), src, flat.Options{})
}

func failed(path, language string, src []byte, why string) *facts.File {
	f := facts.NewBuilder(path, language, uint32(len(src))).File
	f.Status, f.Failure, f.LineStarts = facts.Failed, why, lineStarts(src)
	return f
}

func lineStarts(src []byte) []uint32 {
	if len(src) == 0 {
		return nil
	}
	starts := make([]uint32, 1, bytes.Count(src, []byte("\n"))+1)
	for i, c := range src[:len(src)-1] {
		if c == '\n' {
			starts = append(starts, uint32(i+1))
		}
	}
	return starts
}

// maxSignature bounds a signature in bytes.
const maxSignature = 240

// addSignatures gives each definition its text from the line of its name up to
// its body, white space folded. Decorators stand on lines of their own and are
// not part of it.
func addSignatures(f *facts.File, src []byte) {
	if len(f.Defs) == 0 {
		return
	}
	f.Signatures = make([]string, len(f.Defs))
	for i := range f.Defs {
		d := &f.Defs[i]
		if d.Kind == facts.KindLambda || d.NameStart >= uint32(len(src)) {
			continue
		}
		start := f.LineStarts[f.Line(d.NameStart)-1]
		start = max(start, d.Start)
		end := d.BodyStart
		if end <= start || end > d.End {
			end = d.End
		}
		if limit := start + 4*maxSignature; end > limit {
			end = limit
		}
		text := bytes.Join(bytes.Fields(src[min(start, end):end]), []byte(" "))
		if len(text) > maxSignature {
			text = bytes.ToValidUTF8(text[:maxSignature], nil)
		}
		f.Signatures[i] = strings.ToValidUTF8(strings.TrimRight(string(text), " {:="), "")
	}
}

var byExtension = func() map[string]*Spec {
	m := map[string]*Spec{}
	for _, s := range registry {
		for _, e := range s.Extensions {
			m[e] = s
		}
	}
	return m
}()

func sorted(specs ...*Spec) []*Spec {
	slices.SortFunc(specs, func(a, b *Spec) int { return strings.Compare(a.Name, b.Name) })
	return specs
}
