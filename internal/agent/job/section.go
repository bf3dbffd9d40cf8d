package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// sectionKind writes one section of a long report, and, from the second round on, edits
// one for which the review asks for changes.
var sectionKind = kind{
	name: "section", role: "writer", format: "markdown", stages: []run.Stage{run.Synthesis},
	list: func(b *Board) ([]*Job, error) {
		if parts, err := b.inParts(); err != nil || !parts {
			return nil, err
		}
		outline, err := step.ReadOutline(b.run)
		if err != nil || outline == nil {
			return nil, err
		}
		var jobs []*Job
		for _, p := range outline.Sections {
			jobs = append(jobs, &Job{ID: fmt.Sprintf("section.%d", p.Number), Title: "Write the section: " + p.Section, round: 1, section: p.Number})
		}
		for round := int64(2); round <= b.run.Manifest().ReviewRounds()+1; round++ {
			numbers, _, err := step.DirectedParts(b.run, round)
			if err != nil {
				return nil, err
			}
			for _, n := range numbers {
				jobs = append(jobs, &Job{ID: fmt.Sprintf("section.%d.%d", n, round), Title: fmt.Sprintf("Change the section: %s, round %d", outline.Part(n).Section, round),
					round: round, section: n, edits: true})
			}
		}
		return jobs, nil
	},
	done: func(b *Board, j *Job) bool {
		there, err := b.run.Folder().Exists(b.run.Layout().Part(j.section, j.round))
		return err == nil && there && (acceptedLast(b, j) || j.round <= b.run.Manifest().ReviewRounds())
	},
	prompt: sectionPrompt,
	judge:  judgeSection,
	accept: inRun(func(u *run.Update, j *Job, _ int, judged judgement) error {
		return step.TakePart(u, j.section, j.round, []byte(judged.text))
	}),
}

// OpensOthers reports whether the jobs of a run may be others when that one is accepted:
// it is a part of a long report.
func OpensOthers(id string) bool {
	kind, _, _ := strings.Cut(id, ".")
	return kind == outlineKind.name || kind == sectionKind.name
}

// partsDone reports whether the sections of a round are written. It is called with the
// board's own lock held.
func (b *Board) partsDone(round int64) (bool, error) {
	outline, err := step.ReadOutline(b.run)
	if err != nil || outline == nil {
		return false, err
	}
	var numbers []int
	if round > 1 {
		if numbers, _, err = step.DirectedParts(b.run, round); err != nil {
			return false, err
		}
	} else {
		for _, p := range outline.Sections {
			numbers = append(numbers, p.Number)
		}
	}
	for _, n := range numbers {
		if there, err := b.run.Folder().Exists(b.run.Layout().Part(n, round)); err != nil || !there {
			return false, err
		}
	}
	return true, nil
}

// within is how many words a part may have that is to have so many: nearly a fifth less or
// more, so that the whole never has more than a fifth.
func within(words int) (least, most int) { return words * 82 / 100, words * 118 / 100 }

// joinWithin is how many words the part may have that joins the others.
func joinWithin(o *synthesis.Outline, words int) (least, most int) {
	if o.Join == 0 {
		return 0, words / 50
	}
	return within(o.Join)
}

func sectionPrompt(ctx context.Context, b *Board, j *Job) (draft, error) {
	r := b.Run()
	outline, err := step.ReadOutline(r)
	if err != nil {
		return draft{}, err
	}
	part := outline.Part(j.section)
	statements, err := b.statements(ctx, part.Perspectives)
	if err != nil {
		return draft{}, err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	data, seen, all, err := b.writing(j, statements, part.Perspectives)
	if err != nil {
		return draft{}, err
	}
	template, err := data.Shape.Sections()
	if err != nil {
		return draft{}, err
	}
	own := template.Sections[part.Number-1]
	data.Part, data.Plan, data.Sections = part, outline.Sections, []string{own.Title}
	if data.Judged = nil; own.Judgement {
		data.Judged = data.Sections
	}
	if data.Caveats = nil; own.Caveats {
		data.Caveats = data.Sections
	}
	data.Least, data.Most = within(part.Words)
	data.Example = synthesisExample(evidence.Template{Sections: []evidence.Section{own}}, all.list)
	if j.edits {
		revision, err := step.ReadRevision(r)
		if err != nil {
			return draft{}, err
		}
		text, line := revision.NumberedPart(own.Title)
		data.Reviewed, _ = numberedFrom(all.shorten(text), line)
		data.Directives, data.Example, data.Edits = revision.Directed(own.Title, nil), editsExample, true
		data.Least = 0
	}
	text, err := fill("synthesis.md", data)
	return draft{text: text, seen: seen, sources: all.table()}, err
}

func judgeSection(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
	r := b.Run()
	judged := judgement{text: expand(a.text, a.attempt.Sources), seen: map[string]string{}}
	for _, name := range []string{r.Layout().Citations, r.Layout().Outline()} {
		digest, err := r.Folder().Digest(name)
		if err != nil {
			return judgement{}, err
		}
		judged.seen[name] = digest
	}
	outline, err := step.ReadOutline(r)
	if err != nil {
		return judgement{}, err
	}
	part := outline.Part(j.section)
	var found step.Judged
	if j.edits {
		revision, err := step.ReadRevision(r)
		if err != nil {
			return judgement{}, err
		}
		edited, faults := revision.ApplyPart([]byte(judged.text), part.Section)
		if len(faults) > 0 {
			judged.faults = faultsOf(faults)
			return judged, nil
		}
		found, err = step.JudgeEdited(ctx, r, edited.Draft, revision.Directed(part.Section, nil))
		if err != nil {
			return judgement{}, err
		}
	} else {
		least, most := within(part.Words)
		if found, err = step.JudgePart(ctx, r, []byte(judged.text), part.Number, least, most); err != nil {
			return judgement{}, err
		}
	}
	judged.faults, judged.warnings = faultsOf(found.Faults), faultsOf(found.Warnings)
	if b.Policy().Evidence.Grounding {
		judged.warnings = append(judged.warnings, faultsOf(found.Weak())...)
	}
	return judged, nil
}

// sectionsApart are the sections that agents edit alone in a round.
func sectionsApart(r *run.Run, round int64) ([]string, error) {
	outline, err := step.ReadOutline(r)
	if err != nil || outline == nil {
		return nil, err
	}
	numbers, _, err := step.DirectedParts(r, round)
	var titles []string
	for _, p := range outline.Sections {
		if slices.Contains(numbers, p.Number) {
			titles = append(titles, p.Section)
		}
	}
	return titles, err
}

// joined is what the part is told that joins the sections.
type joined struct {
	Section string
	Text    string
	Written bool // by another agent
}

// joins are the sections of a report for the part that joins them. It is called with the
// board's own lock held.
func (b *Board) joins(template evidence.Template, all *sources) ([]joined, *synthesis.Outline, error) {
	outline, err := step.ReadOutline(b.run)
	if err != nil {
		return nil, nil, err
	}
	var list []joined
	for i, s := range template.Sections {
		one := joined{Section: s.Title, Written: outline.Part(i+1) != nil}
		if one.Written {
			text, err := b.run.Folder().Read(b.run.Layout().Part(i+1, 1))
			if err != nil {
				return nil, nil, err
			}
			one.Text = all.shorten(string(text))
		}
		list = append(list, one)
	}
	return list, outline, nil
}
