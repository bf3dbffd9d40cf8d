package codereview

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/agent/sandbox"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/change"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// attemptMinutes is how long an implementer may work at a change.
const attemptMinutes = 60

// changeFlags say how a change is driven.
var changeFlags = append(append([]tool.Flag{
	reviewerTools,
	{Name: "implementer", About: "who implements, as --reviewer names who reviews (default as tidegate.toml says)", Kind: tool.Word},
	{Name: "reviewer", About: "who reviews: claude, codex, opencode, gemini, api:SERVICE, model:URL, exec:COMMAND, acp:COMMAND or recorded:FOLDER (default as tidegate.toml says for code_reviewer); several ask a panel", Kind: tool.Word, List: true},
	{Name: "yes", About: "let the tests run without being asked", Kind: tool.Switch},
	{Name: "format", About: "how to print the result", Default: "text", Enum: []string{"text", "json"}},
}, testFlags...), slices.Concat(screen.CellFlags, screen.BudgetFlags)...)

func changeCommands(env commands) []cli.Command {
	return []cli.Command{{
		Path: "change run", Operands: changeOperand,
		Flags: changeFlags,
		Run:   env.changeRun,
	}}
}

func (e commands) changeRun(ctx context.Context, call cli.Invocation) error {
	return e.onCode(ctx, call, (*session).changeRun)
}

func (s *session) changeRun(ctx context.Context) (int, error) {
	return s.driveChange(ctx, s.Call.Args[0])
}

// driveChange lets agents drive a change, and returns the exit status.
func (s *session) driveChange(ctx context.Context, id string) (int, error) {
	call := s.Call
	parallel, budget, err := screen.Budget(call)
	if err != nil {
		return 0, err
	}
	budget["attempt_minutes"] = attemptMinutes
	tests, err := s.testsToRun(ctx)
	if err != nil {
		return 0, err
	}
	if _, err := change.Brief(s.OwnDesk(), s.Project, id); err != nil {
		return 0, err
	}
	cells, err := screen.Cells(call)
	if err != nil {
		return 0, err
	}
	wanted := dispatch.Wanted{Roles: []string{dispatch.Implementer}, Flag: "--implementer", Cells: cells, Named: map[string]string{dispatch.Implementer: call.Flag("implementer")}}
	wanted.AddPanel(call.Flags["reviewer"])
	c, err := s.Team(ctx, wanted)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	s.Announce(c)
	if err := c.Ready(ctx, budget); err != nil {
		return 0, err
	}
	started, err := change.Start(ctx, s.OwnDesk(), s.Project, id, nil)
	if err != nil && tidegate.CodeOf(err) != tidegate.GateBlocked {
		return 0, err
	}
	if err != nil {
		// A complete change stays complete, unless a later review opens it again.
		if status, statusErr := change.StatusOf(ctx, s.OwnDesk(), s.Project, id); statusErr != nil || status.Phase != change.Complete {
			return 0, err
		}
	} else if started.Changed {
		s.Say("%s", started.Message)
	}
	status, err := change.StatusOf(ctx, s.OwnDesk(), s.Project, id)
	if err != nil {
		return 0, err
	}
	loaded, err := s.projectSettings(ctx)
	if err != nil {
		return 0, err
	}
	watch := s.WatchJobs(ctx, "Change "+id)
	stop, err := s.FollowJobs(ctx, filepath.Dir(status.StatePath))
	if err != nil {
		return 0, err
	}
	options := s.Options(c)
	options.Parallel, options.Watch = parallel, watch
	out, err := engine.DriveChange(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), engine.ChangeInput{
		Project: s.Project, Home: s.Home, ID: id, Tests: tests.In(c.Cells), Author: loaded.Change.Author,
		Message: loaded.Change.Message, Ignore: loaded.Review.Ignore, Guidelines: loaded.Review.Guidelines,
		Reviewers: c.Reviewers(), Sight: s.sight(c), Unconfined: c.Cells.Unconfined, Budget: run.DefaultBudget(budget),
		Note: func(what string) { s.Say("%s", report.OneLine(what)) },
	}, options)
	stop()
	s.JobsEnded()
	if err != nil {
		return 0, err
	}
	return s.showChange(id, out)
}

