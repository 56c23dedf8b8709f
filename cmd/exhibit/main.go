package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/snapshot/fault"
)

// release is the version of this build, set by the linker for releases.
var release = "0.1.0-dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is the whole program but for the process around it; it gives the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	out := &checkedWriter{Writer: stdout}
	app := newApp(out, stderr)
	args, err := flagsFirst(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	// A reader that has seen enough, such as head, closes the pipe: no failure.
	if err == nil && out.err != nil && !errors.Is(out.err, syscall.EPIPE) {
		err = fault.New(fault.StorageFailed, "the output could not be written: %w", out.err)
	}
	return report(err, wantsJSON(args), stdout, stderr)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	app := &cli.App{
		Name:                 "exhibit",
		Usage:                "facts about a repository, signed and checkable",
		Version:              release,
		Writer:               stdout,
		ErrWriter:            stderr,
		EnableBashCompletion: true,
		ExitErrHandler:       func(*cli.Context, error) {},
		OnUsageError:         usageError,
		CommandNotFound:      nil,
		Action: func(c *cli.Context) error {
			if c.Args().Present() {
				return usagef("there is no command %q", c.Args().First()).WithHint("`exhibit --help` lists the commands")
			}
			return cli.ShowAppHelp(c)
		},
		Commands: []*cli.Command{
			initCommand(), indexCommand(), statusCommand(), symbolsCommand(), mapCommand(), queryCommand(), showCommand(), verifyCommand(),
			keyCommand(), exportCommand(), clearCommand(), completionCommand(), versionCommand(),
		},
	}
	quiet(app.Commands)
	return app
}

// quiet takes the library's own help commands away: "h" and "help" are what
// people search for, too. A group of commands refuses what it does not have.
func quiet(commands []*cli.Command) {
	for _, c := range commands {
		c.HideHelpCommand = true
		if len(c.Subcommands) > 0 {
			c.Action = func(ctx *cli.Context) error {
				if ctx.Args().Present() {
					return usagef("there is no command %q", ctx.Command.HelpName+" "+ctx.Args().First()).WithHint("`%s --help` lists the commands", ctx.Command.HelpName)
				}
				return cli.ShowSubcommandHelp(ctx)
			}
			quiet(c.Subcommands)
		}
	}
}

// init leaves out of help texts the defaults that mean "not set".
func init() {
	line := cli.FlagStringer
	cli.FlagStringer = func(f cli.Flag) string {
		return strings.NewReplacer(" (default: 0)", "", " (default: false)", "", " (default: 0s)", "").Replace(line(f))
	}
}
