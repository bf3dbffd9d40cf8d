package temporal

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
	"github.com/tidegate/tidegate/temporal/server"
	"go.temporal.io/sdk/client"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

const namespace = "default"

// servers are an embedded server with standalone activities and one without.
var servers = map[string]*server.Server{}

func TestMain(m *testing.M) {
	for name, old := range map[string]bool{"standalone": false, "old": true} {
		s, err := server.Start(server.Options{Namespace: namespace, Old: old})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		servers[name] = s
	}
	status := m.Run()
	for _, s := range servers {
		s.Stop()
	}
	os.Exit(status)
}

// onBoth runs a test on a server with standalone activities and on one without.
func onBoth(t *testing.T, test func(t *testing.T, address string)) {
	for _, name := range []string{"standalone", "old"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, servers[name].Address)
		})
	}
}

// agent is a driver that does what a test says, and counts.
type agent struct {
	do    func(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error)
	began atomic.Int32
}

func (a *agent) Run(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
	a.began.Add(1)
	return a.do(ctx, task, event)
}

func answering(text string) *agent {
	return &agent{do: func(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
		return driver.Answer{Text: text + task.Prompt}, nil
	}}
}

func connect(t testing.TB, o Options) *Connection {
	t.Helper()
	o.Namespace = namespace
	c := must.Get(Connect(context.Background(), o))(t)
	t.Cleanup(c.Close)
	return c
}

var queueNumber atomic.Int32

func newQueue() string { return fmt.Sprintf("q%d", queueNumber.Add(1)) }

// beginWorker starts a worker with an agent for every role. The function that it
// returns ends it.
func beginWorker(t testing.TB, o Options, w *Worker, a driver.Driver) (stop func()) {
	t.Helper()
	w.Agents = map[string]Agent{"researcher": {Driver: a, Name: "exec"}, "reviewer": {Driver: a, Name: "exec"}}
	w.Name, w.Program = cmpOr(w.Name, "test worker"), "tidegate test"
	ctx, end := context.WithCancel(context.Background())
	now, endNow := context.WithCancel(context.Background())
	connection := connect(t, o)
	done := make(chan error, 1)
	go func() { done <- w.Run(ctx, now, connection) }()
	stop = sync.OnceFunc(func() {
		end()
		endNow()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(stop)
	return stop
}

func cmpOr(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

func poolOn(t testing.TB, o Options, queue string) *Pool {
	return &Pool{
		Connection: connect(t, o), Program: "tidegate test", Local: &engine.Local{},
		Queue: func(string) string { return queue }, Agent: func(string) string { return "exec" },
	}
}

var taskNumber atomic.Int32

func newTask(prompt string) driver.Task {
	return driver.Task{ID: driver.TaskID("", "run", "now", "job", int(taskNumber.Add(1)), 1, prompt), Job: "job", Kind: "wave1", Attempt: 1, Turn: 1,
		Prompt: prompt, Role: "researcher", Limits: driver.Limits{Deadline: time.Minute}}
}

func ignore(driver.Event) {}

// TestTaskAndAnswerCross compares what a home gets by way of a server with what the
// driver returned.
func TestTaskAndAnswerCross(t *testing.T) {
	cost := 0.5
	events := []driver.Event{{Kind: driver.Started}, {Kind: driver.ToolCall, Tool: "search_calls", Raw: `{"a":1}`}, {Kind: driver.Message, Text: "half"}}
	answers := map[string]struct {
		answer driver.Answer
		err    error
	}{
		"an answer":         {driver.Answer{Text: "# Findings\n", Usage: &driver.Usage{Input: 3, Output: 4}, CostUSD: &cost, ToolCalls: map[string]int{"search_calls": 1}, Version: "1.2"}, nil},
		"not UTF-8":         {driver.Answer{Text: "a\xffb\xc3"}, nil},
		"it died":           {driver.Answer{Usage: &driver.Usage{Input: 3}}, &driver.Error{Kind: driver.Died, Message: "exec ended with exit status 1"}},
		"a rate limit":      {driver.Answer{}, &driver.Error{Kind: driver.Rate, Message: "slow down", Wait: time.Minute}},
		"a session is gone": {driver.Answer{}, &driver.Error{Kind: driver.Unavailable, Message: "no such session", SessionGone: true}},
	}
	onBoth(t, func(t *testing.T, address string) {
		queue := newQueue()
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, &agent{do: func(_ context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
			for _, e := range events {
				event(e)
			}
			return answers[task.Prompt].answer, answers[task.Prompt].err
		}})
		pool := poolOn(t, Options{Address: address}, queue)
		for name, want := range answers {
			var got []driver.Event
			answer, err := pool.Do(t.Context(), newTask(name), func(e driver.Event) {
				if !e.Passing {
					got = append(got, e)
				}
			})
			if fmt.Sprint(err) != fmt.Sprint(want.err) || answer.Text != want.answer.Text || answer.Version != want.answer.Version ||
				fmt.Sprint(answer.ToolCalls, answer.Usage) != fmt.Sprint(want.answer.ToolCalls, want.answer.Usage) {
				t.Errorf("%s: %+v, %v", name, answer, err)
			}
			if failure := new(driver.Error); errors.As(want.err, &failure) {
				var came *driver.Error
				if !errors.As(err, &came) || !reflect.DeepEqual(came, failure) {
					t.Errorf("%s: the failure is %+v, want %+v", name, came, failure)
				}
			}
			if !slices.Equal(got, events) {
				t.Errorf("%s: the events are %+v", name, got)
			}
		}
	})
}

// TestHomeJoinsWhatIsRunning is about a home that ends in the middle of a task: the
// next one joins the task, and one that comes later gets the answer that is there.
func TestHomeJoinsWhatIsRunning(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, begun, release := newQueue(), make(chan struct{}, 9), make(chan struct{})
		a := &agent{do: func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
			begun <- struct{}{}
			select {
			case <-release:
			case <-ctx.Done():
				return driver.Answer{}, context.Cause(ctx)
			}
			return driver.Answer{Text: "once"}, nil
		}}
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, a)
		task := newTask("join")
		first, end := context.WithCancel(t.Context())
		left := make(chan error, 1)
		go func() {
			_, err := poolOn(t, Options{Address: address}, queue).Do(first, task, ignore)
			left <- err
		}()
		<-begun
		end()
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Errorf("a home that ends gets %v", err)
		}
		second := poolOn(t, Options{Address: address}, queue)
		time.AfterFunc(0, func() { close(release) })
		for range 2 { // at work, then done
			if answer, err := second.Do(t.Context(), task, ignore); err != nil || answer.Text != "once" {
				t.Errorf("%+v, %v", answer, err)
			}
		}
		if n := a.began.Load(); n != 1 {
			t.Errorf("the agent was started %d times", n)
		}
	})
}

