package main

import (
	"cmp"
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/tool"
)

// leastEvery is how long servers are left alone between two updates.
const leastEvery = time.Minute

func updateCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path:     "run update",
		Operands: []tool.Operand{{Name: "RUN", About: "the run or audit, by its id, the beginning of it, or its folder"}},
		Flags: append([]tool.Flag{
			{Name: "every", About: "do it again after each `duration`, such as 24h", Kind: tool.Word},
			{Name: "notify", About: "a `command` that gets the result as JSON on its standard input", Kind: tool.Word},
			{Name: "rewrite", About: "begin a run for the sentences that no longer stand, or stand beside something new", Kind: tool.Switch},
			formatFlag("text", "json", "markdown", "junit"),
		}, research.RewriteFlags...),
		Run: func(ctx context.Context, call cli.Invocation) error {
			every, err := time.ParseDuration(cmp.Or(call.Flag("every"), "0s"))
			if err != nil || call.Flag("every") != "" && every < leastEvery {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("every", tidegate.Cut(call.Flag("every"))), "--every must be a duration of a minute or more, such as 24h, got %q", tidegate.Cut(call.Flag("every")))
			}
			rewrite := call.Flag("rewrite") == "true"
			if rewrite && every > 0 {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("every", call.Flag("every"), "rewrite", true), "give --every or --rewrite: a run that is begun needs your yes")
			}
			for {
				updated, err := updateOnce(ctx, env, call, call.Args[0])
				switch {
				case err != nil:
					return err
				case rewrite && (!updated.Pass && updated.Reached() || updated.Summary.Beside > 0):
					return research.Rewrite(ctx, env, call, updated)
				case every == 0:
					return exitOf(updated)
				}
				select {
				case <-ctx.Done():
					return ctx.Err()
				case <-time.After(every):
				}
			}
		},
	}
}

// updateOnce updates once, shows the result and tells others.
func updateOnce(ctx context.Context, env *catalog.Env, call cli.Invocation, name string) (library.Updated, error) {
	desk := env.Desk(artifact.Everywhere)
	item, err := library.Open(ctx, desk, env.Home, env.Dir, name)
	if err != nil {
		return library.Updated{}, err
	}
	defer item.Close()
	pages, recorded := env.PagesOf(item, tool.Caller{})
	updated, err := library.Update(ctx, desk, env.Home, pages, item)
	if err != nil {
		return updated, err
	}
	if call.Flag("format") == "json" {
		err = call.Line(updated)
	} else {
		shown := updated.Report()
		if recorded {
			shown.Summary += "; held against the pages of " + item.Recorded + ", which are recorded too: no connection was opened"
		}
		err = call.Print(shown, call.Flag("format"))
	}
	if err != nil {
		return updated, err
	}
	return updated, call.Tell(ctx, updated, cli.NotifyTime)
}

// exitOf is the exit status that says how an update ended.
func exitOf(u library.Updated) error {
	switch {
	case u.Pass:
		return nil
	case u.Reached():
		return cli.Exit(cli.Status(tidegate.NotMet))
	}
	return cli.Exit(cli.Status(tidegate.Conflict))
}
