package wave

import (
	"fmt"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Report shows the findings and, for programs, one case per perspective that
// has any.
func (r LintResult) Report() report.Report {
	out := report.Report{
		Name: "perspectives_check", Title: "Check of contracts", Status: report.PassIf(r.Pass),
		Summary: fmt.Sprintf("%s: %s, %s.", report.Counted(r.Perspectives, "perspective"), report.Counted(r.Errors, "error"), report.Counted(r.Warnings, "warning")),
	}
	if r.Pass && r.Warnings > 0 {
		out.Status = report.Warn
	}
	for _, f := range r.Findings {
		name, status, level := "document", report.Fail, report.LevelError
		if f.PerspectiveID != nil {
			name = *f.PerspectiveID
		}
		if f.Level == "warning" {
			status, level = report.Warn, report.LevelWarning
		}
		if n := len(out.Cases); n == 0 || out.Cases[n-1].Name != name {
			out.AddCase(report.Case{Name: name, File: r.PerspectivesPath, Status: status})
		}
		last := &out.Cases[len(out.Cases)-1]
		if status == report.Fail {
			last.Status = report.Fail
		}
		last.Findings = append(last.Findings, report.Finding{
			Rule: f.Rule, Level: level, Title: f.Path, Message: f.Message, Line: f.Line,
		})
	}
	if len(out.Cases) == 0 {
		out.AddCase(report.Case{Name: "document", File: r.PerspectivesPath, Status: report.Pass})
	} else {
		out.Add(report.Findings{})
	}
	if r.FindingsOmitted > 0 {
		out.Add(report.Paragraph(report.Counted(r.FindingsOmitted, "more finding") + "; a higher --max-findings lists all."))
	}
	return out
}
