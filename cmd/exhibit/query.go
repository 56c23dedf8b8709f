package main

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/exhibit-dev/exhibit/kv"
	"github.com/exhibit-dev/exhibit/packet"
	"github.com/exhibit-dev/exhibit/packet/keys"
	"github.com/exhibit-dev/exhibit/search"
	"github.com/exhibit-dev/exhibit/snapshot/fault"
	"github.com/exhibit-dev/exhibit/verify"
)

// questions are the kinds that `query` can mint.
var questions = []string{search.KindImpact, search.KindDependency, search.KindSymbol, search.KindRelatedTests}

func queryCommand() *cli.Command {
	return &cli.Command{
		Name:  "query",
		Usage: "ask a question and mint the answer as a signed packet",
		Description: example("Prints what the answer is made of: counts, states, revision, generation. The evidence goes to the file of\n"+
			"--packet-out, or nowhere; `exhibit show` renders it. Questions: "+strings.Join(questions, ", ")+".",
			"exhibit query --question impact --target Client.Do --packet-out packet.json",
			"exhibit query --question related_tests --target pkg/mod.py::parse --authorization auth.json --json"),
		Flags: []cli.Flag{repoFlag(), cacheFlag(), scopeFlag(), jsonFlag(), revFlag(), worktreeFlag(), pathFlag(), maxBytesFlag(),
			&cli.StringFlag{Name: "question", Usage: "`QUESTION`: " + strings.Join(questions, ", ")},
			&cli.StringFlag{Name: "target", Usage: "what it is about: `NAME`, Type.method, path::Qualified.name or a path"},
			&cli.IntFlag{Name: "depth", Usage: "`N` hops (default 2, symbol 1; at most 4)"},
			&cli.IntFlag{Name: "node-budget", Usage: "at most `N` nodes (default 40, at most 200)"},
			&cli.IntFlag{Name: "limit", Usage: "related_tests: at most `N` tests (default 20, at most 50)"},
			&cli.PathFlag{Name: "authorization", Usage: "who may receive it and under which policy, from `FILE`"},
			&cli.PathFlag{Name: "packet-out", Usage: "write the signed packet to `FILE` (0600)"},
			&cli.IntFlag{Name: "documents", Usage: "without --authorization: at most `N` claims in the packet (default 5, at most 50)"},
			&cli.StringFlag{Name: "key", Usage: "sign with the key of this `NAME` (default: $EXHIBIT_KEY_FILE, else default)"},
		},
		OnUsageError: usageError,
		Action:       runQuery,
	}
}

// queryReport is the metadata of an answer, without any of its evidence.
type queryReport struct {
	Question           string         `json:"question"`
	Target             string         `json:"target"`
	Status             string         `json:"status"`
	Commit             string         `json:"commit"`
	Generation         string         `json:"generation"`
	ContentFingerprint string         `json:"content_fingerprint"`
	Seeds              int            `json:"seeds"`
	Items              int            `json:"items"`
	ByRelation         map[string]int `json:"items_by_relation"`
	ByStrength         map[string]int `json:"items_by_strength"`
	Ambiguous          int            `json:"unresolved_entities"` // definitions that share the target's name
	Mentions           int            `json:"unresolved_mentions"`
	Cuts               []search.Cut   `json:"truncations,omitempty"`
	Limitations        []string       `json:"limitations,omitempty"`
	Packet             *packetReport  `json:"packet,omitempty"`
}

type packetReport struct {
	Address      string   `json:"address"`
	Bytes        int      `json:"bytes"`
	Documents    int      `json:"documents"`
	Completeness string   `json:"completeness"`
	Omissions    []string `json:"omissions"`
	Dropped      int      `json:"dropped_citations"`
	SignedBy     string   `json:"signed_by"`
	Audience     []string `json:"audience"`
	NotAfter     string   `json:"not_after"`
	// Worktree counts the packet's citations by their verdict in the worktree,
	// beside the commit that decides.
	Worktree map[verify.WorktreeVerdict]int `json:"worktree"`
	File     string                         `json:"file"`
}

func runQuery(c *cli.Context) error {
	if err := exactly(c); err != nil {
		return err
	}
	if c.String("question") == "" || c.String("target") == "" {
		return usagef("query needs --question and --target").WithHint("for example: exhibit query --question impact --target Client.Do")
	}
	if !slices.Contains(questions, c.String("question")) {
		return usagef("there is no question %q", c.String("question")).WithHint("ask one of: %s", strings.Join(questions, ", "))
	}
	if c.IsSet("packet-out") && c.Path("packet-out") == "" {
		return usagef("--packet-out is empty").WithHint("name a file")
	}
	if c.Path("packet-out") == "-" {
		return usagef("evidence is never written to standard output").WithHint("name a file with --packet-out; `exhibit show` renders it")
	}
	if c.IsSet("documents") && c.IsSet("authorization") {
		return usagef("--documents and --authorization exclude each other").WithHint("the authorization's policy says how many documents there may be")
	}
	w, err := openWorkspace(c.Context, c)
	if err != nil {
		return err
	}
	defer w.Close()
	ctx, cancel := context.WithTimeout(c.Context, queryDeadline)
	defer cancel()
	g, err := w.open(ctx, c)
	if err != nil {
		return err
	}
	defer g.Close()
	answer, err := g.ask(ctx, search.Request{Kind: c.String("question"), Target: c.String("target"), PathPrefix: c.String("path"),
		Depth: c.Int("depth"), NodeBudget: c.Int("node-budget"), Limit: c.Int("limit"), MaxBytes: c.Int("max-bytes")})
	if err != nil {
		return err
	}
	r := summarize(answer)
	if c.IsSet("packet-out") || c.IsSet("authorization") {
		if r.Packet, err = mint(ctx, c, w, g.Generation, answer); err != nil {
			return err
		}
	}
	return output(c, r, func(out io.Writer) { printQuery(out, r) })
}

