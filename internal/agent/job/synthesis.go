package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/rule/synthesis"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/step"
)

// synthesisTask writes the report, and, from the second round on, changes it as the review
// asks.
type synthesisTask struct {
	*research
	round int64
	edits bool // it is answered by edits of the draft before
}

func (r *research) synthesisJobs() ([]*Job, error) {
	round := r.Manifest().ReviewRounds() + 1
	jobs := rounds("synthesis", "Write the report", round)
	if parts, err := r.inParts(); err != nil {
		return nil, err
	} else if parts {
		if written, err := r.partsDone(round); err != nil {
			return nil, err
		} else if !written {
			jobs = jobs[:len(jobs)-1] // its sections come first
		}
	}
	for _, j := range jobs {
		claims := false
		if j.round > 1 {
			var err error
			if claims, err = r.Folder().Exists(r.Layout().RoundClaims(j.round - 1)); err != nil {
				return nil, err
			}
		}
		if j.task = (synthesisTask{r, j.round, claims}); claims {
			j.format = "json"
		}
	}
	return jobs, nil
}

func (p synthesisTask) done(*Job) bool {
	past := p.Manifest().ReviewRounds()
	if p.round <= past {
		return true
	}
	written, err := p.Folder().Digest(p.Layout().Synthesis())
	if err != nil || written == "" {
		return false
	}
	claims, err := sentences.ReadClaims(p.Run)
	sourced, _ := p.sourced()
	if err != nil || sourced && (claims == nil || claims.SynthesisDigest != written) {
		return false // a text that no job has judged
	}
	if past == 0 {
		return true
	}
	draft, _ := p.Layout().Round(past)
	reviewed, err := p.Folder().Digest(draft)
	return err == nil && written != reviewed
}

// synthesisResult is a report, with its sentences.
type synthesisResult struct {
	text  string
	draft sentences.Judged
}

func (p synthesisResult) take(u update, j *Job, attempt int) error {
	return sentences.TakeSynthesis(u.run, []byte(p.text), p.draft, j.draws(u), j.ID, attempt)
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
func (r *research) summaries(all *sources) ([]summarized, error) {
	outputs, err := r.outputs()
	if err != nil {
		return nil, err
	}
	var list []summarized
	for _, o := range outputs {
		text, err := r.Folder().Read(r.Summary(o.perspective))
		if err != nil {
			return nil, err
		}
		list = append(list, summarized{ID: o.perspective, Title: o.title, Text: all.list.Shorten(string(text))})
	}
	return list, nil
}

// maxOpen is how many open questions a writer is shown.
const maxOpen = 20

// maxPassages is how many bytes of passages a writer is shown.
const maxPassages = 96 << 10

// statements are those of the summaries of some perspectives, all where only is nil.
func (r *research) statements(ctx context.Context, only []string) ([]sentences.Statement, error) {
	ids, err := r.perspectives()
	if err != nil {
		return nil, err
	}
	ids = slices.DeleteFunc(ids, func(id string) bool { return only != nil && !slices.Contains(only, id) })
	return sentences.ReadStatements(ctx, r.Run, ids)
}

// carry puts the passages of statements beside the summaries, as many as fit, and returns
// how many do not.
func (r *research) carry(summaries []summarized, all *sources, statements []sentences.Statement) (left int, err error) {
	ids, err := r.perspectives()
	if err != nil {
		return 0, err
	}
	shown, left := sentences.WithPassages(statements, maxPassages)
	number := map[claim.Window]int{}
	for _, s := range shown {
		at := slices.Index(ids, s.Perspective)
		text, known := "", number[s.Passage]
		if known == 0 {
			known = len(number) + 1
			number[s.Passage], text = known, fmt.Sprintf(", %s: %s", all.list.Shorten("[@"+s.Passage.CID+"]"), markdown.OneLine(s.Passage.Text))
		}
		summaries[at].Passages += fmt.Sprintf("- %s\n", markdown.OneLine(s.Text))
		if len(s.Missing) > 0 {
			summaries[at].Passages += fmt.Sprintf("  not on its page: %s\n", markdown.OneLine(strings.Join(s.Missing, "; ")))
		}
		summaries[at].Passages += fmt.Sprintf("  passage %d%s\n", known, text)
	}
	return left, nil
}

// nearest is how many statements edits are shown for each change that a reviewer asks for.
const nearest = 4

// near are the statements that share most words with what a reviewer asks for, at least two:
// edits need no others.
func near(statements []sentences.Statement, directives []synthesis.Directive) []sentences.Statement {
	taken := map[int]bool{}
	for _, d := range directives {
		if d.About != nil {
			continue
		}
		asked, shared := (claim.Question{Text: d.Action}).Words(), make([]int, len(statements))
		order := make([]int, len(statements))
		for i, s := range statements {
			order[i] = i
			for _, word := range (claim.Question{Text: s.Text}).Words() {
				shared[i] += codec.Flag(slices.Contains(asked, word))
			}
		}
		slices.SortStableFunc(order, func(a, b int) int { return shared[b] - shared[a] })
		for _, i := range order[:min(nearest, len(order))] {
			taken[i] = taken[i] || shared[i] > 1
		}
	}
	var list []sentences.Statement
	for i, s := range statements {
		if taken[i] {
			list = append(list, s)
		}
	}
	return list
}

// contradictionList lists contradictions for a quotation, each with both passages.
func contradictionList(list []sentences.Contradiction, all *sources) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "- %s or %s?\n", c.Number, c.Another)
		for _, s := range []*sentences.Statement{c.First, c.Second} {
			fmt.Fprintf(&b, "  - %s\n", markdown.OneLine(s.Text))
			if s.Passage.Text != "" {
				fmt.Fprintf(&b, "    %s: %s\n", all.list.Shorten("[@"+s.Passage.CID+"]"), markdown.OneLine(s.Passage.Text))
			}
		}
	}
	return b.String()
}

