package wave

import (
	"io"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
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
		{Name: "sources", Value: sourcesAgainst(v.Sources, v.contract)},
		{Name: "missing sections", Value: "none"},
	})
	r.AddCase(report.Case{Name: v.PerspectiveID, File: v.MarkdownPath, Status: report.Pass})
	return r
}

// Report shows a row for every output, every rule that is not met with its
// place, and the directives.
func (r ReviewResult) Report() report.Report {
	out := report.Report{
		Name: "wave_review", Title: "Review of a wave", Status: report.PassIf(r.Pass), Rules: rules(), Summary: r.summary(),
		Properties: []report.Property{
			{Name: "validated", Value: strconv.Itoa(r.Validated)},
			{Name: "failed", Value: strconv.Itoa(r.Failed)},
		},
	}
	table := report.NewTable("Perspective", ">Words", ">Sources", "What is wrong", "Where")
	for _, result := range r.Results {
		result.addTo(table)
		out.AddCase(result.reportCase())
	}
	out.Add(table)
	if len(r.RetryDirectives) > 0 {
		var notes report.Bullets
		for _, d := range r.RetryDirectives {
			notes = append(notes, d.PerspectiveID+": "+d.ChangeNote)
		}
		out.Add(report.Heading("What to change"), notes)
	}
	if r.Bounded.FailuresOmitted > 0 {
		out.Add(report.Paragraph(report.Counted(r.Bounded.FailuresOmitted, "more output") + " failed; a higher --max-failures lists what to change in them."))
	}
	if r.ReportPath != nil {
		out.Add(report.Fields{{Name: "report", Value: *r.ReportPath}})
	}
	return out
}

func (r ReviewResult) summary() string {
	if r.Pass {
		return report.Counted(r.Validated, "output") + " judged, all meet their contracts."
	}
	missing := 0
	for _, result := range r.Results {
		if result.missing {
			missing++
		}
	}
	failed := strconv.Itoa(r.Failed-missing) + " of " + report.Counted(r.Validated-missing, "output") + " failed"
	if missing > 0 {
		failed += "; missing: " + strconv.Itoa(missing)
	}
	return failed + "."
}

// addTo adds a row for the output, and one more for each further fault.
func (r OutputResult) addTo(table *report.Table) {
	words, sources := against(r.Metrics.Words, r.contract.MaxWords), sourcesAgainst(r.Metrics.Sources, *r.contract)
	if r.Pass {
		table.Row(report.Pass, r.PerspectiveID, words, sources, "", report.Place{File: r.MarkdownPath})
		return
	}
	if r.missing {
		words, sources = "missing", ""
	}
	for i, f := range r.faults {
		place := report.Place{File: r.MarkdownPath, Line: f.Line}
		if i == 0 {
			table.Row(report.Fail, r.PerspectiveID, words, sources, f.summary(r), place)
		} else {
			table.Row(report.None, "", "", "", f.summary(r), place)
		}
	}
}

func (r OutputResult) reportCase() report.Case {
	c := report.Case{Name: r.PerspectiveID, File: r.MarkdownPath, Status: report.PassIf(r.Pass)}
	for _, f := range r.faults {
		c.Findings = append(c.Findings, report.Finding{
			Rule: string(f.Error.Code), Message: f.summary(r), Help: tidegate.Cut(f.ChangeNote), Line: f.Line,
		})
	}
	return c
}

// summary says in a line what is wrong. All missing titles are named, so that a
// reader can add them at once.
func (f Fault) summary(r OutputResult) string {
	if len(r.Metrics.MissingSections) > 1 && f.Error.Code == tidegate.MissingRequiredSection {
		return tidegate.Cut("Missing sections: "+joinTitles(r.Metrics.MissingSections)) + f.hint
	}
	return f.Message()
}

func rules() []report.Rule {
	var list []report.Rule
	for _, code := range []tidegate.Code{
		tidegate.MissingRequiredSection, tidegate.TooManyWords, tidegate.MalformedSources, tidegate.TooManySources, tidegate.OutputNotFound,
	} {
		if e, ok := tidegate.Explain(code); ok {
			list = append(list, report.Rule{ID: string(code), Short: e.Meaning, Help: e.Fix})
		}
	}
	return list
}

func against(n int, limit float64) string { return strconv.Itoa(n) + "/" + limitText(limit) }

// sourcesAgainst has no figures where the contract requires no Sources section,
// because then the cap is not judged.
func sourcesAgainst(n int, contract Contract) string {
	if sourcesIndex(contract) < 0 {
		return "not judged"
	}
	return against(n, contract.MaxSources)
}

// Export is, in the format markdown, the prompts and nothing else, for another
// program: a line separates them.
func (p RetryPrompts) Export(format string) (document []byte, ok bool, err error) {
	if format != "markdown" {
		return nil, false, nil
	}
	for i, prompt := range p.Prompts {
		if i > 0 {
			document = append(document, "\n---\n\n"...)
		}
		document = append(document, prompt.PromptMD...)
	}
	return document, true, nil
}

// Report shows each prompt as it is to be sent.
func (p RetryPrompts) Report() report.Report {
	out := report.Report{
		Name: "wave_retry_prompt", Title: "Retry prompts",
		Summary: report.Counted(p.Validated, "output") + " judged, " + report.Counted(len(p.Prompts), "prompt") + " for " + strconv.Itoa(p.Failed) + " that failed.",
	}
	for _, prompt := range p.Prompts {
		out.Add(report.Heading(prompt.PerspectiveID))
		for _, obstacle := range prompt.Obstacles {
			out.Add(report.Paragraph("No output can pass: " + obstacle + "."))
		}
		out.Add(report.Preformatted(prompt.PromptMD))
	}
	if p.PromptsOmitted > 0 {
		out.Add(report.Paragraph(report.Counted(p.PromptsOmitted, "more output") + " failed; a higher --max-failures makes prompts for them."))
	}
	return out
}

// Validation is the result of [Validate] for an output that meets its contract.
type Validation struct {
	OK              codec.True `json:"ok"`
	PerspectiveID   string     `json:"perspective_id" jsonschema:"echo of the argument"`
	MarkdownPath    string     `json:"markdown_path" jsonschema:"echo of the argument"`
	Words           int        `json:"words" jsonschema:"tokens between white space, markup included"`
	Sources         int        `json:"sources" jsonschema:"lines of the Sources section; 0 when the contract does not require one"`
	MissingSections []string   `json:"missing_sections" jsonschema:"required titles without a heading; empty in a success"`

	contract Contract
}

// Validate judges one output, which messages call path. What does not meet the
// contract is an error of class [tidegate.NotMet]; beyond these it returns
// READ_FAILED, and what r returns with a code of its own.
func Validate(p Perspective, path string, r io.Reader) (Validation, error) {
	verdict, err := new(Judge).Judge(p.Contract, r)
	if err != nil {
		return Validation{}, Unreadable(tidegate.Pairs("markdown_path", path), path, err)
	}
	if failure := verdict.Failure(); failure != nil {
		return Validation{}, failure
	}
	return Validation{PerspectiveID: p.ID, MarkdownPath: path, Words: verdict.Words, Sources: verdict.Sources, contract: p.Contract}, nil
}

// Unreadable is READ_FAILED for an output that was opened and not read to its end,
// and an error that has a code as it is.
func Unreadable(details tidegate.Details, path string, err error) error {
	if tidegate.CodeOf(err) != tidegate.Internal {
		return err
	}
	return tidegate.Errorf(tidegate.ReadFailed, details, "%s cannot be read to its end: %w", path, err)
}
