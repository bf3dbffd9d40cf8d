package job

import (
	"context"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// outlineTask plans a long report: what each section must answer, and from which
// perspectives.
type outlineTask struct{ *research }

func (r *research) outlineJobs() ([]*Job, error) {
	if parts, err := r.inParts(); err != nil || !parts {
		return nil, err
	}
	return []*Job{{ID: "outline", Title: "Outline the report", round: 1, task: outlineTask{r}}}, nil
}

func (o outlineTask) done(j *Job) bool {
	return o.exists(o.Layout().Outline()) && (j.lastAccepted() || o.Manifest().ReviewRounds() > 0)
}

// outlineResult is an accepted outline.
type outlineResult struct{ synthesis.Outline }

func (o outlineResult) take(u update, _ *Job, _ int) error {
	return sentences.TakeOutline(u.run, o.Outline)
}

// inParts reports whether the report is written by several agents side by side.
func (r *research) inParts() (bool, error) {
	shape, err := r.Shape()
	if err != nil || !shape.InParts() {
		return false, err
	}
	return r.sourced()
}

func (o outlineTask) prompt(_ context.Context, j *Job) (draft, error) {
	said, seen, err := o.about(j)
	if err != nil {
		return draft{}, err
	}
	all, err := o.sources()
	if err != nil {
		return draft{}, err
	}
	seen[all.name] = all.digest
	summaries, err := o.summaries(all)
	if err != nil {
		return draft{}, err
	}
	template, err := said.Shape.Sections()
	if err != nil {
		return draft{}, err
	}
	data := outlinePrompt{about: said, Summaries: summaries, Words: said.Shape.Words(),
		Sections: template.Titles(func(s evidence.Section) bool { return !s.Summary }),
		Ending:   template.Titles(func(s evidence.Section) bool { return s.Summary })}
	if evidence.IsOutline(said.Shape.Template) {
		data.Outline = said.Shape.Template
	}
	data.Example = `{"sections":[{"section":"` + data.Sections[0] + `","answers":"Which harbours have tried it, and what became of it?","perspectives":["` + summaries[0].ID + `"],"words":800}],"dropped":[]}`
	text, err := fill("outline.md", data)
	return draft{text: text, seen: seen}, err
}

// outlinePrompt is what the prompt of an outline says.
type outlinePrompt struct {
	about
	Summaries []summarized
	Sections  []string // that agents write
	Ending    []string // that are written when these are there
	Outline   string   // that the person wrote
	Words     int
	Example   string
}

func (o outlineTask) judge(_ context.Context, _ *Job, a answer) (judgement, error) {
	ids, err := o.perspectives()
	if err != nil {
		return judgement{}, err
	}
	shape, err := o.Shape()
	if err != nil {
		return judgement{}, err
	}
	template, err := shape.Sections()
	if err != nil {
		return judgement{}, err
	}
	outline, faults := synthesis.ParseOutline([]byte(a.text), template, ids, shape.Words())
	return judgement{faults: faultsOf(faults), result: outlineResult{outline}}, nil
}
