// Command tidegate is the gate between what an AI agent wrote and everything
// that trusts it.
package main

import (
	"context"
	"errors"
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
	"github.com/tidegate/tidegate/internal/demo"
	"github.com/tidegate/tidegate/internal/research"
	"github.com/tidegate/tidegate/internal/screen"
	"github.com/tidegate/tidegate/tool"
	"golang.org/x/term"
)

// status runs the command line and returns the exit status.
func status() int {
	paceCollections()
	ctx, stop := interruptible(context.Background())
	defer stop()
	level := new(slog.LevelVar)
	level.Set(slog.LevelWarn)
	slog.SetDefault(slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: level})))
	env, err := environment()
	if err != nil {
		fmt.Fprintln(os.Stderr, "tidegate:", err)
		return cli.Status(tidegate.ClassOf(tidegate.CodeOf(err)))
	}
	program := assemble(env)
	program.Log = level
	if err := configure(ctx, env, program); err != nil {
		program.Check = func(command string) error { return unlessItNeedsNone(command, err) }
	}
	ctx = tidegate.WithChanges(ctx, env.Config.Changes)
	return program.Run(ctx, os.Args[1:])
}

// interruptible is a context that the first interrupt ends. The second one ends
// the program at once.
func interruptible(parent context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		for range signals {
			if ctx.Err() != nil {
				atOnce()
			}
			cancel(errors.New("interrupted"))
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// atOnce ends the program without waiting for anything. Agents die with it, and the
// terminal is restored.
func atOnce() {
	restoreKeys()
	if term.IsTerminal(int(os.Stdout.Fd())) {
		fmt.Fprint(os.Stdout, screen.Restore)
	}
	os.Exit(cli.Status(tidegate.Stopped))
}

// assemble is the program with all of its commands.
func assemble(env *catalog.Env) *cli.Program {
	tools := catalog.Tools(env)
	return &cli.Program{
		Tools:    tools,
		Commands: commands(env, tools),
		Settings: settings(env),
		Groups:   groups,
		Complete: completions(env),
		Version:  version(),
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: terminal(),
		Dir:      env.Dir,
	}
}

// commands are those that serve or explain the program itself.
func commands(env *catalog.Env, tools []*tool.Tool) []cli.Command {
	return append([]cli.Command{
		mcpCommand(env, tools),
		mcpConfigCommand(env, tools),
		schemaCommand(tools),
		demoCommand(env),
	}, append(research.Commands(researchEnv(env)),
		perspectivesNewCommand(env),
		reportCommand(env),
		serveCommand(env),
		exportCommand(env),
		sealCommand(env),
		verifyCommand(env),
		explainCommand(tools),
		configCommand(env),
		configTrustCommand(env),
		doctorCommand(env),
		canaryCommand(env),
	)...)
}

// researchEnv is what the commands that drive runs need, with the answers of the
// demo among the recordings.
func researchEnv(env *catalog.Env) *research.Env {
	return &research.Env{Env: env, Recordings: map[string]research.Recording{
		"demo": {Unpack: demo.UnpackAgents, Fetch: demo.Pages{Now: env.Now}.Fetch},
	}}
}

// groups say what the commands that begin with a word are for.
var groups = map[string]string{
	"wave":         "Judge what the agents of a wave wrote",
	"perspectives": "Write and check contracts",
	"pivot":        "Decide whether a second wave is needed",
	"citations":    "Fetch and judge what the outputs of a run cite",
	"summary":      "Build bounded, citation-clean summaries",
	"run":          "Create a run, look at it and move it through its stages",
	"job":          "See what agents are asked and answer, and answer yourself",
	"gate":         "Judge gates, and show how they stand",
	"review":       "Write, read and compare code reviews",
	"change":       "Move a code change through its phases",
	"mcp":          "Serve the tools to agents",
}

// settings are what the operator of a face decides, and not the caller of a tool.
func settings(env *catalog.Env) []cli.Setting {
	return []cli.Setting{
		{
			Name: "project", About: "the project folder of code reviews and changes (default the working folder)", Kind: tool.PathFlag,
			Under: []string{"call", "mcp", "serve", "review", "change"}, Set: func(value string) { env.Project = value },
		},
		{
			Name: "strict", About: "refuse code reviews with anything that would be a warning", Kind: tool.Switch,
			Under: []string{"call", "mcp", "review create"}, Set: func(value string) { env.Strict = value == "true" },
		},
		{
			Name: "sign", About: "the SSH key that signs the decision, where the run or change asks for that: a private key, or a public one that an ssh-agent has (default $TIDEGATE_SIGN_KEY)", Kind: tool.PathFlag,
			Under: []string{"research", "run continue", "run pause", "run resume", "run cancel", "run delete", "run limit", "run accept", "run seal", "gate", "perspectives write", "wave restore", "citations attach", "citations replace", "change start", "change resume"},
			Set:   func(value string) { env.SignKey = value },
		},
		{
			Name: "signers", About: "an OpenSSH allowed_signers file: a person's decisions about the run must be signed by one of them", Kind: tool.PathFlag,
			Under: []string{"run init"}, Set: func(value string) { env.Signers = value },
		},
		{
			Name: "legacy-gates", About: "make runs whose gates count as they are written, for the earlier system's orchestrator", Kind: tool.Switch,
			Under: []string{"call", "mcp", "run init"}, Set: func(value string) { env.LegacyGates = value == "true" },
		},
	}
}

func environment() (*catalog.Env, error) {
	dir, err := os.Getwd()
	if err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, nil, "the working folder cannot be found: %w", err)
	}
	env := &catalog.Env{
		Now: time.Now, Dir: dir, Project: dir, Home: runsHome(), Program: "tidegate " + version(),
		SignKey: os.Getenv("TIDEGATE_SIGN_KEY"), AgentSocket: os.Getenv("SSH_AUTH_SOCK"), Passphrase: askPassphrase,
		ConfigDir: configDir(), Getenv: os.Getenv,
	}
	if pinned := os.Getenv("TIDEGATE_NOW"); pinned != "" {
		at, err := time.Parse(time.RFC3339, pinned)
		if err != nil {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("TIDEGATE_NOW", pinned), "TIDEGATE_NOW must be a time such as 2026-01-02T15:04:05Z, got %q", pinned)
		}
		env.Now, env.Pinned = func() time.Time { return at }, true
	}
	return env, nil
}

