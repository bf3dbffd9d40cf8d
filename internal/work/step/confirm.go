package step

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// ConfirmPlan is a person's yes to the perspectives of a run: its first wave may
// be planned by them. The yes is for the bytes that the person saw, by their
// digest. A run that does not wait for a yes stays as it is.
//
// It returns REVISION_MISMATCH when the perspectives have changed since,
// NOT_FOUND when there are none, INVALID_STATE for a run that is final, and the
// errors of [run.Open] and [run.Run.Decide].
func ConfirmPlan(ctx context.Context, desk run.Desk, manifestPath, digest string) error {
	r, err := run.Open(ctx, desk, manifestPath)
	if err != nil {
		return err
	}
	defer r.Close()
	decision := run.Decision{What: run.ConfirmPlan, Fields: tidegate.Pairs("perspectives", digest)}
	_, err = r.Decide(ctx, decision, run.Unfinished(func(u *run.Update) error {
		policy, err := u.Run().Policy()
		if err != nil || !policy.ConfirmPlan {
			return err
		}
		data, err := u.Run().Folder().Read(r.Layout().Perspectives)
		if err != nil {
			return err
		}
		if now := codec.DigestBytes(data); now != digest {
			return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.Pairs("expected", digest, "actual", now),
				"the perspectives have changed since they were shown")
		}
		return u.PlanConfirmed(digest, "a person said yes")
	}))
	return err
}
