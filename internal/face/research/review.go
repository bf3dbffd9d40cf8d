package research

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

// testFlags say how the project's tests are run.
var testFlags = []cli.Flag{
	{Name: "test", About: "the `command` that tests the project, for the shell (default as [review] test of tidegate.toml says)", Kind: tool.Word},
	{Name: "test-minutes", About: fmt.Sprintf("how long it may take (default %.0f)", driver.TestLimit.Minutes()), Kind: tool.Word},
	{Name: "test-network", About: "let the tests use the network", Kind: tool.Switch},
}

func reviewCommands(env *Env) []cli.Command {
	return []cli.Command{{
		Path:  "review run",
		Short: "Let an agent review what has changed, and judge its review",
		Long: `Review what has changed in a git repository: the diff against a base, with the
results of the project's tests, goes to a reviewer, whose answer is judged: every
file and line it names exists, and nothing is approved while tests fail or an
issue is High. A large diff is split by file, reviewed in several jobs and merged
into one review.

The base is where the branch left its upstream or the main branch. What is not
committed is reviewed too, unless --committed leaves it out; the tests always see
the files as they are. Binary, generated and vendored files are left out and named.

The tests run without your logins and secrets, with a time limit, and on Linux
without a network, as far as the system allows that. A command that the project's
own tidegate.toml names runs only after ` + "`tidegate config trust`" + `.

The review is printed and, with --output, written to a file. If that file holds a
review, its issues are shown to the reviewer, who must say of each whether it is
still there. Jobs and answers lie in reviews/ of the runs home; a review that was
interrupted resumes as long as nothing has changed.

Exit status 0: APPROVED. 1: NEEDS_FIX or MAJOR_ISSUES. 4: no answer was accepted,
and a person has to look. 130: interrupted.`,
		Example: "tidegate review run\n" +
			"tidegate review run --base main --committed --reviewer codex\n" +
			"tidegate review run --test \"go test -json ./...\" --format sarif > review.sarif\n" +
			"tidegate review run --reviewer exec:./reviewer --output REVIEW.md",
		Flags: append(append([]cli.Flag{
			{Name: "base", About: "the `revision` to compare with", Kind: tool.Word},
			{Name: "committed", About: "leave out what is not committed", Kind: tool.Switch},
			{Name: "reviewer", About: "who reviews: claude, codex, opencode, gemini, exec:COMMAND, acp:COMMAND, model:URL or recorded:FOLDER (default as tidegate.toml says for code_reviewer, else the first client that is installed)", Kind: tool.Word},
			{Name: "name", About: "the `name` of the review, by which a comment replaces the one before (default the branch)", Kind: tool.Word},
			{Name: "output", About: "write REVIEW.md to this `file`, too", Kind: tool.PathFlag},
			{Name: "format", About: "how to print the review", Default: "text", Enum: []string{"text", "json", "markdown", "sarif", "junit", "github", "rdjson"}},
		}, testFlags...), budgetFlags...),
		Run: env.reviewRun,
	}}
}

// reviewRun is the command review run.
func (e *Env) reviewRun(ctx context.Context, call cli.Invocation) error {
	return e.onCode(ctx, call, (*session).reviewRun)
}

// onCode is a command about code that a person types.
func (e *Env) onCode(ctx context.Context, call cli.Invocation, do func(*session, context.Context) error) error {
	s := &session{Env: e, call: call, json: call.Flag("format") == "json"}
	err := again(do(s, tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})))
	if err != nil && s.json && tidegate.CodeOf(err) != "" {
		return s.failed(err)
	}
	return err
}

