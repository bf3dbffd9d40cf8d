package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/agent/job"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/work/git"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sourcing"
	"github.com/tidegate/tidegate/internal/work/store"
)

// Options are what [Drive] needs beside the run.
type Options struct {
	Desk  run.Desk
	Pool  Pool
	Fetch sourcing.Fetch // how sources are reached; nil: they are judged by what the archive has
	// Agents are those that do the work of each role; the role "" serves roles that
	// have no agent of their own.
	Agents map[string]Agent
	// Relay is the MCP server by which agents of a wave reach the tools of this home;
	// nil: they have none. They get it where the run's policy names it, with their
	// contract, to be judged by; and where they may search the web and Searches says
	// that this home does that for them.
	Relay    *driver.Server
	Searches bool
	// Parallel bounds how many agents work at once; 0 leaves it to the run.
	Parallel int
	// Watch is given the board of a code change that is driven, to show it until stop
	// is called; it must not read the board again. Nil: nobody watches.
	Watch func(board *job.Board) (stop func())
	// Copy is the id of this copy of the folder that is driven, by which its tasks differ
	// from those of a copy of it; nil: other homes cannot reach the tasks of this one.
	Copy func(folder *artifact.Folder) (string, error)
	// Wait waits before an agent is asked again; nil waits for d.
	Wait func(ctx context.Context, d time.Duration)

	// repository is that of the folder that implementers work in; the loop of a change
	// sets it, and attempts read it.
	repository *atomic.Pointer[driver.Repository]
	// claimed says that the caller is the home already.
	claimed bool
	// wall is the clock of the machine; nil for the true one.
	wall func() time.Time
	// tree is the folder that code reviewers may read; nil: none.
	tree *atomic.Pointer[string]
	// lookups lets a code reviewer without a client ask about the code; nil: none may.
	lookups func() *git.Lookup
}

// Agent does the work of a role.
type Agent struct {
	Driver   string        // its name, for the record
	Model    string        // as the client names it; "" for the client's own choice
	Parallel int           // how many at once; 0 for no bound of its own
	Idle     float64       // minutes that it may be silent; 0 leaves it to the run
	Price    *config.Price // of tokens that come without a cost
	// Recording is the agent where its answers were kept earlier, else nil.
	Recording *driver.Recording
}

// named is the agent as records know it.
func (a Agent) named() run.Agent { return run.Agent{Driver: a.Driver, Model: a.Model} }

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
	options.Desk.Memory = new(store.Memory)
	board, err := job.OpenBoard(ctx, options.Desk, manifestPath)
	if err != nil {
		return Outcome{}, err
	}
	defer board.Close()
	board.Fetch = options.Fetch
	s := &settler{desk: options.Desk, board: board, manifest: manifestPath}
	return drive(ctx, board, rules{settle: s.settle, outOfBudget: s.outOfBudget}, options)
}

// recordedSeeds are the seeds of the recording that reads, nil for other readers.
func (o Options) recordedSeeds() func(round int64) []byte {
	for _, role := range []string{"verifier", job.CodeVerifier, "reviewer", ""} {
		agent, named := o.Agents[role]
		switch {
		case !named:
		case agent.Recording == nil:
			return nil
		case agent.Recording.Seed == nil:
			return func(int64) []byte { return nil }
		default:
			return agent.Recording.Seed
		}
	}
	return nil
}

// rules do what needs no agent.
type rules struct {
	settle func(ctx context.Context) (StepResult, error)
	// outOfBudget leaves the work to a person because a limit is reached.
	outOfBudget func(ctx context.Context, limit string, spent job.Spent) error
}

func drive(ctx context.Context, board *job.Board, by rules, options Options) (Outcome, error) {
	if !options.claimed {
		claim, err := claimHome(board.Folder())
		if err != nil {
			return Outcome{}, err
		}
		defer claim.Release()
	}
	board.Seeds = options.recordedSeeds()
	var err error
	copied := ""
	if options.Copy != nil {
		if copied, err = options.Copy(board.Folder()); err != nil {
			return Outcome{}, err
		}
	}
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
	if options.wall == nil {
		options.wall = wallClock
	}
	o := &orchestrator{
		Options: options, rules: by, board: board, copied: copied, tools: tools, awake: &sleepWatch{wall: options.wall, now: options.Desk.Now, last: options.wall()},
		done: make(chan result), answered: make(chan *attempt), asking: make(chan *attempt), running: map[string]*attempt{}, waits: map[string]*backOff{},
	}
	out, err := o.drive(ctx)
	if tidegate.CodeOf(err) == tidegate.InvalidState {
		return o.overtaken(ctx, err)
	}
	return out, err
}

