package dispatch

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/model"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Recording is a set of answers and pages that come with the program.
type Recording struct {
	// Unpack writes the answers into a folder of their own, which remove
	// removes.
	Unpack func() (folder string, remove func(), err error)
	Fetch  sourcing.Fetch // answers with the pages, and opens no connection
	// Question is what its agents were asked, and Shape what the report was to be. A run
	// for which nobody asks for anything else has it, too.
	Question string
	Shape    evidence.Shape
	// Further answers a further question about the run that it makes; nil where none is
	// recorded.
	Further *Recording
}

// Roles that are known by name.
const (
	writer      = "writer"      // writes the report
	Implementer = "implementer" // changes code
)

// Team is the agents that do the work of a run.
type Team struct {
	Agents  map[string]engine.Agent // by role
	Drivers map[string]driver.Driver
	Cells   driver.Cells
	Found   string // which agent was found, and why it was taken, for a person; "" where one was named

	shape   evidence.Shape // of the report that its writer was recorded with
	roles   []string
	flag    string                   // that names its agents
	named   string                   // with --agent, "" where none was
	model   string                   // with --model, "" where none was
	search  []sourcing.Place         // services that researchers may ask, in this order
	project *config.Source           // the project's file, parts of which may not count; nil where there is none
	made    map[string]driver.Driver // by what they were made from
	fetch   sourcing.Fetch
	// ownPages says that pages come from a recording, and are shared with no run.
	ownPages bool
	workers  *Workers
	pool     engine.Pool // runs the tasks
	remove   func()      // removes what was unpacked
	typed    CellChoice  // about their cells
}

// single reports whether one agent, with one model, does all the work.
func (t *Team) single() bool {
	first := t.Agents[t.roles[0]]
	return !slices.ContainsFunc(t.roles, func(role string) bool {
		return t.Agents[role].Driver != first.Driver || t.Agents[role].Model != first.Model
	})
}

// Wanted says which agents are wanted.
type Wanted struct {
	Roles []string
	Flag  string               // by which a person names an agent
	Named map[string]string    // agents that a person named, by role
	Model string               // that a person named, for all but a code verifier that has one
	Kept  map[string]run.Agent // whose names a run keeps, by role
	// Settings are those that count; nil: those of the working folder.
	Settings *config.Config
	Cells    CellChoice
	Run      string // the folder of the run, where it is known
	Further  bool   // to answer a further question
}

// ForRun are the agents of a run, all of them the named one where there is one.
func ForRun(named, model string, kept map[string]run.Agent, cells CellChoice) Wanted {
	w := Wanted{Roles: job.Roles(), Flag: "--agent", Named: map[string]string{}, Model: model, Kept: kept, Cells: cells}
	for _, role := range w.Roles {
		w.Named[role] = named
	}
	return w
}

// AddPanel adds the reviewers that were named, or one.
func (w *Wanted) AddPanel(named []string) {
	for n := 1; n <= max(1, len(named)); n++ {
		w.Roles = append(w.Roles, engine.ReviewerRole(n))
		if n <= len(named) {
			w.Named[engine.ReviewerRole(n)] = named[n-1]
		}
	}
}

