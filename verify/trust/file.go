package trust

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"
)

// MaxFileBytes bounds a trust file and a list of revoked keys.
const MaxFileBytes = 1 << 20

// File is a parsed trust file.
type File struct {
	Entries  []Entry   // in the order of the lines
	Problems []Problem // lines that vouch for nothing, and why
}

// Entry is one line of a trust file: a key and what it may vouch for.
type Entry struct {
	Line       int    // 1-based
	Principals string // pattern list
	// Namespaces is a pattern list; nil allows every namespace.
	Namespaces *string
	After      time.Time // zero: no limit
	Before     time.Time // inclusive, as in OpenSSH; zero: no limit
	Authority  bool      // cert-authority: vouches for certificates only, never for a plain signature
	Key        Key
}

// Problem is a line that could not be used.
type Problem struct {
	Line   int // 1-based
	Reason string
}

// ParseFor reads a trust file. namespace is the one for which bare public keys
// and a PEM key are trusted; lines of the allowed_signers syntax say their own.
// A line that cannot be used is a Problem and vouches for nothing, so that one
// file serves both Git and Exhibit; a file in which no line is usable is an error.
func ParseFor(namespace string, data []byte) (*File, error) {
	switch {
	case len(data) > MaxFileBytes:
		return nil, fmt.Errorf("larger than %d bytes", MaxFileBytes)
	case bytes.IndexByte(data, 0) >= 0:
		return nil, errors.New("not a text file")
	case bytes.Contains(data, []byte("-----BEGIN")):
		key, err := readPEM(data)
		if err != nil {
			return nil, err
		}
		return Only(key, namespace), nil
	}
	file, bare := &File{}, &File{}
	lines := 0
	for number, line := range strings.Split(string(data), "\n") {
		line = strings.Trim(line, blanks)
		if line == "" || line[0] == '#' {
			continue
		}
		lines++
		file.add(number+1, line)
		if key, isKey, err := readKey(line); isKey && err == nil {
			bare.Entries = append(bare.Entries, bareEntry(namespace, number+1, key))
		}
	}
	// Bare keys count only where they are all there is: in a list of signers a
	// line without principals is a mistake, and ssh-keygen ignores it too.
	if lines > 0 && len(bare.Entries) == lines {
		return bare, nil
	}
	if len(file.Entries) == 0 {
		return nil, file.useless()
	}
	return file, nil
}

// useless says why a file without one usable line is refused.
func (f *File) useless() error {
	if len(f.Problems) == 0 {
		return errors.New("it names no key")
	}
	p := f.Problems[0]
	return fmt.Errorf("no line names a usable key (line %d: %s)", p.Line, p.Reason)
}

func bareEntry(namespace string, line int, key Key) Entry {
	return Entry{Line: line, Principals: "*", Namespaces: &namespace, Key: key}
}

func (f *File) add(number int, line string) {
	entry, err := parseLine(line)
	if first, _, _ := cutBlank(line); err != nil && keyTypes[first] {
		err = errors.New("a public key without principals before it")
	}
	if err != nil {
		f.Problems = append(f.Problems, Problem{Line: number, Reason: err.Error()})
		return
	}
	entry.Line = number
	f.Entries = append(f.Entries, entry)
}

// parseLine reads "principals [options] type base64 [comment]".
func parseLine(line string) (Entry, error) {
	principals, rest, err := cutPrincipals(line)
	if err != nil {
		return Entry{}, err
	}
	key, isKey, err := readKey(rest)
	if isKey {
		return Entry{Principals: principals, Key: key}, err
	}
	end, err := endOfOptions(rest)
	if err != nil {
		return Entry{}, err
	}
	entry, err := parseOptions(rest[:end])
	if err != nil {
		return Entry{}, err
	}
	key, _, err = readKey(strings.TrimLeft(rest[end:], blanks))
	if err != nil {
		return Entry{}, err
	}
	entry.Principals, entry.Key = principals, key
	return entry, nil
}

// cutPrincipals cuts off the first field, which may be quoted.
func cutPrincipals(line string) (principals, rest string, err error) {
	i := strings.IndexAny(line, blanks+`"`)
	if i < 0 {
		return "", "", errors.New("only one field: want principals, options and a key")
	}
	if line[i] != '"' {
		return line[:i], strings.TrimLeft(line[i:], blanks), nil
	}
	quoted, rest, found := strings.Cut(line[i+1:], `"`)
	if !found {
		return "", "", errors.New("the principals' quote is not closed")
	}
	return line[:i] + quoted, strings.TrimLeft(rest, blanks), nil
}

