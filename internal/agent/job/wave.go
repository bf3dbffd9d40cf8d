package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

var (
	wave1Kind = waveKind(run.Wave1)
	wave2Kind = waveKind(run.Wave2)
)

// waveKind is the kind of the jobs that write the outputs of a wave.
func waveKind(stage run.Stage) kind {
	return kind{
		name: string(stage), role: "researcher", format: "markdown", furnished: true, stages: []run.Stage{stage},
		list: func(b *Board) ([]*Job, error) { return listWave(b, stage) },
		done: func(b *Board, j *Job) bool {
			there, err := b.run.Folder().Exists(b.run.Output(stage, j.perspective))
			return err == nil && there
		},
		prompt: func(_ context.Context, b *Board, j *Job) (draft, error) { return wavePrompt(b, j, stage) },
		judge: func(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
			return judgeWave(ctx, b, j, stage, a)
		},
		accept: inRun(func(u *run.Update, j *Job, _ int, judged judgement) error {
			return step.TakeOutput(u, stage, step.Submission{PerspectiveID: j.perspective, Markdown: judged.text, ToolUsage: judged.toolUsage})
		}),
	}
}

// listWave makes one job for each contract of a wave.
func listWave(b *Board, stage run.Stage) ([]*Job, error) {
	if there, err := b.run.Folder().Exists(b.run.ContractsOf(stage)); err != nil || !there {
		return nil, err
	}
	c, err := b.contracts(stage)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, p := range c.doc.List {
		jobs = append(jobs, &Job{ID: run.WaveJob(stage, p.ID), Title: markdown.OneLine(p.Title), perspective: p.ID})
	}
	return jobs, nil
}

// tracks says what a track asks for.
var tracks = map[string]string{
	"standard":    "Answer from this perspective as well as the evidence allows, with the best sources that there are.",
	"independent": "Work from primary sources: statistics, records, laws, papers, the people concerned. Do not rely on what others have concluded before you; where you must, say so.",
	"contrarian":  "Look for what speaks against the usual answer: counter-evidence, failures, costs, those who lose. Do not argue for the sake of it: say plainly where the usual answer holds.",
}

func wavePrompt(b *Board, j *Job, stage run.Stage) (draft, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	said, seen, err := b.about(j)
	if err != nil {
		return draft{}, err
	}
	c, err := b.contracts(stage)
	if err != nil {
		return draft{}, err
	}
	p, v, err := b.perspective(stage, j.perspective)
	if err != nil {
		return draft{}, err
	}
	gap, err := b.gap(stage, j.perspective)
	if err != nil {
		return draft{}, err
	}
	forbidden := lines(v.Get("tool_policy").Get("forbidden"))
	data := struct {
		about
		Title, Gap, Track            string
		Platforms, Budget, Forbidden string // one to a line
		Rules                        []string
		Sourced                      bool
		SourcesTitle                 string
		Example                      string
		Documents                    *shownDocuments
	}{
		about: said, Title: p.Title, Gap: gap, Track: tracks[v.Get("track").Str()], Forbidden: strings.Join(forbidden, "\n"),
		Rules: wave.Rules(p.Contract), Example: waveExample(p.Contract),
		Sourced: most(p.Contract.MaxSources) > 0, SourcesTitle: sourcesTitle(p.Contract),
	}
	for _, requirement := range v.Get("platform_requirements").Elems() {
		data.Platforms += markdown.OneLine(requirement.Get("name").Str()+": "+requirement.Get("reason").Str()) + "\n"
	}
	calls := map[string]int{}
	for _, limit := range p.ToolBudget {
		calls[limit.Tool] = most(limit.Calls)
		data.Budget += fmt.Sprintf("%s: %d\n", markdown.OneLine(limit.Tool), most(limit.Calls))
	}
	if data.Documents, err = b.documents(stage, j.perspective); err != nil {
		return draft{}, err
	}
	text, err := fill("wave.md", data)
	seen[b.run.ContractsOf(stage)] = c.digest
	if err != nil {
		return draft{}, err
	}
	m := b.run.Manifest().Doc()
	contract, err := codec.Marshal(codec.Of(tidegate.Pairs("schema_version", wave.PerspectivesVersion, "run_id", m.Get("run_id"), "created_at", m.Get("created_at"),
		"perspectives", []*codec.Value{v})))
	return draft{text: text, seen: seen, calls: calls, forbidden: forbidden, contract: contract}, err
}

// perspective is a perspective of a wave, as it is judged and as it was written.
func (b *Board) perspective(stage run.Stage, id string) (wave.Perspective, *codec.Value, error) {
	c, err := b.contracts(stage)
	if err != nil {
		return wave.Perspective{}, nil, err
	}
	p, ok := c.doc.Find(id)
	if !ok {
		return wave.Perspective{}, nil, tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.Pairs("perspective_id", id), "the perspectives list no %q", tidegate.Cut(id))
	}
	return *p, c.raw[id], nil
}

