package research

import (
	"bufio"
	"context"
	"fmt"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/tool"
)

// session is one call of a command: what it shows, where, and what it asks.
type session struct {
	*Env
	call       cli.Invocation
	json       bool
	face       face
	seen       int // number of the last entry of the log that was shown
	input      *bufio.Reader
	notifyTime time.Duration // how long the command of --notify may take
	// perspectives shows the plan once the planner has named them, where nobody is
	// asked; otherwise nil.
	perspectives func() error
	settings     *config.Config // those that count for a review of code; nil: those of the working folder
	jobs         *live          // shows the jobs of a code change on a terminal; nil where they are not shown so
}

// face shows a run while it goes on.
type face interface {
	// begin is called before the run moves.
	begin(ctx context.Context, manifest string)
	// happened is called for each entry of the log, in order, by one goroutine.
	happened(e run.Entry)
	// rest is called when nothing moves: a person is asked, or the run has ended.
	rest()
}

// session runs a command and shows how it ended: to a person, as the last line of
// JSON, and to the command of --notify.
func (e *Env) session(ctx context.Context, call cli.Invocation, work func(ctx context.Context, s *session) (*Result, error)) error {
	ctx = tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByTerminal})
	s := &session{Env: e, call: call, json: call.Flag("format") == "json", notifyTime: cli.NotifyTime}
	s.face = s.newFace()
	result, err := work(ctx, s)
	if err != nil {
		if !s.json {
			return err
		}
		return s.failed(err)
	}
	if result == nil { // only the plan was asked for
		return nil
	}
	if s.json {
		if err := s.line(result); err != nil {
			return err
		}
	} else if err := s.call.Render(result.report()); err != nil {
		return err
	}
	if err := s.tellOthers(ctx, *result); err != nil {
		return err
	}
	return result.exit()
}

// tellOthers rings the bell and runs the command of --notify.
func (s *session) tellOthers(ctx context.Context, result Result) error {
	if s.call.Terminal.Size != nil && s.call.Flag("quiet") == "" {
		fmt.Fprint(s.call.Stdout, "\a")
	}
	return s.call.Tell(ctx, result, s.notifyTime)
}

// failed is the error as the last line of JSON.
func (s *session) failed(err error) error {
	envelope, parseErr := codec.Parse(tool.Failure(err).Envelope)
	if parseErr != nil {
		return err
	}
	if err := s.line(envelope); err != nil {
		return err
	}
	return cli.Exit(cli.Status(tidegate.ClassOf(tidegate.CodeOf(err))))
}

// line prints one line of JSON.
func (s *session) line(v any) error {
	data, err := codec.MarshalLine(v)
	if err != nil {
		return err
	}
	if _, err := s.call.Stdout.Write(append(data, '\n')); err != nil {
		return tidegate.Errorf(tidegate.WriteFailed, nil, "the result cannot be written to stdout: %w", err)
	}
	return nil
}

// showPlan shows a plan.
func (s *session) showPlan(p plan) error {
	if s.json {
		return s.line(p)
	}
	if err := s.call.Render(p.report()); err != nil {
		return err
	}
	_, err := fmt.Fprintln(s.call.Stdout)
	return err
}

// announce says which agent was found where nobody named one.
func (s *session) announce(c *crew) {
	if c.found != "" {
		fmt.Fprintln(s.call.Stderr, c.found)
	}
}

// canAsk reports whether a person can answer.
func (s *session) canAsk() bool { return s.call.Terminal.Input }

// ask asks a question and returns the first letter of the answer, in lower case;
// 0 where there was none.
func (s *session) ask(ctx context.Context, question string) (rune, error) {
	if s.input == nil {
		s.input = bufio.NewReader(s.call.Stdin)
	}
	return cli.Ask(ctx, s.input, s.call.Stderr, question)
}

// during shows the run of a manifest while work goes on.
func (s *session) during(ctx context.Context, manifest string, work func() error) error {
	r, err := run.Open(ctx, s.desk(), manifest)
	if err != nil {
		return err
	}
	defer r.Close()
	s.face.begin(ctx, manifest)
	defer s.face.rest()
	tailing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for entry, err := range r.Tail(tailing, s.seen+1) {
			if err != nil {
				return // the driver of the run meets the same error, and reports it
			}
			s.happened(entry)
		}
	}()
	err = work()
	stop()
	<-done
	rest, readErr := r.Events()
	if err == nil {
		err = readErr
	}
	for _, entry := range rest {
		s.happened(entry)
	}
	return err
}

func (s *session) happened(e run.Entry) {
	if e.Number > s.seen {
		s.seen = e.Number
		s.face.happened(e)
	}
}

// drive drives a run with the crew and shows it.
func (s *session) drive(ctx context.Context, manifest string, c *crew, parallel int) (*Result, error) {
	var out engine.Outcome
	interrupted, fetch, desk := false, c.fetch, s.desk()
	if c.ownPages {
		desk.Sharing = nil
	}
	if screen, ok := s.face.(*live); ok {
		fetch = screen.naming(fetch)
	}
	err := s.during(ctx, manifest, func() (err error) {
		out, err = engine.Drive(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}), manifest, engine.Options{
			Desk: desk, Pool: c.pool, Fetch: fetch, Agents: c.agents, Relay: ownRelay(), Searches: s.searches(), Parallel: parallel, Copy: s.copies(),
		})
		if tidegate.CodeOf(err) == tidegate.Cancelled {
			interrupted, err = true, nil
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	board, err := job.OpenBoard(context.WithoutCancel(ctx), s.desk(), manifest)
	if err != nil {
		return nil, err
	}
	defer board.Close()
	if interrupted {
		out = engine.Outcome{}
		out.WaitingFor, out.Reason = engine.ForAgents, "interrupted"
	}
	result, err := s.resultOf(board, out.WaitingFor, out.Reason, out.Help, c.again())
	return &result, err
}
