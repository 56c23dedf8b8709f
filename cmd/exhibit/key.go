package main

import (
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"os/user"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/packet/keys"
)

type keyReport struct {
	Name          string `json:"name"`
	Principal     string `json:"principal"`
	KeyID         string `json:"keyid"`
	PublicKey     string `json:"public_key"`
	AllowedSigner string `json:"allowed_signer"`
	TrustFile     string `json:"trust_file,omitempty"`
}

func keyCommand() *cli.Command {
	return &cli.Command{
		Name:         "key",
		Usage:        "make and show the keys that sign packets",
		OnUsageError: usageError,
		Subcommands: []*cli.Command{
			{
				Name: "new", Usage: "make an Ed25519 key in the configuration folder, and trust it there",
				Description: example("The private key stays in the configuration folder (0600). Recipients need the line that is printed.",
					"exhibit key new --principal ada@example.org"),
				Flags: []cli.Flag{jsonFlag(),
					&cli.StringFlag{Name: "name", Value: keys.DefaultName, Usage: "the key's `NAME`"},
					&cli.StringFlag{Name: "principal", Usage: "who signs with it, such as an e-mail `ADDRESS` (default: user@host)"}},
				OnUsageError: usageError,
				Action:       runKeyNew,
			},
			{
				Name: "list", Usage: "list the keys",
				Description:  example("", "exhibit key list --json"),
				Flags:        []cli.Flag{jsonFlag()},
				OnUsageError: usageError,
				Action:       runKeyList,
			},
			{
				Name: "show", Usage: "print a public key for recipients and other tools",
				ArgsUsage:   "[NAME]",
				Description: example("", "exhibit key show", "exhibit key show --format pem > key.pub.pem"),
				Flags: []cli.Flag{jsonFlag(),
					&cli.StringFlag{Name: "format", Value: "allowed-signers", Usage: "`FORMAT`: allowed-signers, openssh or pem"}},
				OnUsageError: usageError,
				Action:       runKeyShow,
			},
		},
	}
}

func keyStore() (keys.Store, error) {
	dir, err := keys.ConfigDir()
	return keys.Store{Dir: dir}, err
}

func reportKey(p *keys.Public) keyReport {
	return keyReport{Name: p.Name, Principal: p.Principal, KeyID: p.KeyID(), PublicKey: p.AuthorizedKey(), AllowedSigner: p.AllowedSigner()}
}

func runKeyNew(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	principal := c.String("principal")
	if principal == "" {
		principal = defaultPrincipal()
	}
	store, err := keyStore()
	if err != nil {
		return err
	}
	k, err := store.New(c.String("name"), principal, rand.Reader)
	if err != nil {
		return err
	}
	r := reportKey(&k.Public)
	if r.TrustFile, err = store.Trust(&k.Public); err != nil {
		return err
	}
	return output(c, r, func(out io.Writer) {
		fmt.Fprintf(out, "key           %s, %s\ntrusted in    %s\nfor recipients: the line to put into their trust file\n%s\n", r.Name, r.KeyID, safe(r.TrustFile), r.AllowedSigner)
	})
}

// defaultPrincipal is user@host, as ssh-keygen comments keys.
func defaultPrincipal() string {
	name, host := "operator", "localhost"
	if u, err := user.Current(); err == nil && u.Username != "" {
		name = u.Username
	}
	if h, err := os.Hostname(); err == nil && h != "" {
		host = h
	}
	return name + "@" + host
}

func runKeyList(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	store, err := keyStore()
	if err != nil {
		return err
	}
	list, err := store.List()
	if err != nil {
		return err
	}
	r := struct {
		Keys []keyReport `json:"keys"`
	}{Keys: []keyReport{}}
	for i := range list {
		r.Keys = append(r.Keys, reportKey(&list[i]))
	}
	return output(c, r, func(out io.Writer) {
		for _, k := range r.Keys {
			fmt.Fprintf(out, "%s\t%s\t%s\n", k.Name, k.KeyID, k.Principal)
		}
		if len(r.Keys) == 0 {
			fmt.Fprintln(out, "no keys: make one with `exhibit key new`")
		}
	})
}

func runKeyShow(c *cli.Context) error {
	name := keys.DefaultName
	if c.NArg() > 0 {
		if err := exactly(c, "NAME"); err != nil {
			return err
		}
		name = c.Args().First()
	}
	store, err := keyStore()
	if err != nil {
		return err
	}
	p, err := store.Public(name)
	if err != nil {
		return err
	}
	text := ""
	switch c.String("format") {
	case "allowed-signers":
		text = p.AllowedSigner() + "\n"
	case "openssh":
		text = p.AuthorizedKey() + "\n"
	case "pem":
		pem, err := p.PEM()
		if err != nil {
			return err
		}
		text = string(pem)
	default:
		return usagef("there is no key format %q", c.String("format")).WithHint("allowed-signers, openssh or pem")
	}
	return output(c, reportKey(p), func(out io.Writer) { fmt.Fprint(out, text) })
}
