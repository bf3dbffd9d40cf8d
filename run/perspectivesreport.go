package run

import "github.com/tidegate/tidegate/report"

// Report says where the perspectives stand.
func (p PerspectivesResult) Report() report.Report {
	r := report.Report{Name: "perspectives_write", Title: "Perspectives of the run", Status: report.Pass, Summary: "the document follows perspectives.v1 and was written"}
	r.Add(report.Fields{{Name: "file", Value: p.Path}})
	return r
}
