package research

import (
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// research is the command of that name.
func (e commands) research(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		o, err := e.orderOf(ctx, call)
		if err != nil {
			return nil, err
		}
		return s.pursue(ctx, o)
	})
}

// pursue takes an order to its report, as far as the person says yes.
func (s *session) pursue(ctx context.Context, o dispatch.Order) (*Result, error) {
	call := s.Call
	cells, err := screen.Cells(call)
	if err != nil {
		return nil, err
	}
	o.ConfirmPlan = !s.yes || s.planOnly
	team, err := s.Team(ctx, dispatch.ForRun(call.Flag("agent"), call.Flag("model"), o.Kept, cells))
	if err != nil {
		return nil, err
	}
	defer team.Close()
	if err := s.Take(ctx, &o, team); err != nil {
		return nil, err
	}
	s.Announce(team)
	if yes, err := s.mayBegin(ctx, o); err != nil || !yes {
		return nil, err
	}
	manifest, err := s.MakeRun(ctx, o)
	if err != nil {
		return nil, err
	}
	s.remember(manifest, team)
	if o.Contracts == nil {
		if !o.ConfirmPlan {
			s.Planned = func() error {
				p, _, err := s.CurrentPlan(ctx, manifest, o)
				if err != nil {
					return err
				}
				return s.showPlan(p)
			}
		}
		planned, err := s.drive(ctx, manifest, team, o.Parallel)
		if err != nil {
			return planned, err
		}
		if !s.waitsForYes(ctx, manifest) {
			return planned, s.compareAgain(ctx, o.Before, planned)
		}
	}
	result, err := s.confirm(ctx, manifest, o)
	if err != nil || result != nil || s.planOnly {
		return result, err
	}
	if result, err = s.drive(ctx, manifest, team, o.Parallel); err != nil {
		return nil, err
	}
	return result, s.compareAgain(ctx, o.Before, result)
}

// mayBegin holds the order to what can be known before anything is spent, and asks
// where the person has not said yes beforehand.
func (s *session) mayBegin(ctx context.Context, o dispatch.Order) (bool, error) {
	free := s.yes || s.planOnly && o.Contracts != nil
	if !free && !s.CanAsk() {
		return false, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("yes", nil),
			"nobody can be asked here, because standard input is not a terminal: --yes says yes beforehand")
	}
	if yes, err := s.mayLeaveOut(ctx, o, free); err != nil || !yes {
		return false, err
	}
	if err := s.MayWork(ctx, o, !s.planOnly || o.Contracts == nil); err != nil {
		return false, err
	}
	if o.Contracts == nil && !s.yes {
		return s.mayPlan(ctx, o)
	}
	return true, nil
}

// waitsForYes reports whether the plan of a run waits for a person's yes.
func (s *session) waitsForYes(ctx context.Context, manifest string) bool {
	board, err := job.OpenBoard(ctx, s.OwnDesk(), manifest)
	if err != nil {
		return false
	}
	defer board.Close()
	waits, err := dispatch.PlanWaits(board)
	status := board.Run().Manifest().Status()
	return err == nil && waits && (status == run.Created || status == run.Running)
}

// mayLeaveOut names the files that cannot be read, and asks whether the run may begin
// without them.
func (s *session) mayLeaveOut(ctx context.Context, o dispatch.Order, free bool) (bool, error) {
	unread := o.Documents.Unread
	if len(unread) == 0 {
		return true, nil
	}
	for i, u := range unread {
		if i == maxNamed {
			fmt.Fprintf(s.Call.Stderr, "tidegate: and %d more\n", len(unread)-i)
			break
		}
		fmt.Fprintf(s.Call.Stderr, "tidegate: %s\n", report.OneLine(u.String()))
	}
	if free {
		return true, nil
	}
	answer, err := s.Ask(ctx, "Begin without "+report.Counted(len(unread), "file")+" that cannot be read? [y/N]")
	if err == nil && answer != 'y' {
		fmt.Fprintln(s.Call.Stderr, "Nothing was begun, and nothing was spent.")
	}
	return answer == 'y', err
}

// maxNamed is how many files that cannot be read are named.
const maxNamed = 20

// mayPlan shows which agent will plan, within which budget, and asks.
func (s *session) mayPlan(ctx context.Context, o dispatch.Order) (bool, error) {
	p, err := s.FirstPlan(ctx, o)
	if err != nil {
		return false, err
	}
	if err := s.showPlan(p); err != nil {
		return false, err
	}
	answer, err := s.Ask(ctx, "Let "+o.Team.Agents["planner"].Driver+" plan the perspectives? The plan is shown before the research begins. [y/N]")
	if err != nil {
		return false, err
	}
	if answer != 'y' {
		fmt.Fprintln(s.Call.Stderr, "Nothing was begun, and nothing was spent.")
	}
	return answer == 'y', nil
}

// confirm shows the plan and asks for the yes, which is for the bytes that were
// shown. Without a yes, the result is how it ends.
func (s *session) confirm(ctx context.Context, manifest string, o dispatch.Order) (*Result, error) {
	for {
		shown, data, err := s.CurrentPlan(ctx, manifest, o)
		if err != nil {
			return nil, err
		}
		if err := s.showPlan(shown); err != nil {
			return nil, err
		}
		if s.planOnly {
			return s.planned(ctx, manifest, o.Team, true)
		}
		if s.yes {
			return nil, nil
		}
		answer, err := s.Ask(ctx, "Begin the research? [y]es, [e]dit the perspectives, or [N]o")
		if err != nil {
			return nil, err
		}
		switch answer {
		case 'y':
			err := step.ConfirmPlan(ctx, s.OwnDesk(), manifest, shown.Digest)
			if tidegate.CodeOf(err) == tidegate.RevisionMismatch {
				fmt.Fprintln(s.Call.Stderr, "The perspectives have changed since they were shown; here they are again.")
				continue
			}
			return nil, err
		case 'e':
			if err := s.edit(ctx, manifest, data); err != nil {
				fmt.Fprintf(s.Call.Stderr, "The perspectives are as they were: %s\n", report.OneLine(tidegate.AsError(err).Message))
			}
		default:
			return s.planned(ctx, manifest, o.Team, false)
		}
	}
}

// planned is the result for a run that waits for the yes.
func (s *session) planned(ctx context.Context, manifest string, c *dispatch.Team, planOnly bool) (*Result, error) {
	board, err := job.OpenBoard(ctx, s.OwnDesk(), manifest)
	if err != nil {
		return nil, err
	}
	defer board.Close()
	result, err := resultOf(s.Env, board, engine.ForPerson, "the plan waits for your yes", "", c.Again())
	result.asAsked = planOnly
	return &result, err
}

// edit lets the person edit the perspectives, and accepts them when they keep to
// the rules of the job.
func (s *session) edit(ctx context.Context, manifest string, data []byte) error {
	edited, err := s.Call.Edit(ctx, "perspectives.json", data)
	if err != nil {
		return err
	}
	doc, err := codec.ParseFile("perspectives", "perspectives.json", edited)
	if err != nil {
		return err
	}
	if err := dispatch.CheckPerspectives(doc, "perspectives.json"); err != nil {
		return err
	}
	return s.TakePerspectives(ctx, manifest, doc)
}
