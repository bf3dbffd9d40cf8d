package engine

import (
	"context"
	"sync"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/run"
)

// news is what others have written into a run since somebody last asked.
type news struct {
	there chan struct{} // has a value while there is news

	mu    sync.Mutex
	lines map[string]int // the last line about each job, by its id
	all   bool
}

// follow collects what is added to the log of a run, until ctx ends. Nobody else
// writes about the jobs of a code change while it is driven.
func follow(ctx context.Context, r *run.Run) *news {
	n := &news{there: make(chan struct{}, 1), lines: map[string]int{}}
	if r == nil {
		return n
	}
	from := 1
	if last, err := r.Folder().LastLine(run.LogFile); err == nil {
		if entry, err := codec.Parse(last.Text); err == nil {
			seq, _ := entry.Get("seq").Int()
			from = int(seq) + 1
		}
	}
	go func() {
		for e, err := range r.Tail(ctx, from) {
			if err != nil {
				return // settling meets the same error, and reports it
			}
			n.noteEntry(e)
		}
	}()
	return n
}

func (n *news) noteEntry(e run.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e.Event {
	case run.EventLeased, run.EventExtended, run.EventAnswered, run.EventVerdict, run.EventEnded:
		n.lines[e.Entry.Get("job_id").Str()] = e.Number
	case run.EventIngested:
		for _, id := range e.Entry.Get("perspective_ids").Elems() {
			n.lines[run.WaveJob(run.Stage(e.Entry.Get("wave").Str()), id.Str())] = e.Number
		}
	case run.EventStatus, run.EventLimit, run.EventFailed, run.EventAccepted, run.EventMoved, run.EventPerspectives, run.EventGranted,
		run.EventRestored, run.EventAdopted:
		n.all = true
	default:
		return
	}
	select {
	case n.there <- struct{}{}:
	default:
	}
}

// collect returns the jobs that have changed, with the last line about each, and
// whether anything else has.
func (n *news) collect() (lines map[string]int, all bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	lines, all = n.lines, n.all
	n.lines, n.all = map[string]int{}, false
	return lines, all
}
