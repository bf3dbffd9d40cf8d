package replay

import (
	"time"

	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/work/run"
)

// openBoard is the jobs of the copy as it stands. The board stays open from one
// change to the next as long as the changes are about jobs, so that doing a job again
// costs the same however many there are.
func (s *scene) openBoard() (*job.Board, error) {
	w := s.walk
	w.now = s.desk.Now()
	if w.pinned != s.desk.Pinned {
		w.closeBoard() // seeds are not drawn under a pinned clock
	}
	w.pinned = s.desk.Pinned
	if w.board != nil {
		return w.board, nil
	}
	desk := s.desk
	desk.Now = func() time.Time { return w.now }
	board, err := job.OpenBoard(s.ctx, desk, s.manifestPath())
	if err != nil {
		return nil, err
	}
	board.Seeds = func(round int64) []byte {
		data, _ := w.kept.Folder().Read(w.kept.Layout().RoundSeed(round)) // without one another comes out
		return data
	}
	w.board = board
	return board, nil
}

// refreshBoard lets the board follow a change that the copy has taken over.
func (w *walk) refreshBoard(c change) error {
	if w.board == nil {
		return nil
	}
	var ids []string
	for _, l := range c.lines {
		switch l.event {
		case run.EventLeased, run.EventAnswered, run.EventVerdict, run.EventEnded, run.EventExtended:
			if job.OpensOthers(l.get("job_id")) {
				w.closeBoard()
				return nil
			}
			ids = append(ids, l.get("job_id"))
		case run.EventIngested, run.EventFetched, run.EventSearched, run.EventFiles: // what belongs to those
		default:
			w.closeBoard()
			return nil
		}
	}
	return w.board.Refresh(ids...)
}

func (w *walk) closeBoard() {
	if w.board != nil {
		w.board.Close()
		w.board = nil
	}
}
