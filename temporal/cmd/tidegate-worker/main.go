// Command tidegate-worker lends the agents of this machine to the homes of runs on
// other machines, by way of a Temporal server, and drives runs whose agents work
// on such machines.
package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/codereview"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/tool"
)

func main() { os.Exit(status(os.Args[1:], workersOf)) }

// status runs a command line and returns the exit status. The agents of a home work
// where workers says.
func status(args []string, workers func(*catalog.Env, *serverFlags) *dispatch.Workers) int {
	ctx, now, stop := interruptible(context.Background())
	defer stop()
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	env, err := dispatch.ProcessEnv("tidegate " + cli.Version())
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidegate-worker:", err)
		return cli.Status(tidegate.ClassOf(tidegate.CodeOf(err)))
	}
	server := &serverFlags{stop: func() {}}
	program := assemble(env, server, workers, now)
	program.Log = level
	loaded, err := config.Load(ctx, config.Places{Dir: env.Dir, User: env.ConfigDir, Getenv: env.Getenv})
	env.Config = loaded.Settings
	if env.Config.Home != "" {
		env.Home = filepath.Join(env.Config.Home, "runs")
	}
	if err != nil {
		program.Check = func(command string) error {
			if command == "" || command == "help" || command == "version" {
				return nil
			}
			return err
		}
	}
	defer func() { server.stop() }()
	return program.Run(ctx, withCommand(args))
}

// withCommand is a command line with its command: a line of flags alone means work.
func withCommand(args []string) []string {
	if len(args) > 0 && strings.HasPrefix(args[0], "-") && args[0] != "--help" && args[0] != "-h" && args[0] != "--version" {
		return append([]string{"work"}, args...)
	}
	return args
}

// interruptible are two contexts: the first interrupt ends ctx, and with it what can
// be ended in peace; the second one ends now, and the third the program.
func interruptible(parent context.Context) (ctx, now context.Context, stop func()) {
	ctx, end := context.WithCancelCause(parent)
	now, endNow := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 3)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			switch {
			case now.Err() != nil:
				os.Exit(cli.Status(tidegate.Stopped))
			case ctx.Err() != nil:
				endNow(errors.New("interrupted twice"))
			default:
				end(errors.New("interrupted"))
			}
		}
	}()
	return ctx, now, func() {
		signal.Stop(signals)
		end(nil)
		endNow(nil)
	}
}

// assemble is the program with all of its commands.
func assemble(env *catalog.Env, server *serverFlags, workers func(*catalog.Env, *serverFlags) *dispatch.Workers, now context.Context) *cli.Program {
	env.Recordings, env.Workers = recordings(env), workers(env, server)
	return &cli.Program{
		Name:     "tidegate-worker",
		About:    about,
		Example:  "  tidegate-worker --queue researchers --agent claude\n  tidegate-worker research \"Which heat pump fits an old house?\" --queue researchers --agent claude",
		Tools:    toolsOf(env),
		Commands: append(append(research.Commands(env), codereview.Commands(env)...), workCommand(env, server, now)),
		Settings: server.settings(),
		Groups:   map[string]string{"run": "Look at a run, and move it", "job": "See what agents are asked and answer", "review": "Have a code change reviewed", "change": "Have a code change made", "agents": "Show the agents of this machine"},
		Version:  cli.Version(),
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: cli.StandardTerminal(),
		Dir:      env.Dir,
	}
}

// toolsOf are the tools behind the commands that look at runs and stop them, so that a
// home needs no second program for that.
func toolsOf(env *catalog.Env) []*tool.Tool {
	return slices.DeleteFunc(catalog.Tools(env), func(t *tool.Tool) bool {
		return t.Command == nil || !strings.HasPrefix(t.Command.Path, "run ") && !strings.HasPrefix(t.Command.Path, "job ")
	})
}

const about = `tidegate-worker lends the agents of this machine to the homes of runs on other
machines, by way of a Temporal server. A home is one machine with a run's folder: it
drives the run with the commands of tidegate, research and run continue, and its
tasks are done wherever a worker takes them.

Without a command it works. A task is executed at least once and accepted exactly
once.`

// recordings are the answers that come with the program.
func recordings(env *catalog.Env) map[string]dispatch.Recording {
	return map[string]dispatch.Recording{"demo": {Unpack: demo.UnpackAgents, Fetch: demo.Pages{Now: env.Now}.Fetch, Question: demo.Question, Shape: demo.Shape}}
}
