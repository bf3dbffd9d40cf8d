package step

import (
	"context"

	"github.com/tidegate/tidegate/internal/work/run"
)

// CheckFresh is [SourceChecker.Check] by all the evidence of a run, read from the
// beginning.
func CheckFresh(ctx context.Context, desk run.Desk, fetch Fetch, r *run.Run, in SubmittedSources) ([]SourceFault, error) {
	e, err := openArchived(ctx, r)
	if err != nil {
		return nil, err
	}
	return e.check(ctx, desk, fetch, submittedSources(in), in)
}

// NotEnded is why a report is partial.
var NotEnded = notEnded

// Roles are those that agents have in a report.
func Roles() (list []string) {
	for _, r := range roles {
		list = append(list, r.role)
	}
	return list
}

// Readers are how a report names those who read it and were no agents that tidegate drove.
var Readers = []string{readByPerson, readByHand}
