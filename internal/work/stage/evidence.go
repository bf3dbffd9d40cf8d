package stage

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ChooseEvidence takes a person's choice of how the sentences of a run's report are
// checked. It returns INVALID_STATE for a run that is final, and the errors of [run.Open] and [run.Run.Decide].
func ChooseEvidence(ctx context.Context, desk run.Desk, manifestPath string, choice run.EvidenceChoice) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Decide(ctx, run.Decision{What: run.ChooseEvidence, Fields: tidegate.Pairs("choice", choice)},
		run.Unfinished(func(u *run.Update) error { return u.ChooseEvidence(choice) }))
	return err
}
