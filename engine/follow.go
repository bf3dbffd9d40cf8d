package engine

import (
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/tidegate/tidegate/codec"
	"github.com/tidegate/tidegate/run"
)

// news is what others have written into a run since somebody last asked.
type news struct {
	there chan struct{} // has a value while there is some

	mu  sync.Mutex
	ids map[string]bool
	all bool
}

// follow collects what is added to the log of a run, until ctx ends.
func follow(ctx context.Context, r *run.Run) *news {
	n := &news{there: make(chan struct{}, 1), ids: map[string]bool{}}
	from := 1
	if last, err := r.Folder().LastLine(run.AuditFile); err == nil {
		if entry, err := codec.Parse(last.Text); err == nil {
			seq, _ := entry.Get("seq").Int()
			from = int(seq) + 1
		}
	}
	go func() {
		for e, err := range r.Tail(ctx, from) {
			if err != nil {
				return // settling meets the same, and says so
			}
			n.add(e)
		}
	}()
	return n
}

func (n *news) add(e run.Entry) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch e.Event {
	case run.EventLeased, run.EventExtended, run.EventAnswered, run.EventVerdict, run.EventEnded:
		n.ids[e.Entry.Get("job_id").Str()] = true
	case run.EventIngested:
		for _, id := range e.Entry.Get("perspective_ids").Elems() {
			n.ids[run.WaveJob(run.Stage(e.Entry.Get("wave").Str()), id.Str())] = true
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

// take returns the jobs that have changed, and whether anything else has.
func (n *news) take() (ids []string, all bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	ids, all = slices.Sorted(maps.Keys(n.ids)), n.all
	n.ids, n.all = map[string]bool{}, false
	return ids, all
}
