package research

import (
	"context"
	"fmt"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
)

// session is one call of a command that has agents work on a run.
type session struct {
	*screen.Session
	notifyTime    time.Duration // how long the command of --notify may take
	yes, planOnly bool          // as the person typed
}

// session runs a command and shows how it ended: to a person, as the last line of
// JSON, and to the command of --notify.
func (e commands) session(ctx context.Context, call cli.Invocation, work func(ctx context.Context, s *session) (*Result, error)) error {
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	s := &session{Session: screen.NewSession(e.Env, call), notifyTime: cli.NotifyTime, yes: call.Flag("yes") == "true", planOnly: call.Flag("plan-only") == "true"}
	result, err := work(ctx, s)
	if err != nil {
		if !s.JSON {
			return err
		}
		return s.Failed(err)
	}
	if result == nil { // only the plan was asked for
		return nil
	}
	if s.JSON {
		if err := s.Line(result); err != nil {
			return err
		}
	} else if err := s.Call.Render(result.report()); err != nil {
		return err
	}
	if err := s.tellOthers(ctx, *result); err != nil {
		return err
	}
	return result.exit()
}

// tellOthers rings the bell and runs the command of --notify.
func (s *session) tellOthers(ctx context.Context, result Result) error {
	if s.Call.Terminal.Size != nil && s.Call.Flag("quiet") == "" {
		fmt.Fprint(s.Call.Stdout, "\a")
	}
	return s.Call.Tell(ctx, result, s.notifyTime)
}

// showPlan shows a plan.
func (s *session) showPlan(p dispatch.Plan) error {
	if s.JSON {
		return s.Line(p)
	}
	if err := s.Call.Render(p.Report()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.Call.Stdout)
	return err
}

// drive has a team drive a run, and shows it.
func (s *session) drive(ctx context.Context, manifest string, team *dispatch.Team, parallel int) (*Result, error) {
	var out engine.Outcome
	err := s.During(ctx, manifest, func() (err error) {
		out, err = s.Drive(ctx, manifest, team, parallel, s.Fetching)
		if tidegate.CodeOf(err) == tidegate.Cancelled {
			out, err = engine.Outcome{}, nil
			out.WaitingFor, out.Reason = engine.ForAgents, "interrupted"
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	board, err := job.OpenBoard(context.WithoutCancel(ctx), s.OwnDesk(), manifest)
	if err != nil {
		return nil, err
	}
	defer board.Close()
	result, err := resultOf(s.Env, board, out.WaitingFor, out.Reason, out.Help, team.Again())
	return &result, err
}
