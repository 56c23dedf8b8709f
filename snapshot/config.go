package snapshot

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// maxConfigBytes bounds one configuration file.
const maxConfigBytes = 4 << 20

// config holds the values of Git configuration files, later files winning.
// Keys are "section.key" or "section.subsection.key"; section and key are lower
// case, the subsection keeps its bytes (git-config(1), "Syntax").
//
// include and includeIf are not followed: they name files outside the
// repository, and nothing that decides what is indexed may live there.
type config map[string][]string

// get gives the last value of a key.
func (c config) get(key string) (string, bool) {
	v := c[key]
	if len(v) == 0 {
		return "", false
	}
	return v[len(v)-1], true
}

// boolean reads a value the way git_config_bool does; def when unset or odd.
func (c config) boolean(key string, def bool) bool {
	v, ok := c.get(key)
	if !ok {
		return def
	}
	switch strings.ToLower(v) {
	case "true", "yes", "on":
		return true
	case "false", "no", "off", "":
		return false
	}
	if n, err := strconv.Atoi(v); err == nil {
		return n != 0
	}
	return def
}

// merge lays other over c.
func (c config) merge(other config) {
	for k, v := range other {
		c[k] = append(c[k], v...)
	}
}

// readConfig reads one configuration file; an absent file is empty.
func readConfig(path string) (config, error) {
	data, err := readSmallFile(path, maxConfigBytes)
	if os.IsNotExist(err) {
		return config{}, nil
	}
	if err != nil {
		return nil, cannotRead(err, "git configuration %q", path)
	}
	c, line := parseConfig(data)
	if line != 0 {
		return nil, fault.New(fault.RepositoryFailed, "git configuration %q is malformed at line %d", path, line).
			WithHint("git config --list shows what Git makes of it")
	}
	return c, nil
}

// readUserConfig reads the system's and the user's configuration, of which only
// what decides checkout conversion is used (core.autocrlf, core.eol,
// core.attributesFile, filter.*). An unreadable file counts as absent, as the
// repository can be read without it.
func readUserConfig() config {
	var paths []string
	if os.Getenv("GIT_CONFIG_NOSYSTEM") == "" {
		if p := os.Getenv("GIT_CONFIG_SYSTEM"); p != "" {
			paths = append(paths, p)
		} else {
			paths = append(paths, "/etc/gitconfig")
		}
	}
	if p, ok := os.LookupEnv("GIT_CONFIG_GLOBAL"); ok {
		paths = append(paths, p)
	} else if home, err := os.UserHomeDir(); err == nil {
		xdg := os.Getenv("XDG_CONFIG_HOME")
		if xdg == "" {
			xdg = filepath.Join(home, ".config")
		}
		paths = append(paths, filepath.Join(xdg, "git", "config"), filepath.Join(home, ".gitconfig"))
	}
	all := config{}
	for _, p := range paths {
		if c, err := readConfig(p); err == nil {
			all.merge(c)
		}
	}
	return all
}

// parseConfig parses a configuration file. badLine is the 1-based line of the
// first error, 0 when there is none.
func parseConfig(data []byte) (c config, badLine int) {
	c = config{}
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	p := configParser{data: data, line: 1}
	section := ""
	for {
		p.skipBlank()
		if p.done() {
			return c, 0
		}
		if p.peek() == '[' {
			s, ok := p.section()
			if !ok {
				return c, p.line
			}
			section = s
			continue
		}
		key, value, ok := p.variable()
		if !ok || section == "" {
			return c, p.line
		}
		name := section + "." + key
		c[name] = append(c[name], value)
	}
}

type configParser struct {
	data []byte
	pos  int
	line int
}

func (p *configParser) done() bool { return p.pos >= len(p.data) }

func (p *configParser) peek() byte {
	if p.done() {
		return '\n'
	}
	return p.data[p.pos]
}

func (p *configParser) next() byte {
	b := p.peek()
	p.pos++
	if b == '\n' {
		p.line++
	}
	return b
}

// skipBlank passes white space and comments.
func (p *configParser) skipBlank() {
	for !p.done() {
		switch b := p.peek(); {
		case b == ' ' || b == '\t' || b == '\r' || b == '\n':
			p.next()
		case b == '#' || b == ';':
			p.skipLine()
		default:
			return
		}
	}
}

func (p *configParser) skipLine() {
	for !p.done() && p.peek() != '\n' {
		p.next()
	}
}

func isConfigWord(b byte) bool {
	return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || b == '-'
}

// section reads "[name]", "[name.sub]" (the old form, folded) or `[name "sub"]`.
func (p *configParser) section() (string, bool) {
	p.next() // [
	start := p.pos
	for isConfigWord(p.peek()) || p.peek() == '.' {
		p.next()
	}
	name := strings.ToLower(string(p.data[start:min(p.pos, len(p.data))]))
	if name == "" {
		return "", false
	}
	for p.peek() == ' ' || p.peek() == '\t' {
		p.next()
	}
	if p.peek() == ']' {
		p.next()
		return name, true
	}
	if p.peek() != '"' {
		return "", false
	}
	p.next()
	var sub []byte
	for {
		if p.done() || p.peek() == '\n' {
			return "", false
		}
		b := p.next()
		if b == '"' {
			break
		}
		if b == '\\' {
			if p.done() || p.peek() == '\n' {
				return "", false
			}
			b = p.next()
		}
		sub = append(sub, b)
	}
	if p.peek() != ']' {
		return "", false
	}
	p.next()
	return name + "." + string(sub), true
}

// variable reads "key", or "key = value" with quotes, escapes, continuation
// lines and trailing comments. A key alone means true.
func (p *configParser) variable() (key, value string, ok bool) {
	start := p.pos
	if b := p.peek(); !(b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z') {
		return "", "", false
	}
	for isConfigWord(p.peek()) {
		p.next()
	}
	key = strings.ToLower(string(p.data[start:p.pos]))
	for p.peek() == ' ' || p.peek() == '\t' || p.peek() == '\r' {
		p.next()
	}
	switch p.peek() {
	case '\n':
		return key, "true", true
	case '#', ';':
		p.skipLine()
		return key, "true", true
	case '=':
		p.next()
	default:
		return "", "", false
	}
	value, ok = p.value()
	return key, value, ok
}

func (p *configParser) value() (string, bool) {
	var out []byte
	kept := 0 // length that trailing blanks may not shrink below
	quoted := false
	for p.peek() == ' ' || p.peek() == '\t' {
		p.next()
	}
	for {
		if p.done() || p.peek() == '\n' {
			if quoted {
				return "", false
			}
			break
		}
		b := p.next()
		switch {
		case b == '"':
			quoted = !quoted
			kept = len(out)
		case b == '\\':
			if p.peek() == '\r' && p.pos+1 < len(p.data) && p.data[p.pos+1] == '\n' {
				p.next()
			}
			switch e := p.next(); e {
			case '\n':
			case 'n':
				out = append(out, '\n')
			case 't':
				out = append(out, '\t')
			case 'b':
				out = append(out, '\b')
			case '"', '\\':
				out = append(out, e)
			default:
				return "", false
			}
			kept = len(out)
		case !quoted && (b == '#' || b == ';'):
			p.skipLine()
		case !quoted && (b == ' ' || b == '\t' || b == '\r'):
			out = append(out, b)
		default:
			out = append(out, b)
			kept = len(out)
		}
	}
	return string(out[:kept]), true
}
