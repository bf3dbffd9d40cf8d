package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/review"
)

// CodeReviewInput says what is reviewed, and where the jobs of the review are kept.
type CodeReviewInput struct {
	Project string // absolute
	Home    string // the folder of runs; the jobs lie in reviews/<id> below it
	Name    string // the change_id of the review
	git.DiffInput
	Earlier change.Earlier // the review before
	// Before is the review of the same change at an earlier commit, nil for none. Where
	// the change goes on from there, only what is new is reviewed.
	Before *Before
	// Reviewers are the names of those who are asked, one where there is none. The first
	// has the role code_reviewer, the second code_reviewer.2, and so on.
	Reviewers  []string
	Guidelines []string          // files that say how the project wants its code; none: those of the usual names
	Verifier   string            // who holds the findings against the code, "" for nobody
	Dismissed  review.Dismissals // what a person wants to hear no more of
	Linters    []review.Foreign  // what other tools found, which becomes part of the review
	Sight      Sight             // what reviewers see beside the diff
	Again      bool              // ask although nothing has changed since they were asked last
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
	whole      *git.Diff // all that the change is
	diff       *git.Diff // what of it is reviewed
	carried    []review.Finding
	today      map[string]string // the code around the issues of the review before, by their ids
	tests      tested
	guidelines []git.Document
}

