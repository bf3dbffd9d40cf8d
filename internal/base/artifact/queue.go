package artifact

import (
	"context"
	"sync"
)

// queues let the goroutines of this process come to the lock of a folder one
// after the other, in the order in which they asked. The lock itself is taken by
// asking again and again; with many waiting, some would wait for a long time. Two
// paths of one folder have two queues, and then the lock alone decides.
var queues = struct {
	mu     sync.Mutex
	byPath map[string]*queue
}{byPath: map[string]*queue{}}

type queue struct {
	turn chan struct{} // holds a value while somebody has the turn
	in   int           // those that wait and the one that has the turn
}

// join waits for the turn in the queue of the folder at path. Whoever gets it
// calls leave in the end. If ctx ends first, it returns why.
func join(ctx context.Context, path string) (leave func(), err error) {
	queues.mu.Lock()
	q := queues.byPath[path]
	if q == nil {
		q = &queue{turn: make(chan struct{}, 1)}
		queues.byPath[path] = q
	}
	q.in++
	queues.mu.Unlock()
	out := func() {
		queues.mu.Lock()
		defer queues.mu.Unlock()
		if q.in--; q.in == 0 {
			delete(queues.byPath, path)
		}
	}
	select {
	case q.turn <- struct{}{}: // senders are served in the order in which they came
		return func() { <-q.turn; out() }, nil
	case <-ctx.Done():
		out()
		return nil, context.Cause(ctx)
	}
}
