// Command tidegate is the gate between what an AI agent wrote and everything
// that trusts it.
package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/codereview"
	"github.com/tidegate/tidegate/internal/face/demo"
	"github.com/tidegate/tidegate/internal/face/research"
	"github.com/tidegate/tidegate/internal/face/screen"
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
	return execute(ctx, env, program, os.Args[1:])
}

// execute runs a command line by the configuration, and returns the exit status.
func execute(ctx context.Context, env *catalog.Env, program *cli.Program, args []string) int {
	if err := configure(ctx, env, program); err != nil {
		program.Check = func(command string) error { return unlessItNeedsNone(command, err) }
	}
	keepFromAgents(env, program, args)
	return program.Run(ctx, args)
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
		fmt.Fprint(os.Stdout, screen.RestoreTerminal)
	}
	os.Exit(cli.Status(tidegate.Stopped))
}

// assemble is the program with all of its commands.
func assemble(env *catalog.Env) *cli.Program {
	env.Sample = &dispatch.Sample{Name: "electric-tugs.md", Report: demo.ForeignReport, Fetch: demo.Pages{Now: env.Now}.Fetch}
	withRecordings(env)
	tools := catalog.Tools(env)
	return &cli.Program{
		Tools:    tools,
		Commands: commands(env, tools),
		Settings: settings(env),
		Groups:   groups,
		Complete: completions(env),
		Version:  cli.Version(),
		Stdin:    os.Stdin,
		Stdout:   os.Stdout,
		Stderr:   os.Stderr,
		Terminal: terminal(),
		Dir:      env.Dir,
	}
}

//go:embed commands.md
var commandTexts string

// commands are those that serve or explain the program itself, and those that have agents work.
func commands(env *catalog.Env, tools []*tool.Tool) []cli.Command {
	own := cli.Described(commandTexts, []cli.Command{
		mcpCommand(env, tools), mcpConfigCommand(env, tools), schemaCommand(tools), demoCommand(env), perspectivesNewCommand(env), reportCommand(env),
		serveCommand(env), userAddCommand(env), userListCommand(env), userRemoveCommand(env), exportCommand(env), importCommand(env), sealCommand(env),
		updateCommand(env), verifyCommand(env), explainCommand(tools), configCommand(env), configTrustCommand(env), doctorCommand(env), canaryCommand(env),
	})
	return slices.Concat(own, research.Commands(env), codereview.Commands(env))
}

// withRecordings is an environment with the answers of the demo among the recordings.
func withRecordings(env *catalog.Env) *catalog.Env {
	env.Recordings = map[string]dispatch.Recording{
		"demo": {Unpack: demo.UnpackAgents, Fetch: demo.Pages{Now: env.Now}.Fetch, Question: demo.Question, Shape: demo.Shape,
			Further: &dispatch.Recording{Unpack: demo.UnpackFurther, Fetch: demo.Pages{Now: env.Now}.Fetch, Question: demo.Further}},
	}
	return env
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
	"audit":        "Check any report against the sources that it cites",
	"claim":        "See how each sentence of a report stands, and accept one",
	"review":       "Write, read and compare code reviews",
	"review hook":  "Let git review what you commit or push",
	"change":       "Move a code change through its phases",
	"mcp":          "Serve the tools to agents",
	"serve user":   "Say who is let in, and what they may do",
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
			Under: []string{"research", "run continue", "run pause", "run resume", "run cancel", "run delete", "run limit", "run accept", "run seal", "gate", "claim accept", "job answer", "job retry", "perspectives write", "wave restore", "citations attach", "citations replace", "audit", "change start", "change resume", "change abandon", "review dismiss"},
			Set:   func(value string) { env.SignKey = value },
		},
		{
			Name: "signers", About: "an OpenSSH allowed_signers file: a person's decisions about the run must be signed by one of them", Kind: tool.PathFlag,
			Under: []string{"run init"}, Set: func(value string) { env.Signers = value },
		},
	}
}

// environment is that of the process, with what only a person's terminal has.
func environment() (*catalog.Env, error) {
	env, err := dispatch.ProcessEnv("tidegate " + cli.Version())
	if err != nil {
		return nil, err
	}
	env.Passphrase = askPassphrase
	return env, nil
}

func terminal() cli.Terminal {
	t := cli.StandardTerminal()
	if t.Input && t.Size != nil {
		t.Keys = readKeys
	}
	return t
}
