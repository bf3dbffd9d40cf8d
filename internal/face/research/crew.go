package research

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Recording is a set of answers and pages that come with the program.
type Recording struct {
	// Unpack writes the answers into a folder of their own, which remove
	// removes.
	Unpack func() (folder string, remove func(), err error)
	Fetch  step.Fetch // answers with the pages, and opens no connection
	// Question is what its agents were asked, and Shape what the report was to be. A run
	// for which nobody asks for anything else has it, too.
	Question string
	Shape    evidence.Shape
}

// writer is the role that writes the report.
const writer = "writer"

// crew is the agents that do the work of a run.
type crew struct {
	shape   evidence.Shape // of the report that its writer was recorded with
	roles   []string
	named   string                  // with --agent, "" where none was
	model   string                  // with --model, "" where none was
	found   string                  // which agent was found, and why it was taken, for a person; "" where one was named
	search  []step.Place            // services that researchers may ask, in this order
	project *config.Source          // the project's file, parts of which may not count; nil where there is none
	agents  map[string]engine.Agent // by role
	drivers map[string]driver.Driver
	made    map[string]driver.Driver // by what they were made from
	fetch   step.Fetch
	// ownPages says that pages come from a recording, and are shared with no run.
	ownPages bool
	far      *Far
	pool     engine.Pool // runs the tasks
	remove   func()      // removes what was unpacked
	cells    driver.Cells
	typed    cellsTyped // about them
}

// single reports whether one agent, with one model, does all the work.
func (c *crew) single() bool {
	first := c.agents[c.roles[0]]
	return !slices.ContainsFunc(c.roles, func(role string) bool {
		return c.agents[role].Driver != first.Driver || c.agents[role].Model != first.Model
	})
}

// crewWanted says which agents are wanted.
type crewWanted struct {
	roles []string
	flag  string               // by which a person names an agent
	named map[string]string    // agents that a person named, by role
	model string               // that a person named, for all of them
	kept  map[string]run.Agent // whose names a run keeps, by role
	// settings are those that count; nil: those of the working folder.
	settings *config.Config
	cells    cellsTyped
	run      string // the folder of the run, where it is known
}

// ofRun are the agents of a run, all of them the named one where there is one.
func ofRun(named, model string, kept map[string]run.Agent, cells cellsTyped) crewWanted {
	w := crewWanted{roles: job.Roles(), flag: "--agent", named: map[string]string{}, model: model, kept: kept, cells: cells}
	for _, role := range w.roles {
		w.named[role] = named
	}
	return w
}

// crewOf finds the agent for each role: the named one, else the one
// whose name a run keeps, else those of the configuration, else the one that
// [Env.choose] finds. It returns INVALID_ARGS for a role without an agent, and for an
// implementer that cannot change files, and the errors of [config.Load] and
// [driver.New].
func (e *Env) crewOf(ctx context.Context, wanted crewWanted) (*crew, error) {
	loaded, err := e.settingsOf(ctx, wanted)
	if err != nil {
		return nil, err
	}
	c := &crew{
		roles: wanted.roles, named: wanted.named[wanted.roles[0]], model: wanted.model, project: loaded.Project,
		agents: map[string]engine.Agent{}, drivers: map[string]driver.Driver{}, made: map[string]driver.Driver{},
		fetch: e.pages(), far: e.Far, remove: func() {}, typed: wanted.cells,
	}
	c.cells = e.cells(wanted.cells, loaded.Settings, wanted.run)
	c.pool = &engine.Local{Drivers: func(role string) []driver.Driver { return []driver.Driver{c.drivers[role]} }}
	found := ""
	for _, role := range wanted.roles {
		agent := loaded.Agent(role)
		switch was := wanted.kept[role]; {
		case wanted.named[role] != "":
			agent = namedAgent(loaded.Settings, role, wanted.named[role])
			if agent.Model == "" && was.Driver == Scheme(agent.Driver) {
				agent.Model = was.Model
			}
		case was.Driver != "":
			if agent, err = keptAgent(loaded, role, was); err != nil {
				return nil, err
			}
		case agent.Driver == "" && e.Far != nil:
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", nil, "role", role),
				"the agents of %s have no default: name those that they have with %s or in %s", e.Far.Where, wanted.flag, config.FileName)
		case agent.Driver == "":
			if found == "" {
				if found, c.found, err = e.choose(ctx, wanted, loaded, c.cells); err != nil {
					return nil, err
				}
			}
			agent.Driver = found
		}
		if wanted.model != "" {
			agent.Model = wanted.model
		}
		if role == implementer && isEndpoint(agent.Driver) {
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", agent.Driver, "role", role), "%s cannot change files: name a client with --implementer, such as claude", agent.Driver)
		}
		if agent = wanted.cells.over(agent); isEndpoint(agent.Driver) && agent.Network == string(cell.None) {
			c.close()
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", agent.Driver, "role", role, "network", agent.Network),
				"%s is a model that is asked over the network, and the %s is to have none: name another agent, or another network", agent.Driver, role)
		}
		if err := c.hire(e, role, agent); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

