package job

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
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

var codeReviewKind = kind{
	name: "code_review", role: "code_reviewer", format: "json",
	list: func(b *Board) ([]*Job, error) {
		var jobs []*Job
		for _, r := range b.work.(*coding).change.Reviews {
			j := &Job{ID: r.ID, Title: "Review the change", asked: &r}
			if r.Prompt.Parts > 1 {
				j.Title = fmt.Sprintf("Review part %d of %d of the change", r.Prompt.Part, r.Prompt.Parts)
			}
			jobs = append(jobs, j)
		}
		past, err := b.earlierRounds("code_review", jobs)
		return append(past, jobs...), err
	},
	done:   acceptedAsAsked,
	prompt: codeReviewPrompt,
	judge:  judgeCodeReview,
	accept: func(u update, j *Job, _ int, judged judgement) error {
		return u.WriteJSON(codeReviewFile(j.ID), judged.code)
	},
}

// acceptedAsAsked reports whether the last answer to a job was accepted, and was about
// what is asked: a review of other files, or with other results of the tests, is not
// the one that is wanted.
func acceptedAsAsked(b *Board, j *Job) bool {
	if j.past || !acceptedLast(b, j) {
		return j.past
	}
	text, err := j.asked.Prompt.Text()
	if err != nil {
		return false
	}
	answered, err := b.work.Folder().Read(j.last().dir() + "/prompt.md")
	return err == nil && strings.HasPrefix(string(answered), text) && b.logged(j, codec.DigestBytes(answered))
}

// logged reports whether the log says of the last attempt at a job that it was given
// out with a prompt, answered and accepted. An implementer can write the files of a job before
// there is one.
func (b *Board) logged(j *Job, promptDigest string) bool {
	entries, err := run.ReadEntries(b.work.Folder(), ChangeLog)
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
type CodeReviewed struct {
	Review      review.Payload   `json:"review"`
	Findings    []review.Finding `json:"findings"` // the issues, in their order
	Dropped     []review.Dropped `json:"dropped"`
	NeedsPerson string           `json:"needs_person"` // why a person decides, whatever the verdict
	Closed      []string         `json:"closed"`
	Warnings    []string         `json:"warnings"`
}

func codeReviewPrompt(_ context.Context, b *Board, j *Job) (draft, error) {
	text, err := j.asked.Prompt.Text()
	if err != nil {
		return draft{}, err
	}
	text, err = b.withLast(j, text)
	return draft{text: text}, err
}

// withLast is a prompt with the last answer that was refused, where there is one.
func (b *Board) withLast(j *Job, text string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	last, err := b.lastRefused(j)
	if err != nil || last == nil {
		return text, err
	}
	again, err := fill("last", struct {
		Note string
		Last *lastAnswer
	}{j.note, last})
	return text + "\n" + again, err
}

func judgeCodeReview(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
	doc, err := codec.Parse([]byte(a.text))
	if err != nil {
		return judgement{faults: []Fault{fault(string(tidegate.InvalidJSON), err.Error(), 0, "Answer with one JSON object and nothing else.")}}, nil
	}
	about := j.asked.About
	answered, faults, err := review.ParseAnswer(doc, about.Earlier)
	if err != nil {
		return judgement{faults: violations(err)}, nil
	}
	if id := j.asked.Prompt.ChangeID; answered.ChangeID != id {
		faults = append(faults, review.Remark{Code: tidegate.SchemaValidationFailed, Path: "$.change_id",
			Message: fmt.Sprintf("change_id is %q", tidegate.Cut(answered.ChangeID)), Change: "Set it to " + id + "."})
	}
	more, warnings, err := review.Judge(ctx, &answered, about)
	if err != nil {
		return judgement{}, err
	}
	faults = append(faults, more...)
	if j.triesLeft(int(b.Policy().Budget.Tries), b.desk.Now()) <= 1 {
		// Nobody is asked again: what holds is not lost for what does not.
		faults = answered.SetAside(faults)
	}
	opinion := answered.Opinion(j.asked.By)
	accepted := CodeReviewed{Review: opinion.Review, Findings: opinion.Findings, Dropped: answered.Dropped, NeedsPerson: answered.NeedsPerson,
		Closed: answered.Closed, Warnings: answered.Warnings}
	accepted.Review.TestResults = nil // a reviewer runs no tests, whatever it says
	if about.Tests != nil {
		accepted.Review.TestResults = about.Tests.Results()
	}
	for _, w := range warnings {
		accepted.Warnings = append(accepted.Warnings, w.Message)
	}
	return judgement{faults: remarkFaults(faults), warnings: remarkFaults(warnings), code: accepted}, nil
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
		if j.asked == nil {
			continue // of an earlier round, or not a review
		}
		if !j.done {
			return all, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "the job %s has no accepted answer", id)
		}
		data, err := b.work.Folder().Read(codeReviewFile(id))
		if err != nil {
			return all, err
		}
		var kept CodeReviewed
		if err := json.Unmarshal(data, &kept); err != nil {
			return all, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", codeReviewFile(id)), "%s is not a review: %w", codeReviewFile(id), err)
		}
		opinions = append(opinions, review.Opinion{By: j.asked.By, Review: kept.Review, Findings: kept.Findings})
		all.Dropped = append(all.Dropped, kept.Dropped...)
		all.NeedsPerson = cmp.Or(all.NeedsPerson, kept.NeedsPerson)
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
	return all, nil
}
