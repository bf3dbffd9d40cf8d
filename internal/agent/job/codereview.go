package job

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/review"
)

// CodeReview is what one reviewer is asked about: a change, or a part of a large
// one.
type CodeReview struct {
	ID     string // of the job
	Role   string // of the reviewer, where several are asked; "" for the only one
	By     string // the name of the reviewer
	Prompt review.Prompt
	About  review.Reviewed
}

// CodeReviewID is the id of the job in which a reviewer looks at a part of a change,
// both counted from 1, in a round of the change. A review alone has the round 0.
func CodeReviewID(round int64, part, reviewer int) string {
	id := fmt.Sprintf("code_review.%d.%d", round, part)
	if round == 0 {
		id = fmt.Sprintf("code_review.%d", part)
	}
	if reviewer > 1 {
		id += fmt.Sprintf("-%d", reviewer)
	}
	return id
}

// ReviewCode is the kind of the jobs in which reviewers look at a change.
func ReviewCode(asked []CodeReview) Kind {
	return Kind{kind: codeReviewKind, waits: true, rounds: true, list: func() ([]*Job, error) {
		var jobs []*Job
		for _, r := range asked {
			j := &Job{ID: r.ID, Title: "Review the change", role: r.Role, task: r}
			if r.Prompt.Parts > 1 {
				j.Title = fmt.Sprintf("Review part %d of %d of the change", r.Prompt.Part, r.Prompt.Parts)
			}
			jobs = append(jobs, j)
		}
		return jobs, nil
	}}
}

// done reports whether the last answer to a job was accepted, and was about what is asked:
// a review of other files, or with other results of the tests, is not the one that is
// wanted.
func (r CodeReview) done(j *Job) bool {
	text, err := r.Prompt.Text()
	return err == nil && j.answeredTo(func(prompt string) bool { return strings.HasPrefix(prompt, text) })
}

// answeredTo reports whether the last attempt at a job was accepted, had that prompt, and
// the log says so: an implementer can write the files of a job before there is one.
func (j *Job) answeredTo(wanted func(prompt string) bool) bool {
	if !j.lastAccepted() {
		return false
	}
	prompt, err := j.folder.Read(j.last().dir() + "/prompt.md")
	return err == nil && wanted(string(prompt)) && j.logged(codec.DigestBytes(prompt))
}

// logged reports whether the log says of the last attempt at a job that it was given
// out with a prompt, answered and accepted.
func (j *Job) logged(promptDigest string) bool {
	entries, err := store.ReadEntries(j.folder, ChangeLog)
	if err != nil {
		return false
	}
	leased, answered := false, false
	for _, e := range entries {
		if attempt, _ := e.Entry.Get("attempt").Int(); e.Entry.Get("job_id").Str() != j.ID || attempt != int64(j.last().Number) {
			continue
		}
		switch e.Event {
		case run.EventLeased: // a takeover believes the files
			leased = leased || e.Entry.Get("kind").Str() == "job_lease" && e.Entry.Get("prompt_digest").Str() == promptDigest
		case run.EventAnswered:
			answered = leased
		case run.EventVerdict:
			if answered && e.Entry.Get("accepted").Bool() {
				return true
			}
		}
	}
	return false
}

// codeReviewFile is where the accepted answer of a reviewer lies, as it was judged.
func codeReviewFile(jobID string) string { return run.JobDir(jobID) + "/review.json" }

// CodeReviewed is what counts of an accepted answer, or of all answers as one.
type CodeReviewed reviews.Outcome

func (c CodeReviewed) take(u update, j *Job, _ int) error {
	return u.WriteJSON(codeReviewFile(j.ID), c)
}

func (r CodeReview) prompt(_ context.Context, j *Job) (draft, error) {
	text, err := r.Prompt.Text()
	if err != nil {
		return draft{}, err
	}
	text, err = j.withLast(text)
	return draft{text: text}, err
}

// withLast is a prompt with the last answer that was refused, where there is one.
func (j *Job) withLast(text string) (string, error) {
	last, err := j.lastRefused()
	if err != nil || last == nil {
		return text, err
	}
	again, err := fill("last", struct {
		Note string
		Last *lastAnswer
	}{j.note, last})
	return text + "\n" + again, err
}

