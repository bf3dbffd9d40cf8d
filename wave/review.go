package wave

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Outputs are the outputs of a wave, wherever they lie.
type Outputs struct {
	Perspectives []Perspective // whose outputs to judge; results come in this order
	// Open opens the output of the i-th perspective. An error with the code
	// NOT_FOUND says that there is none. It is called from several goroutines.
	Open func(i int) (io.ReadCloser, error)
	// Path is what results call that output.
	Path        func(i int) string
	MaxFailures int // most outputs to name among those that failed; all are judged
	// Progress gets how many outputs have been judged; it may be nil. It may be
	// called from several goroutines.
	Progress func(done, total int)
}

// ReviewResult is the judgement of a wave.
type ReviewResult struct {
	OK               codec.True       `json:"ok"`
	Pass             bool             `json:"pass" jsonschema:"true when every output meets its contract"`
	PerspectivesPath string           `json:"perspectives_path" jsonschema:"echo of the argument"`
	OutputsDir       string           `json:"outputs_dir" jsonschema:"echo of the argument"`
	Validated        int              `json:"validated" jsonschema:"how many outputs were judged"`
	Failed           int              `json:"failed" jsonschema:"how many of them failed"`
	Results          []OutputResult   `json:"results" jsonschema:"one entry per perspective, in byte order of the ids"`
	RetryDirectives  []RetryDirective `json:"retry_directives" jsonschema:"what to change in the outputs that failed, at most max_failures of them"`
	Bounded          BoundedReport    `json:"report" jsonschema:"a summary of fixed size"`
	ReportPath       *string          `json:"report_path" jsonschema:"where the report was written, else null"`
}

// Passed reports whether every output meets its contract.
func (r ReviewResult) Passed() bool { return r.Pass }

// OutputResult is the judgement of one output of a wave.
type OutputResult struct {
	PerspectiveID string   `json:"perspective_id"`
	MarkdownPath  string   `json:"markdown_path"`
	Pass          bool     `json:"pass"`
	Metrics       Metrics  `json:"metrics"`
	Failure       *Failure `json:"failure" jsonschema:"the error that deep_research_wave_output_validate answers for this output, null when it passes"`

	contract *Contract
	faults   []Fault
	missing  bool // the file is not there
}

// Metrics are the figures of one output.
type Metrics struct {
	Words           int      `json:"words" jsonschema:"tokens between white space, markup included"`
	Sources         int      `json:"sources" jsonschema:"well-formed lines of the Sources section; 0 when the contract does not require one"`
	MissingSections []string `json:"missing_sections" jsonschema:"required titles without a heading, in contract order"`
}

// Failure is an error as it stands in an envelope.
type Failure struct {
	Code    tidegate.Code    `json:"code"`
	Message string           `json:"message"`
	Details tidegate.Details `json:"details"`
}

// RetryDirective says how an orchestrator can have one output written again.
type RetryDirective struct {
	PerspectiveID     string        `json:"perspective_id"`
	Action            string        `json:"action" enum:"retry"`
	ChangeNote        string        `json:"change_note" jsonschema:"what the agent has to change, at most 200 characters"`
	BlockingErrorCode tidegate.Code `json:"blocking_error_code"`
}

// BoundedReport is the part of a review whose size does not grow with the wave.
type BoundedReport struct {
	FailuresSample  []string `json:"failures_sample" jsonschema:"the first ids that failed, at most max_failures of them"`
	FailuresOmitted int      `json:"failures_omitted" jsonschema:"how many more failed"`
	Notes           string   `json:"notes"`
}

// Review judges the outputs of a wave, each in one pass, on all cores. Outputs that
// fail are data, not errors. It returns SCHEMA_VALIDATION_FAILED without
// perspectives, because a review of nothing must not pass; OUTPUT_NOT_FOUND, which
// names the outputs that are missing; the first other error of Open in the order of
// perspectives; READ_FAILED and CANCELLED.
func Review(ctx context.Context, o Outputs) (ReviewResult, error) { return review(ctx, o, false) }

// ReviewThere judges a wave of which some outputs are missing, for a person who
// wants to see the others all the same. Those that are missing have failed with
// OUTPUT_NOT_FOUND. It returns the errors of [Review] except that one.
func ReviewThere(ctx context.Context, o Outputs) (ReviewResult, error) { return review(ctx, o, true) }

