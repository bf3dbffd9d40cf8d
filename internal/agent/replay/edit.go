package replay

import (
	"encoding/json"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// Operations that do again what a decision, or a failure, wrote into manifest, policy
// or the folder of a job. The decision itself is taken from the log; its effect on the
// documents is compared.

func (s *scene) update(change func(u *run.Update) error) error {
	r, err := s.open()
	if err != nil {
		return err
	}
	defer r.Close()
	_, err = r.Update(s.ctx, change)
	return err
}

func statusSet(s *scene) error {
	return s.update(func(u *run.Update) error { return u.SetStatus(run.Status(s.line.get("status")), s.reason()) })
}

func failed(s *scene) error {
	failure := run.Failure{}
	text, err := codec.MarshalLine(s.args)
	if err == nil {
		err = json.Unmarshal(text, &failure)
	}
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the log does not say what failed: %w", err)
	}
	failure.Kind, failure.Message = s.line.get("failure"), s.line.get("message")
	return s.update(func(u *run.Update) error { return u.Fail(run.Status(s.line.get("status")), failure, s.reason()) })
}

func progressed(s *scene) error {
	label := s.line.get("progress")
	return s.update(func(u *run.Update) error {
		return u.Progress(strings.TrimSuffix(s.reason(), " [progress:"+label+"]"), label)
	})
}

// manifestSet does another edit of the manifest: a limit, or that a person accepted
// failures.
func manifestSet(s *scene) error {
	switch s.line.event {
	case run.EventLimit:
		to, _ := s.line.entry.Get("to").Int()
		return s.update(func(u *run.Update) error { return u.SetLimit(s.line.get("limit"), to, s.reason()) })
	case run.EventAccepted:
		return accepted(s)
	}
	return tidegate.Errorf(tidegate.InvalidState, nil, "no rule writes a manifest for the event %q", tidegate.Cut(string(s.line.event)))
}

func accepted(s *scene) error {
	return s.update(func(u *run.Update) error { return accept(u, s.line, s.args) })
}

// accept stages that a person accepted failures, as a line says.
func accept(u *run.Update, l line, args *codec.Value) error {
	why, reason := args.Get("why").Str(), l.get("reason")
	if gate := args.Get("gate"); gate != nil {
		return u.AcceptGateFailures(gate.Str(), why, reason)
	}
	return u.AcceptFailures(run.Status(l.get("status")), why, reason)
}

// policySet does an edit of the policy: a limit of the budget, how sentences are
// checked, how agents are kept, or a person's yes to the plan.
func policySet(s *scene) error {
	if s.line.event == run.EventConfinement {
		return s.update(func(u *run.Update) error { return u.SetConfinement(run.ConfinementIn(s.line.entry)) })
	}
	if s.line.event == run.EventLimit && s.line.get("limit") == run.EvidenceKey {
		return s.update(s.evidenceSet)
	}
	if s.line.event == run.EventLimit {
		to, _ := s.line.entry.Get("to").Float()
		_, err := stage.SetBudget(s.ctx, s.desk, stage.BudgetInput{ManifestPath: s.manifestPath(), Name: s.line.get("limit"), Value: to, Reason: s.reason()})
		return err
	}
	return s.update(func(u *run.Update) error { return u.PlanConfirmed(s.line.get("perspectives"), s.reason()) })
}

// evidenceSet stages that every sentence is checked from then on, or what a person chose
// of it.
func (s *scene) evidenceSet(u *run.Update) error {
	var choice run.EvidenceChoice
	text, err := codec.MarshalLine(s.line.entry.Get("to"))
	if err == nil {
		err = json.Unmarshal(text, &choice)
	}
	if err != nil {
		return tidegate.Errorf(tidegate.InvalidState, nil, "the log does not say what was chosen: %w", err)
	}
	return u.ChooseEvidence(choice)
}

// retried gives a job its tries again, as a person did. The run keeps only the last of
// these decisions, and prompts show the one that stood then.
func retried(s *scene) error {
	return s.update(func(u *run.Update) error {
		if l, ok := s.has(func(l line) bool { return l.event == run.EventAccepted && l.args() != nil }); ok {
			if err := accept(u, l, l.args()); err != nil {
				return err
			}
		}
		return u.ForgetAttempts(s.line.get("job_id"), s.line.get("note"))
	})
}