// Team finds the agent for each role: the named one, else the one
// whose name a run keeps, else those of the configuration, else the one that
// [Env.choose] finds. It returns INVALID_ARGS for a role without an agent, and for an
// implementer that cannot change files, and the errors of [config.Load] and
// [client.New].
func (e *Env) Team(ctx context.Context, wanted Wanted) (*Team, error) {
	loaded, err := e.Settings(ctx, wanted)
	if err != nil {
		return nil, err
	}
	t := &Team{
		roles: wanted.Roles, flag: wanted.Flag, named: wanted.Named[wanted.Roles[0]], model: wanted.Model, project: loaded.Project,
		Agents: map[string]engine.Agent{}, Drivers: map[string]driver.Driver{}, made: map[string]driver.Driver{},
		fetch: e.OwnPages(), workers: e.Workers, remove: func() {}, typed: wanted.Cells,
	}
	t.Cells = e.CellsFor(wanted.Cells, loaded.Settings, wanted.Run)
	t.pool = &engine.Local{Drivers: func(role string) []driver.Driver { return []driver.Driver{t.Drivers[role]} }}
	found, reached := "", false
	for _, role := range wanted.Roles {
		agent := loaded.Agent(role)
		switch was := wanted.Kept[role]; {
		case wanted.Named[role] != "":
			agent = NamedAgent(loaded.Settings, role, wanted.Named[role])
			if agent.Model == "" && was.Driver == Scheme(agent.Driver) {
				agent.Model = was.Model
			}
		case was.Driver != "":
			if agent, err = keptAgent(loaded, role, was); err != nil {
				return nil, err
			}
		case agent.Driver == "" && e.Workers != nil:
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", nil, "role", role),
				"the agents of %s have no default: name those that they have with %s or in %s", e.Workers.Where, wanted.Flag, config.FileName)
		case agent.Driver == "":
			if found == "" {
				if found, t.Found, err = e.choose(ctx, wanted, loaded, t.Cells); err != nil {
					return nil, err
				}
			}
			agent.Driver = found
		}
		if wanted.Model != "" && (agent.Model == "" || !strings.HasPrefix(role, job.CodeVerifier)) {
			agent.Model = wanted.Model
		}
		if role == Implementer && IsEndpoint(agent.Driver) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", agent.Driver, "role", role), "%s cannot change files: name a client with --implementer, such as claude", agent.Driver)
		}
		if agent = wanted.Cells.Over(agent); IsEndpoint(agent.Driver) && agent.Network == string(cell.None) {
			t.Close()
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", agent.Driver, "role", role, "network", agent.Network),
				"%s is a model that is asked over the network, and the %s is to have none: name another agent, or another network", agent.Driver, role)
		}
		program := strings.HasPrefix(agent.Driver, "exec:") || strings.HasPrefix(agent.Driver, "acp:")
		if reached = reached || program; program && agent.ModelAddress != "" && agent.Network != string(cell.Model) {
			t.Close()
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent-model-address", agent.ModelAddress, "network", agent.Network),
				"--agent-model-address %s is the network of an agent whose network is model: add --agent-network model", agent.ModelAddress)
		}
		if err := t.assign(e, role, agent, wanted.Further); err != nil {
			t.Close()
			return nil, err
		}
	}
	if !reached && wanted.Cells.Address != "" {
		t.Close()
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent-model-address", wanted.Cells.Address), "--agent-model-address is for agents of exec: and acp:, and none of these is one: a client is told of its model by its own variable")
	}
	return t, nil
}

// Settings are those by which the wanted agents are found.
func (e *Env) Settings(ctx context.Context, wanted Wanted) (config.Config, error) {
	if wanted.Settings != nil {
		return *wanted.Settings, nil
	}
	return e.settings(ctx)
}

// NamedAgent is the agent that a person named, with what the configuration gives the
// role, and the price and the key that it has for the same driver.
func NamedAgent(settings config.Settings, role, named string) config.Agent {
	agent := settings.Agent(role)
	if agent.Driver == "" || agent.Driver == named {
		agent.Driver = named
		return agent
	}
	return config.Agent{Driver: named, Read: agent.Read, Write: agent.Write, Network: agent.Network}
}

// keptAgent is the agent whose name a run keeps. It returns INVALID_ARGS for a driver
// whose name does not say all about it, unless the configuration has it.
func keptAgent(loaded config.Config, role string, was run.Agent) (config.Agent, error) {
	agent := loaded.Agent(role)
	if Scheme(agent.Driver) == was.Driver {
		agent.Model = was.Model
		return agent, nil
	}
	if hasName(was.Driver) {
		return config.Agent{Driver: was.Driver, Model: was.Model, Read: agent.Read, Write: agent.Write, Network: agent.Network}, nil
	}
	return config.Agent{}, tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("agent", nil, "role", role), orTrust(loaded.Project, "driver")...),
		"the agents of this run were named as %s:…, which is never taken from a run's folder: name them again with --agent", was.Driver)
}

