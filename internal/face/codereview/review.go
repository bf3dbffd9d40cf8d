package codereview

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/reviews"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/review"
	"github.com/tidegate/tidegate/tool"
)

// testFlags say how the project's tests are run.
var testFlags = []tool.Flag{
	{Name: "test", About: "the `command` that tests the project, for the shell (default as [review] test of tidegate.toml says)", Kind: tool.Word},
	{Name: "test-minutes", About: fmt.Sprintf("how long it may take (default %.0f)", sandbox.TestLimit.Minutes()), Kind: tool.Word},
	{Name: "test-network", About: "let the tests use the network", Kind: tool.Switch},
}

// reviewerTools says whether those may look at the repository that have no client for it.
var reviewerTools = tool.Flag{Name: "reviewer-tools",
	About: "what model: and api: reviewers may do beside reading the diff: read and search the repository before and after the change, or nothing", Default: "read", Enum: []string{"read", "none"}}

// sight is what reviewers see beside the diff. It says so where one may look things up.
func (s *session) sight(c *dispatch.Team) engine.Sight {
	if s.Workers != nil {
		return engine.Sight{}
	}
	if s.Call.Flag("reviewer-tools") == "none" {
		return engine.Sight{Tree: true}
	}
	for _, name := range slices.Concat(c.Reviewers(), c.Verifiers()) {
		if engine.WithoutClient(name) {
			s.Say("%s may read the whole repository, before and after the change: --reviewer-tools none shows it the diff alone", name)
		}
	}
	return engine.Sight{Tree: true, Tools: true}
}

// findingOperand is one that a review has.
var findingOperand = tool.Operand{Name: "FINDING", About: "its id, as `review run` shows it"}

// hookOperand is when git has a review made.
var hookOperand = tool.Operand{Name: "KIND", About: "pre-commit (the default), pre-push, post-commit", Optional: true}

