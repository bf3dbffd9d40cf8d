package change

import (
	"context"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// Resume lets a change that needs a person go on: a person accepts what stands in
// its way, and says why. An approval with doubts completes the change; fixes that
// a review asks for beyond the limit, or after major issues, begin. Where the log
// or a kept review is not as it was written, the person accepts the files as they
// are. A change that needs no person stays as it is.
//
// It returns INVALID_ARGS for a bad id, without accept and without a reason;
// GATE_BLOCKED for an agent; INVALID_STATE when another review came in while the
// person decided; and otherwise what [Advance] returns.
func Resume(ctx context.Context, desk run.Desk, project string, id string, accept bool, reason string) (Resumed, error) {
	const command = "tidegate change resume ID --accept --reason TEXT"
	if err := byPerson(ctx, id, "resumes a change that needs one", command); err != nil {
		return Resumed{}, err
	}
	if !accept {
		return Resumed{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("accept", accept), "accept must be given: `%s`", command)
	}
	if err := checkReason(reason); err != nil {
		return Resumed{}, err
	}
	folder, err := OpenFolder(ctx, desk, project, id)
	if err != nil {
		return Resumed{}, err
	}
	defer folder.Close()
	v, d, signature, err := enterToDecide(ctx, desk, folder, id, "change_resume", func(d *decision) { d.Reason = reason })
	if err != nil {
		return Resumed{}, err
	}
	defer v.leave()
	return v.resume(ctx, d, signature)
}

func (v *visit) resume(ctx context.Context, d decision, signature string) (Resumed, error) {
	id, folder, s, r := v.id, v.folder, v.s, v.r
	result := Resumed{ChangeID: id, From: s.phase, Phase: s.phase, Iteration: s.iteration, Reason: d.Reason, StatePath: v.path(stateFile)}
	if r.taken(d) {
		result.Message = "change " + id + " was resumed by this decision already"
		return result, nil
	}
	if err := r.admits(d); err != nil {
		return Resumed{}, err
	}
	more := d.details(signature)
	mismatch := r.checkFiles(folder, id)
	if mismatch != nil {
		if tidegate.CodeOf(mismatch) != tidegate.Tampered {
			return Resumed{}, mismatch
		}
		found, err := r.present(folder)
		if err != nil {
			return Resumed{}, err
		}
		r.accept(found)
		more = append(more, tidegate.Detail{Key: "digests", Value: found})
	}
	if err := r.checkLimit(folder, id, s); err != nil {
		return Resumed{}, err
	}
	needsPerson := r.needsPerson != "" || s.needsPerson != ""
	switch {
	case mismatch == nil && !needsPerson:
		result.Message = "change " + id + " needs no person"
		return result, nil
	case needsPerson && !slices.Contains(reviewedPhases, s.phase):
		return Resumed{}, blocked(id, s, "resumes only from "+Implementing+", "+Testing+" or "+CodeReviewing, reviewedPhases)
	}
	m := newMove(s, r)
	m.event, m.action, m.message = eventAccepted, actionAccepted, "the record of the change is accepted as it is"
	var j judged
	if needsPerson {
		var err error
		if j, err = judge(ctx, folder, r, id); err != nil {
			return Resumed{}, err
		}
		m.resume(s, r, j)
	}
	m.edit(s)
	result.Message, result.Verdict, result.Phase, result.Iteration, result.Changed = m.message, string(j.verdict), m.phase, m.iteration, true
	return result, v.commit(ctx, m, "change_resume", j, more)
}

// resume does what follows when a person accepts the review that asked for one.
func (m *move) resume(s *state, r *record, j judged) {
	switch {
	case j.verdict == review.Approved:
		m.phase, m.message = Complete, "accepted: the change is complete"
	case j.counted(s, r):
		m.message = "accepted: the fixes continue"
	case j.verdict == review.NeedsFix:
		m.fix(j)
		m.event, m.message = eventAccepted, "accepted: one more fix round begins"
	default:
		m.phase, m.message = Implementing, "accepted: what the review found is to be fixed"
		m.edits = append(m.edits, edit{key: keyCounted, value: j.identity})
	}
	m.action = actionAccepted
}
