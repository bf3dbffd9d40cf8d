package main

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/tool"
)

func canaryCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:  "canary",
		Flags: append([]tool.Flag{formatFlag("text", "junit", "markdown")}, research.CanaryFlags...),
		Run: func(ctx context.Context, call cli.Invocation) error {
			switch agents := call.Flag("agents"); {
			case agents != "":
				return research.Canary(ctx, env, call, strings.Split(agents, ","))
			case call.Flag("model") != "":
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("model", call.Flag("model")), "--model is the model of agents, and --agents names none")
			}
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
func formatFlag(names ...string) tool.Flag {
	return tool.Flag{Name: "format", About: "how to print the result", Default: names[0], Enum: names}
}
