package research

import (
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
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/base/report"
	"github.com/tidegate/tidegate/internal/face/cli"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/stage"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Works is what pages may have done that costs something: they start runs, confirm their
// plans, continue runs and retry jobs, and ask about reports, all within an amount of
// money. It is the home of the runs that it drives, and they rest when it ends. Its agents
// are those of the person's own file, in cells. It raises no limit and accepts nothing.
type Works struct {
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

// worksFile is claimed by the one process that may spend in a home.
const worksFile = ".tidegate.work"

// OpenWorks allows work that costs at most limit USD in 24 hours, what was spent before a
// restart counted. It returns LOCK_HELD where another process has works in the same home,
// and the errors of reading and writing what was spent.
func (e *Env) OpenWorks(ctx context.Context, limit float64) (*Works, error) {
	folder, err := e.desk().Reach.Open("home", filepath.Dir(e.Home))
	if err != nil {
		return nil, err
	}
	w := &Works{Env: e, folder: folder, driving: map[string]chan struct{}{}, stopped: map[string]string{}}
	if w.claim, err = folder.Claim(worksFile, nil); err != nil {
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

// settleKilled finds out what the works of a killed process have cost.
func (w *Works) settleKilled(ctx context.Context) error {
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

func (w *Works) spentBy(ctx context.Context, manifest string) (float64, error) {
	board, err := job.OpenBoard(ctx, w.desk(), manifest)
	if err != nil {
		return 0, err
	}
	defer board.Close()
	return board.Spent().CostUSD, nil
}

// End stops what goes on, as an interrupt stops a command, and waits until agents have ended.
func (w *Works) End() {
	w.stop()
	w.ends.Wait()
	w.claim.Release()
	w.folder.Close()
}

// Left is what may still be spent, of how much, in USD.
func (w *Works) Left() (left, limit float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.left(), w.ledger.limit
}

// Stopped is why the last work on a run ended, where its files do not say it.
func (w *Works) Stopped(id string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stopped[id]
}

// Question is what a person asks for on a page, as they wrote it.
type Question struct {
	Text, MostUSD, Perspectives, Sensitivity, Length, Template, Language, Audience string
}

// order is what a command would read from its flags. No field names a file: what a command
// would take for one is refused. It returns INVALID_ARGS.
func (w *Works) order(ctx context.Context, q Question) (order, error) {
	invalid := func(name, given, must string) (order, error) {
		return order{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs(name, tidegate.Cut(given)), "%s must be %s, got %q", name, must, tidegate.Cut(given))
	}
	if _, err := strconv.Atoi(q.Perspectives); q.Perspectives != "" && err != nil {
		return invalid("the number of perspectives", q.Perspectives, "a whole number")
	}
	if q.Template != "" && !slices.Contains(evidence.TemplateNames(), q.Template) {
		return invalid("the template", q.Template, "one of "+strings.Join(evidence.TemplateNames(), ", "))
	}
	if q.Sensitivity == "" {
		q.Sensitivity = "normal"
	}
	if !slices.Contains([]string{"normal", "restricted", "no_web"}, q.Sensitivity) {
		return invalid("the reach", q.Sensitivity, "normal, restricted or no_web")
	}
	if most, err := strconv.ParseFloat(q.MostUSD, 64); err != nil || !(most > 0) || math.IsInf(most, 0) {
		return invalid("the most that it may cost", q.MostUSD, "a number of USD above 0")
	}
	flags := map[string][]string{"origins": {run.OriginsShown}}
	for name, value := range map[string]string{"max-cost": q.MostUSD, "perspectives": q.Perspectives, "sensitivity": q.Sensitivity, "length": q.Length, "template": q.Template, "language": q.Language, "for": q.Audience} {
		if value != "" {
			flags[name] = []string{value}
		}
	}
	return w.orderOf(ctx, cli.Invocation{Args: []string{q.Text}, Flags: flags})
}

// prepare finds the agents for a question, and out that they can work.
func (w *Works) prepare(ctx context.Context, q Question) (order, *crew, error) {
	o, err := w.order(ctx, q)
	if err != nil {
		return order{}, nil, err
	}
	c, err := w.ownCrew(ctx, ofRun("", "", nil, cellsTyped{}))
	if err != nil {
		return order{}, nil, err
	}
	if q.Length+q.Template+q.Language+q.Audience == "" && c.shape != (evidence.Shape{}) {
		o.shape = c.shape // a recorded report is what it was asked to be
	}
	if err = c.mayAsk(ctx, w.Env, o); err == nil {
		if err = c.answers(o.question); err == nil {
			err = w.readyFor(ctx, c, o.budget["max_cost_usd"])
		}
	}
	if err != nil {
		c.close()
		return order{}, nil, err
	}
	return o, c, nil
}

// Draft is the plan for a question before its perspectives are named. Nothing is spent, and
// nothing is written. It returns INVALID_ARGS for what is wrong with the question, and
// INVALID_STATE, NOT_CONFINED and BUDGET_EXHAUSTED where no agent can work on it.
func (w *Works) Draft(ctx context.Context, q Question) (report.Report, error) {
	o, c, err := w.prepare(ctx, q)
	if err != nil {
		return report.Report{}, err
	}
	defer c.close()
	if left, _ := w.Left(); o.budget["max_cost_usd"] > left {
		_, err := w.reserve("", 0, o.budget["max_cost_usd"])
		return report.Report{}, err
	}
	p, err := w.planOf(ctx, o, c, "", run.DefaultBudget(o.budget), nil)
	return p.report(), err
}

// Begin makes a run for a question and lets the planner name its perspectives. It returns the
// id of the run, and the errors of [Works.Draft].
func (w *Works) Begin(ctx context.Context, q Question) (id string, err error) {
	o, c, err := w.prepare(ctx, q)
	if err != nil {
		return "", err
	}
	paid, err := w.reserve("", 0, o.budget["max_cost_usd"])
	if err != nil {
		c.close()
		return "", err
	}
	manifest, err := w.begin(ctx, o, c, "")
	if err != nil {
		c.close()
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
	w.drive(manifest, c, paid)
	return id, nil
}

// ownCrew are agents that the person's own file names, in cells, whatever else it says. It
// returns INVALID_STATE where the file names none, and for a run that has others.
func (w *Works) ownCrew(ctx context.Context, wanted crewWanted) (*crew, error) {
	noProject := func(context.Context, string) ([]byte, bool, error) { return nil, false, nil }
	loaded, err := config.Load(ctx, config.Places{Dir: w.Dir, User: w.ConfigDir, Getenv: w.Getenv, At: noProject})
	if err != nil {
		return nil, err
	}
	for _, role := range wanted.roles {
		agent, was := loaded.Agent(role), wanted.kept[role]
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
	wanted.settings = &loaded
	return w.crewOf(ctx, wanted)
}

func withModel(driver, model string) string {
	return strings.TrimSpace(driver + " " + tidegate.Cut(model))
}

// readyFor asks the agents whether they can work, and whether it will be known what they
// cost.
func (w *Works) readyFor(ctx context.Context, c *crew, most float64) error {
	err := c.ready(ctx, map[string]float64{"max_cost_usd": most})
	if e := tidegate.AsError(err); err != nil && e.Code == tidegate.InvalidArgs {
		return tidegate.Errorf(tidegate.InvalidState, e.Details, "a page starts only agents whose cost is known: %s", strings.TrimSuffix(e.Message, ", or leave out --max-cost"))
	}
	return err
}

func (w *Works) reserve(run string, before, most float64) (*worked, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ledger.reserve(run, before, most)
}

func (w *Works) settle(paid *worked, spent float64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err := w.ledger.settle(paid, spent); err != nil {
		slog.Warn("what was spent cannot be noted", "error", err)
	}
}

// drive drives a run until it ends or needs a person, and notes what that cost.
func (w *Works) drive(manifest string, c *crew, paid *worked) {
	id := filepath.Base(filepath.Dir(manifest))
	w.ends.Go(func() {
		err := guarded(func() error {
			defer c.close()
			_, err := (&session{Env: w.Env, face: unseen{}}).drive(w.ctx, manifest, c, 0)
			return err
		})
		spent := paid.Before + paid.Most
		if now, err := w.spentBy(context.WithoutCancel(w.ctx), manifest); err == nil {
			spent = now
		}
		w.settle(paid, spent-paid.Before)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.letGo(id)
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

// unseen is the face of a run that pages show by its files.
type unseen struct{}

func (unseen) begin(context.Context, string) {}
func (unseen) happened(run.Entry)            {}
func (unseen) rest()                         {}

// Bounds are what a run may cost when a page continues it.
type Bounds struct {
	Spent float64
	Limit float64 // of the run, infinite without one
	Most  float64 // that it will be lowered to; the limit where that is less
}

// bounds are those of a run that a board shows.
func (w *Works) bounds(board *job.Board) Bounds {
	left, _ := w.Left()
	b := Bounds{Spent: board.Spent().CostUSD, Limit: board.Policy().Budget.MaxCostUSD}
	b.Most = min(b.Limit, math.Floor((b.Spent+left)*100)/100)
	return b
}

// launch drives a run that nobody drives, after a person's decision about it.
func (w *Works) launch(ctx context.Context, manifest string, check func(*job.Board) error, decide func(context.Context) error) error {
	id := filepath.Base(filepath.Dir(manifest))
	if err := w.take(ctx, id, manifest); err != nil {
		return err
	}
	c, paid, bounds, err := w.ready(ctx, manifest, check)
	if err == nil {
		err = decide(ctx)
	}
	if err == nil && bounds.Most < bounds.Limit {
		_, err = stage.SetBudget(ctx, w.desk(), stage.BudgetInput{ManifestPath: manifest, Name: "max_cost_usd", Value: bounds.Most, Reason: "what serve --allow-work leaves"})
	}
	if err == nil {
		err = w.recordConfinement(ctx, manifest, c)
	}
	if err != nil {
		if paid != nil {
			c.close()
			w.settle(paid, 0)
		}
		w.mu.Lock()
		w.letGo(id)
		w.mu.Unlock()
		return err
	}
	w.drive(manifest, c, paid)
	return nil
}

// Limit has the cost limit of a run set, by somebody who may raise limits. Where the run is
// driven here, the work counts with the new limit first. It returns BUDGET_EXHAUSTED where
// that is more than is left, LOCK_HELD while the run is being started, and the errors of set.
func (w *Works) Limit(id string, most float64, set func() error) error {
	w.mu.Lock()
	var paid *worked
	if i := slices.IndexFunc(w.ledger.works, func(p *worked) bool { return p.Run == id && p.Spent == nil }); i >= 0 {
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
			w.letGo(id)
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

// take makes the caller the driver of a run. A driver that has nothing to do any more is
// about to end, and is waited for. It returns INVALID_STATE for a run that is at work.
func (w *Works) take(ctx context.Context, id, manifest string) error {
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
		left, err := w.isLeft(ctx, manifest)
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

// letGo says that nothing here drives a run any more. The caller holds the lock.
func (w *Works) letGo(id string) {
	close(w.driving[id])
	delete(w.driving, id)
}

// isLeft reports whether what drives a run has nothing to do there any more: a person has to
// say how the run goes on, or the driver has let go of its files.
func (w *Works) isLeft(ctx context.Context, manifest string) (bool, error) {
	board, err := job.OpenBoard(ctx, w.desk(), manifest)
	if err != nil {
		return false, err
	}
	defer board.Close()
	if status := board.Run().Manifest().Status(); status != run.Created && status != run.Running {
		return true, nil
	}
	if _, driven, err := board.Run().Folder().Claimed(run.HomeFile); err != nil || !driven {
		return err == nil, err
	}
	return planWaits(board)
}

// ready makes the agents of a run ready and puts aside what it may cost.
func (w *Works) ready(ctx context.Context, manifest string, check func(*job.Board) error) (*crew, *worked, Bounds, error) {
	none := Bounds{}
	board, err := job.OpenBoard(ctx, w.desk(), manifest)
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
	wanted := ofRun("", "", board.Policy().Agents, cellsTyped{})
	wanted.run = r.Root()
	c, err := w.ownCrew(ctx, wanted)
	if err != nil {
		return nil, nil, none, err
	}
	bounds := w.bounds(board)
	var paid *worked
	if err = w.readyFor(ctx, c, bounds.Most); err == nil {
		paid, err = w.reserve(r.ID(), bounds.Spent, bounds.Most-bounds.Spent)
	}
	if err != nil {
		c.close()
	}
	return c, paid, bounds, err
}

// undecided returns INVALID_STATE for a run that needs a decision, or whose plan waits for a
// yes.
func undecided(board *job.Board) error {
	m := board.Run().Manifest()
	if m.Status() == run.Failed {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", board.Run().ID()), "the run has stopped and needs a decision: %s", strings.Join(failures(m), "; "))
	}
	waits, err := planWaits(board)
	if err == nil && waits {
		err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", board.Run().ID()), "its plan waits for a yes")
	}
	return err
}

func failures(m run.Manifest) []string {
	var all []string
	for _, f := range m.Failures() {
		if f.Get("accepted_at") == nil {
			all = append(all, f.Get("message").Str())
		}
	}
	return all
}

// Continue drives a run that rests or that nobody drives. It returns INVALID_STATE for a run
// that needs a decision, or is at work already, BUDGET_EXHAUSTED, and the errors of
// [Works.Draft].
func (w *Works) Continue(ctx context.Context, id string) error {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	return w.launch(ctx, manifest, undecided, func(ctx context.Context) error { return w.resumePaused(ctx, manifest) })
}

// Bounds are what a run may cost when it is continued.
func (w *Works) Bounds(ctx context.Context, id string) (Bounds, error) {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return Bounds{}, err
	}
	board, err := job.OpenBoard(ctx, w.desk(), manifest)
	if err != nil {
		return Bounds{}, err
	}
	defer board.Close()
	return w.bounds(board), nil
}

// Retry gives a job its tries again, with a note for the next agent, and drives the run
// unless somebody does. It returns the errors of [job.Board.Retry] and [Works.Continue].
func (w *Works) Retry(ctx context.Context, id, jobID, note string) error {
	if strings.TrimSpace(note) == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("note", ""), "the note is missing: what is the next agent to do otherwise?")
	}
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	retry := func(ctx context.Context) error {
		board, err := job.OpenBoard(ctx, w.desk(), manifest)
		if err != nil {
			return err
		}
		defer board.Close()
		_, err = board.Retry(ctx, jobID, note)
		return err
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
func (w *Works) isDriven(ctx context.Context, id, manifest string) (bool, error) {
	w.mu.Lock()
	_, here := w.driving[id]
	w.mu.Unlock()
	if here {
		left, err := w.isLeft(ctx, manifest)
		return !left, err
	}
	folder, err := w.desk().Reach.Open("run", filepath.Dir(manifest))
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
}

// Plan is the plan of a run that a page began and that waits for a yes. It returns
// INVALID_STATE for another run.
func (w *Works) Plan(ctx context.Context, id string) (Planned, error) {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return Planned{}, err
	}
	board, err := job.OpenBoard(ctx, w.desk(), manifest)
	if err != nil {
		return Planned{}, err
	}
	defer board.Close()
	if err := w.confirms(board); err != nil {
		return Planned{}, err
	}
	r, policy := board.Run(), board.Policy()
	o := order{question: r.Manifest().Query(), sensitivity: r.Manifest().Sensitivity(), sources: policy.Sources, frozen: policy.Frozen, search: policy.Search,
		evidence: run.EvidenceChoice{NoGrounding: !policy.Evidence.Grounding, NoReader: !policy.Evidence.Reader}}
	if o.shape, err = r.Shape(); err != nil {
		return Planned{}, err
	}
	wanted := ofRun("", "", policy.Agents, cellsTyped{})
	wanted.run = r.Root()
	c, err := w.ownCrew(ctx, wanted)
	if err != nil {
		return Planned{}, err
	}
	defer c.close()
	if err := c.mayAsk(ctx, w.Env, o); err != nil {
		return Planned{}, err
	}
	p, data, err := (&session{Env: w.Env}).currentPlan(ctx, manifest, o, c)
	if err != nil {
		return Planned{}, err
	}
	doc, err := codec.Parse(data)
	return Planned{p.report(), doc, p.Digest}, err
}

// MayConfirm reports whether the plan of a run waits for a yes that a page may say.
func (w *Works) MayConfirm(board *job.Board) bool { return w.confirms(board) == nil }

// confirms returns INVALID_STATE unless the plan of a run waits, and a page began the run.
func (w *Works) confirms(board *job.Board) error {
	r := board.Run()
	waits, err := planWaits(board)
	if err != nil {
		return err
	}
	if !waits {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "it was decided already: the plan does not wait for a yes")
	}
	begun, err := r.EventsOf(run.EventCreated)
	if err != nil {
		return err
	}
	if len(begun) == 0 || !slices.Contains([]tidegate.By{tidegate.ByToken, tidegate.ByProxy}, tidegate.By(begun[0].Entry.Get("by").Str())) {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("run_id", r.ID()), "no page began this run, so none says yes to its plan: type `tidegate run continue %s`", r.ID())
	}
	return nil
}

// Confirm says yes to the plan with that digest, and drives the run. It returns
// REVISION_MISMATCH where the plan has changed since it was shown, and the errors of
// [Works.Plan] and [Works.Continue].
func (w *Works) Confirm(ctx context.Context, id, digest string) error {
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	return w.launch(ctx, manifest, w.confirms, func(ctx context.Context) error { return step.ConfirmPlan(ctx, w.desk(), manifest, digest) })
}

// Edit replaces the perspectives of a plan that waits for a yes. It returns
// REVISION_MISMATCH where others stand there than those with that digest,
// SCHEMA_VALIDATION_FAILED, and the errors of [Works.Plan].
func (w *Works) Edit(ctx context.Context, id, digest string, perspectives *codec.Value) error {
	now, err := w.Plan(ctx, id)
	if err != nil {
		return err
	}
	if now.Digest != digest {
		return tidegate.Errorf(tidegate.RevisionMismatch, tidegate.Pairs("expected", digest, "actual", now.Digest), "the perspectives have changed since they were shown")
	}
	if err := checkPerspectives(perspectives, "the perspectives"); err != nil {
		return err
	}
	manifest, err := run.ByID(w.Home, id)
	if err != nil {
		return err
	}
	return w.takePerspectives(ctx, manifest, perspectives)
}
