package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

var synthesisKind = kind{
	name: "synthesis", role: "writer", format: "markdown", stages: []run.Stage{run.Synthesis},
	list: func(b *Board) ([]*Job, error) {
		round := b.run.Manifest().ReviewRounds() + 1
		jobs := rounds("synthesis", "Write the report", round)
		if parts, err := b.inParts(); err != nil {
			return nil, err
		} else if parts {
			if written, err := b.partsDone(round); err != nil {
				return nil, err
			} else if !written {
				jobs = jobs[:len(jobs)-1] // its sections come first
			}
		}
		for _, j := range jobs[min(1, len(jobs)):] {
			claims, err := b.run.Folder().Exists(b.run.Layout().RoundClaims(j.round - 1))
			if err != nil {
				return nil, err
			}
			j.edits = claims
		}
		return jobs, nil
	},
	done: func(b *Board, j *Job) bool {
		past := b.run.Manifest().ReviewRounds()
		if j.round <= past {
			return true
		}
		written, err := b.run.Folder().Digest(b.run.Layout().Synthesis())
		if err != nil || written == "" {
			return false
		}
		if b.policy.Evidence.Sentences {
			claims, err := step.ReadClaims(b.run)
			sourced, _ := b.sourced()
			if err != nil || sourced && (claims == nil || claims.SynthesisDigest != written) {
				return false // a text that no job has judged
			}
		}
		if past == 0 {
			return true
		}
		draft, _ := b.run.Layout().Round(past)
		reviewed, err := b.run.Folder().Digest(draft)
		return err == nil && written != reviewed
	},
	prompt: synthesisPrompt,
	judge:  judgeSynthesis,
	accept: inRun(func(u *run.Update, j *Job, attempt int, judged judgement) error {
		return step.TakeSynthesis(u, []byte(judged.text), judged.draft.Claims, j.ID, attempt)
	}),
}

// rounds are the jobs of a kind that is done once for each round of review.
func rounds(name, title string, n int64) []*Job {
	var jobs []*Job
	for round := int64(1); round <= n; round++ {
		j := &Job{ID: name, Title: title, round: round}
		if round > 1 {
			j.ID, j.Title = fmt.Sprintf("%s.%d", name, round), fmt.Sprintf("%s, round %d", title, round)
		}
		jobs = append(jobs, j)
	}
	return jobs
}

// summarized is a summary as prompts show it, with the passages that carry its statements.
type summarized struct{ ID, Title, Text, Passages string }

// summaries are the summaries of the run, with short ids in place of cids.
func (b *Board) summaries(all *sources) ([]summarized, error) {
	outputs, err := b.outputs()
	if err != nil {
		return nil, err
	}
	var list []summarized
	for _, o := range outputs {
		text, err := b.run.Folder().Read(b.run.Summary(o.perspective))
		if err != nil {
			return nil, err
		}
		list = append(list, summarized{ID: o.perspective, Title: o.title, Text: all.shorten(string(text))})
	}
	return list, nil
}

// maxPassages is how many bytes of passages a writer is shown.
const maxPassages = 96 << 10

// statements are those of the summaries of some perspectives, all where only is nil.
func (b *Board) statements(ctx context.Context, only []string) ([]step.Statement, error) {
	b.mu.Lock()
	outputs, err := b.outputs()
	r, checked := b.run, b.policy.Evidence.Sentences
	b.mu.Unlock()
	if err != nil || !checked {
		return nil, err
	}
	var ids []string
	for _, o := range outputs {
		if only == nil || slices.Contains(only, o.perspective) {
			ids = append(ids, o.perspective)
		}
	}
	return step.ReadStatements(ctx, r, ids)
}

// carry puts the passages of statements beside the summaries, as many as fit, and returns
// how many do not.
func (b *Board) carry(summaries []summarized, all *sources, statements []step.Statement) (left int, err error) {
	outputs, err := b.outputs()
	if err != nil {
		return 0, err
	}
	shown, left := step.WithPassages(statements, maxPassages)
	number := map[evidence.Window]int{}
	for _, s := range shown {
		at := slices.IndexFunc(outputs, func(o output) bool { return o.perspective == s.Perspective })
		text, known := "", number[s.Passage]
		if known == 0 {
			known = len(number) + 1
			number[s.Passage], text = known, fmt.Sprintf(", %s: %s", all.shorten("[@"+s.Passage.CID+"]"), markdown.OneLine(s.Passage.Text))
		}
		summaries[at].Passages += fmt.Sprintf("- %s\n  passage %d%s\n", markdown.OneLine(s.Text), known, text)
	}
	return left, nil
}

// contradictionList lists contradictions for a quotation, each with both passages.
func contradictionList(list []step.Contradiction, all *sources) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "- %s or %s?\n", c.Number, c.Another)
		for _, s := range []*step.Statement{c.First, c.Second} {
			fmt.Fprintf(&b, "  - %s\n", markdown.OneLine(s.Text))
			if s.Passage.Text != "" {
				fmt.Fprintf(&b, "    %s: %s\n", all.shorten("[@"+s.Passage.CID+"]"), markdown.OneLine(s.Passage.Text))
			}
		}
	}
	return b.String()
}