func (s *session) reviewRun(ctx context.Context) error {
	call := s.call
	parallel, budget, err := budgetTyped(call)
	if err != nil {
		return err
	}
	c, err := s.crewOf(ctx, crewWanted{roles: []string{config.CodeReviewer}, flag: "--reviewer", named: map[string]string{config.CodeReviewer: call.Flag("reviewer")}})
	if err != nil {
		return err
	}
	defer c.close()
	if _, given := budget["max_cost_usd"]; given {
		if err := c.costs(); err != nil {
			return err
		}
	}
	earlier, err := earlierReview(call.Flag("output"))
	if err != nil {
		return err
	}
	name := call.Flag("name")
	if name == "" {
		branch, err := change.HeadName(ctx, s.Project)
		if err != nil {
			return err
		}
		name = changeName(branch)
	}
	if !review.ValidChangeID(name) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "--name must be %s, got %q", review.ChangeIDRule, tidegate.Cut(name))
	}
	r, err := engine.OpenCodeReview(ctx, s.desk(), engine.CodeReviewInput{
		Project: s.Project, Home: s.Home, Name: name, Earlier: earlier, Budget: run.DefaultBudget(budget),
		DiffInput: change.DiffInput{Base: call.Flag("base"), Committed: call.Flag("committed") == "true"},
	})
	if err != nil {
		return err
	}
	defer r.Close()
	if err := c.ready(ctx); err != nil {
		return err
	}
	s.say("%s since %s", report.Counted(len(r.Diff().Files), "file")+" changed", r.Diff().Base[:12])
	for _, left := range r.Diff().LeftOut {
		s.say("left out: %s (%s)", left.File, left.Why)
	}
	if err := s.runTests(ctx, r); err != nil {
		return err
	}
	out, path, err := s.driveReview(ctx, r, c, parallel)
	if err != nil {
		return err
	}
	return s.showReview(out, path)
}

// again says how an interrupted command goes on.
func again(err error) error {
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: the same command resumes it")
	}
	return err
}

// say prints a line about what goes on. Standard output is for the review.
func (s *session) say(format string, args ...any) {
	if s.jobs != nil {
		s.jobs.note(fmt.Sprintf(format, args...))
		return
	}
	// Nothing can be done about a reader that is gone.
	fmt.Fprintln(s.call.Stderr, report.Visible(fmt.Sprintf(format, args...)))
}

// runTests runs the project's tests, where a command is known.
func (s *session) runTests(ctx context.Context, r *engine.CodeReview) error {
	t, err := s.testCommand(ctx)
	if err != nil {
		return err
	}
	if t.Command == "" {
		s.say("the tests are not run: --test names their command")
		return nil
	}
	s.say("testing: %s", oneLine(t.Command))
	tests, err := r.RunTests(ctx, t)
	if err != nil {
		return err
	}
	s.say("tests: %d passed, %d failed, %d skipped", tests.Passed, tests.Failed, tests.Skipped)
	return nil
}

// testCommand is the command that tests the project, "" where none is known. It
// returns INVALID_ARGS.
func (s *session) testCommand(ctx context.Context) (driver.Tests, error) {
	t := driver.Tests{Limit: driver.TestLimit, Network: s.call.Flag("test-network") == "true"}
	if text := s.call.Flag("test-minutes"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		if err != nil || !(minutes > 0 && minutes <= 1440) {
			return t, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("test-minutes", tidegate.Cut(text)), "--test-minutes must be a number above 0, at most 1440, got %q", tidegate.Cut(text))
		}
		t.Limit = time.Duration(minutes * float64(time.Minute))
	}
	if t.Command = strings.TrimSpace(s.call.Flag("test")); t.Command != "" {
		return t, nil
	}
	loaded, err := config.Load(ctx, config.Places{Dir: s.Project, User: s.ConfigDir, Getenv: s.Getenv})
	if err != nil {
		return t, err
	}
	if loaded.Review.Test == "" && loaded.Project != nil && slices.Contains(loaded.Project.Waiting, "review.test") {
		s.say("%s names a test command that does not count before `tidegate config trust`", loaded.Project.Path)
	}
	t.Command = loaded.Review.Test
	return t, nil
}

// driveReview lets agents write the review, and shows what happens.
func (s *session) driveReview(ctx context.Context, r *engine.CodeReview, c *crew, parallel int) (engine.CodeReviewOutcome, string, error) {
	v, err := r.Begin(ctx)
	if err != nil {
		return engine.CodeReviewOutcome{}, "", err
	}
	s.say("%s for %s in %s", report.Counted(v.Jobs(), "job"), c.agents[config.CodeReviewer].Driver, v.Path())
	watch := s.watchJobs(ctx, "Review of what has changed since "+r.Diff().Base[:12])
	stop, err := s.followJobs(ctx, v.Path())
	if err != nil {
		return engine.CodeReviewOutcome{}, "", err
	}
	out, err := v.Drive(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), engine.Options{Desk: s.desk(), Pool: c.pool, Agents: c.agents, Parallel: parallel, Watch: watch})
	stop()
	s.jobs = nil
	return out, filepath.Join(v.Path(), "REVIEW.md"), err
}

