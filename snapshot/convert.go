package snapshot

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
)

// converter applies what Git would do to a worktree file's bytes when it is
// added (gitattributes(5)): working-tree-encoding, then eol, then ident. It
// never runs a filter driver.
type converter struct {
	attrs  *attributes
	config config // the user's, with the repository's over it
}

// Normalize applies Git's conversion on the way in to a file's worktree bytes, so
// that they can be compared with a blob. how names what changed them, such as
// "eol" or "working-tree-encoding,ident", and is "" when nothing did. The pointer
// of a file under the LFS filter is computed (how is "lfs").
//
// ok is false when a filter driver would have to run, or an encoding is not
// known: the bytes come back as they are and nothing is proved. Where
// text=auto is in force, Git leaves a file alone whose blob holds CRLF already:
// compare the bytes as they are first, and with these second.
func (r *Repository) Normalize(ctx context.Context, path string, worktree []byte) (blobBytes []byte, how string, ok bool) {
	if ctx.Err() != nil || r.root == "" || checkPath(path) != nil {
		return worktree, "", false
	}
	x, err := r.readIndex(ctx)
	if err != nil {
		return worktree, "", false
	}
	c, err := r.converter(x, []string{path})
	if err != nil {
		return worktree, "", false
	}
	return c.clean(path, worktree)
}