func reviewCommands(env commands) []cli.Command {
	return []cli.Command{{
		Path:     "review run",
		Operands: []tool.Operand{{Name: "A..B", About: "two revisions to compare", Optional: true}},
		Flags: append(append([]tool.Flag{
			{Name: "base", About: "the `revision` to compare with", Kind: tool.Word},
			{Name: "head", About: "the `revision` to review instead of the files as they are; one that the main branch has is compared with the commit before it", Kind: tool.Word},
			{Name: "committed", About: "leave out what is not committed", Kind: tool.Switch},
			{Name: "staged", About: "review what is staged, compared with the last commit", Kind: tool.Switch},
			{Name: "path", About: "review only this `folder` or file of the repository", Kind: tool.PathFlag, List: true},
			{Name: "reviewer", About: "who reviews: claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER (default as tidegate.toml says for code_reviewer, else the first that is found); several ask a panel", Kind: tool.Word, List: true},
			screen.ModelFlag,
			reviewerTools,
			{Name: "verify", About: "the `agent` that holds each finding against the code, another than the reviewers; what it refutes does not count; the next one is asked when it cannot tell findings from their opposites", Kind: tool.Word, List: true},
			{Name: "agree", About: "how many reviewers must have found what counts", Kind: tool.Word},
			{Name: "fail-on", About: "the least severity of a finding that makes the exit status 1", Default: "medium", Enum: review.Thresholds},
			{Name: "only-new", About: "let only findings count that the last review of the same name does not have", Kind: tool.Switch},
			{Name: "baseline", About: "let only findings count that this `file` does not have: a REVIEW.md, or what --format json printed", Kind: tool.PathFlag},
			{Name: "earlier", About: "resume from the review in this `file`, which --format json printed: only what is new since is reviewed, and what it found is carried", Kind: tool.PathFlag},
			{Name: "import", About: "take in what other tools found, from their SARIF or rdjson `file`", Kind: tool.PathFlag, List: true},
			{Name: "decided", About: "let what persons dismissed on the forge count, as `review pull --decided` wrote it to this `file`", Kind: tool.PathFlag},
			{Name: "settings", About: "which of the project's settings count: those of your files, or those of the base", Default: "tree", Enum: []string{"tree", "base"}},
			{Name: "again", About: "ask the reviewers although nothing has changed since their last review", Kind: tool.Switch},
			{Name: "yes", About: "begin a large review without being asked", Kind: tool.Switch},
			{Name: "name", About: "the `name` of the review, by which a comment replaces the one before (default the branch)", Kind: tool.Word},
			{Name: "output", About: "write REVIEW.md to this `file`, too", Kind: tool.PathFlag},
			{Name: "json", About: "write what --format json prints to this `file`, too", Kind: tool.PathFlag},
			{Name: "format", About: "how to print the review", Default: "text", Enum: []string{"text", "json", "markdown", "sarif", "junit", "github", "rdjson", "gitlab"}},
		}, testFlags...), slices.Concat(screen.CellFlags, screen.BudgetFlags)...),
		Run: env.reviewRun,
	}, {
		Path:     "review dismiss",
		Operands: []tool.Operand{{Name: findingOperand.Name, About: findingOperand.About, Repeats: true}},
		Flags: []tool.Flag{
			{Name: "reason", About: "why it does not count", Kind: tool.Word},
			{Name: "from", About: "the `FILE` with the review, or the address of the pull request", Kind: tool.Word},
		},
		Run: env.reviewDismiss,
	}, {
		Path: "review hook install", Operands: []tool.Operand{hookOperand},
		Flags: []tool.Flag{
			{Name: "reviewer", About: "who reviews, as in review run", Kind: tool.Word, List: true},
			{Name: "fail-on", About: "the least severity of a finding that stops it", Default: "medium", Enum: review.Thresholds},
			{Name: "chain", About: "let a hook of somebody else run first", Kind: tool.Switch},
		},
		Run: env.reviewHook,
	}, {
		Path: "review hook uninstall", Operands: []tool.Operand{hookOperand},
		Run: env.reviewHookRemove,
	}, {
		Path: "review clean",
		Run:  env.reviewClean,
	}}
}

// reviewDismiss is the command review dismiss.
func (e commands) reviewDismiss(ctx context.Context, call cli.Invocation) error {
	kept, missing, err := e.keptFrom(ctx, call.Flag("from"))
	if err != nil {
		return err
	}
	var list []review.Dismissal
	var said []string
	for _, id := range call.Args {
		d, ok := review.Dismissal{}, false
		for i := 0; i < len(kept) && !ok; i++ {
			d, ok = review.Dismissible(id, kept[i].Findings, kept[i].Dropped, kept[i].ForPerson)
		}
		if !ok {
			return missing(id)
		}
		list, said = append(list, d), append(said, fmt.Sprintf("%s %q", d.ID, d.Title))
	}
	path, err := change.Dismiss(byTerminal(ctx), e.OwnDesk(), e.Project, list, call.Flag("reason"))
	if err != nil {
		return err
	}
	summary := strings.Join(said, ", ") + ": no longer counts, says " + path
	return call.Render(report.Report{Name: "review_dismiss", Title: "Dismissed", Summary: summary})
}

// reviewFrom is a review in a file, or that of a pull request, by the address of its page.
func (e commands) reviewFrom(ctx context.Context, from string) (ReviewRun, error) {
	if strings.HasPrefix(from, "https://") {
		return e.onPull(ctx, from)
	}
	path, err := filepath.Abs(from)
	if err != nil {
		return ReviewRun{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("from", from),
			"--from must name a file or a pull request: %w", err)
	}
	return readReviewRun("from", path)
}

