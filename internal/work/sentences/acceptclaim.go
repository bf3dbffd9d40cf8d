package sentences

import (
	"cmp"
	"context"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// AcceptClaimInput are the arguments of [AcceptClaim].
type AcceptClaimInput struct {
	ManifestPath string `json:"manifest_path" path:"absolute" jsonschema:"absolute path of the run's manifest.json"`
	ID           string `json:"id" jsonschema:"the sentence, such as c12"`
	Reason       string `json:"reason" jsonschema:"why it may stand, for every view of the report"`
}

// AcceptedClaim is the result of [AcceptClaim].
type AcceptedClaim struct {
	OK       codec.True `json:"ok"`
	RunID    string     `json:"run_id"`
	ID       string     `json:"id"`
	Sentence string     `json:"sentence"`
	Digest   string     `json:"digest" jsonschema:"of the sentence with everything that a verdict on it depends on; the decision counts for no other"`
	By       string     `json:"by"`
	Accepted int        `json:"accepted" jsonschema:"how many sentences of the report were accepted by a person"`
	Left     []string   `json:"left" jsonschema:"the sentences that are still refused"`
}

// AcceptClaim lets a sentence of the run's report stand by a person's decision, for its
// exact digest. A run that stopped because sentences do not stand goes on once none is
// left.
//
// It returns INVALID_ARGS without a reason, NOT_FOUND for a sentence that the report does
// not have, CALCULATION_WRONG, INVALID_STATE for one that needs no decision,
// STAGE_MISMATCH outside the review, and the errors of [run.Open] and [run.Run.Decide].
func AcceptClaim(ctx context.Context, desk run.Desk, in AcceptClaimInput) (AcceptedClaim, error) {
	if err := run.CheckText("reason", in.Reason); err != nil {
		return AcceptedClaim{}, err
	}
	return run.With(ctx, desk, in.ManifestPath, func(r *run.Run, out *AcceptedClaim) error {
		claims, err := keptClaims(r)
		if err != nil {
			return err
		}
		if claims == nil {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the run has no report whose sentences were checked")
		}
		s := claims.Find(in.ID)
		if s == nil {
			return noSentence(in.ID)
		}
		if s.Accepted != nil {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("id", s.ID), "the sentence %s was accepted by %s", s.ID, s.Accepted.By)
		}
		if err := calculatedRight(ctx, r, s); err != nil {
			return err
		}
		policy, err := r.Policy()
		if err != nil {
			return err
		}
		if !claims.Judge(policy.Evidence.Reader).Objects(s.ID) {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("id", s.ID), "the sentence %s stands, and needs no decision", s.ID)
		}
		*out = AcceptedClaim{RunID: r.ID(), ID: s.ID, Sentence: s.Text, Digest: s.Digest}
		decision := run.Decision{What: run.AcceptClaim, Fields: tidegate.Pairs("claim", s.ID, "digest", s.Digest, "reason", run.Note(in.Reason))}
		_, err = r.Decide(ctx, decision, func(u *run.Update) error {
			signer, file, err := u.Signature()
			if err != nil {
				return err
			}
			accepted := evidence.Acceptance{By: cmp.Or(signer, run.Note(u.Actor().Name), "a person"), Reason: run.Note(in.Reason), At: u.Now(), Signature: file}
			out.By = accepted.By
			after, err := TakeAcceptance(u, s.ID, s.Digest, accepted)
			if err != nil {
				return err
			}
			out.Accepted, out.Left = standing(after)
			return nil
		})
		return err
	})
}

// calculatedRight returns CALCULATION_WRONG for a sentence whose calculation is wrong:
// that is no matter of opinion.
func calculatedRight(ctx context.Context, r *run.Run, s *evidence.Claim) error {
	if s.Calculation == nil {
		return nil
	}
	draft, err := r.Folder().Read(r.Layout().Synthesis())
	if err != nil {
		return err
	}
	checked, err := checkSentences(ctx, r, markdown.Read(draft), nil)
	if err != nil {
		return err
	}
	wrong := slices.IndexFunc(checked.report.Faults, func(f evidence.Fault) bool { return f.Code == tidegate.CalculationWrong && f.Line == s.Line })
	if wrong < 0 {
		return nil
	}
	return tidegate.Errorf(tidegate.CalculationWrong, tidegate.Pairs("id", s.ID), "a wrong calculation cannot be accepted: %s", checked.report.Faults[wrong].Message)
}

