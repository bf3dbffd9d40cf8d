package main

import (
	"cmp"
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/tool"
)

// leastEvery is how long servers are left alone between two updates.
const leastEvery = time.Minute

func updateCommand(env *catalog.Env) cli.Command {
	return cli.Command{
		Path: "run update", Operands: "RUN", MaxArgs: 1,
		Short: "Fetch the sources of a report again, and say which sentences still stand",
		Long: `Fetch the sources of a finished report again, of a run or of an audit, and say of
every sentence that cites something whether it still stands: it stands, the page
has changed (with both passages and the difference marked), the passage or the
page is gone, or a wall stands before it now. It needs no agent. Servers that
can say so are asked only whether the page has changed.

A passage that stands there word for word holds its sentence. In one that was
edited a little, every word that the sentence has counts; in one that was written
anew only numbers, dates, quotations, names and what turns a statement round do.

The run is only read. What was fetched and found is kept in a folder of its own
beside the runs, in updates, bound to the run by its id and the head of its log.
The exit status is 0 when every sentence stands, 1 when one does not, and 4 when
nothing has changed as far as pages could be reached and some could not. With
--every it continues until it is interrupted.

With --rewrite, a run begins where a sentence no longer stands: it has the question
and settings of the run and builds on it, as ` + "`tidegate research --from`" + ` does. The
planner is shown what changed, and the pages that changed are fetched again. It
shows its plan and asks, as research does, and the exit status is that of research.`,
		Example: "tidegate run update harbour\ntidegate run update harbour --every 24h --notify 'jq -r .summary.changed'\ntidegate run update harbour --rewrite --agent claude",
		Flags: append([]cli.Flag{
			{Name: "every", About: "do it again after each `duration`, such as 24h", Kind: tool.Word},
			{Name: "notify", About: "a `command` that gets the result as JSON on its standard input", Kind: tool.Word},
			{Name: "rewrite", About: "begin a run for the sentences that no longer stand", Kind: tool.Switch},
			formatFlag("text", "json", "markdown", "junit"),
		}, research.RewriteFlags...),
		Run: func(ctx context.Context, call cli.Invocation) error {
			name, err := operand(call, "RUN", "the run or audit, by its id, the beginning of it, or its folder")
			if err != nil {
				return err
			}
			every, err := time.ParseDuration(cmp.Or(call.Flag("every"), "0s"))
			if err != nil || call.Flag("every") != "" && every < leastEvery {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("every", tidegate.Cut(call.Flag("every"))), "--every must be a duration of a minute or more, such as 24h, got %q", tidegate.Cut(call.Flag("every")))
			}
			rewrite := call.Flag("rewrite") == "true"
			if rewrite && every > 0 {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("every", call.Flag("every"), "rewrite", true), "give --every or --rewrite: a run that is begun needs your yes")
			}
			for {
				updated, err := updateOnce(ctx, env, call, name)
				switch {
				case err != nil:
					return err
				case rewrite && !updated.Pass && updated.Reached():
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
	updated, err := library.Update(ctx, desk, env.Home, env.PagesOf(item, tool.Caller{}), item)
	if err != nil {
		return updated, err
	}
	if call.Flag("format") == "json" {
		data, err := codec.MarshalLine(updated)
		if err == nil {
			_, err = call.Stdout.Write(append(data, '\n'))
		}
		if err != nil {
			return updated, tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
		}
	} else if err := call.Print(updated.Report(), call.Flag("format")); err != nil {
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
