package research

import (
	"context"
	"io"
	"log/slog"
	"os"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/mcp"
)

// Relay is the MCP server by which agents reach the tools of their home, and that
// program, an absolute path, starts. A command is never taken from a run's folder, nor
// from a task that comes from another machine.
func Relay(program string) driver.Server {
	return driver.Server{Name: "tidegate", Command: program, Args: []string{"mcp", "--relay", driver.RelayArg}}
}

// ownRelay is the one that this program starts; nil where its path is not known.
func ownRelay() *driver.Server {
	program, err := os.Executable()
	if err != nil {
		return nil
	}
	server := Relay(program)
	return &server
}

// searches reports whether this home searches for agents that work on this machine.
func (e *Env) searches() bool { return e.Far == nil && catalog.Searches(catalog.Tools(e.Env)) }

// serve answers an agent that works on a task, until it or ctx ends. What it may call
// and for whom follows from the task; it names neither a run nor a file.
func (e *Env) serve(ctx context.Context, task driver.Task, agent io.ReadWriter, leaks func(string) bool) {
	tools := catalog.Tools(e.Env)
	lent := catalog.Lent{Manifest: task.Lease.Manifest, Token: task.Lease.Token, Search: task.MaySearch(), Contract: []byte(task.Contract), MaxText: task.Limits.Answer, Leaks: leaks}
	// An agent whose connection breaks asks again, and its client says so.
	_ = mcp.ServeStdio(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), lent.Of(tools), agent, agent, mcp.Options{
		Version: cli.Version(), Log: slog.New(slog.DiscardHandler), Instructions: "Tools for the job that you work on. Judge your text with them before you answer.",
	})
}
