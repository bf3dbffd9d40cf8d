package driver

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// How a program is followed and ended.
const (
	poll       = 20 * time.Millisecond // how often its output is looked at
	exitGrace  = 5 * time.Second       // from its last word to its exit
	stopGrace  = 3 * time.Second       // from SIGTERM to SIGKILL
	maxOutput  = 64 << 20              // bytes of events, and of standard error
	shownError = 4 << 10               // bytes of standard error that are looked at
)

// stream makes an answer out of what a client writes.
type stream interface {
	// take takes the next bytes of the client's standard output and says what
	// they were about.
	take(chunk []byte, event func(Event))
	// done reports whether the client has said its last word.
	done() bool
	// result is what came, once nothing more comes, and why it is not an answer
	// where the client itself said so. Standard error is for clients that say so
	// there; the caller judges the exit.
	result(stderr string) (Answer, *Error)
}

// attempt is one client at one task.
type attempt struct {
	name   string // of the client, for messages
	task   Task
	stream stream
	output int64 // bytes that it may write
	plain  bool  // it writes nothing but its answer, which is complete when it exits: Silence applies, Idle and Step do not
	served bool  // the driver ends it, so its exit says nothing
	now    func() time.Time
	event  func(Event)
}

// reason is why a client was followed no longer.
type reason int

const (
	exited    reason = iota
	answered         // it had said its last word, and did not exit
	idle             // see Limits.Idle and Limits.Silence
	stuck            // see Limits.Step
	late             // see Limits.Deadline
	tireless         // see Limits.Steps
	flooding         // it wrote too much
	cancelled        // nobody waits for it any more
)

// run starts c with its output in f, follows it to its end, and judges what came
// out. The prompt is its standard input unless c has another.
func (a *attempt) run(ctx context.Context, c command, f *folder) (Answer, error) {
	if ctx.Err() != nil {
		return Answer{}, context.Cause(ctx)
	}
	stdout, follow, err := f.output("stdout")
	if err != nil {
		return Answer{}, failf(Unavailable, "%s cannot be started: %v", a.name, err)
	}
	defer follow.Close()
	stderr, complaints, err := f.output("stderr")
	if err != nil {
		stdout.Close()
		return Answer{}, failf(Unavailable, "%s cannot be started: %v", a.name, err)
	}
	defer complaints.Close()
	if c.stdin == nil {
		// A file, not a pipe: whether and when the client reads it is its own affair.
		if err = f.write("prompt", []byte(a.task.Prompt)); err == nil {
			c.stdin, err = f.root.Open("prompt")
		}
	}
	var p *process
	if err == nil {
		c.stdout, c.stderr, c.scratch = stdout, stderr, f.path
		p, err = start(c)
		c.stdin.Close()
	}
	stdout.Close()
	stderr.Close()
	if err != nil {
		return Answer{}, failf(Unavailable, "%s cannot be started: %v", a.name, err)
	}
	end, why := a.follow(ctx, p, follow, complaints)
	return a.judge(ctx, end, why, tail(complaints, shownError))
}

// chunks are what the output of programs is read into. Streams keep no part of one.
var chunks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// follow reads what the client writes until nothing of it is left, and ends it
// where a limit, its last word or ctx says so.
func (a *attempt) follow(ctx context.Context, p *process, stdout, stderr *os.File) (exit, reason) {
	heard := &listener{attempt: a, stdout: stdout, stderr: stderr, began: a.now()}
	heard.line, heard.step = heard.began, heard.began
	ending := &ending{process: p, why: exited}
	gone := ctx.Done()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case end := <-p.done:
			heard.read()
			if ending.why == exited && heard.offset > a.output {
				ending.why = flooding
			}
			return end, ending.why
		case <-gone:
			gone = nil
			if ending.phase == working || ending.phase == leaving {
				ending.stop(cancelled, a.now())
			}
		case <-tick.C:
			heard.read()
		}
		ending.next(a.now(), a.stream.done(), heard.exceeded)
	}
}

// listener is what was heard of a client so far.
type listener struct {
	*attempt
	stdout, stderr    *os.File
	offset, complaint int64     // how much of stdout was read, and how much is in stderr
	began, line, step time.Time // the start, and when the last of each came
	steps             int
	before            EventKind
}

// read takes what the client wrote since the last time.
func (l *listener) read() {
	if n := size(l.stderr); l.plain && n != l.complaint {
		l.complaint, l.line = n, l.now()
	}
	buffer := chunks.Get().(*[64 << 10]byte)
	defer chunks.Put(buffer)
	for {
		n, err := l.stdout.ReadAt(buffer[:], l.offset)
		l.offset += int64(n)
		if n > 0 && l.offset <= l.output {
			l.line = l.now()
			l.stream.take(buffer[:n], l.note)
		}
		if err != nil || n == 0 || l.offset > l.output { // a file with a hole in it has no end
			return
		}
	}
}

