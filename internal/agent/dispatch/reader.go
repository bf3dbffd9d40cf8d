package dispatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/run"
)

// verifier is the role of the second reader of a report.
const verifier = "verifier"

// SecondReader makes the agent ready that is to read an audited report. Read says who it
// is, what it is sent and what that took, and returns why not all was read. Done ends its
// use. It returns INVALID_ARGS and INVALID_STATE for an agent that cannot work.
func (e *Env) SecondReader(ctx context.Context, named string, say func(line string)) (read func(ctx context.Context, parts *audit.Parts) (why string, err error), done func(), err error) {
	t, err := e.Team(ctx, Wanted{Roles: []string{verifier}, Flag: "--verifier", Named: map[string]string{verifier: named}})
	if err != nil {
		return nil, nil, err
	}
	if err := t.Ready(ctx, nil); err != nil {
		t.Close()
		return nil, nil, err
	}
	return func(ctx context.Context, parts *audit.Parts) (string, error) {
		plan, err := t.readingPlan(parts)
		if err != nil {
			return "", err
		}
		say(plan)
		why, spent, err := engine.ReadReport(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), parts, run.DefaultBudget(nil), e.Options(t))
		if err == nil {
			say("it took " + SpentText(spent))
		}
		return why, Resumable(err)
	}, t.Close, nil
}

// readingPlan says who reads a report, what is sent, what that will probably cost, and how
// the agent is kept.
func (t *Team) readingPlan(parts *audit.Parts) (string, error) {
	size := 0
	for _, p := range parts.Claims.Parts {
		asked, err := parts.Open(p.Number)
		if err != nil {
			return "", err
		}
		size += len(asked.Prompt())
	}
	agent := t.Agents[verifier]
	plan := fmt.Sprintf("%s reads %s in %s: each is sent with the passages of its pages and nothing else, about %s tokens", strings.TrimSpace(agent.Driver+" "+agent.Model),
		report.Counted(len(parts.Claims.Sentences), "sentence"), report.Counted(len(parts.Claims.Parts), "part"), Grouped(float64(size)/4))
	if perMillion, how := t.pays(); perMillion > 0 {
		plan += fmt.Sprintf(", probably %.2f USD (%s)", float64(size)/4e6*perMillion, how)
	} else if perMillion == 0 {
		plan += "; " + how
	}
	kept, err := t.confinement(false)
	return strings.TrimSpace(plan + ". " + kept.String()), err
}

// Resumable says how an interrupted command goes on.
func Resumable(err error) error {
	if tidegate.CodeOf(err) == tidegate.Cancelled {
		return tidegate.Errorf(tidegate.Cancelled, nil, "stopped: the same command resumes it")
	}
	return err
}