func (p synthesisTask) prompt(ctx context.Context, j *Job) (draft, error) {
	parts, err := p.inParts()
	if err != nil {
		return draft{}, err
	}
	var statements []sentences.Statement
	if !parts {
		if statements, err = p.statements(ctx, nil); err != nil {
			return draft{}, err
		}
	}
	var revision *sentences.Revision
	if p.edits {
		if revision, err = sentences.ReadRevision(p.Run); err != nil {
			return draft{}, err
		}
		if revision.Answered != nil {
			statements = near(statements, revision.Answered.Directives)
		}
	}
	data, seen, all, err := p.writing(j, statements, nil)
	if err != nil {
		return draft{}, err
	}
	var answered *synthesis.Answered
	switch {
	case p.edits:
		data.Reviewed, _ = numbered(all.list.Shorten(revision.Numbered()))
		answered, data.Example, data.Edits, data.Words = revision.Answered, editsExample, true, revision.Words()
		if parts {
			apart, err := p.sectionsApart(p.round)
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
		list, outline, err := p.joins(template, all)
		if err != nil {
			return draft{}, err
		}
		data.Joins, data.Summaries, data.Findings = list, nil, 0
		data.Least, data.Most = joinWithin(outline, data.Shape.Words())
	default:
		if answered, err = sentences.Answered(p.Run); err != nil {
			return draft{}, err
		}
		if answered != nil {
			data.Reviewed, _ = numbered(all.list.Shorten(string(answered.Draft)))
		}
	}
	if answered != nil {
		data.Directives = answered.Directives
	}
	data.leaner()
	text, err := fill("synthesis.md", data)
	return draft{text: text, seen: seen, sources: all.list.Table()}, err
}

// writing is what every writer is told, with the digests of what it was made from. Only
// the summaries of some perspectives are shown, all where only is nil.
func (r *research) writing(j *Job, statements []sentences.Statement, only []string) (synthesisPrompt, map[string]string, *sources, error) {
	fail := func(err error) (synthesisPrompt, map[string]string, *sources, error) {
		return synthesisPrompt{}, nil, nil, err
	}
	said, seen, err := r.about(j)
	if err != nil {
		return fail(err)
	}
	all, err := r.sources()
	if err != nil {
		return fail(err)
	}
	seen[all.name] = all.digest
	summaries, err := r.summaries(all)
	if err != nil {
		return fail(err)
	}
	left, err := r.carry(summaries, all, statements)
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
	data := synthesisPrompt{LeftOut: left, Disagree: contradictionList(sentences.Contradictions(statements), all),
		about: said, Summaries: summaries, Sources: all.list, Sections: template.Titles(nil), Reserved: reserved(said.Shape.Language),
		Judged:   template.Titles(func(s evidence.Section) bool { return s.Judgement }),
		Caveats:  template.Titles(func(s evidence.Section) bool { return s.Caveats }),
		Required: r.policy.Evidence.Grounding, Reader: r.policy.Evidence.Reader, Example: synthesisExample(template, all.list)}
	data.FindingsTitle = template.Titles(func(s evidence.Section) bool { return s.Findings })[0]
	if data.Answer = template.Answer(); data.Answer == data.FindingsTitle {
		data.Answer = "" // which needs more sentences than an answer has
	}
	if evidence.IsOutline(said.Shape.Template) {
		data.Outline = said.Shape.Template
	}
	data.Least, data.Most = said.Shape.Range(j.round > 1)
	gaps, err := step.OpenGaps(r.Run)
	if err != nil {
		return fail(err)
	}
	for _, g := range gaps[:min(len(gaps), maxOpen)] {
		data.Open += "- " + markdown.OneLine(g.Text) + "\n"
	}
	if len(all.list) > 0 {
		data.Forms = true
		if data.Findings, data.Perspectives, data.Cited, err = sentences.Substance(r.Run); err != nil {
			return fail(err)
		}
	}
	return data, seen, all, nil
}

// synthesisPrompt is what the prompt of a synthesis says.
type synthesisPrompt struct {
	about
	Summaries []summarized
	LeftOut   int    // statements whose passages are not shown
	Disagree  string // the statements that contradict each other
	Open      string // what the researchers left open
	Sources   source.Citables
	Sections  []string // of the template
	Answer    string   // the one that answers the question
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
	Words       int // of the draft that is edited
}

// ID is the short id of a source.
func (p synthesisPrompt) ID(cid string) string {
	for _, s := range p.Sources {
		if s.CID == cid {
			return s.ID
		}
	}
	return cid
}

// leaner leaves out what edits do not need. They come with the passages of both looks at what
// is disputed, and with the statements that a reviewer may mean; no summary is written from.
func (p *synthesisPrompt) leaner() {
	if !p.Edits {
		return
	}
	p.Summaries = slices.DeleteFunc(p.Summaries, func(s summarized) bool { return s.Passages == "" })
	for i := range p.Summaries {
		p.Summaries[i].Text = ""
	}
	if slices.ContainsFunc(p.Directives, func(d synthesis.Directive) bool { return d.About == nil }) {
		return // a reviewer may ask for anything
	}
	p.Summaries, p.Disagree, p.Open, p.LeftOut = nil, "", "", 0
	p.Sources = slices.Clone(p.Sources)
	for i := range p.Sources {
		p.Sources[i].Quotes = nil
	}
}

// editsExample is an answer of edits in the form that is asked for.
const editsExample = `{"replace":[{"sentence":"c2","with":"Most harbours of this size have tried it. [@s1]"},{"sentence":"c5","with":""}],"insert":[{"after":"c3","text":"A second year was dearer. [@s1]"}],"move":[]}`

// synthesisExample is a report in the form that is asked for.
func synthesisExample(template evidence.Template, list source.Citables) string {
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

func (p synthesisTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	text := source.Expand(a.text, a.attempt.Sources)
	seen, err := p.seen(p.Layout().Citations)
	if err != nil {
		return judgement{}, err
	}
	parts, err := p.inParts()
	if err != nil {
		return judgement{}, err
	}
	var revision *sentences.Revision
	var edited evidence.Edited
	var faults []evidence.Fault
	whole := []byte(text)
	switch {
	case p.edits:
		revision, edited, faults, err = p.edit(text, parts)
		whole = edited.Draft
	case parts:
		whole, faults, err = p.join(ctx, text)
	}
	if err != nil || len(faults) > 0 {
		return judgement{faults: faultsOf(faults), seen: seen}, err
	}
	found, err := sentences.JudgeDraft(ctx, p.Run, whole)
	if err != nil {
		return judgement{}, err
	}
	if revision != nil {
		revision.Carry(edited, found)
	}
	statements, err := p.statements(ctx, nil)
	if err != nil {
		return judgement{}, err
	}
	_, ignored := sentences.Ignored(sentences.Contradictions(statements), found.Claims)
	found.Warnings = append(found.Warnings, ignored...)
	return p.written(found, seen, synthesisResult{string(whole), found}), nil
}

// edit makes the draft of the last round into that of this one.
func (p synthesisTask) edit(text string, parts bool) (revision *sentences.Revision, edited evidence.Edited, faults []evidence.Fault, err error) {
	if revision, err = sentences.ReadRevision(p.Run); err != nil {
		return nil, edited, nil, err
	}
	var others evidence.Edits
	if parts {
		if others, err = sentences.PartEdits(p.Run, p.round); err != nil {
			return nil, edited, nil, err
		}
	}
	edited, faults = revision.ApplyWith(others, []byte(text))
	return revision, edited, faults, nil
}

// join makes the sections, and what joins them, into a draft.
func (p synthesisTask) join(ctx context.Context, text string) (draft []byte, faults []evidence.Fault, err error) {
	shape, err := p.Shape()
	if err != nil {
		return nil, nil, err
	}
	outline, err := sentences.ReadOutline(p.Run)
	if err != nil {
		return nil, nil, err
	}
	least, most := joinWithin(outline, shape.Words())
	alone, err := sentences.JudgeJoin(ctx, p.Run, []byte(text), least, most)
	if err != nil || len(alone.Faults) > 0 {
		return nil, alone.Faults, err
	}
	draft, err = sentences.AssembleParts(p.Run, []byte(text))
	return draft, nil, err
}

// written is the judgement of something of the report by the rules of gate E.
func (r *research) written(found sentences.Judged, seen map[string]string, as result) judgement {
	judged := judgement{faults: faultsOf(found.Faults), warnings: faultsOf(found.Warnings), seen: seen, result: as}
	if r.policy.Evidence.Grounding {
		judged.warnings = append(judged.warnings, faultsOf(found.Weak())...)
	}
	return judged
}

// faultsOf are the faults of a synthesis or a review as attempts keep them.
func faultsOf(list []synthesis.Fault) []Fault {
	var out []Fault
	for _, f := range list {
		out = append(out, fault(string(f.Code), f.Message, f.Line, f.ChangeNote))
	}
	return out
}
