package run

import (
	"slices"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Passed reports whether nothing was found that contradicts the record.
func (v VerifyResult) Passed() bool { return v.Pass }

// Report shows what was found to a person and to programs.
func (v VerifyResult) Report() report.Report {
	out := report.Report{Name: "run_verify", Title: "run " + v.RunID, Status: report.PassIf(v.Pass), Summary: "the run agrees with its record"}
	if !v.Pass {
		out.Summary = "the run does not agree with its record"
	}
	files := slices.Clone(v.Checked)
	for _, f := range v.Findings {
		if !slices.Contains(files, f.File) {
			files = append(files, f.File)
		}
	}
	for _, file := range files {
		out.AddCase(v.caseOf(file))
	}
	table := report.NewTable("File", ">Findings")
	for _, c := range out.Cases {
		table.Row(c.Status, c.Name, len(c.Findings))
	}
	out.Add(table, report.Findings{})
	out.Add(DecisionBullets(v.Decisions)...)
	for _, c := range v.Confinements {
		out.Add(report.Paragraph(c.String()))
	}
	out.Add(report.Fields{
		{Name: "log", Value: report.Counted(v.Log.Lines, "line") + ", " + report.Counted(v.Log.Broken, "break")},
		{Name: "log head", Value: v.Log.Head},
	}, report.Paragraph(v.Limits))
	return out
}

func (v VerifyResult) caseOf(file string) report.Case {
	c := report.Case{Name: file, File: v.Root + "/" + file, Status: report.Pass}
	for _, f := range v.Findings {
		if f.File != file {
			continue
		}
		c.Findings = append(c.Findings, report.Finding{Rule: f.Rule, Level: report.Level(f.Level), Message: f.Message, Line: f.Line})
		switch {
		case f.Level == "error":
			c.Status = report.Fail
		case f.Level == "warning" && c.Status == report.Pass:
			c.Status = report.Warn
		}
	}
	return c
}
