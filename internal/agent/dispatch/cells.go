package dispatch

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// CellChoice is what a person typed about the cells of agents.
type CellChoice struct {
	Read       []string
	Network    cell.Network
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
	return agent
}

// confinement is how the agents of the team are kept, as a run records it; web says that
// researchers have tools for it. It is zero where no program is started here: workers
// elsewhere keep their own. It returns NOT_CONFINED.
func (t *Team) confinement(web bool) (run.Confinement, error) {
	var reached []cell.Network
	for _, role := range t.roles {
		if n := client.NetworkOf(t.Drivers[role], web && role == "researcher"); n != "" && !slices.Contains(reached, n) {
			reached = append(reached, n)
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
		}
	}
	kept.Network = strings.Join(slices.Compact(held), "; ")
	return kept, nil
}
