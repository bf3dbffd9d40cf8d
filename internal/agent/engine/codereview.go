package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// CodeReviewInput says what is reviewed, and where the jobs of the review are kept.
type CodeReviewInput struct {
	Project string // absolute
	Home    string // the folder of runs; the jobs lie in reviews/<id> below it
	Name    string // the change_id of the review
	change.DiffInput
	Earlier []review.Identified // the issues of the review before
	Budget  run.Budget
}

// CodeReview is a review of what a project has changed, without a change of its
// own.
type CodeReview struct {
	in    CodeReviewInput
	desk  run.Desk
	diff  *change.Diff
	tests *review.TestRun
}

// OpenCodeReview finds out what has changed. It returns INVALID_STATE when nothing has
// that could be reviewed, and the errors of [change.ReadDiff].
func OpenCodeReview(ctx context.Context, desk run.Desk, in CodeReviewInput) (*CodeReview, error) {
	d, err := change.ReadDiff(ctx, desk, in.Project, in.DiffInput)
	if err != nil {
		return nil, err
	}
	if len(d.Files) == 0 {
		d.Close()
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("base", d.Base), "there is nothing to review: no file that can be shown differs from %s", d.Base)
	}
	return &CodeReview{in: in, desk: desk, diff: d}, nil
}

// Close ends reading from the project.
func (r *CodeReview) Close() error { return r.diff.Close() }

// Diff is what is reviewed.
func (r *CodeReview) Diff() *change.Diff { return r.diff }

// RunTests runs the project's test command, whose result the reviewers are shown.
// It returns the errors of [driver.RunTests], those of starting as INVALID_ARGS.
func (r *CodeReview) RunTests(ctx context.Context, t driver.Tests) (review.TestRun, error) {
	t.Dir = r.in.Project
	tests, err := runTests(ctx, t)
	if err == nil {
		r.tests = &tests
	}
	return tests, err
}

func runTests(ctx context.Context, t driver.Tests) (review.TestRun, error) {
	output, status, err := driver.RunTests(ctx, driver.Host{}, t)
	switch {
	case ctx.Err() != nil:
		return review.TestRun{}, cancelled(ctx, err)
	case err != nil:
		return review.TestRun{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("test", tidegate.Cut(t.Command)), "%w", err)
	}
	return review.ReadTestRun(output, status), nil
}

// reviewFile is the review that a folder of reviews/ ends with.
const reviewFile = "REVIEW.md"

// Begin makes the folder of the review. One that was begun before for the same
// change and the same results of the tests, and has not ended, goes on. It returns
// WRITE_FAILED and READ_FAILED.
func (r *CodeReview) Begin(ctx context.Context) (*Reviewing, error) {
	prompts := r.diff.Prompts(r.in.Name, r.tests, r.in.Earlier)
	texts := make([]string, len(prompts))
	var err error
	for i, p := range prompts {
		if texts[i], err = p.Text(); err != nil {
			return nil, err
		}
	}
	c, path, err := r.makeFolder(codec.Digest(texts))
	if err != nil {
		return nil, err
	}
	v := &Reviewing{review: r, path: path, change: c}
	shown := review.Touch(r.diff.Files)
	for i, p := range prompts {
		v.change.Reviews = append(v.change.Reviews, job.CodeReview{
			ID: job.CodeReviewID(0, i+1), Prompt: p,
			About: review.Reviewed{Lines: r.diff.Lines, Shown: shown.Has, Tests: r.tests, Earlier: p.Earlier},
		})
	}
	return v, nil
}

// begunFile says when a review was begun, and of what.
const begunFile = "review.json"

// begun is what it says.
type begun struct {
	SchemaVersion string `json:"schema_version"`
	CreatedAt     string `json:"created_at"`
	Project       string `json:"project"`
	Base          string `json:"base"`
}

// makeFolder makes the folder of a review, or finds the one that has not ended.
func (r *CodeReview) makeFolder(digest string) (job.Change, string, error) {
	c := job.Change{CreatedAt: tidegate.Stamp(r.desk.Now()), Budget: r.in.Budget}
	data, err := codec.MarshalFile(begun{"code_review.v1", c.CreatedAt, r.in.Project, r.diff.Base})
	if err != nil {
		return c, "", err
	}
	name := strings.TrimPrefix(digest, "sha256:")[:12]
	for n := 1; ; n++ {
		if c.ID = name; n > 1 {
			c.ID = fmt.Sprintf("%s-%d", name, n)
		}
		path := filepath.Join(r.in.Home, "reviews", c.ID)
		err := r.desk.Reach.CreateFolder("home", path, func(d *artifact.Draft) error { return d.Write(begunFile, data) })
		if err == nil {
			return c, path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return c, "", err
		}
		was, ended, err := readBegun(r.desk, path)
		if err != nil {
			return c, "", err
		}
		if !ended {
			c.CreatedAt = was.CreatedAt
			return c, path, nil
		}
	}
}

// readBegun reads the folder of a review, and whether the review has ended.
func readBegun(desk run.Desk, path string) (was begun, ended bool, err error) {
	folder, err := desk.Reach.Open("home", path)
	if err != nil {
		return was, false, err
	}
	defer folder.Close()
	if ended, err = folder.Exists(reviewFile); ended || err != nil {
		return was, ended, err
	}
	data, err := folder.Read(begunFile)
	if err != nil {
		return was, false, err
	}
	if err := json.Unmarshal(data, &was); err != nil {
		return was, false, tidegate.Errorf(tidegate.ReadFailed, tidegate.Pairs("path", filepath.Join(path, begunFile)), "%s cannot be read: %w", begunFile, err)
	}
	return was, false, nil
}