func (r CodeReview) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	doc, err := codec.Parse([]byte(a.text))
	if err != nil {
		return notJSON(err), nil
	}
	about := r.About
	answered, faults, err := review.ParseAnswer(doc, about.Earlier)
	if err != nil {
		return judgement{faults: violations(err)}, nil
	}
	if id := r.Prompt.ChangeID; answered.ChangeID != id {
		faults = append(faults, review.Remark{Code: tidegate.SchemaValidationFailed, Path: "$.change_id",
			Message: fmt.Sprintf("change_id is %q", tidegate.Cut(answered.ChangeID)), Change: "Set it to " + id + "."})
	}
	more, warnings, err := review.Judge(ctx, &answered, about)
	if err != nil {
		return judgement{}, err
	}
	faults = append(faults, more...)
	if a.lastTry {
		// Nobody is asked again: what holds is not lost for what does not.
		faults = answered.SetAside(faults)
	}
	opinion := answered.Opinion(r.By)
	accepted := CodeReviewed{Review: opinion.Review, Findings: opinion.Findings, Dropped: answered.Dropped,
		Closed: answered.Closed, Warnings: answered.Warnings}
	accepted.Review.TestResults = nil // a reviewer runs no tests, whatever it says
	if about.Tests != nil {
		accepted.Review.TestResults = about.Tests.Results()
	}
	for _, w := range warnings {
		accepted.Warnings = append(accepted.Warnings, w.Message)
	}
	return judgement{faults: remarkFaults(faults), warnings: remarkFaults(warnings), result: accepted}, nil
}

// notJSON is the judgement of an answer that cannot be parsed.
func notJSON(err error) judgement {
	return judgement{faults: []Fault{fault(string(tidegate.InvalidJSON), err.Error(), 0, "Answer with one JSON object and nothing else.")}}
}

// violations are the faults of an answer that breaks the form of a review.
func violations(err error) []Fault {
	e := tidegate.AsError(err)
	var faults []Fault
	if list, ok := e.Details.Get("violations"); ok {
		for _, v := range list.([]review.Violation) {
			faults = append(faults, fault(string(tidegate.SchemaValidationFailed), v.Path+": "+v.Message, 0, "Change "+v.Path+" as the rules of the prompt say."))
		}
	}
	if len(faults) == 0 {
		faults = append(faults, faultOf(err, ""))
	}
	return faults
}

func remarkFaults(remarks []review.Remark) []Fault {
	var faults []Fault
	for _, r := range remarks {
		code := r.Code
		if code == "" {
			code = outsideDiff
		}
		faults = append(faults, fault(string(code), r.Path+": "+r.Message, 0, r.Change))
	}
	return faults
}

// outsideDiff is the code of the warning about an issue outside the diff.
const outsideDiff = "OUTSIDE_DIFF"

// Reviewed is the review of a change that its reviewers wrote: their answers, which
// must all be accepted, as one, together with what others found, with the warnings
// about them. It returns INVALID_STATE where an answer is missing, and READ_FAILED.
func (b *Board) Reviewed(others ...review.Opinion) (CodeReviewed, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := CodeReviewed{Dropped: []review.Dropped{}, Closed: []string{}, Warnings: []string{}}
	var opinions []review.Opinion
	for _, id := range b.order {
		j := b.jobs[id]
		asked, is := j.task.(CodeReview)
		if !is {
			continue // of an earlier round, or not a review
		}
		if !j.done {
			return all, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the job %s has no accepted answer", id)
		}
		var kept CodeReviewed
		if err := j.readTaken(codeReviewFile(id), &kept); err != nil {
			return all, err
		}
		opinions = append(opinions, review.Opinion{By: asked.By, Review: kept.Review, Findings: kept.Findings})
		all.Dropped = append(all.Dropped, kept.Dropped...)
		all.Closed = append(all.Closed, kept.Closed...)
		for _, w := range kept.Warnings {
			if !slices.Contains(all.Warnings, w) {
				all.Warnings = append(all.Warnings, w)
			}
		}
	}
	for _, d := range all.Dropped {
		all.Warnings = append(all.Warnings, fmt.Sprintf("the finding %q was set aside: %s", d.Title, d.Why))
	}
	all.Review, all.Findings = review.Join(append(opinions, others...)...)
	all.Closed = review.Closed(all.Closed, all.Findings)
	return all, nil
}

// readTaken reads a file that was made of an accepted answer.
func (j *Job) readTaken(name string, into any) error {
	data, err := j.folder.Read(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, into); err != nil {
		return tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", name), "%s cannot be read: %w", name, err)
	}
	return nil
}