// Scheme is the part of a driver's name that a run keeps, and that crosses to
// another machine: all of it, or what stands before a command or an address.
func Scheme(name string) string {
	if hasName(name) {
		return name
	}
	short, _, _ := strings.Cut(name, ":")
	return short
}

// DemoAgents is the driver with the answers that come with the program.
const DemoAgents = "recorded:demo"

// hasName reports whether a driver's name says all about it.
func hasName(name string) bool {
	return name == DemoAgents || slices.ContainsFunc(client.Clients(), func(c client.Client) bool { return c.Name == name }) ||
		slices.ContainsFunc(model.Endpoints(), func(e model.Endpoint) bool { return e.Driver == name })
}

// IsEndpoint reports whether a driver asks a model itself, without a client.
func IsEndpoint(name string) bool {
	return strings.HasPrefix(name, "api:") || strings.HasPrefix(name, "model:")
}

// names are what a run keeps of the team.
func (t *Team) names() map[string]run.Agent {
	kept := map[string]run.Agent{}
	for role, agent := range t.Agents {
		kept[role] = run.Agent{Driver: Scheme(agent.Driver), Model: agent.Model}
	}
	return kept
}

// Again is what a person must type again to go on, with a blank before it;
// "" where the names are enough.
func (t *Team) Again() string {
	if t == nil {
		return ""
	}
	again := ""
	if t.named != "" && !hasName(t.named) {
		again = " --agent " + report.ShellWord(t.named)
	}
	if t.model != "" {
		again += " --model " + report.ShellWord(t.model)
	}
	return again + t.typed.Flags()
}

// assign makes the driver of a role. Roles with the same agent have the same driver.
func (t *Team) assign(e *Env, role string, agent config.Agent, further bool) error {
	made := agent.Driver
	recording, ofProgram := Recording{}, false
	name, recorded := strings.CutPrefix(agent.Driver, "recorded:")
	if recorded && name != "" {
		if recording, ofProgram = e.Recordings[name]; !ofProgram {
			folder := e.Absolute(name)
			agent.Driver = "recorded:" + folder
			recording.Question, recording.Shape = e.recordedIn(folder)
			made, t.fetch, t.ownPages = agent.Driver, e.recordedPages(folder), true
		} else if further && recording.Further != nil {
			recording = *recording.Further
		}
	}
	key := []any{agent.Driver, agent.URL, agent.KeyEnv, agent.Env, agent.Read, agent.Write, agent.Network, agent.ModelAddress}
	if IsEndpoint(agent.Driver) {
		key = append(key, agent.Model) // which it is asked for beforehand
	}
	same := fmt.Sprintf("%q", key)
	d := t.made[same]
	if d == nil {
		if ofProgram {
			folder, remove, err := recording.Unpack()
			if err != nil {
				return err
			}
			made, t.remove, t.fetch, t.ownPages = "recorded:"+folder, remove, recording.Fetch, true
		}
		var err error
		if d, err = e.NewDriver(made, agent, t.Cells); err != nil {
			return err
		}
		t.made[same] = d
	}
	if t.Drivers[role] = d; role == writer {
		t.shape = recording.Shape
	}
	assigned := engine.Agent{Driver: agent.Driver, Model: agent.Model, Parallel: agent.Parallel, Idle: agent.IdleMinutes, Price: agent.Price}
	if recorded {
		assigned.Recording = &driver.Recording{Question: recording.Question, Attempt: func(jobID string, attempt int) []byte { return client.Recorded(d, jobID, attempt) },
			Seed: func(round int64) []byte { return client.RecordedSeed(d, round) }}
	}
	t.Agents[role] = assigned
	return nil
}

// recordedIn is the question of the run whose folder is a recording, "" where it is none,
// and what its report was to be.
func (e *Env) recordedIn(folder string) (question string, shape evidence.Shape) {
	r, err := run.Open(context.Background(), e.OwnDesk(), filepath.Join(folder, run.ManifestFile))
	if err != nil {
		return "", shape
	}
	defer r.Close()
	if shape, err = r.Shape(); err != nil {
		return "", evidence.Shape{}
	}
	return r.Manifest().Query(), shape
}

