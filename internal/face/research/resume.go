package research

import (
	"context"
	"fmt"
	"path/filepath"
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
		order, err := s.resumed()
		if err != nil {
			return nil, err
		}
		e, manifest := s.Env, order.Manifest
		parallel, budget, err := budgetTyped(call)
		if err != nil {
			return nil, err
		}
		kept, status, err := e.keptAgents(ctx, manifest)
		if err != nil {
			return nil, err
		}
		cells := order.cells()
		cells.unconfined = call.Flag("unconfined") == "true"
		wanted := ofRun(order.Agent, order.Model, kept, cells)
		wanted.run = filepath.Dir(manifest)
		c, err := e.crewOf(ctx, wanted)
		if err != nil {
			return nil, err
		}
		defer c.close()
		s.announce(c)
		// A run that does not move needs no agents.
		moves := !status.Final() && (status != run.Failed || len(budget) > 0)
		if moves {
			if err := c.ready(ctx, budget); err != nil {
				return nil, err
			}
		}
		if s.seen, err = s.lastLine(ctx, manifest); err != nil {
			return nil, err
		}
		if err := e.takeConsent(ctx, manifest, budget); err != nil {
			return nil, err
		}
		if choice := (run.EvidenceChoice{OneAgent: call.Flag("one-agent") == "true", Adapt: call.Flag("adapt") == "true"}); choice != (run.EvidenceChoice{}) {
			if err := stage.ChooseEvidence(ctx, e.desk(), manifest, choice); err != nil {
				return nil, err
			}
		}
		if moves {
			if err := e.recordConfinement(ctx, manifest, c); err != nil {
				return nil, err
			}
		}
		s.remember(manifest, c)
		return s.drive(ctx, manifest, c, parallel)
	})
}

// recordConfinement records how the agents of the crew are kept when they go on with a run.
func (e *Env) recordConfinement(ctx context.Context, manifest string, c *crew) error {
	r, err := run.Open(ctx, e.desk(), manifest)
	if err != nil {
		return err
	}
	policy, err := r.Policy()
	web := order{sensitivity: r.Manifest().Sensitivity(), frozen: policy.Frozen}.hasWeb()
	r.Close()
	if err != nil {
		return err
	}
	kept, err := c.confinement(web)
	if err != nil || kept.Mode == "" {
		return err
	}
	return stage.Confine(ctx, e.desk(), manifest, kept)
}

// resumed is the run that a person resumes, and the agents that were named for it.
// Without a run it is the one that was last driven here, in the folder that it was
// driven from, which is said.
func (s *session) resumed() (last, error) {
	agent, model := s.call.Flag("agent"), s.call.Flag("model")
	cells, err := cellsOf(s.call)
	if err != nil {
		return last{}, err
	}
	if len(s.call.Args) > 0 {
		manifest, err := s.named(s.call)
		return last{Manifest: manifest, Agent: agent, Model: model, Read: cells.read, Network: cells.network}, err
	}
	kept, err := s.lastDriven()
	if err != nil {
		return last{}, err
	}
	kept = kept.orTyped(agent, model, cells)
	fmt.Fprintln(s.call.Stderr, kept.said())
	if agent == "" {
		there, env := *s.Env, *s.Env.Env
		env.Dir, there.Env = kept.Dir, &env
		s.Env = &there
	}
	return kept, nil
}

// keptAgents are the names of the agents that a run keeps, and its status.
func (e *Env) keptAgents(ctx context.Context, manifest string) (map[string]run.Agent, run.Status, error) {
	r, err := run.Open(ctx, e.desk(), manifest)
	if err != nil {
		return nil, "", err
	}
	defer r.Close()
	sources, err := r.Sources(ctx) // before anything is spent
	if err != nil {
		return nil, "", err
	}
	if sources != nil {
		sources.Close()
	}
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
	if err := e.resumePaused(ctx, manifest); err != nil {
		return err
	}
	r, err := run.Open(ctx, e.desk(), manifest, "status")
	if err != nil {
		return err
	}
	defer r.Close()
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

// resumePaused lets a run go on that a person paused.
func (e *Env) resumePaused(ctx context.Context, manifest string) error {
	r, err := run.Open(ctx, e.desk(), manifest, "status")
	if err != nil {
		return err
	}
	defer r.Close()
	if r.Manifest().Status() == run.Paused {
		_, err = stage.Resume(ctx, e.desk(), stage.ResumeInput{ManifestPath: manifest, Reason: "run continue"})
	}
	return err
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
