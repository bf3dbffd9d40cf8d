package temporal_test

import (
	"context"
	"errors"
	"os/exec"
	"time"

	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/worker"
	"go.temporal.io/sdk/workflow"
)

// UpdateReport asks whether the report of a run still stands. It runs where the runs are.
func UpdateReport(ctx context.Context, run string) (status int, err error) {
	out := exec.CommandContext(ctx, "tidegate", "run", "update", run, "--format", "json")
	var exit *exec.ExitError
	if err = out.Run(); errors.As(err, &exit) {
		return exit.ExitCode(), nil // 1: a sentence no longer stands; 4: a page could not be reached
	}
	return 0, err
}

// UpdateDaily is the workflow that the schedule starts.
func UpdateDaily(ctx workflow.Context, run string) (status int, err error) {
	ctx = workflow.WithActivityOptions(ctx, workflow.ActivityOptions{StartToCloseTimeout: time.Hour})
	err = workflow.ExecuteActivity(ctx, UpdateReport, run).Get(ctx, &status)
	return status, err
}

// Example_schedule asks every day whether the report of a run still stands.
func Example_schedule() {
	ctx := context.Background()
	c, err := client.Dial(client.Options{HostPort: "localhost:7233"})
	if err != nil {
		return
	}
	defer c.Close()
	_, err = c.ScheduleClient().Create(ctx, client.ScheduleOptions{
		ID:     "update-harbour",
		Spec:   client.ScheduleSpec{Intervals: []client.ScheduleIntervalSpec{{Every: 24 * time.Hour}}},
		Action: &client.ScheduleWorkflowAction{Workflow: UpdateDaily, Args: []any{"harbour"}, TaskQueue: "updates"},
	})
	if err != nil {
		return
	}
	w := worker.New(c, "updates", worker.Options{})
	w.RegisterWorkflow(UpdateDaily)
	w.RegisterActivity(UpdateReport)
	_ = w.Run(worker.InterruptCh())
}
