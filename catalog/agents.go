package catalog

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/archive"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/config"
	"github.com/tidegate/tidegate/driver"
	"github.com/tidegate/tidegate/engine"
	"github.com/tidegate/tidegate/job"
	"github.com/tidegate/tidegate/step"
)

// crew is who does the work of a run.
type crew struct {
	agents  map[string]engine.Agent // by role
	drivers map[string]driver.Driver
	fetch   step.Fetch
}

// crewOf finds who does the work of each role: named for all of them, else as the
// configuration says. It returns INVALID_ARGS for a role that nobody does, and
// the errors of [config.Load] and [driver.New].
func (e *Env) crewOf(ctx context.Context, named string) (crew, error) {
	settings := config.Settings{Agents: map[string]config.Agent{config.DefaultRole: {Driver: named}}}
	if named == "" {
		loaded, err := config.Load(ctx, config.Places{Dir: e.Dir, User: e.ConfigDir, Getenv: e.Getenv})
		if err != nil {
			return crew{}, err
		}
		settings = loaded.Settings
	}
	c := crew{agents: map[string]engine.Agent{}, drivers: map[string]driver.Driver{}, fetch: e.fetch}
	for _, role := range job.Roles() {
		agent := settings.Agent(role)
		if agent.Driver == "" {
			return crew{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("agent", nil, "role", role),
				"nobody does the work of the role %s: name an agent with --agent, such as claude or exec:COMMAND, or in tidegate.toml", role)
		}
		if folder, ok := strings.CutPrefix(agent.Driver, "recorded:"); ok && folder != "" {
			folder = absolute(e.Dir, folder)
			agent.Driver = "recorded:" + folder
			c.fetch = e.recordedPages(folder)
		}
		made, err := driver.New(driver.Settings{Driver: agent.Driver, KeyEnv: agent.KeyEnv}, driver.Host{})
		if err != nil {
			return crew{}, err
		}
		c.drivers[role] = made
		c.agents[role] = engine.Agent{Driver: agent.Driver, Model: agent.Model, Parallel: agent.Parallel, Price: (*engine.Price)(agent.Price)}
	}
	return c, nil
}

// costs returns INVALID_ARGS for an agent whose cost nobody can tell, where the
// budget is one of money.
func (c crew) costs() error {
	for _, role := range job.Roles() {
		agent := c.agents[role]
		name, _, _ := strings.Cut(agent.Driver, ":")
		switch name {
		case "codex", "gemini", "model":
			if agent.Price == nil {
				return tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("max_cost", nil, "agent", agent.Driver),
					"%s does not say what it costs: give its tokens a price in tidegate.toml ([agents.%s] price = { input = 1.25, output = 10 }), or leave out --max-cost", agent.Driver, role)
			}
		}
	}
	return nil
}

// pool starts the crew on this machine.
func (c crew) pool() engine.Pool {
	return &engine.Local{Drivers: func(role string) []driver.Driver { return []driver.Driver{c.drivers[role]} }}
}

// recordedPages answers with the pages that lie beside recorded answers, and opens
// no connection. Where none lie there, pages are fetched.
func (e *Env) recordedPages(folder string) step.Fetch {
	return func(ctx context.Context, urls []string, keep func([]*archive.Packed) error) error {
		kept, err := artifact.Open(ctx, "driver", folder)
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
			return e.fetch(ctx, urls, keep)
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

// absolute is a path that a person typed in the folder dir.
func absolute(dir, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}