// keptFrom are the reviews of a file or of a pull request or, where none is named, those of
// the project that the home keeps, the last first. The error of missing is about an id that
// none of them has.
func (e commands) keptFrom(
	ctx context.Context, from string,
) (list []reviews.Ended, missing func(id string) error, err error) {
	where, help := "no review of this project that the home keeps", "`tidegate review list` has the reviews, and `tidegate review show ID` the ids of their findings"
	missing = func(id string) error {
		return tidegate.Errorf(tidegate.FileNotFound, tidegate.Pairs("ID", tidegate.Cut(id), "help", help), "%s has a finding %q", where, tidegate.Cut(id))
	}
	if from != "" {
		where = "nothing in " + from
		r, err := e.reviewFrom(ctx, from)
		one := reviews.Ended{Outcome: reviews.Outcome{Findings: r.Issues, Dropped: r.Dropped}, ForPerson: r.ForPerson}
		return []reviews.Ended{one}, missing, err
	}
	records, err := reviews.All(e.OwnDesk(), e.Home)
	for _, r := range slices.Backward(records) {
		if r.Ended != nil && r.Project == e.Project {
			list = append(list, *r.Ended)
		}
	}
	return list, missing, err
}

// reviewHook is the command review hook install.
func (e commands) reviewHook(ctx context.Context, call cli.Invocation) error {
	program, err := os.Executable()
	if err != nil {
		return tidegate.Errorf(tidegate.ReadFailed, nil, "the path of this program is not known: %w", err)
	}
	in := change.HookInput{Kind: "pre-commit", Program: program, Chain: call.Flag("chain") == "true"}
	if len(call.Args) > 0 {
		in.Kind = call.Args[0]
	}
	for _, named := range call.Flags["reviewer"] {
		in.Args = append(in.Args, "--reviewer", named)
	}
	in.Args = append(in.Args, "--fail-on", call.Flag("fail-on"))
	path, err := change.InstallHook(ctx, e.OwnDesk(), e.Project, in)
	if err != nil {
		return err
	}
	return call.Render(report.Report{Name: "review_hook", Title: "Hook", Summary: path + " reviews from now on"})
}

// reviewHookRemove is the command review hook uninstall.
func (e commands) reviewHookRemove(ctx context.Context, call cli.Invocation) error {
	kind := "pre-commit"
	if len(call.Args) > 0 {
		kind = call.Args[0]
	}
	path, err := change.RemoveHook(ctx, e.OwnDesk(), e.Project, kind)
	if err != nil {
		return err
	}
	return call.Render(report.Report{Name: "review_hook", Title: "Hook", Summary: path + " reviews no more"})
}

// reviewClean is the command review clean.
func (e commands) reviewClean(_ context.Context, call cli.Invocation) error {
	removed, err := reviews.RemoveOld(e.OwnDesk(), e.Home, e.Project)
	if err != nil {
		return err
	}
	return call.Render(report.Report{Name: "review_clean", Title: "Old reviews", Summary: report.Counted(len(removed), "review") + " removed"})
}

// reviewRun is the command review run.
func (e commands) reviewRun(ctx context.Context, call cli.Invocation) error {
	return e.onCode(ctx, call, (*session).reviewRun)
}

// compared is what a person wants to be compared. It returns INVALID_ARGS.
func compared(call cli.Invocation) (git.DiffInput, error) {
	in := git.DiffInput{
		Base: call.Flag("base"), Head: call.Flag("head"), Committed: call.Flag("committed") == "true", Staged: call.Flag("staged") == "true", Paths: call.Flags["path"],
	}
	if len(call.Args) > 0 {
		base, head, found := strings.Cut(call.Args[0], "..")
		head = strings.TrimPrefix(head, ".") // A...B is the same
		switch {
		case !found || base+head == "":
			return in, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("A..B", tidegate.Cut(call.Args[0])), "two revisions must be named as A..B, got %q", tidegate.Cut(call.Args[0]))
		case in.Base+in.Head != "":
			return in, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("A..B", tidegate.Cut(call.Args[0])), "A..B names what --base and --head would: give the one or the other")
		}
		in.Base, in.Head, in.Committed = base, head, true
	}
	if in.Staged && (in.Committed || in.Head != "") {
		return in, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("staged", true), "what is staged is not committed: --staged goes with neither --committed nor a head")
	}
	return in, nil
}