// TestCancelStopsTheAgent checks that a far agent ends because it was cancelled, that
// Cancel waits for that, and that the same task may begin again afterwards.
func TestCancelStopsTheAgent(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, begun, cause := newQueue(), make(chan struct{}, 9), make(chan error, 9)
		again := false
		a := &agent{do: func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
			if again {
				return driver.Answer{Text: "again"}, nil
			}
			begun <- struct{}{}
			<-ctx.Done()
			cause <- ctx.Err()
			return driver.Answer{}, context.Cause(ctx)
		}}
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, a)
		pool, task := poolOn(t, Options{Address: address}, queue), newTask("cancel")
		home, leave := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			pool.Do(home, task, ignore)
			close(left)
		}()
		<-begun
		leave()
		<-left
		must.Do(t, pool.Cancel(t.Context(), task.ID))
		select {
		case err := <-cause:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the agent ended by %v", err)
			}
		default:
			t.Error("Cancel returned before the agent had ended")
		}
		again = true
		if answer, err := pool.Do(t.Context(), task, ignore); err != nil || answer.Text != "again" {
			t.Errorf("the task that was cancelled does not begin again: %+v, %v", answer, err)
		}
		if err := pool.Cancel(t.Context(), newTask("unknown").ID); err != nil {
			t.Errorf("cancelling what is not there: %v", err)
		}
	})
}

