package summary

import (
	"fmt"
	"strconv"

	"github.com/tidegate/tidegate/internal/base/report"
)

// Report shows every summary with its size against the cap, what it cites and
// claims, and, where summaries were generated, what was left out and why.
func (r Result) Report() report.Report {
	p := r.plan
	out := report.Report{Name: "summary_pack_build", Title: "Summary pack of " + p.run.ID(), Status: report.Pass}
	out.Summary = fmt.Sprintf("%s, %d of %d bytes in all.", count(len(p.made), "summary", "summaries"), p.total, p.limits.totalBytes())
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
		{Name: "mode", Value: string(p.req.Mode)},
		{Name: "inputs digest", Value: r.InputsDigest},
	})
	table := report.NewTable("Perspective", ">Bytes", ">Cap", ">Citations", ">Claims")
	for _, s := range p.made {
		table.Row(report.None, s.entry.PerspectiveID, s.size, p.limits.summaryBytes(), s.cited, s.claimCount)
		out.AddCase(report.Case{Name: s.entry.PerspectiveID, File: p.run.Path(s.entry.SummaryMD), Status: report.Pass})
	}
	out.Add(table)
	if p.req.Mode == Generate {
		out.Add(report.Heading("Left out"))
		out.Add(p.leftOut()...)
	}
	return out
}

// leftOut says, for each summary that leaves out part of its output, what is
// missing and why.
func (p *plan) leftOut() []report.Block {
	table := report.NewTable("Perspective", ">Number", "What", "Why")
	for _, s := range p.made {
		for _, row := range []struct {
			n         int
			what, why string
		}{
			{s.left.Findings, "findings", "did not fit the cap"},
			{s.left.Emptied, "findings", "nothing was left without their URLs and citations"},
			{s.left.URLs, "URLs", "the citation pool maps them to no validated citation"},
			{s.left.Citations, "citations", "not among the validated citations"},
			{s.left.Unmapped, "sources", "the citation pool maps them to no validated citation"},
			{s.left.Sources, "sources", "did not fit the cap"},
		} {
			if row.n > 0 {
				table.Row(report.None, s.entry.PerspectiveID, row.n, row.what, row.why)
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
