package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
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
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
)

// ChangeInput says which change is driven, and with what.
type ChangeInput struct {
	Project    string // absolute
	Home       string // the folder of runs; the worktree lies in worktrees/ below it
	ID         string
	Tests      sandbox.Tests // without a command none are run
	Budget     run.Budget
	Author     string   // of what is committed, "" for ours
	Message    string   // of it, in which {change} and {round} stand for those; "" for ours
	Ignore     []string // globs of files that no reviewer is shown
	Guidelines []string // files that say how the project wants its code; none: those of the usual names
	// Reviewers are the names of those who review, as [CodeReviewInput] has them.
	Reviewers []string
	Sight     Sight // what reviewers see beside the diff
	// Unconfined says that agents work without a cell: what they change of the project's
	// repository is found by comparing.
	Unconfined bool
	// Note is called for what is done by rule.
	Note func(what string)
}

// ChangeOutcome is how driving a change ended.
type ChangeOutcome struct {
	Outcome
	Phase    string
	Branch   string // to merge
	Worktree string
	Rounds   int // reviews that were kept
	Spent    job.Spent
	// Around names what changed of the project's repository beside the branch while agents
	// without a cell worked.
	Around []string
}

// DriveChange drives the loop of a change: an agent implements it in a worktree of
// its own, the project's tests run there, agents review what was committed, and the
// review moves the change on, until it is complete or needs a person. Nothing of
// the project is written but the folder of the change and the branch.
//
// The change must be started. DriveChange is a person's: jobs that have used up their
// tries get them again. It returns LOCK_HELD when another process
// drives it, CANCELLED when ctx ends, and what [change.OpenWorktree],
// [change.Brief] and [change.Advance] return. Driven again it goes on from its
// files.
func DriveChange(ctx context.Context, in ChangeInput, options Options) (ChangeOutcome, error) {
	documents, err := change.Brief(options.Desk, in.Project, in.ID)
	if err != nil {
		return ChangeOutcome{}, err
	}
	folder, err := change.OpenFolder(ctx, options.Desk, in.Project, in.ID)
	if err != nil {
		return ChangeOutcome{}, err
	}
	defer folder.Close()
	claim, err := claimHome(folder) // who opens the worktree makes it anew where it is not complete
	if err != nil {
		return ChangeOutcome{}, err
	}
	defer claim.Release()
	options.claimed = true
	w, err := change.OpenWorktree(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), options.Desk, in.Project, in.Home, in.ID, config.Configures)
	if err != nil {
		return ChangeOutcome{}, err
	}
	if in.Note == nil {
		in.Note = func(string) {}
	}
	if err := in.rebase(ctx, options.Desk, w); err != nil {
		return ChangeOutcome{}, err
	}
	var before change.Around
	if in.Unconfined {
		if before, err = w.LookAround(ctx, options.Desk); err != nil {
			return ChangeOutcome{}, err
		}
	}
	l := &loop{in: in, desk: options.Desk, worktree: w, documents: documents}
	if _, err := l.advance(ctx); err != nil {
		return ChangeOutcome{}, err
	}
	board, err := job.OpenFolder(ctx, options.Desk, l.present)
	if err != nil {
		return ChangeOutcome{}, err
	}
	defer board.Close()
	defer l.close()
	l.folderWork = folderWork{board: board}
	if err := l.lookAgain(ctx); err != nil {
		return ChangeOutcome{}, err
	}
	options.repository, options.tree = &l.repository, &l.tree.path
	if in.Sight.Tools {
		options.lookups = func() *git.Lookup { return l.looked.Load().Lookup() }
	}
	out, err := drive(ctx, board, rules{settle: l.settle, outOfBudget: l.outOfBudget}, options)
	outcome := ChangeOutcome{Outcome: out, Phase: l.status.Phase, Branch: w.Branch, Worktree: w.Path, Rounds: l.status.Reviews, Spent: board.Spent()}
	if err != nil || !in.Unconfined {
		return outcome, err
	}
	after, err := w.LookAround(ctx, options.Desk)
	outcome.Around = after.Differences(before)
	return outcome, err
}

