package temporal

import (
	"context"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/converter"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
	"google.golang.org/protobuf/encoding/protojson"
)

var update = flag.Bool("update", false, "write the histories of workflows")

// TestKeptHistoriesReplay replays the histories of workflows that earlier programs left on
// servers without standalone activities. If it fails, the workflow has changed in a way
// that breaks tasks which are at work while workers are upgraded: give it another name.
func TestKeptHistoriesReplay(t *testing.T) {
	if *update {
		keepHistories(t)
	}
	files, err := filepath.Glob(filepath.Join("testdata", "histories", "*.json"))
	if err != nil || len(files) != 3 {
		t.Fatalf("%v, %v", files, err)
	}
	replay := func(file string, of any) error {
		replayer := must.Get(worker.NewWorkflowReplayerWithOptions(worker.WorkflowReplayerOptions{
			DataConverter: converter.NewCodecDataConverter(converter.GetDefaultDataConverter(), codec{})}))(t)
		replayer.RegisterWorkflowWithOptions(of, workflow.RegisterOptions{Name: workflowName})
		return replayer.ReplayWorkflowHistoryFromJSONFile(silent{}, file)
	}
	for _, file := range files {
		if err := replay(file, oneTask); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		twice := func(ctx workflow.Context, m taskMessage, to bounds) (*answerMessage, error) {
			if _, err := oneTask(ctx, m, to); err != nil {
				return nil, err
			}
			return oneTask(ctx, m, to)
		}
		if err := replay(file, twice); filepath.Base(file) == "answered.json" && err == nil {
			t.Errorf("%s: another workflow has the same history", file)
		}
	}
}

// keepHistories makes the histories: of a task with an answer, of one whose agent failed
// for good, and of one that was cancelled.
func keepHistories(t *testing.T) {
	queue, o, begun := newQueue(), Options{Address: servers["old"].Address}, make(chan struct{})
	beginWorker(t, o, &Worker{Queue: queue}, &agent{do: func(ctx context.Context, task driver.Task, _ func(driver.Event)) (driver.Answer, error) {
		switch task.Prompt {
		case "failed":
			return driver.Answer{}, &driver.Error{Kind: driver.Auth, Message: "not logged in"}
		case "cancelled":
			close(begun)
			<-ctx.Done()
			return driver.Answer{}, context.Cause(ctx)
		}
		return driver.Answer{Text: "text"}, nil
	}})
	pool := poolOn(t, o, queue)
	for _, name := range []string{"answered", "failed", "cancelled"} {
		task := newTask(name)
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			pool.Do(t.Context(), task, ignore)
		}()
		if name == "cancelled" {
			<-begun
			must.Do(t, pool.Cancel(t.Context(), task.ID))
		}
		<-ended
		history := &historypb.History{}
		for events := pool.Connection.Client.GetWorkflowHistory(t.Context(), task.ID, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
			event := must.Get(events.Next())(t)
			history.Events = append(history.Events, event)
		}
		data, err := protojson.MarshalOptions{Multiline: true}.Marshal(history)
		if err == nil {
			err = os.MkdirAll(filepath.Join("testdata", "histories"), 0o755)
		}
		data = regexp.MustCompile(`"\d+@[^"]*"`).ReplaceAll(data, []byte(`"home"`)) // a process and a machine
		if err == nil {
			err = os.WriteFile(filepath.Join("testdata", "histories", name+".json"), append(data, '\n'), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestWorkersOfTheCurrentVersion gives tasks to workers of a deployment: only those of the
// version that a person made the current one get them.
func TestWorkersOfTheCurrentVersion(t *testing.T) {
	t.Parallel()
	queue, o := newQueue(), Options{Address: servers["standalone"].Address}
	for _, build := range []string{"one", "two"} {
		beginWorker(t, o, &Worker{Queue: queue, Deployment: queue, Build: build}, answering(build))
	}
	pool := poolOn(t, o, queue)
	deployment := pool.Connection.Client.WorkerDeploymentClient().GetHandle(queue)
	ctx, end := context.WithTimeout(t.Context(), 5*time.Minute)
	defer end()
	for _, build := range []string{"two", "one"} {
		for {
			// The server knows a version once its workers have asked for tasks.
			_, err := deployment.SetCurrentVersion(ctx, client.WorkerDeploymentSetCurrentVersionOptions{BuildID: build, IgnoreMissingTaskQueues: true})
			if err == nil {
				break
			}
			select {
			case <-ctx.Done():
				t.Fatal(err)
			case <-time.After(askAgain):
			}
		}
		// Its queues learn of the current version a moment later.
		for worker := ""; worker != build; {
			answer, err := pool.Do(ctx, newTask(""), ignore)
			if err != nil {
				t.Fatalf("no task reaches the worker of the version %s, the last one %q: %v", build, worker, err)
			}
			worker = answer.Text
		}
	}
}
