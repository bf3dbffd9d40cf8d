package job

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// ListResult is the result of [Board.List].
type ListResult struct {
	OK   codec.True `json:"ok"`
	Jobs []Job      `json:"jobs"`

	runID string
}

// List lists the jobs in some states, all when none is named. It returns
// INVALID_ARGS for a word that is not a state, and TAMPERED for a run whose log is damaged.
func (b *Board) List(states []string) (ListResult, error) {
	known := []string{string(Open), string(Leased), string(Held), string(Accepted), string(Exhausted)}
	for _, s := range states {
		if !slices.Contains(known, s) {
			return ListResult{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("states", tidegate.Cut(s)), "%q is not a state; the states are %s", tidegate.Cut(s), strings.Join(known, ", "))
		}
	}
	if r := b.Run(); r != nil {
		if err := r.CheckLog(); err != nil {
			return ListResult{}, err
		}
	}
	out := ListResult{Jobs: []Job{}, runID: b.ID()}
	for _, j := range b.Jobs() {
		if len(states) == 0 || slices.Contains(states, string(j.State)) {
			out.Jobs = append(out.Jobs, j)
		}
	}
	return out, nil
}

// Report shows the jobs to a person.
func (l ListResult) Report() report.Report {
	open := 0
	for _, j := range l.Jobs {
		if j.State == Open {
			open++
		}
	}
	out := report.Report{Name: "job_list", Title: "jobs of run " + l.runID, Summary: fmt.Sprintf("%s, %d open", report.Counted(len(l.Jobs), "job"), open)}
	out.Add(Table(l.Jobs))
	return out
}

// LeaseResult is the result of the tool deep_research_job_lease.
type LeaseResult struct {
	OK  codec.True  `json:"ok"`
	Job *Assignment `json:"job" jsonschema:"the job that was taken, null when none is open"`
}

// SubmitResult is the result of the tool deep_research_job_submit.
type SubmitResult struct {
	OK codec.True `json:"ok"`
	Verdict
}

// Passed reports whether the answer was not refused: one that waits asks nothing of
// whoever handed it in.
func (s SubmitResult) Passed() bool { return s.Accepted || s.WaitingFor != "" }

// Report shows the verdict to a person.
func (s SubmitResult) Report() report.Report {
	out := report.Report{Name: "job_submit", Title: "job " + s.JobID, Status: report.PassIf(s.Accepted), Summary: "the answer was accepted"}
	switch {
	case s.Accepted:
	case s.State == Held:
		out.Status, out.Summary = report.None, "the answer is kept, and waits for other parts of the report"
	default:
		out.Summary = fmt.Sprintf("the answer was refused: %s; the job is %s", report.Counted(len(s.Faults), "fault"), s.State)
	}
	addFaults(&out, "What to change", s.Faults)
	addFaults(&out, "Warnings", s.Warnings)
	return out
}

func addFaults(out *report.Report, title string, faults []Fault) {
	if len(faults) == 0 {
		return
	}
	var items report.Bullets
	for _, f := range faults {
		item := f.Code
		if f.Line != nil {
			item += fmt.Sprintf(", line %d", *f.Line)
		}
		items = append(items, item+": "+f.Message+" → "+f.ChangeNote)
	}
	out.Add(report.Heading(title), items)
}

// ExtendResult is the result of the tool deep_research_job_extend.
type ExtendResult struct {
	OK        codec.True `json:"ok"`
	ExpiresAt string     `json:"expires_at"`
}

// ReleaseResult is the result of the tool deep_research_job_release.
type ReleaseResult struct {
	OK    codec.True `json:"ok"`
	State State      `json:"state" enum:"open,leased,held,accepted,exhausted"`
}

// Report shows the state to a person.
func (r ReleaseResult) Report() report.Report {
	return report.Report{Name: "job_release", Title: "job", Summary: "the job is " + string(r.State)}
}

// ShowResult is the result of [Board.Show].
type ShowResult struct {
	OK       codec.True `json:"ok"`
	Job      Job        `json:"job"`
	Attempts []*Attempt `json:"attempts"`
	Pairs    []Pair     `json:"pairs,omitzero" jsonschema:"the twins of sentences that a second reader was tested with, once the round is closed"`
}

// Show returns a job with its attempts, and without its pairs ([Board.Pairs]). It
// returns JOB_NOT_FOUND.
func (b *Board) Show(id string) (ShowResult, error) {
	j, err := b.Job(id)
	out := ShowResult{Job: j, Attempts: []*Attempt{}}
	for _, a := range j.attempts {
		if len(a.Pairs) > 0 && !b.closed(&j) {
			a = a.clone()
			a.Pairs = nil
		}
		out.Attempts = append(out.Attempts, a)
	}
	return out, err
}

