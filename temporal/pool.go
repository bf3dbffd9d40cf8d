package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	enumspb "go.temporal.io/api/enums/v1"
	"go.temporal.io/api/serviceerror"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
)

// Pool runs the tasks of a home on workers. It may be used by several goroutines.
type Pool struct {
	Connection *Connection
	Queue      func(role string) string // of the workers for a role
	Agent      func(role string) string // which agent, without command, address or folder
	Local      engine.Pool              // does the tasks that change files on this machine
	Program    string                   // the version of the home, in words
	// LostAfter is how long a worker may be silent before its tasks begin again on
	// another one; 0: a minute.
	LostAfter time.Duration
	// Patience is how long a task waits for a worker, and the home for a server that
	// is gone; 0: ten minutes.
	Patience time.Duration

	// Priority is how urgent the tasks are, from 1 to 5; 0 leaves it to the server.
	Priority int

	closeMargin time.Duration // on top of the deadline; 0: two minutes

	old    atomic.Bool // the server has no standalone activities
	naming naming
}

var _ engine.Pool = (*Pool)(nil)

// DefaultPatience is how long tasks wait for a worker, and homes for a server.
const DefaultPatience = 10 * time.Minute

const (
	defaultLost = time.Minute

	sessionPatience = 30 * time.Second // for the one worker that has a session
	endPatience     = 10 * time.Minute // for the worker that is told of the end of an attempt; it may be frozen
	closeMargin     = 2 * time.Minute  // on top of the deadline, which the driver keeps
	pollInterval    = 2 * time.Second  // how often the home looks at what an agent does
	askAgain        = 200 * time.Millisecond
	maxBegins       = 3 // of one task by one call, when the server forgets or cancels it
)

// execution is a task on the server.
type execution interface {
	Get(ctx context.Context, answer any) error
	cancel(ctx context.Context) error
	poll(ctx context.Context) (state, error)
}

// state is what the server says about a task.
type state struct {
	beat  beat   // what the agent did last
	open  bool   // the task goes on
	waits bool   // no worker has begun it yet, or again
	queue string // of the workers that do it
}

// Do runs a task on a worker, or joins it. It returns an error of the driver, or
// that of ctx.
func (p *Pool) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	if task.Folder != "" {
		return p.Local.Do(ctx, task, note)
	}
	answer, err := p.do(ctx, task, note)
	if err != nil && ctx.Err() != nil {
		return driver.Answer{}, context.Cause(ctx)
	}
	return answer, err
}

func (p *Pool) do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	m := taskMessage{Version: Version, Program: p.Program, Driver: p.Agent(task.Role), Task: task}
	if fits, size, err := p.Connection.parcels.fits(m); err != nil {
		return driver.Answer{}, err
	} else if !fits {
		return driver.Answer{}, &driver.Error{Kind: driver.Unavailable, Lasting: true,
			Message: fmt.Sprintf("the task has %d bytes as a message; at most %d are allowed without --storage", size, maxInline), Help: "name a bucket with --storage"}
	}
	to, failure := p.bounds(m)
	if failure != nil {
		return driver.Answer{}, failure
	}
	for begun := 1; ; begun++ {
		answer, joined, err := p.once(ctx, m, to, note)
		var forgotten *serviceerror.NotFound
		var cancelled *temporal.CanceledError
		switch {
		case err != nil && ctx.Err() != nil:
			return driver.Answer{}, context.Cause(ctx)
		case begun < maxBegins && errors.As(err, &forgotten):
			continue // the server lost what it had
		case begun < maxBegins && joined && errors.As(err, &cancelled):
			continue // a home that ended had cancelled it
		case err != nil:
			return driver.Answer{}, p.failure(err, m, to)
		}
		return p.take(m, answer, note)
	}
}

// bounds are where a task goes: to any worker of its queue, or to the one that has
// its session.
func (p *Pool) bounds(m taskMessage) (bounds, *driver.Error) {
	queue := p.Queue(m.Task.Role)
	to := bounds{
		Queue: queueOf(queue, m.Driver, Version), Start: orDefault(p.Patience, DefaultPatience), Lost: orDefault(p.LostAfter, defaultLost),
		Close: m.Task.Limits.Deadline + orDefault(p.closeMargin, closeMargin),
	}
	if m.Task.Limits.Deadline <= 0 || m.Task.Limits.Deadline > longestTask {
		to.Close = longestTask + closeMargin
	}
	if m.Task.Session == "" {
		return to, nil
	}
	worker, _, ok := cutSession(m.Task.Session)
	if !ok {
		return to, gone("the session is on no worker")
	}
	to.Queue, to.Start = ownQueue(to.Queue, worker), min(to.Start, sessionPatience)
	return to, nil
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d > 0 {
		return d
	}
	return otherwise
}