func (e *Env) settingsOf(ctx context.Context, wanted crewWanted) (config.Config, error) {
	if wanted.settings != nil {
		return *wanted.settings, nil
	}
	return config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
}

// namedAgent is the agent that a person named, with what the configuration gives the
// role, and the price and the key that it has for the same driver.
func namedAgent(settings config.Settings, role, named string) config.Agent {
	agent := settings.Agent(role)
	if agent.Driver == named {
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

// demoAgents is the driver with the answers that come with the program.
const demoAgents = "recorded:demo"

// hasName reports whether a driver's name says all about it.
func hasName(name string) bool {
	return name == demoAgents || slices.ContainsFunc(driver.Clients(), func(c driver.Client) bool { return c.Name == name }) ||
		slices.ContainsFunc(driver.Endpoints(), func(e driver.Endpoint) bool { return e.Driver == name })
}

// isEndpoint reports whether a driver asks a model itself, without a client.
func isEndpoint(name string) bool {
	return strings.HasPrefix(name, "api:") || strings.HasPrefix(name, "model:")
}

// names are what a run keeps of the crew.
func (c *crew) names() map[string]run.Agent {
	kept := map[string]run.Agent{}
	for role, agent := range c.agents {
		kept[role] = run.Agent{Driver: Scheme(agent.Driver), Model: agent.Model}
	}
	return kept
}

// again is what a person must type again to go on, with a blank before it;
// "" where the names are enough.
func (c *crew) again() string {
	if c == nil {
		return ""
	}
	again := ""
	if c.named != "" && !hasName(c.named) {
		again = " --agent " + report.ShellWord(c.named)
	}
	if c.model != "" {
		again += " --model " + report.ShellWord(c.model)
	}
	return again + c.typed.flags()
}

// hire makes the driver of a role. Roles with the same agent have the same driver.
func (c *crew) hire(e *Env, role string, agent config.Agent) error {
	made := agent.Driver
	recording, ofProgram := Recording{}, false
	name, recorded := strings.CutPrefix(agent.Driver, "recorded:")
	if recorded && name != "" {
		if recording, ofProgram = e.Recordings[name]; !ofProgram {
			folder := absolute(e.Dir, name)
			agent.Driver = "recorded:" + folder
			recording.Question, recording.Shape = e.recordedIn(folder)
			made, c.fetch, c.ownPages = agent.Driver, e.recordedPages(folder), true
		}
	}
	key := []any{agent.Driver, agent.URL, agent.KeyEnv, agent.Env, agent.Read, agent.Write, agent.Network}
	if isEndpoint(agent.Driver) {
		key = append(key, agent.Model) // which it is asked for beforehand
	}
	same := fmt.Sprintf("%q", key)
	d := c.made[same]
	if d == nil {
		if ofProgram {
			folder, remove, err := recording.Unpack()
			if err != nil {
				return err
			}
			made, c.remove, c.fetch, c.ownPages = "recorded:"+folder, remove, recording.Fetch, true
		}
		var err error
		if d, err = e.newDriver(made, agent, c.cells); err != nil {
			return err
		}
		c.made[same] = d
	}
	if c.drivers[role] = d; role == writer {
		c.shape = recording.Shape
	}
	hired := engine.Agent{Driver: agent.Driver, Model: agent.Model, Parallel: agent.Parallel, Idle: agent.IdleMinutes, Price: (*engine.Price)(agent.Price)}
	if recorded {
		hired.Recording = &job.Recording{Question: recording.Question, Attempt: func(jobID string, attempt int) []byte { return driver.Recorded(d, jobID, attempt) }}
	}
	c.agents[role] = hired
	return nil
}

// recordedIn is the question of the run whose folder is a recording, "" where it is none,
// and what its report was to be.
func (e *Env) recordedIn(folder string) (question string, shape evidence.Shape) {
	r, err := run.Open(context.Background(), e.desk(), filepath.Join(folder, run.ManifestFile))
	if err != nil {
		return "", shape
	}
	defer r.Close()
	if shape, err = r.Shape(); err != nil {
		return "", evidence.Shape{}
	}
	return r.Manifest().Query(), shape
}

// answers returns RECORDING_DIFFERS for a crew with recorded agents that were asked
// another question.
func (c *crew) answers(question string) error {
	for _, role := range c.roles {
		if err := c.agents[role].Recording.Answers(question); err != nil {
			return err
		}
	}
	return nil
}

// newDriver makes the driver of an agent under the name that it has on this machine.
func (e *Env) newDriver(name string, agent config.Agent, cells driver.Cells) (driver.Driver, error) {
	return driver.New(
		driver.Settings{
			Driver: name, Model: agent.Model, URL: agent.URL, KeyEnv: agent.KeyEnv, Env: agent.Env, Priced: agent.Price != nil,
			Access: driver.Access{Read: agent.Read, Write: agent.Write, Network: cell.Network(agent.Network)},
		},
		driver.Host{Environ: e.Environ, Cells: cells, Search: e.searchFor, Open: e.opener(), Tools: e.serve},
	)
}

// close removes what was unpacked and what drivers keep for repairs.
func (c *crew) close() {
	for _, d := range c.made {
		driver.Forget(d, "")
	}
	c.remove()
}

// ready removes what agents of killed programs have left, asks every agent whether it
// can work, at no cost, and names the models that endpoints will be asked for. It
// returns INVALID_STATE for the first agent that cannot work, with what helps,
// MODEL_REQUIRED and ENDPOINT_INVALID for an endpoint that is named wrongly, INVALID_ARGS
// for an agent whose cost is not known where the budget limits it, NOT_CONFINED where
// they cannot be kept in cells, CANCELLED, and the errors of [Far.Open].
func (c *crew) ready(ctx context.Context, budget map[string]float64) error {
	if err := c.within(budget); err != nil {
		return err
	}
	driver.Sweep("")
	if c.far != nil {
		pool, err := c.far.Open(ctx, c.pool, c.agents)
		if err == nil {
			c.pool = pool
		}
		return err
	}
	asked := map[driver.Driver]bool{}
	for _, role := range c.roles {
		d := c.drivers[role]
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
		return c.unfit(role, failure)
	}
	for role, agent := range c.agents {
		if agent.Model == "" {
			agent.Model = driver.Chosen(c.drivers[role])
			c.agents[role] = agent
		}
	}
	return c.within(budget)
}

// unfit is the error for an agent that cannot work.
func (c *crew) unfit(role string, failure *driver.Error) error {
	help, advice := failure.Help, "type `"+failure.Help+"`, then the same command again"
	switch {
	case help == "":
		help, advice = "tidegate agents", "`tidegate agents` shows which can"
	case strings.HasPrefix(help, "--"):
		advice = "add `" + help + "` to the same command"
	}
	code := tidegate.InvalidState
	if failure.Code != "" {
		code = failure.Code
	}
	details := append(append(tidegate.Pairs("agent", c.agents[role].Driver, "role", role, "help", help), unavailable(failure.Message)...), orTrust(c.project, "env", "key_env", "url")...)
	if len(failure.Choices) > 0 {
		details = append(details, tidegate.Pairs("models", failure.Choices)...)
	}
	return tidegate.Errorf(code, details, "the %s cannot work: %s; %s", role, failure.Message, advice)
}

// within returns INVALID_ARGS for an agent whose cost cannot be known, where the
// budget limits money.
func (c *crew) within(budget map[string]float64) error {
	if _, limited := budget["max_cost_usd"]; !limited {
		return nil
	}
	for _, role := range c.roles {
		agent := c.agents[role]
		if agent.Price != nil {
			continue
		}
		place, endpoint := driver.PlaceOf(c.drivers[role], agent.Model)
		switch name := Scheme(agent.Driver); {
		case endpoint && (place.Local || place.Reports || place.Price != nil || agent.Model == ""): // which the endpoint names yet
		case endpoint:
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("max-cost", nil, "agent", agent.Driver, "model", agent.Model), orTrust(c.project, "price")...),
				"the price of %s is not known (prices of %s): give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Model, place.Day, role)
		case name == "codex" || name == "gemini":
			return tidegate.Errorf(tidegate.InvalidArgs, append(tidegate.Pairs("max-cost", nil, "agent", agent.Driver), orTrust(c.project, "price")...),
				"%s does not say what it costs: give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Driver, role)
		}
	}
	return nil
}

// free says why the crew costs nothing; "" where it costs something, or may.
func (c *crew) free() string {
	why := "the agents cost nothing unless they have a price"
	for role, agent := range c.agents {
		place, _ := driver.PlaceOf(c.drivers[role], agent.Model)
		switch name := Scheme(agent.Driver); {
		case agent.Price != nil:
			return ""
		case place.Local:
			why = "the model runs on this machine"
		case name != "exec" && name != "acp" && name != "recorded" && name != demoAgents:
			return ""
		}
	}
	return why
}

// recorded reports whether all answers of the crew are recorded.
func (c *crew) recorded() bool {
	for _, agent := range c.agents {
		if !strings.HasPrefix(agent.Driver, "recorded:") {
			return false
		}
	}
	return true
}

// recordedPages answers with the pages beside recorded answers, and opens no
// connection. Where there are none, pages are fetched.
func (e *Env) recordedPages(folder string) step.Fetch {
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
			return e.pages()(ctx, urls, keep)
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

// absolute is a path that a person typed in the folder dir, made absolute.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
