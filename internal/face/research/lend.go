package research

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/tool"
)

// Lend has agents that work for an environment search and judge their text by its tools.
func Lend(env *dispatch.Env) {
	env.Search = func(ctx context.Context, task driver.Task, q driver.Query) (string, error) {
		return searchFor(ctx, env, task, q)
	}
	env.Serve = func(ctx context.Context, task driver.Task, agent io.ReadWriter, leaks func(string) bool) {
		serve(ctx, env, task, agent, leaks)
	}
}

// lent are the tools that a task is lent. What it may call and for whom follows from the
// task; it names neither a run nor a file.
func lent(task driver.Task) catalog.Lent {
	return catalog.Lent{Manifest: task.Lease.Manifest, Token: task.Lease.Token, Search: task.MaySearch()}
}

// serve answers an agent that works on a task, until it or ctx ends.
func serve(ctx context.Context, env *dispatch.Env, task driver.Task, agent io.ReadWriter, leaks func(string) bool) {
	lent := lent(task)
	lent.Contract, lent.MaxText, lent.Leaks = []byte(task.Contract), task.Limits.Answer, leaks
	// An agent whose connection breaks asks again, and its client says so.
	_ = mcp.ServeStdio(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), lent.Of(catalog.Tools(env)), agent, agent, mcp.Options{
		Version: cli.Version(), Log: slog.New(slog.DiscardHandler), Instructions: "Tools for the job that you work on. Judge your text with them before you answer.",
	})
}

// searchFor searches for a model, as the tool that agents are lent does, and returns what
// was found as text.
func searchFor(ctx context.Context, env *dispatch.Env, task driver.Task, q driver.Query) (string, error) {
	lent := lent(task).Of(catalog.Tools(env))
	if len(lent) == 0 {
		return "", tidegate.Errorf(tidegate.InvalidState, nil, "there is no search for this task")
	}
	args := codec.NewObject()
	for name, value := range map[string]string{"query": q.Text, "service": q.Service, "language": q.Language} {
		if value != "" {
			args.Set(name, codec.Of(value))
		}
	}
	text, err := codec.MarshalLine(args)
	if err != nil {
		return "", err
	}
	made := lent[0].Call(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), text, tool.Caller{})
	if made.Err != nil {
		return "", made.Err
	}
	found, _ := made.Value().(sourcing.SearchResult)
	return shownToModel(found), nil
}

// shownToModel is what a model reads of a search.
func shownToModel(found sourcing.SearchResult) string {
	var b strings.Builder
	for _, r := range found.Results {
		fmt.Fprintf(&b, "%d. %s\n   %s\n", r.Rank, r.Title, r.URL)
		for _, more := range []string{r.Date, r.Snippet} {
			if more != "" {
				b.WriteString("   " + more + "\n")
			}
		}
	}
	if len(found.Results) == 0 {
		b.WriteString("nothing was found\n")
	}
	return b.String() + "By " + found.Service + ". Services that can be asked: " + strings.Join(found.Services, ", ") + "\n"
}
