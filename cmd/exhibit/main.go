package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/urfave/cli/v2"
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
	app := newApp(stdout, stderr)
	args, err := flagsFirst(app, args)
	if err == nil {
		err = app.RunContext(ctx, args)
	}
	return report(err, wantsJSON(args), stdout, stderr)
}

func newApp(stdout, stderr io.Writer) *cli.App {
	return &cli.App{
		Name:                 "exhibit",
		Usage:                "facts about a repository, signed and checkable",
		HideVersion:          true,
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
}