// TestRepairGoesToItsWorker sends repairs to two workers of one queue, and one to a
// worker that is gone.
func TestRepairGoesToItsWorker(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue := newQueue()
		stops := map[string]func(){}
		for i := range 2 {
			name := fmt.Sprintf("worker%d", i)
			stops[name] = beginWorker(t, Options{Address: address}, &Worker{Queue: queue, Name: name, Parallel: map[string]int{"exec": 1}}, &agent{
				do: func(_ context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
					return driver.Answer{Text: name + " " + task.Session, Session: "s"}, nil
				}})
		}
		pool := poolOn(t, Options{Address: address}, queue)
		var last driver.Answer
		for i := range 6 {
			first := must.Get(pool.Do(t.Context(), newTask(fmt.Sprint("first ", i)), ignore))(t)
			repair := newTask(fmt.Sprint("repair ", i))
			repair.Turn, repair.Session = 2, first.Session
			second, err := pool.Do(t.Context(), repair, ignore)
			if err != nil || second.Text != strings.TrimSpace(first.Text)+" s" {
				t.Errorf("%q was repaired by %q, %v", first.Text, second.Text, err)
			}
			last = second
		}
		stops[strings.Fields(last.Text)[0]]()
		pool.Patience = time.Second
		for _, session := range []string{last.Session, "a session of this machine"} {
			repair := newTask("repair of what is gone " + session)
			repair.Turn, repair.Session = 2, session
			_, err := pool.Do(t.Context(), repair, ignore)
			var failure *driver.Error
			if !errors.As(err, &failure) || !failure.SessionGone {
				t.Errorf("the session %q: %v", session, err)
			}
		}
	})
}

// TestWorkerRefuses lists what a worker does not do, with what it says.
func TestWorkerRefuses(t *testing.T) {
	w := &Worker{Name: "far", Program: "tidegate test", Agents: map[string]Agent{"researcher": {Name: "exec"}, "reviewer": {Name: "codex"}},
		Models: []string{"small"}, NoNetwork: true}
	ask := func(change func(*taskMessage)) taskMessage {
		m := taskMessage{Version: Version, Program: "tidegate test", Driver: "exec", Task: newTask("refuse")}
		change(&m)
		return m
	}
	for _, test := range []struct {
		name    string
		message taskMessage
		says    string // "" for nothing
		help    string
	}{
		{"nothing", ask(func(*taskMessage) {}), "", ""},
		{"its model", ask(func(m *taskMessage) { m.Task.Model = "small" }), "", ""},
		{"a client for another role", ask(func(m *taskMessage) { m.Driver, m.Task.Role = "codex", "writer" }), "", ""},
		{"a command for another role", ask(func(m *taskMessage) { m.Task.Role = "writer" }), "has no exec for the role writer", ""},
		{"an agent that it has not", ask(func(m *taskMessage) { m.Driver = "claude" }), "has no claude", ""},
		{"another model", ask(func(m *taskMessage) { m.Task.Model = "large" }), "does not have the model large", ""},
		{"the web", ask(func(m *taskMessage) { m.Task.Tools.Web = true }), "has no network", ""},
		{"a folder", ask(func(m *taskMessage) { m.Task.Folder = "/" }), "no folder of another machine", ""},
		{"commands", ask(func(m *taskMessage) { m.Task.Tools.Write = true }), "runs no commands for another machine", ""},
		{"a later version", ask(func(m *taskMessage) { m.Version = Version + 1 }), "the program on far is too old", upgradeHelp},
		{"an earlier version", ask(func(m *taskMessage) { m.Version = 0 }), "the program on the home is too old", upgradeHelp},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, failure := w.agent(test.message)
			switch {
			case test.says == "" && failure != nil:
				t.Error(failure)
			case test.says == "":
			case failure == nil || !strings.Contains(failure.Message, test.says) || !failure.NeedsPerson() || test.help != "" && failure.Help != test.help:
				t.Errorf("%+v", failure)
			}
		})
	}
}

// TestVersionsThatDiffer sends a task of a later version to a worker: it is refused by
// what has to be upgraded, is not tried again, and begins once the home was replaced.
func TestVersionsThatDiffer(t *testing.T) {
	queue, address := newQueue(), servers["standalone"].Address
	a := answering("")
	beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, a)
	pool, task := poolOn(t, Options{Address: address}, queue), newTask("version")
	later := taskMessage{Version: Version + 1, Program: "tidegate 9", Driver: "exec", Task: task}
	to, _ := pool.bounds(later)
	_, _, err := pool.once(t.Context(), later, to, ignore)
	var failure *driver.Error
	if !errors.As(pool.failure(err, later, to), &failure) || !failure.NeedsPerson() || !strings.Contains(failure.Message, "the program on test worker is too old") || failure.Help != upgradeHelp {
		t.Errorf("%+v", err)
	}
	if n := a.began.Load(); n != 0 {
		t.Errorf("the agent was started %d times", n)
	}
	if _, err := pool.Do(t.Context(), task, ignore); err != nil {
		t.Error(err)
	}
	if _, err := pool.take(later, answerMessage{Version: Version - 1, Worker: "old"}, ignore); !errors.As(err, &failure) || !strings.Contains(failure.Message, "the program on the worker old is too old") || failure.Help != upgradeHelp {
		t.Errorf("an answer of an earlier version: %v", err)
	}
	if _, err := pool.take(later, answerMessage{Version: Version, TaskID: "sha256:other"}, ignore); err == nil {
		t.Error("the answer of another task was taken")
	}
}

