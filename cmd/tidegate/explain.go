package main

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/tool"
)

func explainCommand(tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path:     "explain",
		Operands: []tool.Operand{{Name: "NAME", About: "the code, rule or word; all when absent", Optional: true}},
		Flags:    []tool.Flag{formatFlag("text", "markdown")},
		Complete: codes(),
		Run: func(_ context.Context, call cli.Invocation) error {
			if len(call.Args) == 0 {
				rules, err := demo.Rules()
				if err != nil {
					return err
				}
				all := demo.Overview(rules)
				table := report.NewTable("Name", "Meaning")
				for _, name := range slices.Sorted(maps.Keys(words())) {
					table.Row(report.None, name, words()[name].Short)
				}
				all.Add(report.Heading("Words"), table)
				return call.Show(all, call.Flag("format"))
			}
			if shown, ok := explainWord(call.Args[0]); ok {
				return call.Show(shown, call.Flag("format"))
			}
			rule, err := demo.Find(call.Args[0], slices.Collect(maps.Keys(words()))...)
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
	return slices.AppendSeq(names, maps.Keys(words()))
}
