package sourcing

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
