package text

import (
	"fmt"
	"strings"
	"testing"
)

func TestHeadings(t *testing.T) {
	for _, c := range []struct{ name, src, want string }{
		{"a.md", "# One\n\ntext\n```\n# not a heading\n```\n## Two ##\nThree\n=====\n", "1:1:One 7:2:Two 8:1:Three"},
		{"a.md", "#no space\n####### seven\n| a |\n---\n", ""},
		{"a.rst", "Title\n=====\n\nPart\n----\n", "1:1:Title 4:2:Part"},
		{"a.toml", "[tool.x]\nk = 1\n[[bin]]\n", "1:1:tool.x 3:1:bin"},
		{"a.yaml", "on:\n  push:\n# c: d\njobs:\n- x: y\n", "1:1:on 4:1:jobs"},
		{"a.json", "{\n  \"name\": \"x\",\n  \"deps\": {\n    \"y\": 1\n  }\n}\n", "2:1:name 3:1:deps 4:1:y"},
		{"a.txt", "# plain\n", ""},
	} {
		f := Extract(c.name, []byte(c.src))
		var got []string
		for _, h := range f.Headings {
			got = append(got, fmt.Sprintf("%d:%d:%s", h.Line, h.Level, f.Text(h.Text)))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%s %q: got %q, want %q", c.name, c.src, s, c.want)
		}
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("a.md", []byte("# x\n"))
	f.Add("a.json", []byte("{\n\t\"k\": 1"))
	f.Fuzz(func(t *testing.T, name string, src []byte) { Extract(name, src) })
}
