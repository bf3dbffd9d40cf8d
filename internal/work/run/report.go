package run

import "github.com/tidegate/tidegate/internal/base/report"

// Report shows a new run to a person.
func (i InitResult) Report() report.Report {
	out := report.Report{Name: "run_init", Title: "run " + i.RunID, Summary: "made " + i.Root, Status: report.Pass}
	if !i.Created {
		out.Summary = "the run is there already"
	}
	if !i.Ledger.Written {
		out.Status = report.Warn
		out.Add(report.Paragraph("The run could not be entered in " + i.Ledger.Path + ": " + i.Ledger.Error))
	}
	out.Add(report.Fields{{Name: "folder", Value: i.Root}, {Name: "manifest", Value: i.ManifestPath}, {Name: "gates", Value: i.GatesPath}},
		report.Heading("Next command"), report.Preformatted("tidegate run status "+report.ShellWord(i.called)))
	return out
}