// testsToRun are the project's tests, once the person agrees to run them.
func (s *session) testsToRun(ctx context.Context) (sandbox.Tests, error) {
	t, err := s.testCommand(ctx)
	if err != nil || t.Command == "" {
		if err == nil {
			s.Say("the tests are not run: --test names their command")
		}
		return t, err
	}
	if s.Call.Flag("yes") == "true" {
		own, err := s.ownTests(ctx)
		if err != nil || own {
			return t, err
		}
		if !s.CanAsk() {
			return t, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", true, "test", tidegate.Cut(t.Command)),
				"--yes does not count for a test command of the project's own tidegate.toml: name it with --test, or in your own file")
		}
	}
	if !s.CanAsk() {
		return t, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", nil, "test", tidegate.Cut(t.Command)),
			"the tests are code that an agent writes, and nobody can be asked here whether they may run: --yes says so beforehand")
	}
	answer, err := s.Ask(ctx, fmt.Sprintf("After each round `%s` runs code that an agent wrote. Let it run? [y/N]", report.OneLine(t.Command)))
	if err != nil || answer == 'y' {
		return t, err
	}
	return t, tidegate.Errorf(tidegate.InvalidState, nil, "nothing was begun: the tests may not run")
}

// ownTests reports whether the test command was typed, or stands in the user's own
// file.
func (s *session) ownTests(ctx context.Context) (bool, error) {
	if s.Call.Flag("test") != "" {
		return true, nil
	}
	loaded, err := config.Load(ctx, config.Places{Dir: s.Project, User: s.ConfigDir, Getenv: s.Getenv})
	if err != nil || loaded.User == nil {
		return false, err
	}
	for _, e := range loaded.Entries() {
		if e.Key == "review.test" && e.Counts && strings.HasPrefix(e.From, loaded.User.Path+":") {
			return true, nil
		}
	}
	return false, nil
}

// ChangeRun is how change run ended.
type ChangeRun struct {
	OK         codec.True     `json:"ok"`
	ChangeID   string         `json:"change_id"`
	Phase      string         `json:"phase"`
	Rounds     int            `json:"rounds"` // reviews that were kept
	Branch     string         `json:"branch"`
	Worktree   string         `json:"worktree"`
	WaitingFor engine.Waiting `json:"waiting_for"`
	Reason     string         `json:"reason"`
	Spent      job.Spent      `json:"spent"`
	// Around names what is not as it was of hooks, settings, refs and index of the repository.
	Around []string `json:"around,omitempty"`
	Next   string   `json:"next"`
}

// showChange shows how it ended, and returns the exit status that goes with it.
func (s *session) showChange(id string, out engine.ChangeOutcome) (int, error) {
	result := ChangeRun{ChangeID: id, Phase: out.Phase, Rounds: out.Rounds, Branch: out.Branch, Worktree: out.Worktree, WaitingFor: out.WaitingFor, Reason: out.Reason, Spent: out.Spent, Around: out.Around, Next: out.Next}
	done := out.WaitingFor == engine.ForNothing
	switch {
	case done:
		result.Next = "tidegate change merge " + id
	case out.Help != "":
		result.Next = out.Help
	case result.Next == "":
		result.Next = "tidegate change run " + id
	}
	if s.JSON {
		if err := s.Line(result); err != nil {
			return 0, err
		}
	} else {
		r := report.Report{Name: "change_run", Title: "Change " + id, Status: report.PassIf(done), Summary: result.Reason}
		r.Add(report.Fields{{Name: "Phase", Value: result.Phase, Mark: r.Status}, {Name: "Reviews", Value: fmt.Sprint(result.Rounds)}, {Name: "Branch", Value: result.Branch},
			{Name: "Worktree", Value: result.Worktree}, {Name: "It took", Value: dispatch.SpentText(out.Spent)}})
		if len(result.Around) > 0 {
			var names report.Bullets
			for _, name := range result.Around {
				names = append(names, report.OneLine(name))
			}
			r.Add(report.Paragraph("While agents without a cell worked, this changed in the repository beside the branch. Unless it was you, look at it before you merge: your git goes by it."), names)
		}
		r.Add(report.Fields{{Name: "Next", Value: result.Next}})
		if err := s.Call.Render(r); err != nil {
			return 0, err
		}
	}
	if !done {
		return screen.ExitNeedsPerson, nil
	}
	return 0, nil
}