// answers returns RECORDING_DIFFERS for a team with recorded agents that were asked
// another question.
func (t *Team) answers(question string) error {
	for _, role := range t.roles {
		if err := t.Agents[role].Recording.Answers(question); err != nil {
			return err
		}
	}
	return nil
}

// NewDriver makes the driver of an agent under the name that it has on this machine.
func (e *Env) NewDriver(name string, agent config.Agent, cells driver.Cells) (driver.Driver, error) {
	return client.New(
		driver.Settings{
			Driver: name, Model: agent.Model, URL: agent.URL, KeyEnv: agent.KeyEnv, Env: agent.Env, Priced: agent.Price != nil,
			Access: driver.Access{Read: agent.Read, Write: agent.Write, Network: cell.Network(agent.Network), ModelAddress: agent.ModelAddress},
		},
		driver.Host{Environ: e.Environ, Cells: cells, Search: e.Search, Open: e.openPage, Tools: e.Serve},
	)
}

// Close removes what was unpacked and what drivers keep for repairs.
func (t *Team) Close() {
	for _, d := range t.made {
		driver.Forget(d, "")
	}
	t.remove()
}

// Ready removes what agents of killed programs have left, asks every agent whether it
// can work, at no cost, and names the models that endpoints will be asked for. It
// returns INVALID_STATE for the first agent that cannot work, with what helps,
// MODEL_REQUIRED and ENDPOINT_INVALID for an endpoint that is named wrongly, INVALID_ARGS
// for an agent whose cost is not known where the budget limits it, NOT_CONFINED where
// they cannot be kept in cells, CANCELLED, and the errors of [Workers.Open].
func (t *Team) Ready(ctx context.Context, budget map[string]float64) error {
	if err := t.within(budget); err != nil {
		return err
	}
	sandbox.Sweep("")
	if t.workers != nil {
		pool, err := t.workers.Open(ctx, t.pool, t.Agents)
		if err == nil {
			t.pool = pool
		}
		return err
	}
	asked := map[driver.Driver]bool{}
	for _, role := range t.roles {
		d := t.Drivers[role]
		if asked[d] {
			continue
		}
		asked[d] = true
		_, err := driver.Check(ctx, d)
		if ctx.Err() != nil {
			return tidegate.Errorf(tidegate.Cancelled, nil, "stopped while asking the agents whether they can work: %w", context.Cause(ctx))
		}
		var failure *driver.Error
		if !errors.As(err, &failure) {
			if err != nil {
				return err
			}
			continue
		}
		return t.unfit(role, failure)
	}
	for role, agent := range t.Agents {
		if agent.Model == "" {
			agent.Model = model.Chosen(t.Drivers[role])
			t.Agents[role] = agent
		}
	}
	return t.within(budget)
}

// unfit is the error for an agent that cannot work.
func (t *Team) unfit(role string, failure *driver.Error) error {
	help, advice := failure.Help, "type `"+failure.Help+"`, then the same command again"
	switch {
	case help == "":
		help, advice = "tidegate agents", "`tidegate agents` shows which can"
	case failure.Code == tidegate.ModelRequired && strings.HasPrefix(role, job.CodeVerifier):
		help, advice = "[agents.verifier] model", "name it as `model` of [agents.verifier] in tidegate.toml"
	case strings.HasPrefix(help, "--"):
		if after, found := strings.CutPrefix(help, "--agent "); found && t.flag != "" {
			help = t.flag + " " + after
		}
		advice = "add `" + help + "` to the same command"
	}
	code := tidegate.InvalidState
	if failure.Code != "" {
		code = failure.Code
	}
	details := append(append(tidegate.Pairs("agent", t.Agents[role].Driver, "role", role, "help", help), Unavailable(failure.Message)...), orTrust(t.project, "env", "key_env", "url")...)
	if len(failure.Choices) > 0 {
		details = append(details, tidegate.Pairs("models", failure.Choices)...)
	}
	return tidegate.Errorf(code, details, "the %s cannot work: %s; %s", role, failure.Message, advice)
}

