package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

// completions are scripts that ask the program itself what may follow.
var completions = map[string]string{
	"bash": `_exhibit() {
  local words=("${COMP_WORDS[@]:0:$COMP_CWORD}")
  COMPREPLY=($(compgen -W "$("${words[@]}" --generate-bash-completion 2>/dev/null)" -- "${COMP_WORDS[$COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _exhibit exhibit
`,
	"zsh": `#compdef exhibit
_exhibit() {
  local -a found
  found=("${(@f)$("${words[@]:0:$CURRENT-1}" --generate-bash-completion 2>/dev/null)}")
  if [[ -n "$found[1]" ]]; then _describe 'exhibit' found; else _files; fi
}
compdef _exhibit exhibit
`,
	"fish": `complete -c exhibit -f -a '(begin
  set -l words (commandline -opc)
  $words --generate-bash-completion 2>/dev/null
end)'
`,
}

func completionCommand() *cli.Command {
	return &cli.Command{
		Name: "completion", Usage: "print a completion script for your shell", ArgsUsage: "bash|zsh|fish",
		Description:  example("", "source <(exhibit completion bash)", "exhibit completion fish > ~/.config/fish/completions/exhibit.fish"),
		Flags:        []cli.Flag{jsonFlag()},
		OnUsageError: usageError,
		Action: func(c *cli.Context) error {
			if err := exactly(c, "bash|zsh|fish"); err != nil {
				return err
			}
			script, ok := completions[c.Args().First()]
			if !ok {
				return usagef("there is no completion for %q", c.Args().First()).WithHint("bash, zsh or fish")
			}
			if c.Bool("json") {
				return printJSON(c.App.Writer, map[string]string{"script": script})
			}
			_, err := fmt.Fprint(c.App.Writer, script)
			return err
		},
	}
}
