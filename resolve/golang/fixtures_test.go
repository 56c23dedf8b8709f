package golang_test

import (
	"strings"
	"testing"

	extract "github.com/exhibit-dev/exhibit/extract/golang"
	"github.com/exhibit-dev/exhibit/resolve/golang"
	"github.com/exhibit-dev/exhibit/resolve/marker"
)

func TestFixtures(t *testing.T) {
	marker.Run(t, "../../testdata/golang", marker.Language{
		Comment: "//@",
		Name: func(path string) string {
			if strings.HasSuffix(path, ".go") {
				return "go"
			}
			return ""
		},
		Extract: extract.Extract,
		Resolve: golang.Resolve,
	})
}