func (s *session) reviewRun(ctx context.Context) (int, error) {
	call := s.Call
	parallel, budget, err := screen.Budget(call)
	if err != nil {
		return 0, err
	}
	in := engine.CodeReviewInput{Project: s.Project, Home: s.Home, Budget: run.DefaultBudget(budget), Again: call.Flag("again") == "true"}
	if in.DiffInput, err = compared(call); err != nil {
		return 0, err
	}
	policy, err := policyTyped(call)
	if err != nil {
		return 0, err
	}
	for _, name := range []string{"output", "json"} {
		if path := call.Flag(name); path != "" {
			if err := artifact.Everywhere.Writable(name, path); err != nil {
				return 0, err
			}
		}
	}
	if in.Name, err = s.reviewName(ctx); err != nil {
		return 0, err
	}
	if err := s.loadSettings(ctx, &in.DiffInput); err != nil {
		return 0, err
	}
	c, err := s.panel(ctx)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	s.Announce(c)
	in.Sight = s.sight(c)
	in.Reviewers, in.Guidelines, in.Verifier = c.Reviewers(), s.settings.Review.Guidelines, strings.Join(c.Verifiers(), ", ")
	if err := s.readBefore(ctx, &in, &policy); err != nil {
		return 0, err
	}
	r, err := engine.OpenCodeReview(ctx, s.OwnDesk(), in)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	s.sayDiff(r.Diff())
	var result ReviewRun
	if out, unchanged := r.Unchanged(); unchanged {
		s.Say("nothing that can be shown has changed since the review before, which stands")
		result, err = s.reviewed(r, out, in.Name, policy)
	} else if len(r.Diff().Files) == 0 {
		result = nothingToReview(in.Name, r)
	} else {
		result, err = s.review(ctx, r, c, parallel, budget, policy)
	}
	if err != nil {
		return 0, err
	}
	return result.Exit, s.showReview(result)
}

// review is the review of a diff: the one that the home keeps, or one that agents
// write.
func (s *session) review(ctx context.Context, r *engine.CodeReview, c *dispatch.Team, parallel int, budget map[string]float64, policy review.Policy) (ReviewRun, error) {
	if err := s.runTests(ctx, r, c.Cells); err != nil {
		return ReviewRun{}, err
	}
	kept, err := r.Recorded()
	if err != nil {
		return ReviewRun{}, err
	}
	if kept != nil {
		s.Say("nothing has changed since the review %s, which is shown again; --again asks the reviewers", kept.ID)
		out := engine.CodeReviewOutcome{CodeReviewed: job.CodeReviewed(kept.Ended.Outcome), Second: kept.Ended.Second, Checked: kept.Ended.Checked}
		out.WaitingFor = engine.ForNothing
		return s.reviewed(r, out, filepath.Join(kept.Path, "REVIEW.md"), policy)
	}
	if err := c.Ready(ctx, budget); err != nil {
		return ReviewRun{}, err
	}
	if err := s.agreeToSize(ctx, r); err != nil {
		return ReviewRun{}, err
	}
	out, path, err := s.driveReview(ctx, r, c, parallel)
	if err != nil {
		return ReviewRun{}, err
	}
	s.Say("it took %s", dispatch.SpentText(out.Spent))
	return s.reviewed(r, out, path, policy)
}

// A review that is larger than this is begun only if a person wants it.
const (
	manyJobs   = 20
	manyPrompt = 2 << 20 // bytes
)