// TestPersonMustAct checks that a task whose agent is not logged in begins again once a
// person has acted, and is not tried again before.
func TestPersonMustAct(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue := newQueue()
		a := answering("logged in")
		answer := a.do
		a.do = func(ctx context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
			if a.began.Load() == 1 {
				return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "exec is not logged in", Help: "claude auth login"}
			}
			return answer(ctx, task, event)
		}
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, a)
		pool, task := poolOn(t, Options{Address: address}, queue), newTask("")
		_, err := pool.Do(t.Context(), task, ignore)
		var failure *driver.Error
		if !errors.As(err, &failure) || failure.Kind != driver.Auth || failure.Help != "claude auth login" || !strings.Contains(failure.Message, "test worker") {
			t.Errorf("%+v", err)
		}
		if got, err := pool.Do(t.Context(), task, ignore); err != nil || got.Text != "logged in" {
			t.Errorf("%+v, %v", got, err)
		}
		if n := a.began.Load(); n != 2 {
			t.Errorf("the agent was started %d times", n)
		}
	})
}

// TestServerThatNeverHeardOfIt puts in front of a server what one says that was built
// before there were standalone activities: it knows no such method. A home that only
// cancels finds that out, too.
func TestServerThatNeverHeardOfIt(t *testing.T) {
	t.Parallel()
	var asked atomic.Int32
	o := Options{Address: proxy.Start(t, servers["standalone"].Address, func(_ context.Context, method string, forward func() ([]byte, error)) ([]byte, error) {
		if strings.HasSuffix(method, "ActivityExecution") {
			asked.Add(1)
			return nil, status.Errorf(codes.Unimplemented, "unknown method %s for service temporal.api.workflowservice.v1.WorkflowService", method)
		}
		return forward()
	})}
	queue, w := newQueue(), &Worker{}
	w.Queue = queue
	beginWorker(t, o, w, &agent{do: func(context.Context, driver.Task, func(driver.Event)) (driver.Answer, error) {
		return driver.Answer{Text: "text", Session: "1/s1"}, nil
	}})
	task := newTask("old")
	for range 2 {
		if answer, err := poolOn(t, o, queue).Do(t.Context(), task, ignore); err != nil || answer.Text != "text" {
			t.Errorf("%+v, %v", answer, err)
		}
	}
	if err := poolOn(t, o, queue).Cancel(t.Context(), task.ID); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(time.Minute); len(w.sessions()) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the worker never learns of the end")
		}
	}
	if n := asked.Load(); n != 3 {
		t.Errorf("three homes asked for what is not there %d times", n)
	}
}

// TestServerCannotRead looks at what a server has of an encrypted task.
func TestServerCannotRead(t *testing.T) {
	const secret = "the-secret-of-the-harbour"
	file := filepath.Join(t.TempDir(), "payload.key")
	must.Do(t, os.WriteFile(file, []byte(base64.StdEncoding.EncodeToString(make([]byte, 32))+"\n"), 0o600))
	queue, o := newQueue(), Options{Address: servers["standalone"].Address, PayloadKey: file}
	beginWorker(t, o, &Worker{Queue: queue}, &agent{do: func(_ context.Context, task driver.Task, event func(driver.Event)) (driver.Answer, error) {
		if task.Attempt == 2 {
			return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: secret}
		}
		return driver.Answer{Text: task.Prompt}, nil
	}})
	pool := poolOn(t, o, queue)
	for attempt := 1; attempt <= 2; attempt++ {
		task := newTask(secret)
		task.Job, task.Attempt = secret, attempt
		if answer, err := pool.Do(t.Context(), task, ignore); attempt == 1 && (err != nil || answer.Text != secret) {
			t.Fatal(err)
		}
		about := must.Get(pool.Connection.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: task.ID}).Describe(t.Context(),
			client.DescribeActivityOptions{IncludeInput: true, IncludeOutcome: true, IncludeHeartbeatDetails: true, IncludeLastFailure: true}))(t)
		if !about.HasInput() {
			t.Error("the server shows nothing, so the test shows nothing")
		}
		if text := about.RawResponse.String(); strings.Contains(text, secret) {
			t.Errorf("attempt %d: the server reads %s", attempt, text)
		}
	}
}

