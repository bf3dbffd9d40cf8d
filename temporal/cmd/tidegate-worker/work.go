package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/catalog"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/temporal"
	"github.com/tidegate/tidegate/tool"
)

func workCommand(env *catalog.Env, server *serverFlags, now context.Context) cli.Command {
	return cli.Command{
		Path:  "work",
		Short: "Lend the agents of this machine to the homes of runs",
		Long: `Take tasks off a queue of a Temporal server and have the agents of this machine do
them, until interrupted. It is what this program does where no command is named.

The agents are those of tidegate.toml, the one of --agent, or the first client that
is installed and logged in. Prompts come from the home of a run; commands, addresses
and folders never do.

The first Ctrl-C, or SIGTERM, takes no more tasks and finishes those that have begun.
The second stops those, and gives them back for another worker.`,
		Example: "tidegate-worker --address temporal.example.org:7233 --queue researchers\n" +
			"tidegate-worker --queue reviewers --agent codex --parallel 2 --payload-key payload.key",
		Flags: append([]tool.Flag{
			{Name: "agent", About: "lend this one for all roles: claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER"},
			{Name: "config", About: "the tidegate.toml that names the agents (default the user's own)", Kind: tool.PathFlag},
			{Name: "parallel", About: "how many tasks each agent has at once (default as tidegate.toml says, else 4)"},
			{Name: "models", About: "the models that tasks may name, separated by commas (default any)"},
			{Name: "no-network", About: "refuse tasks whose agents may search the web", Kind: tool.Switch},
			{Name: "deployment", About: "belong to the version of this `name` that the server knows as tidegate's own, and get tasks once it is the current one (default off)"},
		}, screen.CellFlags...),
		Run: func(ctx context.Context, call cli.Invocation) error {
			return work(ctx, now, call, env, server)
		},
	}
}

func work(ctx, now context.Context, call cli.Invocation, env *catalog.Env, server *serverFlags) error {
	if file := call.Flag("config"); file != "" {
		if filepath.Base(file) != config.FileName {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("config", file), "--config must name a file called %s, got %s", config.FileName, file)
		}
		env.ConfigDir = filepath.Dir(file)
	}
	w := &temporal.Worker{
		Queue: server.queue, NoNetwork: call.Flag("no-network") == "true", Name: workerName(), Program: env.Program, Servers: mcpServers(),
		Agents: map[string]temporal.Agent{}, Parallel: map[string]int{}, Deployment: call.Flag("deployment"), Build: cli.Version(),
	}
	if w.Queue == "" {
		w.Queue = defaultQueue
	}
	if err := checkQueue(w.Queue); err != nil {
		return err
	}
	if models := call.Flag("models"); models != "" {
		w.Models = strings.Split(models, ",")
	}
	parallel := 0
	if text := call.Flag("parallel"); text != "" {
		var err error
		if parallel, err = strconv.Atoi(text); err != nil || parallel < 1 || parallel > 1000 {
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("parallel", tidegate.Cut(text)), "--parallel must be a number from 1 to 1000, got %q", tidegate.Cut(text))
		}
	}
	cells, err := screen.Cells(call)
	if err != nil {
		return err
	}
	own := *env
	own.Workers = nil // its agents are those of this machine
	team, err := own.TeamToLend(ctx, call.Flag("agent"), cells)
	if err != nil {
		return err
	}
	defer team.Close()
	for role, agent := range team.Agents {
		name := dispatch.Scheme(agent.Driver)
		w.Agents[role] = temporal.Agent{Driver: team.Drivers[role], Name: name, Model: agent.Model}
		w.Parallel[name] = max(w.Parallel[name], agent.Parallel)
		if parallel > 0 {
			w.Parallel[name] = parallel
		}
	}
	stop, err := server.observe(ctx, "tidegate_worker")
	if err != nil {
		return err
	}
	defer stop()
	server.options.Wait, server.options.Waiting = forever, func(err error) { fmt.Fprintln(call.Stderr, "Waiting for the server:", tidegate.AsError(err).Message) }
	connection, err := server.connect(ctx)
	if err != nil {
		return err
	}
	defer connection.Close()
	show := newView(call, w)
	w.Notice = show.notice
	defer show.begin(ctx)()
	return w.Run(ctx, now, connection)
}

// forever is how long a worker waits for its server: it may be started before it.
const forever = time.Duration(math.MaxInt64)

// workerName is how a worker is known to people: its host and process.
func workerName() string {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return fmt.Sprintf("%s, process %d", host, os.Getpid())
}

// mcpServers are those that agents may have: what tidegate beside this program, or
// in the search path, can start.
func mcpServers() map[string]driver.Server {
	places := []string{"tidegate"}
	if own, err := os.Executable(); err == nil {
		places = []string{filepath.Join(filepath.Dir(own), "tidegate"), "tidegate"}
	}
	for _, place := range places {
		if found, err := exec.LookPath(place); err == nil {
			relay := dispatch.Relay(found)
			return map[string]driver.Server{relay.Name: relay}
		}
	}
	return nil
}
