package pivot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/report"
)

// Report shows the gaps by priority with where they stand, the counts, the rule
// that hit and what happens next.
func (d Decision) Report() report.Report {
	r := report.Report{Name: "pivot_decide", Title: "Pivot decision", Summary: d.Explanation}
	if len(d.Gaps) > 0 {
		r.Add(report.Heading("Gaps"), d.gapTable())
	}
	r.Add(report.Heading("Decision"), report.Fields{
		{Name: "gaps", Value: fmt.Sprintf("%d: %d P0, %d P1, %d P2, %d P3", d.Metrics.Total, d.Metrics.P0, d.Metrics.P1, d.Metrics.P2, d.Metrics.P3)},
		{Name: "rule", Value: d.RuleHit + ": " + d.condition()},
		{Name: "second wave", Value: wave2Word(d.Wave2Required)},
		{Name: "inputs digest", Value: d.InputsDigest},
		{Name: "written to", Value: d.written()},
	})
	r.Add(report.Heading("What happens next"), report.Bullets(d.next()))
	return r
}

func (d Decision) gapTable() *report.Table {
	wanted := make(map[string]bool, len(d.Wave2GapIDs))
	for _, id := range d.Wave2GapIDs {
		wanted[id] = true
	}
	table := report.NewTable("Priority", "Gap", "Perspective", "Where", "Wave 2", "Text")
	for _, g := range d.Gaps {
		where := any(g.Source)
		if g.file != "" {
			where = report.Place{File: g.file, Line: g.line}
		}
		inWave2 := ""
		if wanted[g.ID] {
			inWave2 = "yes"
		}
		table.Row(report.None, g.Priority, g.ID, g.From, where, inWave2, g.Text)
	}
	return table
}

func (d Decision) condition() string {
	for _, r := range Rules {
		if r.ID == d.RuleHit {
			return r.Condition()
		}
	}
	return ""
}

func (d Decision) written() string {
	if d.PivotPath == nil {
		return "nowhere: no run was named"
	}
	return *d.PivotPath
}

func (d Decision) next() []string {
	if !d.Wave2Required {
		return []string{"The second wave is skipped: the run goes on to the citations."}
	}
	next := []string{"The run goes on to a second wave, which is to close " + counted(len(d.Wave2GapIDs)) + ": " + strings.Join(d.Wave2GapIDs, ", ") + "."}
	if limit := math.Trunc(d.agents); d.hasAgents && float64(len(d.Wave2GapIDs)) > limit {
		next = append(next, "The run allows "+strconv.FormatFloat(limit, 'f', -1, 64)+
			" agents in its second wave: it will be refused until the limit is raised, or fewer gaps are stated with explicit gaps.")
	}
	return next
}

func counted(n int) string {
	if n == 1 {
		return "1 gap"
	}
	return strconv.Itoa(n) + " gaps"
}
