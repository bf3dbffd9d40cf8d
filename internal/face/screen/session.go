// Package screen is what commands that have agents work share: how a person sees on a
// terminal, in a pipe or as JSON what goes on, what they are asked, and the flags that say who
// works, in which cells and within which budget.
package screen

import (
	"bufio"
	"context"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/work/reporting"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
	"github.com/tidegate/tidegate/tool"
)

// Session is one call of a command: what it shows, where, and what it asks.
type Session struct {
	*dispatch.Env
	Call cli.Invocation
	JSON bool
	// Planned shows the plan once the planner has named the perspectives, where nobody is
	// asked; otherwise nil.
	Planned func() error
	face    face
	seen    int // number of the last entry of the log that was shown
	input   *bufio.Reader
	jobs    *live // shows the jobs of a code change on a terminal; nil where they are not shown so
}

// NewSession is the session of a call.
func NewSession(env *dispatch.Env, call cli.Invocation) *Session {
	s := &Session{Env: env, Call: call, JSON: call.Flag("format") == "json"}
	s.face = s.newFace()
	return s
}

// Exit statuses of commands that have agents work, beyond 0.
const (
	ExitNotPassed   = 1
	ExitNeedsPerson = 4
	ExitInterrupted = 130
)

// ShowAfter leaves out the entries of the log up to a number.
func (s *Session) ShowAfter(number int) { s.seen = number }

// JobsEnded says that the jobs that WatchJobs shows have ended.
func (s *Session) JobsEnded() { s.jobs = nil }

// Fetching is fetch, of which the screen names each source as it comes in.
func (s *Session) Fetching(fetch sourcing.Fetch) sourcing.Fetch {
	if l, ok := s.face.(*live); ok {
		return l.naming(fetch)
	}
	return fetch
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

// Failed is the error as the last line of JSON.
func (s *Session) Failed(err error) error {
	envelope, parseErr := codec.Parse(tool.Failure(err).Envelope)
	if parseErr != nil {
		return err
	}
	if err := s.Line(envelope); err != nil {
		return err
	}
	return cli.Exit(cli.Status(tidegate.ClassOf(tidegate.CodeOf(err))))
}

// Line prints one line of JSON.
func (s *Session) Line(v any) error { return s.Call.Line(v) }

// Announce says which agent was found where nobody named one.
func (s *Session) Announce(c *dispatch.Team) {
	if c.Found != "" {
		fmt.Fprintln(s.Call.Stderr, report.Wrapped(c.Found, s.Call.Terminal.ErrWidth))
	}
}

// CanAsk reports whether a person can answer.
func (s *Session) CanAsk() bool { return s.Call.Terminal.Input }

// Ask asks a question and returns the first letter of the answer, in lower case;
// 0 where there was none.
func (s *Session) Ask(ctx context.Context, question string) (rune, error) {
	if s.input == nil {
		s.input = bufio.NewReader(s.Call.Stdin)
	}
	return cli.Ask(ctx, s.input, s.Call.Stderr, question)
}

// During shows the run of a manifest while work goes on.
func (s *Session) During(ctx context.Context, manifest string, work func() error) error {
	r, err := run.Open(ctx, s.OwnDesk(), manifest)
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

func (s *Session) happened(e run.Entry) {
	if e.Number > s.seen {
		s.seen = e.Number
		s.face.happened(e)
	}
}

// WatchJobs shows the jobs of a code change as they go on, where there is a
// terminal; otherwise it is nil, and they are shown line by line.
func (s *Session) WatchJobs(ctx context.Context, title string) func(*job.Board) (stop func()) {
	if s.JSON || s.Call.Terminal.Size == nil {
		return nil
	}
	s.jobs = newLive(s)
	return func(board *job.Board) func() {
		s.jobs.beginJobs(ctx, board, title)
		return s.jobs.rest
	}
}

// FollowJobs shows what is added to the log of a change or a review until stop is
// called, which shows the rest.
func (s *Session) FollowJobs(ctx context.Context, path string) (stop func(), err error) {
	folder, err := artifact.Everywhere.Open("review", path)
	if err != nil {
		return nil, err
	}
	entries, err := store.ReadEntries(folder, job.ChangeLog)
	if err != nil {
		folder.Close()
		return nil, err
	}
	seen := 0
	if n := len(entries); n > 0 {
		seen = entries[n-1].Number
	}
	show := func(e run.Entry) {
		if s.jobs != nil && e.Number > seen {
			s.jobs.happened(e)
		} else if h, ok := reporting.InWords(e); ok && e.Number > seen {
			s.Say("%s  %-18s %s", e.Time.In(s.Now().Location()).Format("15:04:05"), h.Job, report.OneLine(h.Text))
		}
		seen = max(seen, e.Number)
	}
	tailing, end := context.WithCancel(context.WithoutCancel(ctx))
	done := make(chan struct{})
	go func() {
		defer close(done)
		for e, err := range store.Tail(tailing, folder, job.ChangeLog, seen+1) {
			if err != nil {
				return // whoever drives the jobs meets the same error, and reports it
			}
			show(e)
		}
	}()
	return func() {
		end()
		<-done
		if rest, err := store.ReadEntries(folder, job.ChangeLog); err == nil {
			for _, e := range rest {
				show(e)
			}
		}
		folder.Close()
	}, nil
}

// Say prints a line about what goes on. Standard output is for the review.
func (s *Session) Say(format string, args ...any) {
	if s.jobs != nil {
		s.jobs.note(fmt.Sprintf(format, args...))
		return
	}
	// Nothing can be done about a reader that is gone.
	fmt.Fprintln(s.Call.Stderr, report.Wrapped(report.Visible(fmt.Sprintf(format, args...)), s.Call.Terminal.ErrWidth))
}

// End is how a command ends: with the exit status, or with an error, which JSON has as its last
// line and the file of --json, too.
func (s *Session) End(status int, err error) error {
	err = dispatch.Resumable(err)
	if path := s.Call.Flag("json"); err != nil && path != "" {
		// What went wrong is told to the person, whether or not it can be written.
		_ = artifact.Everywhere.WriteFile("json", path, append(tool.Failure(err).Envelope, '\n'))
	}
	switch {
	case err != nil && s.JSON:
		return s.Failed(err)
	case err == nil && status != 0:
		return cli.Exit(status)
	}
	return err
}
