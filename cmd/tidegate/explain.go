package main

import (
	"context"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/tool"
)

func explainCommand(tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path:     "explain",
		Operands: "[NAME]",
		MaxArgs:  1,
		Short:    "Explain an error code, a rule or a word, with examples",
		Long: `Explain an error code, or a rule that a result names: what it means, why it
exists, how to meet it, an example that fails and the same one put right; or a word
that tidegate uses in a sense of its own, such as gate. Without a name, all codes
and rules are listed.`,
		Example:  "tidegate explain\ntidegate explain TOO_MANY_WORDS\ntidegate explain Wave2Required.P1\ntidegate explain gate",
		Flags:    []cli.Flag{formatFlag("text", "markdown")},
		Complete: codes(),
		Run: func(_ context.Context, call cli.Invocation) error {
			if len(call.Args) == 0 {
				rules, err := demo.Rules()
				if err != nil {
					return err
				}
				return call.Show(demo.Overview(rules), call.Flag("format"))
			}
			if word, ok := findWord(call.Args[0]); ok {
				return call.Show(word.report(), call.Flag("format"))
			}
			rule, err := demo.Find(call.Args[0])
			if err != nil {
				return err
			}
			return call.Show(demo.Explain(rule, cli.Status, personsCommand(tools)), call.Flag("format"))
		},
	}
}

// personsCommand finds the command of a tool that only a person may use.
func personsCommand(tools []*tool.Tool) func(name string) string {
	return func(name string) string {
		for _, t := range tools {
			if t.Name == name && t.Person {
				typed := []string{"tidegate", t.Command.Path}
				for _, o := range t.Command.Operands {
					typed = append(typed, o.Name)
				}
				return strings.Join(typed, " ")
			}
		}
		return ""
	}
}

// codes are the names that a shell completes: codes and words. The other rules are
// in files that are read only on demand.
func codes() []string {
	var names []string
	for _, x := range tidegate.Explanations {
		names = append(names, string(x.Code))
	}
	for _, w := range words {
		names = append(names, w.name)
	}
	return names
}