func review(ctx context.Context, o Outputs, partial bool) (ReviewResult, error) {
	results, err := judgeAll(ctx, o, partial)
	if err != nil {
		return ReviewResult{}, err
	}
	review := ReviewResult{Validated: len(results), Results: results}
	for _, r := range results {
		if r.Pass {
			continue
		}
		review.Failed++
		if review.Failed > o.MaxFailures {
			review.Bounded.FailuresOmitted++
			continue
		}
		review.Bounded.FailuresSample = append(review.Bounded.FailuresSample, r.PerspectiveID)
		review.RetryDirectives = append(review.RetryDirectives, RetryDirective{
			PerspectiveID: r.PerspectiveID, Action: "retry", ChangeNote: tidegate.Cut(r.faults[0].ChangeNote), BlockingErrorCode: r.Failure.Code,
		})
	}
	review.Pass = review.Failed == 0
	review.Bounded.Notes = "All perspectives passed wave output contract validation."
	if !review.Pass {
		review.Bounded.Notes = fmt.Sprintf("%d/%d perspectives failed contract validation; retry directives emitted.", review.Failed, review.Validated)
	}
	return review, nil
}

// judgeAll judges outputs. With partial, a missing output is a result as well, not
// an error.
func judgeAll(ctx context.Context, o Outputs, partial bool) ([]OutputResult, error) {
	n := len(o.Perspectives)
	if n == 0 {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", "$.perspectives"),
			"$.perspectives is empty; a review needs at least one perspective")
	}
	b := &batch{Outputs: o, partial: partial, results: make([]OutputResult, n), faults: make([]error, n)}
	err := parallel.Each(ctx, n, o.Progress, func() func(int) error {
		var judge Judge
		return func(i int) error {
			b.faults[i] = b.judge(&judge, i)
			return nil
		}
	})
	if err != nil {
		return nil, err
	}
	return b.results, b.failure()
}

// batch is the work that the workers of one review share. None of them stops at
// an output that cannot be judged: which others are missing belongs to the answer.
type batch struct {
	Outputs
	partial bool
	results []OutputResult
	faults  []error     // why an output could not be judged, by its index
	absent  atomic.Bool // an output is missing: all that matters is which others are
}

func (b *batch) judge(judge *Judge, i int) error {
	p, path := &b.Perspectives[i], b.Path(i)
	output, err := b.Open(i)
	if err != nil {
		switch {
		case tidegate.CodeOf(err) != tidegate.FileNotFound:
		case b.partial:
			b.results[i] = missing(p, path)
			return nil
		default:
			b.absent.Store(true)
		}
		return err
	}
	defer output.Close()
	if b.absent.Load() {
		return nil
	}
	verdict, err := judge.Judge(p.Contract, output)
	if err != nil {
		return Unreadable(nil, path, err)
	}
	result := OutputResult{
		PerspectiveID: p.ID, MarkdownPath: path, Pass: true,
		Metrics:  Metrics{Words: verdict.Words, Sources: verdict.Sources, MissingSections: verdict.MissingSections},
		contract: &p.Contract, faults: verdict.Faults,
	}
	if failure := verdict.Failure(); failure != nil {
		result.Pass, result.Failure = false, &Failure{failure.Code, failure.Message, failure.Details}
	}
	b.results[i] = result
	return nil
}

// missing is the result for an output that is not there.
func missing(p *Perspective, path string) OutputResult {
	err := tidegate.AsError(notFound(p.ID, path, nil))
	return OutputResult{PerspectiveID: p.ID, MarkdownPath: path, contract: &p.Contract, missing: true,
		Failure: &Failure{err.Code, err.Message, err.Details}, faults: []Fault{{Error: tidegate.AsError(tidegate.Errorf(err.Code, nil, "the file is not there")), ChangeNote: "Write the output."}}}
}

func notFound(id, path string, details tidegate.Details) error {
	return tidegate.Errorf(tidegate.OutputNotFound, details, "the output of %s is missing: expected %s", id, path)
}

// failure is what stopped the review, or nil: missing outputs first, then the
// first output in order that cannot be read.
func (b *batch) failure() error {
	var missing, unreadable []int
	for i, err := range b.faults {
		switch {
		case err == nil:
		case tidegate.CodeOf(err) == tidegate.FileNotFound:
			missing = append(missing, i)
		default:
			unreadable = append(unreadable, i)
		}
	}
	switch {
	case len(missing) > 0:
		return b.notFound(missing)
	case len(unreadable) > 0:
		return tidegate.WithDetails(b.faults[unreadable[0]], b.details(unreadable[0]))
	}
	return nil
}

func (b *batch) notFound(missing []int) error {
	first := missing[0]
	details := b.details(first)
	if len(missing) > 1 {
		ids := make([]string, 0, min(len(missing), b.MaxFailures))
		for _, i := range missing[:cap(ids)] {
			ids = append(ids, b.Perspectives[i].ID)
		}
		details = append(details, tidegate.Pairs("missing_perspective_ids", ids)...)
	}
	return notFound(b.Perspectives[first].ID, b.Path(first), details)
}

func (b *batch) details(i int) tidegate.Details {
	return tidegate.Pairs("perspective_id", b.Perspectives[i].ID, "markdown_path", b.Path(i))
}

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
