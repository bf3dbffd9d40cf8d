package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/wave"
)

// waveTask writes the output of one perspective of a wave.
type waveTask struct {
	*research
	stage       run.Stage
	perspective string
}

// waveJobs makes one job for each contract of a wave.
func (r *research) waveJobs(stage run.Stage) ([]*Job, error) {
	if there, err := r.Folder().Exists(r.ContractsOf(stage)); err != nil || !there {
		return nil, err
	}
	c, err := r.contracts(stage)
	if err != nil {
		return nil, err
	}
	var jobs []*Job
	for _, p := range c.doc.List {
		jobs = append(jobs, &Job{ID: run.WaveJob(stage, p.ID), Title: markdown.OneLine(p.Title), perspective: p.ID, wave: stage, task: waveTask{r, stage, p.ID}})
	}
	return jobs, nil
}

func (w waveTask) done(*Job) bool { return w.exists(w.Output(w.stage, w.perspective)) }

// waveResult is an output of a wave.
type waveResult struct {
	stage run.Stage
	step.Submission
}

func (h waveResult) take(u update, _ *Job, _ int) error {
	return step.TakeOutput(u.run, h.stage, h.Submission)
}

// tracks says what a track asks for.
var tracks = map[string]string{
	"standard":    "Answer from this perspective as well as the evidence allows, with the best sources that there are.",
	"independent": "Work from primary sources: statistics, records, laws, papers, the people concerned. Do not rely on what others have concluded before you; where you must, say so.",
	"contrarian":  "Look for what speaks against the usual answer: counter-evidence, failures, costs, those who lose. Do not argue for the sake of it: say plainly where the usual answer holds.",
}

func (w waveTask) prompt(_ context.Context, j *Job) (draft, error) {
	said, seen, err := w.about(j)
	if err != nil {
		return draft{}, err
	}
	c, err := w.contracts(w.stage)
	if err != nil {
		return draft{}, err
	}
	p, v, err := w.contract(w.stage, w.perspective)
	if err != nil {
		return draft{}, err
	}
	gap, err := w.gap(w.stage, w.perspective)
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
		Documents                    *sourcing.Quoted
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
	if data.Documents, err = w.quoted(w.stage, w.perspective); err != nil {
		return draft{}, err
	}
	text, err := fill("wave.md", data)
	seen[w.ContractsOf(w.stage)] = c.digest
	if err != nil {
		return draft{}, err
	}
	contract, err := codec.Marshal(codec.Of(tidegate.Pairs("schema_version", wave.PerspectivesVersion, "run_id", w.ID(), "created_at", w.CreatedAt(),
		"perspectives", []*codec.Value{v})))
	return draft{text: text, seen: seen, calls: calls, forbidden: forbidden, contract: contract}, err
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

func (w waveTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	c, err := w.contracts(w.stage)
	if err != nil {
		return judgement{}, err
	}
	p, _, err := w.contract(w.stage, w.perspective)
	if err != nil {
		return judgement{}, err
	}
	judged := judgement{seen: map[string]string{w.ContractsOf(w.stage): c.digest},
		result: waveResult{w.stage, step.Submission{PerspectiveID: w.perspective, Markdown: a.text, ToolUsage: a.toolUsage}}}
	verdict, err := new(wave.Judge).Judge(p.Contract, strings.NewReader(a.text))
	if err != nil {
		return judgement{}, err
	}
	for _, f := range step.Refusals(p, verdict, []byte(a.text)) {
		judged.faults = append(judged.faults, fault(string(f.Error.Code), f.Message(), f.Line, f.ChangeNote))
	}
	if err := wave.CheckToolUsage(p.ToolBudget, a.toolUsage); err != nil {
		judged.faults = append(judged.faults, faultOf(err, ""))
	}
	line, err := w.answeredAt(a)
	if err != nil {
		return judgement{}, err
	}
	checked, err := w.checker.Check(ctx, w.desk, a.fetch, sourcing.SubmittedSources{
		Text: []byte(a.text), MaxSources: most(p.Contract.MaxSources), Quotations: w.policy.Evidence.Grounding, HandedIn: line,
	})
	if err != nil {
		return judgement{}, err
	}
	judged.offline = checked.Offline
	judged.holds = func(ctx context.Context) (bool, error) { return w.checker.Holds(ctx, checked) }
	for _, f := range checked.Faults {
		judged.faults = append(judged.faults, fault(string(f.Code), f.Message, f.Line, f.ChangeNote))
	}
	return judged, nil
}

// answeredAt is the line of the log by which an answer was handed in, 0 where it has none.
func (r *research) answeredAt(a answer) (int, error) {
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

// Search searches the web for the holder of a lease, within what its contract allows. May
// says whether the tools that a contract forbids leave a search. It returns the errors of [sourcing.Search], INVALID_ARGS, JOB_NOT_FOUND and LEASE_LOST for the
// token, and INVALID_STATE for a job whose agents have no search.
func (b *Board) Search(ctx context.Context, how *sourcing.Searching, token string, may func(forbidden []string) bool, in sourcing.SearchInput) (sourcing.SearchResult, error) {
	id, err := b.holding(ctx, token, func(_ update, a *Attempt, _ *run.Lease) error {
		in.Attempt = a.Number
		return nil
	})
	if err != nil {
		return sourcing.SearchResult{}, err
	}
	if err = b.searchTerms(id, may, &in); err != nil {
		return sourcing.SearchResult{}, err
	}
	in.JobID = id
	return sourcing.Search(ctx, b.desk, how, in)
}

// searchTerms fills in what the contract of a job says of its searches: how many there may
// be, and what the planner expects of them. A service that the run has not is ignored.
func (b *Board) searchTerms(id string, may func(forbidden []string) bool, in *sourcing.SearchInput) error {
	j, err := b.Job(id)
	if err != nil || !j.kind.web {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the job %s allows no search", id)
	}
	p, v, err := b.present().run.contract(j.wave, j.perspective)
	if err != nil {
		return err
	}
	if !may(lines(v.Get("tool_policy").Get("forbidden"))) {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the contract of %s forbids searching", id)
	}
	for _, limit := range p.ToolBudget {
		if limit.Tool == "search_calls" {
			calls := most(limit.Calls)
			in.Calls = &calls
		}
	}
	in.Prefer, in.Domains, _ = step.Platforms(v.Get("expected_platforms").Strs(), nil)
	return nil
}
