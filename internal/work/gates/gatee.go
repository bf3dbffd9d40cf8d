package gates

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
)

// judgeE is the judge of gate E: the final synthesis follows the rules, what it
// says stands on the pages that it cites, and it makes the changes that the review
// before it asked for.
func judgeE(ctx context.Context, r *run.Run) (run.Judgement, error) {
	name := r.Layout().Synthesis()
	rounds := r.Manifest().ReviewRounds()
	round, review := r.Layout().Round(rounds)
	optional, err := step.Existing(r, sentences.MetaFile(name), sentences.PackMetaFile(r), sourcing.IndexFile, round, review, r.Layout().Claims())
	if err != nil {
		return run.Judgement{}, err
	}
	readings, err := sentences.ReadingFiles(r)
	if err != nil {
		return run.Judgement{}, err
	}
	optional = append(optional, readings...)
	bound, err := run.Bind(r.Folder(), append(optional, name, r.Layout().Citations))
	if err != nil {
		return run.Judgement{}, err
	}
	draft, err := r.Folder().Read(name)
	if err != nil {
		return run.Judgement{}, tidegate.WithDetails(err, tidegate.Pairs("synthesis_path", r.Path(name)))
	}
	judged, kept, err := sentences.JudgeText(ctx, r, draft)
	if err != nil {
		return run.Judgement{}, err
	}
	facts := synthesis.SynthesisFacts{RunID: r.ID(), Draft: draft, Claims: judged.Claims, Outcome: judged.Outcome}
	if facts.Generated, facts.PackGenerated, err = sentences.MadeByRule(r, name); err != nil {
		return run.Judgement{}, err
	}
	out := judgementOf(synthesis.GateE(facts, judged.Result), bound)
	for _, d := range judged.Outcome.Directives(nil) {
		out.Changes = append(out.Changes, fmt.Sprintf("line %d: %s", d.Line, d.Action))
	}
	for _, f := range judged.Result.Faults {
		out.Changes = append(out.Changes, f.Message+". "+f.ChangeNote)
	}
	if !kept {
		out.Warnings = append(out.Warnings, "REVIEW_NOT_KEPT")
		out.Notes = "the run does not have the review that the synthesis answers"
	}
	return out, nil
}