func gone(why string) *driver.Error {
	return &driver.Error{Kind: driver.Unavailable, Message: why, SessionGone: true}
}

// once begins or joins a task and waits for its end. It reports whether it joined.
func (p *Pool) once(ctx context.Context, m taskMessage, to bounds, note func(driver.Event)) (answer answerMessage, joined bool, err error) {
	var e execution
	err = p.patiently(ctx, func() (err error) {
		e, joined, err = p.begin(ctx, m, to)
		return err
	})
	if err != nil {
		return answer, joined, err
	}
	type end struct {
		answer answerMessage
		err    error
	}
	var ended chan end
	stop := func() {}
	wait := func() {
		stop()
		var waiting context.Context
		waiting, stop = context.WithCancel(ctx)
		out := make(chan end, 1)
		ended = out
		go func() {
			var got end
			got.err = p.patiently(waiting, func() error { return e.Get(waiting, &got.answer) })
			out <- got
		}()
	}
	wait()
	defer func() { stop() }()
	tick := time.NewTicker(pollInterval)
	defer tick.Stop()
	seen, closed, waits := 0, 0, false
	for {
		select {
		case got := <-ended:
			return got.answer, joined, got.err
		case <-tick.C:
			polling, done := context.WithTimeout(ctx, pollInterval)
			now, err := e.poll(polling)
			done()
			switch {
			case err != nil:
			case !now.open:
				// The server does not wake those who wait for a task that timed out.
				if closed++; closed > 1 {
					closed = 0
					wait()
				}
			default:
				if now.waits != waits {
					// The home counts no minutes in which nobody works.
					waits = now.waits
					note(waitingEvent(waits))
				}
				if b := now.beat; b.TaskID == m.Task.ID && b.N != seen {
					seen = b.N
					e := soundEvent(b.Event)
					e.Passing = true
					note(e)
				}
			}
		}
	}
}

// waitingEvent says that a task waits for a worker, or does no more.
func waitingEvent(waits bool) driver.Event {
	if waits {
		return driver.Event{Kind: driver.Waiting, Passing: true}
	}
	return driver.Event{Kind: driver.Started, Passing: true}
}

// patiently does something again while the server cannot be reached, as long as
// the home's patience lasts.
func (p *Pool) patiently(ctx context.Context, do func() error) error {
	until := time.Now().Add(orDefault(p.Patience, DefaultPatience))
	for {
		err := do()
		if err == nil || ctx.Err() != nil || !unreachable(err) || time.Now().After(until) {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}

// unreachable reports whether an error is that of a server that is away or busy.
func unreachable(err error) bool {
	var unavailable *serviceerror.Unavailable
	var deadline *serviceerror.DeadlineExceeded
	var exhausted *serviceerror.ResourceExhausted
	var cancelled *serviceerror.Canceled
	return errors.As(err, &unavailable) || errors.As(err, &deadline) || errors.As(err, &exhausted) || errors.As(err, &cancelled) ||
		errors.Is(err, context.DeadlineExceeded)
}

// begin begins a task, or finds the one with the same id: at work, or done.
func (p *Pool) begin(ctx context.Context, m taskMessage, to bounds) (execution, bool, error) {
	if p.old.Load() {
		return p.beginWorkflow(ctx, m, to)
	}
	handle, err := p.Connection.Client.ExecuteActivity(ctx, client.StartActivityOptions{
		ID: m.Task.ID, TaskQueue: to.Queue, Summary: summary(m), TypedSearchAttributes: p.attributes(ctx, m), Priority: p.priority(m),
		ScheduleToStartTimeout: to.Start, StartToCloseTimeout: to.Close, HeartbeatTimeout: to.Lost, RetryPolicy: retries(),
		// What failed or was cancelled may begin again; what has an answer may not.
		ActivityIDReusePolicy: enumspb.ACTIVITY_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
	}, activityName, m)
	var unknown *serviceerror.Unimplemented
	var there *serviceerror.ActivityExecutionAlreadyStarted
	switch {
	case errors.As(err, &unknown):
		p.old.Store(true)
		return p.beginWorkflow(ctx, m, to)
	case errors.As(err, &there):
		return standalone{p.Connection.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: m.Task.ID})}, true, nil
	case err != nil:
		return nil, false, err
	}
	return standalone{handle}, false, nil
}

