package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// sectionTask writes one section of a long report, and, from the second round on, edits one
// for which the review asks for changes.
type sectionTask struct {
	*research
	number int // of the template
	round  int64
}

func (r *research) sectionJobs() ([]*Job, error) {
	if parts, err := r.inParts(); err != nil || !parts {
		return nil, err
	}
	outline, err := sentences.ReadOutline(r.Run)
	if err != nil || outline == nil {
		return nil, err
	}
	var jobs []*Job
	for round := int64(1); round <= r.Manifest().ReviewRounds()+1; round++ {
		numbers, err := r.sections(outline, round)
		if err != nil {
			return nil, err
		}
		for _, n := range numbers {
			j := &Job{ID: fmt.Sprintf("section.%d", n), Title: "Write the section: " + outline.Part(n).Section, round: round, task: sectionTask{r, n, round}}
			if round > 1 {
				j.ID, j.Title, j.format = fmt.Sprintf("section.%d.%d", n, round), fmt.Sprintf("Change the section: %s, round %d", outline.Part(n).Section, round), "json"
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// sections are the numbers of those that agents write, or edit, alone in a round.
func (r *research) sections(outline *synthesis.Outline, round int64) (numbers []int, err error) {
	if round > 1 {
		numbers, _, err = sentences.DirectedParts(r.Run, round)
		return numbers, err
	}
	for _, p := range outline.Sections {
		numbers = append(numbers, p.Number)
	}
	return numbers, nil
}

func (s sectionTask) edits() bool { return s.round > 1 }

func (s sectionTask) done(j *Job) bool {
	return s.exists(s.Layout().Part(s.number, s.round)) && (j.lastAccepted() || s.round <= s.Manifest().ReviewRounds())
}

// sectionResult is a section of a round, with cids, or the edits of it.
type sectionResult struct {
	number int
	round  int64
	text   string
}

func (s sectionResult) take(u update, _ *Job, _ int) error {
	return sentences.TakePart(u.run, s.number, s.round, []byte(s.text))
}

// OpensOthers reports whether the jobs of a run may be others when that one is accepted:
// it is a part of a long report.
func OpensOthers(id string) bool {
	kind, _, _ := strings.Cut(id, ".")
	return kind == outlineKind.name || kind == sectionKind.name
}

// partsDone reports whether the sections of a round are written.
func (r *research) partsDone(round int64) (bool, error) {
	outline, err := sentences.ReadOutline(r.Run)
	if err != nil || outline == nil {
		return false, err
	}
	numbers, err := r.sections(outline, round)
	if err != nil {
		return false, err
	}
	for _, n := range numbers {
		if there, err := r.Folder().Exists(r.Layout().Part(n, round)); err != nil || !there {
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

func (s sectionTask) prompt(ctx context.Context, j *Job) (draft, error) {
	outline, err := sentences.ReadOutline(s.Run)
	if err != nil {
		return draft{}, err
	}
	part := outline.Part(s.number)
	statements, err := s.statements(ctx, part.Perspectives)
	if err != nil {
		return draft{}, err
	}
	var revision *sentences.Revision
	if s.edits() {
		if revision, err = sentences.ReadRevision(s.Run); err != nil {
			return draft{}, err
		}
		statements = near(statements, revision.Directed(part.Section, nil))
	}
	data, seen, all, err := s.writing(j, statements, part.Perspectives)
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
	if revision != nil {
		text, line := revision.NumberedPart(own.Title)
		data.Reviewed, _ = numberedFrom(all.list.Shorten(text), line)
		data.Directives, data.Example, data.Edits = revision.Directed(own.Title, nil), editsExample, true
		data.Least = 0
		data.leaner()
	}
	text, err := fill("synthesis.md", data)
	return draft{text: text, seen: seen, sources: all.list.Table()}, err
}

func (s sectionTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	text := source.Expand(a.text, a.attempt.Sources)
	seen, err := s.seen(s.Layout().Citations, s.Layout().Outline())
	if err != nil {
		return judgement{}, err
	}
	outline, err := sentences.ReadOutline(s.Run)
	if err != nil {
		return judgement{}, err
	}
	part := outline.Part(s.number)
	var found sentences.Judged
	if s.edits() {
		revision, err := sentences.ReadRevision(s.Run)
		if err != nil {
			return judgement{}, err
		}
		edited, faults := revision.ApplyPart([]byte(text), part.Section)
		if len(faults) > 0 {
			return judgement{faults: faultsOf(faults), seen: seen}, nil
		}
		found, err = sentences.JudgeEdited(ctx, s.Run, edited.Draft, revision.Directed(part.Section, nil))
		if err != nil {
			return judgement{}, err
		}
	} else {
		least, most := within(part.Words)
		if found, err = sentences.JudgePart(ctx, s.Run, []byte(text), part.Number, least, most); err != nil {
			return judgement{}, err
		}
	}
	return s.written(found, seen, sectionResult{s.number, s.round, text}), nil
}

// sectionsApart are the sections that agents edit alone in a round.
func (r *research) sectionsApart(round int64) ([]string, error) {
	outline, err := sentences.ReadOutline(r.Run)
	if err != nil || outline == nil {
		return nil, err
	}
	numbers, _, err := sentences.DirectedParts(r.Run, round)
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

// joins are the sections of a report for the part that joins them.
func (r *research) joins(template evidence.Template, all *sources) ([]joined, *synthesis.Outline, error) {
	outline, err := sentences.ReadOutline(r.Run)
	if err != nil {
		return nil, nil, err
	}
	var list []joined
	for i, s := range template.Sections {
		one := joined{Section: s.Title, Written: outline.Part(i+1) != nil}
		if one.Written {
			text, err := r.Folder().Read(r.Layout().Part(i+1, 1))
			if err != nil {
				return nil, nil, err
			}
			one.Text = all.list.Shorten(string(text))
		}
		list = append(list, one)
	}
	return list, outline, nil
}
