package engine

import (
	"context"
	"errors"
	"sync"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// Pool runs tasks. Do joins a task that has already begun under the same ID; when
// ctx ends, Do leaves the task, while Cancel stops it and removes what is left of
// it: for one that has its answer, the folder that was kept for a repair. Do calls
// note from one goroutine, and not after it has returned.
type Pool interface {
	Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error)
	Cancel(ctx context.Context, id string) error
}

// Local is the pool of this process: each task is a goroutine that starts an
// agent on this machine.
type Local struct {
	// Drivers lists the drivers of a role in the order in which they are tried: the
	// next one where the one before is not available.
	Drivers func(role string) []driver.Driver

	mu    sync.Mutex
	tasks map[string]*localTask
	kept  map[string]func() // by task id: removes what was kept for the repair of its answer
}

type localTask struct {
	stop   context.CancelCauseFunc
	done   chan struct{} // closed when answer and err are there
	answer driver.Answer
	err    error
}

var errStopped = errors.New("the task was stopped")

// Do runs a task, or joins it. It returns an error of the driver, or that of ctx.
func (p *Local) Do(ctx context.Context, task driver.Task, note func(driver.Event)) (driver.Answer, error) {
	t := p.join(ctx, task, note)
	select {
	case <-ctx.Done():
	case <-t.done:
	}
	select {
	case <-t.done: // also where both have come
		return t.answer, t.err
	default:
		return driver.Answer{}, context.Cause(ctx)
	}
}

func (p *Local) join(ctx context.Context, task driver.Task, note func(driver.Event)) *localTask {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.tasks[task.ID]; t != nil {
		return t
	}
	running, stop := context.WithCancelCause(context.WithoutCancel(ctx))
	t := &localTask{stop: stop, done: make(chan struct{})}
	if p.tasks == nil {
		p.tasks, p.kept = map[string]*localTask{}, map[string]func(){}
	}
	p.tasks[task.ID] = t
	go func() {
		defer stop(nil)
		var by driver.Driver
		t.answer, by, t.err = p.run(running, task, note)
		p.mu.Lock()
		delete(p.tasks, task.ID)
		if t.err == nil && t.answer.Session != "" && task.Turn == 1 {
			p.kept[task.ID] = func() { driver.Forget(by, t.answer.Session) }
		}
		p.mu.Unlock()
		close(t.done)
	}()
	return t
}

func (p *Local) run(ctx context.Context, task driver.Task, note func(driver.Event)) (answer driver.Answer, by driver.Driver, err error) {
	err = &driver.Error{Kind: driver.Unavailable, Message: "no agent is configured for the role " + task.Role}
	for _, by = range p.Drivers(task.Role) {
		answer, err = by.Run(ctx, task, note)
		var failure *driver.Error
		if !errors.As(err, &failure) || failure.Kind != driver.Unavailable || failure.SessionGone {
			break
		}
	}
	return answer, by, err
}

// Cancel stops a task and waits until nothing is left of it, or ctx ends.
func (p *Local) Cancel(ctx context.Context, id string) error {
	p.mu.Lock()
	t := p.tasks[id]
	p.mu.Unlock()
	if t != nil {
		t.stop(errStopped)
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-t.done:
		}
	}
	p.mu.Lock()
	forget := p.kept[id]
	delete(p.kept, id)
	p.mu.Unlock()
	if forget != nil {
		forget()
	}
	return nil
}
