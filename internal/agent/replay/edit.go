package replay

import (
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/work/run"
)

// edited does again what a decision, or a failure, wrote into manifest or policy.
// The decision itself is taken from the log; its effect on the documents is
// compared.
func edited(s *scene) error {
	change := s.editOf(s.line)
	if change == nil {
		return errGiven
	}
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Update(s.ctx, s.clock, change)
	return err
}

// retried gives a job its tries again, as a person did. The run keeps only the last of
// these decisions, and prompts show the one that stood then.
func retried(s *scene) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Update(s.ctx, s.clock, func(u *run.Update) error { return u.ForgetAttempts(s.line.get("job_id"), s.line.get("note")) })
	return err
}

// editOf is the edit that a line records, nil where the line does not show it.
func (s *scene) editOf(l line) func(u *run.Update) error {
	reason := l.get("reason")
	switch {
	case l.event == run.EventStatus:
		return func(u *run.Update) error {
			_, err := u.SetStatus(run.Status(l.get("status")), reason)
			return err
		}
	case l.event == run.EventFailed:
		return func(u *run.Update) error { return s.fail(u, l) }
	case l.event == run.EventLimit && l.kind == "policy_write":
		to, _ := l.entry.Get("to").Float()
		return func(u *run.Update) error { return u.SetBudget(l.get("limit"), to, reason) }
	case l.event == run.EventLimit:
		to, _ := l.entry.Get("to").Int()
		return func(u *run.Update) error {
			_, err := u.SetLimit(l.get("limit"), to, reason)
			return err
		}
	case l.event == run.EventPatched && l.entry.Get("patch") != nil:
		return func(u *run.Update) error {
			_, err := u.Patch(l.entry.Get("patch"), nil, reason)
			return err
		}
	case l.event == run.EventRetried:
		return func(u *run.Update) error { return s.retry(u, l) }
	case l.event == run.EventProgress:
		label := l.get("progress")
		return func(u *run.Update) error {
			return u.Progress(strings.TrimSuffix(reason, " [progress:"+label+"]"), label)
		}
	case l.event == run.EventAccepted && l.get("what") == "plan":
		return func(u *run.Update) error { return u.PlanConfirmed(l.get("perspectives"), reason) }
	case l.event == run.EventAccepted && l.get("what") == "failure":
		return func(u *run.Update) error { return s.accept(u, l) }
	}
	return nil
}

// fail does a failure again, as the manifest keeps it.
func (s *scene) fail(u *run.Update, l line) error {
	m, err := u.Manifest()
	if err != nil {
		return err
	}
	all := s.kept.Manifest().Failures()
	if len(m.Failures()) >= len(all) {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the manifest does not keep the failure")
	}
	kept := all[len(m.Failures())]
	failure := run.Failure{Kind: kept.Get("kind").Str(), Stage: run.Stage(kept.Get("stage").Str()), Message: kept.Get("message").Str(),
		Code: tidegate.Code(kept.Get("code").Str()), Gate: kept.Get("gate_id").Str()}
	failure.Count, _ = kept.Get("count").Int()
	for _, j := range kept.Get("jobs").Elems() {
		attempts, _ := j.Get("attempts").Int()
		failure.Jobs = append(failure.Jobs, run.JobTries{ID: j.Get("job_id").Str(), Attempts: int(attempts)})
	}
	_, err = u.Fail(run.Status(l.get("status")), failure, l.get("reason"))
	return err
}

// accept does a person's acceptance of failures again: of those that the manifest
// says were accepted then.
func (s *scene) accept(u *run.Update, l line) error {
	m, err := u.Manifest()
	if err != nil {
		return err
	}
	all := s.kept.Manifest().Failures()
	why, gate, others := "", "", false
	for i, f := range m.Failures() {
		switch {
		case i >= len(all) || f.Get("accepted_at") != nil:
		case all[i].Get("accepted_at").Str() == l.get("ts"):
			why, gate = all[i].Get("accepted_reason").Str(), f.Get("gate_id").Str()
		default:
			others = true
		}
	}
	if others {
		return u.AcceptGateFailures(gate, why, l.get("reason"))
	}
	_, err = u.AcceptFailures(run.Status(l.get("status")), why, l.get("reason"))
	return err
}

// retry does again what counts one more attempt at a gate.
func (s *scene) retry(u *run.Update, l line) error {
	m, err := u.Manifest()
	if err != nil {
		return err
	}
	all := s.kept.Manifest().Doc().Get("metrics").Get("retry_history").Elems()
	at := m.Doc().Get("metrics").Get("retry_history").Len()
	if at >= len(all) {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the manifest does not keep the attempt")
	}
	attempt, _ := l.entry.Get("attempt").Int()
	_, err = u.Retry(l.get("gate"), attempt, all[at].Get("change_note").Str(), all[at].Get("reason").Str(), l.get("reason"))
	return err
}
