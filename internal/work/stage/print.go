package stage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TableResult is the printed table.
type TableResult struct {
	OK      codec.True   `json:"ok"`
	Rows    []PrintedRow `json:"rows"`
	Mermaid string       `json:"mermaid"`
	diagram bool
}

// PrintedRow is one [Row] in words.
type PrintedRow struct {
	Stage      string   `json:"stage"` // "any" for every stage
	Status     []string `json:"status"`
	Trigger    string   `json:"trigger"`
	NextStage  string   `json:"next_stage"` // "same" for the same stage
	NextStatus string   `json:"next_status"`
	Needs      []string `json:"needs"`
}

// Print prints the table: every way in which a run can move, as a table and as a
// diagram for Mermaid. Rows that differ only in the status they leave become one.
// With diagram, the report shows the diagram alone.
func Print(diagram bool) TableResult {
	out := TableResult{Mermaid: Mermaid(), diagram: diagram}
	for _, row := range Table() {
		p := PrintedRow{Stage: "any", Trigger: string(row.Trigger), NextStage: "same", NextStatus: string(row.NextStatus), Needs: texts(row.Needs)}
		if row.Stage != "" {
			p.Stage, p.NextStage = string(row.Stage), string(row.NextStage)
		}
		at := slices.IndexFunc(out.Rows, func(q PrintedRow) bool {
			return q.Stage == p.Stage && q.Trigger == p.Trigger && q.NextStage == p.NextStage && q.NextStatus == p.NextStatus
		})
		if at < 0 {
			at = len(out.Rows)
			out.Rows = append(out.Rows, p)
		}
		out.Rows[at].Status = append(out.Rows[at].Status, string(row.Status))
	}
	return out
}

func texts(needs []Precondition) []string {
	list := []string{}
	for _, p := range needs {
		if p.Text != "" {
			list = append(list, p.Text)
		}
	}
	return list
}

// Report shows the table to a person.
func (t TableResult) Report() report.Report {
	out := report.Report{Name: "run_stages"}
	if t.diagram {
		out.Add(report.Preformatted(t.Mermaid))
		return out
	}
	out.Title = "how a run moves"
	table := report.NewTable("Stage", "Status", "Trigger", "Next stage", "Next status", "Needs")
	for _, row := range t.Rows {
		table.Row(report.None, row.Stage, strings.Join(row.Status, ", "), row.Trigger, row.NextStage, row.NextStatus, strings.Join(row.Needs, "; "))
	}
	out.Add(table, report.Paragraph("Completed and cancelled are final."))
	return out
}

// Mermaid draws the table as a state diagram: the stages inside the statuses in
// which a run advances, the other statuses around them.
func Mermaid() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("stateDiagram-v2")
	line("    state \"%s\" as active {", joined(advancing))
	line("        [*] --> %s", run.Init)
	for _, m := range moves {
		if len(m.needs) == 0 {
			line("        %s --> %s", m.from, m.to)
		} else {
			line("        %s --> %s: %s", m.from, m.to, strings.Join(texts(m.needs), ", "))
		}
	}
	line("    }")
	line("    [*] --> active")
	line("    active --> %s: advance to %s", run.Completed, run.Finalize)
	drawn := map[string]bool{}
	name := func(s run.Status) string {
		if slices.Contains(advancing, s) {
			return "active"
		}
		return string(s)
	}
	for _, row := range statusRows {
		arrow := fmt.Sprintf("%s --> %s: %s", name(row.Status), name(row.NextStatus), row.Trigger)
		if name(row.Status) != name(row.NextStatus) && !drawn[arrow] {
			drawn[arrow] = true
			line("    %s", arrow)
		}
	}
	line("    %s --> [*]", run.Completed)
	line("    %s --> [*]", run.Cancelled)
	return b.String()
}
