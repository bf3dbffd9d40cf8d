package engine

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
)

// attempt is one agent at one job: at most two turns, the second to repair a
// refused answer.
type attempt struct {
	engine *orchestrator
	held   job.TakenOver
	role   string
	stop   context.CancelCauseFunc

	state   state         // only the home's loop uses it, and since
	since   int           // how many answers there were when it began
	granted chan struct{} // has a value once it may have an agent

	began  time.Time          // when this home began its part
	events bytes.Buffer       // the agent's own stream, one line each
	called map[string]float64 // tools, in all turns

	lookups *git.Lookup // what it has asked about the code; nil before it may

	heard   time.Time // when its agent began or last did something
	waits   time.Time // since when it waits for a machine; zero where it does not
	resting sync.Mutex
	sleeps  int           // how many of the home's it has kept
	idle    time.Duration // in which nobody worked at it

	kept bool // the pool keeps the folder of the first turn for the repair
	goes bool // the next home goes on with the attempt
}

// state is where an attempt is.
type state int

const (
	coming state = iota // being leased, or waiting for its agent
	atWork              // its agent works
	judged              // its answer is being judged, or waits for its repair
)

// ending is how an attempt ended: accepted, refused, or by a failure of its
// agent.
type ending struct {
	failure *driver.Error
}

// dialogue is what the turns of an attempt pass on.
type dialogue struct {
	faults   []job.Fault // of the last answer
	warnings []job.Fault
	session  string
	fresh    bool      // the session of a repair is gone: the whole task is given once more
	since    time.Time // that it waits for an agent; zero where it has one
}

// run continues the attempt from where it is. An error is one of the run, not of
// the agent.
func (a *attempt) run(ctx context.Context) (ending, error) {
	if a.held.Token == "" {
		if err := a.lease(ctx); err != nil {
			return ending{}, err
		}
	}
	a.began = a.engine.Desk.Now()
	a.called = map[string]float64{}
	maps.Copy(a.called, a.held.Called)
	a.events.Write(a.held.Events)
	a.kept = a.held.Session != ""
	defer a.tidy()
	d := &dialogue{faults: a.held.Faults, warnings: a.held.Warnings, session: a.held.Session, since: a.began}
	if a.held.Answers > 0 && !a.held.Judged {
		verdict, err := a.engine.board.JudgeKept(ctx, a.held, a.held.Answers)
		if err == nil {
			verdict, err = a.online(ctx, verdict, a.held.Answers)
		}
		if err != nil {
			return ending{}, a.left(ctx, err)
		}
		if verdict.Accepted || verdict.State != job.Leased {
			return ending{}, nil
		}
		d.faults, d.warnings = verdict.Faults, verdict.Warnings
	}
	for turn := a.held.Answers + 1; turn <= 2; turn++ {
		if turn == 2 && !a.repairable(d) {
			break
		}
		prompt, repair, err := a.prompt(turn, d)
		if err != nil {
			return ending{}, err
		}
		answer, failure, err := a.askAgent(ctx, a.task(turn, prompt, d.session), d)
		switch {
		case err != nil:
			return ending{}, a.left(ctx, err)
		case failure != nil && failure.SessionGone && !d.fresh:
			d.fresh = true
			turn--
			continue
		case failure != nil:
			return ending{failure}, a.failed(ctx, failure, prompt, answer)
		}
		accepted, err := a.submit(ctx, turn, answer, repair, d)
		if err != nil {
			return ending{}, a.left(ctx, err)
		}
		if accepted {
			return ending{}, nil
		}
	}
	_, err := a.engine.board.End(context.WithoutCancel(ctx), a.held.Token, job.Ending{Outcome: job.OutcomeRefused})
	return ending{}, err
}

// repairable reports whether the agent can mend its refused answer.
func (a *attempt) repairable(d *dialogue) bool {
	switch {
	case a.held.Answers == 0 && d.session == "":
		return false // it has no session to mend it in
	case slices.ContainsFunc(d.faults, func(f job.Fault) bool {
		return f.Code == string(tidegate.ToolBudgetExceeded) || f.Code == string(tidegate.ControlFailed)
	}):
		return false // what was called cannot be taken back, nor a test that was failed
	}
	return a.timeLeft() > 0 // both turns share the time of one attempt
}

