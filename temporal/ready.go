package temporal

import (
	"context"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	enumspb "go.temporal.io/api/enums/v1"
	taskqueuepb "go.temporal.io/api/taskqueue/v1"
	"go.temporal.io/api/workflowservice/v1"
)

// readyTime is how long Ready waits for a worker that may have just been started.
const readyTime = 10 * time.Second

// Ready returns INVALID_STATE for the first agent that no worker of its role's queue
// offers.
func (p *Pool) Ready(ctx context.Context, roles []string) error {
	var server clock
	if err := p.patiently(ctx, func() (err error) {
		server, err = p.Connection.clock(ctx)
		return err
	}); err != nil {
		return p.Connection.failed(err)
	}
	asked := map[string]bool{}
	for _, role := range roles {
		queue, agent := p.Queue(role), p.Agent(role)
		if asked[queueOf(queue, agent, Version)] {
			continue
		}
		asked[queueOf(queue, agent, Version)] = true
		until := time.Now().Add(min(readyTime, orDefault(p.Patience, readyTime)))
		for {
			there, err := p.polled(ctx, server, queueOf(queue, agent, Version))
			if err != nil {
				return p.Connection.failed(err)
			}
			if there {
				break
			}
			if time.Now().After(until) {
				return p.noWorker(ctx, server, role, queue, agent)
			}
			select {
			case <-ctx.Done():
				return p.Connection.failed(context.Cause(ctx))
			case <-time.After(askAgain):
			}
		}
	}
	return nil
}

// otherVersions is how many versions before and after its own a home looks for where no
// worker speaks its own.
const otherVersions = 3

// noWorker says what to do where no worker of a queue has an agent.
func (p *Pool) noWorker(ctx context.Context, server clock, role, queue, agent string) error {
	for version := max(1, Version-otherVersions); version <= Version+otherVersions; version++ {
		// A server that does not answer has said enough.
		if there, err := p.polled(ctx, server, queueOf(queue, agent, version)); version == Version || err != nil || !there {
			continue
		}
		failure := versionError(version, "their program", "this home", "every worker of the queue "+queue)
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("agent", agent, "role", role, "queue", queue, "help", failure.Help), "%s", failure.Message)
	}
	return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("agent", agent, "role", role, "queue", queue, "help", "tidegate-worker --queue "+queue+" --agent "+agent),
		"no worker of the queue %s has %s for the %s: start one with `tidegate-worker --queue %s --agent %s` on a machine that has it", queue, agent, role, queue, agent)
}

// staleAfter is how long ago a worker that lives can have asked for a task: it asks once a
// minute. The server remembers those that were killed for five.
const staleAfter = 90 * time.Second

// polled reports whether a worker that lives takes tasks of a queue.
func (p *Pool) polled(ctx context.Context, server clock, queue string) (bool, error) {
	about, err := p.Connection.Client.DescribeTaskQueue(ctx, queue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
	return slices.ContainsFunc(about.GetPollers(), func(poller *taskqueuepb.PollerInfo) bool {
		return server.now().Sub(poller.GetLastAccessTime().AsTime()) < staleAfter
	}), err
}

// clock is the clock of a server, which may differ by hours from that of this machine.
type clock struct{ said, heard time.Time }

func (c clock) now() time.Time { return c.said.Add(time.Since(c.heard)) }

// clockQueue is a queue without tasks, where homes learn the time of the server.
const clockQueue = "tidegate.clock"

// askTime is how long a home asks for a task there, at most.
const askTime = time.Minute

// clock learns the time of the server. No answer has it, but the server does say when it
// heard of those who ask for tasks: the home is one of them for a moment, and is told when
// that was, by the clock by which it is told the same of workers.
func (c *Connection) clock(ctx context.Context) (clock, error) {
	ctx, end := context.WithTimeout(ctx, askTime)
	defer end()
	identity, ended := newID(), make(chan error, 1)
	go func() {
		_, err := c.Client.WorkflowService().PollActivityTaskQueue(ctx, &workflowservice.PollActivityTaskQueueRequest{
			Namespace: c.namespace, TaskQueue: &taskqueuepb.TaskQueue{Name: clockQueue}, Identity: identity,
		})
		ended <- err
	}()
	for {
		about, err := c.Client.DescribeTaskQueue(ctx, clockQueue, enumspb.TASK_QUEUE_TYPE_ACTIVITY)
		if err != nil {
			return clock{}, err
		}
		for _, poller := range about.GetPollers() {
			if poller.GetIdentity() == identity {
				return clock{poller.GetLastAccessTime().AsTime(), time.Now()}, nil
			}
		}
		select {
		case err := <-ended:
			if err != nil {
				return clock{}, err
			}
		case <-time.After(askAgain):
		}
	}
}