// rebase rebases a complete change whose base has moved on. Its one commit is that of
// the round in which it is reviewed again.
func (in ChangeInput) rebase(ctx context.Context, desk run.Desk, w *change.Worktree) error {
	status, err := change.StatusOf(ctx, desk, in.Project, in.ID)
	if err != nil {
		return err
	}
	onto, err := w.Rebase(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), desk, in.Author, in.message(int64(status.Reviews)+1))
	if onto != "" && err == nil {
		in.Note(fmt.Sprintf("rebased onto %.12s, and reviewed again", onto))
	}
	return err
}

// loop is the loop of a change.
type loop struct {
	folderWork
	in        ChangeInput
	desk      run.Desk
	worktree  *change.Worktree
	documents []git.Document

	status  change.Status
	round   int64 // counted by the reviews that were kept
	earlier change.Earlier
	diff    *git.Diff        // of the round's commit, nil while it is implemented
	tests   tested           // of it
	asked   []job.CodeReview // about it

	repository atomic.Pointer[driver.Repository]
	tree       tree                     // that the reviewers of the round read
	looked     atomic.Pointer[git.Diff] // what they may look things up in
}

func (l *loop) close() {
	if l.diff != nil {
		l.diff.Close()
		l.diff = nil
	}
	l.tree.clear()
}

// advance moves the change on by the review that was kept last, and finds out where
// it stands. It reports whether the change goes on.
func (l *loop) advance(ctx context.Context) (more bool, err error) {
	if l.status, err = change.StatusOf(ctx, l.desk, l.in.Project, l.in.ID); err != nil {
		return false, err
	}
	if l.status.Reviews > 0 {
		moved, err := change.Advance(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), l.desk, l.in.Project, l.in.ID)
		if err != nil {
			return false, err
		}
		if l.status, err = change.StatusOf(ctx, l.desk, l.in.Project, l.in.ID); err != nil {
			return false, err
		}
		if moved.Changed {
			l.in.Note(moved.Message)
		}
	}
	if round := int64(l.status.Reviews) + 1; round != l.round {
		l.round, l.asked = round, nil
		l.close()
	}
	l.earlier, err = change.EarlierReview(l.desk, l.in.Project, l.in.ID)
	return l.status.Phase != change.Complete && l.status.NeedsPerson == "", err
}

// present is the change as it stands, for its board.
func (l *loop) present(ctx context.Context) (job.Work, error) {
	folder, err := l.desk.Reach.Open("change", filepath.Dir(l.status.StatePath))
	if err != nil {
		return job.Work{}, err
	}
	folder.Share() // people share a repository
	l.repository.Store(&driver.Repository{Objects: l.worktree.Objects(), Format: l.worktree.Format(), Head: l.worktree.Head()})
	return job.Work{ID: l.in.ID, CreatedAt: l.worktree.Base, Folder: folder, Log: job.ChangeLog, IDKey: "change_id", Budget: l.in.Budget,
		Kinds: []job.Kind{job.Implement(l.implementation()), job.ReviewCode(l.asked)}}, nil
}

// implementation is what the implementer is asked for: nothing before the review of what
// was rebased, and where tests failed whose command is another one since: the same commit is
// tested again.
func (l *loop) implementation() *job.Implementation {
	if l.worktree.Rebased > 0 && l.worktree.Rebased == l.status.Reviews || l.earlier.TestedOtherwise(l.in.Tests.Command) {
		return nil
	}
	i := &job.Implementation{
		ID: job.ImplementID(l.round), Folder: l.worktree.Path,
		Brief: job.ImplementBrief{ChangeID: l.in.ID, Round: l.round, Tests: l.in.Tests.Command, Protected: change.Protected(l.desk)},
		Touched: func(ctx context.Context) (files []string, forbidden []job.Forbidden, err error) {
			work, err := l.worktree.Inspect(ctx, l.desk)
			for _, f := range work.Forbidden {
				forbidden = append(forbidden, job.Forbidden(f))
			}
			return work.Files, forbidden, err
		},
	}
	for _, d := range l.documents {
		i.Brief.Documents = append(i.Brief.Documents, [2]string{d.Name, d.Text})
	}
	i.Brief.Issues = review.IssueList(l.earlier.Issues)
	for _, issue := range l.earlier.Issues {
		i.Brief.Open = append(i.Brief.Open, issue.ID)
	}
	return i
}