// within returns INVALID_ARGS for an agent whose cost cannot be known, where the
// budget limits money.
func (t *Team) within(budget map[string]float64) error {
	if _, limited := budget["max_cost_usd"]; !limited {
		return nil
	}
	for _, role := range t.roles {
		agent := t.Agents[role]
		if agent.Price != nil {
			continue
		}
		place, endpoint := model.PlaceOf(t.Drivers[role], agent.Model)
		switch name := Scheme(agent.Driver); {
		case endpoint && (place.Local || place.Reports || place.Price != nil || agent.Model == ""): // which the endpoint names yet
		case endpoint:
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("max-cost", nil, "agent", agent.Driver, "model", agent.Model), orTrust(t.project, "price")...),
				"the price of %s is not known (docs/setup.md lists those of %s): give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Model, place.Day, role)
		case name == "codex" || name == "gemini":
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("max-cost", nil, "agent", agent.Driver), orTrust(t.project, "price")...),
				"%s does not say what it costs: give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Driver, role)
		}
	}
	return nil
}

// free says why the team costs nothing; "" where it costs something, or may.
func (t *Team) free() string {
	why := "the agents cost nothing unless they have a price"
	for role, agent := range t.Agents {
		place, _ := model.PlaceOf(t.Drivers[role], agent.Model)
		switch name := Scheme(agent.Driver); {
		case agent.Price != nil:
			return ""
		case place.Local:
			why = "the model runs on this machine"
		case name != "exec" && name != "acp" && name != "recorded" && name != DemoAgents:
			return ""
		}
	}
	return why
}

// recorded reports whether all answers of the team are recorded.
func (t *Team) recorded() bool {
	return !slices.ContainsFunc(t.roles, func(role string) bool { return !strings.HasPrefix(t.Agents[role].Driver, "recorded:") })
}

// recordedPages answers with the pages beside recorded answers, and opens no
// connection. Where there are none, pages are fetched.
func (e *Env) recordedPages(folder string) sourcing.Fetch {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		kept, err := artifact.Everywhere.Open("driver", folder)
		if err != nil {
			return err
		}
		defer kept.Close()
		name := "archive.warc.gz"
		if there, err := kept.Exists(name); err != nil {
			return err
		} else if !there {
			name = "evidence/archive.warc.gz" // of a run
		}
		if there, err := kept.Exists(name); err != nil {
			return err
		} else if !there {
			return e.OwnPages()(ctx, urls, keep)
		}
		pages, err := archive.Open(ctx, kept, name, nil)
		if err != nil {
			return err
		}
		for _, url := range urls {
			capture := archive.Capture{URL: url, Kind: archive.Absent, Time: e.Now(), Detail: "the recording does not have it"}
			if entry, found := pages.Find(url); found {
				if capture, err = pages.Read(ctx, entry); err != nil {
					return err
				}
			}
			packed, err := archive.Pack(capture)
			if err != nil {
				return err
			}
			if err := keep([]*archive.Packed{packed}); err != nil {
				return err
			}
		}
		return nil
	}
}

// Absolute is a path that a person typed in the working folder, made absolute.
func (e *Env) Absolute(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

// MayWork holds an order to what can be known before anything is spent: whether recorded
// agents were asked the same question, whether the agents can work where they are to, and
// whether their cost is known where the budget limits it.
func (e *Env) MayWork(ctx context.Context, o Order, work bool) error {
	if !o.Evidence.Adapt {
		if err := o.Team.answers(o.Query); err != nil {
			return err
		}
	}
	if !work {
		return o.Team.within(o.Budget)
	}
	return o.Team.Ready(ctx, o.Budget)
}

// AgentNames are the agents that need no command and no address.
func AgentNames() []string {
	var names []string
	for _, c := range client.Clients() {
		names = append(names, c.Name)
	}
	for _, e := range model.Endpoints() {
		names = append(names, e.Driver)
	}
	return append(names, DemoAgents)
}

// Independent returns INVALID_ARGS where a code verifier is the model that reviews, by
// whatever name. Two agents of one service are two where each names a model of its own.
func (t *Team) Independent() error {
	for _, one := range t.roles {
		for _, other := range t.roles {
			if !strings.HasPrefix(one, job.CodeVerifier) || !strings.HasPrefix(other, config.CodeReviewer) {
				continue
			}
			a, b := t.Agents[one], t.Agents[other]
			here, told := client.Asks(t.Drivers[one])
			if there, _ := client.Asks(t.Drivers[other]); here != there || told && a.Model != b.Model && a.Model != "" && b.Model != "" {
				continue
			}
			return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("verify", tidegate.Cut(a.Driver), "model", a.Model, "reviewer", tidegate.Cut(b.Driver)),
				"--verify must name another agent than the reviewers, got %q, which nobody says is another model: name that of the reviewers with --model, and another as `model` of [agents.verifier] in tidegate.toml",
				tidegate.Cut(a.Driver))
		}
	}
	return nil
}