// gap is the text of the gap that a perspective of the second wave is to close.
func (b *Board) gap(stage run.Stage, id string) (string, error) {
	if stage != run.Wave2 {
		return "", nil
	}
	if b.gaps == nil {
		name := b.run.Layout().Wave2Plan()
		data, err := b.run.Folder().Read(name)
		if err != nil {
			return "", err
		}
		plan, err := codec.ParseFile("path", b.run.Path(name), data)
		if err != nil {
			return "", err
		}
		b.gaps = map[string]string{}
		for _, e := range plan.Get("entries").Elems() {
			b.gaps[e.Get("perspective_id").Str()] = e.Get("text").Str()
		}
	}
	return b.gaps[id], nil
}

// sourcesTitle is the title of the section that is judged as the list of
// sources, "" when the contract asks for none.
func sourcesTitle(c wave.Contract) string {
	i := slices.IndexFunc(c.Sections, func(title string) bool { return strings.ToLower(title) == "sources" })
	if i < 0 {
		return ""
	}
	return c.Sections[i]
}

// waveExample is a document that meets the contract: its headings, and as much
// below them as the caps allow.
func waveExample(c wave.Contract) string {
	const (
		source = "- Port statistics 2025 https://example.org/port-statistics"
		gap    = "- (P2) What the figures of the last quarter are."
		text   = "The port handled \"some 4,200 calls\" (https://example.org/port-statistics) in that year."
	)
	sources := sourcesTitle(c)
	room := most(c.MaxWords)
	for _, title := range c.Sections {
		room -= len(strings.Fields(wave.HeadingLine(title)))
	}
	var b strings.Builder
	for _, title := range c.Sections {
		b.WriteString(wave.HeadingLine(title) + "\n\n")
		line := text
		switch {
		case title == sources && most(c.MaxSources) == 0:
			continue
		case title == sources:
			line = source
		case strings.EqualFold(title, "gaps"):
			line = gap
		case most(c.MaxSources) == 0 || sources == "":
			line = "What was found."
		}
		if words := len(strings.Fields(line)); words <= room {
			room -= words
			b.WriteString(line + "\n\n")
		}
	}
	return strings.TrimSpace(b.String()) + "\n"
}

func judgeWave(ctx context.Context, b *Board, j *Job, stage run.Stage, a answer) (judgement, error) {
	b.mu.Lock()
	c, err := b.contracts(stage)
	r, check := b.run, b.check
	b.mu.Unlock()
	if err != nil {
		return judgement{}, err
	}
	p, ok := c.doc.Find(j.perspective)
	if !ok {
		return judgement{}, tidegate.Errorf(tidegate.PerspectiveNotFound, tidegate.Pairs("perspective_id", j.perspective), "the perspectives list no %q", tidegate.Cut(j.perspective))
	}
	judged := judgement{text: a.text, toolUsage: a.toolUsage, seen: map[string]string{r.ContractsOf(stage): c.digest}}
	verdict, err := new(wave.Judge).Judge(p.Contract, strings.NewReader(a.text))
	if err != nil {
		return judgement{}, err
	}
	for _, f := range step.Refusals(*p, verdict, []byte(a.text)) {
		judged.faults = append(judged.faults, fault(string(f.Error.Code), f.Message(), f.Line, f.ChangeNote))
	}
	if err := wave.CheckToolUsage(p.ToolBudget, a.toolUsage); err != nil {
		judged.faults = append(judged.faults, faultOf(err, ""))
	}
	handedIn, err := handedInBy(r, a)
	if err != nil {
		return judgement{}, err
	}
	checked, err := check.Check(ctx, b.desk, b.Fetch, step.SubmittedSources{
		Text: []byte(a.text), MaxSources: most(p.Contract.MaxSources), Quotations: b.Policy().Evidence.Grounding, HandedIn: handedIn,
	})
	if err != nil {
		return judgement{}, err
	}
	judged.offline = checked.Offline
	judged.holds = func(ctx context.Context) (bool, error) { return check.Holds(ctx, checked) }
	for _, f := range checked.Faults {
		judged.faults = append(judged.faults, fault(string(f.Code), f.Message, f.Line, f.ChangeNote))
	}
	return judged, nil
}

// handedInBy is the line of the log by which an answer was handed in, 0 where it has none.
func handedInBy(r *run.Run, a answer) (int, error) {
	lines, err := r.EventsOf(run.EventAnswered)
	for _, l := range slices.Backward(lines) {
		attempt, _ := l.Entry.Get("attempt").Int()
		n, _ := l.Entry.Get("answer").Int()
		if l.Entry.Get("job_id").Str() == a.attempt.JobID && int(attempt) == a.attempt.Number && int(n) == a.number {
			return l.Number, err
		}
	}
	return 0, err
}