// TestKeysThatDiffer gives home and worker different keys: no agent is started, and a
// person is asked for.
func TestKeysThatDiffer(t *testing.T) {
	dir := t.TempDir()
	file := func(name string, b byte) string {
		path := filepath.Join(dir, name)
		must.Do(t, os.WriteFile(path, []byte(strings.Repeat(string('a'+rune(b)), 64)), 0o600))
		return path
	}
	one, other := file("one", 0), file("other", 1)
	for _, test := range []struct{ name, home, worker string }{{"another key", one, other}, {"no key at the worker", one, ""}, {"no key at home", "", one}} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			queue, a, address := newQueue(), answering(""), servers["standalone"].Address
			beginWorker(t, Options{Address: address, PayloadKey: test.worker}, &Worker{Queue: queue}, a)
			_, err := poolOn(t, Options{Address: address, PayloadKey: test.home}, queue).Do(t.Context(), newTask("key"), ignore)
			var failure *driver.Error
			if !errors.As(err, &failure) || !failure.NeedsPerson() || a.began.Load() != 0 {
				t.Errorf("%v; the agent was started %d times", err, a.began.Load())
			}
		})
	}
}

// TestLargeMessages sends a task and an answer of 3 MB that do not compress through a
// bucket, and finds that without one the work is done once and becomes a failure.
func TestLargeMessages(t *testing.T) {
	bucket := &fakeBucket{objects: map[string][]byte{}}
	s3 := httptest.NewServer(bucket)
	t.Cleanup(s3.Close)
	for name, value := range map[string]string{"AWS_ENDPOINT_URL": s3.URL, "AWS_REGION": "test", "AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "key"} {
		t.Setenv(name, value)
	}
	large := make([]byte, 3<<20)
	for i := range large {
		sum := sha256.Sum256([]byte{byte(i), byte(i >> 8), byte(i >> 16)})
		large[i] = 'a' + sum[0]%26
	}
	text := string(large)
	do := func(o Options) (driver.Answer, int32, error) {
		o.Address = servers["standalone"].Address
		queue, a := newQueue(), answering(text)
		beginWorker(t, o, &Worker{Queue: queue}, a)
		answer, err := poolOn(t, o, queue).Do(t.Context(), newTask("large"), ignore)
		return answer, a.began.Load(), err
	}
	answer, n, err := do(Options{Storage: "s3://bucket/messages"})
	if err != nil || answer.Text != text+"large" || n != 1 {
		t.Errorf("%d bytes of %d, %d times, %v", len(answer.Text), len(text), n, err)
	}
	if len(bucket.objects) == 0 {
		t.Error("the bucket is empty")
	}
	answer, n, err = do(Options{})
	var failure *driver.Error
	if !errors.As(err, &failure) || failure.Kind != driver.Flood || n != 1 || answer.Text != "" {
		t.Errorf("%d bytes, %d times, %v", len(answer.Text), n, err)
	}
	_, err = poolOn(t, Options{Address: servers["standalone"].Address}, newQueue()).Do(t.Context(), newTask(text), ignore)
	if !errors.As(err, &failure) || !failure.NeedsPerson() {
		t.Errorf("a task that is too large: %v", err)
	}
	storage := must.Get(newStorage(t.Context(), "s3://bucket/messages"))(t)
	for name := range bucket.objects {
		bucket.objects[name] = append(bucket.objects[name], 'x')
		digest := name[strings.LastIndex(name, "/")+1:]
		if _, err := storage.Retrieve(retrieving(t.Context()), claimsOf(digest, "../else")[:1]); err == nil || !strings.Contains(err.Error(), "was changed") {
			t.Errorf("a message that was changed: %v", err)
		}
	}
	if _, err := storage.Retrieve(retrieving(t.Context()), claimsOf("../else")); err == nil {
		t.Error("a claim led out of the bucket")
	}
}

// fakeBucket is a server with the two requests of S3 that are needed.
type fakeBucket struct {
	mu      sync.Mutex
	objects map[string][]byte
}

func (b *fakeBucket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch object, found := b.objects[r.URL.Path]; {
	case r.Method == http.MethodPut:
		data, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		b.objects[r.URL.Path] = data
	case !found:
		http.Error(w, "<Error><Code>NoSuchKey</Code></Error>", http.StatusNotFound)
	default:
		w.Write(object)
	}
}

