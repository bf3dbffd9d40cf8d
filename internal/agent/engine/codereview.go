package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
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
	Earlier change.Earlier // the review before
	// Before is the review of the same change at an earlier commit, nil for none. Where
	// the change goes on from there, only what is new is reviewed.
	Before *Before
	// Reviewers are the names of those who are asked, one where there is none. The first
	// has the role code_reviewer, the second code_reviewer.2, and so on.
	Reviewers  []string
	Guidelines []string           // files that say how the project wants its code; none: those of the usual names
	Verifier   string             // who holds the findings against the code, "" for nobody
	Dismissed  []change.Dismissal // what a person wants to hear no more of
	Linters    []review.Foreign   // what other tools found, which becomes part of the review
	Again      bool               // ask although nothing has changed since they were asked last
	Budget     run.Budget
}

// ReviewerRole is the role of the reviewer n of a review, counted from 1.
func ReviewerRole(n int) string {
	if n == 1 {
		return config.CodeReviewer
	}
	return fmt.Sprintf("%s.%d", config.CodeReviewer, n)
}

// CodeReview is a review of what a project has changed, without a change of its
// own.
type CodeReview struct {
	in         CodeReviewInput
	desk       run.Desk
	whole      *change.Diff // all that the change is
	diff       *change.Diff // what of it is reviewed
	carried    []review.Finding
	tests      tested
	guidelines []change.Document
	seed       string // of the controls among the findings
}

