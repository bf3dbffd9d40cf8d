package temporal

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/test/must"
)

// TestKeptSessionsEnd has a worker keep what a repair needs while no home ever says
// that the attempt has ended.
func TestKeptSessionsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		deadline time.Duration
		want     time.Duration
	}{
		"as long as a lease": {20 * time.Minute, 50 * time.Minute},
		"no deadline":        {0, keepLimit},
		"a deadline before":  {-time.Hour, keepLimit},
		"no end":             {1<<63 - 1, keepLimit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &Worker{kept: map[string]keptSession{}}
				began := time.Now()
				forgotten := make(chan time.Duration, 1)
				task := driver.Task{Turn: 1, Limits: driver.Limits{Deadline: c.deadline}}
				w.keep(task, &answerMessage{Answer: driver.Answer{Session: "s"}}, func() { forgotten <- time.Since(began) })
				if after := <-forgotten; after != c.want {
					t.Errorf("forgotten after %v, want %v", after, c.want)
				}
				if _, there := w.take("s"); there {
					t.Error("the session is still there")
				}
			})
		})
	}
}

// TestOnlyWhatMayBeRepairedIsKept lists answers whose folder is removed at once.
func TestOnlyWhatMayBeRepairedIsKept(t *testing.T) {
	answer := driver.Answer{Session: "s"}
	for name, c := range map[string]struct {
		turn int
		out  answerMessage
		kept bool
	}{
		"a first answer":    {1, answerMessage{Answer: answer}, true},
		"a repair":          {2, answerMessage{Answer: answer}, false},
		"a failure":         {1, answerMessage{Answer: answer, Error: &driver.Error{Kind: driver.Flood}}, false},
		"without a session": {1, answerMessage{}, false},
	} {
		w, forgotten := &Worker{kept: map[string]keptSession{}}, false
		w.keep(driver.Task{Turn: c.turn}, &c.out, func() { forgotten = true })
		if _, there := w.take("s"); there != c.kept || forgotten == c.kept {
			t.Errorf("%s: kept %v, forgotten %v", name, there, forgotten)
		}
	}
}

// TestWorkerLearnsOfTheEnd tells a worker that an attempt with an answer has ended. A
// home that was started anew can do so, too.
func TestWorkerLearnsOfTheEnd(t *testing.T) {
	onBoth(t, func(t *testing.T, address string) {
		queue := newQueue()
		w := &Worker{Queue: queue}
		beginWorker(t, Options{Address: address}, w, &agent{do: func(context.Context, driver.Task, func(driver.Event)) (driver.Answer, error) {
			return driver.Answer{Text: "text", Session: newID()}, nil
		}})
		ended, other := newTask("ended"), newTask("other")
		for _, task := range []driver.Task{ended, other} {
			must.Get(poolOn(t, Options{Address: address}, queue).Do(t.Context(), task, ignore))(t)
		}
		if n := len(w.sessions()); n != 2 {
			t.Fatalf("%d sessions are kept, want 2", n)
		}
		must.Do(t, poolOn(t, Options{Address: address}, queue).Cancel(t.Context(), ended.ID))
		for deadline := time.Now().Add(time.Minute); len(w.sessions()) != 1; time.Sleep(10 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("the sessions %v are kept, want one", w.sessions())
			}
		}
	})
}