// settle does everything that needs no agent: it commits what was implemented, runs
// the tests, keeps the review and moves the change on.
func (l *loop) settle(ctx context.Context) (StepResult, error) {
	for {
		more, err := l.advance(ctx)
		if err != nil {
			return StepResult{}, err
		}
		if !more {
			if l.status.NeedsPerson != "" {
				return StepResult{RunID: l.in.ID, WaitingFor: ForPerson, Reason: l.status.NeedsPerson, Next: l.status.Next}, nil
			}
			return StepResult{RunID: l.in.ID, WaitingFor: ForNothing, Reason: "the change is complete"}, l.worktree.Check(ctx)
		}
		if err := l.board.Reload(ctx); err != nil {
			return StepResult{}, err
		}
		out, err := l.folderWork.settle(ctx)
		if err != nil || out.WaitingFor != ForNothing {
			return out, err
		}
		if l.asked == nil {
			err = l.submit(ctx)
		} else {
			err = l.keep(ctx)
		}
		if err != nil {
			return StepResult{}, err
		}
	}
}

// submit commits what was implemented and asks for its review.
func (l *loop) submit(ctx context.Context) error {
	work, err := l.worktree.Inspect(ctx, l.desk)
	if err != nil {
		return err
	}
	if len(work.Forbidden) > 0 { // touched after the implementation was judged
		return tidegate.Errorf(work.Forbidden[0].Code, tidegate.Pairs("file", work.Forbidden[0].File, "worktree", l.worktree.Path),
			"%s was changed: %s", work.Forbidden[0].File, work.Forbidden[0].Why)
	}
	if len(work.Files) > 0 {
		commit, err := l.worktree.Commit(ctx, l.desk, work, l.in.Author, l.in.message(l.round))
		if err != nil {
			return err
		}
		l.in.Note(fmt.Sprintf("round %d is commit %.12s", l.round, commit))
	}
	d, err := git.ReadDiff(ctx, l.desk, l.worktree.Path, git.DiffInput{Base: l.worktree.Base, Committed: true, Head: l.worktree.Head(),
		Settings: git.Settings{Ignore: l.in.Ignore, At: l.worktree.Base}})
	if err != nil {
		return err
	}
	l.diff, l.tests = d, tested{}
	l.looked.Store(d)
	if err := l.tree.make(ctx, d); err != nil {
		return err
	}
	if l.in.Tests.Command != "" {
		if l.tests, err = testDiff(ctx, l.desk, l.in.Home, l.in.Project, d, l.in.Tests); err != nil {
			return err
		}
		l.in.Note("tests: " + l.tests.words())
	}
	guidelines, err := d.Guidelines(ctx, l.in.Guidelines)
	if err != nil {
		return err
	}
	about := aboutDiff(d, l.tests.run, l.earlier.Files)
	code, err := today(ctx, d, l.earlier.Issues)
	if err != nil {
		return err
	}
	for n := range max(1, len(l.in.Reviewers)) {
		reviewer := nameOf(l.in.Reviewers, n)
		prompts := d.Prompts(l.in.ID, l.tests.run, l.earlier.Issues, l.in.Sight.blind(reviewer))
		for i := range prompts {
			p := &prompts[i]
			p.Tree, p.Lookups = l.in.Sight.of(reviewer)
			p.Quotes, p.TestsGone, p.Today, p.Asked, p.Guidelines = true, l.tests.gone, codeOf(*p, code),
				git.ShowDocuments(l.documents), git.ShowDocuments(guidelines)
			if len(p.Earlier) > 0 {
				p.Said = l.board.Said(job.ImplementID(l.round))
			}
		}
		l.asked = append(l.asked, ask(l.in.Reviewers, n, l.round, prompts, about, 0)...)
	}
	if len(l.asked) == 0 {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("change_id", l.in.ID, "worktree", l.worktree.Path), "the change has nothing that can be reviewed")
	}
	return l.lookAgain(ctx)
}

