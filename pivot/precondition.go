package pivot

import (
	"cmp"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/report"
)

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
