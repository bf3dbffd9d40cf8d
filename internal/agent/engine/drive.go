package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// Options are what [Drive] needs beside the run.
type Options struct {
	Desk  run.Desk
	Pool  Pool
	Fetch step.Fetch // how sources are reached; nil: they are judged by what the archive has
	// Agents are those that do the work of each role; the role "" serves roles that
	// have no agent of their own.
	Agents map[string]Agent
	// Servers are the MCP servers that a run's policy may name. No agent gets one
	// that the policy does not name.
	Servers map[string]driver.Server
	// Parallel bounds how many agents work at once; 0 leaves it to the run.
	Parallel int
	// Watch is given the board of a code change that is driven, to show it until stop
	// is called; it must not read the board again. Nil: nobody watches.
	Watch func(board *job.Board) (stop func())
	// Wait waits before an agent is asked again; nil waits for d.
	Wait func(ctx context.Context, d time.Duration)
}

// Agent does the work of a role.
type Agent struct {
	Driver   string // its name, for the record
	Model    string // as the client names it; "" for the client's own choice
	Parallel int    // how many at once; 0 for no bound of its own
	Price    *Price // of tokens that come without a cost
}

// Price is what a million tokens cost, in USD.
type Price = job.Price

// Outcome is how driving a run ended.
type Outcome struct {
	StepResult
	Help string // what a person types to help an agent, where that is the reason
}

// Times of the loop.
const (
	lookAgain   = time.Second      // a lease by hand or a limit of time may have run out
	leaseMargin = 10 * time.Minute // on top of an attempt, for judging and repair
	stopTime    = 10 * time.Second // in which agents end
	firstWait   = time.Second
	longestWait = time.Minute
	maxEvents   = 16 << 20 // bytes of an agent's own event stream that are kept
	maxBeside   = 64       // attempts without an agent: leased ahead, or answered and being judged
)

// errStop ends the attempts of a home that stops.
var errStop = errors.New("the home stops")

// Drive drives a run until it is final, needs a person or ctx ends: it settles,
// gives what is open to agents, hands in what they answer, and settles again. It
// is the run's home meanwhile, and obeys what a person writes into the run:
// pause, cancel and other limits.
//
// It returns LOCK_HELD at once when another process is the run's home, CANCELLED
// when ctx ends, and the errors of [Settle]. Whatever it returns, the run goes on
// from its files when it is driven again.
func Drive(ctx context.Context, manifestPath string, options Options) (Outcome, error) {
	board, err := job.OpenBoard(ctx, options.Desk, manifestPath)
	if err != nil {
		return Outcome{}, err
	}
	defer board.Close()
	if err := board.Run().Writable(); err != nil {
		return Outcome{}, err
	}
	board.Fetch = options.Fetch
	s := &settler{desk: options.Desk, board: board, manifest: manifestPath}
	return drive(ctx, board, rules{settle: s.settle, outOfBudget: s.outOfBudget}, options)
}

// rules do what needs no agent.
type rules struct {
	settle func(ctx context.Context) (StepResult, error)
	// outOfBudget leaves the work to a person because a limit is reached.
	outOfBudget func(ctx context.Context, limit string, spent job.Spent) error
}

func drive(ctx context.Context, board *job.Board, by rules, options Options) (Outcome, error) {
	claim, err := claimHome(board)
	if err != nil {
		return Outcome{}, err
	}
	defer claim.Release()
	tools, err := newToolNote(board.Folder())
	if err != nil {
		return Outcome{}, err
	}
	defer tools.end()
	if options.Watch != nil {
		defer options.Watch(board)()
	}
	if options.Wait == nil {
		options.Wait = wait
	}
	h := &home{
		Options: options, rules: by, board: board, tools: tools,
		done: make(chan result), answered: make(chan *attempt), asking: make(chan *attempt), running: map[string]*attempt{}, waits: map[string]*backOff{},
	}
	out, err := h.drive(ctx)
	if tidegate.CodeOf(err) == tidegate.InvalidState {
		return h.overtaken(ctx, err)
	}
	return out, err
}

// overtaken is how driving ends after the state of the run has refused a write: by
// what a person wrote meanwhile, such as that the run is cancelled, where that ends
// driving, and otherwise with err.
func (h *home) overtaken(ctx context.Context, err error) (Outcome, error) {
	if h.board.Reload(ctx) != nil {
		return Outcome{}, err
	}
	h.stale = true
	ended, failed := h.settle(ctx)
	if failed != nil || ended == nil {
		return Outcome{}, err
	}
	return *ended, nil
}

