package temporal

import (
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"
)

// workflowName is the name of the workflow that stands in for a standalone
// activity where the server is too old for those.
const workflowName = "tidegate_one_task"

// bounds are where a task may be on the server, and how long.
type bounds struct {
	Start time.Duration `json:"start_ns"` // until a worker takes it
	Close time.Duration `json:"close_ns"` // from then until it ends
	Lost  time.Duration `json:"lost_ns"`  // without a heartbeat until another worker begins it
	Queue string        `json:"queue"`    // of the worker
}

// mostStarts is how often a task is begun where workers are lost.
const mostStarts = 5

// retries begins a task again where its worker was lost, but not where a worker that
// says it lives does not end it in time: that was the attempt.
func retries() *temporal.RetryPolicy {
	return &temporal.RetryPolicy{InitialInterval: time.Second, BackoffCoefficient: 1, MaximumAttempts: mostStarts,
		NonRetryableErrorTypes: []string{"TemporalTimeout:StartToClose"}}
}

// oneTask does one task.
func oneTask(ctx workflow.Context, m taskMessage, t bounds) (*answerMessage, error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{
		TaskQueue:              t.Queue,
		ScheduleToStartTimeout: t.Start, StartToCloseTimeout: t.Close, HeartbeatTimeout: t.Lost,
		WaitForCancellation: true, RetryPolicy: retries(),
	})
	var answer answerMessage
	if err := workflow.ExecuteActivity(ctx, activityName, m).Get(ctx, &answer); err != nil {
		return nil, err
	}
	return &answer, nil
}
