package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// usagef is an error of the caller's words: exit code 2.
func usagef(format string, args ...any) *fault.Error {
	return fault.New(fault.InvalidRequest, format, args...)
}

// usageError is what the flag parser's complaints become.
func usageError(c *cli.Context, err error, _ bool) error {
	name := "exhibit"
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	return usagef("%s", strings.ToLower(err.Error()[:1])+err.Error()[1:]).WithHint("`%s --help` shows the flags", name)
}

// flagsFirst moves flags before positional arguments, so that `exhibit verify
// PACKET --trust F` means what everyone expects. After "--" nothing is moved.
func flagsFirst(app *cli.App, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	out, rest := args[:1:1], args[1:]
	commands, flags := app.Commands, []cli.Flag(nil)
	for len(rest) > 0 {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		out, rest = append(out, rest[0]), rest[1:]
		commands, flags = commands[i].Subcommands, commands[i].Flags
	}
	var moved, positional []string
	for len(rest) > 0 {
		arg := rest[0]
		rest = rest[1:]
		if arg == "--" {
			positional = append(positional, rest...)
			break
		}
		if len(arg) < 2 || arg[0] != '-' {
			positional = append(positional, arg)
			continue
		}
		moved = append(moved, arg)
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if hasValue || !takesValue(flags, name) {
			continue
		}
		if len(rest) == 0 {
			return nil, usagef("flag %s needs a value", arg)
		}
		moved = append(moved, rest[0])
		rest = rest[1:]
	}
	if slices.Contains(moved, "--help") || slices.Contains(moved, "-h") {
		positional = nil // help is about the command, whatever follows it
	}
	if len(positional) > 0 {
		moved = append(moved, "--")
	}
	return append(append(out, moved...), positional...), nil
}

func takesValue(flags []cli.Flag, name string) bool {
	for _, f := range flags {
		if slices.Contains(f.Names(), name) {
			d, ok := f.(cli.DocGenerationFlag)
			return ok && d.TakesValue()
		}
	}
	return false
}

func wantsJSON(args []string) bool {
	for _, a := range args {
		if a == "--" {
			return false
		}
		if a == "--json" || a == "-json" || a == "--json=true" {
			return true
		}
	}
	return false
}

// exactly refuses another number of positional arguments than the names given.
func exactly(c *cli.Context, names ...string) error {
	if c.NArg() == len(names) {
		return nil
	}
	want := "no arguments"
	if len(names) > 0 {
		want = strings.Join(names, " ")
	}
	return usagef("%s takes %s, got %d", c.Command.HelpName, want, c.NArg()).WithHint("`%s --help` shows an example", c.Command.HelpName)
}

// example puts a command's example under its description in the help text.
func example(description string, lines ...string) string {
	if description != "" {
		description += "\n\n"
	}
	return fmt.Sprintf("%sExample:\n   %s", description, strings.Join(lines, "\n   "))
}
