package job

import (
	"context"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// outlineKind plans a long report: what each section must answer, and from which
// perspectives.
var outlineKind = kind{
	name: "outline", role: "writer", format: "json", stages: []run.Stage{run.Synthesis},
	list: func(b *Board) ([]*Job, error) {
		if parts, err := b.inParts(); err != nil || !parts {
			return nil, err
		}
		return []*Job{{ID: "outline", Title: "Outline the report", round: 1}}, nil
	},
	done: func(b *Board, j *Job) bool {
		there, err := b.run.Folder().Exists(b.run.Layout().Outline())
		return err == nil && there && (acceptedLast(b, j) || b.run.Manifest().ReviewRounds() > 0)
	},
	prompt: outlinePrompt,
	judge:  judgeOutline,
	accept: inRun(func(u *run.Update, _ *Job, _ int, judged judgement) error {
		return step.TakeOutline(u, *judged.outline)
	}),
}

// inParts reports whether the report is written by several agents side by side. It is
// called with the board's own lock held.
func (b *Board) inParts() (bool, error) {
	shape, err := b.run.Shape()
	if err != nil || !shape.InParts() || !b.policy.Evidence.Sentences {
		return false, err
	}
	return b.sourced()
}

func outlinePrompt(_ context.Context, b *Board, j *Job) (draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, seen, err := b.about(j)
	if err != nil {
		return draft{}, err
	}
	all, err := b.sources()
	if err != nil {
		return draft{}, err
	}
	seen[all.name] = all.digest
	summaries, err := b.summaries(all)
	if err != nil {
		return draft{}, err
	}
	template, err := said.Shape.Sections()
	if err != nil {
		return draft{}, err
	}
	data := outlineTask{about: said, Summaries: summaries, Words: said.Shape.Words(),
		Sections: template.Titles(func(s evidence.Section) bool { return !s.Summary }),
		Ending:   template.Titles(func(s evidence.Section) bool { return s.Summary })}
	if evidence.IsOutline(said.Shape.Template) {
		data.Outline = said.Shape.Template
	}
	data.Example = `{"sections":[{"section":"` + data.Sections[0] + `","answers":"Which harbours have tried it, and what became of it?","perspectives":["` + summaries[0].ID + `"],"words":800}],"dropped":[]}`
	text, err := fill("outline.md", data)
	return draft{text: text, seen: seen}, err
}

// outlineTask is what the prompt of an outline says.
type outlineTask struct {
	about
	Summaries []summarized
	Sections  []string // that agents write
	Ending    []string // that are written when these are there
	Outline   string   // that the person wrote
	Words     int
	Example   string
}

func judgeOutline(_ context.Context, b *Board, _ *Job, a answer) (judgement, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	outputs, err := b.outputs()
	if err != nil {
		return judgement{}, err
	}
	var ids []string
	for _, o := range outputs {
		ids = append(ids, o.perspective)
	}
	shape, err := b.run.Shape()
	if err != nil {
		return judgement{}, err
	}
	template, err := shape.Sections()
	if err != nil {
		return judgement{}, err
	}
	outline, faults := synthesis.ParseOutline([]byte(a.text), template, ids, shape.Words())
	return judgement{faults: faultsOf(faults), outline: &outline, seen: map[string]string{}}, nil
}
