package temporal

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
	"go.temporal.io/api/workflowservice/v1"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protopath"
	"google.golang.org/protobuf/reflect/protorange"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/known/timestamppb"
)

// machineAhead is a server as a machine sees it whose clock is ahead of the server's, or
// behind: every time in an answer is earlier, or later. It returns its address.
func machineAhead(t testing.TB, server string, by time.Duration) string {
	t.Helper()
	methods := workflowservice.File_temporal_api_workflowservice_v1_service_proto.Services().ByName("WorkflowService").Methods()
	return proxy.Start(t, server, func(_ context.Context, method string, forward func() ([]byte, error)) ([]byte, error) {
		reply, err := forward()
		found := methods.ByName(protoreflect.Name(method))
		if err != nil || found == nil {
			return reply, err
		}
		kind, err := protoregistry.GlobalTypes.FindMessageByName(found.Output().FullName())
		if err != nil {
			return nil, err
		}
		message := kind.New()
		if err := proto.Unmarshal(reply, message.Interface()); err != nil {
			return nil, err
		}
		err = protorange.Range(message, func(at protopath.Values) error {
			if m, is := at.Index(-1).Value.Interface().(protoreflect.Message); is {
				if stamp, is := m.Interface().(*timestamppb.Timestamp); is {
					stamp.Seconds -= int64(by / time.Second)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		return proto.Marshal(message.Interface())
	})
}

// TestClocksDiffer sets the clocks of a home and its worker hours apart from each other
// and from the server's: the home finds the worker, the task is done once, and one that
// does not end is ended at its limit.
func TestClocksDiffer(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		for name, ahead := range map[string]struct{ home, worker time.Duration }{
			"home ahead, worker behind": {7 * time.Hour, -9 * time.Hour},
			"home behind, worker ahead": {-7 * time.Hour, 9 * time.Hour},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				queue, a := newQueue(), answering("done ")
				a.do = func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
					if task.Prompt == "stuck" {
						<-ctx.Done()
						return driver.Answer{}, context.Cause(ctx)
					}
					return driver.Answer{Text: "done"}, nil
				}
				beginWorker(t, Options{Address: machineAhead(t, address, ahead.worker)}, &Worker{Queue: queue}, a)
				pool, stuck := poolOn(t, Options{Address: machineAhead(t, address, ahead.home)}, queue), newTask("stuck")
				if err := pool.Ready(t.Context(), []string{"researcher"}); err != nil {
					t.Error(err)
				}
				if answer, err := pool.Do(t.Context(), newTask(""), ignore); err != nil || answer.Text != "done" {
					t.Errorf("%+v, %v", answer, err)
				}
				pool.closeMargin, stuck.Limits.Deadline = time.Millisecond, time.Second
				_, err := pool.Do(t.Context(), stuck, ignore)
				if failure := new(driver.Error); !errors.As(err, &failure) || failure.Kind != driver.Deadline {
					t.Errorf("a task that does not end: %v", err)
				}
				if n := a.began.Load(); n != 2 {
					t.Errorf("two tasks began %d times", n)
				}
			})
		}
	})
}
