package pivot

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Report shows the gaps by priority with where they stand, the counts, the rule
// that hit and what happens next.
func (d Decision) Report() report.Report {
	r := report.Report{Name: "pivot_decide", Title: "Pivot decision", Summary: d.Explanation}
	if len(d.Gaps) > 0 {
		r.Add(report.Heading("Gaps"), d.gapTable())
	}
	m := d.Metrics
	r.Add(report.Heading("Decision"), report.Fields{
		{Name: "second wave", Value: wave2Word(d.Wave2Required)},
		{Name: "rule", Value: d.RuleHit + ": " + d.condition()},
		{Name: "gaps", Value: fmt.Sprintf("%d (%d P0, %d P1, %d P2, %d P3)", m.Total, m.P0, m.P1, m.P2, m.P3)},
		{Name: "written to", Value: d.written()},
	})
	if short := d.notReached(); len(short) > 0 {
		r.Add(report.Heading("Rules tried before, and not reached"), report.Bullets(short))
	}
	r.Add(report.Heading("What happens next"), report.Bullets(d.next()))
	return r
}

func (d Decision) gapTable() *report.Table {
	inWave2 := make(map[string]bool, len(d.Wave2GapIDs))
	for _, id := range d.Wave2GapIDs {
		inWave2[id] = true
	}
	table := report.NewTable("Priority", "Gap", "Perspective", "Where", "In wave 2", "Text")
	for _, g := range d.Gaps {
		where := any(g.Source)
		if g.File != "" {
			where = report.Place{File: g.File, Line: g.Line}
		}
		taken := "no"
		if inWave2[g.ID] {
			taken = "yes"
		}
		table.Row(report.None, g.Priority, g.ID, g.From, where, taken, tidegate.Cut(g.Text))
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

// notReached says, for each rule before the one that hit, what it asks for and
// what was counted.
func (d Decision) notReached() []string {
	var lines []string
	for _, r := range Rules {
		if r.ID == d.RuleHit {
			break
		}
		var counts []string
		for _, c := range r.When {
			counts = append(counts, fmt.Sprintf("%s is %d", c.Quantity, quantity(c.Quantity, d.Metrics)))
		}
		lines = append(lines, fmt.Sprintf("%s asks for %s; %s.", r.ID, r.Condition(), strings.Join(counts, ", ")))
	}
	return lines
}

func (d Decision) written() string {
	if d.PivotPath == nil {
		return "no file; the decision was only made"
	}
	return *d.PivotPath
}

func (d Decision) next() []string {
	next := []string{"The second wave is skipped: the run continues with the citations."}
	if d.Wave2Required {
		next = []string{"The run continues with a second wave, which is to close the " + report.Counted(len(d.Wave2GapIDs), "gap") + " marked above."}
	}
	if d.Agents != nil && float64(len(d.Wave2GapIDs)) > math.Trunc(*d.Agents) {
		return append(next, "Its manifest allows only "+strconv.FormatFloat(math.Trunc(*d.Agents), 'f', -1, 64)+
			" for wave 2 (max_wave2_agents): raise the limit, or decide again with fewer explicit gaps.")
	}
	if d.PivotPath != nil {
		next = append(next, "`tidegate run advance` moves it there.")
	}
	return next
}
