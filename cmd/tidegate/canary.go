package main

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/fetch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/test/planted"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

func canaryCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:  "canary",
		Short: "Plant a violation of every rule and demand that each is caught",
		Long: `Plant one violation per rule in a scratch wave, run and review, and demand that
each is caught by its code, and that its corrected counterpart passes. A gate that
lets everything through looks just like one that finds nothing: this command
tells them apart. Sources are pages of a web in memory, one for every rule of
` + "`tidegate citations rules`" + `, and no connection is opened. The exit status is 1 when a
rule is not applied.`,
		Example: "tidegate canary\ntidegate canary --format junit",
		Flags:   []cli.Flag{formatFlag("text", "junit", "markdown")},
		Run: func(ctx context.Context, call cli.Invocation) error {
			scratch, err := os.MkdirTemp("", "tidegate-canary-")
			if err != nil {
				return tidegate.Errorf(tidegate.WriteFailed, nil, "no scratch folder can be made: %w", err)
			}
			defer os.RemoveAll(scratch)
			web := planted.New()
			defer web.Close()
			canary := demo.Canary{Scratch: scratch, Tools: func(folder string) []*tool.Tool {
				return catalog.Tools(&catalog.Env{Now: env.Now, Pinned: env.Pinned, Dir: folder, Project: folder, Home: filepath.Join(folder, "runs"), Fetch: fetching(web, env.Now)})
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

// fetching fetches the pages of a planted web. One of them never answers, and
// another is larger than what is read.
func fetching(web *planted.Web, now func() time.Time) step.Fetch {
	limits := fetch.DefaultLimits
	limits.Deadline, limits.MaxBody = 5*time.Second, 1<<20
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		client := fetch.New(fetch.Options{Now: now, Resolve: web.Resolve, Dial: web.Dial, Roots: web.Roots(), Limits: limits})
		defer client.Close()
		return client.Each(ctx, urls, keep, nil)
	}
}

// formatFlag is --format of a command that is not a tool; the first is the default.
func formatFlag(names ...string) cli.Flag {
	return cli.Flag{Name: "format", About: "how to print the result", Default: names[0], Enum: names}
}