func summarize(a *search.Answer) queryReport {
	r := queryReport{Question: a.Operation.Kind, Target: a.Operation.Target, Status: a.Status, Commit: a.Commit, Generation: a.Fingerprint,
		ContentFingerprint: a.ContentFingerprint, Seeds: len(a.Seeds), Ambiguous: len(a.Ambiguous), Items: len(a.Items), Cuts: a.Cuts, Limitations: a.Limitations,
		ByRelation: map[string]int{}, ByStrength: map[string]int{}}
	if a.Mentions != nil {
		r.Mentions = a.Mentions.Count
	}
	for _, item := range a.Items {
		if item.Relation != "" {
			r.ByRelation[item.Relation]++
		}
		if item.Strength != "" {
			r.ByStrength[item.Strength]++
		}
	}
	return r
}

// mint makes the bundle, verified as a recipient would, and writes it.
func mint(ctx context.Context, c *cli.Context, w *workspace, g *kv.Generation, a *search.Answer) (*packetReport, error) {
	key, err := signingKey(c.String("key"))
	if err != nil {
		return nil, err
	}
	terms, limits, err := termsOf(c.Path("authorization"), key.Issuer(), w, g.Meta())
	if err != nil {
		return nil, err
	}
	if n := c.Int("documents"); n != 0 {
		if n < 1 || n > packet.MaxDocuments {
			return nil, usagef("--documents is %d", n).WithHint("give 1 to %d", packet.MaxDocuments)
		}
		limits.Documents = n
	}
	m, err := verify.Mint(ctx, verify.Order{Answer: a, Source: g, Repository: w.repo, Terms: terms, Limits: limits, Signer: key, Public: key.Key,
		Now: time.Now, Random: rand.Reader})
	if err != nil {
		return nil, err
	}
	r := &packetReport{Address: m.Address, Bytes: len(m.Bundle), Documents: len(m.Packet.Documents), Completeness: m.Packet.Completeness,
		Omissions: m.Packet.Omissions, Dropped: m.Dropped, SignedBy: key.KeyID(), Audience: terms.Audience,
		NotAfter: m.Statement.Predicate.NotAfter, Worktree: m.Report.Counts.Worktree, File: c.Path("packet-out")}
	if r.File == "" {
		return r, nil
	}
	return r, packet.WriteFile(r.File, m.Bundle)
}

func termsOf(authorization, issuer string, w *workspace, meta kv.Meta) (packet.Terms, packet.Limits, error) {
	built, err := time.Parse(time.RFC3339, meta.BuiltAt)
	if err != nil {
		return packet.Terms{}, packet.Limits{}, fault.New(fault.IndexIntegrity, "the generation's time %q cannot be read: %w", meta.BuiltAt, err)
	}
	if authorization == "" {
		return packet.LocalTerms(issuer, meta.Fingerprint, w.binding.Scope, built)
	}
	data, err := os.ReadFile(authorization)
	if err != nil {
		return packet.Terms{}, packet.Limits{}, fault.New(fault.AuthorizationBad, "the authorization file cannot be read: %w", err)
	}
	auth, err := packet.DecodeAuthorization(data)
	if err != nil {
		return packet.Terms{}, packet.Limits{}, err
	}
	return auth.Terms(issuer, meta.Fingerprint, built)
}

func signingKey(name string) (*keys.Key, error) {
	store, err := keyStore()
	if err != nil {
		return nil, err
	}
	if name != "" {
		return store.Load(name)
	}
	return keys.Default(store)
}

func printQuery(out io.Writer, r queryReport) {
	fmt.Fprintf(out, "question      %s %s\nstatus        %s\ncommit        %s\ngeneration    %s\n", r.Question, safe(r.Target), r.Status, r.Commit, r.Generation)
	fmt.Fprintf(out, "answer        %d seeds, %d items", r.Seeds, r.Items)
	if len(r.ByRelation) > 0 {
		fmt.Fprintf(out, ": %s (%s)", counts(r.ByRelation), counts(r.ByStrength))
	}
	if r.Ambiguous > 0 {
		fmt.Fprintf(out, "\nambiguous     %d definitions bear the name: `exhibit symbols` lists them, path::name means one", r.Ambiguous)
	}
	fmt.Fprintf(out, "\nunresolved    %d references bear the name and resolve to nothing\n", r.Mentions)
	for _, cut := range r.Cuts {
		fmt.Fprintf(out, "cut           by %s (%d)", cut.Bound, cut.Limit)
		if cut.Dropped > 0 {
			fmt.Fprintf(out, ", %d left out", cut.Dropped)
		}
		fmt.Fprintln(out)
	}
	for _, l := range r.Limitations {
		fmt.Fprintf(out, "limitation    %s\n", l)
	}
	p := r.Packet
	if p == nil {
		fmt.Fprintln(out, "packet        none: name a file with --packet-out")
		return
	}
	fmt.Fprintf(out, "packet        %s\n              %d bytes, %d documents, %s", p.Address, p.Bytes, p.Documents, p.Completeness)
	if len(p.Omissions) > 0 {
		fmt.Fprintf(out, "; left out: %s", strings.Join(p.Omissions, ", "))
	}
	fmt.Fprintf(out, "\nsigned by     %s\nfor           %s, until %s\n", p.SignedBy, strings.Join(p.Audience, ", "), p.NotAfter)
	if p.File != "" {
		fmt.Fprintf(out, "written to    %s\n", safe(p.File))
	}
}
