package temporal

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/worker"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// TestDeadWorkersDoNotCount shows a home a worker that last asked for a task a while ago,
// as the server still knows one that was killed, whatever the clock of the home says.
func TestDeadWorkersDoNotCount(t *testing.T) {
	t.Parallel()
	address, queue := servers["standalone"].Address, newQueue()
	beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, answering(""))
	for ago, there := range map[time.Duration]bool{time.Minute: true, 2 * time.Minute: false} {
		way := proxy.Start(t, address, func(_ context.Context, method string, forward func() ([]byte, error)) ([]byte, error) {
			reply, err := forward()
			if err != nil || method != "DescribeTaskQueue" {
				return reply, err
			}
			var about workflowservice.DescribeTaskQueueResponse
			if err := proto.Unmarshal(reply, &about); err != nil {
				return nil, err
			}
			for _, poller := range about.GetPollers() {
				if strings.HasPrefix(poller.GetIdentity(), "test worker") {
					poller.LastAccessTime = timestamppb.New(time.Now().Add(-ago))
				}
			}
			return proto.Marshal(&about)
		})
		for _, ahead := range []time.Duration{0, 7 * time.Hour, -7 * time.Hour} {
			pool := poolOn(t, Options{Address: machineAhead(t, way, ahead)}, queue)
			if !there {
				pool.Patience = time.Millisecond
			}
			if err := pool.Ready(t.Context(), []string{"researcher"}); (err == nil) != there {
				t.Errorf("a worker that asked %v ago, for a home %v ahead: %v", ago, ahead, err)
			}
		}
	}
}

// TestTaskSaysThatItWaits begins a task before there is a worker: the home hears that
// nobody works at it, and then that somebody does.
func TestTaskSaysThatItWaits(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue, begun := newQueue(), make(chan struct{})
		var kinds []driver.EventKind
		_, err := poolOn(t, Options{Address: address}, queue).Do(t.Context(), newTask("wait"), func(e driver.Event) {
			if !e.Passing {
				t.Errorf("%+v is kept", e)
			}
			kinds = append(kinds, e.Kind)
			switch len(kinds) {
			case 1:
				beginWorker(t, Options{Address: address}, &Worker{Queue: queue}, &agent{do: func(ctx context.Context, _ driver.Task, _ func(driver.Event)) (driver.Answer, error) {
					select {
					case <-begun:
						return driver.Answer{Text: "text"}, nil
					case <-ctx.Done():
						return driver.Answer{}, context.Cause(ctx)
					}
				}})
			case 2:
				close(begun)
			}
		})
		if err != nil || len(kinds) != 2 || kinds[0] != driver.Waiting || kinds[1] != driver.Started {
			t.Errorf("%v, %v", kinds, err)
		}
	})
}

// TestWorkerOfAnotherVersion puts a worker that speaks a later version of the messages
// beside one that speaks the home's: every task reaches the second. Where only the first
// is left, the home says which program is too old.
func TestWorkerOfAnotherVersion(t *testing.T) {
	t.Parallel()
	queue, o := newQueue(), Options{Address: servers["standalone"].Address}
	later := worker.New(connect(t, o).Client, queueOf(queue, "exec", Version+1), worker.Options{})
	later.RegisterActivityWithOptions(func(_ context.Context, m taskMessage) (*answerMessage, error) {
		t.Errorf("a worker of version %d was given a task of version %d", Version+1, m.Version)
		return nil, permanent(versionError(Version+1, "later", "the home", "later"))
	}, activity.RegisterOptions{Name: activityName})
	must.Do(t, later.Start())
	t.Cleanup(later.Stop)
	pool := poolOn(t, o, queue)
	pool.Patience = time.Millisecond
	// The server knows the worker once it has asked for tasks.
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		err := pool.Ready(t.Context(), []string{"researcher"})
		if err != nil && strings.Contains(err.Error(), "the program on this home is too old") {
			break
		}
		if err == nil || time.Now().After(deadline) {
			t.Fatalf("with a worker of a later version alone: %v", err)
		}
	}
	pool.Patience = 0
	beginWorker(t, o, &Worker{Queue: queue}, answering("done "))
	if err := pool.Ready(t.Context(), []string{"researcher"}); err != nil {
		t.Error(err)
	}
	for range 10 {
		if answer, err := pool.Do(t.Context(), newTask("x"), ignore); err != nil || answer.Text != "done x" {
			t.Errorf("%+v, %v", answer, err)
		}
	}
}
