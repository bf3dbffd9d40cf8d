package temporal

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// activityName is the name of the one activity there is.
const activityName = "tidegate_task"

// How a worker shows that it lives. The server answers a heartbeat with whether
// the task was cancelled, so cancelling takes at most two of these.
const beatInterval = time.Second

// Agent is an agent that a worker lends.
type Agent struct {
	Driver driver.Driver
	Name   string // which agent, without command, address or folder
	Model  string // given to a task that names none
}

// Worker takes tasks off a queue and has its agents do them.
type Worker struct {
	Queue  string
	Agents map[string]Agent // by role
	// Parallel is how many tasks an agent has at once, by name; 0: four.
	Parallel map[string]int
	// Models are those that tasks may name; empty: any.
	Models []string
	// NoNetwork refuses tasks whose agents may search the web.
	NoNetwork bool
	// Servers are the MCP servers that tasks may name, as this machine starts them.
	Servers map[string]driver.Server
	Name    string // of the worker, for messages: host and process
	Program string // its version, in words
	// Deployment has the server give tasks to the workers of the version of this name's
	// deployment that a person made the current one; "": to every worker.
	Deployment string
	Build      string // the version of the deployment
	// Notice is called when a task begins, does something, or ends; nil for none.
	Notice func(Notice)

	id      string // in the names of its own queues, where repairs go
	client  client.Client
	parcels parcels
	ctx     context.Context // of all tasks
	slots   map[string]chan struct{}
	mu      sync.Mutex
	loops   []worker.Worker
	kept    map[string]keptSession // by the name that homes know
}

// keptSession is a session whose answer may be repaired.
type keptSession struct {
	forget func()
	expire *time.Timer
}

// Notice is one thing that happened to a task of a worker.
type Notice struct {
	Task   driver.Task
	Driver string
	Event  *driver.Event // nil when the task begins or ends
	Ended  bool
	Err    error // of a task that ended without an answer
}

const defaultParallel = 4

// errStopping is why tasks of a worker that is ended at once are given back.
var errStopping = errors.New("the worker stops")

// Run works until ctx ends, then takes no more tasks, finishes those it has, and
// returns. When now ends, those are stopped and given back, and another worker
// begins them again.
func (w *Worker) Run(ctx, now context.Context, connection *Connection) error {
	w.id = newID()
	w.ctx = now
	w.client, w.parcels = connection.Client, connection.parcels
	w.slots = map[string]chan struct{}{}
	w.kept = map[string]keptSession{}
	defer w.forgetAll()
	failed := make(chan error, 1)
	for _, name := range w.Names() {
		n := w.parallel(name)
		w.slots[name] = make(chan struct{}, n)
		// Repairs come to a queue of their own and share the slots, so that a busy
		// worker still takes the repair that nobody else can do.
		shared := queueOf(w.Queue, name, Version)
		for _, queue := range []string{shared, ownQueue(shared, w.id)} {
			options := worker.Options{
				MaxConcurrentActivityExecutionSize: n,
				MaxHeartbeatThrottleInterval:       beatInterval,
				DefaultHeartbeatThrottleInterval:   beatInterval,
				WorkerStopTimeout:                  24 * time.Hour,
				Identity:                           w.identity(),
				OnFatalError: func(err error) {
					select {
					case failed <- err:
					default:
					}
				},
			}
			if w.Deployment != "" {
				options.DeploymentOptions = worker.DeploymentOptions{UseVersioning: true, DefaultVersioningBehavior: workflow.VersioningBehaviorAutoUpgrade,
					Version: worker.WorkerDeploymentVersion{DeploymentName: w.Deployment, BuildID: w.Build}}
			}
			loop, err := start(ctx, func() worker.Worker {
				loop := worker.New(connection.Client, queue, options)
				loop.RegisterActivityWithOptions(w.do, activity.RegisterOptions{Name: activityName})
				loop.RegisterWorkflowWithOptions(oneTask, workflow.RegisterOptions{Name: workflowName})
				return loop
			})
			if err != nil {
				w.stop()
				return connection.failed(err)
			}
			w.loops = append(w.loops, loop)
		}
	}
	var err error
	select {
	case <-ctx.Done():
	case err = <-failed:
		err = connection.failed(err)
	}
	w.stop()
	return err
}

