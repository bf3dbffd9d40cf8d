package step

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

// TakeSummary stages the summary of a perspective that was judged. It returns
// INVALID_STATE and STAGE_MISMATCH.
func TakeSummary(u *run.Update, perspectiveID string, text []byte) error {
	if err := takesIn(u, run.Summaries); err != nil {
		return err
	}
	return u.Write(u.Run().Summary(perspectiveID), text)
}

// TakeSynthesis stages a draft that was judged as the run's draft and final
// synthesis. It returns INVALID_STATE and STAGE_MISMATCH.
func TakeSynthesis(u *run.Update, text []byte, jobID string, attempt int) error {
	if err := takesIn(u, run.Synthesis); err != nil {
		return err
	}
	final := u.Run().Layout().Synthesis()
	u.Log(run.EventSynthesized, "synthesis_write", tidegate.Pairs("mode", "job", "job_id", jobID, "attempt", attempt, "output_path", final,
		"synthesis_digest", codec.DigestBytes(text)))
	if err := u.Write(u.Run().Layout().Draft(), text); err != nil {
		return err
	}
	return u.Write(final, text)
}

// TakeSynthesisReview stages a review of the run's synthesis that was judged, bound to the
// synthesis that stands there. It returns INVALID_STATE, STAGE_MISMATCH and
// READ_FAILED.
func TakeSynthesisReview(u *run.Update, review synthesis.Review, by synthesis.MadeBy) error {
	if err := takesIn(u, run.Review); err != nil {
		return err
	}
	digest, err := u.Run().Folder().Digest(u.Run().Layout().Synthesis())
	if err != nil {
		return err
	}
	return KeepSynthesisReview(u, review, digest, by)
}

// takesIn returns INVALID_STATE for a run that is final, and STAGE_MISMATCH for
// one that is not in that stage.
func takesIn(u *run.Update, stage run.Stage) error {
	if err := u.NotFinal(); err != nil {
		return err
	}
	return inStage(u.Manifest(), stage)
}

// JudgeDraft judges a text by the rules of the run's synthesis, as gate E will. It
// returns READ_FAILED, TAMPERED, and the errors of reading the records.
func JudgeDraft(ctx context.Context, r *run.Run, draft []byte) (synthesis.Result, error) {
	facts, err := factsOf(ctx, r, draft)
	if err != nil {
		return synthesis.Result{}, err
	}
	if facts.Answers, err = Answered(r); err != nil {
		return synthesis.Result{}, err
	}
	return synthesis.Judge(draft, facts), nil
}

// Answered is the review that the run's present draft answers, with the draft that
// was reviewed; nil in the first round. It returns READ_FAILED and TAMPERED.
func Answered(r *run.Run) (*synthesis.Answered, error) {
	answers, _, err := answeredBy(r, r.Manifest().ReviewRounds())
	return answers, err
}

// GroundText checks the claims of a text against the pages that it cites, as the
// archive of the run has them. It returns READ_FAILED.
func GroundText(ctx context.Context, r *run.Run, text []byte) (claim.Grounding, error) {
	texts, err := openTexts(ctx, r)
	if err != nil {
		return claim.Grounding{}, err
	}
	return texts.ground(text)
}