func claimHome(board *job.Board) (*artifact.Claim, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return board.Folder().Claim(run.HomeFile, tidegate.D("host", host, "process", os.Getpid()))
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// home is the process that drives a run.
type home struct {
	Options
	rules rules
	board *job.Board
	tools *toolNote

	done     chan result
	answered chan *attempt       // whose agent has answered: another may begin while the answer is judged
	asking   chan *attempt       // attempts that need an agent, for the first time or to repair an answer
	running  map[string]*attempt // by job id
	asked    []*attempt          // those that wait for an agent, repairs first
	answers  int                 // how many answers agents have given
	pace     int                 // answers that came while the last lease was being written
	waits    map[string]*backOff // by role
	stale    bool                // the board may not match the files
	stuck    *driver.Error       // of an agent that a person has to help
}

// result is what became of an attempt.
type result struct {
	a   *attempt
	end ending
	err error // of the run, not of the agent
}

// backOff is how a role is slowed down.
type backOff struct {
	waiting bool
	next    time.Duration
	most    int // agents at once, 0 for no bound
}

func (h *home) drive(ctx context.Context) (Outcome, error) {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	news := follow(working, h.board.Run())
	if h.board.Run() != nil {
		// What others wrote after the board was read, and before the log was followed,
		// would never be noticed.
		if err := h.board.Reload(ctx); err != nil {
			return Outcome{}, cancelled(ctx, err)
		}
	}
	woken := make(chan string)
	defer h.stopRunning()
	// Whatever the home before this one had begun goes on.
	if err := h.takeOver(working, func(job.Job) bool { return true }); err != nil {
		return Outcome{}, err
	}
	for {
		if h.stale {
			if err := h.board.Reload(ctx); err != nil {
				return Outcome{}, err
			}
		}
		if ended, err := h.settle(ctx); err != nil {
			return Outcome{}, cancelled(ctx, err)
		} else if ended != nil {
			return *ended, nil
		}
		if limit, spent := h.board.Limit(); limit != "" {
			h.stopRunning()
			if err := h.rules.outOfBudget(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), limit, spent); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
			h.stale = true
			continue
		}
		h.fill(working)
		if len(h.running) == 0 {
			// An attempt whose lease had run out was given up. If the clock has been set back
			// since, the lease lives again, and nobody else would ever end it.
			if err := h.takeOver(working, func(j job.Job) bool { return j.State == job.Leased }); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
		}
		select {
		case <-ctx.Done():
			return Outcome{}, cancelled(ctx, context.Cause(ctx))
		case r := <-h.done:
			if err := h.finish(working, r, woken); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
		case a := <-h.answered:
			a.state = judged
			h.answers++
		case a := <-h.asking:
			h.ask(a)
		case role := <-woken:
			h.waits[role].waiting = false
		case <-news.there:
			lines, all := news.take()
			h.stale = h.stale || all
			for id, line := range lines {
				if err := h.board.Follow(id, line); err != nil {
					return Outcome{}, err
				}
			}
		case <-time.After(lookAgain):
		}
	}
}

// settle does what can be done by rule. If driving ends, it returns how. While
// agents are at work and nothing else has changed, no rule has anything to do.
func (h *home) settle(ctx context.Context) (*Outcome, error) {
	if !h.stale && h.stuck == nil && len(h.running) > 0 {
		return nil, nil
	}
	h.stale = false
	settled, err := h.rules.settle(ctx)
	switch {
	case err != nil:
		return nil, err
	case h.stuck != nil:
		settled.WaitingFor, settled.Reason = ForPerson, h.stuck.Message
		return &Outcome{settled, h.stuck.Help}, nil
	case settled.WaitingFor == ForPerson || settled.WaitingFor == ForNothing:
		return &Outcome{StepResult: settled}, nil
	}
	return nil, nil
}

// cancelled is CANCELLED when ctx has ended, else err.
func cancelled(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return tidegate.Errorf(tidegate.Cancelled, tidegate.D(), "stopped: the run goes on with `tidegate run continue` (%w)", context.Cause(ctx))
}

// takeOver goes on with those attempts of homes that lost names.
func (h *home) takeOver(ctx context.Context, lost func(job.Job) bool) error {
	list, err := h.board.TakeOver(ctx, holderName(), h.leaseTime(), lost)
	if err != nil {
		return err
	}
	for _, held := range list {
		h.start(ctx, held)
	}
	return nil
}

func holderName() string { return fmt.Sprintf("tidegate, process %d", os.Getpid()) }

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

func (h *home) leaseTime() time.Duration {
	return 2*minutes(h.board.Policy().Budget.AttemptMinutes) + leaseMargin
}

func (h *home) agent(role string) Agent {
	if a, ok := h.Agents[role]; ok {
		return a
	}
	return h.Agents[""]
}

