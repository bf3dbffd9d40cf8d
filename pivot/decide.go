package pivot

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// Decision is the result of [Wave1.Decide].
type Decision struct {
	OK            codec.True `json:"ok"`
	Wave2Required bool       `json:"wave2_required" jsonschema:"true: run a second wave on wave2_gap_ids; false: continue with the citations"`
	RuleHit       string     `json:"rule_hit" jsonschema:"the rule that decided" enum:"Wave2Required.P0,Wave2Required.P1,Wave2Required.Volume,Wave2Skip.NoGaps"`
	Explanation   string     `json:"explanation" jsonschema:"the rule's template, filled in"`
	Metrics       Metrics    `json:"metrics"`
	Gaps          []Gap      `json:"gaps" jsonschema:"by priority, then by id"`
	Wave2GapIDs   []string   `json:"wave2_gap_ids" jsonschema:"the gaps that a second wave is to close; empty when it is skipped"`
	InputsDigest  string     `json:"inputs_digest" jsonschema:"digest of the gaps and the validation reports"`
	PivotPath     *string    `json:"pivot_path" jsonschema:"the file that was written; null when no run was named, or the run keeps no decision in its stage"`
	AuditWritten  bool       `json:"audit_written" jsonschema:"a line was added to the run's audit log"`

	Agents *float64 `json:"-"` // how many the run allows in wave 2; nil when none is named, or it does not say
}

// Wave1 is a first wave that can be decided on.
type Wave1 struct {
	Outputs  []Output // in byte order of the ids
	Explicit []Gap    // to decide on instead of those that the outputs state

	reports []Report // in the same order
}

// Check says whether a wave can be decided on. It returns, in the order in which
// things are looked at: INVALID_ARGS; WAVE1_NOT_VALIDATED, WAVE1_CONTRACT_NOT_MET,
// MISMATCHED_PERSPECTIVE_ID; DUPLICATE_GAP_ID, INVALID_GAP_PRIORITY; and
// PATH_NOT_ALLOWED for an output that lies outside its run.
func Check(in Input) (Wave1, error) {
	reports, err := in.check()
	if err != nil {
		return Wave1{}, err
	}
	outputs := byID(in.Outputs)
	slices.SortStableFunc(reports, func(a, b Report) int { return strings.Compare(a.PerspectiveID, b.PerspectiveID) })
	if err := checkPreconditions(outputs, reports); err != nil {
		return Wave1{}, err
	}
	explicit, err := explicitGaps(in.ExplicitGaps)
	if err != nil {
		return Wave1{}, err
	}
	for _, o := range outputs {
		if !filepath.IsAbs(o.Path) && !filepath.IsLocal(o.Path) {
			return Wave1{}, tidegate.Errorf(tidegate.PathNotAllowed, o.Details(), "the output of %q leaves the run's folder: %s", tidegate.Cut(o.PerspectiveID), o.Path)
		}
	}
	return Wave1{outputs, explicit, reports}, nil
}

// Named is the wave with the files in its reports named otherwise: a run names its
// own by names that hold wherever it lies.
func (w Wave1) Named(name func(path string) string) Wave1 {
	w.reports = slices.Clone(w.reports)
	for i, r := range w.reports {
		w.reports[i].MarkdownPath = name(r.MarkdownPath)
	}
	return w
}

// Decide decides by the rubric on gaps, which it puts in gap order: those that the
// outputs state, or [Wave1.Explicit].
func (w Wave1) Decide(gaps []Gap) Decision {
	if gaps == nil {
		gaps = []Gap{}
	}
	slices.SortFunc(gaps, func(a, b Gap) int {
		return cmp.Or(strings.Compare(a.Priority, b.Priority), strings.Compare(a.ID, b.ID))
	})
	out := Judge(gaps)
	return Decision{
		Wave2Required: out.Wave2Required, RuleHit: out.RuleHit, Explanation: out.Explanation, Metrics: out.Metrics,
		Gaps: gaps, Wave2GapIDs: out.Wave2GapIDs,
		// It covers everything that decides, and nothing else: no time, no order of arguments.
		InputsDigest: codec.Digest(tidegate.Pairs("gaps", gaps, "wave1_validation_reports", w.reports)),
	}
}

// checkPreconditions says whether wave 1 can be decided on. Both lists are
// sorted by perspective id. It returns, in this order over all reports,
// WAVE1_NOT_VALIDATED, WAVE1_CONTRACT_NOT_MET and MISMATCHED_PERSPECTIVE_ID.
func checkPreconditions(outputs []Output, reports []Report) error {
	for _, r := range reports {
		if !r.OK {
			return notValidated(r)
		}
	}
	for _, r := range reports {
		if len(r.MissingSections) > 0 {
			return tidegate.Errorf(tidegate.Wave1ContractNotMet,
				tidegate.Pairs("perspective_id", r.PerspectiveID, "missing_sections", r.MissingSections),
				"the report of %q lists %s", tidegate.Cut(r.PerspectiveID), report.Counted(len(r.MissingSections), "missing section"))
		}
	}
	return checkPairs(outputs, reports)
}

func notValidated(r Report) error {
	details, subject := tidegate.Pairs("perspective_id", r.PerspectiveID), "the output of "+tidegate.Cut(r.PerspectiveID)
	if r.PerspectiveID == "" {
		details, subject = tidegate.Pairs("perspective_id", nil, "index", r.index), "an output"
	}
	code, message := tidegate.Cut(r.failure.Get("code").Str()), tidegate.Cut(r.failure.Get("message").Str())
	if code == "" {
		return tidegate.Errorf(tidegate.Wave1NotValidated, details, "%s did not pass validation: its report has ok false", subject)
	}
	details = append(details, tidegate.Pairs("failure", tidegate.Pairs("code", code, "message", message))...)
	return tidegate.Errorf(tidegate.Wave1NotValidated, details, "%s did not pass validation: %s (%s)", subject, code, message)
}

// checkPairs walks both sorted lists: every id must be in each exactly once.
func checkPairs(outputs []Output, reports []Report) error {
	for len(outputs) > 0 || len(reports) > 0 {
		var id string
		switch {
		case len(outputs) == 0:
			id = reports[0].PerspectiveID
		case len(reports) == 0:
			id = outputs[0].PerspectiveID
		default:
			id = min(outputs[0].PerspectiveID, reports[0].PerspectiveID)
		}
		withOutput, withReport := 0, 0
		for withOutput < len(outputs) && outputs[withOutput].PerspectiveID == id {
			withOutput++
		}
		for withReport < len(reports) && reports[withReport].PerspectiveID == id {
			withReport++
		}
		if withOutput != 1 || withReport != 1 {
			return tidegate.Errorf(tidegate.MismatchedPerspectiveID,
				tidegate.Pairs("perspective_id", id, "wave1_outputs", withOutput, "wave1_validation_reports", withReport),
				"%q must have one output and one report, got %d and %d", tidegate.Cut(id), withOutput, withReport)
		}
		outputs, reports = outputs[1:], reports[1:]
	}
	return nil
}

// byID is a copy of outputs in byte order of their ids. Equal ids, which rule out
// a decision, are put in the order of their paths.
func byID(outputs []Output) []Output {
	sorted := slices.Clone(outputs)
	slices.SortFunc(sorted, func(a, b Output) int {
		return cmp.Or(strings.Compare(a.PerspectiveID, b.PerspectiveID), strings.Compare(a.Path, b.Path))
	})
	return sorted
}
