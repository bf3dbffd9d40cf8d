package sentences

import (
	"context"
	"encoding/hex"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// TakeSynthesis stages a draft that was judged as the run's draft and final
// synthesis, with its sentences and the parts in which they are read. Draw gives the
// seed of the round, by which sentences are dealt to their readers. It returns INVALID_STATE and STAGE_MISMATCH.
func TakeSynthesis(u *run.Update, text []byte, draft Judged, draw func(round int64, digest string) reading.Seed, jobID string, attempt int) error {
	if err := step.TakesIn(u, run.Synthesis); err != nil {
		return err
	}
	layout := u.Run().Layout()
	policy, err := u.Run().Policy()
	if err != nil {
		return err
	}
	digest := codec.DigestBytes(text)
	said := tidegate.Pairs("mode", "job", "job_id", jobID, "attempt", attempt, "output_path", layout.Synthesis(), "synthesis_digest", digest)
	if draft.Claims != nil && policy.Evidence.Reader {
		round := roundOf(u.Run())
		seed := draw(round, digest)
		draft.Deal(seed)
		said = append(said, tidegate.Detail{Key: "seed_digest", Value: seedDigest(seed)})
		u.WriteJSON(layout.RoundSeed(round), roundSeed{seedVersion, round, hex.EncodeToString(seed[:])})
	}
	u.Log(run.EventSynthesized, "synthesis_write", said)
	u.Write(layout.Draft(), text)
	if draft.Claims != nil {
		u.WriteJSON(layout.Claims(), draft.Claims)
	}
	return u.Write(layout.Synthesis(), text)
}

// TakeSynthesisReview stages a review of the run's synthesis that was judged, bound to the
// synthesis that stands there. It returns INVALID_STATE, STAGE_MISMATCH and
// READ_FAILED.
func TakeSynthesisReview(u *run.Update, review synthesis.Review, by synthesis.MadeBy) error {
	if err := step.TakesIn(u, run.Review); err != nil {
		return err
	}
	digest, err := u.Run().Folder().Digest(u.Run().Layout().Synthesis())
	if err != nil {
		return err
	}
	return KeepSynthesisReview(u, review, digest, by)
}

// Judged is a draft as the rules of the run's synthesis see it.
type Judged struct {
	synthesis.Result
	// Claims are its sentences, nil where the run does not check them.
	Claims *evidence.Claims
	// Outcome is what gate E makes of them by what readers have said so far.
	Outcome evidence.Outcome

	sentences *checkedSentences
}

// Pass reports whether the draft breaks no rule, and all its sentences stand.
func (j Judged) Pass() bool { return j.Result.Pass() && j.Outcome.Pass() }

// Words is how many words it has, 0 where the run does not check its sentences.
func (j Judged) Words() int {
	if j.sentences == nil {
		return 0
	}
	return j.sentences.report.Words()
}

// Weak is what its author should know although nothing is refused for it.
func (j Judged) Weak() []evidence.Fault {
	if j.sentences == nil {
		return nil
	}
	return j.sentences.report.Weak(j.sentences.held)
}

// JudgeDraft judges a text by the rules of the run's synthesis, as gate E will. It
// returns READ_FAILED, TAMPERED, and the errors of reading the records.
func JudgeDraft(ctx context.Context, r *run.Run, draft []byte) (Judged, error) {
	judged, _, err := JudgeText(ctx, r, draft)
	return judged, err
}

// JudgeText judges a draft; kept is false where the run does not have the review that
// the draft answers.
func JudgeText(ctx context.Context, r *run.Run, draft []byte) (judged Judged, kept bool, err error) {
	return judgeTextFor(ctx, r, draft, func(a *synthesis.Answered) *synthesis.Answered { return a })
}

// judgeTextFor judges a draft that answers some of the directives of its review.
func judgeTextFor(ctx context.Context, r *run.Run, draft []byte, answers func(*synthesis.Answered) *synthesis.Answered) (judged Judged, kept bool, err error) {
	text := markdown.Read(draft)
	facts, err := factsOf(ctx, r, text)
	if err != nil {
		return Judged{}, false, err
	}
	if facts.Answers, kept, err = answeredBy(r, r.Manifest().ReviewRounds()); err != nil {
		return Judged{}, false, err
	}
	facts.Answers = answers(facts.Answers)
	policy, err := r.Policy()
	if err != nil {
		return Judged{}, false, err
	}
	if !facts.Unsourced {
		before, err := keptClaims(r)
		if err != nil {
			return Judged{}, false, err
		}
		if judged.sentences, err = checkSentences(ctx, r, text, before); err != nil {
			return Judged{}, false, err
		}
		judged.Claims, facts.Sentences = &judged.sentences.claims, judged.sentences.found(policy.Evidence.Grounding)
		if policy.Evidence.Grounding {
			judged.Outcome = judged.Claims.Judge(policy.Evidence.Reader)
		}
	}
	judged.Result = synthesis.Judge(text, facts)
	return judged, kept, nil
}

// keptClaims are the sentences of the run's synthesis as the log knows them, nil for
// none. It returns TAMPERED when the file is another, except in a rehearsal, which takes the
// run as it stands.
func keptClaims(r *run.Run) (*evidence.Claims, error) {
	claims, err := ReadClaims(r)
	if err != nil || claims == nil || r.Desk().Rehearsal != nil {
		return claims, err
	}
	name := r.Layout().Claims()
	digest, err := r.Folder().Digest(name)
	if err != nil {
		return nil, err
	}
	recorded, err := r.RecordedOf(name)
	if err == nil && recorded != digest {
		if err := r.CheckLog(); err != nil {
			return nil, err
		}
		err = tidegate.Errorf(tidegate.Tampered, tidegate.Pairs("changed", []string{name}), "%s is not what the log records", name)
	}
	return claims, err
}

// Answered is the review that the run's present draft answers, with the draft that
// was reviewed; nil in the first round. It returns READ_FAILED and TAMPERED.
func Answered(r *run.Run) (*synthesis.Answered, error) {
	answers, _, err := answeredBy(r, r.Manifest().ReviewRounds())
	return answers, err
}

// KeepSynthesisReview stages a review of the synthesis with that digest as the one that
// decides, with the directives for the next draft. The caller answers for made_by.
func KeepSynthesisReview(u *run.Update, review synthesis.Review, synthesisDigest string, by synthesis.MadeBy) error {
	r := u.Run()
	fields := tidegate.Pairs("decision", review.Decision, "findings_count", len(review.Findings),
		"directives_count", len(review.Directives), "synthesis_digest", synthesisDigest, "made_by", by, "inputs_digest", review.InputsDigest(r.ID()))
	if by.Actor == tidegate.Rule { // nobody handed it in
		fields = append(fields, run.Args()...)
	}
	u.Log(run.EventSynthesisReviewed, "review_kept", fields)
	u.WriteJSON(r.Layout().ReviewBundle, review.Bundle(r.ID(), synthesisDigest, by))
	return u.WriteJSON(directivesOf(r), review.RevisionDirectives(r.ID()))
}

// directivesOf is the file with what the last review asks for.
func directivesOf(r *run.Run) string {
	return path.Join(path.Dir(r.Layout().ReviewBundle), "revision-directives.json")
}
