package step

import (
	"fmt"
	"strconv"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Report shows every summary with its size against the cap, what it cites and
// claims, and, where summaries were generated, what was left out and why.
func (r PackResult) Report() report.Report {
	p := r.plan
	out := report.Report{Name: "summary_pack_build", Title: "Summary pack of " + p.run.ID(), Status: report.Pass}
	out.Summary = fmt.Sprintf("%s, %d of %d bytes in all.", count(len(p.summaries.Made), "summary", "summaries"), p.summaries.Total(), p.summaries.Limits.TotalBytes())
	if r.DryRun {
		out.Summary += " Nothing was written: this was a dry run."
	}
	if p.foreignRun != "" {
		out.Status = report.Warn
		out.Add(report.Paragraph(fmt.Sprintf("The perspectives say that they belong to run %s, not to %s.", p.foreignRun, p.run.ID())))
	}
	out.Add(report.Fields{
		{Name: "pack", Value: r.SummaryPackPath},
		{Name: "summaries", Value: r.SummariesDir},
		{Name: "mode", Value: p.req.Mode},
		{Name: "inputs digest", Value: r.InputsDigest},
	})
	table := report.NewTable("Perspective", ">Bytes", ">Cap", ">Citations", ">Claims")
	for _, s := range p.summaries.Made {
		table.Row(report.None, s.PerspectiveID, s.Size, p.summaries.Limits.SummaryBytes(), s.Cited, s.ClaimCount)
		out.AddCase(report.Case{Name: s.PerspectiveID, File: p.run.Path(s.SummaryMD), Status: report.Pass})
	}
	out.Add(table)
	if p.req.Mode == PackGenerated {
		out.Add(report.Heading("Left out"))
		out.Add(p.leftOut()...)
	}
	return out
}

// leftOut says, for each summary that leaves out part of its output, what is
// missing and why.
func (p *packPlan) leftOut() []report.Block {
	table := report.NewTable("Perspective", ">Number", "What", "Why")
	for _, s := range p.summaries.Made {
		for _, row := range []struct {
			n         int
			what, why string
		}{
			{s.Left.Findings, "findings", "did not fit the cap"},
			{s.Left.Emptied, "findings", "nothing was left without their URLs and citations"},
			{s.Left.URLs, "URLs", "the citation pool maps them to no validated citation"},
			{s.Left.Citations, "citations", "not among the validated citations"},
			{s.Left.Unmapped, "sources", "the citation pool maps them to no validated citation"},
			{s.Left.Sources, "sources", "did not fit the cap"},
		} {
			if row.n > 0 {
				table.Row(report.None, s.PerspectiveID, row.n, row.what, row.why)
			}
		}
	}
	if len(table.Rows) == 0 {
		return []report.Block{report.Paragraph("Nothing.")}
	}
	return []report.Block{table}
}

func count(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + many
}
