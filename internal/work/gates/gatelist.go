package gates

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// GateList is the result of [ListGates].
type GateList struct {
	OK    codec.True  `json:"ok"`
	RunID string      `json:"run_id"`
	Root  string      `json:"root"`
	Gates []GateStand `json:"gates"`
}

// GateStand is the state of a gate.
type GateStand struct {
	GateID    string   `json:"gate_id"`
	Name      string   `json:"name"`
	Status    string   `json:"status" jsonschema:"as it was written"`
	Counts    string   `json:"counts" jsonschema:"what it counts as by now: not_run when what it judged has changed since"`
	Accepted  string   `json:"accepted" jsonschema:"the reason of the person who let it pass; empty when its judge did"`
	CheckedAt string   `json:"checked_at"`
	Changed   []string `json:"changed" jsonschema:"what it judged and what is different by now"`
	Warnings  []string `json:"warnings"`
	About     string   `json:"about" jsonschema:"what its judge looks at"`
}

// ListGates lists the states of a run's gates. It writes nothing and judges
// nothing. It returns the errors of [run.Open] and
// [run.Run.CheckLog], and NOT_FOUND without gates.
func ListGates(ctx context.Context, desk run.Desk, manifestPath string) (GateList, error) {
	return run.With(ctx, desk, manifestPath, func(r *run.Run, out *GateList) error {
		if err := r.CheckLog(); err != nil {
			return err
		}
		gates, err := r.Gates()
		if err != nil {
			return err
		}
		*out = GateList{RunID: r.ID(), Root: r.Root()}
		for _, row := range run.GateTable {
			state, err := r.GateState(gates, row.ID)
			if err != nil {
				return err
			}
			g := gates.Gate(row.ID)
			stand := GateStand{GateID: row.ID, Name: row.Name, Status: gates.Status(row.ID), Counts: state.Counts(), About: row.About,
				Accepted: state.Accepted.Get("reason").Str(), CheckedAt: g.Get("checked_at").Str(), Changed: append([]string{}, state.Changed...), Warnings: []string{}}
			for _, w := range g.Get("warnings").Elems() {
				stand.Warnings = append(stand.Warnings, w.Str())
			}
			out.Gates = append(out.Gates, stand)
		}
		return nil
	})
}

// Report shows the gates as a table.
func (l GateList) Report() report.Report {
	passed := 0
	table := report.NewTable("Gate", "Name", "Status", "Why", "Judge it with")
	for _, g := range l.Gates {
		status, why := g.Counts, strings.Join(g.Warnings, ", ")
		switch {
		case len(g.Changed) > 0:
			why = "changed since: " + strings.Join(g.Changed, ", ")
		case g.Accepted != "":
			status, why = status+", accepted by a person", g.Accepted
		}
		shade := report.None
		switch g.Counts {
		case run.GatePass:
			passed++
			shade = report.Pass
		case run.GateFail:
			shade = report.Fail
		}
		table.Row(shade, g.GateID, g.Name, status, why, "tidegate gate "+strings.ToLower(g.GateID)+" "+report.ShellWord(l.Root))
	}
	r := report.Report{Name: "gate_list", Title: "Gates of run " + l.RunID, Summary: fmt.Sprintf("%d of %s passed", passed, report.Counted(len(l.Gates), "gate"))}
	r.Add(table)
	return r
}
