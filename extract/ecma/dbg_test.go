package ecma

import (
	"fmt"
	"github.com/exhibit-dev/exhibit/extract/flat"
	"os"
	"testing"
)

func TestDbg(t *testing.T) {
	p := os.Getenv("DBG")
	if p == "" {
		t.Skip()
	}
	src, _ := os.ReadFile(p)
	pr := flat.NewParser()
	d := dialectOf(languageOf(p))
	tr, _ := pr.Parse(d.lang, src, flat.Options{})
	text, sp := blank(d, tr, src)
	fmt.Println("errors", errorCount(tr), sp)
	if text != nil {
		fmt.Println(string(text))
		tr, _ = pr.Parse(d.lang, text, flat.Options{})
		fmt.Println("errors", errorCount(tr))
	}
	if os.Getenv("DBGTREE") != "" {
		depth := []uint32{}
		for i, n := range tr.Nodes {
			for len(depth) > 0 && uint32(i) >= depth[len(depth)-1] {
				depth = depth[:len(depth)-1]
			}
			fmt.Printf("%*s%s f%d %d-%d fl%d\n", len(depth)*2, "", d.lang.KindName(n.Kind), n.Field, n.Start, n.End, n.Flags)
			depth = append(depth, n.Next)
		}
	}
}
