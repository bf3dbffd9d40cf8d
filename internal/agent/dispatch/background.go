package dispatch

import (
	"bytes"
	"context"
	"log/slog"
	"math"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/engine"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/work/brief"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
	"github.com/tidegate/tidegate/tool"
)

// Background is what pages may have done that costs something: they start runs, confirm their
// plans, continue runs and retry jobs, and ask about reports, all within an amount of
// money. It is the home of the runs that it drives, and they rest when it ends. Its agents
// are those of the person's own file, in cells. It raises no limit and accepts nothing.
type Background struct {
	*Env
	ctx    context.Context // of what goes on
	stop   context.CancelFunc
	claim  *artifact.Claim
	folder *artifact.Folder
	ends   sync.WaitGroup

	mu      sync.Mutex
	ledger  *ledger
	driving map[string]chan struct{} // runs, by id; closed when what drives it has ended
	stopped map[string]string        // why a run is no longer driven, where that is not in its files
	tasks   []*Task
}

// claimFile is claimed by the one process that may spend in a home.
const claimFile = ".tidegate.work"

// OpenBackground allows work that costs at most limit USD in 24 hours, what was spent before a
// restart counted. It returns LOCK_HELD where another process does so in the same home,
// and the errors of reading and writing what was spent.
func (e *Env) OpenBackground(ctx context.Context, limit float64) (*Background, error) {
	folder, err := e.OwnDesk().Reach.Open("home", filepath.Dir(e.Home))
	if err != nil {
		return nil, err
	}
	w := &Background{Env: e, folder: folder, driving: map[string]chan struct{}{}, stopped: map[string]string{}}
	if w.claim, err = folder.Claim(claimFile, nil); err != nil {
		folder.Close()
		return nil, err
	}
	if w.ledger, err = openLedger(folder, e.Now, limit); err == nil {
		err = w.settleKilled(ctx)
	}
	if err != nil {
		w.claim.Release()
		folder.Close()
		return nil, err
	}
	w.ctx, w.stop = context.WithCancel(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Agent}))
	return w, nil
}

// settleKilled finds out what the work of a killed process have cost.
func (w *Background) settleKilled(ctx context.Context) error {
	for _, paid := range w.ledger.works {
		if paid.Spent != nil {
			continue
		}
		spent := paid.Most // where nobody knows
		if manifest, err := run.ByID(w.Home, paid.Run); err == nil {
			if now, err := w.spentBy(ctx, manifest); err == nil {
				spent = now - paid.Before
			}
		}
		if err := w.ledger.settle(paid, spent); err != nil {
			return err
		}
	}
	return nil
}

func (w *Background) spentBy(ctx context.Context, manifest string) (usd float64, err error) {
	err = w.onBoard(ctx, manifest, func(board *job.Board) error {
		usd = board.Spent().CostUSD
		return nil
	})
	return usd, err
}

// onBoard looks at the jobs of a run.
func (w *Background) onBoard(ctx context.Context, manifest string, look func(*job.Board) error) error {
	board, err := job.OpenBoard(ctx, w.OwnDesk(), manifest)
	if err != nil {
		return err
	}
	defer board.Close()
	return look(board)
}

// End stops what goes on, as an interrupt stops a command, and waits until agents have ended.
func (w *Background) End() {
	w.stop()
	w.ends.Wait()
	w.claim.Release()
	w.folder.Close()
}

// Left is what may still be spent, of how much, in USD.
func (w *Background) Left() (left, limit float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.left(), w.ledger.limit
}

// Drives reports whether a run is driven here. A driver lets go of the files of its run a
// moment before it ends.
func (w *Background) Drives(id string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.driving[id] != nil
}

// Stopped is why the last work on a run ended, where its files do not say it.
func (w *Background) Stopped(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped[id]
}

// Question is what a person asks for on a page or by the API, as they wrote it: the texts of
// options by name.
type Question map[string]string

var questionType = brief.Texts()

