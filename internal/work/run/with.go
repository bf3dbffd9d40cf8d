package run

import "context"

// With opens a run, hands it to do with the result to fill in, and closes it. It
// returns the errors of [Open] and those of do, and no result beside an error.
func With[T any](ctx context.Context, desk Desk, manifestPath string, do func(r *Run, out *T) error, uses ...string) (T, error) {
	var out, none T
	r, err := Open(ctx, desk, manifestPath, uses...)
	if err != nil {
		return none, err
	}
	defer r.Close()
	if err := do(r, &out); err != nil {
		return none, err
	}
	return out, nil
}

// Unfinished is a change that a run which is final refuses, with INVALID_STATE.
func Unfinished(change func(*Update) error) func(*Update) error {
	return func(u *Update) error {
		if err := u.NotFinal(); err != nil {
			return err
		}
		return change(u)
	}
}
