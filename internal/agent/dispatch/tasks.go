package dispatch

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/work/audit"
	"github.com/tidegate/tidegate/internal/work/library"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Task is a question or an audit that a page asked for.
type Task struct {
	Kind  string // TaskAsk or TaskAudit
	Of    string // the run that is asked about
	What  string // the question, or what the report is called
	Begun time.Time
	Ended bool
	Wrong string // why it has no result
}

// The kinds of tasks.
const (
	TaskAsk   = "ask"
	TaskAudit = "audit"
)

const (
	mostTasks = 4  // at once
	keptTasks = 50 // that have ended
)

// Tasks are those of a kind, the newest first; those about one run where it is named.
func (w *Background) Tasks(kind, of string) []Task {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []Task
	for _, t := range slices.Backward(w.tasks) {
		if t.Kind == kind && (of == "" || t.Of == of) {
			out = append(out, *t)
		}
	}
	return out
}

// open makes room for a task. It returns LOCK_HELD where enough are under way.
func (w *Background) open(t Task) (*Task, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	under := 0
	for _, t := range w.tasks {
		if !t.Ended {
			under++
		}
	}
	if under >= mostTasks {
		return nil, tidegate.Errorf(tidegate.LockHeld, tidegate.Pairs("tasks", under), "%d questions and audits are under way: wait until one has ended", under)
	}
	if len(w.tasks) >= mostTasks+keptTasks {
		w.tasks = slices.Delete(w.tasks, 0, 1+slices.IndexFunc(w.tasks, func(t *Task) bool { return t.Ended }))
	}
	t.Begun = w.Now()
	w.tasks = append(w.tasks, &t)
	return &t, nil
}

// drop forgets a task that did not begin.
func (w *Background) drop(t *Task) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.tasks = slices.DeleteFunc(w.tasks, func(other *Task) bool { return other == t })
}

// run does a task in the background.
func (w *Background) run(t *Task, work func(ctx context.Context) error) {
	w.ends.Go(func() {
		err := guarded(func() error {
			return work(tidegate.WithActor(w.ctx, tidegate.Actor{Kind: tidegate.Person, By: tidegate.ByToken}))
		})
		w.mu.Lock()
		defer w.mu.Unlock()
		t.Ended = true
		if err != nil {
			t.Wrong = tidegate.AsError(err).Message
		}
	})
}

// Audit holds a report that a person handed over against its sources. The channel has the id of
// the audit when it is made, "" where it could not be. It returns the errors of [foreign.Read],
// and LOCK_HELD where enough is under way.
func (w *Background) Audit(name string, body []byte) (made <-chan string, err error) {
	if len(body) == 0 {
		return nil, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("report", name), "choose a file that is not empty")
	}
	t, err := w.open(Task{Kind: TaskAudit, What: name})
	if err != nil {
		return nil, err
	}
	if _, err := foreign.Read(name, body); err != nil {
		w.drop(t)
		return nil, err
	}
	id := make(chan string, 1)
	w.run(t, func(ctx context.Context) error {
		defer close(id)
		result, err := audit.Make(ctx, w.OwnDesk(), w.OwnPages(), audit.Input{Report: string(body), Name: name, Dir: w.Dir, Home: store.Audits.Home(w.Home)})
		if err == nil {
			id <- result.AuditID
		}
		return err
	})
	return id, nil
}

// Ask puts a further question about the report of a run. It returns INVALID_ARGS for what is
// wrong with the question, the errors of [library.Open] and [library.AskOf], and those of
// [Background.Draft].
func (w *Background) Ask(ctx context.Context, id, question, mostUSD string) error {
	most, err := strconv.ParseFloat(mostUSD, 64)
	if err != nil || !(most > 0) || math.IsInf(most, 0) {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("most_usd", tidegate.Cut(mostUSD)), "the most that it may cost must be a number of USD above 0, got %q", tidegate.Cut(mostUSD))
	}
	t, err := w.open(Task{Kind: TaskAsk, Of: id, What: strings.TrimSpace(question)})
	if err != nil {
		return err
	}
	answer, err := w.prepareAnswer(ctx, id, question, most)
	if err != nil {
		w.drop(t)
		return err
	}
	w.run(t, answer)
	return nil
}

// prepareAnswer finds the passages and the agents for a question, and puts aside what it may
// cost.
func (w *Background) prepareAnswer(ctx context.Context, id, question string, most float64) (answer func(context.Context) error, err error) {
	item, err := library.Open(ctx, w.OwnDesk(), w.Home, w.Dir, id)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			item.Close()
		}
	}()
	asked, err := library.AskOf(ctx, question, item)
	if err != nil {
		return nil, err
	}
	passages, err := asked.Passages(ctx)
	if err != nil {
		return nil, err
	}
	var t *Team
	var paid *reservation
	if len(passages) > 0 { // else no agent is asked
		if t, err = w.ownTeam(ctx, ToAnswer("", "", CellChoice{})); err != nil {
			return nil, err
		}
		if err = w.readyFor(ctx, t, most); err == nil {
			paid, err = w.reserve("", 0, most)
		}
		if err != nil {
			t.Close()
			return nil, err
		}
	}
	return func(ctx context.Context) error {
		defer item.Close()
		_, spent, err := w.Answer(ctx, asked, run.DefaultBudget(map[string]float64{"max_cost_usd": most}), func(context.Context) (*Team, error) { return t, nil })
		if paid != nil {
			w.settle(paid, spent.CostUSD)
		}
		return err
	}, nil
}

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
