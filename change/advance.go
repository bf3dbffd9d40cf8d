package change

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/artifact"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/review"
)

// Advance moves a change on by its review: APPROVED completes it; NEEDS_FIX
// begins another fix round, up to maxRounds of them; MAJOR_ISSUES, and NEEDS_FIX
// beyond the limit, need a person, and STATE.yaml says why. One review counts
// for one round, however often it is advanced. A change that is complete stays
// as it is.
//
// It returns INVALID_ARGS for a bad id or a limit below 0; NOT_FOUND naming the
// folder, STATE.yaml or REVIEW.md; SCHEMA_VALIDATION_FAILED for a STATE.yaml
// that cannot be understood; GATE_BLOCKED, with what is allowed, for any other
// phase and for a review whose verdict is not clear to every reader;
// INVALID_STATE when STATE.yaml cannot be changed in place; LOCK_HELD,
// CANCELLED, READ_FAILED and WRITE_FAILED.
func Advance(ctx context.Context, project string, now func() time.Time, id string, maxRounds int) (Advanced, error) {
	if maxRounds < 0 {
		return Advanced{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.D("max_rounds", maxRounds),
			"max_rounds must be at least 0, got %d", maxRounds)
	}
	folder, err := open(ctx, project, id)
	if err != nil {
		return Advanced{}, err
	}
	defer folder.Close()
	// The lock leaves a file behind, which a folder without a state should not get.
	if _, err := readState(folder); err != nil {
		return Advanced{}, err
	}
	lock, err := folder.Lock(ctx, now)
	if err != nil {
		return Advanced{}, err
	}
	defer lock.Unlock()
	s, err := readState(folder)
	if err != nil {
		return Advanced{}, err
	}
	result := Advanced{
		ChangeID: id, From: s.phase, Phase: s.phase, Iteration: s.iteration, MaxRounds: maxRounds,
		NeedsPerson: s.needsPerson, StatePath: filepath.Join(folder.Path(), stateFile), ReviewPath: filepath.Join(folder.Path(), reviewFile),
	}
	if s.phase == Complete {
		result.Message = "change " + id + " is already complete"
		return result, nil
	}
	if !slices.Contains(reviewedPhases, s.phase) {
		return Advanced{}, blocked(id, s, "advances only from "+Implementing+", "+Testing+" or "+CodeReviewing, reviewedPhases)
	}
	verdict, identity, err := readReview(folder, id)
	if err != nil {
		return Advanced{}, err
	}
	result.Verdict = string(verdict)
	m := decide(s, verdict, identity, maxRounds)
	m.describe(&result)
	if len(m.edits) == 0 {
		return result, nil
	}
	result.Changed = true
	text, err := s.edited(result.StatePath, m.action, now(), m.edits)
	if err != nil {
		return Advanced{}, err
	}
	tx := lock.Begin()
	if err := tx.Write(stateFile, text); err != nil {
		return Advanced{}, err
	}
	return result, tx.Commit()
}

// move is what a review does to a state.
type move struct {
	phase       string
	iteration   int64
	needsPerson string
	action      string // for last_action
	message     string
	edits       []edit // none when the state says it all already
}

// decide is the rule of the fix loop. Nothing is edited that is as it should
// be, so that advancing twice by one review writes once.
func decide(s *state, verdict review.Verdict, identity string, maxRounds int) move {
	m := move{phase: s.phase, iteration: s.iteration}
	used := s.iteration - 1
	switch {
	case verdict == review.Approved:
		m.phase, m.action, m.message = Complete, actionApproved, "approved: the change is complete"
	case verdict == review.MajorIssues:
		m.needsPerson, m.action = "the review found major issues", actionPerson
	case s.counted == identity:
		m.message = fmt.Sprintf("fix round %d of %d is under way for this review already", used, maxRounds)
	case used >= int64(maxRounds):
		m.needsPerson = fmt.Sprintf("the review asks for fixes, but %d of %d fix rounds are used", used, maxRounds)
		m.action = actionPerson
	default:
		m.phase, m.iteration, m.action = Implementing, s.iteration+1, actionNeedsFix
		m.message = fmt.Sprintf("needs fixes: round %d of %d", used+1, maxRounds)
		m.edits = append(m.edits, edit{key: keyCounted, value: identity},
			edit{key: keyIteration, value: strconv.FormatInt(m.iteration, 10), bare: true})
	}
	if m.needsPerson != "" {
		m.message = "a person is needed: " + m.needsPerson
	}
	if m.phase != s.phase {
		m.edits = append(m.edits, edit{key: keyPhase, value: m.phase})
	}
	switch {
	case m.needsPerson == s.needsPerson:
	case m.needsPerson == "":
		m.edits = append(m.edits, edit{key: keyNeedsPerson, remove: true})
	default:
		m.edits = append(m.edits, edit{key: keyNeedsPerson, value: m.needsPerson})
	}
	return m
}

func (m move) describe(r *Advanced) {
	r.Phase, r.Iteration, r.NeedsPerson, r.Message = m.phase, m.iteration, m.needsPerson, m.message
}

// blocked is GATE_BLOCKED for a phase that a move does not begin from.
func blocked(id string, s *state, rule string, allowed []string) error {
	return tidegate.Errorf(tidegate.GateBlocked,
		tidegate.D("change_id", id, "phase", s.written, "allowed", allowed, "next", nextStep(id, s.phase)),
		"change %s is in phase %s and %s", id, s.written, rule)
}

// readState reads STATE.yaml. It returns NOT_FOUND naming it.
func readState(folder *artifact.Folder) (*state, error) {
	path := filepath.Join(folder.Path(), stateFile)
	text, err := readIfThere(folder, stateFile)
	if err != nil {
		return nil, err
	}
	if text == nil {
		return nil, tidegate.Errorf(tidegate.FileNotFound, tidegate.D("state_path", path), "the change has no STATE.yaml, which `tidegate change start` makes: %s", path)
	}
	return parseState(path, text)
}

// readReview is the verdict of REVIEW.md, and what tells this review from every
// other: its number in the history and its digest. A verdict that is not clear,
// that Agentd reads differently, or that belongs to another change is
// GATE_BLOCKED.
func readReview(folder *artifact.Folder, id string) (review.Verdict, string, error) {
	path := filepath.Join(folder.Path(), reviewFile)
	data, err := readIfThere(folder, reviewFile)
	if err != nil {
		return "", "", err
	}
	if data == nil {
		return "", "", tidegate.Errorf(tidegate.FileNotFound, tidegate.D("review_path", path), "the change has no REVIEW.md: %s", path)
	}
	shown := review.Show(path, data)
	unclear := func(reason string) error {
		return tidegate.Errorf(tidegate.GateBlocked, tidegate.D("review_path", path, "verdict", shown.Verdict,
			"agentd_verdict", shown.AgentdVerdict, "problems", shown.Problems, "allowed", review.Verdicts), "%s", reason)
	}
	reading := review.Read(data)
	switch {
	case reading.Verdict == "":
		return "", "", unclear("REVIEW.md states no clear verdict: " + shown.Problems[0])
	case !shown.Agree:
		return "", "", unclear(fmt.Sprintf("REVIEW.md says %s, but Agentd reads %s", shown.Verdict, shown.AgentdVerdict))
	case reading.Complete && reading.Payload.ChangeID != id:
		return "", "", unclear(fmt.Sprintf("REVIEW.md is a review of change %s", reading.Payload.ChangeID))
	}
	numbers, err := history(folder)
	if err != nil {
		return "", "", err
	}
	return reading.Verdict, fmt.Sprintf("%d %s", last(numbers), codec.DigestBytes(data)), nil
}