// prompt is what the agent is told in a turn; repair is the part of it that asks for
// a repair, "" in the first turn.
func (a *attempt) prompt(turn int, d *dialogue) (prompt, repair string, err error) {
	if turn == 1 {
		return a.held.PromptMD, "", nil
	}
	repair, err = job.Repair(a.held.AnswerFormat, d.faults, d.warnings)
	if d.session == "" || d.fresh {
		repair, d.session = a.held.PromptMD+"\n"+repair, ""
	}
	return repair, repair, err
}

// askAgent has an agent do a task. A failure is the agent's, an error the run's.
func (a *attempt) askAgent(ctx context.Context, task driver.Task, d *dialogue) (driver.Answer, *driver.Error, error) {
	if !d.since.IsZero() {
		if err := a.awaitTurn(ctx, d.since); err != nil {
			return driver.Answer{}, nil, err
		}
		d.since = time.Time{}
	}
	a.heard = a.engine.Desk.Now()
	answer, err := a.engine.Pool.Do(ctx, task, a.event)
	a.engine.tools.rests(a.held.JobID)
	if err := cmp.Or(a.rested(ctx), a.waited(ctx)); err != nil {
		return driver.Answer{}, nil, err
	}
	a.kept = a.kept || answer.Session != ""
	if !possible(answer) {
		// Such numbers would lower what is charged and counted, or stop the home.
		answer = driver.Answer{Version: answer.Version}
		if err == nil {
			err = &driver.Error{Kind: driver.Died, Message: "the agent reports numbers of tokens, costs or calls that cannot be"}
		}
	}
	for tool, n := range answer.ToolCalls {
		a.called[tool] += float64(n)
	}
	var failure *driver.Error
	switch {
	case err == nil: // whatever became of the home meanwhile
		return answer, a.unfit(answer), nil
	case ctx.Err() != nil:
		a.engine.cancel(task.ID)
		return answer, nil, context.Cause(ctx)
	case errors.As(err, &failure):
		return answer, failure, nil
	}
	return answer, nil, err
}

// submit hands in the answer of a turn and keeps what is wrong with it.
func (a *attempt) submit(ctx context.Context, turn int, answer driver.Answer, repair string, d *dialogue) (accepted bool, err error) {
	d.session = answer.Session
	if a.sayAnswered(ctx) {
		d.since = a.engine.Desk.Now()
	}
	verdict, err := a.engine.board.Submit(ctx, job.SubmitInput{
		Token: a.held.Token, Answer: []byte(answer.Text), Usage: usage(answer), ToolUsage: toolUsage(answer.ToolCalls),
		Home: &job.HomeAnswer{Version: answer.Version, Session: answer.Session, Repair: repair, Events: a.events.Bytes(), Price: a.engine.agent(a.role).Price,
			Confinement: confinement(answer.Kept)},
	})
	if err == nil {
		verdict, err = a.online(ctx, verdict, turn)
	}
	d.faults, d.warnings = verdict.Faults, verdict.Warnings
	return verdict.Accepted || verdict.State != job.Leased, err // one that is held has ended, too
}

// lineAgain is how often the sources of an answer are tried again where nothing can be
// reached from here.
const lineAgain = time.Minute

// online waits with answer n until its sources can be judged. The time does not count
// against the agent's.
func (a *attempt) online(ctx context.Context, verdict job.Verdict, n int) (_ job.Verdict, err error) {
	since := a.engine.Desk.Now()
	for err == nil && verdict.WaitingFor == job.ForTime {
		a.engine.Wait(ctx, lineAgain)
		if ctx.Err() != nil {
			return verdict, context.Cause(ctx)
		}
		verdict, err = a.engine.board.JudgeKept(ctx, a.held, n)
	}
	a.resting.Lock()
	defer a.resting.Unlock()
	a.idle += a.engine.Desk.Now().Sub(since)
	return verdict, err
}

// tidy has the pool remove what it keeps for the repair of an attempt that has
// ended.
func (a *attempt) tidy() {
	if a.kept && !a.goes {
		a.engine.cancel(a.taskID(1, a.held.PromptMD))
	}
}

// sayAnswered says that the agent has answered.
func (a *attempt) sayAnswered(ctx context.Context) bool {
	select {
	case a.engine.answered <- a:
		return true
	case <-ctx.Done():
		return false
	}
}