// endOfOptions gives the index of the first blank outside quotes.
func endOfOptions(text string) (int, error) {
	quoted := false
	i := 0
	for ; i < len(text) && (quoted || !strings.ContainsRune(blanks, rune(text[i]))); i++ {
		if text[i] == '\\' && i+1 < len(text) && text[i+1] == '"' {
			i++
		} else if text[i] == '"' {
			quoted = !quoted
		}
	}
	if quoted {
		return 0, errors.New("an option's quote is not closed")
	}
	return i, nil
}

// parseOptions reads comma-separated options; their names match in any case, as
// in OpenSSH.
func parseOptions(text string) (Entry, error) {
	var e Entry
	for {
		var err error
		var value string
		var ok bool
		if rest, found := cutFold(text, "cert-authority"); found {
			e.Authority, text = true, rest
		} else if value, text, ok, err = cutOption(text, "namespaces"); ok {
			if e.Namespaces != nil {
				return e, errors.New("more than one namespaces option")
			}
			e.Namespaces = &value
		} else if value, text, ok, err = cutOption(text, "valid-after"); ok {
			err = setTime(&e.After, "valid-after", value, err)
		} else if value, text, ok, err = cutOption(text, "valid-before"); ok {
			err = setTime(&e.Before, "valid-before", value, err)
		}
		if err != nil {
			return e, err
		}
		if text == "" {
			break
		}
		if text[0] != ',' {
			return e, errors.New("an unknown option")
		}
		if text = text[1:]; text == "" {
			return e, errors.New("a comma without an option after it")
		}
	}
	if !e.After.IsZero() && !e.Before.IsZero() && !e.Before.After(e.After) {
		return e, errors.New("valid-before is not after valid-after")
	}
	return e, nil
}

// cutOption cuts name="value" off text. The error is about the quotes.
func cutOption(text, name string) (value, rest string, ok bool, err error) {
	after, found := cutFold(text, name+"=")
	if !found {
		return "", text, false, nil
	}
	if !strings.HasPrefix(after, `"`) {
		return "", text, true, fmt.Errorf("the value of %s is not quoted", name)
	}
	var b strings.Builder
	for i := 1; i < len(after); i++ {
		switch {
		case after[i] == '"':
			return b.String(), after[i+1:], true, nil
		case after[i] == '\\' && i+1 < len(after) && after[i+1] == '"':
			i++
		}
		b.WriteByte(after[i])
	}
	return "", text, true, fmt.Errorf("the quote of %s is not closed", name)
}

func cutFold(text, prefix string) (rest string, found bool) {
	if len(text) < len(prefix) || !strings.EqualFold(text[:len(prefix)], prefix) {
		return text, false
	}
	return text[len(prefix):], true
}

// setTime sets an option's time unless the option was malformed or given before.
func setTime(at *time.Time, name, value string, err error) error {
	if err != nil {
		return err
	}
	if !at.IsZero() {
		return fmt.Errorf("more than one %s option", name)
	}
	*at, err = parseTime(value)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// parseTime reads YYYYMMDD, YYYYMMDDHHMM or YYYYMMDDHHMMSS followed by Z.
func parseTime(value string) (time.Time, error) {
	digits, isUTC := strings.CutSuffix(value, "Z")
	if !isUTC {
		return time.Time{}, fmt.Errorf("the time %.20q does not end in Z, so it means another instant on every machine", value)
	}
	var layout string
	switch len(digits) {
	case 8:
		layout = "20060102"
	case 12:
		layout = "200601021504"
	case 14:
		layout = "20060102150405"
	default:
		return time.Time{}, fmt.Errorf("the time %.20q is not YYYYMMDD[HHMM[SS]]Z", value)
	}
	at, err := time.Parse(layout, digits)
	if err != nil || at.Unix() <= 0 {
		return time.Time{}, fmt.Errorf("the time %.20q is not YYYYMMDD[HHMM[SS]]Z", value)
	}
	return at, nil
}

// Only is the trust file that a bare public key makes.
func Only(key Key, namespace string) *File {
	return &File{Entries: []Entry{bareEntry(namespace, 1, key)}}
}