// upheld says which of the issues that the implementer of the round declined the reviewers
// find again, "" for none: a person decides between them.
func (l *loop) upheld(found []review.Finding) string {
	var titles []string
	for _, d := range job.ReadDeclined(l.board.Said(job.ImplementID(l.round))) {
		if at := slices.IndexFunc(found, func(f review.Finding) bool { return f.ID == d.ID }); at >= 0 {
			titles = append(titles, fmt.Sprintf("%q", found[at].Title))
		}
	}
	if len(titles) == 0 {
		return ""
	}
	return "the implementer declines what the reviewer upholds: " + strings.Join(titles, ", ")
}

// message is that of the commit of a round.
func (in ChangeInput) message(round int64) string {
	text := cmp.Or(in.Message, "{change}: round {round}\n\nImplemented by an agent; not reviewed yet.")
	return strings.NewReplacer("{change}", in.ID, "{round}", strconv.FormatInt(round, 10)).Replace(text)
}

// keep keeps the review that the reviewers of the round wrote, where the branch still
// has what they reviewed.
func (l *loop) keep(ctx context.Context) error {
	reviewed, err := l.board.Reviewed()
	if err != nil {
		return err
	}
	if err := l.worktree.Check(ctx); err != nil {
		return err
	}
	if err := l.worktree.Restore(ctx, l.desk); err != nil { // a reviewer may have been there
		return err
	}
	hidden := append(touchesSettings(l.diff, l.in.Guidelines), notShown(l.diff)...)
	for _, what := range hidden {
		l.in.Note(what)
	}
	unnamed := change.UnnamedIn(l.documents, l.diff.Deleted)
	open := append(unanswered(l.diff, l.tests), review.FilesGone(unnamed, len(l.diff.Deleted), l.diff.FilesBefore())...)
	for _, u := range open {
		if u.File == "" { // what was not shown is named already
			hidden = append(hidden, u.Message)
			l.in.Note(u.Message)
		}
	}
	evidence := evidenceOf(l.diff, reviewed)
	for round := l.round; round > 0 && evidence.Note == ""; round-- { // a rebased round has none of its own
		evidence.Note = l.board.Said(job.ImplementID(round))
	}
	if l.tests.run != nil {
		evidence.FailedNew, evidence.TestCommand = &l.tests.run.FailedNew, l.in.Tests.Command
	}
	if reviewed.Review.Verdict == review.Approved { // while it is mended there is time for it
		evidence.NeedsPerson, _ = review.Policy{}.ForPerson(nil, reviewed.Dropped, open)
	} else {
		evidence.NeedsPerson = cmp.Or(evidence.NeedsPerson, l.upheld(reviewed.Findings))
	}
	kept, err := change.KeepReview(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), l.desk, l.in.Project,
		reviewed.Review, append(reviewed.Warnings, hidden...), evidence, true)
	if err == nil {
		l.in.Note(kept.Message)
	}
	return err
}

// tested is what the project's tests say of a diff.
type tested struct {
	run  *review.TestRun // nil where none were run
	gone []string        // tests of the base that do not run any more
	not  string          // why they cannot be run, neither with the change nor without
}

// words say how the tests went.
func (t tested) words() string {
	if t.run == nil {
		return "not tested: " + t.not
	}
	return t.run.Words()
}