// fill gives agents to attempts that wait for one, and begins attempts at what is
// open, as far as parallelism allows: it counts agents, not answers being judged.
func (h *home) fill(ctx context.Context) {
	most := int(h.board.Policy().Budget.MaxParallel)
	if h.Parallel > 0 {
		most = min(most, h.Parallel)
	}
	working, busy := h.count(func(a *attempt) bool { return a.state == atWork })
	h.asked = slices.DeleteFunc(h.asked, func(a *attempt) bool {
		if h.running[a.held.JobID] != a {
			return true // it was stopped
		}
		if working >= most || !h.free(a.role, busy) {
			return false
		}
		working++
		busy[a.role]++
		a.state = atWork
		a.granted <- struct{}{}
		return true
	})
	// As many jobs are leased ahead as agents finished while the last lease was
	// written, so that agents that answer at once do not wait for the disk. With slow
	// agents that number is zero.
	taken, busy := h.count(func(a *attempt) bool { return a.state != judged })
	for taken < most+h.pace && len(h.running) < most+maxBeside {
		id, kind := h.board.Next(func(id, kind string) bool { return h.running[id] == nil && h.free(job.Role(kind), busy) })
		if id == "" {
			return
		}
		taken++
		busy[job.Role(kind)]++
		h.start(ctx, job.Held{Assignment: job.Assignment{JobID: id, Kind: kind}})
	}
}

// ask queues an attempt for an agent: repairs before fresh attempts.
func (h *home) ask(a *attempt) {
	next := len(h.asked)
	if a.state == coming {
		h.pace = h.answers - a.since
	} else if fresh := slices.IndexFunc(h.asked, func(each *attempt) bool { return each.state == coming }); fresh >= 0 {
		next = fresh
	}
	h.asked = slices.Insert(h.asked, next, a)
}

// count counts attempts, all and by role.
func (h *home) count(those func(*attempt) bool) (all int, byRole map[string]int) {
	byRole = map[string]int{}
	for _, a := range h.running {
		if those(a) {
			all++
			byRole[a.role]++
		}
	}
	return all, byRole
}

// free reports whether one more agent of a role may begin.
func (h *home) free(role string, busy map[string]int) bool {
	if most := h.agent(role).Parallel; most > 0 && busy[role] >= most {
		return false
	}
	w := h.waits[role]
	return w == nil || !w.waiting && (w.most == 0 || busy[role] < w.most)
}

// start begins, or goes on with, an attempt.
func (h *home) start(ctx context.Context, held job.Held) {
	own, stop := context.WithCancelCause(ctx)
	a := &attempt{home: h, held: held, role: job.Role(held.Kind), stop: stop, since: h.answers, granted: make(chan struct{}, 1)}
	h.running[held.JobID] = a
	go func() {
		end, err := a.run(own)
		h.done <- result{a, end, err}
	}()
}

// finish handles the end of an attempt, for its role and for the home.
func (h *home) finish(ctx context.Context, r result, woken chan<- string) error {
	delete(h.running, r.a.held.JobID)
	r.a.stop(nil)
	switch code := tidegate.CodeOf(r.err); {
	case r.err == nil:
	case code == tidegate.LeaseLost, code == tidegate.InvalidState, code == tidegate.JobNotOpen, code == tidegate.JobNotFound, code == tidegate.StageMismatch,
		code == tidegate.BudgetExhausted:
		h.stale = true // a person took it away, or the run has moved
		return nil
	default:
		return r.err
	}
	w := h.waits[r.a.role]
	switch {
	case r.end.failure == nil:
		if w != nil {
			w.next, w.most = firstWait, w.most+boolInt(w.most > 0)
		}
	case r.end.failure.NeedsPerson():
		h.stuck = r.end.failure
	case r.end.failure.Kind == driver.Rate || r.end.failure.Kind == driver.Unavailable:
		if w == nil {
			w = &backOff{next: firstWait}
			h.waits[r.a.role] = w
		}
		h.slowDown(ctx, r.a.role, w, r.end.failure, woken)
	}
	return nil
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// slowDown makes a role wait, and gives it fewer agents at once.
func (h *home) slowDown(ctx context.Context, role string, w *backOff, failure *driver.Error, woken chan<- string) {
	if failure.Kind == driver.Rate {
		_, busy := h.count(func(a *attempt) bool { return a.state == atWork })
		w.most = max(1, busy[role])
	}
	if w.waiting {
		return
	}
	d := max(failure.Wait, w.next)
	w.waiting, w.next = true, min(2*w.next, longestWait)
	go func() {
		h.Wait(ctx, d)
		select {
		case woken <- role:
		case <-ctx.Done():
		}
	}()
}

// stopRunning stops every agent and waits for their attempts.
func (h *home) stopRunning() {
	for _, a := range h.running {
		a.stop(errStop)
	}
	for len(h.running) > 0 {
		r := <-h.done
		delete(h.running, r.a.held.JobID)
	}
}
