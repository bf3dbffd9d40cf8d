package dispatch

import (
	"encoding/json"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// ledgerFile keeps, beside the runs, what pages have spent, so that a restart does not
// make it available again.
const ledgerFile = "work.json"

const ledgerVersion = "work.v1"

// workDay is the time in which all work together may cost what pages are allowed.
const workDay = 24 * time.Hour

// mostUnderWay is how much work goes on at once. What an agent costs is known when it has
// answered, so the work of many small limits would together cost far more than they say.
const mostUnderWay = 8

// ledger is the money that pages may spend.
type ledger struct {
	folder *artifact.Folder
	now    func() time.Time
	limit  float64 // USD in a workDay
	works  []*reservation
}

// reservation is one piece of work: until it has ended, it counts with the most that it may cost.
type reservation struct {
	Run    string    `json:"run"`        // "" for a question about a report
	At     time.Time `json:"at"`         // when it began, or ended
	Before float64   `json:"before_usd"` // what the run had cost before
	Most   float64   `json:"most_usd"`
	Spent  *float64  `json:"spent_usd"` // null until it has ended
}

type ledgerDocument struct {
	SchemaVersion string         `json:"schema_version"`
	Works         []*reservation `json:"works"`
}

// openLedger reads what was spent. It returns SCHEMA_VALIDATION_FAILED for a file that does
// not say it, and READ_FAILED.
func openLedger(folder *artifact.Folder, now func() time.Time, limit float64) (*ledger, error) {
	l := &ledger{folder: folder, now: now, limit: limit}
	data, err := folder.Read(ledgerFile)
	if tidegate.CodeOf(err) == tidegate.FileNotFound {
		return l, nil
	}
	if err != nil {
		return nil, err
	}
	var doc ledgerDocument
	if err := json.Unmarshal(data, &doc); err != nil || doc.SchemaVersion != ledgerVersion || slices.ContainsFunc(doc.Works, func(w *reservation) bool { return w == nil || !(w.Most >= 0) || w.Spent != nil && !(*w.Spent >= 0) }) {
		return nil, tidegate.Errorf(tidegate.SchemaValidationFailed, tidegate.Pairs("path", folder.Path(), "file", ledgerFile), "%s in %s does not say what was spent: remove it when you know", ledgerFile, folder.Path())
	}
	l.works = doc.Works
	return l, nil
}

// left is what may still be spent.
func (l *ledger) left() float64 {
	left := l.limit
	for _, w := range l.works {
		switch {
		case w.Spent == nil:
			left -= w.Most
		case l.now().Sub(w.At) < workDay:
			left -= *w.Spent
		}
	}
	return max(0, left)
}

// allows returns BUDGET_EXHAUSTED where an amount is not left.
func (l *ledger) allows(most float64) error {
	if left := l.left(); !(most > 0) || most > left {
		return tidegate.Errorf(tidegate.BudgetExhausted, tidegate.Pairs("left_usd", left, "asked_usd", most),
			"%.2f USD are left of the %.2f that `serve --allow-work` allows in 24 hours, work under way counted with the most that it may cost", left, l.limit)
	}
	return nil
}

// reserve puts aside what a piece of work may cost. It returns BUDGET_EXHAUSTED where that
// is not left, LOCK_HELD where enough is under way, and WRITE_FAILED.
func (l *ledger) reserve(run string, before, most float64) (*reservation, error) {
	if err := l.allows(most); err != nil {
		return nil, err
	}
	under := 0
	for _, w := range l.works {
		if w.Spent == nil {
			under++
		}
	}
	if under >= mostUnderWay {
		return nil, tidegate.Errorf(tidegate.LockHeld, tidegate.Pairs("under_way", under), "%d runs and questions are under way: wait until one has ended", under)
	}
	w := &reservation{Run: run, At: l.now(), Before: before, Most: most}
	l.works = append(l.works, w)
	if err := l.write(); err != nil {
		l.works = l.works[:len(l.works)-1]
		return nil, err
	}
	return w, nil
}

// add puts aside more for work that is under way. It returns the errors of reserve.
func (l *ledger) add(w *reservation, more float64) error {
	if err := l.allows(more); err != nil {
		return err
	}
	w.Most += more
	if err := l.write(); err != nil {
		w.Most -= more
		return err
	}
	return nil
}

// settle notes what a piece of work has cost. It returns WRITE_FAILED; until it could be
// written, the work counts after a restart with the most that it may cost.
func (l *ledger) settle(w *reservation, spent float64) error {
	spent = max(0, spent)
	w.Spent, w.At = &spent, l.now()
	return l.write()
}

func (l *ledger) write() error {
	l.works = slices.DeleteFunc(l.works, func(w *reservation) bool { return w.Spent != nil && l.now().Sub(w.At) >= workDay })
	data, err := codec.MarshalFile(ledgerDocument{ledgerVersion, l.works})
	if err != nil {
		return err
	}
	return l.folder.Write(ledgerFile, data)
}