// Reviewers are the names of a panel, no two the same.
func (t *Team) Reviewers() []string { return t.inRole(config.CodeReviewer) }

// Verifiers are the names of those who hold the findings of a code review against the code.
func (t *Team) Verifiers() []string { return t.inRole(job.CodeVerifier) }

func (t *Team) inRole(kind string) []string {
	var names []string
	for _, role := range t.roles {
		if !strings.HasPrefix(role, kind) {
			continue
		}
		agent := t.Agents[role]
		name := strings.TrimSpace(agent.Driver + " " + agent.Model)
		for n, first := 2, name; slices.Contains(names, name); n++ {
			name = fmt.Sprintf("%s (%d)", first, n)
		}
		names = append(names, name)
	}
	return names
}

// Options are those by which the engine has the team work.
func (e *Env) Options(t *Team) engine.Options {
	return engine.Options{Desk: e.OwnDesk(), Pool: t.pool, Agents: t.Agents, Copy: e.Copies()}
}

// KeptBy says by whom a run is driven, for the person's next command.
func (t *Team) KeptBy() (where, agent, model string, cells CellChoice) {
	return t.workers.Place(), t.named, t.model, t.typed
}

// CellChoice is what a person typed about the cells of agents.
type CellChoice struct {
	Read       []string
	Network    cell.Network
	Address    string // of a model on this machine, as IP:PORT
	Unconfined bool
}

// Flags are what a person types to say it again, with a blank before it; "" for nothing.
func (typed CellChoice) Flags() string {
	flags := ""
	for _, path := range typed.Read {
		flags += " --agent-read " + report.ShellWord(path)
	}
	if typed.Network != "" {
		flags += " --agent-network " + string(typed.Network)
	}
	if typed.Address != "" {
		flags += " --agent-model-address " + typed.Address
	}
	if typed.Unconfined {
		flags += " --unconfined"
	}
	return flags
}

// CellsFor is how this machine keeps agents: by what the person typed, else by the
// configuration. Runs are forbidden to them, wherever they lie.
func (e *Env) CellsFor(typed CellChoice, settings config.Settings, runs ...string) driver.Cells {
	c := driver.Cells{Unconfined: typed.Unconfined || settings.Unconfined}
	forbid := func(path, what string) {
		if filepath.IsAbs(path) {
			c.Forbidden = append(c.Forbidden, cell.Forbidden{Path: path, What: what})
		}
	}
	forbid(e.Home, "the folder of runs")
	forbid(store.Audits.Home(e.Home), "the folder of audits")
	for _, root := range runs {
		forbid(root, "the run")
	}
	forbid(e.ConfigDir, "your configuration")
	if e.Getenv != nil {
		if home := e.Getenv("HOME"); filepath.IsAbs(home) {
			forbid(filepath.Join(home, ".ssh"), "your SSH keys")
			forbid(filepath.Join(home, ".gnupg"), "your keys")
		}
	}
	return c
}

// Over is the agent with what the person typed about its cell.
func (typed CellChoice) Over(agent config.Agent) config.Agent {
	agent.Read = append(slices.Clone(agent.Read), typed.Read...)
	if typed.Network != "" {
		agent.Network = string(typed.Network)
	}
	agent.ModelAddress = cmp.Or(typed.Address, agent.ModelAddress)
	return agent
}

