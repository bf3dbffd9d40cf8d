package web

import (
	"cmp"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/gates"
	"github.com/tidegate/tidegate/internal/work/run"
)

// gateWords name the gates, and gateAbout says what they judge, in the words of people.
var gateWords = map[string]string{"A": "Plan", "B": "Answers", "C": "Sources", "D": "Summaries", "E": "Report", "F": "Limits"}
var gateAbout = map[string]string{
	"A": "The question, the perspectives and the plan of the first round of research.",
	"B": "What agents wrote in each round of research, held against what was agreed.",
	"C": "The sources that they name, as they were archived.",
	"D": "The summaries, and how they were put together.",
	"E": "The report, held against the sources that it cites.",
	"F": "How far the run may reach out, its sources, signatures and budget.",
}

func (l *visit) gateRow(g gates.GateStand) gateRow {
	row := gateRow{ID: g.GateID, Name: g.Name, Words: cmp.Or(gateWords[g.GateID], g.Name), About: cmp.Or(gateAbout[g.GateID], g.About), CheckedAt: g.CheckedAt, Why: strings.ToLower(strings.ReplaceAll(joined(g.Warnings), "_", " ")), Passed: g.Counts == run.GatePass, Decision: "gate-" + strings.ToLower(g.GateID),
		Command: "tidegate gate " + strings.ToLower(g.GateID) + " " + report.ShellWord(l.run.ID())}
	switch {
	case len(g.Changed) > 0:
		row.State, row.Why = bad("changed since"), "changed since it was judged: "+joined(g.Changed)
	case g.Accepted != "":
		row.State, row.Why = person("accepted by a person"), g.Accepted
	case g.Counts == run.GatePass:
		row.State = good("passed")
	case g.Counts == run.GateFail:
		row.State = bad("failed")
	default:
		row.State = waiting("not run")
	}
	if notes := l.gateNotes[g.GateID]; notes != "" && len(g.Changed) == 0 {
		if row.Why != "" {
			row.Why += ". "
		}
		row.Why += notes
	}
	return row
}

func (l *visit) gatesPage() (*page, error) {
	var rows []gateRow
	for _, g := range l.gates.Gates {
		rows = append(rows, l.gateRow(g))
	}
	return l.page("gates", "Gates", rows), nil
}