// JSONSchema is the schema of the arguments.
func (*Question) JSONSchema() *codec.Value { return tool.SchemaOf(questionType) }

// Decode takes the arguments; it returns INVALID_ARGS.
func (q *Question) Decode(args *codec.Value) error {
	if _, err := tool.Decoded(questionType, args); err != nil {
		return err
	}
	*q = Question{}
	for _, m := range args.Members() {
		(*q)[m.Key] = m.Value.Str()
		if f, ok := m.Value.Float(); ok {
			(*q)[m.Key] = strconv.FormatFloat(f, 'f', -1, 64)
		}
	}
	return nil
}

// prepare finds the agents for a question, and out that they can work.
func (w *Background) prepare(ctx context.Context, q Question) (Order, error) {
	asked, err := brief.OfPage(q)
	if err != nil {
		return Order{}, err
	}
	o := Order{Brief: asked}
	o.ConfirmPlan = true
	t, err := w.ownTeam(ctx, ForRun("", "", nil, CellChoice{}))
	if err != nil {
		return Order{}, err
	}
	if err = w.Take(ctx, &o, t); err == nil {
		if err = t.answers(o.Query); err == nil {
			err = w.readyFor(ctx, t, o.Budget["max_cost_usd"])
		}
	}
	if err != nil {
		t.Close()
		return Order{}, err
	}
	return o, nil
}

// Lacks says what keeps a page from starting agents: the errors of finding those that the
// person's own file names.
func (w *Background) Lacks(ctx context.Context) error {
	t, err := w.ownTeam(ctx, ForRun("", "", nil, CellChoice{}))
	if err == nil {
		t.Close()
	}
	return err
}

// Begin makes a run for a question and lets the planner name its perspectives. It returns the
// id of the run, INVALID_ARGS for what is wrong with the question, and INVALID_STATE,
// NOT_CONFINED and BUDGET_EXHAUSTED where no agent can work on it.
func (w *Background) Begin(ctx context.Context, q Question) (id string, err error) {
	o, err := w.prepare(ctx, q)
	if err != nil {
		return "", err
	}
	paid, err := w.reserve("", 0, o.Budget["max_cost_usd"])
	if err != nil {
		o.Team.Close()
		return "", err
	}
	manifest, err := w.MakeRun(ctx, o)
	if err != nil {
		o.Team.Close()
		w.settle(paid, 0)
		return "", err
	}
	id = filepath.Base(filepath.Dir(manifest))
	w.mu.Lock()
	paid.Run, w.driving[id] = id, make(chan struct{})
	err = w.ledger.write()
	w.mu.Unlock()
	if err != nil {
		slog.Warn("which run money is put aside for cannot be noted", "error", err)
	}
	w.drive(manifest, o.Team, paid)
	return id, nil
}

// ownTeam are agents that the person's own file names, in cells, whatever else it says. It
// returns INVALID_STATE where the file names none, and for a run that has others.
func (w *Background) ownTeam(ctx context.Context, wanted Wanted) (*Team, error) {
	noProject := func(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
	loaded, err := config.Load(ctx, config.Places{Dir: w.Dir, User: w.ConfigDir, Getenv: w.Getenv, At: noProject})
	if err != nil {
		return nil, err
	}
	for _, role := range wanted.Roles {
		agent, was := loaded.Agent(role), wanted.Kept[role]
		if agent.Driver == "" {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("role", role, "help", "tidegate setup"),
				"a page starts only agents that your own %s names, and it names none as %s: `tidegate setup` asks which to use", config.FileName, role)
		}
		// A price of the person's file is that of its own model.
		if was.Driver != "" && (was.Driver != Scheme(agent.Driver) || agent.Model != "" && was.Model != agent.Model) {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("role", role, "agent", was.Driver, "model", was.Model),
				"the %s of this run is %s, and your own %s names %s: `tidegate run continue` drives it with the agents that it has", role,
				withModel(was.Driver, was.Model), config.FileName, withModel(Scheme(agent.Driver), agent.Model))
		}
	}
	loaded.Unconfined = false
	wanted.Settings = &loaded
	return w.Team(ctx, wanted)
}

