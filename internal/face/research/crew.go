package research

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/archive"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Recording is a set of answers and pages that come with the program.
type Recording struct {
	// Unpack writes the answers into a folder of their own, which remove
	// removes.
	Unpack func() (folder string, remove func(), err error)
	Fetch  step.Fetch // answers with the pages, and opens no connection
}

// crew is the agents that do the work of a run.
type crew struct {
	roles   []string
	named   string                  // with --agent, "" where none was
	agents  map[string]engine.Agent // by role
	drivers map[string]driver.Driver
	made    map[string]driver.Driver // by what they were made from
	fetch   step.Fetch
	far     *Far
	pool    engine.Pool // runs the tasks
	remove  func()      // removes what was unpacked
}

// crewWanted says which agents are wanted.
type crewWanted struct {
	roles []string
	flag  string               // by which a person names an agent
	named map[string]string    // agents that a person named, by role
	kept  map[string]run.Agent // whose names a run keeps, by role
}

// ofRun are the agents of a run, all of them the named one where there is one.
func ofRun(named string, kept map[string]run.Agent) crewWanted {
	w := crewWanted{roles: job.Roles(), flag: "--agent", named: map[string]string{}, kept: kept}
	for _, role := range w.roles {
		w.named[role] = named
	}
	return w
}

// crewOf finds the agent for each role: the named one, else the one
// whose name a run keeps, else those of the configuration, else the first client
// that is installed and logged in. It returns INVALID_ARGS for a role without an
// agent, and the errors of [config.Load] and [driver.New].
func (e *Env) crewOf(ctx context.Context, wanted crewWanted) (*crew, error) {
	loaded, err := config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
	if err != nil {
		return nil, err
	}
	c := &crew{roles: wanted.roles, named: wanted.named[wanted.roles[0]], agents: map[string]engine.Agent{}, drivers: map[string]driver.Driver{}, made: map[string]driver.Driver{}, fetch: e.pages(), far: e.Far, remove: func() {}}
	c.pool = &engine.Local{Drivers: func(role string) []driver.Driver { return []driver.Driver{c.drivers[role]} }}
	found := ""
	for _, role := range wanted.roles {
		agent := loaded.Agent(role)
		switch was := wanted.kept[role]; {
		case wanted.named[role] != "":
			agent = namedAgent(loaded.Settings, role, wanted.named[role])
		case was.Driver != "":
			if agent, err = keptAgent(loaded.Settings, role, was); err != nil {
				return nil, err
			}
		case agent.Driver == "" && e.Far != nil:
			return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", nil, "role", role),
				"the agents of %s have no default: name those that they have with %s or in %s", e.Far.Where, wanted.flag, config.FileName)
		case agent.Driver == "":
			if found == "" {
				if found, err = e.installed(ctx, wanted.flag); err != nil {
					return nil, err
				}
			}
			agent.Driver = found
		}
		if err := c.hire(e, role, agent, loaded.Search); err != nil {
			c.close()
			return nil, err
		}
	}
	return c, nil
}

// namedAgent is the agent that a person named, with the price and the key that
// the configuration has for the same driver.
func namedAgent(settings config.Settings, role, named string) config.Agent {
	if agent := settings.Agent(role); agent.Driver == named {
		return agent
	}
	return config.Agent{Driver: named}
}

