package main

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/render"
	"github.com/exhibit-dev/exhibit/snapshot"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify"
)

// maxBundleFile bounds a packet file in bytes: a packet and its grants.
const maxBundleFile = 4 << 20

func verifyCommand() *cli.Command {
	return &cli.Command{
		Name:      "verify",
		Usage:     "check a packet: its signature, and every citation by content",
		ArgsUsage: "PACKET",
		Description: example("Needs a clone and a trust file: no index, no cache, no network. Exit code 0 only when everything asked for holds.\n"+
			"A trust file has OpenSSH allowed_signers lines; a .pub or PEM public key alone will do too.",
			"exhibit verify packet.json --repo clone --trust allowed_signers",
			"exhibit verify packet.json --grant-only --recipient claude:builder --json"),
		Flags: []cli.Flag{jsonFlag(), repoFlag(),
			&cli.PathFlag{Name: "trust", EnvVars: []string{"EXHIBIT_TRUST"}, Usage: "whom to trust, from `FILE` (default: allowed_signers in the configuration folder)"},
			&cli.PathFlag{Name: "revoked", Usage: "public keys that are revoked, from `FILE` (default: the trust file's name with .revoked)"},
			&cli.BoolFlag{Name: "grant-only", Usage: "check the grant alone, without a repository (depth 1)"},
			&cli.BoolFlag{Name: "require-worktree", Usage: "the cited lines must be in the worktree too, moved or not"},
			&cli.StringFlag{Name: "recipient", Usage: "the grant must name `RECIPIENT`"},
			&cli.StringFlag{Name: "issuer", Usage: "the grant must be issued by `PRINCIPAL`"},
			&cli.StringFlag{Name: "rev", Usage: "the packet must be about the commit that `REV` names in the repository"},
			&cli.DurationFlag{Name: "max-age", Usage: "the grant must be at most this old, such as `1h`"},
		},
		OnUsageError: usageError,
		Action:       runVerify,
	}
}

func runVerify(c *cli.Context) error {
	if err := exactly(c, "PACKET"); err != nil {
		return err
	}
	if c.Duration("max-age") < 0 || c.IsSet("max-age") && c.Duration("max-age") == 0 {
		return usagef("--max-age is %s", c.Duration("max-age")).WithHint("give how old the grant may be, such as 1h")
	}
	if r := c.String("recipient"); c.IsSet("recipient") && !packet.IsRecipient(r) {
		return usagef("--recipient is %q", r).WithHint("a recipient is participant:role, such as claude:builder")
	}
	data, err := readBundle(c.Args().First())
	if err != nil {
		return err
	}
	o := verify.Options{Now: time.Now, RequireWorktree: c.Bool("require-worktree"), Expect: verify.Expect{
		Recipient: c.String("recipient"), Issuer: c.String("issuer"), Revision: c.String("rev"), MaxAge: c.Duration("max-age")}}
	if !c.Bool("grant-only") {
		repo, err := snapshot.Open(c.String("repo"))
		if err != nil {
			return err
		}
		defer repo.Close()
		o.Repository = repo
	}
	if o.Trust, o.Revoked, err = verify.LoadTrust(c.Path("trust"), c.Path("revoked"), o.Repository); err != nil {
		return err
	}
	result, err := verify.Bundle(c.Context, data, o)
	if err != nil {
		return err
	}
	if err := output(c, result.Report, func(out io.Writer) { _ = result.Report.Print(out) }); err != nil {
		return err
	}
	if !result.Report.OK {
		return errRefused
	}
	return nil
}

// readBundle reads a packet file, "-" being standard input.
func readBundle(path string) ([]byte, error) {
	f := os.Stdin
	if path != "-" {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() {
			return nil, fault.New(fault.PacketInvalid, "%q is not a regular file", path)
		}
		if f, err = os.Open(path); err != nil {
			return nil, fault.New(fault.PacketInvalid, "the packet cannot be read: %w", err).WithHint("`exhibit query --packet-out FILE` writes one")
		}
		defer f.Close()
	}
	data, err := io.ReadAll(io.LimitReader(f, maxBundleFile+1))
	if err == nil && len(data) > maxBundleFile {
		err = errors.New("it is larger than a packet can be")
	}
	if err != nil {
		return nil, fault.New(fault.PacketInvalid, "the packet %q cannot be read: %w", path, err)
	}
	return data, nil
}

func showCommand() *cli.Command {
	return &cli.Command{
		Name:      "show",
		Usage:     "render a packet's evidence for reading",
		ArgsUsage: "PACKET",
		Description: example("Shows what the packet says; it does not verify it. Repository text is quoted, and control characters are made visible.",
			"exhibit show packet.json", "exhibit show packet.json --format markdown"),
		Flags: []cli.Flag{jsonFlag(),
			&cli.StringFlag{Name: "format", Value: "text", Usage: "`FORMAT`: text, markdown or json"}},
		OnUsageError: usageError,
		Action:       runShow,
	}
}

func runShow(c *cli.Context) error {
	if err := exactly(c, "PACKET"); err != nil {
		return err
	}
	data, err := readBundle(c.Args().First())
	if err != nil {
		return err
	}
	_, p, err := packet.DecodeBundle(data)
	if err != nil {
		return err
	}
	format := render.Format(c.String("format"))
	if c.Bool("json") {
		format = render.JSON
	}
	if format != render.Text && format != render.Markdown && format != render.JSON {
		return usagef("there is no format %q", format).WithHint("text, markdown or json")
	}
	text, _, err := render.Packet(p, render.Options{Format: format, Random: rand.Reader})
	if err != nil {
		return err
	}
	_, err = c.App.Writer.Write(text)
	return err
}
