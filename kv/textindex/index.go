package textindex

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/custom"
	"github.com/blevesearch/bleve/v2/analysis/tokenizer/whitespace"
	"github.com/blevesearch/bleve/v2/mapping"
	"github.com/blevesearch/bleve/v2/search/query"
)

// Document is one file: whatever texts its words shall be found by.
type Document struct {
	ID    uint32
	Texts []string
}

const (
	field     = "t"
	analyzer  = "terms"
	batchSize = 1000
	// openTimeout bounds the opening of an index: Bleve waits for ever for a
	// lock that another process holds.
	openTimeout = 2 * time.Second
	// maxTerms bounds the words of one question.
	maxTerms = 12
)

// lean is a mapping that stores nothing but postings.
func lean() (mapping.IndexMapping, error) {
	m := bleve.NewIndexMapping()
	if err := m.AddCustomAnalyzer(analyzer, map[string]any{"type": custom.Name, "tokenizer": whitespace.Name}); err != nil {
		return nil, err
	}
	f := bleve.NewTextFieldMapping()
	f.Analyzer, f.Store, f.DocValues, f.IncludeTermVectors, f.IncludeInAll, f.SkipFreqNorm = analyzer, false, false, false, false, true
	d := bleve.NewDocumentStaticMapping()
	d.AddFieldMappingsAt(field, f)
	d.AddSubDocumentMapping("_all", bleve.NewDocumentDisabledMapping())
	m.DefaultMapping, m.DefaultAnalyzer = d, analyzer
	m.IndexDynamic, m.StoreDynamic, m.DocValuesDynamic = false, false, false
	return m, nil
}

// Build makes an index in dir, which must not exist, and gives the number of
// documents. Working files stay below work and are removed.
func Build(ctx context.Context, dir, work string, docs iter.Seq2[Document, error]) (n int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("text index: %v", r)
		}
	}()
	tmp, err := os.MkdirTemp(work, "text-build")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(tmp)
	m, err := lean()
	if err != nil {
		return 0, err
	}
	b, err := bleve.NewBuilder(dir, m, map[string]any{"batchSize": batchSize, "buildPathPrefix": tmp})
	if err != nil {
		return 0, err
	}
	n, err = index(ctx, b, docs)
	if n == 0 && err == nil { // Bleve cannot close a builder that was given nothing
		return 0, makeEmpty(dir)
	}
	if closeErr := b.Close(); err == nil {
		err = closeErr
	}
	return n, err
}

// emptyFile marks the index of no documents, which Bleve cannot make.
const emptyFile = "empty"

func makeEmpty(dir string) error {
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	if err := os.Mkdir(dir, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, emptyFile), []byte("no documents\n"), 0o600)
}

func index(ctx context.Context, b bleve.Builder, docs iter.Seq2[Document, error]) (n int, err error) {
	s := splitter{seen: map[string]bool{}}
	for d, err := range docs {
		if err == nil && n%batchSize == 0 {
			err = ctx.Err()
		}
		if err != nil {
			return n, err
		}
		s.reset()
		for _, text := range d.Texts {
			s.split(text)
		}
		if err := b.Index(formatID(d.ID), map[string]any{field: strings.Join(s.terms, " ")}); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// formatID gives ids whose order as strings is their order as numbers.
func formatID(id uint32) string { return fmt.Sprintf("%08x", id) }

// Index is an open index. It is safe for concurrent use.
type Index struct{ index bleve.Index } // nil for the index of no documents

// ErrTimeout is given for an index that does not open in time.
var ErrTimeout = errors.New("text index does not open: another process may hold it")

// Open opens the index in dir read-only.
func Open(ctx context.Context, dir string) (*Index, error) {
	if _, err := os.Lstat(filepath.Join(dir, emptyFile)); err == nil {
		return &Index{}, nil
	}
	type result struct {
		index bleve.Index
		err   error
	}
	done := make(chan result, 1)
	go func() {
		r := result{}
		defer func() {
			if p := recover(); p != nil {
				r.err = fmt.Errorf("text index: %v", p)
			}
			done <- r
		}()
		r.index, r.err = bleve.OpenUsing(dir, map[string]any{"read_only": true, "bolt_timeout": openTimeout.String()})
	}()
	abandon := func() { // what opens after all is closed again
		go func() {
			if r := <-done; r.err == nil {
				r.index.Close()
			}
		}()
	}
	select {
	case r := <-done:
		if r.err != nil {
			return nil, fmt.Errorf("open %s: %w", filepath.Base(dir), r.err)
		}
		return &Index{r.index}, nil
	case <-ctx.Done():
		abandon()
		return nil, ctx.Err()
	case <-time.After(openTimeout + time.Second):
		abandon()
		return nil, ErrTimeout
	}
}

// Close closes the index.
func (x *Index) Close() error {
	if x.index == nil {
		return nil
	}
	return x.index.Close()
}

// Count gives the number of documents.
func (x *Index) Count() (int, error) {
	if x.index == nil {
		return 0, nil
	}
	n, err := x.index.DocCount()
	return int(n), err
}

// Candidates nominates at most limit documents that bear words of a question: those
// that bear most of them first, then by number. The same documents and words
// give the same in the same order.
func (x *Index) Candidates(ctx context.Context, words []string, limit int) (ids []uint32, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("text index: %v", r)
		}
	}()
	if x.index == nil || limit <= 0 {
		return nil, nil
	}
	terms := Terms(strings.Join(words, " "))
	if len(terms) > maxTerms {
		terms = terms[:maxTerms]
	}
	seen := map[uint32]bool{}
	for need := len(terms); need > 0 && len(ids) < limit; need-- {
		found, err := x.bearing(ctx, terms, need, limit)
		if err != nil {
			return nil, err
		}
		for _, id := range found {
			if !seen[id] && len(ids) < limit {
				seen[id] = true
				ids = append(ids, id)
			}
		}
	}
	return ids, nil
}

// bearing gives the first limit documents that bear at least need of the terms.
func (x *Index) bearing(ctx context.Context, terms []string, need, limit int) ([]uint32, error) {
	var list []query.Query
	for _, t := range terms {
		q := bleve.NewTermQuery(t)
		q.SetField(field)
		list = append(list, q)
	}
	var q query.Query = bleve.NewConjunctionQuery(list...)
	if need < len(terms) {
		d := bleve.NewDisjunctionQuery(list...)
		d.SetMin(float64(need))
		q = d
	}
	r := bleve.NewSearchRequestOptions(q, limit, 0, false)
	r.SortBy([]string{"_id"})
	r.Score = "none"
	res, err := x.index.SearchInContext(ctx, r)
	if err != nil {
		return nil, err
	}
	ids := make([]uint32, 0, len(res.Hits))
	for _, h := range res.Hits {
		id, err := strconv.ParseUint(h.ID, 16, 32)
		if err != nil {
			return nil, fmt.Errorf("text index holds the document %q", h.ID)
		}
		ids = append(ids, uint32(id))
	}
	return ids, nil
}