func withModel(driver, model string) string {
	return strings.TrimSpace(driver + " " + tidegate.Cut(model))
}

// readyFor asks the agents whether they can work, and whether it will be known what they
// cost.
func (w *Background) readyFor(ctx context.Context, t *Team, most float64) error {
	err := t.Ready(ctx, map[string]float64{"max_cost_usd": most})
	if e := tidegate.AsError(err); err != nil && e.Code == tidegate.InvalidArgs {
		return tidegate.Errorf(tidegate.InvalidState, e.Details, "a page starts only agents whose cost is known: %s", strings.TrimSuffix(e.Message, ", or leave out --max-cost"))
	}
	return err
}

func (w *Background) reserve(run string, before, most float64) (*reservation, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.reserve(run, before, most)
}

func (w *Background) settle(paid *reservation, spent float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ledger.settle(paid, spent); err != nil {
		slog.Warn("what was spent cannot be noted", "error", err)
	}
}

// drive drives a run until it ends or needs a person, and notes what that cost.
func (w *Background) drive(manifest string, t *Team, paid *reservation) {
	id := filepath.Base(filepath.Dir(manifest))
	w.ends.Go(func() {
		err := guarded(func() error {
			defer t.Close()
			_, err := w.Env.Drive(w.ctx, manifest, t, 0, nil)
			return err
		})
		spent := paid.Before + paid.Most
		if now, err := w.spentBy(context.WithoutCancel(w.ctx), manifest); err == nil {
			spent = now
		}
		w.settle(paid, spent-paid.Before)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.release(id)
		delete(w.stopped, id)
		if err != nil {
			w.stopped[id] = tidegate.AsError(err).Message
			slog.Warn("a run is no longer driven", "run", id, "error", err)
		}
	})
}

// guarded turns a panic into an error: it must not end the pages of others.
func guarded(work func() error) (err error) {
	defer func() {
		if value := recover(); value != nil {
			slog.Error("work panicked", "value", value, "stack", string(debug.Stack()))
			err = tidegate.Errorf(tidegate.Internal, nil, "this failed for a reason that is not known; the log of the server has it")
		}
	}()
	return work()
}

// Bounds are what a run may cost when a page continues it.
type Bounds struct {
	Spent float64
	Limit float64 // of the run, infinite without one
	Most  float64 // that it will be lowered to; the limit where that is less
}

// mostUnlimited is what a run without a limit may cost more when it goes on, in USD: one run
// must not keep the money of a day.
const mostUnlimited = 5

// bounds are those of a run that a board shows.
func (w *Background) bounds(board *job.Board) Bounds {
	left, _ := w.Left()
	b := Bounds{Spent: board.Spent().CostUSD, Limit: board.Policy().Budget.MaxCostUSD}
	b.Most = min(b.Limit, math.Floor((b.Spent+left)*100)/100)
	if math.IsInf(b.Limit, 1) {
		b.Most = min(b.Most, b.Spent+mostUnlimited)
	}
	return b
}

// launch drives a run that nobody drives, after a person's decision about it.
func (w *Background) launch(ctx context.Context, manifest string, check func(*job.Board) error, decide func(context.Context) error) error {
	id := filepath.Base(filepath.Dir(manifest))
	if err := w.claimRun(ctx, id, manifest); err != nil {
		return err
	}
	t, paid, bounds, err := w.ready(ctx, manifest, check)
	if err == nil {
		err = decide(ctx)
	}
	if err == nil && bounds.Most < bounds.Limit {
		_, err = stage.Limit(ctx, w.OwnDesk(), stage.LimitInput{ManifestPath: manifest, Name: "max_cost_usd", Value: bounds.Most, Reason: "what serve --allow-work leaves"})
	}
	if err == nil {
		err = w.RecordConfinement(ctx, manifest, t)
	}
	if err != nil {
		if paid != nil {
			t.Close()
			w.settle(paid, 0)
		}
		w.mu.Lock()
		w.release(id)
		w.mu.Unlock()
		return err
	}
	w.drive(manifest, t, paid)
	return nil
}

