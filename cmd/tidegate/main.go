// Command tidegate is the gate between what an AI agent wrote and everything
// that trusts it.
package main

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/cli"
	"github.com/tidegate/tidegate/internal/mcpserver"
	"github.com/tidegate/tidegate/tool"
	"golang.org/x/term"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	env, err := environment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidegate:", err)
		return cli.Status(tidegate.ClassOf(tidegate.CodeOf(err)))
	}
	program := &cli.Program{
		Tools:    catalog.Tools(env),
		Version:  version(),
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: terminal(),
		Dir:      env.Dir,
		Log:      level,
	}
	program.Commands = []cli.Command{mcpCommand(program.Tools)}
	return program.Run(ctx, os.Args[1:])
}

func environment() (*catalog.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the working folder cannot be found: %w", err)
	}
	env := &catalog.Env{Now: time.Now, Dir: dir, Project: dir, Home: runsHome()}
	if pinned := os.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("TIDEGATE_NOW", pinned), "TIDEGATE_NOW must be a time such as 2026-01-02T15:04:05Z, got %q", pinned)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	return env, nil
}

// runsHome is $TIDEGATE_HOME/runs, else the folder that the system has for the
// data of programs.
func runsHome() string {
	if home := os.Getenv("TIDEGATE_HOME"); home != "" {
		if abs, err := filepath.Abs(home); err == nil {
			return filepath.Join(abs, "runs")
		}
	}
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tidegate", "runs")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "tidegate", "runs")
	}
	return ""
}

func terminal() cli.Terminal {
	t := cli.Terminal{Progress: term.IsTerminal(int(os.Stderr.Fd()))}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		t.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(out); err == nil {
			t.Width = width
		}
	}
	return t
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}

func mcpCommand(tools []*tool.Tool) cli.Command {
	return cli.Command{
		Path:    "mcp",
		Short:   "Serve the tools to agents over MCP on stdio",
		Long:    "Serve the tools over the Model Context Protocol on stdin and stdout. An agent's client starts this command; nothing else is printed.",
		Example: "tidegate mcp",
		Run: func(ctx context.Context, call cli.Invocation) error {
			return mcpserver.ServeStdio(ctx, tools, mcpserver.Options{Version: call.Version, Log: slog.Default()})
		},
	}
}