// testDiff runs the project's tests on a copy of the base of a diff, unless the home keeps
// what they said there, and of its files, with a copy of what compilers cached for the base.
// Nothing is written to the project. A failure that the base has, too, is none of the change.
// It returns the errors of [sandbox.RunTests].
func testDiff(ctx context.Context, desk run.Desk, home, project string, d *git.Diff, t sandbox.Tests) (tested, error) {
	t.Dir = d.Prefix()
	before, notBefore := review.TestRun{}, "there is no version before"
	var err error
	if !d.FromNothing() {
		t.Caches = filepath.Join(home, "caches", shortDigest(project), d.Base)
		if before, notBefore, err = testBase(ctx, desk, home, d, t); err != nil {
			return tested{}, err
		}
	}
	t.Fill = func(ctx context.Context, folder string) error { return d.Copy(ctx, folder, nil) }
	now, not, err := runTests(ctx, t)
	switch {
	case err != nil:
		return tested{}, err
	case not != "" && notBefore != "":
		return tested{not: not}, nil
	case not != "": // the change is why
		now = review.TestRun{Status: now.Status, Failed: 1, FailedNew: 1, Failing: []string{not}}
	case now.Unbuilt && notBefore == "" && before.Unbuilt:
		not = "nothing could be set up or built, neither with the change nor without: " + now.Reason()
		if !t.Network {
			not += " (no network: --test-network allows it)"
		}
		return tested{not: not}, nil
	case notBefore == "":
		now.Since(before)
		if now.Format != "" {
			return tested{run: &now, gone: now.Gone(before)}, nil
		}
	}
	return tested{run: &now}, nil
}

// shortDigest names a folder by what it is about.
func shortDigest(about ...string) string {
	return strings.TrimPrefix(codec.Digest(about), "sha256:")[:32]
}

// testBase runs the tests on the base of a diff, or reads what they said there before.
func testBase(ctx context.Context, desk run.Desk, home string, d *git.Diff, t sandbox.Tests) (ran review.TestRun,
	not string, err error) {
	const name = "tests.json"
	folder := filepath.Join(home, "tests", shortDigest(d.Base, d.Prefix(), t.Command, fmt.Sprint(t.Network)))
	var kept review.TestRun
	if data, err := desk.Reach.ReadFile("home", filepath.Join(folder, name)); err == nil && json.Unmarshal(data, &kept) == nil {
		return kept, "", nil
	}
	t.Fill, t.FillsCaches = d.CopyBase, true
	if ran, not, err = runTests(ctx, t); err != nil || not != "" || ran.Unbuilt { // which a module on this machine mends
		return ran, not, err
	}
	data, err := codec.MarshalFile(ran)
	if err == nil {
		err = desk.Reach.CreateFolder("home", folder, func(draft *artifact.Draft) error { return draft.Write(name, data) })
	}
	if errors.Is(err, fs.ErrExist) { // somebody else was faster
		err = nil
	}
	return ran, "", err
}

// runTests runs the tests. Not says why they cannot be started.
func runTests(ctx context.Context, t sandbox.Tests) (ran review.TestRun, not string, err error) {
	output, status, err := sandbox.RunTests(ctx, driver.Host{}, t)
	var unstarted *driver.Error
	switch {
	case ctx.Err() != nil:
		return ran, "", cancelled(ctx, err)
	case errors.As(err, &unstarted):
		return ran, unstarted.Message, nil
	case err != nil:
		return ran, "", err
	}
	if ran = review.ReadTestRun(output, status); ran.Unstarted() {
		return ran, "the tests cannot be started: " + tidegate.Cut(report.OneLine(ran.Tail)), nil
	}
	return ran, "", nil
}

// unanswered are what no reviewer of a diff answers for: text that none was shown, or that
// is checked out otherwise, and tests that are gone, by what the tests say or else by the files that hold them.
func unanswered(d *git.Diff, t tested) []review.Unanswered {
	list := []review.Unanswered{}
	for _, left := range d.Unseen() {
		list = append(list, review.NotShown(left.File, d.Version(left.File), left.Why))
	}
	for _, c := range d.Converted() {
		list = append(list, review.Converts(c.File, d.Version(c.File), c.Line))
	}
	if t.run == nil || t.run.Format == "" {
		for _, file := range review.TestsGone(d.Files) {
			list = append(list, review.TestGone(file, file))
		}
	}
	for _, name := range t.gone {
		list = append(list, review.TestGone("", name))
	}
	return list
}