// OpenCodeReview finds out what has changed, which may be nothing that can be
// reviewed. It returns the errors of [git.ReadDiff] and [git.Diff.Guidelines].
func OpenCodeReview(ctx context.Context, desk run.Desk, in CodeReviewInput) (*CodeReview, error) {
	d, err := git.ReadDiff(ctx, desk, in.Project, in.DiffInput)
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
func (r *CodeReview) Diff() *git.Diff { return r.diff }

// Whole is all that the change is.
func (r *CodeReview) Whole() *git.Diff { return r.whole }

// RunTests runs the project's test command on a copy of what is reviewed, and shows
// its result to the reviewers. Said is how it went in words. It returns the errors of
// [sandbox.RunTests].
func (r *CodeReview) RunTests(ctx context.Context, t sandbox.Tests) (said string, err error) {
	r.tests, err = testDiff(ctx, r.desk, r.in.Home, r.in.Project, r.whole, t)
	return r.tests.words(), err
}

// Tests is what the project's tests said, nil where they were not run.
func (r *CodeReview) Tests() *review.TestRun { return r.tests.run }

// NotTested is why the project's tests could be run neither with the change nor without; ""
// where they were, or nobody wanted them.
func (r *CodeReview) NotTested() string { return r.tests.not }

// Unanswered are what no reviewer of the change answers for.
func (r *CodeReview) Unanswered() []review.Unanswered {
	open := unanswered(r.whole, r.tests)
	r.in.Dismissed.Spare(open)
	return open
}

// Estimate is how many jobs the review has, and how many bytes their prompts.
func (r *CodeReview) Estimate() (jobs, size int, err error) {
	for _, prompts := range r.prompts() {
		for _, p := range prompts {
			text, err := p.Text()
			if err != nil {
				return 0, 0, err
			}
			jobs, size = jobs+1, size+len(text)
		}
	}
	return jobs, size, nil
}

// prompts are what each of the reviewers is asked.
func (r *CodeReview) prompts() [][]review.Prompt {
	var all [][]review.Prompt
	for n := range max(1, len(r.in.Reviewers)) {
		all = append(all, r.promptsOf(nameOf(r.in.Reviewers, n)))
	}
	return all
}

// nameOf is the name of a reviewer, "" where it has none.
func nameOf(reviewers []string, n int) string {
	if n < len(reviewers) {
		return reviewers[n]
	}
	return ""
}

func (r *CodeReview) promptsOf(reviewer string) []review.Prompt {
	prompts := r.diff.Prompts(r.in.Name, r.tests.run, r.in.Earlier.Issues, r.in.Sight.blind(reviewer))
	linters := r.linters()
	for i := range prompts {
		prompts[i].Tree, prompts[i].Lookups = r.in.Sight.of(reviewer)
		prompts[i].Guidelines = git.ShowDocuments(r.guidelines)
		prompts[i].Quotes, prompts[i].TestsGone, prompts[i].Today = true, r.tests.gone, codeOf(prompts[i], r.today)
		for _, d := range r.in.Dismissed {
			prompts[i].Dismissed = append(prompts[i].Dismissed, fmt.Sprintf("%s %s: %s", d.File, d.Title, d.Reason))
		}
		for n := range linters {
			prompts[i].Linters = append(prompts[i].Linters, linters[n].Findings...)
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
	// What a person dismisses changes what counts, not what is reviewed.
	files := slices.DeleteFunc(slices.Clone(r.diff.Files),
		func(f review.File) bool { return path.Base(f.Name) == git.DismissedFile })
	for _, part := range review.Split(files, git.MaxDiff, false) {
		texts = append(texts, part.Text)
	}
	for _, left := range r.diff.LeftOut {
		texts = append(texts, left.File, left.Why)
	}
	for _, d := range r.guidelines {
		texts = append(texts, d.Name, d.Text)
	}
	for _, o := range r.linters() {
		texts = append(texts, review.IssueList(o.Findings))
	}
	if r.in.Before != nil {
		texts = append(texts, review.IssueList(r.in.Earlier.Issues), review.IssueList(r.carried))
	}
	if t := r.tests.run; t != nil {
		texts = append(texts, fmt.Sprint(t.Passed, t.Failed, t.FailedNew, t.Skipped, t.Failing))
	}
	return codec.Digest(texts)
}

// Recorded is the review that the same reviewers wrote of the same diff with the same
// results of the tests, where the home keeps it: they need not be asked again. A review that the person handed in as the one before must be that one.
// It is nil where there is none, and returns READ_FAILED.
func (r *CodeReview) Recorded() (*reviews.Review, error) {
	return r.recorded(func(was reviews.Review) bool {
		return was.Verifier == r.in.Verifier && (was.Ended.Second == nil || was.Ended.Second.Why == "")
	})
}

// recorded is the last such review of which more is true.
func (r *CodeReview) recorded(wanted func(reviews.Review) bool) (*reviews.Review, error) {
	if r.in.Again {
		return nil, nil
	}
	records, err := reviews.All(r.desk, r.in.Home)
	subject := r.subject()
	for _, was := range slices.Backward(records) {
		if was.Ended == nil || was.Project != r.in.Project || was.Name != r.in.Name || was.Subject != subject ||
			!slices.Equal(was.Reviewers, r.in.Reviewers) || !wanted(was) {
			continue
		}
		if r.in.Earlier.Digest == "" || r.in.Earlier.Digest == was.Ended.ReviewDigest {
			for _, w := range touchesSettings(r.whole, r.in.Guidelines) {
				if !slices.Contains(was.Ended.Warnings, w) {
					was.Ended.Warnings = append(was.Ended.Warnings, w)
				}
			}
			return &was, err
		}
	}
	return nil, err
}

// Begin makes the folder of the review. One that was begun before for the same
// change and the same results of the tests, and has not ended, goes on. What the same
// reviewers found in the same change stands, so that only its second reader is asked. It
// returns WRITE_FAILED and READ_FAILED.
func (r *CodeReview) Begin(ctx context.Context) (*Reviewing, error) {
	all := r.prompts()
	var texts []string
	for _, prompts := range all {
		for _, p := range prompts {
			text, err := p.Text()
			if err != nil {
				return nil, err
			}
			texts = append(texts, text)
		}
	}
	w, path, err := r.makeFolder(codec.Digest(texts))
	if err != nil {
		return nil, err
	}
	v := &Reviewing{review: r, path: path, work: w}
	if v.kept, err = r.recorded(func(reviews.Review) bool { return true }); err != nil || v.kept != nil {
		return v, err
	}
	about := aboutDiff(r.diff, r.tests.run, r.in.Earlier.Files)
	for n, prompts := range all {
		v.asked = append(v.asked, ask(r.in.Reviewers, n, 0, prompts, about, len(r.in.Linters))...)
	}
	return v, nil
}

// ask asks the reviewer n, counted from 0, about all parts of a diff. Findings say by whom
// they are where there are several reviewers, or others beside them.
func ask(
	reviewers []string, n int, round int64, prompts []review.Prompt, about review.Reviewed, others int,
) []job.CodeReview {
	var list []job.CodeReview
	for i, p := range prompts {
		about.Earlier = p.Earlier
		asked := job.CodeReview{ID: job.CodeReviewID(round, i+1, n+1), Role: ReviewerRole(n + 1), Prompt: p, About: about}
		if len(reviewers)+others > 1 {
			asked.By = nameOf(reviewers, n)
		}
		list = append(list, asked)
	}
	return list
}

// aboutDiff is what the review of a diff is about. Before are the files that the
// review before it was about, nil where that is not known.
func aboutDiff(d *git.Diff, tests *review.TestRun, before []string) review.Reviewed {
	about := review.Reviewed{Text: d.Text, Shown: review.Touch(d.Files).Has, Tests: tests, Parses: change.Parses}
	if before != nil {
		about.Changed = d.ChangedSince(before)
	}
	return about
}

// evidenceOf is what is kept beside a review.
func evidenceOf(d *git.Diff, r job.CodeReviewed) change.Evidence {
	e := change.Evidence{Findings: r.Findings, Dropped: r.Dropped}
	e.NeedsPerson, _ = review.Policy{}.ForPerson(nil, r.Dropped, nil)
	for _, f := range d.Files {
		e.Files = append(e.Files, f.Name)
	}
	return e
}

// makeFolder makes the folder of a review, or finds the one that has not ended.
func (r *CodeReview) makeFolder(digest string) (job.Work, string, error) {
	w := job.Work{CreatedAt: tidegate.Stamp(r.desk.Now()), Budget: r.in.Budget, Log: job.ChangeLog, IDKey: "change_id"}
	data, err := codec.MarshalFile(reviews.Begun{
		SchemaVersion: "code_review.v1", CreatedAt: w.CreatedAt, Project: r.in.Project, Base: r.diff.Base, Name: r.in.Name,
		Reviewers: r.in.Reviewers, Verifier: r.in.Verifier, Subject: r.subject(),
	})
	if err != nil {
		return w, "", err
	}
	name := strings.TrimPrefix(digest, "sha256:")[:12]
	for n := 1; ; n++ {
		if w.ID = name; n > 1 {
			w.ID = fmt.Sprintf("%s-%d", name, n)
		}
		path := filepath.Join(store.Reviews.Home(r.in.Home), w.ID)
		err := r.desk.Reach.CreateFolder("home", path, func(d *artifact.Draft) error { return d.Write(store.Reviews.File, data) })
		if err == nil {
			return w, path, nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return w, "", err
		}
		was, err := reviews.Read(r.desk, path)
		if err != nil {
			return w, "", err
		}
		if was.Ended == nil && was.Verifier == r.in.Verifier && len(was.Reviewers) == len(r.in.Reviewers) {
			w.CreatedAt = was.CreatedAt
			return w, path, nil
		}
	}
}

// Reviewing is a review that agents write.
type Reviewing struct {
	review *CodeReview
	work   job.Work
	asked  []job.CodeReview
	kept   *reviews.Review     // by the same reviewers, who are not asked again; nil for none
	second *sentences.Readings // nil before the findings are known
	path   string
}

// Path is the folder of the review.
func (v *Reviewing) Path() string { return v.path }

// Jobs is how many reviewers are asked.
func (v *Reviewing) Jobs() int { return len(v.asked) }

// Kept is the id of the review whose findings stand, "" where the reviewers are asked.
func (v *Reviewing) Kept() string {
	if v.kept == nil {
		return ""
	}
	return v.kept.ID
}

// CodeReviewOutcome is how a review ended.
type CodeReviewOutcome struct {
	Outcome
	job.CodeReviewed                  // where it waits for nothing
	Second           *reviews.Second  // nil where nobody was named to hold the findings against the code
	Checked          []review.Checked // what was said of them
	Spent            job.Spent
	// Unavailable says that it waits because agents could not answer, or not in time or
	// within the budget: what they answered is not the reason.
	Unavailable bool
}

// readAgain has the findings of the review held against the code: it deals them to second
// readers, and takes in what they say. More says that there is something to read.
func (v *Reviewing) readAgain(ctx context.Context, board *job.Board) (more bool, err error) {
	if v.second != nil {
		return v.second.Advance()
	}
	reviewed, err := v.reviewed(board)
	if err != nil {
		return false, err
	}
	d := v.review.diff
	files := map[string]review.File{}
	for _, f := range reviewed.Findings {
		if at := slices.IndexFunc(d.Files, func(each review.File) bool { return each.Name == f.File }); at >= 0 && !d.Files[at].Large {
			files[f.File] = d.Files[at]
			continue
		}
		text, _, err := d.Text(ctx, f.File)
		if err != nil {
			return false, err
		}
		files[f.File] = review.File{Name: f.File, Before: text, After: text}
	}
	claims := review.ClaimsOf(reviewed.Findings, func(name string) review.File { return files[name] })
	if len(claims.Sentences) == 0 {
		return false, nil
	}
	v.second = &sentences.Readings{Folder: board.Folder(), Round: 1, Questions: &reading.Questions{Claims: claims,
		Further: func(string) []claim.Window { return nil }, Material: reading.Material{Language: "en", Text: func(string) string { return "" }}}}
	return true, board.Deal(ctx, v.second)
}

// Drive lets agents write the review, for a person who wants it: jobs that have used
// up their tries get them again. A review without an accepted answer to every job
// waits for a person. It returns LOCK_HELD when another process drives it,
// CANCELLED, and the errors of reading and writing its folder.
func (v *Reviewing) Drive(ctx context.Context, options Options) (CodeReviewOutcome, error) {
	var seen tree
	if err := seen.make(ctx, v.review.diff); err != nil {
		return CodeReviewOutcome{}, err
	}
	defer seen.clear()
	options.tree = &seen.path
	if v.review.in.Sight.Tools {
		options.lookups = v.review.diff.Lookup
	}
	var ended CodeReviewOutcome
	out, err := driveFolder(ctx, options, "review", v.path, func() job.Work {
		w := v.work
		w.Kinds = []job.Kind{job.ReviewCode(v.asked)}
		if v.second != nil {
			w.Kinds = append(w.Kinds, job.ReadingCode(options.Desk, v.second.Questions, v.review.in.Sight.of))
		}
		return w
	}, func(ctx context.Context, board *job.Board) (more bool, err error) {
		if v.review.in.Verifier != "" {
			if more, err := v.readAgain(ctx, board); more || err != nil {
				return more, err
			}
		}
		return false, v.end(board, &ended, "")
	}, func(ctx context.Context, board *job.Board, why Outcome, _ bool) error {
		if v.second == nil { // the reviewers have not answered
			return nil
		}
		if err := board.SettleUnread(ctx); err != nil {
			return err
		}
		if _, err := v.second.Advance(); err != nil {
			return err
		}
		return v.end(board, &ended, why.Reason)
	})
	if err != nil {
		return CodeReviewOutcome{}, err
	}
	if ended.Second != nil { // the review stands, whatever became of its second reader
		out.Outcome = Outcome{StepResult: StepResult{WaitingFor: ForNothing}}
	}
	ended.Outcome, ended.Spent = out.Outcome, out.spent
	ended.Unavailable = out.WaitingFor != ForNothing && !out.refused
	return ended, nil
}

// reviewed is what the reviewers found, without what is carried.
func (v *Reviewing) reviewed(board *job.Board) (job.CodeReviewed, error) {
	if v.kept == nil {
		return board.Reviewed(v.review.linters()...)
	}
	out := job.CodeReviewed(v.kept.Ended.Outcome)
	out.Findings = slices.DeleteFunc(slices.Clone(out.Findings), func(f review.Finding) bool {
		return slices.ContainsFunc(v.review.carried, func(c review.Finding) bool { return c.ID == f.ID })
	})
	return out, nil
}

// end keeps the review that the reviewers wrote. Why is why its second reader has not read all
// of it.
func (v *Reviewing) end(board *job.Board, ended *CodeReviewOutcome, why string) (err error) {
	if ended.CodeReviewed, err = v.reviewed(board); err != nil {
		return err
	}
	if ended.Checked = []review.Checked{}; v.second != nil {
		ended.Checked = review.CheckedIn(v.second.Claims, why)
		ended.Second = &reviews.Second{By: v.review.in.Verifier, Pairs: v.second.Claims.Pairs, Why: why}
	}
	v.review.carry(ended)
	for _, w := range slices.Concat(touchesSettings(v.review.whole, v.review.in.Guidelines), notShown(v.review.whole)) {
		if !slices.Contains(ended.Warnings, w) {
			ended.Warnings = append(ended.Warnings, w)
		}
	}
	kept := reviews.Ended{
		Outcome: reviews.Outcome(ended.CodeReviewed), Files: evidenceOf(v.review.whole, ended.CodeReviewed).Files,
		Second: ended.Second, Checked: ended.Checked, Head: v.review.whole.Head, ForPerson: v.review.Unanswered(), Spent: run.Spent(board.Spent()),
	}
	policy := review.Policy{Dismissed: v.review.in.Dismissed, Checked: ended.Checked}
	decided := policy.Decide(ended.Findings)
	return reviews.End(board.Folder(), review.FormatFindings(ended.Review, decided, ended.Warnings), kept)
}

// touchesSettings are the warnings about files of a diff that decide about reviews, or
// about what CI runs. Guidelines are those that the project names.
func touchesSettings(d *git.Diff, guidelines []string) []string {
	var warnings []string
	for _, f := range d.Files {
		switch {
		case git.DecidesReviews(f.Name):
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
func notShown(d *git.Diff) []string {
	var warnings []string
	for i, left := range d.LeftOut {
		if i == maxNotShown {
			return append(warnings, fmt.Sprintf("%s more changed and no reviewer was shown them", report.Counted(len(d.LeftOut)-i, "file")))
		}
		warnings = append(warnings, fmt.Sprintf("%s changed and no reviewer was shown it: %s", left.File, left.Why))
	}
	return warnings
}

// Before is the review of a change at an earlier commit.
type Before struct {
	Base, Head string   // what was compared with, and the last commit of it
	Parts      []string // that it was limited to
	Review     review.Payload
	Findings   []review.Finding
	Checked    []review.Checked
}

// goOn lets the review be about what is new since the one before. That takes a change
// that has grown by commits: after a rebase, when its base has moved, or when the review
// was of other parts, all of it is reviewed, and so it is after MAJOR_ISSUES, which are
// about the whole. Findings in files
// that have not changed since are carried: nobody could close them. The others are for
// the reviewers to answer. It returns the errors of [git.ReadDiff].
func (r *CodeReview) goOn(ctx context.Context) (err error) {
	before := r.in.Before
	if before == nil {
		r.today, err = today(ctx, r.diff, r.in.Earlier.Issues)
		return err
	}
	open := before.Findings
	grown, err := r.whole.GrownSince(ctx, before.Base, before.Head)
	if err != nil {
		return err
	}
	if grown && slices.Equal(before.Parts, r.whole.Parts) && before.Review.Verdict != review.MajorIssues {
		if r.diff, err = r.whole.NewAfter(ctx, r.desk, r.in.Project, before.Head, r.in.DiffInput); err != nil {
			r.diff = r.whole
			return err
		}
		open = nil
		for _, f := range before.Findings {
			if f.File == "" || r.diff.Changes(f.File) {
				open = append(open, f)
			} else {
				r.carried = append(r.carried, f)
			}
		}
	}
	r.in.Earlier.Issues = append(r.in.Earlier.Issues, open...)
	r.today, err = today(ctx, r.diff, r.in.Earlier.Issues)
	return err
}

// Unchanged is the review before, as it stands for a change that has nothing new that
// could be shown; ok is false where there is something to review, or nothing at all.
func (r *CodeReview) Unchanged() (out CodeReviewOutcome, ok bool) {
	if r.diff == r.whole || len(r.whole.Files) == 0 || len(r.diff.Files) > 0 {
		return out, false
	}
	before := r.in.Before
	out.WaitingFor = ForNothing
	out.CodeReviewed = job.CodeReviewed{Review: before.Review, Findings: before.Findings, Dropped: []review.Dropped{}, Closed: []string{},
		Warnings: append(touchesSettings(r.whole, r.in.Guidelines), notShown(r.whole)...)}
	out.Checked = before.Checked
	return out, true
}

// carry adds what was found before in files that have not changed since.
func (r *CodeReview) carry(out *CodeReviewOutcome) {
	if len(r.carried) == 0 {
		return
	}
	out.Review, out.Findings = review.Carry(out.Review, out.Findings, r.in.Before.Review.Verdict, r.carried)
	for _, c := range r.in.Before.Checked {
		if slices.ContainsFunc(r.carried, func(f review.Finding) bool { return f.ID == c.ID }) {
			out.Checked = append(out.Checked, c)
		}
	}
}

// maxToday is how many bytes of code around earlier issues a review has.
const maxToday = 96 << 10

// today is the code around earlier issues as a diff has it, by their ids: a reviewer says
// of each whether it is still there, also where the diff does not show it.
func today(ctx context.Context, d *git.Diff, earlier []review.Finding) (map[string]string, error) {
	code, room := map[string]string{}, maxToday
	for _, issue := range earlier {
		if issue.File == "" || issue.Line == nil {
			continue
		}
		text, there, err := d.Text(ctx, issue.File)
		if err != nil {
			return nil, err
		}
		if !there {
			continue
		}
		if shown := review.Today(issue, text); len(shown) <= room {
			code[issue.ID], room = shown, room-len(shown)
		}
	}
	return code, nil
}

// codeOf is the code around the issues that a prompt asks about.
func codeOf(p review.Prompt, code map[string]string) (list []string) {
	for _, issue := range p.Earlier {
		if code[issue.ID] != "" {
			list = append(list, code[issue.ID])
		}
	}
	return list
}

// lookupOffers are the tools by which a reviewer looks something up.
func lookupOffers() []driver.Offer {
	var offers []driver.Offer
	for _, t := range git.LookupTools {
		offers = append(offers, driver.Offer{Name: t.Name, About: t.About, Arguments: t.Arguments})
	}
	return offers
}

// Sight is what reviewers see beside the diff.
type Sight struct {
	Tree  bool // one with a client has a copy of the files, which lies on this machine
	Tools bool // one without may look things up in both versions
}

// of says how an agent sees more than the diff: in a folder, or by so many calls of tools.
func (s Sight) of(agent string) (tree bool, lookups int) {
	if !WithoutClient(agent) {
		return s.Tree, 0
	}
	if s.Tools {
		lookups = git.MostLookups
	}
	return false, lookups
}

// blind reports whether an agent sees the diff alone: it is shown whole functions.
func (s Sight) blind(agent string) bool {
	tree, lookups := s.of(agent)
	return !tree && lookups == 0
}

// WithoutClient reports whether a reviewer is a service of models: nothing is started that
// could read a folder.
func WithoutClient(reviewer string) bool {
	return strings.HasPrefix(reviewer, "model:") || strings.HasPrefix(reviewer, "api:")
}

// tree is a copy of the files of a diff, for its reviewers to read: all but those by
// which clients configure themselves. The zero value is none.
type tree struct {
	path   atomic.Pointer[string]
	remove func()
}

// make makes the copy in the place of the one before.
func (t *tree) make(ctx context.Context, d *git.Diff) error {
	t.clear()
	scratch, remove, err := artifact.Scratch("tidegate-tree-")
	if err != nil {
		return err
	}
	path := filepath.Join(scratch, "tree")
	folder, err := artifact.Everywhere.Open("tree", scratch)
	if err == nil {
		err = folder.MakeFolder("tree")
		folder.Close()
	}
	if err == nil {
		err = d.Copy(ctx, path, config.Configures)
	}
	if err != nil {
		remove()
		return err
	}
	t.remove = remove
	t.path.Store(&path)
	return nil
}

func (t *tree) clear() {
	if t.remove != nil {
		t.path.Store(nil)
		t.remove()
		t.remove = nil
	}
}