// awaitTurn waits until the attempt may have an agent. The time since it began to wait does
// not count, and a lease that would not last for its answer is extended. If the home
// stops first, it returns why; otherwise the errors of [job.Board.Extend].
func (a *attempt) awaitTurn(ctx context.Context, since time.Time) error {
	select {
	case a.engine.asking <- a:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	select {
	case <-a.granted:
	case <-ctx.Done():
		return context.Cause(ctx)
	}
	now := a.engine.Desk.Now()
	a.began = a.began.Add(now.Sub(since))
	if ends, ok := tidegate.ParseTime(a.held.ExpiresAt); ok && ends.Sub(now) > a.timeLeft()+leaseMargin/2 {
		return nil
	}
	_, err := a.engine.board.Extend(ctx, a.held.Token, a.engine.leaseTime())
	return err
}

// lease takes the job of a fresh attempt.
func (a *attempt) lease(ctx context.Context) error {
	agent := a.engine.agent(a.role)
	leased, err := a.engine.board.Lease(ctx, job.LeaseInput{Holder: holderName(), JobID: a.held.JobID, For: a.engine.leaseTime(),
		Home: new(agent.named()), Recording: agent.Recording})
	if err != nil {
		return err
	}
	a.held = job.TakenOver{Assignment: *leased, Driver: agent.Driver, Model: agent.Model}
	return nil
}

// unfit is why an answer cannot even be handed in. A driver says so itself; a
// pool that lies between may not.
func (a *attempt) unfit(answer driver.Answer) *driver.Error {
	most := int(a.engine.board.Policy().Budget.MaxAnswerKB) << 10
	switch {
	case strings.TrimSpace(answer.Text) == "":
		return &driver.Error{Kind: driver.Empty, Message: "the answer is empty"}
	case len(answer.Text) > most:
		return &driver.Error{Kind: driver.Flood, Message: fmt.Sprintf("the answer has %d bytes; at most %d are allowed", len(answer.Text), most)}
	}
	return nil
}

// possible reports whether an attempt can have taken what an answer says.
func possible(answer driver.Answer) bool {
	for _, n := range answer.ToolCalls {
		if n < 0 || n > driver.MaxTokens {
			return false
		}
	}
	u, cost := answer.Usage, answer.CostUSD
	return (u == nil || min(u.Input, u.Output) >= 0 && max(u.Input, u.Output) <= driver.MaxTokens) && (cost == nil || *cost >= 0 && *cost <= driver.MaxCostUSD)
}

// left releases the attempt when the home stops, so that the next home continues
// it; otherwise it returns err.
func (a *attempt) left(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	leaving := a.engine.board.Leave(context.WithoutCancel(ctx), a.held.Token)
	a.goes = leaving == nil
	switch tidegate.CodeOf(leaving) {
	case "", tidegate.LeaseLost, tidegate.InvalidState, tidegate.JobNotFound:
		return nil // a run that is cancelled takes nothing more
	}
	return leaving
}

// failed records how the agent failed. If a person has to help, because the agent
// is not logged in or not installed, the attempt stays as it is and begins again
// afterwards.
func (a *attempt) failed(ctx context.Context, failure *driver.Error, asked string, answer driver.Answer) error {
	if failure.NeedsPerson() {
		err := a.engine.board.Leave(context.WithoutCancel(ctx), a.held.Token)
		a.goes = err == nil
		return err
	}
	end := job.Ending{Outcome: string(failure.Kind), Reason: failure.Message, Version: answer.Version, ToolCalls: counts(answer.ToolCalls),
		Events: a.events.Bytes(), Usage: usage(answer), Price: a.engine.agent(a.role).Price}
	silent := failure.Kind == driver.Died && a.events.Len() == 0 && answer.Text == "" // as if it had never begun
	if failure.Kind != driver.Rate && failure.Kind != driver.Unavailable && !silent {
		end.Asked = asked
	}
	_, err := a.engine.board.End(context.WithoutCancel(ctx), a.held.Token, end)
	return err
}

// event keeps what an agent did, as far as there is room.
func (a *attempt) event(e driver.Event) {
	a.engine.tools.used(a.held.JobID, e)
	switch {
	case e.Kind != driver.Waiting:
		// A record that cannot be written ends the attempt when its answer is.
		_ = a.waited(context.Background())
		a.heard = a.engine.Desk.Now()
	case a.waits.IsZero():
		a.waits = a.heard
		a.engine.board.Waits(a.held.JobID, a.waits)
	}
	if e.Passing {
		return
	}
	line, err := codec.MarshalLine(e)
	if err != nil || a.events.Len()+len(line)+1 > maxEvents {
		return
	}
	a.events.Write(line)
	a.events.WriteByte('\n')
}

// timeLeft is how long the attempt may still take. It is never more than all of its time: a
// machine that slept has idle time that its monotonic clock never saw.
func (a *attempt) timeLeft() time.Duration {
	a.resting.Lock()
	defer a.resting.Unlock()
	all := minutes(a.engine.board.Policy().Budget.AttemptMinutes)
	return min(all, all-a.engine.Desk.Now().Sub(a.began)+a.idle)
}

func (a *attempt) taskID(turn int, prompt string) string {
	return driver.TaskID(a.engine.copied, a.engine.board.ID(), a.engine.board.CreatedAt(), a.held.JobID, a.held.Attempt, turn, prompt)
}

// task is everything that the pool is given.
func (a *attempt) task(turn int, prompt, session string) driver.Task {
	budget := a.engine.board.Policy().Budget
	own := minutes(a.engine.agent(a.role).Idle)
	idle := cmp.Or(own, minutes(budget.IdleMinutes))
	task := driver.Task{
		ID: a.taskID(turn, prompt), Run: a.engine.board.ID(),
		Job: a.held.JobID, Kind: a.held.Kind, Attempt: a.held.Attempt, Turn: turn, Prompt: prompt, Role: a.role,
		Model: a.held.Model, Session: session,
		Limits: driver.Limits{
			Idle: idle, Silence: own, Step: 2 * idle, Deadline: a.timeLeft(),
			Answer: int(budget.MaxAnswerKB) << 10, File: int64(budget.MaxMB) << 20,
		},
	}
	task.Limits.ToolCalls = maps.Clone(a.held.ToolCalls)
	for tool, most := range a.held.ToolCalls {
		task.Limits.ToolCalls[tool] = max(0, most-int(a.called[tool]))
	}
	task.Tools.Forbidden = a.held.Forbidden
	if task.Folder = a.held.Folder; task.Folder != "" {
		task.Tools.Write, task.Repository = true, a.engine.repository.Load()
	}
	reviews := a.held.Kind == "code_review" || a.held.Kind == "verify"
	if tree := a.engine.tree; tree != nil && tree.Load() != nil && reviews {
		task.Tree = *tree.Load()
	}
	if lookups := a.engine.lookups; lookups != nil && reviews {
		if a.lookups == nil {
			a.lookups = lookups()
		}
		task.Home = &driver.Home{Answer: a.lookups.Answer, Offers: lookupOffers()}
	}
	if a.held.Contract != nil && a.engine.board.HasDocuments() {
		task.Home = &driver.Home{Offers: readingOffers, Answer: func(ctx context.Context, tool string, arguments map[string]string) (string, error) {
			return sourcing.Consult(ctx, a.engine.board.Run(), tool, arguments)
		}}
	}
	web, frozen := a.engine.board.Web(a.held.Assignment), !a.engine.board.Policy().Frozen.IsZero()
	task.Tools.Web, task.Tools.Frozen = web && !frozen, web && frozen
	a.relay(&task)
	return task
}

// readingOffers are the tools by which a researcher without a client reads a person's own
// documents.
var readingOffers = []driver.Offer{
	{Name: sourcing.ReadTool, About: "Read one of the person's documents, or a section of it.", Arguments: [][2]string{
		{"document", "its name or URL, as the task lists it"}, {"section", "one of its headings; empty for all of it"}, {"from", "the byte of the text to go on from; empty for the beginning"}}},
	{Name: sourcing.LookForTool, About: "Look for words in all of the person's documents. Returns the passages that fit best.", Arguments: [][2]string{{"words", "what to look for"}}},
}

// relay gives the agent of a wave a way to the tools of this home, as far as there are
// any for it.
func (a *attempt) relay(task *driver.Task) {
	server := a.engine.Relay
	if server == nil || a.held.Contract == nil {
		return
	}
	if slices.Contains(a.engine.board.Policy().Servers, server.Name) {
		task.Contract = string(a.held.Contract)
	}
	if task.Contract != "" || a.engine.Searches && task.MaySearch() {
		task.Tools.MCP = []driver.Server{*server}
		task.Lease = driver.Lease{Manifest: a.engine.board.Run().Path(run.ManifestFile), Token: a.held.Token}
	}
}

// usage is what an answer took, as the client reports it.
func usage(answer driver.Answer) *driver.Charge {
	if answer.Usage == nil && answer.CostUSD == nil {
		return nil
	}
	u := driver.Charge{CostUSD: answer.CostUSD}
	if answer.Usage != nil {
		u.InputTokens, u.OutputTokens = answer.Usage.Input, answer.Usage.Output
	}
	return &u
}

// confinement is how the agent of an answer was kept, as its attempt has it.
func confinement(kept *driver.Kept) *run.Confinement {
	if kept == nil {
		return nil
	}
	c := &run.Confinement{Mode: run.ModeUnconfined, System: kept.System, ABI: kept.ABI, Network: kept.Network}
	if kept.Confined {
		c.Mode = run.ModeConfined
	}
	if kept.Elsewhere {
		c.By = run.ByWorker
	}
	return c
}

// cancel stops a task of an attempt that nobody waits for any more.
func (o *orchestrator) cancel(id string) {
	ctx, stop := context.WithTimeout(context.Background(), stopTime)
	defer stop()
	o.Pool.Cancel(ctx, id)
}

func counts(calls map[string]int) map[string]float64 {
	out := map[string]float64{}
	for tool, n := range calls {
		out[tool] = float64(n)
	}
	return out
}

// toolUsage is what the agent called, as the contract counts it; nil where its
// client shows nothing.
func toolUsage(calls map[string]int) *codec.Value {
	if calls == nil {
		return nil
	}
	usage := codec.NewObject()
	for _, tool := range slices.Sorted(maps.Keys(calls)) {
		usage.Set(tool, codec.Of(calls[tool]))
	}
	return usage
}

// A home looks at the clock every second. If it could not for longer than noLook, it was
// stopped, or its machine slept.
const (
	lookInterval = time.Second
	noLook       = 10 * time.Second
)

// sleepWatch knows when this process was asleep.
type sleepWatch struct {
	wall func() time.Time // has no monotonic reading, which stands still while a machine sleeps
	now  func() time.Time // as the record has it

	mu    sync.Mutex
	last  time.Time // when somebody looked
	slept []run.Span
}

func wallClock() time.Time { return time.Now().Round(0) }

// watch looks at the clock until ctx ends.
func (w *sleepWatch) watch(ctx context.Context) {
	tick := time.NewTicker(lookInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.look()
		}
	}
}