// converter gathers the attributes that govern paths: from the worktree's files,
// or the index's where the worktree lacks them, with the user's and
// info/attributes.
func (r *Repository) converter(x *index, paths []string) (*converter, error) {
	c := &converter{attrs: newAttributes(), config: readUserConfig()}
	c.config.merge(r.config)
	var err error
	if file, ok := c.config.get("core.attributesfile"); ok && filepath.IsAbs(file) {
		if data, e := readSmallFile(file, maxAttributeBytes); e == nil {
			if c.attrs.user, err = c.attrs.parse(data, true); err != nil {
				return nil, err
			}
		}
	}
	data, e := readSmallFile(filepath.Join(r.commonDir, "info", "attributes"), maxAttributeBytes)
	if errors.Is(e, errNotRegular) {
		return nil, e
	}
	if e == nil {
		if c.attrs.info, err = c.attrs.parse(data, true); err != nil {
			return nil, err
		}
	}
	for _, dir := range foldersOf(paths) {
		data, ok := r.worktreeAttributes(x, dir)
		if !ok {
			continue
		}
		if err := c.attrs.addDir(dir, data); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// foldersOf lists every folder above the paths, the root ("") first and each
// folder after those above it.
func foldersOf(paths []string) []string {
	dirs := []string{""}
	seen := map[string]bool{"": true}
	for _, path := range paths {
		for i := 0; i < len(path); i++ {
			if path[i] == '/' && !seen[path[:i]] {
				seen[path[:i]] = true
				dirs = append(dirs, path[:i])
			}
		}
	}
	return dirs
}

// worktreeAttributes reads a folder's .gitattributes from disk, else from the
// index, as Git does on the way in.
func (r *Repository) worktreeAttributes(x *index, dir string) (data []byte, ok bool) {
	path := strings.TrimPrefix(dir+"/.gitattributes", "/")
	if data, _, err := r.worktree.read(path, maxAttributeBytes, nil); err == nil {
		return data, true
	}
	lo, hi := x.find(path)
	if hi-lo != 1 || x.entries[lo].mode == modeSymlink || x.entries[lo].mode == modeSubmodule {
		return nil, false
	}
	rd := r.reader()
	defer r.release(rd)
	_, data, err := rd.read(x.entries[lo].id, "blob", maxAttributeBytes, nil)
	return data, err == nil // without its rules when it is absent, as Git does
}

// clean is Normalize with the attributes at hand.
func (c *converter) clean(path string, data []byte) (out []byte, how string, ok bool) {
	attrs := c.attrs.of(path)
	if filter := attrs["filter"]; filter == "lfs" {
		if isLFSPointer(data) {
			return data, "", true
		}
		sum := sha256.Sum256(data)
		return fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%x\nsize %d\n", sum, len(data)), "lfs", true
	} else if filter != attrUnspecified && filter != attrSet && filter != attrUnset && c.hasFilter(filter) {
		return data, "", false
	}
	var steps []string
	out = data
	if name := attrs["working-tree-encoding"]; name != attrUnspecified && name != attrSet && name != attrUnset {
		decoded, changed, ok := decodeAs(name, out)
		if !ok {
			return data, "", false
		}
		if changed {
			out, steps = decoded, append(steps, "working-tree-encoding")
		}
	}
	if text, auto := c.isText(attrs); text && !(auto && looksBinary(out)) && bytes.Contains(out, []byte("\r\n")) {
		out, steps = bytes.ReplaceAll(out, []byte("\r\n"), []byte("\n")), append(steps, "eol")
	}
	if attrs["ident"] == attrSet {
		if collapsed := collapseIdent(out); len(collapsed) != len(out) {
			out, steps = collapsed, append(steps, "ident")
		}
	}
	return out, strings.Join(steps, ","), true
}

// hasFilter says whether a filter driver has a command for the way in; Git
// ignores the attribute otherwise.
func (c *converter) hasFilter(name string) bool {
	for _, key := range []string{"clean", "process"} {
		if v, ok := c.config.get("filter." + name + "." + key); ok && v != "" {
			return true
		}
	}
	return false
}

// isText says whether line ends are converted on the way in, and whether that
// depends on the content looking like text.
func (c *converter) isText(attrs map[string]string) (text, auto bool) {
	value := attrs["text"]
	if value == attrUnspecified {
		value = attrs["crlf"] // the attribute's name before Git 1.7.2
	}
	switch value {
	case attrUnset:
		return false, false
	case "auto":
		return true, true
	case attrSet, "input":
		return true, false
	}
	if eol := attrs["eol"]; eol == "lf" || eol == "crlf" {
		return true, false
	}
	if v, _ := c.config.get("core.autocrlf"); strings.EqualFold(v, "input") || c.config.boolean("core.autocrlf", false) {
		return true, true
	}
	return false, false
}

// looksBinary is Git's guess for text=auto: a NUL, a CR that no LF follows, or
// more than one unprintable byte in 128.
func looksBinary(data []byte) bool {
	printable, odd := 0, 0
	for i, b := range data {
		switch {
		case b == 0:
			return true
		case b == '\r':
			if i+1 == len(data) || data[i+1] != '\n' {
				return true
			}
		case b == '\n':
		case b == '\b', b == '\t', b == 0x1b, b == 0x0c:
			printable++
		case b < 0x20 && !(b == 0x1a && i+1 == len(data)), b == 0x7f:
			odd++
		default:
			printable++
		}
	}
	return printable>>7 < odd
}

// collapseIdent turns each "$Id: ... $" on one line back into "$Id$".
func collapseIdent(data []byte) []byte {
	var out []byte
	rest := data
	for {
		at := bytes.Index(rest, []byte("$Id:"))
		if at < 0 {
			return append(out, rest...)
		}
		end := bytes.IndexAny(rest[at+4:], "$\n")
		if end < 0 {
			return append(out, rest...)
		}
		stop := at + 4 + end
		if rest[stop] == '$' {
			out = append(append(out, rest[:at]...), "$Id$"...)
			stop++
		} else {
			out = append(out, rest[:stop]...)
		}
		rest = rest[stop:]
	}
}

// decodeAs turns bytes of a working-tree-encoding into UTF-8. ok is false when
// the encoding is not known.
func decodeAs(name string, data []byte) (out []byte, changed, ok bool) {
	var enc encoding.Encoding
	switch upper := strings.ToUpper(name); upper {
	case "UTF-8", "UTF8":
		return data, false, true
	case "UTF-16":
		enc = unicode.UTF16(unicode.BigEndian, unicode.UseBOM)
	case "UTF-16LE-BOM", "UTF-16BE-BOM":
		enc = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM)
	case "UTF-16LE":
		enc = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)
	case "UTF-16BE":
		enc = unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)
	default:
		var err error
		if enc, err = ianaindex.IANA.Encoding(name); err != nil || enc == nil {
			return data, false, false
		}
	}
	out, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return data, false, true // not valid in its encoding, so it is no blob's
	}
	return out, !bytes.Equal(out, data), true
}