// start starts a loop, once the server can be reached. A worker that was frozen right
// after its start finds that its question has run out. A loop that could not start
// never does, so each try has its own.
func start[L interface{ Start() error }](ctx context.Context, made func() L) (L, error) {
	for {
		loop := made()
		err := loop.Start()
		if err == nil || ctx.Err() != nil || !away(err) {
			return loop, err
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}

// stop waits for the tasks of all loops.
func (w *Worker) stop() {
	var all sync.WaitGroup
	for _, loop := range w.loops {
		all.Go(loop.Stop)
	}
	all.Wait()
}

// Names are the agents that the worker has, in order.
func (w *Worker) Names() []string {
	names := map[string]bool{}
	for _, agent := range w.Agents {
		names[agent.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

func (w *Worker) parallel(name string) int {
	if n := w.Parallel[name]; n > 0 {
		return n
	}
	return defaultParallel
}

// identity is how the server's own screens show the worker: what it is and has.
func (w *Worker) identity() string {
	network, models := "yes", "any"
	if w.NoNetwork {
		network = "no"
	}
	if len(w.Models) > 0 {
		models = strings.Join(w.Models, ",")
	}
	return fmt.Sprintf("%s (%s; agents %s; models %s; network %s)", w.Name, w.Program, strings.Join(w.Names(), ","), models, network)
}

// queueOf is the queue of an agent. Each has its own, and each version of the messages,
// so that a task never reaches a worker that does not have its agent, or that does not
// understand it.
func queueOf(queue, agent string, version int) string {
	return fmt.Sprintf("%s.%s.v%d", queue, agent, version)
}

// ownQueue is the queue of one worker among those of a queue of queueOf.
func ownQueue(shared, id string) string { return shared + "@" + id }

// sharedQueue is the queue of queueOf that a queue belongs to.
func sharedQueue(queue string) string {
	shared, _, _ := strings.Cut(queue, "@")
	return shared
}

// do is the activity: it does one task.
func (w *Worker) do(ctx context.Context, m taskMessage) (*answerMessage, error) {
	out := &answerMessage{Version: Version, Program: w.Program, Worker: w.Name, TaskID: m.Task.ID}
	if m.Ended && m.Version == Version && bound(ctx, m) {
		w.forget(m.Task.Session)
		return out, nil
	}
	agent, failure := w.agent(m)
	if failure == nil && !bound(ctx, m) {
		failure = &driver.Error{Kind: driver.Died, Message: w.Name + " was given a task under the id of another"}
	}
	if failure != nil {
		return nil, permanent(failure)
	}
	running, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(w.ctx, func() { stop(errStopping) })()
	last := &lastEvent{beat: beat{TaskID: m.Task.ID}}
	defer last.every(running, beatInterval)()

	slot := w.slots[agent.Name]
	select {
	case slot <- struct{}{}:
		defer func() { <-slot }()
	case <-running.Done():
		return nil, w.ended(running)
	}
	if m.Task.Session != "" {
		session, there := w.take(m.Task.Session)
		if !there {
			return nil, permanent(gone(w.Name + " does not have the session any more"))
		}
		defer session.forget()
	}
	w.notice(Notice{Task: m.Task, Driver: agent.Name})
	began := time.Now()
	kept := 0
	answer, err := agent.Driver.Run(running, w.task(m, agent), func(e driver.Event) {
		last.set(e)
		w.notice(Notice{Task: m.Task, Driver: agent.Name, Event: &e})
		if kept += len(e.Text) + len(e.Raw) + len(e.Tool); kept > maxEvents || out.Cut > 0 {
			out.Cut++
			return
		}
		out.Events = append(out.Events, e)
	})
	w.notice(Notice{Task: m.Task, Driver: agent.Name, Ended: true, Err: err})
	out.Answer = answer
	if answer.Session != "" {
		out.Answer.Session = sessionOf(w.id, answer.Session)
	}
	switch {
	case err == nil:
	case running.Err() != nil:
		return nil, w.ended(running)
	case !errors.As(err, &out.Error):
		return nil, err
	case out.Error.NeedsPerson():
		// The task is not done: once a person has acted, it begins again.
		out.Error.Message += " (" + w.Name + ")"
		return nil, permanent(out.Error)
	}
	out.setText()
	if err := w.parcels.pack(out); err != nil {
		return nil, err
	}
	if answer.Session != "" {
		w.keep(m.Task, out, func() { driver.Forget(agent.Driver, answer.Session) })
	}
	if time.Since(began) > beatInterval { // else the server was there a moment ago
		w.untilReached(running)
	}
	return out, nil
}

// untilReached waits until the server answers, or ctx ends. The SDK tries for ten
// seconds to send an answer, and then drops it, with all that was paid for it.
func (w *Worker) untilReached(ctx context.Context) {
	for ctx.Err() == nil {
		asking, done := context.WithTimeout(ctx, reachTime)
		_, err := w.client.CheckHealth(asking, &client.CheckHealthRequest{})
		done()
		if err == nil {
			return
		}
		select {
		case <-ctx.Done():
		case <-time.After(askAgain):
		}
	}
}

// reachTime is how long a server may take to say that it is there.
const reachTime = 5 * time.Second

// bound reports whether a task came under its own id, so that nobody who can write to
// the server, but not read it, has a worker do again what it once did.
func bound(ctx context.Context, m taskMessage) bool {
	info := activity.GetInfo(ctx)
	return m.Task.ID == info.ActivityID || m.Task.ID == info.WorkflowExecution.ID
}

// How long a worker keeps what a repair needs, where nobody says that the attempt
// has ended: about as long as a home holds the job, or a day.
const (
	keepMargin = 10 * time.Minute
	keepLimit  = 24 * time.Hour
)

// keep keeps the session of an answer that may be repaired, until it is taken or
// forgotten.
func (w *Worker) keep(task driver.Task, out *answerMessage, forget func()) {
	if task.Turn != 1 || out.Answer.Session == "" || out.Error != nil {
		forget()
		return
	}
	long := keepLimit
	if deadline := task.Limits.Deadline; deadline > 0 && deadline < keepLimit/4 {
		long = 2*deadline + keepMargin
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kept[out.Answer.Session] = keptSession{forget, time.AfterFunc(long, func() { w.forget(out.Answer.Session) })}
}

// take takes a session that was kept, and reports whether there was one. What this
// worker does not keep is never continued, whoever asks for it.
func (w *Worker) take(session string) (kept keptSession, there bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if kept, there = w.kept[session]; there {
		kept.expire.Stop()
		delete(w.kept, session)
	}
	return kept, there
}

// forget removes what was kept for the repair of the answer with this session.
func (w *Worker) forget(session string) {
	if kept, there := w.take(session); there {
		kept.forget()
	}
}

// forgetAll removes all that was kept: nothing is repaired any more.
func (w *Worker) forgetAll() {
	for _, session := range w.sessions() {
		w.forget(session)
	}
}

func (w *Worker) sessions() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Collect(maps.Keys(w.kept))
}

// maxEvents is how many bytes of an agent's event stream a worker keeps, as many
// as a run does.
const maxEvents = 16 << 20

func (w *Worker) notice(n Notice) {
	if w.Notice != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.Notice(n)
	}
}

// ended is why a task without an answer ended: it was cancelled, or the worker
// stops and gives it back.
func (w *Worker) ended(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errStopping) {
		return temporal.NewApplicationErrorWithOptions(errStopping.Error(), "stopping", temporal.ApplicationErrorOptions{NextRetryDelay: time.Millisecond})
	}
	return temporal.NewCanceledError()
}

// permanent is a failure of a task that the server does not try again. It says what
// a home has to know.
func permanent(failure *driver.Error) error {
	return temporal.NewNonRetryableApplicationError(failure.Error(), failureType, nil, failure)
}

// failureType is the type of errors with a [driver.Error] in their details.
const failureType = "tidegate"

// hand is the agent for a task, or why this worker has none.
func (w *Worker) agent(m taskMessage) (Agent, *driver.Error) {
	if failure := versionError(m.Version, m.Program, w.Name, "the home"); failure != nil {
		return Agent{}, failure
	}
	refused := func(format string, args ...any) *driver.Error {
		return &driver.Error{Kind: driver.Unavailable, Lasting: true, Message: w.Name + " " + fmt.Sprintf(format, args...),
			Help: queueHelp}
	}
	agent, found := w.Agents[m.Task.Role]
	if !found || agent.Name != m.Driver {
		found = false
		for _, role := range slices.Sorted(maps.Keys(w.Agents)) {
			// An agent whose name says all about it can do the work of any role.
			if each := w.Agents[role]; !found && each.Name == m.Driver && !commanded(each.Name) {
				agent, found = each, true
			}
		}
	}
	switch {
	case !found:
		return Agent{}, refused("has no %s for the role %s", shown(m.Driver), shown(m.Task.Role))
	case m.Task.Model != "" && len(w.Models) > 0 && !slices.Contains(w.Models, m.Task.Model):
		return Agent{}, refused("does not have the model %s", shown(m.Task.Model))
	case m.Task.Tools.Web && w.NoNetwork:
		return Agent{}, refused("has no network, and the task's agent may search the web")
	case m.Task.Folder != "":
		return Agent{}, refused("works in no folder of another machine")
	case m.Task.Tools.Write:
		return Agent{}, refused("runs no commands for another machine")
	}
	return agent, nil
}

// commanded reports whether a configuration says what stands behind the name of an
// agent, possibly another thing for each role.
func commanded(name string) bool {
	return name == "exec" || name == "acp" || name == "model" || name == "recorded"
}

// longestTask is how long a worker's agent works at a task, whatever its home says.
const longestTask = 24 * time.Hour

// task is the task as this machine does it: with its own model where none is named,
// and its own MCP servers.
func (w *Worker) task(m taskMessage, agent Agent) driver.Task {
	task := m.Task
	if task.Model == "" {
		task.Model = agent.Model
	}
	var servers []driver.Server
	for _, s := range task.Tools.MCP {
		if own, known := w.Servers[s.Name]; known {
			servers = append(servers, own)
		}
	}
	task.Tools.MCP = servers
	if task.Limits.Deadline <= 0 || task.Limits.Deadline > longestTask {
		task.Limits.Deadline = longestTask
	}
	_, task.Session, _ = cutSession(task.Session)
	return task
}

// lastEvent is what an agent did last, for heartbeats.
type lastEvent struct {
	mu   sync.Mutex
	beat beat
}

func (l *lastEvent) set(e driver.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e.Raw, e.Text = "", shown(e.Text)
	l.beat = beat{TaskID: l.beat.TaskID, N: l.beat.N + 1, Event: e}
}

// every sends a heartbeat with the last event at once and every d, until the
// function that it returns is called.
func (l *lastEvent) every(ctx context.Context, d time.Duration) (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(d)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				l.mu.Lock()
				b := l.beat
				l.mu.Unlock()
				activity.RecordHeartbeat(ctx, b)
			}
		}
	}()
	return func() {
		close(done)
		<-ended
	}
}

// Sessions belong to a machine, so the id of the worker is part of their name.
const sessionPrefix = "worker-"

func sessionOf(worker, session string) string { return sessionPrefix + worker + ":" + session }

// cutSession splits the name of a session into the worker that has it and its name
// there. It reports false for one of no worker.
func cutSession(session string) (worker, name string, ok bool) {
	rest, ok := strings.CutPrefix(session, sessionPrefix)
	if ok {
		worker, name, ok = strings.Cut(rest, ":")
	}
	// The id becomes a part of a queue's name, and a worker is not trusted with that.
	_, err := hex.DecodeString(worker)
	return worker, name, ok && err == nil && len(worker) == 2*idBytes
}