// look looks at the clock and returns when this process was asleep so far.
func (w *sleepWatch) look() []run.Span {
	w.mu.Lock()
	defer w.mu.Unlock()
	wall := w.wall()
	if gap := wall.Sub(w.last); gap > noLook {
		now := w.now()
		w.slept = append(w.slept, run.Span{From: now.Add(-gap), To: now})
	}
	w.last = wall
	return w.slept
}

// rested keeps in the attempt that this home was asleep meanwhile.
func (a *attempt) rested(ctx context.Context) error {
	a.resting.Lock()
	defer a.resting.Unlock()
	for _, span := range a.engine.awake.look()[a.sleeps:] {
		a.sleeps++
		if err := a.unspent(ctx, span); err != nil {
			return err
		}
	}
	return nil
}

// waited keeps in the attempt that it waited for a machine until now.
func (a *attempt) waited(ctx context.Context) error {
	if a.waits.IsZero() {
		return nil
	}
	span := run.Span{From: a.waits, To: a.engine.Desk.Now()}
	a.waits = time.Time{}
	defer a.engine.board.Waits(a.held.JobID, time.Time{})
	a.resting.Lock()
	defer a.resting.Unlock()
	return a.unspent(ctx, span)
}

// unspent keeps in the attempt a time in which nobody worked at it. That a person has taken
// the job away is found out elsewhere.
func (a *attempt) unspent(ctx context.Context, span run.Span) error {
	a.idle += span.To.Sub(span.From)
	err := a.engine.board.Unspent(context.WithoutCancel(ctx), a.held.Token, span)
	switch tidegate.CodeOf(err) {
	case tidegate.LeaseLost, tidegate.InvalidState, tidegate.JobNotFound:
		return nil
	}
	return err
}
