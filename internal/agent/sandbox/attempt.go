package sandbox

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/cell"
	"github.com/tidegate/tidegate/internal/agent/driver"
)

// How a program is followed and ended.
const (
	poll       = 20 * time.Millisecond // how often its output is looked at
	exitGrace  = 5 * time.Second       // from its last word to its exit
	stopGrace  = 3 * time.Second       // from SIGTERM to SIGKILL
	MaxOutput  = 64 << 20              // bytes of events, and of standard error
	shownError = 4 << 10               // bytes of standard error that are looked at
)

// Stream makes an answer out of what a client writes.
type Stream interface {
	// take takes the next bytes of the client's standard output and says what
	// they were about.
	Take(chunk []byte, event func(driver.Event))
	// done reports whether the client has said its last word.
	Done() bool
	// result is what came, once nothing more comes, and why it is not an answer
	// where the client itself said so. Standard error is for clients that say so
	// there; the caller judges the exit.
	Result(stderr string) (driver.Answer, *driver.Error)
}

// Attempt is one client at one task.
type Attempt struct {
	Name   string // of the client, for messages
	Task   driver.Task
	Stream Stream
	Output int64 // bytes that it may write
	Plain  bool  // it writes nothing but its answer, which is complete when it exits: Silence applies, Idle and Step do not
	Joined bool  // its standard error is a part of its output
	Served bool  // the driver ends it, so its exit says nothing
	Now    func() time.Time
	Event  func(driver.Event)
}

// reason is why a client was followed no longer.
type reason int

const (
	exited       reason = iota
	answered            // it had said its last word, and did not exit
	idle                // see Limits.Idle and Limits.Silence
	stuck               // see Limits.Step
	late                // see Limits.Deadline
	tooManySteps        // see Limits.Steps
	flooding            // it wrote too much
	cancelled           // nobody waits for it any more
)

// run starts c with its output in f, follows it to its end, and judges what came out.
func (a *Attempt) run(ctx context.Context, c Command, f *Folder) (driver.Answer, error) {
	end, why, stderr, err := a.execute(ctx, c, f)
	if err != nil {
		return driver.Answer{}, err
	}
	return a.judge(ctx, end, why, stderr)
}

// execute starts c with its output in f, and follows it to its end. The prompt is its
// standard input unless c has another. It also returns the end of its standard error.
func (a *Attempt) execute(ctx context.Context, c Command, f *Folder) (end exit, why reason, said string, err error) {
	if ctx.Err() != nil {
		return end, why, "", context.Cause(ctx)
	}
	defer func() {
		if err != nil {
			err = driver.Failf(driver.Unavailable, "%s cannot be started: %v", a.Name, err)
		}
	}()
	stdout, follow, err := f.output("stdout")
	if err != nil {
		return end, why, "", err
	}
	defer follow.Close()
	stderr, complaints := stdout, follow
	if !a.Joined {
		if stderr, complaints, err = f.output("stderr"); err != nil {
			stdout.Close()
			return end, why, "", err
		}
		defer complaints.Close()
	}
	if c.Stdin == nil {
		// A file, not a pipe: whether and when the client reads it is its own affair.
		if err = f.Write("prompt", []byte(a.Task.Prompt)); err == nil {
			c.Stdin, err = f.Root.Open("prompt")
		}
	}
	var p *process
	if err == nil {
		c.stdout, c.stderr, c.scratch = stdout, stderr, f.path
		p, err = start(c)
		c.Stdin.Close()
	}
	stdout.Close()
	stderr.Close()
	if err != nil {
		return end, why, "", err
	}
	end, why = a.follow(ctx, p, follow, complaints)
	return end, why, tail(complaints, shownError), nil
}

// chunks are what the output of programs is read into. Streams keep no part of one.
var chunks = sync.Pool{New: func() any { return new([64 << 10]byte) }}

// follow reads what the client writes until nothing of it is left, and ends it
// where a limit, its last word or ctx says so.
func (a *Attempt) follow(ctx context.Context, p *process, stdout, stderr *os.File) (exit, reason) {
	heard := &listener{Attempt: a, stdout: stdout, stderr: stderr, began: a.Now()}
	heard.line, heard.step = heard.began, heard.began
	ending := &ending{process: p, why: exited}
	gone := ctx.Done()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		select {
		case end := <-p.done:
			heard.read()
			if ending.why == exited && heard.offset > a.Output {
				ending.why = flooding
			}
			return end, ending.why
		case <-gone:
			gone = nil
			if ending.phase == working || ending.phase == leaving {
				ending.stop(cancelled, a.Now())
			}
		case <-tick.C:
			heard.read()
		}
		ending.next(a.Now(), a.Stream.Done(), heard.exceeded)
	}
}