// OpenCodeReview finds out what has changed, which may be nothing that can be
// reviewed. It returns the errors of [change.ReadDiff] and [change.Diff.Guidelines].
func OpenCodeReview(ctx context.Context, desk run.Desk, in CodeReviewInput) (*CodeReview, error) {
	d, err := change.ReadDiff(ctx, desk, in.Project, in.DiffInput)
	if err != nil {
		return nil, err
	}
	r := &CodeReview{in: in, desk: desk, whole: d, diff: d}
	if r.guidelines, err = d.Guidelines(ctx, in.Guidelines); err == nil {
		err = r.goOn(ctx)
	}
	if err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// Close ends reading from the project.
func (r *CodeReview) Close() error {
	if r.diff != r.whole {
		r.diff.Close()
	}
	return r.whole.Close()
}

// Diff is what is reviewed: of a change that goes on from the review before, what is
// new.
func (r *CodeReview) Diff() *change.Diff { return r.diff }

// Whole is all that the change is.
func (r *CodeReview) Whole() *change.Diff { return r.whole }

// RunTests runs the project's test command on a copy of what is reviewed, and shows
// its result to the reviewers. It returns the errors of [driver.RunTests], those of
// starting as INVALID_ARGS.
func (r *CodeReview) RunTests(ctx context.Context, t driver.Tests) (review.TestRun, error) {
	var err error
	if r.tests, err = testDiff(ctx, r.desk, r.in.Home, r.whole, t); err != nil {
		return review.TestRun{}, err
	}
	return *r.tests.run, nil
}

// Tests is what the project's tests said, nil where they were not run.
func (r *CodeReview) Tests() *review.TestRun { return r.tests.run }

// Unanswered are what no reviewer of the change answers for.
func (r *CodeReview) Unanswered() []review.Unanswered { return unanswered(r.whole, r.tests) }

// Estimate is how many jobs the review has, and how many bytes their prompts.
func (r *CodeReview) Estimate() (jobs, size int, err error) {
	for _, p := range r.prompts() {
		text, err := p.Text()
		if err != nil {
			return 0, 0, err
		}
		jobs, size = jobs+r.reviewers(), size+r.reviewers()*len(text)
	}
	return jobs, size, nil
}

func (r *CodeReview) reviewers() int { return max(1, len(r.in.Reviewers)) }

func (r *CodeReview) prompts() []review.Prompt {
	prompts := r.diff.Prompts(r.in.Name, r.tests.run, r.in.Earlier.Issues)
	linters := r.linters()
	for i := range prompts {
		prompts[i].Guidelines = change.ShowDocuments(r.guidelines)
		prompts[i].Quotes, prompts[i].Tree, prompts[i].TestsGone = true, true, r.tests.gone
		for _, d := range r.in.Dismissed {
			prompts[i].Dismissed = append(prompts[i].Dismissed, fmt.Sprintf("%s %s: %s", d.File, d.Title, d.Reason))
		}
		for n := range linters {
			prompts[i].Linters = append(prompts[i].Linters, review.IdentifiedOf(linters[n].Findings)...)
		}
	}
	return prompts
}

// linters are what other tools found in the files that are reviewed.
func (r *CodeReview) linters() []review.Opinion {
	shown := review.Touch(r.diff.Files)
	var opinions []review.Opinion
	for _, f := range r.in.Linters {
		f.Issues = slices.DeleteFunc(slices.Clone(f.Issues), func(issue review.Issue) bool { return !shown.Has(issue.File, 0) })
		opinions = append(opinions, f.Opinion())
	}
	return opinions
}

// subject is the digest of what is reviewed, whatever was found in it before. Times
// that tests print are no part of it.
func (r *CodeReview) subject() string {
	var texts []string
	for _, part := range review.Split(r.diff.Files, change.MaxDiff) {
		texts = append(texts, part.Text)
	}
	for _, left := range r.diff.LeftOut {
		texts = append(texts, left.File, left.Why)
	}
	for _, d := range r.guidelines {
		texts = append(texts, d.Name, d.Text)
	}
	for _, o := range r.linters() {
		texts = append(texts, review.IssueList(review.IdentifiedOf(o.Findings)))
	}
	if r.in.Before != nil {
		texts = append(texts, review.IssueList(r.in.Earlier.Issues), review.IssueList(review.IdentifiedOf(r.carried)))
	}
	if t := r.tests.run; t != nil {
		texts = append(texts, fmt.Sprint(t.Passed, t.Failed, t.Skipped, t.Failing))
	}
	return codec.Digest(texts)
}

// Recorded is the review that the same reviewers wrote of the same diff with the same
// results of the tests, where the home keeps it and it needs nobody: they need not be
// asked again. A review that the person handed in as the one before must be that one.
// It is nil where there is none, and returns READ_FAILED.
func (r *CodeReview) Recorded() (*ReviewRecord, error) {
	if r.in.Again {
		return nil, nil
	}
	records, err := ReviewRecords(r.desk, r.in.Home)
	subject := r.subject()
	for _, was := range slices.Backward(records) {
		if was.Ended == nil || was.Ended.NeedsPerson != "" || was.Project != r.in.Project || was.Name != r.in.Name || was.Subject != subject || was.Verifier != r.in.Verifier || !slices.Equal(was.Reviewers, r.in.Reviewers) {
			continue
		}
		if r.in.Earlier.Digest == "" || r.in.Earlier.Digest == was.Ended.ReviewDigest {
			return &was, err
		}
	}
	return nil, err
}

// Begin makes the folder of the review. One that was begun before for the same
// change and the same results of the tests, and has not ended, goes on. It returns
// WRITE_FAILED and READ_FAILED.
func (r *CodeReview) Begin(ctx context.Context) (*Reviewing, error) {
	prompts := r.prompts()
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
	about := aboutDiff(r.diff, r.tests.run, r.in.Earlier.Files)
	for i, p := range prompts {
		about.Earlier = p.Earlier
		v.change.Reviews = append(v.change.Reviews, askPanel(r.in.Reviewers, 0, i+1, p, about, len(r.in.Linters))...)
	}
	return v, nil
}

// askPanel asks each of the reviewers about a part of a diff. Findings say by whom they
// are where there are several, or others beside them.
func askPanel(reviewers []string, round int64, part int, p review.Prompt, about review.Reviewed, others int) []job.CodeReview {
	var list []job.CodeReview
	for n := 1; n <= max(1, len(reviewers)); n++ {
		asked := job.CodeReview{ID: job.CodeReviewID(round, part, n), Role: ReviewerRole(n), Prompt: p, About: about}
		if len(reviewers) > 0 && len(reviewers)+others > 1 {
			asked.By = reviewers[n-1]
		}
		list = append(list, asked)
	}
	return list
}

// aboutDiff is what the review of a diff is about. Before are the files that the
// review before it was about, nil where that is not known.
func aboutDiff(d *change.Diff, tests *review.TestRun, before []string) review.Reviewed {
	about := review.Reviewed{Text: d.Text, Shown: review.Touch(d.Files).Has, Tests: tests}
	if before != nil {
		about.Changed = d.ChangedSince(before)
	}
	return about
}

// evidenceOf is what is kept beside a review.
func evidenceOf(d *change.Diff, r job.CodeReviewed) change.Evidence {
	e := change.Evidence{Findings: r.Findings, Dropped: r.Dropped, NeedsPerson: r.NeedsPerson}
	for _, f := range d.Files {
		e.Files = append(e.Files, f.Name)
	}
	return e
}

// makeFolder makes the folder of a review, or finds the one that has not ended.
func (r *CodeReview) makeFolder(digest string) (job.Change, string, error) {
	c := job.Change{CreatedAt: tidegate.Stamp(r.desk.Now()), Budget: r.in.Budget}
	if r.seed = digest; !r.desk.Pinned {
		r.seed = job.ControlSeed()
	}
	data, err := codec.MarshalFile(Begun{"code_review.v1", c.CreatedAt, r.in.Project, r.diff.Base, r.in.Name, r.in.Reviewers, r.in.Verifier, r.seed, r.subject()})
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
		was, err := readReview(r.desk, path)
		if err != nil {
			return c, "", err
		}
		if was.Ended == nil && was.Verifier == r.in.Verifier && len(was.Reviewers) == len(r.in.Reviewers) {
			c.CreatedAt, r.seed = was.CreatedAt, was.Seed
			return c, path, nil
		}
	}
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
	job.CodeReviewed                  // where it waits for nothing
	Checked          []review.Checked // what the verifier said of the findings
	Spent            job.Spent
	// Unavailable says that it waits because agents could not answer, or not in time or
	// within the budget: what they answered is not the reason.
	Unavailable bool
}

