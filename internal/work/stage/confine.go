package stage

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Confine records how the agents of a run are kept from now on. That they are not is a
// person's decision. It returns INVALID_STATE for a run that is final, and the errors of
// [run.Open] and [run.Run.Decide].
func Confine(ctx context.Context, desk run.Desk, manifestPath string, c run.Confinement) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	set := run.Unfinished(func(u *run.Update) error { return u.SetConfinement(c) })
	if c.Mode == run.ModeUnconfined {
		_, err = r.Decide(ctx, run.Decision{What: run.Confine, Fields: tidegate.Pairs("mode", c.Mode)}, set)
	} else {
		_, err = r.Update(ctx, set)
	}
	return err
}
