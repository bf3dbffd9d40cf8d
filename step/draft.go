package step

import (
	"context"
	"path"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/citation"
	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
	"github.com/tidegate/tidegate/synthesis"
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
	u.Log(run.EventSynthesized, "synthesis_write", tidegate.D("mode", "job", "job_id", jobID, "attempt", attempt, "output_path", final,
		"synthesis_digest", codec.DigestBytes(text)))
	if err := u.Write(path.Dir(final)+"/draft-synthesis.md", text); err != nil {
		return err
	}
	return u.Write(final, text)
}

// TakeReview stages a review of the run's synthesis that was judged, bound to the
// synthesis that stands there. It returns INVALID_STATE, STAGE_MISMATCH and
// READ_FAILED.
func TakeReview(u *run.Update, review synthesis.Review, by synthesis.MadeBy) error {
	if err := takesIn(u, run.Review); err != nil {
		return err
	}
	r := u.Run()
	digest, err := r.Folder().Digest(r.Layout().Synthesis())
	if err != nil {
		return err
	}
	bundle := r.Layout().ReviewBundle
	if err := u.WriteJSON(path.Dir(bundle)+"/revision-directives.json", review.RevisionDirectives(r.ID())); err != nil {
		return err
	}
	return u.WriteJSON(bundle, review.Bundle(r.ID(), digest, by))
}

// takesIn returns INVALID_STATE for a run that is final, and STAGE_MISMATCH for
// one that is not in that stage.
func takesIn(u *run.Update, stage run.Stage) error {
	if err := u.NotFinal(); err != nil {
		return err
	}
	m, err := u.Manifest()
	if err != nil {
		return err
	}
	return inStage(u.Run(), m, stage)
}

// JudgeDraft holds a text to the rules of the run's synthesis, as gate E will. It
// returns READ_FAILED, TAMPERED, and the errors of reading the records.
func JudgeDraft(ctx context.Context, r *run.Run, draft []byte) (synthesis.Result, error) {
	facts, err := draftFacts(ctx, r, draft)
	if err != nil {
		return synthesis.Result{}, err
	}
	if facts.Answers, err = Answered(r); err != nil {
		return synthesis.Result{}, err
	}
	return synthesis.Judge(draft, facts), nil
}

// Answered is the review that the run's next draft answers, with the draft that
// was reviewed; nil in the first round. It returns READ_FAILED.
func Answered(r *run.Run) (*synthesis.Answered, error) {
	round := r.Manifest().ReviewRounds()
	if round == 0 {
		return nil, nil
	}
	draftName, bundleName := r.Layout().Round(round)
	draft, err := r.Folder().Read(draftName)
	if err != nil {
		return nil, err
	}
	data, err := r.Folder().Read(bundleName)
	if err != nil {
		return nil, err
	}
	doc, err := codec.ParseFile("review_bundle_path", r.Path(bundleName), data)
	if err != nil {
		return nil, err
	}
	out := &synthesis.Answered{Draft: draft}
	for _, d := range doc.Get("directives").Elems() {
		line, _ := d.Get("line").Int()
		out.Directives = append(out.Directives, synthesis.Directive{Line: int(max(line, 0)), Action: d.Get("action").Str()})
	}
	return out, nil
}

// draftFacts is what the rules of a synthesis need to know of the run.
func draftFacts(ctx context.Context, r *run.Run, draft []byte) (synthesis.Facts, error) {
	records, err := readRecords(r, "")
	if err != nil {
		return synthesis.Facts{}, err
	}
	var facts synthesis.Facts
	for i := range records {
		if records[i].Usable() {
			facts.Citations = append(facts.Citations, synthesis.Citation{CID: records[i].CID, SameAs: records[i].SameAs})
		}
	}
	facts.Unsourced = len(facts.Citations) == 0
	for _, url := range citation.Inspect(draft).URLs {
		facts.RawURLs = append(facts.RawURLs, synthesis.Place{Line: url.Line, Text: url.Text})
	}
	policy, err := r.Policy()
	if err != nil {
		return synthesis.Facts{}, err
	}
	facts.RequireGrounding = policy.RequireGrounding
	found, err := GroundText(ctx, r, draft)
	if err != nil {
		return synthesis.Facts{}, err
	}
	for _, c := range found.Claims {
		facts.Claims = append(facts.Claims, synthesis.Claim{Line: c.Line, CIDs: c.CIDs, Verdict: synthesis.Verdict(c.Verdict),
			Quotations: matchesOf(c.Quotations), Numbers: matchesOf(c.Numbers)})
	}
	return facts, nil
}

func matchesOf(list []citation.Match) []synthesis.Match {
	var out []synthesis.Match
	for _, m := range list {
		out = append(out, synthesis.Match{Text: m.Text, Found: m.Found, CID: m.CID, Start: m.Start, End: m.End})
	}
	return out
}

// GroundText holds the claims of a text against the pages that it cites, as the
// archive of the run has them. It returns READ_FAILED.
func GroundText(ctx context.Context, r *run.Run, text []byte) (citation.Grounding, error) {
	c, err := citedInRun(r)
	if err != nil {
		return citation.Grounding{}, err
	}
	e, err := openEvidence(ctx, r)
	if err != nil {
		return citation.Grounding{}, err
	}
	texts := pageTexts{ctx: ctx, cited: c, evidence: e, read: map[string]string{}}
	found := citation.Ground(text, texts.of)
	return found, texts.err
}
