package reporting

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/drift"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/pivot"
	"github.com/tidegate/tidegate/wave"
)

// OpenQuestions are what a finished run left open: the gaps that no second wave closed, and
// where its sources disagree. It returns READ_FAILED and the errors of reading the run.
func OpenQuestions(ctx context.Context, r *run.Run) ([]run.OpenQuestion, error) {
	open := []run.OpenQuestion{}
	data, err := r.Folder().ReadIfThere(r.Layout().Pivot)
	if data == nil || err != nil {
		return open, err
	}
	var decided struct {
		Gaps []pivot.Gap `json:"gaps"`
	}
	if err := json.Unmarshal(data, &decided); err != nil {
		return nil, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", r.Path(r.Layout().Pivot)), "%s lists no gaps: %w", r.Layout().Pivot, err)
	}
	plan, err := step.ReadWave2Plan(r)
	if err != nil {
		return nil, err
	}
	closed := map[string]bool{}
	for _, e := range plan.Get("entries").Elems() {
		closed[e.Get("gap_id").Str()] = true
	}
	for _, g := range decided.Gaps {
		if !closed[g.ID] {
			open = append(open, run.OpenQuestion{Kind: run.OpenGap, Text: markdown.OneLine(g.Text)})
		}
	}
	var ids []string
	waves := reportReader{ctx: ctx, run: r, out: &Reported{}}
	if err := waves.eachPerspective(func(_ run.Stage, p wave.Perspective) error {
		there, err := r.Folder().Exists(r.Summary(p.ID))
		if there && !slices.Contains(ids, p.ID) {
			ids = append(ids, p.ID)
		}
		return err
	}); err != nil {
		return nil, err
	}
	statements, err := sentences.ReadStatements(ctx, r, ids)
	if err != nil {
		return nil, err
	}
	for _, c := range sentences.Contradictions(statements) {
		open = append(open, run.OpenQuestion{Kind: run.OpenContradiction,
			Text: fmt.Sprintf("%s or %s? %s / %s", c.Number, c.Another, markdown.OneLine(c.First.Text), markdown.OneLine(c.Second.Text))})
	}
	return open, nil
}

// since is what became of the sentences of the report that the run builds on.
func (w *reportReader) since() error {
	earlier, err := w.run.Earlier()
	if err != nil || earlier == nil || w.trust.Claims == nil {
		return err
	}
	var then, now []string
	for _, s := range earlier.Sentences {
		then = append(then, s.Text)
	}
	for i := range w.trust.Claims.Sentences {
		now = append(now, w.trust.Claims.Sentences[i].Text)
	}
	since := &paper.Since{RunID: earlier.RunID}
	for _, pair := range drift.Pairs(then, now) {
		switch {
		case pair.Then < 0:
			since.Added = append(since.Added, now[pair.Now])
		case pair.Now < 0:
			since.Dropped = append(since.Dropped, then[pair.Then])
		case then[pair.Then] == now[pair.Now]:
			since.Kept++
		default:
			since.Changed = append(since.Changed, paper.SinceSentence{Was: then[pair.Then], Is: now[pair.Now]})
		}
	}
	w.out.Report.Since = since
	return nil
}
