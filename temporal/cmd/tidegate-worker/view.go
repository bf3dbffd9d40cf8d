package main

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/dispatch"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/face/screen"
	"github.com/tidegate/tidegate/temporal"
)

// view shows what a worker does: one screen on a terminal, lines in a pipe.
type view struct {
	call   cli.Invocation
	worker *temporal.Worker
	began  time.Time

	mu     sync.Mutex
	screen *screen.Screen // nil in a pipe
	tasks  []*shownTask   // in the order in which they began
	last   []screen.Event
	done   int
	failed int
	ending bool
}

// shownTask is a task that goes on.
type shownTask struct {
	temporal.Notice
	began time.Time
	tool  string
}

func newView(call cli.Invocation, w *temporal.Worker) *view {
	v := &view{call: call, worker: w, began: time.Now()}
	if call.Terminal.Size != nil {
		v.screen = screen.NewScreen(call.Stdout)
	}
	return v
}

// begin shows the worker until the function that it returns is called.
func (v *view) begin(ctx context.Context) (end func()) {
	if v.screen == nil {
		v.line("takes tasks of the queue %s with %s", v.worker.Queue, strings.Join(v.worker.Names(), ", "))
	}
	stopped := context.AfterFunc(ctx, func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.ending = true
		if v.screen == nil {
			v.line("takes no more tasks; %s to finish", report.Counted(len(v.tasks), "task"))
		}
	})
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			v.draw()
			select {
			case <-done:
				return
			case <-tick.C:
			}
		}
	}()
	return func() {
		stopped()
		close(done)
		<-ended
		if v.screen != nil {
			v.screen.Leave()
		}
		v.line("ended: %s done, %d failed", report.Counted(v.done, "task"), v.failed)
	}
}

func (v *view) line(format string, args ...any) {
	// Nothing can be done about a stdout that is gone.
	_, _ = fmt.Fprintf(v.call.Stdout, "%s %s\n", time.Now().UTC().Format(time.RFC3339), report.Visible(fmt.Sprintf(format, args...)))
}

// notice takes what happened to a task.
func (v *view) notice(n temporal.Notice) {
	v.mu.Lock()
	defer v.mu.Unlock()
	// The words of a home are shown, not all of them.
	n.Task.Job, n.Task.ID = tidegate.Cut(n.Task.Job), tidegate.Cut(n.Task.ID)
	id := n.Task.ID
	at := slices.IndexFunc(v.tasks, func(t *shownTask) bool { return t.Task.ID == id })
	switch {
	case n.Event != nil:
		if at >= 0 && n.Event.Kind == driver.ToolCall {
			v.tasks[at].tool = n.Event.Tool
		}
		return
	case n.Ended && n.Err != nil:
		v.failed++
		v.happened(n, screen.Failed, "failed: "+n.Err.Error())
	case n.Ended:
		v.done++
		v.happened(n, screen.Done, "answered")
	default:
		v.happened(n, screen.Working, "begun with "+n.Driver)
		v.tasks = append(v.tasks, &shownTask{Notice: n, began: time.Now()})
		return
	}
	if at >= 0 {
		v.tasks = slices.Delete(v.tasks, at, at+1)
	}
}

const mostShown = 6

func (v *view) happened(n temporal.Notice, mark screen.Mark, text string) {
	if v.screen == nil {
		v.line("%s, attempt %d, turn %d: %s (%s)", n.Task.Job, n.Task.Attempt, n.Task.Turn, text, n.Task.ID)
		return
	}
	v.last = append(v.last, screen.Event{Time: time.Now().Format(time.TimeOnly), Job: n.Task.Job, Text: text, Mark: mark})
	v.last = v.last[max(0, len(v.last)-mostShown):]
}

func (v *view) draw() {
	if v.screen == nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	columns, rows := v.call.Terminal.Size()
	size := screen.Size{Columns: columns, Rows: rows, Color: v.call.Terminal.Color}
	v.screen.Draw(v.now().Lines(size), "tidegate-worker "+v.worker.Queue, size)
}

// now is the worker at this moment.
func (v *view) now() screen.View {
	status := "takes tasks"
	hints := []dispatch.Next{{Command: "Ctrl-C", About: "takes no more tasks and finishes these"}}
	if v.ending {
		status = "finishes its tasks"
		hints = []dispatch.Next{{Command: "Ctrl-C", About: "gives these tasks back at once"}}
	}
	shown := screen.View{
		Name: v.worker.Queue, Question: v.worker.Name + " with " + strings.Join(v.worker.Names(), ", "), Status: status,
		Events: v.last, Hints: hints, Top: -1,
		Meters: []screen.Meter{
			{Name: "done", Used: float64(v.done), Limit: math.Inf(1), Text: fmt.Sprint(v.done)},
			{Name: "failed", Used: float64(v.failed), Limit: math.Inf(1), Text: fmt.Sprint(v.failed)},
		},
	}
	for _, t := range v.tasks {
		shown.Jobs = append(shown.Jobs, screen.Job{
			ID: t.Task.Job, Mark: screen.Working, State: fmt.Sprintf("turn %d", t.Task.Turn), Agent: t.Driver,
			Minutes: time.Since(t.began).Minutes(), Attempt: t.Task.Attempt, Tool: t.tool,
		})
	}
	return shown
}