// Limit has the cost limit of a run set, by somebody who may raise limits. Where the run is
// driven here, the work counts with the new limit first. It returns BUDGET_EXHAUSTED where
// that is more than is left, LOCK_HELD while the run is being started, and the errors of set.
func (w *Background) Limit(id string, most float64, set func() error) error {
	w.mu.Lock()
	var paid *reservation
	if i := slices.IndexFunc(w.ledger.works, func(p *reservation) bool { return p.Run == id && p.Spent == nil }); i >= 0 {
		paid = w.ledger.works[i]
	}
	_, driven := w.driving[id]
	var err error
	switch {
	case driven && paid == nil:
		err = tidegate.Errorf(tidegate.LockHeld, tidegate.Pairs("run_id", id), "the run is being started: try again in a moment")
	case !driven:
		w.driving[id] = make(chan struct{}) // nothing starts it with the limit that it had
		defer func() {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.release(id)
		}()
	case most > paid.Before+paid.Most:
		err = w.ledger.add(paid, most-paid.Before-paid.Most)
	}
	w.mu.Unlock()
	if err != nil {
		return err
	}
	return set()
}

// endTime is what the driver of a run has to end behind the last line that it wrote.
const endTime = 5 * time.Second

// claimRun makes the caller the driver of a run. A driver that has nothing to do any more is
// about to end, and is waited for. It returns INVALID_STATE for a run that is at work.
func (w *Background) claimRun(ctx context.Context, id, manifest string) error {
	until := time.After(endTime)
	for {
		w.mu.Lock()
		ended, taken := w.driving[id]
		if !taken {
			w.driving[id] = make(chan struct{})
		}
		w.mu.Unlock()
		if !taken {
			return nil
		}
		left, err := w.hasEnded(ctx, manifest)
		if err != nil {
			return err
		}
		if left {
			select {
			case <-ended:
				continue
			case <-until:
			case <-ctx.Done():
			case <-w.ctx.Done():
			}
		}
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", id), "it was decided already: the run is at work")
	}
}

// release says that nothing here drives a run any more. The caller holds the lock.
func (w *Background) release(id string) {
	close(w.driving[id])
	delete(w.driving, id)
}

// hasEnded reports whether what drives a run has nothing to do there any more: a person has to
// say how the run goes on, or the driver has let go of its files.
func (w *Background) hasEnded(ctx context.Context, manifest string) (ended bool, err error) {
	err = w.onBoard(ctx, manifest, func(board *job.Board) error {
		status := board.Run().Manifest().Status()
		_, driven, err := board.Run().Folder().Claimed(run.HomeFile)
		if ended = !driven || status != run.Created && status != run.Running; err == nil && !ended {
			ended, err = PlanWaits(board)
		}
		return err
	})
	return ended, err
}

// ready makes the agents of a run ready and puts aside what it may cost.
func (w *Background) ready(ctx context.Context, manifest string, check func(*job.Board) error) (*Team, *reservation, Bounds, error) {
	none := Bounds{}
	board, err := job.OpenBoard(ctx, w.OwnDesk(), manifest)
	if err != nil {
		return nil, nil, none, err
	}
	defer board.Close()
	r := board.Run()
	if _, driven, err := r.Folder().Claimed(run.HomeFile); err != nil {
		return nil, nil, none, err
	} else if driven {
		return nil, nil, none, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "it was decided already: another process drives the run")
	}
	if status := r.Manifest().Status(); status.Final() {
		return nil, nil, none, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "the run is %s", status)
	}
	if err := check(board); err != nil {
		return nil, nil, none, err
	}
	t, err := w.teamOf(ctx, board)
	if err != nil {
		return nil, nil, none, err
	}
	bounds := w.bounds(board)
	var paid *reservation
	if err = w.readyFor(ctx, t, bounds.Most); err == nil {
		paid, err = w.reserve(r.ID(), bounds.Spent, bounds.Most-bounds.Spent)
	}
	if err != nil {
		t.Close()
	}
	return t, paid, bounds, err
}

