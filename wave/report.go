package wave

import (
	"strconv"

	"github.com/tidegate/tidegate/report"
)

// Report shows the figures against their caps.
func (v Validation) Report() report.Report {
	r := report.Report{
		Name: "wave_output_validate", Title: "Output of " + v.PerspectiveID, Status: report.Pass,
		Summary: v.PerspectiveID + " meets its contract.",
	}
	r.Add(report.Fields{
		{Name: "file", Value: v.MarkdownPath},
		{Name: "words", Value: against(v.Words, v.contract.MaxWords)},
		{Name: "sources", Value: against(v.Sources, v.contract.MaxSources)},
		{Name: "missing sections", Value: "none"},
	})
	r.AddCase(report.Case{Name: v.PerspectiveID, File: v.MarkdownPath, Status: report.Pass})
	return r
}

func against(n int, limit float64) string {
	return strconv.Itoa(n) + " of " + strconv.FormatFloat(limit, 'f', -1, 64)
}
