package change

import (
	"context"
	"path/filepath"
	"slices"
	"time"
)

// Start begins the implementation of a change: a planned one becomes
// implementing. A change that has no STATE.yaml, or no folder, is made and named
// in a warning. One that is being implemented already stays as it is.
//
// It returns INVALID_ARGS for a bad id, GATE_BLOCKED, with what is allowed, for
// any other phase, and otherwise what [Advance] returns.
func Start(ctx context.Context, project string, now func() time.Time, id string) (Started, error) {
	folder, _, err := openOrMake(ctx, project, id)
	if err != nil {
		return Started{}, err
	}
	defer folder.Close()
	lock, err := folder.Lock(ctx, now)
	if err != nil {
		return Started{}, err
	}
	defer lock.Unlock()
	result := Started{ChangeID: id, Phase: Implementing, StatePath: filepath.Join(folder.Path(), stateFile), Warnings: []string{}}
	there, err := folder.Exists(stateFile)
	if err != nil {
		return Started{}, err
	}
	if !there {
		result.Changed = true
		result.Message = "change " + id + " is started"
		result.Warnings = append(result.Warnings, changesDir+"/"+id+"/"+stateFile+" did not exist and was made")
		tx := lock.Begin()
		if err := tx.Write(stateFile, fresh(id, now())); err != nil {
			return Started{}, err
		}
		return result, tx.Commit()
	}
	s, err := readState(folder)
	if err != nil {
		return Started{}, err
	}
	result.From, result.Phase = s.phase, s.phase
	if slices.Contains(startedPhases, s.phase) {
		result.Message = "change " + id + " is started already"
		return result, nil
	}
	if s.phase != Planned {
		return Started{}, blocked(id, s, "starts only from "+Planned, []string{Planned})
	}
	text, err := s.edited(result.StatePath, actionStarted, now(), []edit{{key: keyPhase, value: Implementing}})
	if err != nil {
		return Started{}, err
	}
	result.Phase, result.Changed = Implementing, true
	result.Message = "change " + id + " is started"
	tx := lock.Begin()
	if err := tx.Write(stateFile, text); err != nil {
		return Started{}, err
	}
	return result, tx.Commit()
}