func (p *Pool) beginWorkflow(ctx context.Context, m taskMessage, to bounds) (execution, bool, error) {
	run, err := p.Connection.Client.ExecuteWorkflow(ctx, client.StartWorkflowOptions{
		ID: m.Task.ID, TaskQueue: sharedQueue(to.Queue), StaticSummary: summary(m), TypedSearchAttributes: p.attributes(ctx, m), Priority: p.priority(m),
		WorkflowExecutionTimeout:                 to.Start + mostStarts*to.Close,
		WorkflowIDReusePolicy:                    enumspb.WORKFLOW_ID_REUSE_POLICY_ALLOW_DUPLICATE_FAILED_ONLY,
		WorkflowExecutionErrorWhenAlreadyStarted: true,
	}, workflowName, m, to)
	var there *serviceerror.WorkflowExecutionAlreadyStarted
	switch {
	case errors.As(err, &there):
		return inWorkflow{p.Connection.Client.GetWorkflow(ctx, m.Task.ID, ""), p.Connection}, true, nil
	case err != nil:
		return nil, false, err
	}
	return inWorkflow{run, p.Connection}, false, nil
}

// summary is how the server's own screens show a task.
func summary(m taskMessage) string {
	if m.Ended {
		return "an attempt has ended"
	}
	task := m.Task
	return fmt.Sprintf("%s, attempt %d, turn %d", task.Job, task.Attempt, task.Turn)
}

// take checks what a worker returned and hands over the events of its agent.
func (p *Pool) take(m taskMessage, answer answerMessage, note func(driver.Event)) (driver.Answer, error) {
	worker := "the worker " + shown(answer.Worker)
	if failure := versionError(answer.Version, answer.Program, "the home", worker); failure != nil {
		return driver.Answer{}, failure
	}
	if answer.TaskID != m.Task.ID {
		return driver.Answer{}, &driver.Error{Kind: driver.Died, Message: worker + " returned the answer of another task"}
	}
	for _, e := range answer.Events {
		note(soundEvent(e))
	}
	if answer.Cut > 0 {
		note(driver.Event{Kind: driver.Warning, Text: fmt.Sprintf("%d more events were left out, because they are too large to send", answer.Cut)})
	}
	out := soundAnswer(answer.Answer)
	out.Text = answer.text()
	if answer.Error != nil {
		out.Text = ""
		return out, soundError(answer.Error)
	}
	return out, nil
}

// failure is what the end of a task without an answer means for an attempt.
func (p *Pool) failure(err error, m taskMessage, to bounds) error {
	var application *temporal.ApplicationError
	var timeout *temporal.TimeoutError
	switch {
	case errors.As(err, &application) && application.Type() == failureType:
		var failure driver.Error
		if application.Details(&failure) == nil && failure.Kind != "" {
			return soundError(&failure)
		}
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START && m.Task.Session != "":
		return gone("the worker that has the session is gone")
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_SCHEDULE_TO_START:
		return &driver.Error{Kind: driver.Unavailable, Message: fmt.Sprintf("no worker of the queue %s took the task within %v", to.Queue, to.Start)}
	case errors.As(err, &timeout) && timeout.TimeoutType() == enumspb.TIMEOUT_TYPE_HEARTBEAT:
		return &driver.Error{Kind: driver.Died, Message: fmt.Sprintf("%d workers were lost in the middle of the task", mostStarts)}
	case errors.As(err, &timeout):
		return &driver.Error{Kind: driver.Deadline, Message: fmt.Sprintf("the worker did not end the task within %v", to.Close)}
	case unreachable(err):
		return &driver.Error{Kind: driver.Unavailable, Message: p.Connection.failed(err).Error()}
	}
	var denied *serviceerror.PermissionDenied
	var nowhere *serviceerror.NamespaceNotFound
	why := "the task ended on the server: " + shown(err.Error())
	if strings.Contains(err.Error(), encodedFailure) {
		why = "the worker failed for a reason that cannot be read here: every home and worker of the queue needs the same " + keyFlag
	}
	return &driver.Error{
		Kind: driver.Unavailable, Message: why,
		Lasting: errors.As(err, &denied) || errors.As(err, &nowhere) || strings.Contains(err.Error()+why, keyFlag),
	}
}

