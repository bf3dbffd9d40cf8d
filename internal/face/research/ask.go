package research

import (
	"cmp"
	"context"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

func askCommand(env commands, flags ...tool.Flag) cli.Command {
	return cli.Command{
		Path: "ask",
		Operands: []tool.Operand{
			{Name: "RUN", About: "the run or audit to ask, or several", Repeats: true},
			{Name: "QUESTION", About: "what you want to know"},
		},
		Flags: flags,
		Run: func(ctx context.Context, call cli.Invocation) error {
			s := &session{Session: screen.NewSession(env.Env, call)}
			return s.End(s.answer(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})))
		},
	}
}

// answer answers a question about runs and audits, and shows what became of it.
func (s *session) answer(ctx context.Context) (int, error) {
	args := s.Call.Args
	if len(args)-1 > library.MostAsked {
		return 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("RUN", len(args)-1),
			"a question is about at most %d runs and audits; words that belong together need quotes", library.MostAsked)
	}
	var items []*library.Item
	for _, name := range args[:len(args)-1] {
		item, err := library.Open(ctx, s.OwnDesk(), s.Home, s.Dir, name)
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
	answered, _, err := s.Answer(ctx, asked, run.DefaultBudget(nil), func(ctx context.Context) (*dispatch.Team, error) {
		return s.toAnswer(ctx, cmp.Or(s.Call.Flag("agent"), s.RecordedAnswer(items[0], asked.Question)))
	})
	if err != nil {
		return 0, err
	}
	if s.JSON {
		err = s.Line(answered)
	} else {
		err = s.Call.Print(answered.Report(), s.Call.Flag("format"))
	}
	if !answered.Pass {
		return cli.Status(tidegate.NotMet), err
	}
	return 0, err
}

// toAnswer finds the agents that the person named.
func (s *session) toAnswer(ctx context.Context, named string) (*dispatch.Team, error) {
	cells, err := screen.Cells(s.Call)
	if err != nil {
		return nil, err
	}
	team, err := s.Team(ctx, dispatch.ToAnswer(named, s.Call.Flag("model"), cells))
	if err != nil {
		return nil, err
	}
	s.Announce(team)
	if err := team.Ready(ctx, nil); err != nil {
		team.Close()
		return nil, err
	}
	return team, nil
}