// Report shows a job and its attempts to a person.
func (s ShowResult) Report() report.Report {
	out := report.Report{Name: "job_show", Title: "job " + s.Job.ID, Summary: fmt.Sprintf("%s, %s, %d tries left", s.Job.State, report.Counted(len(s.Attempts), "attempt"), s.Job.TriesLeft)}
	for _, a := range s.Attempts {
		known := report.Fields{{Name: "holder", Value: a.Holder}, {Name: "driver", Value: a.Driver}, {Name: "began", Value: a.StartedAt}, {Name: "ended", Value: a.EndedAt},
			{Name: "reason", Value: a.Reason}, {Name: "folder", Value: a.dir()}}
		known = slices.DeleteFunc(known, func(f report.Field) bool { return f.Value == "" })
		out.Add(report.Heading(fmt.Sprintf("Attempt %d: %s", a.Number, cmp.Or(a.Outcome, "under way"))), known)
		for i, answer := range a.Submissions {
			addFaults(&out, fmt.Sprintf("Faults of answer %d", i+1), answer.Faults)
		}
		twins := report.NewTable(">Claim", "Twin of a sentence", "Missed")
		for _, p := range s.Pairs {
			if p.Attempt == a.Number {
				twins.Row(report.PassIf(!p.Missed), p.Claim, p.Sentence, map[bool]string{true: "yes", false: "no"}[p.Missed])
			}
		}
		if len(twins.Rows) > 0 {
			out.Add(twins)
		}
	}
	return out
}

// PromptResult is the result of [Board.Prompt].
type PromptResult struct {
	OK       codec.True `json:"ok"`
	JobID    string     `json:"job_id"`
	PromptMD string     `json:"prompt_md"`
}

// Prompt is the prompt of a job: the one that its holder got, or the one that the
// next holder would get; that of a part of the report names its sentences, and has no
// twins among them. It returns JOB_NOT_FOUND.
func (b *Board) Prompt(ctx context.Context, id string) (PromptResult, error) {
	j, err := b.Job(id)
	if err != nil {
		return PromptResult{}, err
	}
	if last := j.last(); last != nil && (j.State == Leased || j.State == Accepted) {
		data, err := b.Folder().Read(last.dir() + "/prompt.md")
		return PromptResult{JobID: id, PromptMD: string(data)}, err
	}
	if j.Kind == verifyKind.name {
		j.byPerson = true // who asks without taking the job is no reader to be tested
	}
	made, err := j.task.prompt(ctx, &j)
	return PromptResult{JobID: id, PromptMD: made.text}, err
}

// Report shows the prompt and nothing else.
func (p PromptResult) Report() report.Report {
	out := report.Report{Name: "job_prompt"}
	out.Add(report.Preformatted(p.PromptMD))
	return out
}

// answerTime is how long a lease lasts when a person takes it to hand in a file.
const answerTime = 5 * time.Minute

// Answer takes a job that is open and hands in an answer, for a person. A refused
// answer ends the attempt. A person may also answer what no agent could: where the tries
// are used up, it is a person's decision that gives one more. It returns the errors of
// [Board.Lease], [Board.Submit] and [Board.Retry].
func (b *Board) Answer(ctx context.Context, id string, answer []byte) (Verdict, error) {
	actor := tidegate.ActorOf(ctx).Kind
	if j, err := b.Job(id); err == nil && j.State == Exhausted && actor == tidegate.Person {
		if _, err := b.Retry(ctx, id, "a person answers", AnyAttempt); err != nil {
			return Verdict{}, err
		}
	}
	a, err := b.Lease(ctx, LeaseInput{Holder: string(actor), JobID: id, For: answerTime, Person: actor == tidegate.Person})
	if err != nil {
		return Verdict{}, err
	}
	verdict, err := b.Submit(ctx, SubmitInput{Token: a.Token, Answer: answer})
	if err != nil || verdict.Accepted || verdict.State != Leased {
		return verdict, err
	}
	ended, err := b.End(ctx, a.Token, Ending{Outcome: OutcomeRefused})
	verdict.State, verdict.TriesLeft = ended.State, ended.TriesLeft
	return verdict, err
}

// Table shows jobs to a person.
func Table(jobs []Job) *report.Table {
	table := report.NewTable("Job", "State", ">Attempt", ">Tries left", "Held by", "Title")
	for _, j := range jobs {
		holder := ""
		if j.Holder != nil {
			holder = *j.Holder
		}
		status := report.None
		switch j.State {
		case Accepted:
			status = report.Pass
		case Exhausted:
			status = report.Fail
		}
		table.Row(status, j.ID, string(j.State), j.Attempt, j.TriesLeft, holder, j.Title)
	}
	return table
}
