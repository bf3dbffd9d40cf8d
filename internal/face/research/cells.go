package research

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// CellFlags are those by which a person says what agents find in their cells.
var CellFlags = []cli.Flag{
	{Name: "agent-read", About: "a file or `folder` that agents may read besides what their cell holds; may be repeated", Kind: tool.PathFlag, List: true},
	{Name: "agent-network", About: "what agents may reach: none, model or web (default as `tidegate agents` shows)", Kind: tool.Word},
	unconfinedFlag,
}

var unconfinedFlag = cli.Flag{Name: "unconfined", About: "let agents work without a cell, with your rights, on your files; every plan and report says so", Kind: tool.Switch}

// cellsTyped is what a person typed about the cells of agents.
type cellsTyped struct {
	read       []string
	network    cell.Network
	unconfined bool
}

// cellsOf reads the flags of a call. It returns INVALID_ARGS.
func cellsOf(call cli.Invocation) (cellsTyped, error) {
	c := cellsTyped{read: call.Flags["agent-read"], network: cell.Network(call.Flag("agent-network")), unconfined: call.Flag("unconfined") == "true"}
	if c.network != "" && !slices.Contains(cell.Networks, c.network) {
		return c, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agent-network", tidegate.Cut(string(c.network))), "--agent-network must be none, model or web, got %q", tidegate.Cut(string(c.network)))
	}
	return c, nil
}

// flags are what a person types to say it again, with a blank before it; "" for nothing.
func (typed cellsTyped) flags() string {
	flags := ""
	for _, path := range typed.read {
		flags += " --agent-read " + report.ShellWord(path)
	}
	if typed.network != "" {
		flags += " --agent-network " + string(typed.network)
	}
	if typed.unconfined {
		flags += " --unconfined"
	}
	return flags
}

// cells is how this machine keeps agents: by what the person typed, else by the
// configuration. Runs are forbidden to them, wherever they lie.
func (e *Env) cells(typed cellsTyped, settings config.Settings, runs ...string) driver.Cells {
	c := driver.Cells{Unconfined: typed.unconfined || settings.Unconfined}
	forbid := func(path, what string) {
		if filepath.IsAbs(path) {
			c.Forbidden = append(c.Forbidden, cell.Forbidden{Path: path, What: what})
		}
	}
	forbid(e.Home, "the folder of runs")
	forbid(audit.Home(e.Home), "the folder of audits")
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

// over is the agent with what the person typed about its cell.
func (typed cellsTyped) over(agent config.Agent) config.Agent {
	agent.Read = append(slices.Clone(agent.Read), typed.read...)
	if typed.network != "" {
		agent.Network = string(typed.network)
	}
	return agent
}

// Confinement is how the agents of this machine are kept.
type Confinement struct {
	Mode   string `json:"mode"` // confined or unconfined
	System string `json:"system"`
	ABI    int    `json:"abi"`
	Reason string `json:"reason"` // why they cannot be confined, or what a cell does not hold here
}

// confinement is how the agents of the crew are kept, as a run records it; web says that
// researchers have tools for it. It is zero where no program is started here: workers
// elsewhere keep their own. It returns NOT_CONFINED.
func (c *crew) confinement(web bool) (run.Confinement, error) {
	var reached []cell.Network
	for _, role := range c.roles {
		if n := driver.NetworkOf(c.drivers[role], web && role == "researcher"); n != "" && !slices.Contains(reached, n) {
			reached = append(reached, n)
		}
	}
	if len(reached) == 0 || c.far != nil {
		return run.Confinement{}, nil
	}
	system, err := driver.Confinement(driver.Host{Cells: c.cells})
	if err != nil || c.cells.Unconfined {
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

// confinementOf finds out how agents are kept, and what the cell of each driver holds.
func confinementOf(cells driver.Cells) (Confinement, []driver.CellOf) {
	system, err := driver.Confinement(driver.Host{Cells: cells})
	c := Confinement{Mode: "confined", System: system.Name, ABI: system.ABI, Reason: system.Weak()}
	switch {
	case cells.Unconfined:
		c.Mode, c.Reason = "unconfined", "a person decided so"
		return c, []driver.CellOf{}
	case err != nil:
		c.Mode, c.Reason = "unconfined", tidegate.Cut(err.Error())
		return c, []driver.CellOf{}
	}
	return c, driver.CellsOfClients(system)
}

// addCells shows what the cell of each driver holds.
func (a Agents) addCells(r *report.Report) {
	r.Add(report.Heading("How agents are kept"))
	if a.Confinement.Mode != "confined" {
		r.Add(report.Bullets{"not in cells: " + a.Confinement.Reason})
		return
	}
	lines := report.Bullets{
		fmt.Sprintf("in cells, by Landlock ABI %d and seccomp", a.Confinement.ABI),
		"an agent reads system programs and libraries, the folders of PATH, its own program and its attempt's folder, and writes in the last alone",
	}
	if a.Confinement.Reason != "" {
		lines = append(lines, a.Confinement.Reason)
	}
	table := report.NewTable("Driver", "Network", "Login", "Refresh token", "Hosts")
	for _, c := range a.Cells {
		login := c.Login
		if login == "" {
			login = "none"
		} else {
			login = "a copy of " + login
		}
		table.Row(report.None, c.Driver, c.Network, login, c.Refresh, strings.Join(c.Hosts, " "))
	}
	r.Add(lines, table)
}