// undecided returns INVALID_STATE for a run that needs a decision, or whose plan waits for a
// yes.
func undecided(board *job.Board) error {
	m := board.Run().Manifest()
	if m.Status() == run.Failed {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", board.Run().ID()), "the run has stopped and needs a decision: %s", engine.Why(m))
	}
	waits, err := PlanWaits(board)
	if err == nil && waits {
		err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", board.Run().ID()), "its plan waits for a yes")
	}
	return err
}

// Continue drives a run that rests or that nobody drives. It returns INVALID_STATE for a run
// that needs a decision, or is at work already, BUDGET_EXHAUSTED, and the errors of
// [Background.Draft].
func (w *Background) Continue(ctx context.Context, id string) error {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	return w.launch(ctx, manifest, undecided, func(ctx context.Context) error { return w.ResumePaused(ctx, manifest) })
}

// Bounds are what a run may cost when it is continued.
func (w *Background) Bounds(ctx context.Context, id string) (b Bounds, err error) {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return b, err
	}
	err = w.onBoard(ctx, manifest, func(board *job.Board) error {
		b = w.bounds(board)
		return nil
	})
	return b, err
}

// Retry gives a job its tries again, with a note for the next agent, and drives the run
// unless somebody does. It returns the errors of [job.Board.Retry] and [Background.Continue].
func (w *Background) Retry(ctx context.Context, id, jobID, note string, seen int) error {
	if strings.TrimSpace(note) == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("note", ""), "the note is missing: what is the next agent to do otherwise?")
	}
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	retry := func(ctx context.Context) error {
		return w.onBoard(ctx, manifest, func(board *job.Board) error {
			_, err := board.Retry(ctx, jobID, note, seen)
			return err
		})
	}
	if driven, err := w.isDriven(ctx, id, manifest); err != nil {
		return err
	} else if driven {
		return retry(ctx)
	}
	return w.launch(ctx, manifest, func(board *job.Board) error {
		_, err := board.Job(jobID)
		return err
	}, retry)
}

// isDriven reports whether something drives a run and sees what is decided about it.
func (w *Background) isDriven(ctx context.Context, id, manifest string) (bool, error) {
	w.mu.Lock()
	_, here := w.driving[id]
	w.mu.Unlock()
	if here {
		left, err := w.hasEnded(ctx, manifest)
		return !left, err
	}
	folder, err := w.OwnDesk().Reach.Open("run", filepath.Dir(manifest))
	if err != nil {
		return false, err
	}
	defer folder.Close()
	_, driven, err := folder.Claimed(run.HomeFile)
	return driven, err
}

// Planned is the plan of a run with its perspectives.
type Planned struct {
	report.Report
	Perspectives *codec.Value // the document
	Digest       string       // of its bytes, which a yes is for
	Price        string       // with the agents of this server, in words
	Instead      string       // which of them stand in for others that the run was planned for; "" for none
}

// Plan is the plan of a run that waits for a yes. It returns INVALID_STATE for another run.
func (w *Background) Plan(ctx context.Context, id string) (Planned, error) {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return Planned{}, err
	}
	board, err := job.OpenBoard(ctx, w.OwnDesk(), manifest)
	if err != nil {
		return Planned{}, err
	}
	defer board.Close()
	if err := w.confirms(board); err != nil {
		return Planned{}, err
	}
	var o Order
	if err := o.settingsOf(board.Run()); err != nil {
		return Planned{}, err
	}
	t, err := w.teamOf(ctx, board)
	if err != nil {
		return Planned{}, err
	}
	defer t.Close()
	o.Shaped = true // the run says how its report is to be
	if err := w.Take(ctx, &o, t); err != nil {
		return Planned{}, err
	}
	p, data, err := w.CurrentPlan(ctx, manifest, o)
	if err != nil {
		return Planned{}, err
	}
	out := Planned{Report: p.Report(), Price: p.Estimate.cost(), Digest: p.Digest}
	var others []string
	for role, was := range board.Policy().Agents {
		if now := Scheme(t.Agents[role].Driver); was.Driver != "" && was.Driver != now {
			others = append(others, role+": "+now+" instead of "+was.Driver)
		}
	}
	if slices.Sort(others); len(others) > 0 {
		out.Instead = "This server's own agents work on it (" + strings.Join(others, ", ") + "), at this price."
	}
	out.Perspectives, err = codec.Parse(data)
	return out, err
}