// runsHome is the folder that the system has for the data of programs.
func runsHome() string {
	if data := os.Getenv("XDG_DATA_HOME"); filepath.IsAbs(data) {
		return filepath.Join(data, "tidegate", "runs")
	}
	if home, err := os.UserHomeDir(); err == nil {
		return filepath.Join(home, ".local", "share", "tidegate", "runs")
	}
	return ""
}

// configDir is the folder of the user's own configuration, "" where the system
// has none.
func configDir() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "tidegate")
}

func terminal() cli.Terminal {
	t := cli.Terminal{Input: term.IsTerminal(int(os.Stdin.Fd())), Progress: term.IsTerminal(int(os.Stderr.Fd()))}
	if t.Progress {
		if width, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil {
			t.ErrWidth = width
		}
	}
	if out := int(os.Stdout.Fd()); term.IsTerminal(out) {
		t.Color = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
		if width, _, err := term.GetSize(out); err == nil {
			t.Width = width
		}
		if os.Getenv("TERM") != "dumb" && t.Width > 0 {
			t.Size = func() (columns, rows int) {
				columns, rows, err := term.GetSize(out)
				if err != nil {
					return 80, 24
				}
				return columns, rows
			}
		}
	}
	if t.Input && t.Size != nil {
		t.Keys = readKeys
	}
	return t
}

// released is the version of a release, which its build sets.
var released string

func version() string {
	if released != "" {
		return released
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" {
		return info.Main.Version
	}
	return "(devel)"
}
