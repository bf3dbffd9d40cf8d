package research

import (
	"context"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// resume is the command run continue.
func (e *Env) resume(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		manifest, err := e.named(call)
		if err != nil {
			return nil, err
		}
		parallel, budget, err := budgetTyped(call)
		if err != nil {
			return nil, err
		}
		kept, status, err := e.keptAgents(ctx, manifest)
		if err != nil {
			return nil, err
		}
		c, err := e.crewOf(ctx, ofRun(call.Flag("agent"), kept))
		if err != nil {
			return nil, err
		}
		defer c.close()
		if _, given := budget["max_cost_usd"]; given {
			if err := c.costs(); err != nil {
				return nil, err
			}
		}
		// A run that does not move needs no agents.
		if !status.Final() && (status != run.Failed || len(budget) > 0) {
			if err := c.ready(ctx); err != nil {
				return nil, err
			}
		}
		if s.seen, err = s.lastLine(ctx, manifest); err != nil {
			return nil, err
		}
		if err := e.takeConsent(ctx, manifest, budget); err != nil {
			return nil, err
		}
		return s.drive(ctx, manifest, c, parallel)
	})
}

// keptAgents are the names of the agents that a run keeps, and its status.
func (e *Env) keptAgents(ctx context.Context, manifest string) (map[string]run.Agent, run.Status, error) {
	r, err := run.Open(ctx, e.desk(), manifest)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	policy, err := r.Policy()
	return policy.Agents, r.Manifest().Status(), err
}

// lastLine is the number of the last line of a run's log.
func (e *Env) lastLine(ctx context.Context, manifest string) (int, error) {
	r, err := run.Open(ctx, e.desk(), manifest)
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

// takeConsent takes a person's decisions with run continue: a larger budget, yes to the
// plan, and that a run goes on that was paused or stopped by its budget.
func (e *Env) takeConsent(ctx context.Context, manifest string, budget map[string]float64) error {
	for _, row := range policyNames {
		value, given := budget[row.name]
		if !given {
			continue
		}
		in := stage.BudgetInput{ManifestPath: manifest, Name: row.name, Value: value, Reason: "run continue"}
		if _, err := stage.SetBudget(ctx, e.desk(), in); err != nil {
			return err
		}
	}
	r, err := run.Open(ctx, e.desk(), manifest, "status")
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Manifest().Status() == run.Paused {
		if _, err := stage.Resume(ctx, e.desk(), stage.ResumeInput{ManifestPath: manifest, Reason: "run continue"}); err != nil {
			return err
		}
	}
	policy, err := r.Policy()
	if err != nil || !policy.ConfirmPlan || r.Manifest().Status().Final() {
		return err
	}
	data, err := r.Folder().Read(r.Layout().Perspectives)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return nil // the planner has not named any yet
	}
	if err != nil {
		return err
	}
	return step.ConfirmPlan(ctx, e.desk(), manifest, codec.DigestBytes(data))
}

// watch is the command run watch.
func (e *Env) watch(ctx context.Context, call cli.Invocation) error {
	return e.session(ctx, call, func(ctx context.Context, s *session) (*Result, error) {
		manifest, err := e.named(call)
		if err != nil {
			return nil, err
		}
		var result Result
		err = s.during(ctx, manifest, func() error {
			var err error
			result, err = e.untilItEnds(ctx, manifest)
			return err
		})
		return &result, err
	})
}

// untilItEnds waits until a run is final or waits for a person, or ctx ends.
func (e *Env) untilItEnds(ctx context.Context, manifest string) (Result, error) {
	for {
		board, err := job.OpenBoard(context.WithoutCancel(ctx), e.desk(), manifest)
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
			return e.resultOf(board, waiting, reason, "", "")
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
