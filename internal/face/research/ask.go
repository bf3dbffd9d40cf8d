package research

import (
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
)

func askCommand(env *Env, flags ...cli.Flag) cli.Command {
	return cli.Command{
		Path: "ask", Operands: "RUN... QUESTION", MaxArgs: library.MostAsked + 1,
		Short: "Ask a further question about finished reports",
		Long: `Ask a further question about the reports of finished runs or audits. It is answered
from their archived pages alone: a rule finds the passages, one agent writes the
answer from them, its sentences are held against the pages as those of a report
are, and another agent, which is tested with planted errors, reads each of them.
The runs are only read; the answer lies in a folder of its own beside them, in
answers, bound to them by their ids and the heads of their logs.

What the archived pages do not hold is answered with one fixed sentence in the
language of the question, and the exit status 1; where no passage is about the
question, no agent is asked. New research is then offered. The exit status is 4
where an agent cannot work.`,
		Example: "tidegate ask harbour \"How much does the battery weigh?\"\ntidegate ask harbour tides \"Who pays for the quay?\" --agent claude",
		Flags:   flags,
		Run: func(ctx context.Context, call cli.Invocation) error {
			return env.onCode(ctx, call, func(s *session, ctx context.Context) (int, error) { return s.answer(ctx) })
		},
	}
}

// answer answers a question about runs and audits, and shows what became of it.
func (s *session) answer(ctx context.Context) (int, error) {
	args := s.call.Args
	if len(args) < 2 {
		return 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("QUESTION", nil), "name a run or audit, or several, and then the question")
	}
	var items []*library.Item
	for _, name := range args[:len(args)-1] {
		item, err := library.Open(ctx, s.desk(), s.Home, s.Dir, name)
		if err != nil {
			return 0, err
		}
		defer item.Close()
		items = append(items, item)
	}
	asked, err := library.AskOf(ctx, args[len(args)-1], items...)
	if err != nil {
		return 0, err
	}
	answered, _, err := s.answerBy(ctx, asked, run.DefaultBudget(nil), s.hireToAnswer)
	if err != nil {
		return 0, err
	}
	if s.json {
		err = s.line(answered)
	} else {
		err = s.call.Print(answered.Report(), s.call.Flag("format"))
	}
	if !answered.Pass {
		return cli.Status(tidegate.NotMet), err
	}
	return 0, err
}

// hireToAnswer finds the agents that the person named.
func (s *session) hireToAnswer(ctx context.Context) (*crew, error) {
	wanted, err := toAnswer(), error(nil)
	if wanted.cells, err = cellsOf(s.call); err != nil {
		return nil, err
	}
	named := s.call.Flag("agent")
	wanted.model, wanted.named = s.call.Flag("model"), map[string]string{job.AskWriter: named, engine.AskReader: named}
	c, err := s.crewOf(ctx, wanted)
	if err != nil {
		return nil, err
	}
	s.announce(c)
	if err := c.ready(ctx, nil); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// toAnswer are the agents that a further question needs.
func toAnswer() crewWanted {
	return crewWanted{roles: []string{job.AskWriter, engine.AskReader}, flag: "--agent"}
}

// answerBy lets agents answer, where one needs to be asked: then hire finds them. It also
// returns what they took.
func (e *Env) answerBy(ctx context.Context, asked *library.Asked, budget run.Budget, hire func(context.Context) (*crew, error)) (library.Answered, job.Spent, error) {
	passages, err := asked.Passages(ctx)
	if err != nil {
		return library.Answered{}, job.Spent{}, err
	}
	if len(passages) == 0 {
		return engine.Answer(ctx, e.Home, asked, budget, false, engine.Options{Desk: e.desk()})
	}
	c, err := hire(ctx)
	if err != nil {
		return library.Answered{}, job.Spent{}, err
	}
	defer c.close()
	return engine.Answer(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), e.Home, asked, budget, c.single(), engine.Options{Desk: e.desk(), Pool: c.pool, Agents: c.agents, Copy: e.copies()})
}