// teamOf are the agents of this server for a run. One that a terminal began keeps the names of
// its agents, which must be the same, unless a page says yes, or said it, to its plan: who does
// sees what it costs with the agents that are here.
func (w *Background) teamOf(ctx context.Context, board *job.Board) (*Team, error) {
	kept := board.Policy().Agents
	agreed, err := board.Run().EventsOf(run.EventCreated, run.EventAccepted)
	if err != nil {
		return nil, err
	}
	waits, err := PlanWaits(board)
	if err != nil {
		return nil, err
	}
	here := waits
	for _, e := range agreed {
		here = here || e.Event == run.EventAccepted && e.Entry.Get("what").Str() == "plan" && byPage(e)
	}
	if here && len(agreed) > 0 && !byPage(agreed[0]) {
		kept = nil
	}
	wanted := ForRun("", "", kept, CellChoice{})
	wanted.Run = board.Run().Root()
	return w.ownTeam(ctx, wanted)
}

// byPage holds for a line of the log that somebody made on a page.
func byPage(e run.Entry) bool {
	return slices.Contains([]tidegate.By{tidegate.ByToken, tidegate.ByProxy}, tidegate.By(e.Entry.Get("by").Str()))
}

// MayConfirm reports whether the plan of a run waits for a yes that a page may say.
func (w *Background) MayConfirm(board *job.Board) bool { return w.confirms(board) == nil }

// confirms returns INVALID_STATE unless the plan of a run waits.
func (w *Background) confirms(board *job.Board) error {
	waits, err := PlanWaits(board)
	if err == nil && !waits {
		err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", board.Run().ID()), "it was decided already: the plan does not wait for a yes")
	}
	return err
}

// Confirm says yes to the plan with that digest, with these perspectives in the place of its
// own where they differ, and drives the run. It returns REVISION_MISMATCH where the plan has
// changed since it was shown, SCHEMA_VALIDATION_FAILED, and the errors of [Background.Plan] and
// [Background.Continue].
func (w *Background) Confirm(ctx context.Context, id, digest string, perspectives *codec.Value) error {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	now, err := w.Plan(ctx, id)
	if err != nil {
		return err
	}
	if now.Digest == digest && !sameValue(now.Perspectives, perspectives) {
		if digest, err = w.edit(ctx, manifest, perspectives); err != nil {
			return err
		}
	}
	return w.launch(ctx, manifest, w.confirms, func(ctx context.Context) error { return step.ConfirmPlan(ctx, w.OwnDesk(), manifest, digest) })
}

func sameValue(a, b *codec.Value) bool {
	one, err := codec.Canonical(a)
	other, problem := codec.Canonical(b)
	return err == nil && problem == nil && bytes.Equal(one, other)
}

// edit replaces the perspectives of a plan that waits for a yes, and returns the digest of the
// plan as it is then.
func (w *Background) edit(ctx context.Context, manifest string, perspectives *codec.Value) (digest string, err error) {
	if err := CheckPerspectives(perspectives, "the perspectives"); err != nil {
		return "", err
	}
	if err := w.TakePerspectives(ctx, manifest, perspectives); err != nil {
		return "", err
	}
	now, err := w.Plan(ctx, filepath.Base(filepath.Dir(manifest)))
	return now.Digest, err
}