// keptAgent is the agent whose name a run keeps. It returns INVALID_ARGS for a driver
// whose name does not say all about it, unless the configuration has it.
func keptAgent(settings config.Settings, role string, was run.Agent) (config.Agent, error) {
	agent := settings.Agent(role)
	if Scheme(agent.Driver) == was.Driver {
		agent.Model = was.Model
		return agent, nil
	}
	if hasName(was.Driver) {
		return config.Agent{Driver: was.Driver, Model: was.Model}, nil
	}
	return config.Agent{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent", nil, "role", role),
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
	return name == demoAgents || slices.ContainsFunc(driver.Clients(), func(c driver.Client) bool { return c.Name == name })
}

// names are what a run keeps of the crew.
func (c *crew) names() map[string]run.Agent {
	kept := map[string]run.Agent{}
	for role, agent := range c.agents {
		kept[role] = run.Agent{Driver: Scheme(agent.Driver), Model: agent.Model}
	}
	return kept
}

// again is the flag that a person must type again to go on, with a blank before it;
// "" where the names are enough.
func (c *crew) again() string {
	if c == nil || c.named == "" || hasName(c.named) {
		return ""
	}
	return " --agent " + report.ShellWord(c.named)
}

// hire makes the driver of a role. Roles with the same agent have the same driver.
func (c *crew) hire(e *Env, role string, agent config.Agent, search config.Search) error {
	made := agent.Driver
	recording, ofProgram := Recording{}, false
	if name, ok := strings.CutPrefix(agent.Driver, "recorded:"); ok && name != "" {
		if recording, ofProgram = e.Recordings[name]; !ofProgram {
			folder := absolute(e.Dir, name)
			agent.Driver = "recorded:" + folder
			made, c.fetch = agent.Driver, e.recordedPages(folder)
		}
	}
	key := strings.Join(append([]string{agent.Driver, agent.KeyEnv}, agent.Env...), " ")
	d := c.made[key]
	if d == nil {
		if ofProgram {
			folder, remove, err := recording.Unpack()
			if err != nil {
				return err
			}
			made, c.remove, c.fetch = "recorded:"+folder, remove, recording.Fetch
		}
		var err error
		d, err = driver.New(driver.Settings{Driver: made, KeyEnv: agent.KeyEnv, Env: agent.Env}, driver.Host{Search: driver.Search(search), Open: opener(e.pages())})
		if err != nil {
			return err
		}
		c.made[key] = d
	}
	c.drivers[role] = d
	c.agents[role] = engine.Agent{Driver: agent.Driver, Model: agent.Model, Parallel: agent.Parallel, Price: (*engine.Price)(agent.Price)}
	return nil
}

// close removes what was unpacked and what drivers keep for repairs.
func (c *crew) close() {
	for _, d := range c.made {
		driver.Forget(d, "")
	}
	c.remove()
}

// ready removes what agents of killed programs have left, and asks every agent
// whether it can work, at no cost. It returns INVALID_STATE
// for the first that cannot, with what helps, CANCELLED, and the errors of
// [Far.Open].
func (c *crew) ready(ctx context.Context) error {
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
		help, advice := failure.Help, "type `"+failure.Help+"`, then the same command again"
		if help == "" {
			help, advice = "tidegate agents", "`tidegate agents` shows which can"
		}
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("agent", c.agents[role].Driver, "role", role, "help", help),
			"the %s cannot work: %s; %s", role, failure.Message, advice)
	}
	return nil
}

// installed is the first client that is installed and logged in. It returns
// INVALID_ARGS with what to do where there is none.
func (e *Env) installed(ctx context.Context, flag string) (string, error) {
	var said []string // about clients that are there but cannot be used
	for _, client := range driver.Clients() {
		d, err := driver.New(driver.Settings{Driver: client.Name}, driver.Host{})
		if err != nil {
			return "", err
		}
		_, err = driver.Check(ctx, d)
		if err == nil {
			return client.Name, nil
		}
		if ctx.Err() != nil {
			return "", tidegate.Errorf(tidegate.Cancelled, nil, "stopped while looking for an agent: %w", context.Cause(ctx))
		}
		var failure *driver.Error
		if errors.As(err, &failure) && failure.Message != client.Name+" is not installed" {
			said = append(said, failure.Message+": "+failure.Help)
		}
	}
	problem := "no agent is installed"
	if len(said) > 0 {
		problem = "no agent that is installed can be used"
	}
	var lines []string
	for _, client := range driver.Clients() {
		lines = append(lines, client.Name+": "+client.Get)
	}
	details := tidegate.Pairs("agent", nil)
	if len(said) > 0 {
		details = append(details, tidegate.Detail{Key: "installed", Value: said})
	}
	details = append(details, tidegate.Pairs("install one and log in", lines, "or name an endpoint", flag+" model:http://127.0.0.1:11434/v1")...)
	names := "`" + flag + " …` names one"
	if flag == "--agent" {
		details = append(details, tidegate.Detail{Key: "or look at recorded answers", Value: flag + " " + demoAgents})
		names = "`tidegate research QUESTION --agent …` names one"
	}
	return "", tidegate.Errorf(tidegate.InvalidArgs, details, "%s; %s", problem, names)
}

// costs returns INVALID_ARGS for an agent whose cost cannot be known, where the
// budget limits money.
func (c *crew) costs() error {
	for _, role := range c.roles {
		agent := c.agents[role]
		switch Scheme(agent.Driver) {
		case "codex", "gemini", "model":
			if agent.Price == nil {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("max-cost", nil, "agent", agent.Driver),
					"%s does not say what it costs: give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Driver, role)
			}
		}
	}
	return nil
}

// free reports whether the crew costs nothing unless a price says otherwise.
func (c *crew) free() bool {
	for _, agent := range c.agents {
		switch Scheme(agent.Driver) {
		case "exec", "acp", "recorded", demoAgents:
			if agent.Price != nil {
				return false
			}
		default:
			return false
		}
	}
	return true
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
			capture := archive.Capture{URL: url, Kind: archive.Unreachable, Time: e.Now()}
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