// confinement is how the agents of the team are kept, as a run records it; web says that
// researchers have tools for it. It is zero where no program is started here: workers
// elsewhere keep their own. It returns NOT_CONFINED.
func (t *Team) confinement(web bool) (run.Confinement, error) {
	var reached []cell.Network
	var addresses []string
	for _, role := range t.roles {
		n, address := client.NetworkOf(t.Drivers[role], web && role == "researcher")
		if n != "" && !slices.Contains(reached, n) {
			reached = append(reached, n)
		}
		if address != "" && !slices.Contains(addresses, address) {
			addresses = append(addresses, address)
		}
	}
	if len(reached) == 0 || t.workers != nil {
		return run.Confinement{}, nil
	}
	system, err := sandbox.Confinement(driver.Host{Cells: t.Cells})
	if err != nil || t.Cells.Unconfined {
		return run.Confinement{Mode: run.ModeUnconfined, System: system.Name, ABI: system.ABI}, err
	}
	kept := run.Confinement{Mode: run.ModeConfined, System: system.Name, ABI: system.ABI}
	var held []string
	for _, n := range []cell.Network{cell.None, cell.Model, cell.Web, cell.Open} {
		if slices.Contains(reached, n) {
			held = append(held, system.Held(n))
			if n == cell.Model && len(addresses) > 0 {
				held = append(held, "the model at "+strings.Join(addresses, ", ")+" on this machine")
			}
		}
	}
	kept.Network = strings.Join(slices.Compact(held), "; ")
	return kept, nil
}

// Workers are the machines that agents work on when that is not this one.
type Workers struct {
	Where   string // in words: "the workers at HOST:PORT"
	Program string // by which a home is resumed
	// Flags are those that say where the agents work, each with a blank before it.
	Flags func() string
	// Open returns the pool for the agents of each role, or an error where one of
	// them cannot work there. Tasks that need this machine go to local.
	Open func(ctx context.Context, local engine.Pool, agents map[string]engine.Agent) (engine.Pool, error)
}

// Place is where the agents work, in words.
func (w *Workers) Place() string {
	if w != nil {
		return w.Where
	}
	return "this machine"
}

// TeamToLend finds the agents of this machine, for a program that lends them to the homes of
// others: for each role the named one, else that of the configuration, else the one that is
// found. It returns INVALID_ARGS for a role without an agent, NOT_CONFINED, and INVALID_STATE
// for one that cannot work, with what helps.
func (e *Env) TeamToLend(ctx context.Context, named string, cells CellChoice) (*Team, error) {
	wanted := ForRun(named, "", nil, cells)
	wanted.Roles = append(wanted.Roles, config.CodeReviewer)
	wanted.Named[config.CodeReviewer] = named
	t, err := e.Team(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := t.Ready(ctx, nil); err != nil {
		t.Close()
		return nil, err
	}
	return t, nil
}

// copiesDir is the folder, in the user's own, that has the ids of copies of runs.
const copiesDir = "copies"

// Copies is how the home knows copies of folders apart; nil where its tasks stay on this
// machine.
func (e *Env) Copies() func(*artifact.Folder) (string, error) {
	if e.Workers == nil {
		return nil
	}
	return e.copyOf
}

// copyOf is the id of a copy of a folder, which is made where there is none. It lies
// beside what a person trusts, and not in the folder: a copy must not have it. It returns
// READ_FAILED and WRITE_FAILED.
func (e *Env) copyOf(folder *artifact.Folder) (string, error) {
	name, err := folder.Identity()
	if err != nil || e.ConfigDir == "" {
		return name, err
	}
	dir, name := filepath.Join(e.ConfigDir, copiesDir), strings.TrimPrefix(name, "sha256:")
	kept, err := artifact.Everywhere.ReadFile(copiesDir, filepath.Join(dir, name))
	if tidegate.CodeOf(err) != tidegate.FileNotFound {
		return strings.TrimSpace(string(kept)), err
	}
	id := rand.Text()
	return id, config.Places{User: dir}.Write(copiesDir, name, []byte(id+"\n"))
}
