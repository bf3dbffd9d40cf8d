package wave

import (
	"strings"

	"github.com/tidegate/tidegate/report"
	"github.com/tidegate/tidegate/run"
)

// Report lists what was planned.
func (p PlanResult) Report() report.Report {
	r := report.Report{Name: "wave1_plan", Title: "Plan of the first wave", Status: report.Pass, Summary: report.Counted(p.Planned, "prompt") + " written to the plan"}
	table := report.NewTable("Perspective", "Agent", "Output")
	for _, e := range p.entries {
		table.Row(report.None, e.PerspectiveID, e.AgentType, e.OutputMD)
	}
	r.Add(report.Fields{{Name: "plan", Value: p.PlanPath}, {Name: "prompts", Value: "prompt_md of each entry in it"}}, table)
	return r
}

// Report lists what was taken in.
func (i IngestResult) Report() report.Report {
	r := report.Report{Name: "wave_output_ingest", Title: "Outputs taken into " + i.Wave, Status: report.Pass, Summary: report.Counted(i.WrittenCount, "output") + " met the contract and went into the run"}
	table := report.NewTable("Perspective", "File")
	for _, o := range i.Outputs {
		table.Row(report.Pass, o.PerspectiveID, report.Place{File: o.MarkdownPath})
	}
	r.Add(table)
	return r
}

// Report shows the gate and why it is as it is.
func (g GateResult) Report() report.Report {
	state := "judged"
	if g.recorded {
		state = "judged and recorded"
	}
	r := report.Report{Name: "gate_b", Title: "Gate B: wave output contract compliance", Status: report.PassIf(g.Passed()), Summary: "gate B was " + state + ": " + g.Status}
	r.Add(report.Fields{{Name: "report", Value: g.WaveReviewReport}, {Name: "rule", Value: g.Rule}})
	c := report.Case{Name: "B", File: g.WaveReviewReport, Status: report.PassIf(g.Status == run.GatePass), Note: g.notes}
	if len(g.warnings) > 0 {
		r.Add(report.Heading("Why it does not pass"), report.Bullets(g.warnings))
		if g.notes != "" {
			r.Add(report.Paragraph(g.notes))
		}
		c.Findings = []report.Finding{{Rule: "GATE_B", Message: strings.Join(g.warnings, ", ")}}
	}
	r.AddCase(c)
	return r
}
