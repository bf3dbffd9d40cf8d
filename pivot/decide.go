package pivot

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
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