// verify asks the verifier about the findings of the review.
func (v *Reviewing) verify(ctx context.Context, board *job.Board) error {
	reviewed, err := board.Reviewed(v.review.linters()...)
	if err != nil {
		return err
	}
	d := v.review.diff
	texts := map[string][]byte{}
	for _, f := range reviewed.Findings {
		if texts[f.File], _, err = d.Text(ctx, f.File); err != nil {
			return err
		}
	}
	plan := func(seed string) [][]review.Check {
		return review.PlanChecks(reviewed.Findings, d.Files, func(file string) []byte { return texts[file] }, seed)
	}
	v.change.Verify = []job.CodeVerify{}
	for i := range plan("") {
		id := job.CodeVerifyID(i + 1)
		v.change.Verify = append(v.change.Verify, job.CodeVerify{ID: id, Checks: func(attempt int) []review.Check {
			return plan(codec.Digest([]string{v.review.seed, id, fmt.Sprint(attempt)}))[i]
		}})
	}
	return nil
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
	s := &codeSettler{board: board}
	if err := s.grantAgain(ctx); err != nil {
		return CodeReviewOutcome{}, err
	}
	var seen tree
	if err := seen.make(ctx, v.review.diff); err != nil {
		return CodeReviewOutcome{}, err
	}
	defer seen.clear()
	options.tree = &seen.path
	out, err := drive(ctx, board, s.rules(func(ctx context.Context) (more bool, err error) {
		if v.review.in.Verifier == "" || v.change.Verify != nil {
			return false, nil
		}
		return true, v.verify(ctx, board)
	}), options)
	if err != nil {
		return CodeReviewOutcome{}, err
	}
	ended := CodeReviewOutcome{Outcome: out, Spent: board.Spent()}
	if out.WaitingFor != ForNothing {
		ended.Unavailable = !s.refused
		return ended, nil
	}
	if ended.CodeReviewed, err = board.Reviewed(v.review.linters()...); err != nil {
		return CodeReviewOutcome{}, err
	}
	if ended.Checked, err = board.Checked(); err != nil {
		return CodeReviewOutcome{}, err
	}
	v.review.carry(&ended)
	ended.Warnings = append(append(ended.Warnings, touchesSettings(v.review.whole, v.review.in.Guidelines)...), notShown(v.review.whole)...)
	kept := EndedReview{CodeReviewed: ended.CodeReviewed, Files: evidenceOf(v.review.whole, ended.CodeReviewed).Files, Checked: ended.Checked, Spent: ended.Spent}
	return ended, writeEnded(board.Folder(), review.Format(ended.Review, ended.Warnings), kept)
}

// touchesSettings are the warnings about files of a diff that decide about reviews, or
// about what CI runs. Guidelines are those that the project names.
func touchesSettings(d *change.Diff, guidelines []string) []string {
	var warnings []string
	for _, f := range d.Files {
		switch {
		case change.DecidesReviews(f.Name):
			warnings = append(warnings, f.Name+" is part of the change, and decides what is reviewed, by whom, or what counts")
		case d.IsGuideline(f.Name), slices.Contains(guidelines, f.Name):
			warnings = append(warnings, f.Name+" is part of the change, and says how the project wants its code")
		case strings.HasPrefix(f.Name, ".github/workflows/"):
			warnings = append(warnings, f.Name+" is part of the change, and decides what CI runs")
		}
	}
	return warnings
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

	refused bool // tries are used up, and the last answer was refused
}

// rules settle until agents or a person are needed. Once every answer is accepted, advance
// says whether there is more to ask, which is then part of the work.
func (s *codeSettler) rules(advance func(ctx context.Context) (more bool, err error)) rules {
	return rules{outOfBudget: s.outOfBudget, settle: func(ctx context.Context) (StepResult, error) {
		for {
			out, err := s.settle(ctx)
			if err != nil || out.WaitingFor != ForNothing {
				return out, err
			}
			if more, err := advance(ctx); err != nil || !more {
				return out, err
			}
			if err := s.board.Reload(ctx); err != nil {
				return out, err
			}
			if err := s.grantAgain(ctx); err != nil {
				return out, err
			}
		}
	}}
}

// grantAgain gives jobs that have used up their tries all of them again, for a person who
// wants the work to go on.
func (s *codeSettler) grantAgain(ctx context.Context) error {
	return s.board.GrantAgain(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByRule}))
}

func (s *codeSettler) settle(ctx context.Context) (StepResult, error) {
	judged, _, err := s.board.JudgeLeftOver(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}))
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
		fault := s.lastFault(exhausted[0])
		s.refused = fault != ""
		out.WaitingFor, out.Reason = ForPerson, "all tries are used up for "+tidegate.Cut(strings.Join(exhausted, ", "))+fault
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