// agreeToSize asks before a large review. It returns INVALID_ARGS where nobody can be
// asked, and INVALID_STATE where the answer is no.
func (s *session) agreeToSize(ctx context.Context, r *engine.CodeReview) error {
	jobs, size, err := r.Estimate()
	if err != nil || jobs <= manyJobs && size <= manyPrompt || s.Call.Flag("yes") == "true" {
		return err
	}
	large := fmt.Sprintf("the review has %s with %.1f MB of prompts, about %s tokens to read", report.Counted(jobs, "job"), float64(size)/1e6, dispatch.Grouped(float64(size)/4))
	if !s.CanAsk() {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", nil, "jobs", jobs, "bytes", size), "%s: --yes begins it all the same, --path or a later --base makes it smaller", large)
	}
	answer, err := s.Ask(ctx, large+". Begin? [y/N]")
	if err == nil && answer != 'y' {
		err = tidegate.Errorf(tidegate.InvalidState, nil, "nothing was begun")
	}
	return err
}

// policyTyped is what counts, as it was typed. It returns INVALID_ARGS.
func policyTyped(call cli.Invocation) (review.Policy, error) {
	p := review.Policy{FailOn: call.Flag("fail-on"), Known: map[string]bool{}}
	text := call.Flag("agree")
	if text == "" {
		return p, nil
	}
	var err error
	if p.Agree, err = strconv.Atoi(text); err != nil || p.Agree < 1 || p.Agree > max(1, len(call.Flags["reviewer"]))+len(call.Flags["import"]) {
		return p, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("agree", tidegate.Cut(text)), "--agree must be a number from 1 to that of the reviewers, got %q", tidegate.Cut(text))
	}
	return p, nil
}

// loadSettings reads the settings that count for a review.
func (s *session) loadSettings(ctx context.Context, in *git.DiffInput) error {
	places := config.Places{Dir: s.Project, User: s.ConfigDir, Getenv: s.Getenv}
	base, err := git.Base(ctx, s.Project, *in)
	if err != nil {
		return err
	}
	places.At = func(ctx context.Context, path string) ([]byte, bool, error) {
		return git.FileAt(ctx, s.OwnDesk(), s.Project, base, path)
	}
	loaded, err := config.Load(ctx, places)
	if s.Call.Flag("settings") == "base" {
		in.Settings.At = base
	} else {
		if err == nil { // a file of the base that cannot be read lets nothing be ignored
			in.Settings.IgnoreBefore = loaded.Review.Ignore
		}
		places.At = nil
		loaded, err = config.Load(ctx, places)
	}
	in.Settings.Ignore, s.settings = loaded.Review.Ignore, &loaded
	return err
}

// projectSettings are those that count for the project.
func (s *session) projectSettings(ctx context.Context) (config.Config, error) {
	if s.settings != nil {
		return *s.settings, nil
	}
	return config.Load(ctx, config.Places{Dir: s.Project, User: s.ConfigDir, Getenv: s.Getenv})
}

// panel is the reviewers that a person named, or the one of the configuration.
func (s *session) panel(ctx context.Context) (*dispatch.Team, error) {
	cells, err := screen.Cells(s.Call)
	if err != nil {
		return nil, err
	}
	wanted := dispatch.Wanted{Flag: "--reviewer", Named: map[string]string{}, Model: s.Call.Flag("model"), Settings: s.settings, Cells: cells}
	wanted.AddPanel(s.Call.Flags["reviewer"])
	for n, named := range s.Call.Flags["verify"] {
		role := job.CodeVerifier
		if n > 0 {
			role = fmt.Sprintf("%s.%d", role, n+1)
		}
		wanted.Roles = append(wanted.Roles, role)
		wanted.Named[role] = named
	}
	c, err := s.Team(ctx, wanted)
	if err != nil {
		return nil, err
	}
	if err := c.Independent(); err != nil {
		c.Close()
		return nil, err
	}
	return c, nil
}