// watchJobs shows the jobs of a code change as they go on, where there is a
// terminal; otherwise it is nil, and they are shown line by line.
func (s *session) watchJobs(ctx context.Context, title string) func(*job.Board) (stop func()) {
	if s.json || s.call.Terminal.Size == nil {
		return nil
	}
	s.jobs = newLive(s)
	return func(board *job.Board) func() {
		s.jobs.beginJobs(ctx, board, title)
		return s.jobs.rest
	}
}

// followJobs shows what is added to the log of a change or a review until stop is
// called, which shows the rest.
func (s *session) followJobs(ctx context.Context, path string) (stop func(), err error) {
	folder, err := artifact.Everywhere.Open("review", path)
	if err != nil {
		return nil, err
	}
	entries, err := run.ReadEntries(folder, job.ChangeLog)
	if err != nil {
		folder.Close()
		return nil, err
	}
	seen := 0
	if n := len(entries); n > 0 {
		seen = entries[n-1].Number
	}
	show := func(e run.Entry) {
		if s.jobs != nil && e.Number > seen {
			s.jobs.happened(e)
		} else if h, ok := tell(e); ok && e.Number > seen {
			s.say("%s  %-18s %s", e.Time.In(s.Now().Location()).Format("15:04:05"), h.job, oneLine(h.text))
		}
		seen = max(seen, e.Number)
	}
	tailing, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range run.TailLog(tailing, folder, job.ChangeLog, seen+1) {
			if err != nil {
				return // whoever drives the jobs meets the same error, and reports it
			}
			show(e)
		}
	}()
	return func() {
		end()
		<-done
		if rest, err := run.ReadEntries(folder, job.ChangeLog); err == nil {
			for _, e := range rest {
				show(e)
			}
		}
		folder.Close()
	}, nil
}

// showReview prints the review, and writes it where the person wants it.
func (s *session) showReview(out engine.CodeReviewOutcome, path string) error {
	if out.WaitingFor != engine.ForNothing {
		help := "read the refused answers and their faults there, or name another agent with --reviewer"
		if out.Help != "" {
			help = out.Help
		}
		return tidegate.Errorf(tidegate.GateBlocked, tidegate.Pairs("folder", filepath.Dir(path), "help", help), "there is no review: %s", out.Reason)
	}
	data := review.Format(out.Review, out.Warnings)
	if file := s.call.Flag("output"); file != "" {
		if err := artifact.Everywhere.WriteFile("output", file, data); err != nil {
			return err
		}
		path = file
	}
	shown := review.Show(path, data)
	switch format := s.call.Flag("format"); format {
	case "json":
		if err := s.line(shown); err != nil {
			return err
		}
	case "markdown":
		if _, err := fmt.Fprintln(s.call.Stdout, review.CommentMark(shown.ChangeID)); err != nil {
			return tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
		}
		fallthrough
	default:
		return s.call.Show(shown.Report(), format)
	}
	if !shown.Passed() {
		return cli.Exit(exitNotPassed)
	}
	return nil
}

// earlierReview is the issues of the review that a file holds; none where there is
// no such file. It returns INVALID_ARGS for a file that is something else.
func earlierReview(path string) ([]review.Identified, error) {
	if path == "" {
		return nil, nil
	}
	data, err := artifact.Everywhere.ReadDocument("output", path)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	read := review.Read(data)
	if !read.Complete {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("output", path), "%s exists and is not a review; name another file", path)
	}
	return review.Identify(read.Payload.Issues), nil
}

var notInChangeID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^A-Za-z0-9._-]+`) })

// changeName makes a change id of the name of a branch.
func changeName(branch string) string {
	name := strings.TrimLeft(notInChangeID().ReplaceAllString(branch, "-"), "._-")
	if len(name) > 64 {
		name = name[:64]
	}
	if !review.ValidChangeID(name) {
		return "review"
	}
	return name
}
