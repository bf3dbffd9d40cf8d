package job

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

var reviewKind = kind{
	name: "review", role: "reviewer", format: "json", stages: []run.Stage{run.Review},
	list: func(b *Board) ([]*Job, error) {
		m := b.run.Manifest()
		n := m.ReviewRounds()
		if m.Stage() != run.Synthesis {
			n++
		}
		return rounds("review", "Review the report", n), nil
	},
	done: func(b *Board, j *Job) bool {
		if j.round <= b.run.Manifest().ReviewRounds() {
			return true
		}
		data, err := b.run.Folder().Read(b.run.Layout().ReviewBundle)
		if err != nil {
			return false
		}
		doc, err := codec.Parse(data)
		if err != nil {
			return false
		}
		written, err := b.run.Folder().Digest(b.run.Layout().Synthesis())
		bundle, problem := synthesis.ReadBundle(doc)
		return err == nil && problem == "" && bundle.Objection(written) == ""
	},
	prompt: reviewPrompt,
	judge:  judgeReview,
	accept: inRun(func(u *run.Update, j *Job, attempt int, judged judgement) error {
		return step.TakeSynthesisReview(u, judged.review, synthesis.MadeBy{Actor: tidegate.Agent, Job: j.ID, Attempt: attempt})
	}),
}

func reviewPrompt(ctx context.Context, b *Board, j *Job) (draft, error) {
	r := b.Run()
	name := r.Layout().Synthesis()
	text, err := r.Folder().Read(name)
	if err != nil {
		return draft{}, err
	}
	found, err := step.JudgeDraft(ctx, r, text)
	if err != nil {
		return draft{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	said, seen, err := b.about(j)
	if err != nil {
		return draft{}, err
	}
	seen[name] = codec.DigestBytes(text)
	all, err := b.sources()
	if err != nil {
		return draft{}, err
	}
	summaries, err := b.summaries(all)
	if err != nil {
		return draft{}, err
	}
	shown, lines := numbered(all.shorten(string(text)))
	example := `{"decision":"PASS","findings":[{"severity":"low","line":1,"message":"The summary could come to the point sooner."}],"directives":[]}`
	if !found.Pass() {
		example = `{"decision":"CHANGES_REQUIRED","findings":[],"directives":[{"line":null,"action":"Do what the rules ask for."}]}`
	}
	filled, err := fill("review.md", struct {
		about
		Draft            string
		Lines            int
		Faults, Warnings []Fault
		Summaries        []summarized
		Example          string
	}{said, shown, lines, faultsOf(found.Faults), faultsOf(found.Warnings), summaries, example})
	return draft{text: filled, seen: seen}, err
}

func judgeReview(ctx context.Context, b *Board, _ *Job, a answer) (judgement, error) {
	r := b.Run()
	name := r.Layout().Synthesis()
	text, err := r.Folder().Read(name)
	if err != nil {
		return judgement{}, err
	}
	found, err := step.JudgeDraft(ctx, r, text)
	if err != nil {
		return judgement{}, err
	}
	review, faults := synthesis.ParseReview([]byte(a.text), text, found.Pass())
	return judgement{faults: faultsOf(faults), review: review, seen: map[string]string{name: codec.DigestBytes(text)}}, nil
}
