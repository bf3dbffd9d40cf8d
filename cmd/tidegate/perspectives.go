package main

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/tool"
	"github.com/tidegate/tidegate/wave"
)

// perspectivesNewCommand writes contracts to start from.
func perspectivesNewCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "perspectives new",
		Operands: []tool.Operand{{Name: "QUESTION", About: "the research question"}},
		Flags:    []tool.Flag{{Name: "output", About: "the `file` to write (default perspectives.json in the working folder)", Kind: tool.PathFlag}},
		Run: func(ctx context.Context, call cli.Invocation) error {
			question := markdown.OneLine(call.Args[0])
			if question == "" {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("QUESTION", ""), "QUESTION must not be blank")
			}
			path := cmp.Or(call.Flag("output"), filepath.Join(call.Dir, "perspectives.json"))
			if _, err := artifact.Everywhere.ReadFile("output", path); tidegate.CodeOf(err) != tidegate.FileNotFound {
				if err != nil {
					return err
				}
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("output", path), "%s is there already; name another file with --output", path)
			}
			document, err := codec.MarshalFile(wave.Draft(question, tidegate.Stamp(env.Now())))
			if err != nil {
				return err
			}
			if err := artifact.Everywhere.WriteFile("output", path, document); err != nil {
				return err
			}
			shown := path
			if relative, err := filepath.Rel(call.Dir, path); err == nil {
				shown = relative
			}
			out := report.Report{Name: "perspectives_new", Title: "Contracts to start from", Summary: "3 perspectives were written to " + shown}
			out.Add(report.Heading("Next command"), report.Preformatted("tidegate perspectives check "+report.ShellWord(shown)))
			return call.Render(out)
		},
	}
}
