package change

import (
	"cmp"
	"context"
	"slices"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
)

// Start begins the implementation of a change: a planned one becomes
// implementing. A change that has no STATE.yaml, or no folder, is made and named
// in a warning. One that is being implemented already stays as it is.
//
// MaxRounds, unless it is nil, is how many fix rounds there may be before a person
// is needed; STATE.yaml and the log keep it. Only a person may set it, also while
// the change is being implemented, and it lets a change go on that waits because
// its rounds are used up.
//
// It returns INVALID_ARGS for a bad id or a limit below 0, GATE_BLOCKED, with
// what is allowed, for any other phase and for a limit that an agent gives,
// TAMPERED when the log or a kept review is not as it was written, and otherwise
// what [Advance] returns.
func Start(ctx context.Context, desk run.Desk, project string, id string, maxRounds *int64) (Started, error) {
	if maxRounds != nil {
		if *maxRounds < 0 {
			return Started{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("max_rounds", *maxRounds), "max_rounds must be at least 0, got %d", *maxRounds)
		}
		if err := byPerson(ctx, id, "sets how many fix rounds there may be", "tidegate change start "+id+" --max-rounds N"); err != nil {
			return Started{}, err
		}
	}
	folder, _, err := openOrMake(ctx, desk, project, id)
	if err != nil {
		return Started{}, err
	}
	defer folder.Close()
	d, err := limitDecision(ctx, desk, folder, id, maxRounds)
	if err != nil {
		return Started{}, err
	}
	signature := ""
	if d != nil {
		if signature, err = d.sign(ctx, desk, folder); err != nil {
			return Started{}, err
		}
	}
	v, err := enter(ctx, desk, folder, id, fresh(id, desk.Now()))
	if err != nil {
		return Started{}, err
	}
	defer v.leave()
	s, r := v.s, v.r
	m := newMove(s, r)
	m.needsPerson, m.cause = cmp.Or(r.needsPerson, s.needsPerson), r.cause
	switch {
	case s.phase == Planned:
		m.phase, m.event, m.action, m.message = Implementing, eventStarted, actionStarted, "change "+id+" is started"
	case slices.Contains(startedPhases, s.phase):
		m.message = "change " + id + " is started already"
	default:
		return Started{}, blocked(id, s, "starts only from "+Planned, []string{Planned})
	}
	var more tidegate.Details
	if d != nil && !r.taken(*d) {
		if err := r.admits(*d); err != nil {
			return Started{}, err
		}
		if err := r.checkFiles(folder, id); err != nil {
			return Started{}, err
		}
		m.setLimit(r, *maxRounds)
		more = append(tidegate.Pairs("max_rounds", *maxRounds), d.details(signature)...)
	}
	result := Started{Message: m.message, ChangeID: id, From: s.phase, Phase: m.phase, Changed: m.event != "", StatePath: v.path(stateFile), Warnings: []string{}}
	if v.isNew {
		result.From = ""
		result.Warnings = append(result.Warnings, git.ChangesDir(desk)+"/"+id+"/"+stateFile+" did not exist and was created")
	}
	if !result.Changed {
		return result, nil
	}
	m.edit(s)
	return result, v.commit(ctx, m, "change_start", judged{}, more)
}

// limitDecision is the decision of a person who gives a limit, nil without one.
func limitDecision(ctx context.Context, desk run.Desk, folder *artifact.Folder, id string, maxRounds *int64) (*decision, error) {
	if maxRounds == nil {
		return nil, nil
	}
	r, err := readToDecide(ctx, desk, folder, id)
	if err != nil {
		return nil, err
	}
	d := r.decision(id, "change_start")
	d.MaxRounds = maxRounds
	return &d, nil
}

// setLimit keeps the limit of fix rounds, and lets a change go on that waits for
// a higher one.
func (m *move) setLimit(r *record, limit int64) {
	if m.event == "" {
		m.action = actionLimit
	}
	m.event = eventLimit
	m.message += ", with a limit of " + strconv.FormatInt(limit, 10) + " fix rounds"
	m.edits = append(m.edits, edit{key: keyMaxRounds, value: strconv.FormatInt(limit, 10), bare: true})
	if r.cause == causeLimit && m.iteration-1 < limit {
		m.needsPerson, m.cause = "", ""
	}
}
