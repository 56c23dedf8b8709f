package text

import (
	"bytes"
	"path"
	"strings"

	"github.com/exhibit-dev/exhibit/extract/facts"
)

// Version is the version of this extractor's output.
//
//	1  headings and top-level keys
const Version = 1

// maxHeadings bounds the marks of one file; a lock file has thousands of keys.
const maxHeadings = 256

// Extract lists the headings of a file. It never fails: text without structure
// has no headings.
func Extract(name string, src []byte) *facts.File {
	b := facts.NewBuilder(name, "text", uint32(len(src)))
	mark := map[string]func(prev, line string) (uint32, string){
		".md": markdown, ".markdown": markdown, ".mdx": markdown, ".rst": restructured,
		".toml": table, ".ini": table, ".cfg": table, ".yaml": yamlKey, ".yml": yamlKey, ".json": jsonKey,
	}[strings.ToLower(path.Ext(name))]
	if mark == nil {
		return b.File
	}
	prev, fenced := "", false
	for n := uint32(1); len(src) > 0 && len(b.File.Headings) < maxHeadings; n++ {
		line, rest, _ := bytes.Cut(src, []byte("\n"))
		src = rest
		text := strings.TrimRight(string(line[:min(len(line), 400)]), " \t\r")
		if strings.HasPrefix(text, "```") || strings.HasPrefix(text, "~~~") {
			fenced = !fenced
		}
		if !fenced {
			if level, title := mark(prev, text); level > 0 && title != "" {
				at := n
				if title == prev { // underlined: the title is the line above
					at--
				}
				b.File.Headings = append(b.File.Headings, facts.Heading{Level: level, Text: b.Str(title), Line: at})
			}
		}
		prev = text
	}
	return b.File
}

func markdown(prev, line string) (uint32, string) {
	level := 0
	for level < len(line) && line[level] == '#' {
		level++
	}
	if level > 0 && level <= 6 && level < len(line) && line[level] == ' ' {
		return uint32(level), strings.TrimSpace(strings.TrimRight(line[level:], "# "))
	}
	switch {
	case prev != "" && underline(line, '='):
		return 1, prev
	case prev != "" && len(line) > 2 && underline(line, '-') && !strings.HasPrefix(prev, "|"):
		return 2, prev
	}
	return 0, ""
}

func restructured(prev, line string) (uint32, string) {
	const marks = "=-~^\"'`#*+."
	if len(line) < 3 || len(line) < len(prev) || prev == "" || strings.IndexByte(marks, prev[0]) >= 0 && underline(prev, prev[0]) {
		return 0, ""
	}
	if i := strings.IndexByte(marks, line[0]); i >= 0 && underline(line, line[0]) {
		return uint32(i + 1), prev
	}
	return 0, ""
}

func table(_, line string) (uint32, string) {
	if !strings.HasPrefix(line, "[") {
		return 0, ""
	}
	end := strings.LastIndexByte(line, ']')
	if end < 0 {
		return 0, ""
	}
	return 1, strings.Trim(line[:end], "[] ")
}

func yamlKey(_, line string) (uint32, string) {
	if line == "" || strings.IndexByte(" \t#-&*!|>'\"%@`{[", line[0]) >= 0 {
		return 0, ""
	}
	key, _, ok := strings.Cut(line, ":")
	if !ok {
		return 0, ""
	}
	return 1, key
}

func jsonKey(_, line string) (uint32, string) {
	indent := len(line) - len(strings.TrimLeft(line, " \t"))
	if rest := line[indent:]; indent > 0 && indent <= 4 && strings.HasPrefix(rest, `"`) {
		if key, after, ok := strings.Cut(rest[1:], `"`); ok && strings.HasPrefix(strings.TrimLeft(after, " "), ":") && (indent <= 2 || line[0] == '\t' && indent == 1 || indent == 4) {
			return 1, key
		}
	}
	return 0, ""
}

func underline(line string, mark byte) bool {
	return line != "" && strings.Trim(line, string(mark)) == ""
}