// TestRolesHaveQueues sends tasks of two roles to workers of two queues, and finds that
// a queue without a worker is noticed before anything begins.
func TestRolesHaveQueues(t *testing.T) {
	address := servers["standalone"].Address
	queues := map[string]string{"researcher": newQueue(), "reviewer": newQueue()}
	for role, queue := range queues {
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, answering(role))
	}
	pool := poolOn(t, Options{Address: address}, "")
	pool.Queue = func(role string) string { return queues[role] }
	for role := range queues {
		task := newTask("")
		task.Role = role
		if answer, err := pool.Do(t.Context(), task, ignore); err != nil || answer.Text != role {
			t.Errorf("%s: %q, %v", role, answer.Text, err)
		}
	}
	if err := pool.Ready(t.Context(), []string{"researcher", "reviewer"}); err != nil {
		t.Error(err)
	}
	pool.Queue, pool.Patience = func(string) string { return "nobody" }, 100*time.Millisecond
	if err := pool.Ready(t.Context(), []string{"researcher"}); err == nil || !strings.Contains(err.Error(), "no worker of the queue nobody has exec") {
		t.Error(err)
	}
	if _, err := pool.Do(t.Context(), newTask("nobody"), ignore); err == nil || !strings.Contains(err.Error(), "no worker of the queue") {
		t.Error(err)
	}
}

// TestHomeSeesWhatAFarAgentDoes checks that the last event comes with the heartbeats
// while the agent works, and once more among all events.
func TestHomeSeesWhatAFarAgentDoes(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, seen := newQueue(), make(chan struct{})
		beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, &agent{do: func(ctx context.Context, _ driver.Task, event func(driver.Event)) (driver.Answer, error) {
			event(driver.Event{Kind: driver.ToolCall, Tool: "search_calls"})
			select {
			case <-seen:
				return driver.Answer{Text: "done"}, nil
			case <-ctx.Done():
				return driver.Answer{}, context.Cause(ctx)
			}
		}})
		var passing, kept int
		_, err := poolOn(t, Options{Address: address}, queue).Do(t.Context(), newTask("look"), func(e driver.Event) {
			switch {
			case e.Passing && (e.Kind == driver.Waiting || e.Kind == driver.Started): // on a busy machine
			case e.Tool != "search_calls":
				t.Errorf("%+v", e)
			case !e.Passing:
				kept++
			default:
				if passing++; passing == 1 {
					close(seen)
				}
			}
		})
		if err != nil || passing != 1 || kept != 1 {
			t.Errorf("%d passing, %d kept, %v", passing, kept, err)
		}
	})
}

// TestWorkerDrains ends a worker in the middle of a task: it finishes that one and takes
// no other; ended a second time it gives its task back, and another worker begins it.
func TestWorkerDrains(t *testing.T) {
	queue, o := newQueue(), Options{Address: servers["standalone"].Address}
	begun, release := make(chan struct{}, 9), make(chan struct{})
	a := &agent{do: func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
		begun <- struct{}{}
		select {
		case <-release:
			return driver.Answer{Text: "finished"}, nil
		case <-ctx.Done():
			return driver.Answer{}, context.Cause(ctx)
		}
	}}
	start := func() (end, endNow context.CancelFunc, done chan error) {
		w := &Worker{Queue: queue, Name: "drained", Program: "test", Agents: map[string]Agent{"researcher": {Driver: a, Name: "exec"}}}
		ctx, end := context.WithCancel(context.Background())
		now, endNow := context.WithCancel(context.Background())
		done = make(chan error, 1)
		go func() { done <- w.Run(ctx, now, connect(t, o)) }()
		return end, endNow, done
	}
	type result struct {
		answer driver.Answer
		err    error
	}
	do := func(prompt string) chan result {
		out := make(chan result, 1)
		go func() {
			answer, err := poolOn(t, o, queue).Do(t.Context(), newTask(prompt), ignore)
			out <- result{answer, err}
		}()
		return out
	}
	end, _, done := start()
	first := do("drain")
	<-begun
	end()
	close(release)
	if r := <-first; r.err != nil || r.answer.Text != "finished" {
		t.Errorf("%+v", r)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}

	release = make(chan struct{})
	end, endNow, done := start()
	second := do("give back")
	<-begun
	end()
	endNow()
	if err := <-done; err != nil {
		t.Error(err)
	}
	end, _, done = start()
	<-begun // on the other worker, without waiting for a heartbeat that is missing
	close(release)
	if r := <-second; r.err != nil || r.answer.Text != "finished" {
		t.Errorf("%+v", r)
	}
	end()
	<-done
	if n := a.began.Load(); n != 3 {
		t.Errorf("the agent was started %d times", n)
	}
}