// readBefore reads what was found before: the review that --output holds, those that
// are the baseline, what was dismissed, and what other tools found.
func (s *session) readBefore(ctx context.Context, in *engine.CodeReviewInput, policy *review.Policy) error {
	last, err := reviews.Last(s.OwnDesk(), s.Home, s.Project, in.Name)
	if err != nil {
		return err
	}
	if in.Earlier, err = earlierReview(s.Call.Flag("output"), last); err != nil {
		return err
	}
	if path := s.Call.Flag("earlier"); path != "" {
		r, err := readReviewRun("earlier", path)
		if err != nil {
			return err
		}
		in.Before = r.before()
	}
	if last != nil && s.Call.Flag("only-new") == "true" {
		for _, issue := range last.Ended.Earlier().Issues {
			policy.Known[issue.ID] = true
		}
	}
	if err := readBaseline(s.Call.Flag("baseline"), policy.Known); err != nil {
		return err
	}
	if in.Dismissed, err = change.Dismissed(ctx, s.OwnDesk(), s.Project, in.Settings.At); err != nil {
		return err
	}
	if path := s.Call.Flag("decided"); path != "" {
		if err := s.readDecided(ctx, path, in); err != nil {
			return err
		}
	}
	policy.Dismissed = in.Dismissed
	in.Linters, err = change.ReadForeign(ctx, s.OwnDesk(), s.Project, s.Call.Flags["import"])
	return err
}

// readDecided adds what persons dismissed on a forge, unless dismissals are signed here.
func (s *session) readDecided(ctx context.Context, path string, in *engine.CodeReviewInput) error {
	var before []review.Finding
	if in.Before != nil {
		before = in.Before.Findings
	}
	list, kept, not, err := readDecided(path, before)
	if err != nil {
		return err
	}
	signed, err := change.SignsDismissals(ctx, s.OwnDesk(), s.Project, in.Settings.At)
	switch {
	case err != nil:
		return err
	case signed && len(list) > 0:
		s.Say("no comment dismisses anything: dismissals are signed here, by `tidegate review dismiss --sign KEY`")
		return nil
	}
	for _, text := range not {
		s.Say("%s", text)
	}
	in.Dismissed, s.decided = append(in.Dismissed, list...), kept
	return nil
}

// reviewName is the name of the review: that of the branch where none was typed.
func (s *session) reviewName(ctx context.Context) (string, error) {
	name := s.Call.Flag("name")
	if name == "" {
		branch, err := git.HeadName(ctx, s.Project)
		if err != nil {
			return "", err
		}
		name = changeName(branch)
	}
	if !review.ValidChangeID(name) {
		return "", tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("name", tidegate.Cut(name)), "--name must be %s, got %q", review.ChangeIDRule, tidegate.Cut(name))
	}
	return name, nil
}

// runTests runs the project's tests, where a command is known.
func (s *session) runTests(ctx context.Context, r *engine.CodeReview, cells driver.Cells) error {
	t, err := s.testCommand(ctx)
	if err != nil {
		return err
	}
	if t.Command == "" {
		s.Say("the tests are not run: --test names their command")
		return nil
	}
	s.Say("testing: %s", report.OneLine(t.Command))
	tests, err := r.RunTests(ctx, t.In(cells))
	if err != nil {
		return err
	}
	s.Say("tests: %s", tests)
	return nil
}

// testCommand is the command that tests the project, "" where none is known. It
// returns INVALID_ARGS.
func (s *session) testCommand(ctx context.Context) (sandbox.Tests, error) {
	t := sandbox.Tests{Limit: sandbox.TestLimit, Network: s.Call.Flag("test-network") == "true"}
	if text := s.Call.Flag("test-minutes"); text != "" {
		minutes, err := strconv.ParseFloat(text, 64)
		if err != nil || !(minutes > 0 && minutes <= 1440) {
			return t, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("test-minutes", tidegate.Cut(text)), "--test-minutes must be a number above 0, at most 1440, got %q", tidegate.Cut(text))
		}
		t.Limit = time.Duration(minutes * float64(time.Minute))
	}
	if t.Command = strings.TrimSpace(s.Call.Flag("test")); t.Command != "" {
		return t, nil
	}
	loaded, err := s.projectSettings(ctx)
	if err != nil {
		return t, err
	}
	if loaded.Review.Test == "" && loaded.Project != nil && slices.Contains(loaded.Project.Waiting, "review.test") {
		s.Say("%s names a test command that does not count before `tidegate config trust`", loaded.Project.Path)
	}
	t.Command = loaded.Review.Test
	return t, nil
}