func synthesisPrompt(ctx context.Context, b *Board, j *Job) (draft, error) {
	b.mu.Lock()
	parts, err := b.inParts()
	b.mu.Unlock()
	if err != nil {
		return draft{}, err
	}
	var statements []step.Statement
	if !parts {
		if statements, err = b.statements(ctx, nil); err != nil {
			return draft{}, err
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	data, seen, all, err := b.writing(j, statements, nil)
	if err != nil {
		return draft{}, err
	}
	var answered *synthesis.Answered
	switch {
	case j.edits:
		revision, err := step.ReadRevision(b.run)
		if err != nil {
			return draft{}, err
		}
		data.Reviewed, _ = numbered(all.shorten(revision.Numbered()))
		answered, data.Example, data.Edits = revision.Answered, editsExample, true
		if parts {
			apart, err := sectionsApart(b.run, j.round)
			if err != nil {
				return draft{}, err
			}
			data.Apart = apart
			answered = &synthesis.Answered{Directives: revision.Directed("", apart)}
		}
	case parts:
		template, err := data.Shape.Sections()
		if err != nil {
			return draft{}, err
		}
		list, outline, err := b.joins(template, all)
		if err != nil {
			return draft{}, err
		}
		data.Joins, data.Summaries, data.Findings = list, nil, 0
		data.Least, data.Most = joinWithin(outline, data.Shape.Words())
	default:
		if answered, err = step.Answered(b.run); err != nil {
			return draft{}, err
		}
		if answered != nil {
			data.Reviewed, _ = numbered(all.shorten(string(answered.Draft)))
		}
	}
	if answered != nil {
		data.Directives = answered.Directives
	}
	text, err := fill("synthesis.md", data)
	return draft{text: text, seen: seen, sources: all.table()}, err
}

// writing is what every writer is told, with the digests of what it was made from. Only
// the summaries of some perspectives are shown, all where only is nil. It is called with
// the board's own lock held.
func (b *Board) writing(j *Job, statements []step.Statement, only []string) (synthesisTask, map[string]string, *sources, error) {
	fail := func(err error) (synthesisTask, map[string]string, *sources, error) {
		return synthesisTask{}, nil, nil, err
	}
	said, seen, err := b.about(j)
	if err != nil {
		return fail(err)
	}
	all, err := b.sources()
	if err != nil {
		return fail(err)
	}
	seen[all.name] = all.digest
	summaries, err := b.summaries(all)
	if err != nil {
		return fail(err)
	}
	left, err := b.carry(summaries, all, statements)
	if err != nil {
		return fail(err)
	}
	if only != nil {
		summaries = slices.DeleteFunc(summaries, func(s summarized) bool { return !slices.Contains(only, s.ID) })
	}
	template, err := said.Shape.Sections()
	if err != nil {
		return fail(err)
	}
	data := synthesisTask{LeftOut: left, Disagree: contradictionList(step.Contradictions(statements), all),
		about: said, Summaries: summaries, Sources: all.list, Sections: template.Titles(nil), Reserved: reserved(said.Shape.Language),
		Judged:   template.Titles(func(s evidence.Section) bool { return s.Judgement }),
		Caveats:  template.Titles(func(s evidence.Section) bool { return s.Caveats }),
		Required: b.policy.Evidence.Grounding, Reader: b.policy.Evidence.Reader, Example: synthesisExample(template, all.list)}
	data.FindingsTitle = template.Titles(func(s evidence.Section) bool { return s.Findings })[0]
	if evidence.IsOutline(said.Shape.Template) {
		data.Outline = said.Shape.Template
	}
	if data.Least, data.Most = said.Shape.Range(); j.round > 1 {
		data.Least = 0
	}
	if b.policy.Evidence.Sentences && len(all.list) > 0 {
		data.Forms = true
		if data.Findings, data.Perspectives, data.Cited, err = step.Substance(b.run); err != nil {
			return fail(err)
		}
	}
	return data, seen, all, nil
}

// synthesisTask is what the prompt of a synthesis says.
type synthesisTask struct {
	about
	Summaries []summarized
	LeftOut   int    // statements whose passages are not shown
	Disagree  string // the statements that contradict each other
	Sources   []citable
	Sections  []string // of the template
	Judged    []string // those in which any sentence may be inferred
	Caveats   []string // those in which the research itself may be named
	Reserved  []string
	Outline   string // that the person wrote
	Required  bool
	Forms     bool // every sentence needs one
	Reader    bool // a second agent reads them
	Edits     bool // the answer changes the draft
	// Of a report that is written by parts: the section that this part is, the outline, the
	// sections that this part joins, and those that other agents edit.
	Part       *synthesis.PartOutline
	Plan       []synthesis.PartOutline
	Joins      []joined
	Apart      []string
	Directives []synthesis.Directive
	Reviewed   string // the draft that was sent back
	Example    string
	// How many sentences under the findings are cited, and of how many perspectives and
	// sources, at least.
	Findings, Perspectives, Cited int
	FindingsTitle                 string
	// How many words the report must and may have, 0 for any.
	Least, Most int
}

// editsExample is an answer of edits in the form that is asked for.
const editsExample = `{"replace":[{"sentence":"c2","with":"Most harbours of this size have tried it. [@s1]"},{"sentence":"c5","with":""}],"insert":[{"after":"c3","text":"A second year was dearer. [@s1]"}],"move":[]}`

// synthesisExample is a report in the form that is asked for.
func synthesisExample(template evidence.Template, list []citable) string {
	cited, inferred := "", ""
	if len(list) > 0 {
		cited, inferred = " [@"+list[0].ID+"]", " [inferred from @"+list[0].ID+"]"
	}
	var b strings.Builder
	for _, s := range template.Sections {
		if s.Judgement {
			fmt.Fprintf(&b, "## %s\n\nWhat holds for harbours of this size may not hold for larger ones.%s\n\n", s.Title, inferred)
			continue
		}
		fmt.Fprintf(&b, "## %s\n\nMost harbours of this size have tried it.%s\n\n", s.Title, cited)
	}
	return strings.TrimSpace(b.String()) + "\n"
}

// reserved are the titles that the report adds itself, in English and in its language.
func reserved(language string) []string {
	all := slices.Clone(synthesis.Reserved)
	for _, title := range synthesis.Reserved {
		if said := evidence.Say(language, title); !slices.Contains(all, said) {
			all = append(all, said)
		}
	}
	return all
}

// numbered is a text with the numbers of its lines, and how many it has.
func numbered(text string) (shown string, lines int) { return numberedFrom(text, 1) }

func numberedFrom(text string, first int) (shown string, lines int) {
	var b strings.Builder
	for line := range strings.Lines(text) {
		fmt.Fprintf(&b, "%4d  %s", first+lines, line)
		lines++
	}
	return b.String(), lines
}

func judgeSynthesis(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
	r := b.Run()
	judged := judgement{text: expand(a.text, a.attempt.Sources), seen: map[string]string{}}
	digest, err := r.Folder().Digest(r.Layout().Citations)
	if err != nil {
		return judgement{}, err
	}
	judged.seen[r.Layout().Citations] = digest
	b.mu.Lock()
	parts, err := b.inParts()
	b.mu.Unlock()
	if err != nil {
		return judgement{}, err
	}
	var revision *step.Revision
	var edited evidence.Edited
	switch {
	case j.edits:
		if revision, err = step.ReadRevision(r); err != nil {
			return judgement{}, err
		}
		var others evidence.Edits
		if parts {
			if others, err = step.PartEdits(r, j.round); err != nil {
				return judgement{}, err
			}
		}
		var faults []evidence.Fault
		if edited, faults = revision.ApplyWith(others, []byte(judged.text)); len(faults) > 0 {
			judged.faults = faultsOf(faults)
			return judged, nil
		}
		judged.text = string(edited.Draft)
	case parts:
		shape, err := r.Shape()
		if err != nil {
			return judgement{}, err
		}
		outline, err := step.ReadOutline(r)
		if err != nil {
			return judgement{}, err
		}
		least, most := joinWithin(outline, shape.Words())
		alone, err := step.JudgeJoin(ctx, r, []byte(judged.text), least, most)
		if err != nil {
			return judgement{}, err
		}
		if len(alone.Faults) > 0 {
			judged.faults = faultsOf(alone.Faults)
			return judged, nil
		}
		draft, err := step.AssembleParts(r, []byte(judged.text))
		if err != nil {
			return judgement{}, err
		}
		judged.text = string(draft)
	}
	found, err := step.JudgeDraft(ctx, r, []byte(judged.text))
	if err != nil {
		return judgement{}, err
	}
	if revision != nil {
		revision.Carry(edited, found)
	}
	if found.Claims != nil && b.Policy().Evidence.Reader {
		found.Divide()
	}
	statements, err := b.statements(ctx, nil)
	if err != nil {
		return judgement{}, err
	}
	_, ignored := step.Ignored(step.Contradictions(statements), found.Claims)
	found.Warnings = append(found.Warnings, ignored...)
	judged.draft = found
	judged.faults, judged.warnings = faultsOf(found.Faults), faultsOf(found.Warnings)
	if b.Policy().Evidence.Grounding {
		judged.warnings = append(judged.warnings, faultsOf(found.Weak())...)
	}
	return judged, nil
}

// faultsOf are the faults of a synthesis or a review as attempts keep them.
func faultsOf(list []synthesis.Fault) []Fault {
	var out []Fault
	for _, f := range list {
		out = append(out, fault(string(f.Code), f.Message, f.Line, f.ChangeNote))
	}
	return out
}
