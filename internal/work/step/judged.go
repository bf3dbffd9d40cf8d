package step

import (
	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// WriteJudgement stages one judgement, with the digests of what was judged and more
// fields of its line.
func WriteJudgement(u *run.Update, found run.Judgement, patch *codec.Value, reason string, more ...tidegate.Detail) (run.Gates, error) {
	if err := notAccepted(u, found.Gate); err != nil {
		return run.Gates{}, err
	}
	update := codec.NewObject()
	update.Set(found.Gate, patch)
	after, err := u.EditGates(update, found.InputsDigest, reason, more...)
	if err == nil {
		logJudged(u, found)
	}
	return after, err
}

// notAccepted returns INVALID_STATE when a person accepted the gate, it still
// counts, and the caller is not a person.
func notAccepted(u *run.Update, id string) error {
	if u.Actor().Kind == tidegate.Person {
		return nil
	}
	gates, err := u.Gates()
	if err != nil {
		return err
	}
	state, err := u.Run().GateState(gates, id)
	if err != nil || state.Accepted == nil || !state.Passed() {
		return err
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("gate", id, "accepted", state.Accepted),
		"a person accepted gate %s, and what it is about has not changed since; only a person writes over that", id)
}

// logJudged records the files on which a gate passed, so that the log covers them
// from here on, whoever wrote them. A gate that fails covers nothing: its files may
// have been edited, and run verify must go on saying so.
func logJudged(u *run.Update, found run.Judgement) {
	files := codec.NewObject()
	for _, m := range found.Bound.Value().Get("files").Members() {
		if found.Passed() && m.Key != run.ManifestFile && m.Value.Kind() == codec.String {
			files.Set(m.Key, m.Value)
		}
	}
	u.Log(run.EventJudged, "gate_judged", tidegate.Pairs("gate", found.Gate, "status", found.Status(), "inputs_digest", found.InputsDigest,
		"warnings", found.Said(), "files", files))
}
