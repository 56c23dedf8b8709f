package snapshot

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// benchRepo is the repository that EXHIBIT_BENCH_REPO names, else one of 2,000
// files in one pack.
func benchRepo(b *testing.B) *Repository {
	if dir := os.Getenv("EXHIBIT_BENCH_REPO"); dir != "" {
		return open(b, dir)
	}
	r := newRepo(b)
	for i := range 2000 {
		r.write(fmt.Sprintf("pkg%d/f%d.go", i%50, i), strings.Repeat(fmt.Sprintf("func f%d() int { return %d }\n", i, i), 150))
	}
	r.commit("one")
	r.git("gc", "-q")
	return open(b, r.dir)
}

func BenchmarkScanCommit(b *testing.B) {
	r := benchRepo(b)
	rev := resolve(b, r, "HEAD")
	b.ReportAllocs()
	for b.Loop() {
		m, err := r.ScanCommit(b.Context(), rev, Options{MaxFiles: MaxMaxFiles}, nil)
		if err != nil {
			b.Fatal(err)
		}
		report(b, m)
	}
}

func BenchmarkScanWorktree(b *testing.B) {
	r := benchRepo(b)
	if r.Root() == "" {
		b.Skip("bare")
	}
	b.ReportAllocs()
	for b.Loop() {
		m, err := r.ScanWorktree(b.Context(), Options{MaxFiles: MaxMaxFiles}, nil)
		if err != nil {
			b.Fatal(err)
		}
		report(b, m)
	}
}

func report(b *testing.B, m *Manifest) {
	var bytes int64
	for _, e := range m.Entries {
		bytes += max(e.Size, 0)
	}
	b.SetBytes(bytes)
	b.ReportMetric(float64(len(m.Entries)), "files")
}
