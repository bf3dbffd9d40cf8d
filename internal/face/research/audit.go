package research

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
	c, err := e.crewOf(ctx, crewWanted{roles: []string{verifier}, flag: "--verifier", named: map[string]string{verifier: named}})
	if err != nil {
		return nil, nil, err
	}
	if err := c.ready(ctx, nil); err != nil {
		c.close()
		return nil, nil, err
	}
	return func(ctx context.Context, parts *audit.Parts) (string, error) {
		plan, err := c.readingPlan(parts)
		if err != nil {
			return "", err
		}
		say(plan)
		why, spent, err := engine.ReadReport(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), parts, run.DefaultBudget(nil), engine.Options{Desk: e.desk(), Pool: c.pool, Agents: c.agents, Copy: e.copies()})
		if err == nil {
			say("it took " + spentText(spent))
		}
		return why, again(err)
	}, c.close, nil
}

// readingPlan says who reads a report, what is sent, what that will probably cost, and how
// the agent is kept.
func (c *crew) readingPlan(parts *audit.Parts) (string, error) {
	size := 0
	for _, p := range parts.Claims.Parts {
		asked, err := parts.Open(p.Number)
		if err != nil {
			return "", err
		}
		size += len(asked.Prompt())
	}
	agent := c.agents[verifier]
	plan := fmt.Sprintf("%s reads %s in %s: each is sent with the passages of its pages and nothing else, about %s tokens", strings.TrimSpace(agent.Driver+" "+agent.Model),
		report.Counted(len(parts.Claims.Sentences), "sentence"), report.Counted(len(parts.Claims.Parts), "part"), grouped(float64(size)/4))
	if perMillion, how := c.pays(); perMillion > 0 {
		plan += fmt.Sprintf(", probably %.2f USD (%s)", float64(size)/4e6*perMillion, how)
	} else if perMillion == 0 {
		plan += "; " + how
	}
	kept, err := c.confinement(false)
	return strings.TrimSpace(plan + ". " + kept.String()), err
}
