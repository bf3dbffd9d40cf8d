package research

import (
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/client"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Confinement is how the agents of this machine are kept.
type Confinement struct {
	Mode   string `json:"mode"` // confined or unconfined
	System string `json:"system"`
	ABI    int    `json:"abi"`
	Reason string `json:"reason"` // why they cannot be confined, or what a cell does not hold here
}

// confinementOf finds out how agents are kept, and what the cell of each driver holds.
func confinementOf(cells driver.Cells) (Confinement, []client.CellOf) {
	system, err := sandbox.Confinement(driver.Host{Cells: cells})
	c := Confinement{Mode: "confined", System: system.Name, ABI: system.ABI, Reason: system.Weak()}
	switch {
	case cells.Unconfined:
		c.Mode, c.Reason = "unconfined", "a person decided so"
		return c, []client.CellOf{}
	case err != nil:
		c.Mode, c.Reason = "unconfined", tidegate.Cut(err.Error())
		return c, []client.CellOf{}
	}
	return c, client.CellsOfClients(system)
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