// listener is what was heard of a client so far.
type listener struct {
	*Attempt
	stdout, stderr    *os.File
	offset, complaint int64     // how much of stdout was read, and how much is in stderr
	began, line, step time.Time // the start, and when the last of each came
	steps             int
	before            driver.EventKind
}

// read takes what the client wrote since the last time.
func (l *listener) read() {
	if n := size(l.stderr); l.Plain && n != l.complaint {
		l.complaint, l.line = n, l.Now()
	}
	buffer := chunks.Get().(*[64 << 10]byte)
	defer chunks.Put(buffer)
	for {
		n, err := l.stdout.ReadAt(buffer[:], l.offset)
		l.offset += int64(n)
		if n > 0 && l.offset <= l.Output {
			l.line = l.Now()
			l.Stream.Take(buffer[:n], l.note)
		}
		if err != nil || n == 0 || l.offset > l.Output { // a file with a hole in it has no end
			return
		}
	}
}

func (l *listener) note(e driver.Event) {
	if e.Kind.Step() {
		l.step = l.line
		if e.Kind != driver.Message || l.before != driver.Message { // a message may come in parts
			l.steps++
		}
	}
	l.before = e.Kind
	l.Event(e)
}

// exceeded is the limit that the client is past, exited where it is past none.
func (l *listener) exceeded(now time.Time) reason {
	limits := l.Task.Limits
	past := func(since time.Time, limit time.Duration) bool { return limit > 0 && now.Sub(since) > limit }
	switch {
	case l.offset > l.Output, size(l.stderr) > MaxOutput:
		return flooding
	case past(l.began, limits.Deadline):
		return late
	case limits.Steps > 0 && l.steps > limits.Steps:
		return tooManySteps
	case l.Plain && past(l.line, limits.Silence):
		return idle
	case l.Plain:
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
func (a *Attempt) judge(ctx context.Context, end exit, why reason, stderr string) (driver.Answer, error) {
	answer, failure := a.Stream.Result(stderr)
	answer.Version = driver.Brief(answer.Version)
	if len(answer.Session) > driver.MaxName {
		answer.Session = "" // nothing to continue
	}
	complete := a.Stream.Done() && failure == nil && (a.Served || why != exited || end.ok())
	if a.Plain {
		complete = why == exited && end.ok()
	}
	limits := a.Task.Limits
	switch {
	case complete && len(answer.Text) > limits.MostAnswer():
		failure = driver.Failf(driver.Flood, "%s answered with %d bytes; at most %d are allowed", a.Name, len(answer.Text), limits.MostAnswer())
	case complete && strings.TrimSpace(answer.Text) == "":
		failure = driver.Failf(driver.Empty, "%s gave an empty answer", a.Name)
	case complete:
		return answer, nil
	case failure != nil:
	case why == cancelled:
		answer.Text = ""
		return answer, context.Cause(ctx)
	case why == idle && a.Plain:
		failure = driver.Failf(driver.Idle, "%s wrote nothing for %v", a.Name, limits.Silence)
	case why == idle:
		failure = driver.Failf(driver.Idle, "%s wrote nothing for %v", a.Name, limits.Idle)
	case why == stuck:
		failure = driver.Failf(driver.Idle, "%s wrote no message and called no tool for %v", a.Name, limits.Step)
	case why == late:
		failure = driver.Failf(driver.Deadline, "%s had no answer after %v", a.Name, limits.ShownDeadline())
	case why == tooManySteps:
		failure = driver.Failf(driver.Deadline, "%s had no answer after %d steps", a.Name, limits.Steps)
	case why == flooding:
		failure = driver.Failf(driver.Flood, "%s wrote more than %d bytes", a.Name, a.Output)
	case end.Unstarted != "":
		failure = driver.CannotStart(a.Name, end.Unstarted)
	case end.ok():
		failure = driver.Failf(driver.Died, "%s ended without a result%s", a.Name, driver.LastLine(stderr))
	default:
		failure = driver.Failf(driver.Died, "%s ended with %s%s", a.Name, end, driver.LastLine(stderr))
	}
	answer.Text = ""
	return answer, failure
}

// Text is the stream of a program whose output is its answer.
type Text struct{ all []byte }

func (t *Text) Take(chunk []byte, _ func(driver.Event)) { t.all = append(t.all, chunk...) }
func (t *Text) Done() bool                              { return false }
func (t *Text) Result(string) (driver.Answer, *driver.Error) {
	return driver.Answer{Text: strings.ToValidUTF8(string(t.all), "\uFFFD")}, nil
}

// ProbeLimit is how long a client may take to say its version.
const ProbeLimit = 2 * time.Minute

// Command is a program to be started, and what it gets.
type Command struct {
	path     string
	args     []string // without the program's name
	Env      []string
	dir      string
	scratch  string // the attempt's folder, which is removed even where this program no longer can
	cell     cell.Policy
	handover *os.File // by which the cell hands over the listeners of its policy; nil: none

	Stdin, stdout, stderr *os.File
}

// SupervisorName is the name by which the program knows that it is a supervisor of
// agents. Every program that imports this package looks for it at its start, so that
// no main has to.
const SupervisorName = "tidegate-supervisor"

// killGrace is how long a killed process may take before it is left alone: one
// that waits for a dead disk cannot be killed at all.
const killGrace = 10 * time.Second

// process is a program that was started, with all that it started itself.
type process struct {
	done    chan exit  // has one value once nothing of it is left
	order   func(byte) // orderStop or orderKill
	abandon func()     // lets go of what cannot be killed
}

func (p *process) kill() {
	p.order(orderKill)
	time.AfterFunc(killGrace, p.abandon)
}

// Orders to a process, as far as the system can tell them apart.
const (
	orderStop = 't' // SIGTERM to the agent's group
	orderKill = 'k' // SIGKILL to every descendant
)

// exit is how a program ended.
type exit struct {
	Code      int    `json:"code"`
	Signal    string `json:"signal"`    // that ended it
	Unstarted string `json:"unstarted"` // why it could not be started
}

// ok reports whether the program says that all went well.
func (e exit) ok() bool { return e == exit{} }

func (e exit) String() string {
	switch {
	case e.Unstarted != "":
		return e.Unstarted
	case e.Signal != "":
		return "signal: " + e.Signal
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// repositoryFolder is where an agent's own repository lies in its attempt's folder.
const repositoryFolder = "home/repository.git"

var commitID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{40}([0-9a-f]{24})?$`) })

// lendRepository gives an agent that works in a folder of a project a repository of
// its own: the project's objects to read, its commit as HEAD, no remote, and nothing
// of the project's configuration. What is committed there changes nothing. It returns
// the variables by which git finds it. Where there is no git, there is none.
func (m Machine) lendRepository(ctx context.Context, f *Folder, task driver.Task, l *Sandbox) ([]string, error) {
	r := task.Repository
	if r == nil || m.Unconfined {
		return nil, nil
	}
	if !commitID().MatchString(r.Head) || !filepath.IsAbs(r.Objects) {
		return nil, driver.Failf(driver.Unavailable, "the repository of the task is none")
	}
	version := "0"
	if r.Format == "sha256" {
		version = "1\n[extensions]\n\tobjectFormat = sha256"
	}
	for name, text := range map[string]string{
		"HEAD": r.Head + "\n", "config": "[core]\n\tbare = false\n\trepositoryFormatVersion = " + version + "\n",
		"objects/info/alternates": r.Objects + "\n", "refs/heads/.keep": "",
	} {
		if err := f.Write(filepath.Join(repositoryFolder, name), []byte(text)); err != nil {
			return nil, driver.Failf(driver.Unavailable, "the agent's repository cannot be made: %v", err)
		}
	}
	variables := []string{"GIT_DIR=" + f.In(repositoryFolder), "GIT_WORK_TREE=" + task.Folder, "GIT_CONFIG_NOSYSTEM=1"}
	path, err := Find(m.Environ, "git")
	if err != nil {
		return nil, nil
	}
	c := l.Command(path, []string{"read-tree", r.Head}, task.Folder)
	c.Env, c.handover, c.cell.Listen = append(c.Env, variables...), nil, nil
	a := &Attempt{Name: "git", Task: driver.Task{Limits: driver.Limits{Deadline: ProbeLimit}}, Stream: &Text{}, Output: driver.DefaultAnswer, Plain: true, Now: m.Now, Event: func(driver.Event) {}}
	_, err = a.run(ctx, c, f)
	for _, name := range []string{"stdout", "stderr", "prompt"} {
		f.Root.Remove(name)
	}
	if failure, ok := err.(*driver.Error); ok && failure.Kind != driver.Empty { // it has nothing to say
		return nil, driver.Failf(driver.Unavailable, "the agent's repository cannot be made: %s", failure.Message)
	} else if !ok && err != nil {
		return nil, err
	}
	return variables, nil
}

// objectsOf is the folder of the objects that the agent may read; "" for none.
func objectsOf(t driver.Task) string {
	if t.Repository == nil {
		return ""
	}
	return t.Repository.Objects
}

// TestLimit is how long a test command may take where nobody says otherwise.
const TestLimit = 15 * time.Minute

// Tests is a project's test command.
type Tests struct {
	Command string // for the system's shell
	Dir     string // where it runs
	// Fill puts the files into a folder of the tests' own, in which Dir is relative; nil:
	// they run in Dir itself.
	Fill    func(ctx context.Context, folder string) error
	Limit   time.Duration // how long it may take
	Network bool          // it may use the network
	// Caches is the folder with the caches of compilers and package managers of a base, "" for
	// none. The tests get a copy, which is thrown away unless they are those of the base.
	Caches       string
	FillsCaches  bool
	driver.Cells // how it is kept
}

// In is t kept in these cells.
func (t Tests) In(cells driver.Cells) Tests {
	t.Cells = cells
	return t
}

// RunTests runs a project's test command and returns what it wrote, with its exit
// status: -1 where it was stopped, because it took too long, wrote too much, or was
// killed. The output ends with the reason then.
//
// The command is code that an agent may have written. It runs in the cell of an
// agent that works in its folder, without the login of any, with no input, with no
// network but a loopback of its own, and nothing that it started outlives it.
//
// The error is that of ctx once ctx has ended, NOT_CONFINED or INVALID_ARGS where
// there is no such cell, that of Fill, or an [*Error] where nothing could be started.
func RunTests(ctx context.Context, host driver.Host, t Tests) (output []byte, status int, err error) {
	host.Cells = t.Cells
	m := On(host, nil)
	f, err := makeFolder(m.Temp, "")
	if err != nil {
		return nil, 0, driver.Failf(driver.Unavailable, "no folder can be made for the tests: %v", err)
	}
	defer f.remove()
	if t.Fill != nil {
		if err := t.Fill(ctx, f.In("work")); err != nil {
			return nil, 0, err
		}
		t.Dir = f.In(filepath.Join("work", filepath.FromSlash(t.Dir)))
	}
	m.takeCaches(f, t)
	c, err := shellCommand(m.Environ, t.Command)
	if err != nil {
		return nil, 0, driver.Failf(driver.Unavailable, "the tests cannot be started: %v", err)
	}
	network := cell.None
	if t.Network {
		network = cell.Web
	}
	l, err := m.Prepare(f, Program{Path: c.path, Task: driver.Task{Folder: t.Dir}, shut: true, Access: driver.Access{Network: network}}, nil)
	if err != nil {
		return nil, 0, err
	}
	defer l.Close()
	c = l.Command(c.path, c.args, t.Dir)
	if m.Unconfined && !t.Network {
		c.cell.Network, c.cell.System.Namespace = cell.None, true
	}
	written := &Text{}
	a := &Attempt{Name: "the test command", Task: driver.Task{Limits: driver.Limits{Deadline: t.Limit}}, Stream: written, Output: MaxOutput,
		Plain: true, Joined: true, Now: m.Now, Event: func(driver.Event) {}}
	end, why, _, err := a.execute(ctx, c, f)
	switch stopped := "\ntidegate: the command was stopped after "; {
	case ctx.Err() != nil:
		return nil, 0, context.Cause(ctx)
	case err != nil:
		return nil, 0, err
	case end.Unstarted != "":
		return nil, 0, driver.Failf(driver.Unavailable, "the tests cannot be started: %s", end.Unstarted)
	case why == late:
		return fmt.Appendf(written.all, "%s%v\n", stopped, t.Limit), -1, nil
	case why == flooding:
		return fmt.Appendf(written.all, "%sit had written %d bytes\n", stopped, MaxOutput), -1, nil
	case end.Signal != "":
		return fmt.Appendf(written.all, "\ntidegate: the command ended by a signal: %s\n", end.Signal), -1, nil
	}
	m.keepCaches(f, t)
	return written.all, end.Code, nil
}

// shellCommand is a command line as a person would type it.
func shellCommand(environ []string, line string) (Command, error) {
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/c"
	}
	path, err := Find(environ, shell)
	return Command{path: path, args: []string{flag, line}}, err
}
