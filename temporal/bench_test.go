package temporal

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
)

// BenchmarkTrivialTasks compares tasks that an agent answers at once with bare
// activities of the SDK, on two workers each, in turns on one server. The ratio is
// tasks per second of the pool over those of bare activities.
func BenchmarkTrivialTasks(b *testing.B) {
	o := Options{Address: servers["standalone"].Address}
	queue, bareQueue := newQueue(), newQueue()
	const parallel, asking, each = 4, 8, 10
	for range 2 {
		beginWorker(b, o, &Worker{Queue: queue, Parallel: map[string]int{"exec": parallel}}, answering("answer "))
		bare := worker.New(connect(b, o).Client, bareQueue, worker.Options{MaxConcurrentActivityExecutionSize: parallel, DisableWorkflowWorker: true})
		bare.RegisterActivityWithOptions(func(_ context.Context, prompt string) (string, error) { return "answer " + prompt, nil }, activity.RegisterOptions{Name: "bare"})
		must.Do(b, bare.Start())
		b.Cleanup(bare.Stop)
	}
	pool, bareClient := poolOn(b, o, queue), connect(b, o).Client
	many := func(one func(prompt string) error) time.Duration {
		began := time.Now()
		var all sync.WaitGroup
		for i := range asking {
			all.Go(func() {
				for j := range each {
					if err := one(fmt.Sprint("prompt ", i, " ", j)); err != nil {
						b.Error(err)
					}
				}
			})
		}
		all.Wait()
		return time.Since(began)
	}
	task := func(prompt string) error {
		_, err := pool.Do(b.Context(), newTask(prompt), func(driver.Event) {})
		return err
	}
	bareTask := func(prompt string) error {
		handle, err := bareClient.ExecuteActivity(b.Context(), client.StartActivityOptions{
			ID: newTask(prompt).ID, TaskQueue: bareQueue, StartToCloseTimeout: time.Minute}, "bare", prompt)
		if err != nil {
			return err
		}
		var answer string
		return handle.Get(b.Context(), &answer)
	}
	many(task) // both are warm before the first turn that counts
	many(bareTask)
	var ours, theirs time.Duration
	n := 0
	for b.Loop() {
		ours += many(task)
		theirs += many(bareTask)
		n += asking * each
	}
	b.ReportMetric(float64(n)/ours.Seconds(), "tasks/s")
	b.ReportMetric(float64(n)/theirs.Seconds(), "bare/s")
	b.ReportMetric(theirs.Seconds()/ours.Seconds(), "ratio")
}