// Reviewing is a review that agents write.
type Reviewing struct {
	review *CodeReview
	change job.Change
	path   string
}

// Path is the folder of the review.
func (v *Reviewing) Path() string { return v.path }

// Jobs is how many reviewers are asked.
func (v *Reviewing) Jobs() int { return len(v.change.Reviews) }

// CodeReviewOutcome is how a review ended.
type CodeReviewOutcome struct {
	Outcome
	Review   review.Payload // where it waits for nothing
	Warnings []string
	Spent    job.Spent
}

// Drive lets agents write the review, for a person who wants it: jobs that have used
// up their tries get them again. A review without an accepted answer to every job
// waits for a person. It returns LOCK_HELD when another process drives it,
// CANCELLED, and the errors of reading and writing its folder.
func (v *Reviewing) Drive(ctx context.Context, options Options) (CodeReviewOutcome, error) {
	board, err := job.OpenChange(ctx, options.Desk, func(ctx context.Context) (job.Change, error) {
		c := v.change
		var err error
		c.Folder, err = options.Desk.Reach.Open("review", v.path)
		return c, err
	})
	if err != nil {
		return CodeReviewOutcome{}, err
	}
	defer board.Close()
	if err := board.GrantAgain(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByRule})); err != nil {
		return CodeReviewOutcome{}, err
	}
	s := &codeSettler{board: board}
	out, err := drive(ctx, board, rules{settle: s.settle, outOfBudget: s.outOfBudget}, options)
	if err != nil {
		return CodeReviewOutcome{}, err
	}
	ended := CodeReviewOutcome{Outcome: out, Spent: board.Spent()}
	if out.WaitingFor != ForNothing {
		return ended, nil
	}
	if ended.Review, ended.Warnings, err = board.Reviewed(); err != nil {
		return CodeReviewOutcome{}, err
	}
	ended.Warnings = append(ended.Warnings, notShown(v.review.diff)...)
	return ended, board.Folder().Write(reviewFile, review.Format(ended.Review, ended.Warnings))
}

// maxNotShown is how many files a review names that no reviewer was shown.
const maxNotShown = 50

// notShown are the warnings about what changed and no reviewer was shown: an
// approval says nothing about it.
func notShown(d *change.Diff) []string {
	var warnings []string
	for i, left := range d.LeftOut {
		if i == maxNotShown {
			return append(warnings, fmt.Sprintf("%s more changed and no reviewer was shown them", report.Counted(len(d.LeftOut)-i, "file")))
		}
		warnings = append(warnings, fmt.Sprintf("%s changed and no reviewer was shown it: %s", left.File, left.Why))
	}
	return warnings
}

// codeSettler does by rule what follows from the jobs of a code change.
type codeSettler struct {
	board *job.Board
	over  string // which limit of the budget is reached
}

func (s *codeSettler) settle(ctx context.Context) (StepResult, error) {
	judged, err := s.board.JudgeLeftOver(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}))
	if err != nil {
		return StepResult{}, err
	}
	out := StepResult{RunID: s.board.ID(), Did: []Did{}, Jobs: []job.Job{}}
	for _, id := range judged {
		out.Did = append(out.Did, Did{"judge", "judged the answer to " + id + " that was left"})
	}
	var exhausted []string
	for _, j := range s.board.Jobs() {
		if j.State != job.Accepted {
			out.Jobs = append(out.Jobs, j)
		}
		if j.State == job.Exhausted {
			exhausted = append(exhausted, j.ID)
		}
	}
	work := s.board.Work()
	switch {
	case len(out.Jobs) == 0:
		out.WaitingFor, out.Reason = ForNothing, "every answer is accepted"
	case s.over != "":
		out.WaitingFor, out.Reason = ForPerson, s.over
	case work[job.Open]+work[job.Leased] > 0:
		out.WaitingFor, out.Reason = ForAgents, fmt.Sprintf("%s open, %d leased", report.Counted(work[job.Open], "job"), work[job.Leased])
	default:
		out.WaitingFor, out.Reason = ForPerson, "all tries are used up for "+tidegate.Cut(strings.Join(exhausted, ", "))+s.lastFault(exhausted[0])
	}
	return out, nil
}

// lastFault says what was wrong with the last answer to a job, as the rest of a
// sentence.
func (s *codeSettler) lastFault(id string) string {
	shown, err := s.board.Show(id)
	if err != nil || len(shown.Attempts) == 0 {
		return ""
	}
	answers := shown.Attempts[len(shown.Attempts)-1].Submissions
	if len(answers) == 0 || len(answers[len(answers)-1].Faults) == 0 {
		return ""
	}
	fault := answers[len(answers)-1].Faults[0]
	return fmt.Sprintf("; the last answer to %s was refused with %s: %s", id, fault.Code, tidegate.Cut(fault.Message))
}

func (s *codeSettler) outOfBudget(_ context.Context, limit string, spent job.Spent) error {
	s.over = fmt.Sprintf("the budget is used up: %s is %v (%.1f minutes, %.0f tokens, %.2f USD were used)",
		limit, s.board.Policy().Budget.Of(limit), spent.Minutes, spent.Tokens, spent.CostUSD)
	return nil
}
