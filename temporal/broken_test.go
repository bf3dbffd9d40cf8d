package temporal

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/temporal/internal/proxy"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// TestBrokenStreamEndsNoTask breaks the stream of the first call of every method, as
// proxies do that are replaced: most after the server has done what it was asked for. The
// agent still works once, and home has its answer.
func TestBrokenStreamEndsNoTask(t *testing.T) {
	for _, code := range []codes.Code{codes.Internal, codes.Canceled} {
		t.Run(code.String(), func(t *testing.T) {
			onBoth(t, func(t *testing.T, address string) {
				var mu sync.Mutex
				calls := map[string]int{}
				seen := make(chan struct{})
				address = proxy.Start(t, address, func(_ context.Context, method string, forward func() ([]byte, error)) ([]byte, error) {
					mu.Lock()
					calls[method]++
					n := calls[method]
					mu.Unlock()
					if method == "RecordActivityTaskHeartbeat" && n == 2 {
						close(seen)
					}
					if n > 1 {
						return forward()
					}
					// A task that is handed out in vain is that of a worker that was lost.
					if !strings.HasPrefix(method, "Poll") && method != "RespondWorkflowTaskCompleted" {
						if reply, err := forward(); err != nil {
							return reply, err
						}
					}
					return nil, status.Error(code, "the stream broke")
				})
				queue, o := newQueue(), Options{Address: address, Wait: time.Minute}
				a := &agent{do: func(ctx context.Context, _ driver.Task, _ func(driver.Event)) (driver.Answer, error) {
					select {
					case <-seen: // the heartbeat after the one that broke
						return driver.Answer{Text: "text"}, nil
					case <-ctx.Done():
						return driver.Answer{}, context.Cause(ctx)
					}
				}}
				beginWorker(t, o, &Worker{Queue: queue}, a)
				answer, err := poolOn(t, o, queue).Do(t.Context(), newTask("broken"), ignore)
				if err != nil || answer.Text != "text" || a.began.Load() != 1 {
					t.Errorf("%+v, %v; the agent was started %d times", answer, err, a.began.Load())
				}
				mu.Lock()
				defer mu.Unlock()
				for _, method := range []string{"RecordActivityTaskHeartbeat", "RespondActivityTaskCompleted"} {
					if calls[method] == 0 {
						t.Errorf("%s was never called", method)
					}
				}
			})
		})
	}
}
