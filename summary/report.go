package summary

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/report"
)

// Report shows every summary with its size against the cap, what it cites and
// claims, and, where summaries were generated, what was left out and why.
func (r Result) Report() report.Report {
	p := r.plan
	out := report.Report{Name: "summary_pack_build", Title: "Summary pack of " + p.run.ID(), Status: report.Pass}
	out.Summary = fmt.Sprintf("%s, %s of %s KB in all.", count(len(p.made), "summary", "summaries"), kilobytes(p.total), number(p.limits.MaxTotalSummaryKB))
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
	table := report.NewTable("Perspective", ">KB", ">Cap", ">Citations", ">Claims")
	for _, s := range p.made {
		table.Row(report.None, s.id, kilobytes(s.size), number(p.limits.MaxSummaryKB), s.cited, s.claimCount)
		out.AddCase(report.Case{Name: s.id, File: p.run.Path(p.summaryName(s.id)), Status: report.Pass})
	}
	out.Add(table)
	if p.req.Mode == Generate {
		out.Add(report.Heading("Left out"))
		out.Add(p.leftOut()...)
	}
	return out
}

// leftOut says, for each summary that does not hold all of its output, what is
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
				table.Row(report.None, s.id, row.n, row.what, row.why)
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

// kilobytes is a size in units of 1,024 bytes, rounded up to a tenth, so that
// what is over a cap never looks equal to it.
func kilobytes(bytes int) string {
	tenths := (bytes*10 + 1023) / 1024
	return strings.TrimSuffix(fmt.Sprintf("%d.%d", tenths/10, tenths%10), ".0")
}

func number(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
