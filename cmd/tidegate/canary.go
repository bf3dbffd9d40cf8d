package main

import (
	"context"
	"path/filepath"

	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/tool"
)

func canaryCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:  "canary",
		Short: "Plant a violation of every rule and demand that each is caught",
		Long: `Plant one violation per rule in a scratch wave, run and review, and demand that
each is caught by its code, and that its corrected counterpart passes. A gate that
lets everything through looks just like one that finds nothing: this command
tells them apart. Sources are pages that come with the program, one for every rule of
` + "`tidegate citations rules`" + `, and no connection is opened. The exit status is 1 when a
rule is not applied.`,
		Example: "tidegate canary\ntidegate canary --format junit",
		Flags:   []cli.Flag{formatFlag("text", "junit", "markdown")},
		Run: func(ctx context.Context, call cli.Invocation) error {
			scratch, remove, err := artifact.Scratch("tidegate-canary-")
			if err != nil {
				return err
			}
			defer remove()
			canary := demo.Canary{Scratch: scratch, Tools: func(folder string) []*tool.Tool {
				return catalog.Tools(&catalog.Env{Now: env.Now, Pinned: env.Pinned, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Fetch: demo.Pages{Now: env.Now}.FetchSources})
			}}
			sightings, err := canary.Run(ctx)
			if err != nil {
				return err
			}
			judgements, err := canary.Sources(ctx)
			if err != nil {
				return err
			}
			return call.Show(demo.Report(sightings, judgements), call.Flag("format"))
		},
	}
}

// formatFlag is --format of a command that is not a tool; the first is the default.
func formatFlag(names ...string) cli.Flag {
	return cli.Flag{Name: "format", About: "how to print the result", Default: names[0], Enum: names}
}