// TakeAcceptance stages that a person lets a sentence stand, and takes back what the
// rule asked for because of it. It returns INVALID_STATE where the sentence has become
// another, and STAGE_MISMATCH.
func TakeAcceptance(u *run.Update, id, digest string, accepted evidence.Acceptance) (*evidence.Claims, error) {
	if err := step.TakesIn(u, run.Review); err != nil {
		return nil, err
	}
	r := u.Run()
	claims, err := keptClaims(r)
	if err != nil {
		return nil, err
	}
	s := claims.Find(id)
	if s == nil || s.Digest != digest {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("id", id), "the sentence %s has changed meanwhile; look at it again", id)
	}
	s.Accepted = &accepted
	u.Log(run.EventAccepted, "claim_accept", tidegate.Pairs("what", "claim", "claim", id, "digest", digest, "reason", accepted.Reason, "args", accepted))
	u.WriteJSON(r.Layout().Claims(), claims)
	if err := WithdrawByRule(u); err != nil {
		return nil, err
	}
	if len(claims.Judge(true).Refused) == 0 {
		err = u.AcceptGateFailures("E", "a person accepted what did not stand", "accept claim "+id)
	}
	return claims, err
}

// ReportAccepted reports whether a person let gate E pass for the report as it stands.
func ReportAccepted(r *run.Run) (bool, error) {
	if stage := r.Manifest().Stage(); stage != run.Review && stage != run.Finalize {
		return false, nil
	}
	return gateAccepted(r, "E")
}

// gateAccepted reports whether a gate counts as passed because a person accepted it.
func gateAccepted(r *run.Run, id string) (bool, error) {
	gates, err := r.Gates()
	if err != nil {
		return false, err
	}
	state, err := r.GateState(gates, id)
	return err == nil && state.Passed() && state.Accepted != nil, err
}

// WithdrawByRule stages that the review that the rule wrote is gone: what it was about
// has changed, and the rule writes another where that is needed.
func WithdrawByRule(u *run.Update) error {
	r := u.Run()
	data, err := r.Folder().Read(r.Layout().ReviewBundle)
	if err != nil {
		return artifact.UnlessMissing(err)
	}
	doc, _ := codec.Parse(data)
	if bundle, _ := synthesis.ReadBundle(doc); bundle.MadeBy.Actor != tidegate.Rule {
		return nil
	}
	u.Remove(r.Layout().ReviewBundle)
	return u.Remove(directivesOf(r))
}

// standing counts what a person accepted, and lists what is refused all the same.
func standing(c *evidence.Claims) (accepted int, left []string) {
	left = []string{}
	for i := range c.Sentences {
		if c.Sentences[i].Accepted != nil {
			accepted++
		}
	}
	for _, refused := range c.Judge(true).Refused {
		left = append(left, refused.ID)
	}
	return accepted, left
}

// Report shows the decision.
func (a AcceptedClaim) Report() report.Report {
	r := report.Report{Name: "claim_accept", Title: "Sentence " + a.ID, Status: report.Warn, Summary: "accepted by " + a.By + "; every view of the report says so"}
	r.Add(report.Fields{{Name: "sentence", Value: a.Sentence}})
	if a.Accepted > MaxAccepted {
		r.Add(report.Paragraph("More than three sentences of the report were accepted: the run ends with status 1."))
	}
	if len(a.Left) > 0 {
		r.Add(report.Heading("Still refused"), report.Bullets(a.Left))
	} else {
		r.Add(report.Fields{{Name: "next", Value: "tidegate run continue " + report.ShellWord(a.RunID)}})
	}
	return r
}