// overtaken is how driving ends after the state of the run has refused a write: by
// what a person wrote meanwhile, such as that the run is cancelled, where that ends
// driving, and otherwise with err.
func (o *orchestrator) overtaken(ctx context.Context, err error) (Outcome, error) {
	if o.board.Reload(ctx) != nil {
		return Outcome{}, err
	}
	o.stale = true
	ended, failed := o.settle(ctx)
	if failed != nil || ended == nil {
		return Outcome{}, err
	}
	return *ended, nil
}

func claimHome(folder *artifact.Folder) (*artifact.Claim, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	return folder.Claim(run.HomeFile, tidegate.Pairs("host", host, "process", os.Getpid()))
}

func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

// orchestrator is the process that drives a run.
type orchestrator struct {
	Options
	rules rules
	board *job.Board
	tools *toolNote
	awake *sleepWatch

	copied string // the id of this copy of the folder

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

func (o *orchestrator) drive(ctx context.Context) (Outcome, error) {
	working, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	news := follow(working, o.board.Run())
	go o.awake.watch(working)
	if o.board.Run() != nil {
		// What others wrote after the board was read, and before the log was followed,
		// would never be noticed.
		if err := o.board.Reload(ctx); err != nil {
			return Outcome{}, cancelled(ctx, err)
		}
	}
	woken := make(chan string)
	defer o.stopRunning()
	// Whatever the home before this one had begun goes on.
	if err := o.takeOver(working, func(job.Job) bool { return true }); err != nil {
		return Outcome{}, err
	}
	for {
		if o.stale {
			if err := o.board.Reload(ctx); err != nil {
				return Outcome{}, err
			}
		}
		if ended, err := o.settle(ctx); err != nil {
			return Outcome{}, cancelled(ctx, err)
		} else if ended != nil {
			return *ended, nil
		}
		for _, a := range o.running {
			if a.state == coming {
				continue
			}
			if err := a.rested(ctx); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
		}
		if limit, spent := o.board.Limit(); limit != "" {
			o.stopRunning()
			if err := o.rules.outOfBudget(tidegate.WithActor(ctx, tidegate.Actor{Kind: tidegate.Rule, By: tidegate.ByRule}), limit, spent); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
			o.stale = true
			continue
		}
		o.fill(working)
		if len(o.running) == 0 {
			if o.stuck != nil {
				continue // no agent may have what is open
			}
			// An attempt whose lease had run out was given up. If the clock has been set back
			// since, the lease lives again, and nobody else would ever end it.
			if err := o.takeOver(working, func(j job.Job) bool { return j.State == job.Leased }); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
		}
		select {
		case <-ctx.Done():
			return Outcome{}, cancelled(ctx, context.Cause(ctx))
		case r := <-o.done:
			if err := o.finish(working, r, woken); err != nil {
				return Outcome{}, cancelled(ctx, err)
			}
		case a := <-o.answered:
			a.state = judged
			o.answers++
		case a := <-o.asking:
			o.queue(a)
		case role := <-woken:
			o.waits[role].waiting = false
		case <-news.there:
			lines, all := news.collect()
			o.stale = o.stale || all
			for id, line := range lines {
				if err := o.board.Follow(id, line); err != nil {
					return Outcome{}, err
				}
			}
		case <-time.After(lookAgain):
		}
	}
}

// settle does what can be done by rule. If driving ends, it returns how. While
// agents are at work and nothing else has changed, no rule has anything to do.
func (o *orchestrator) settle(ctx context.Context) (*Outcome, error) {
	if !o.stale && o.stuck == nil && len(o.running) > 0 {
		return nil, nil
	}
	o.stale = false
	settled, err := o.rules.settle(ctx)
	switch {
	case err != nil:
		return nil, err
	case o.stuck != nil:
		settled.WaitingFor, settled.Reason = ForPerson, o.stuck.Message
		return &Outcome{settled, o.stuck.Help}, nil
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
	return tidegate.Errorf(tidegate.Cancelled, tidegate.Pairs(), "stopped: resume the run with `tidegate run continue` (%w)", context.Cause(ctx))
}

// takeOver goes on with those attempts of homes that lost names.
func (o *orchestrator) takeOver(ctx context.Context, lost func(job.Job) bool) error {
	list, err := o.board.TakeOver(ctx, holderName(), o.leaseTime(), func(role string) run.Agent { return o.agent(role).named() }, lost)
	if err != nil {
		return err
	}
	for _, held := range list {
		o.start(ctx, held, o.roleOf(held))
	}
	return nil
}

func holderName() string { return fmt.Sprintf("tidegate, process %d", os.Getpid()) }

func minutes(m float64) time.Duration { return time.Duration(m * float64(time.Minute)) }

func (o *orchestrator) leaseTime() time.Duration {
	return 2*minutes(o.board.Policy().Budget.AttemptMinutes) + leaseMargin
}

func (o *orchestrator) agent(role string) Agent {
	if a, ok := o.Agents[role]; ok {
		return a
	}
	return o.Agents[""]
}

// fill gives agents to attempts that wait for one, and begins attempts at what is
// open, as far as parallelism allows: it counts agents, not answers being judged.
func (o *orchestrator) fill(ctx context.Context) {
	most := int(o.board.Policy().Budget.MaxParallel)
	if o.Parallel > 0 {
		most = min(most, o.Parallel)
	}
	working, busy := o.count(func(a *attempt) bool { return a.state == atWork })
	o.asked = slices.DeleteFunc(o.asked, func(a *attempt) bool {
		if o.running[a.held.JobID] != a {
			return true // it was stopped
		}
		if working >= most || !o.free(a.role, busy) {
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
	taken, busy := o.count(func(a *attempt) bool { return a.state != judged })
	passed := map[string]bool{}
	var barred error
	for taken < most+o.pace && len(o.running) < most+maxBeside {
		id, kind := o.board.Next(func(id string) bool { return o.running[id] == nil && !passed[id] })
		if id == "" {
			break
		}
		role, err := o.roleFor(id, kind)
		if barred = cmp.Or(barred, err); err != nil || !o.free(role, busy) {
			passed[id] = true
			continue
		}
		taken++
		busy[role]++
		o.start(ctx, job.TakenOver{Assignment: job.Assignment{JobID: id, Kind: kind}}, role)
	}
	if barred != nil && len(o.running) == 0 {
		o.stuck = &driver.Error{Kind: driver.Auth, Message: tidegate.AsError(barred).Message,
			Help: "name an agent that wrote nothing of the report, with --agent or in tidegate.toml, or say --one-agent"}
		if o.board.Run() == nil {
			o.stuck.Help = "name another agent with --verify, or with --agent where a question is answered, or look yourself"
		}
	}
}

// roleFor is the role whose agent gets a job. A reading or review goes to the first agent
// that may have it: that of the verifier, of the reviewer, or any other at hand; findings
// go to those alone that were named to verify them. One whose
// answers to it were of no use lets others go first. It returns why none may have the job.
func (o *orchestrator) roleFor(id, kind string) (string, error) {
	own := o.board.Role(id, kind)
	if kind != "verify" && kind != "review" {
		return own, nil
	}
	roles := []string{own}
	if _, named := o.Agents[own]; !named && own == "verifier" {
		roles = []string{"reviewer"}
	}
	for _, role := range append([]string{"verifier", "reviewer"}, slices.Sorted(maps.Keys(o.Agents))...) {
		if _, named := o.Agents[role]; named && role != "" && !slices.Contains(roles, role) && (own != job.CodeVerifier || strings.HasPrefix(role, own)) {
			roles = append(roles, role)
		}
	}
	var why error
	allowed := slices.DeleteFunc(roles, func(role string) bool {
		err := o.board.MayTake(id, o.agent(role).named())
		why = cmp.Or(why, err)
		return err != nil
	})
	if len(allowed) == 0 {
		return "", why
	}
	passed := func(role string) int { return o.board.Passed(id, o.agent(role).named()) }
	return slices.MinFunc(allowed, func(a, b string) int { return passed(a) - passed(b) }), nil
}

// roleOf is the role whose agent has an attempt that is taken over.
func (o *orchestrator) roleOf(held job.TakenOver) string {
	for _, role := range slices.Sorted(maps.Keys(o.Agents)) {
		if agent := o.Agents[role]; role != "" && slices.Contains([]string{"verify", "review"}, held.Kind) && agent.named() == (run.Agent{Driver: held.Driver, Model: held.Model}) {
			return role
		}
	}
	return o.board.Role(held.JobID, held.Kind)
}

// queue queues an attempt for an agent: repairs before fresh attempts.
func (o *orchestrator) queue(a *attempt) {
	next := len(o.asked)
	if a.state == coming {
		o.pace = o.answers - a.since
	} else if fresh := slices.IndexFunc(o.asked, func(each *attempt) bool { return each.state == coming }); fresh >= 0 {
		next = fresh
	}
	o.asked = slices.Insert(o.asked, next, a)
}

// count counts attempts, all and by role.
func (o *orchestrator) count(those func(*attempt) bool) (all int, byRole map[string]int) {
	byRole = map[string]int{}
	for _, a := range o.running {
		if those(a) {
			all++
			byRole[a.role]++
		}
	}
	return all, byRole
}

// free reports whether one more agent of a role may begin.
func (o *orchestrator) free(role string, busy map[string]int) bool {
	if most := o.agent(role).Parallel; most > 0 && busy[role] >= most {
		return false
	}
	w := o.waits[role]
	return w == nil || !w.waiting && (w.most == 0 || busy[role] < w.most)
}

// start begins, or goes on with, an attempt of the agent of a role.
func (o *orchestrator) start(ctx context.Context, held job.TakenOver, role string) {
	own, stop := context.WithCancelCause(ctx)
	a := &attempt{engine: o, held: held, role: role, stop: stop, since: o.answers, granted: make(chan struct{}, 1)}
	o.running[held.JobID] = a
	go func() {
		end, err := a.run(own)
		o.done <- result{a, end, err}
	}()
}

// finish handles the end of an attempt, for its role and for the home.
func (o *orchestrator) finish(ctx context.Context, r result, woken chan<- string) error {
	delete(o.running, r.a.held.JobID)
	r.a.stop(nil)
	switch code := tidegate.CodeOf(r.err); {
	case r.err == nil:
	case code == tidegate.SameHolder, code == tidegate.LeaseLost, code == tidegate.InvalidState, code == tidegate.JobNotOpen, code == tidegate.JobNotFound, code == tidegate.StageMismatch,
		code == tidegate.BudgetExhausted:
		o.stale = true // a person took it away, or the run has moved
		return nil
	default:
		return r.err
	}
	w := o.waits[r.a.role]
	switch {
	case r.end.failure == nil:
		if w != nil {
			if w.next = firstWait; w.most > 0 {
				w.most++
			}
		}
	case r.end.failure.NeedsPerson():
		o.stuck = r.end.failure
	case r.end.failure.Kind == driver.Rate || r.end.failure.Kind == driver.Unavailable:
		if w == nil {
			w = &backOff{next: firstWait}
			o.waits[r.a.role] = w
		}
		o.slowDown(ctx, r.a.role, w, r.end.failure, woken)
	}
	return nil
}

// slowDown makes a role wait, and gives it fewer agents at once.
func (o *orchestrator) slowDown(ctx context.Context, role string, w *backOff, failure *driver.Error, woken chan<- string) {
	if failure.Kind == driver.Rate {
		_, busy := o.count(func(a *attempt) bool { return a.state == atWork })
		w.most = max(1, busy[role])
	}
	if w.waiting {
		return
	}
	d := max(failure.Wait, w.next)
	w.waiting, w.next = true, min(2*w.next, longestWait)
	go func() {
		o.Wait(ctx, d)
		select {
		case woken <- role:
		case <-ctx.Done():
		}
	}()
}

// stopRunning stops every agent and waits for their attempts.
func (o *orchestrator) stopRunning() {
	for _, a := range o.running {
		a.stop(errStop)
	}
	for len(o.running) > 0 {
		r := <-o.done
		delete(o.running, r.a.held.JobID)
	}
}

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

// toolNote tells others what the agents of a home used last. It is the note of a
// claim: it ends with the process, and is not part of the record.
type toolNote struct {
	mu    sync.Mutex
	claim *artifact.Claim   // nil once the home has ended
	last  map[string]string // by job
}

func newToolNote(folder *artifact.Folder) (*toolNote, error) {
	claim, err := folder.Claim(run.ToolsFile, nil)
	return &toolNote{claim: claim, last: map[string]string{}}, err
}

// end takes the note away. Agents that have not ended yet are no longer noted.
func (n *toolNote) end() {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.claim.Release()
	n.claim = nil
}

// used notes that the agent at a job called a tool. A note that cannot be written
// does no harm to the run.
func (n *toolNote) used(job string, e driver.Event) {
	if e.Kind != driver.ToolCall {
		return
	}
	tool := tidegate.Cut(e.Tool)
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.last[job] != tool {
		n.last[job] = tool
		n.write()
	}
}

// rests notes that no agent is at a job any more.
func (n *toolNote) rests(job string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if _, noted := n.last[job]; noted {
		delete(n.last, job)
		n.write()
	}
}

func (n *toolNote) write() {
	if n.claim == nil {
		return
	}
	var note tidegate.Details
	for _, job := range slices.Sorted(maps.Keys(n.last)) {
		note = append(note, tidegate.Detail{Key: job, Value: n.last[job]})
	}
	_ = n.claim.Note(note)
}