// driveReview lets agents write the review, and shows what happens.
func (s *session) driveReview(ctx context.Context, r *engine.CodeReview, c *dispatch.Team, parallel int) (engine.CodeReviewOutcome, string, error) {
	v, err := r.Begin(ctx)
	if err != nil {
		return engine.CodeReviewOutcome{}, "", err
	}
	if v.Kept() == "" {
		s.Say("%s for %s in %s", report.Counted(v.Jobs(), "job"), strings.Join(c.Reviewers(), ", "), v.Path())
	} else {
		s.Say("what %s found in the review %s stands, and only its second reader is asked, in %s; --again asks the reviewers", strings.Join(c.Reviewers(), ", "), v.Kept(), v.Path())
	}
	watch := s.WatchJobs(ctx, "Review of what has changed since "+r.Diff().Since())
	stop, err := s.FollowJobs(ctx, v.Path())
	if err != nil {
		return engine.CodeReviewOutcome{}, "", err
	}
	options := s.Options(c)
	options.Parallel, options.Watch = parallel, watch
	out, err := v.Drive(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), options)
	stop()
	s.JobsEnded()
	return out, filepath.Join(v.Path(), "REVIEW.md"), err
}

// earlierReview is the review that a file holds; it is empty where there is no such
// file. Where it is the last one that the home keeps, its issues have the ids that they
// have there. It returns INVALID_ARGS for a file that is something else.
func earlierReview(path string, last *reviews.Review) (change.Earlier, error) {
	if path == "" {
		return change.Earlier{}, nil
	}
	data, err := artifact.Everywhere.ReadDocument("output", path)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return change.Earlier{}, nil
	}
	if err != nil {
		return change.Earlier{}, err
	}
	read := review.Read(data)
	if !read.Complete {
		return change.Earlier{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("output", path), "%s exists and is not a review; name another file", path)
	}
	earlier := change.Earlier{Issues: review.Identify(read.Payload.Issues)}
	digest := reviews.Digest(read.Payload)
	if last != nil && last.Ended.ReviewDigest == digest {
		earlier = last.Ended.Earlier()
	}
	earlier.Digest = digest
	return earlier, nil
}

// readBaseline adds the ids of the issues that a file holds: a REVIEW.md, or what
// review run printed as JSON. It returns INVALID_ARGS for something else.
func readBaseline(path string, known map[string]bool) error {
	if path == "" {
		return nil
	}
	data, err := artifact.Everywhere.ReadDocument("baseline", path)
	if err != nil {
		return err
	}
	if doc, err := codec.Parse(data); err == nil && doc.Get("issues").Kind() == codec.Array {
		for _, issue := range doc.Get("issues").Elems() {
			known[issue.Get("id").Str()] = true
		}
		return nil
	}
	read := review.Read(data)
	if !read.Complete {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("baseline", path), "%s is no review: neither a REVIEW.md nor what `review run --format json` prints", path)
	}
	for _, issue := range review.Identify(read.Payload.Issues) {
		known[issue.ID] = true
	}
	return nil
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

// sayDiff says what is reviewed.
func (s *session) sayDiff(d *git.Diff) {
	part := ""
	if len(d.Parts) > 0 {
		part = " in " + strings.Join(d.Parts, ", ")
	}
	s.Say("%s changed%s since %s", report.Counted(len(d.Files), "file"), part, d.Since())
	for _, left := range d.LeftOut {
		s.Say("left out: %s (%s)", left.File, left.Why)
	}
}