// encodedFailure is what the SDK shows of a failure that it cannot decrypt.
const encodedFailure = "Encoded failure"

// Cancel stops a task and waits until its worker says that nothing is left of it,
// or ctx ends. Where the task has its answer, the worker that keeps its folder for a
// repair learns that the attempt has ended; it is not waited for.
func (p *Pool) Cancel(ctx context.Context, id string) error {
	if err := p.Local.Cancel(ctx, id); err != nil {
		return err
	}
	err := p.patiently(ctx, func() error {
		e := p.begun(ctx, id)
		err := e.cancel(ctx)
		var unknown *serviceerror.Unimplemented
		if errors.As(err, &unknown) && p.old.CompareAndSwap(false, true) {
			e = p.begun(ctx, id)
			err = e.cancel(ctx)
		}
		if unreachable(err) {
			return err
		}
		// What has ended cannot be cancelled.
		var answer answerMessage
		if err := e.Get(ctx, &answer); err != nil {
			return err
		}
		return p.end(ctx, e, id, answer.Answer.Session)
	})
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if unreachable(err) {
		return p.Connection.failed(err)
	}
	return nil // without an answer, nothing is left
}

// begun is a task that has begun.
func (p *Pool) begun(ctx context.Context, id string) execution {
	if p.old.Load() {
		return inWorkflow{p.Connection.Client.GetWorkflow(ctx, id, ""), p.Connection}
	}
	return standalone{p.Connection.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: id})}
}

// end tells the worker that has the session of a task that its attempt has ended.
func (p *Pool) end(ctx context.Context, e execution, id, session string) error {
	worker, _, ok := cutSession(session)
	if !ok {
		return nil
	}
	now, err := e.poll(ctx)
	if err != nil {
		return err
	}
	m := taskMessage{Version: Version, Program: p.Program, Ended: true, Task: driver.Task{ID: id + " ended", Session: session}}
	_, _, err = p.begin(ctx, m, bounds{Queue: ownQueue(sharedQueue(now.queue), worker), Start: endPatience, Close: time.Minute, Lost: time.Minute})
	return err
}

// standalone is a task as an activity of its own.
type standalone struct{ client.ActivityHandle }

func (s standalone) cancel(ctx context.Context) error {
	return s.Cancel(ctx, client.CancelActivityOptions{Reason: "the home stops the task"})
}

func (s standalone) poll(ctx context.Context) (state, error) {
	about, err := s.Describe(ctx, client.DescribeActivityOptions{IncludeHeartbeatDetails: true})
	if err != nil {
		return state{}, err
	}
	now := state{open: about.Status == enumspb.ACTIVITY_EXECUTION_STATUS_RUNNING, waits: about.RunState == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED, queue: about.TaskQueue}
	if about.HasHeartbeatDetails() {
		err = about.GetHeartbeatDetails(&now.beat)
	}
	return now, err
}

// inWorkflow is a task as the only activity of a workflow.
type inWorkflow struct {
	client.WorkflowRun
	connection *Connection
}

func (w inWorkflow) cancel(ctx context.Context) error {
	return w.connection.Client.CancelWorkflow(ctx, w.GetID(), "")
}

func (w inWorkflow) poll(ctx context.Context) (state, error) {
	about, err := w.connection.Client.DescribeWorkflowExecution(ctx, w.GetID(), "")
	if err != nil {
		return state{}, err
	}
	info := about.GetWorkflowExecutionInfo()
	now := state{open: info.GetStatus() == enumspb.WORKFLOW_EXECUTION_STATUS_RUNNING, queue: info.GetTaskQueue()}
	now.waits = now.open
	for _, a := range about.GetPendingActivities() {
		now.waits = a.GetState() == enumspb.PENDING_ACTIVITY_STATE_SCHEDULED
		if details := a.GetHeartbeatDetails(); details != nil {
			return now, w.connection.converter.FromPayloads(details, &now.beat)
		}
	}
	return now, nil
}
