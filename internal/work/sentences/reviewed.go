package sentences

import (
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
)

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
	if err := u.WriteJSON(r.Layout().ReviewBundle, review.Bundle(r.ID(), synthesisDigest, by)); err != nil {
		return err
	}
	return u.WriteJSON(directivesOf(r), review.RevisionDirectives(r.ID()))
}

// directivesOf is the file with what the last review asks for.
func directivesOf(r *run.Run) string {
	return path.Join(path.Dir(r.Layout().ReviewBundle), "revision-directives.json")
}
