package research

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
)

// resume is the command run continue.
func (e commands) resume(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		order, err := s.resumed()
		if err != nil {
			return nil, err
		}
		manifest := order.Manifest
		parallel, budget, err := screen.Budget(call)
		if err != nil {
			return nil, err
		}
		kept, status, err := s.KeptAgents(ctx, manifest)
		if err != nil {
			return nil, err
		}
		cells := order.cells()
		cells.Unconfined = call.Flag("unconfined") == "true"
		wanted := dispatch.ForRun(order.Agent, order.Model, kept, cells)
		wanted.Run = filepath.Dir(manifest)
		c, err := s.Team(ctx, wanted)
		if err != nil {
			return nil, err
		}
		defer c.Close()
		s.Announce(c)
		// A run that does not move needs no agents.
		moves := !status.Final() && (status != run.Failed || len(budget) > 0)
		if moves {
			if err := c.Ready(ctx, budget); err != nil {
				return nil, err
			}
		}
		seen, err := s.lastLine(ctx, manifest)
		if err != nil {
			return nil, err
		}
		s.ShowAfter(seen)
		if err := s.Consent(ctx, manifest, budget); err != nil {
			return nil, err
		}
		if choice := (run.EvidenceChoice{OneAgent: call.Flag("one-agent") == "true", Adapt: call.Flag("adapt") == "true"}); choice != (run.EvidenceChoice{}) && !status.Final() {
			if err := stage.ChooseEvidence(ctx, s.OwnDesk(), manifest, choice); err != nil {
				return nil, err
			}
		}
		if moves {
			if err := s.RecordConfinement(ctx, manifest, c); err != nil {
				return nil, err
			}
		}
		s.remember(manifest, c)
		return s.drive(ctx, manifest, c, parallel)
	})
}

// resumed is the run that a person resumes, and the agents that were named for it.
// Without a run it is the one that was last driven here, in the folder that it was
// driven from, which is said.
func (s *session) resumed() (last, error) {
	agent, model := s.Call.Flag("agent"), s.Call.Flag("model")
	cells, err := screen.Cells(s.Call)
	if err != nil {
		return last{}, err
	}
	if len(s.Call.Args) > 0 {
		manifest, err := named(s.Env, s.Call)
		return last{Manifest: manifest, Agent: agent, Model: model, Read: cells.Read, Network: cells.Network}, err
	}
	kept, err := lastDriven(s.Env)
	if err != nil {
		return last{}, err
	}
	kept = kept.orTyped(agent, model, cells)
	fmt.Fprintln(s.Call.Stderr, kept.said())
	if agent == "" {
		there := *s.Env
		there.Dir, s.Env = kept.Dir, &there
	}
	return kept, nil
}

// lastLine is the number of the last line of a run's log.
func (s *session) lastLine(ctx context.Context, manifest string) (int, error) {
	r, err := run.Open(ctx, s.OwnDesk(), manifest)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	entries, err := r.Events()
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	return entries[len(entries)-1].Number, nil
}

// watch is the command run watch.
func (e commands) watch(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		manifest, err := named(e.Env, call)
		if err != nil {
			return nil, err
		}
		var result Result
		err = s.During(ctx, manifest, func() error {
			var err error
			result, err = e.untilItEnds(ctx, manifest)
			return err
		})
		return &result, err
	})
}

// untilItEnds waits until a run is final or waits for a person, or ctx ends.
func (e commands) untilItEnds(ctx context.Context, manifest string) (Result, error) {
	for {
		board, err := job.OpenBoard(context.WithoutCancel(ctx), e.OwnDesk(), manifest)
		if err != nil {
			return Result{}, err
		}
		m := board.Run().Manifest()
		waiting, reason := engine.ForAgents, "no longer watched"
		switch status := m.Status(); {
		case status.Final():
			waiting, reason = engine.ForNothing, "the run is "+string(status)
		case status == run.Failed || status == run.Paused:
			waiting, reason = engine.ForPerson, engine.Why(m)
		}
		if waiting != engine.ForAgents || ctx.Err() != nil {
			defer board.Close()
			return resultOf(e.Env, board, waiting, reason, "", "")
		}
		board.Close()
		wait(ctx)
	}
}

// pollEvery is how often a run that another process drives is looked at.
const pollEvery = 500 * time.Millisecond

func wait(ctx context.Context) {
	timer := time.NewTimer(pollEvery)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}
