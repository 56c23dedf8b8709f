package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"

	"github.com/exhibit-dev/exhibit/packet/render"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// envelope is how every refusal looks in JSON.
type envelope struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Hint    string `json:"hint,omitempty"`
		Field   string `json:"field,omitempty"`
	} `json:"error"`
}

// errRefused ends a command with exit code 1 after it has printed its own report.
var errRefused = errors.New("refused")

// report prints an error and gives the exit code.
func report(err error, asJSON bool, stdout, stderr io.Writer) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errRefused):
		return 1
	}
	if errors.Is(err, context.Canceled) {
		err = fault.New(fault.Timeout, "interrupted; what was there before is unchanged")
	}
	var e envelope
	e.Error.Code, e.Error.Message = string(fault.CodeOf(err)), err.Error()
	var f *fault.Error
	if errors.As(err, &f) {
		e.Error.Hint, e.Error.Field = f.Hint, f.Field
	}
	if e.Error.Code == "" {
		e.Error.Code = string(fault.StorageFailed)
	}
	if asJSON {
		_ = printJSON(stdout, e)
	}
	fmt.Fprintf(stderr, "exhibit: error: %s\n", safe(e.Error.Message))
	if e.Error.Hint != "" {
		fmt.Fprintf(stderr, "exhibit: hint: %s\n", safe(e.Error.Hint))
	}
	if fault.CodeOf(err) == fault.InvalidRequest {
		return 2
	}
	return 1
}

// safe makes a name, path or message fit for a line of a terminal.
func safe(s string) string {
	out, _ := render.Name(s)
	return out
}

// checkedWriter remembers the first failure, so that an answer that did not
// reach its reader is not called a success.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil && w.err == nil {
		w.err = err
	}
	return n, err
}

// printJSON writes one indented JSON object.
func printJSON(w io.Writer, v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := w.Write(plain(b.Bytes()))
	return err
}

// plain escapes in JSON what a terminal would act on or hide: control, format
// and other characters that do not print. Its value stays the same.
func plain(body []byte) []byte {
	if utf8.Valid(body) && bytes.IndexFunc(body, hidden) < 0 {
		return body
	}
	var out []byte
	for _, r := range string(body) {
		if !hidden(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, u := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, "\\u%04x", u)
		}
	}
	return out
}

func hidden(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }

// output prints v as JSON with --json, otherwise calls text.
func output(c *cli.Context, v any, text func(w io.Writer)) error {
	if c.Bool("json") {
		return printJSON(c.App.Writer, v)
	}
	text(c.App.Writer)
	return nil
}

// progress reports a long stage on standard error, when that is a terminal.
func progress(c *cli.Context) func(stage string, done, total int) {
	f, ok := c.App.ErrWriter.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) || c.Bool("json") {
		return nil
	}
	return func(stage string, done, total int) {
		if total > 0 {
			fmt.Fprintf(f, "\r\x1b[K%s %d/%d", stage, done, total)
		} else {
			fmt.Fprintf(f, "\r\x1b[K%s", stage)
		}
		if stage == "done" {
			fmt.Fprint(f, "\r\x1b[K")
		}
	}
}