func (l *listener) note(e Event) {
	if e.Kind.step() {
		l.step = l.line
		if e.Kind != Message || l.before != Message { // a message may come in parts
			l.steps++
		}
	}
	l.before = e.Kind
	l.event(e)
}

// exceeded is the limit that the client is past, exited where it is past none.
func (l *listener) exceeded(now time.Time) reason {
	limits := l.task.Limits
	past := func(since time.Time, limit time.Duration) bool { return limit > 0 && now.Sub(since) > limit }
	switch {
	case l.offset > l.output, size(l.stderr) > maxOutput:
		return flooding
	case past(l.began, limits.Deadline):
		return late
	case limits.Steps > 0 && l.steps > limits.Steps:
		return tireless
	case l.plain && past(l.line, limits.Silence):
		return idle
	case l.plain:
		return exited
	case past(l.line, limits.Idle):
		return idle
	case past(l.step, limits.Step):
		return stuck
	}
	return exited
}

// phase is how far a client is on its way out.
type phase int

const (
	working phase = iota
	leaving       // it said its last word
	stopped       // it was asked to stop
	killed
)

// ending is the way out of a client: it leaves by itself, or is stopped and then killed.
type ending struct {
	process *process
	phase   phase
	since   time.Time // when the phase began
	why     reason
}

// next goes one phase further where it is time. Done says whether the client said its
// last word, and exceeded which limit it is past.
func (e *ending) next(now time.Time, done bool, exceeded func(time.Time) reason) {
	switch {
	case e.phase == working && done:
		e.phase, e.since = leaving, now
	case e.phase == working:
		if e.why = exceeded(now); e.why == flooding {
			e.kill()
		} else if e.why != exited {
			e.stop(e.why, now)
		}
	case e.phase == leaving && !done:
		e.phase = working // it thought better of it
	case e.phase == leaving && now.Sub(e.since) > exitGrace:
		e.stop(answered, now)
	case e.phase == stopped && now.Sub(e.since) > stopGrace:
		e.kill()
	}
}

func (e *ending) stop(why reason, now time.Time) {
	e.why, e.phase, e.since = why, stopped, now
	e.process.order(orderStop)
}

func (e *ending) kill() {
	e.phase = killed
	e.process.kill()
}

func size(file *os.File) int64 {
	info, err := file.Stat()
	if err != nil {
		return 0
	}
	return info.Size()
}

// judge says what came out of a client that is gone.
func (a *attempt) judge(ctx context.Context, end exit, why reason, stderr string) (Answer, error) {
	answer, failure := a.stream.result(stderr)
	answer.Version = brief(answer.Version)
	if len(answer.Session) > maxName {
		answer.Session = "" // nothing to continue
	}
	complete := a.stream.done() && failure == nil && (a.served || why != exited || end.ok())
	if a.plain {
		complete = why == exited && end.ok()
	}
	limits := a.task.Limits
	switch {
	case complete && len(answer.Text) > limits.answer():
		failure = failf(Flood, "%s answered with %d bytes; at most %d are allowed", a.name, len(answer.Text), limits.answer())
	case complete && strings.TrimSpace(answer.Text) == "":
		failure = failf(Empty, "%s gave an empty answer", a.name)
	case complete:
		return answer, nil
	case failure != nil:
	case why == cancelled:
		answer.Text = ""
		return answer, context.Cause(ctx)
	case why == idle && a.plain:
		failure = failf(Idle, "%s wrote nothing for %v", a.name, limits.Silence)
	case why == idle:
		failure = failf(Idle, "%s wrote nothing for %v", a.name, limits.Idle)
	case why == stuck:
		failure = failf(Idle, "%s wrote no message and called no tool for %v", a.name, limits.Step)
	case why == late:
		failure = failf(Deadline, "%s had no answer after %v", a.name, limits.deadline())
	case why == tireless:
		failure = failf(Deadline, "%s had no answer after %d steps", a.name, limits.Steps)
	case why == flooding:
		failure = failf(Flood, "%s wrote more than %d bytes", a.name, a.output)
	case end.Unstarted != "":
		failure = missing(a.name, end.Unstarted)
	case end.ok():
		failure = failf(Died, "%s ended without a result%s", a.name, lastLine(stderr))
	default:
		failure = failf(Died, "%s ended with %s%s", a.name, end, lastLine(stderr))
	}
	answer.Text = ""
	return answer, failure
}

// lastLine is the last line of text that is not blank, to follow a message.
func lastLine(text string) string {
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for i := len(lines) - 1; i >= 0; i-- {
		if line := strings.TrimSpace(lines[i]); line != "" {
			return ": " + shown(line)
		}
	}
	return ""
}

// shown is what a message quotes of the words of another program: cut, and
// without anything that a terminal would act on.
func shown(words string) string { return tidegate.Cut(markdown.Show(words)) }
