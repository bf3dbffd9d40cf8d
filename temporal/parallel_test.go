package temporal

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	"go.temporal.io/sdk/client"
)

// TestOneTaskPerAgent gives a worker two agents with one task at a time each. While a
// task of each is at work, a second one and a repair for the first agent wait: the
// repair on the worker itself, which is the only one that can do it.
func TestOneTaskPerAgent(t *testing.T) {
	ctx, end := context.WithTimeout(t.Context(), 3*time.Minute)
	defer end()
	queue, o := newQueue(), Options{Address: servers["standalone"].Address}
	begun, release := make(chan string, 9), make(chan struct{})
	newAgent := func() *agent {
		var inside atomic.Int32
		return &agent{do: func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
			if n := inside.Add(1); n > 1 {
				t.Errorf("%s began while its agent had %d more tasks", task.Prompt, n-1)
			}
			defer inside.Add(-1)
			if task.Prompt == "holds" {
				begun <- task.Role
				select {
				case <-release:
				case <-ctx.Done():
				}
			}
			return driver.Answer{Text: "done", Session: "s"}, nil
		}}
	}
	names := map[string]string{"researcher": "exec", "reviewer": "codex"}
	first, second := newAgent(), newAgent()
	w := &Worker{Queue: queue, Name: "two agents", Program: "test", Parallel: map[string]int{"exec": 1, "codex": 1},
		Agents: map[string]Agent{"researcher": {Driver: first, Name: "exec"}, "reviewer": {Driver: second, Name: "codex"}}}
	working, stop := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- w.Run(working, context.Background(), connect(t, o)) }()
	defer func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}()

	pool := poolOn(t, o, queue)
	pool.Agent = func(role string) string { return names[role] }
	before := must.Get(pool.Do(ctx, newTask("before"), ignore))(t)
	var all sync.WaitGroup
	defer all.Wait()
	letGo := sync.OnceFunc(func() { close(release) })
	defer letGo()
	do := func(task driver.Task) {
		all.Go(func() {
			if _, err := pool.Do(ctx, task, ignore); err != nil {
				t.Errorf("%s: %v", task.Prompt, err)
			}
		})
	}
	for role := range names {
		task := newTask("holds")
		task.Role = role
		do(task)
	}
	for range names { // both are at work, side by side
		select {
		case <-begun:
		case <-ctx.Done():
			t.Fatal("one agent waits for the other")
		}
	}
	repair := newTask("repair")
	repair.Turn, repair.Session = 2, before.Session
	do(newTask("second"))
	do(repair)
	// The first heartbeat of the repair comes when it has been on the worker for a while.
	for taken := false; !taken && !t.Failed(); {
		about, err := pool.Connection.Client.GetActivityHandle(client.GetActivityHandleOptions{ActivityID: repair.ID}).
			Describe(ctx, client.DescribeActivityOptions{IncludeHeartbeatDetails: true})
		taken = err == nil && about.HasHeartbeatDetails()
		select {
		case <-time.After(20 * time.Millisecond): // between two looks
		case <-ctx.Done():
			t.Fatal("the worker did not take the repair")
		}
	}
	if n := first.began.Load(); n != 2 {
		t.Errorf("the first agent was started %d times while it had a task", n-1)
	}
	letGo()
	all.Wait()
	if a, b := first.began.Load(), second.began.Load(); a != 4 || b != 1 {
		t.Errorf("the agents were started %d and %d times", a, b)
	}
}
