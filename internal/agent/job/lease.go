package job

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/work/run"
)

// How long a lease lasts.
const (
	DefaultLease = 1800 * time.Second
	maxHeld      = 24 * time.Hour // with all its extensions
)

// LeaseInput are the arguments of [Board.Lease].
type LeaseInput struct {
	Holder string
	JobID  string        // "" for the first that is open
	For    time.Duration // 0 for DefaultLease
	Home   *Home         // set by the process that drives the run
	// Person says that a person answers: a part of the report is read without twins.
	Person bool
	// Recording is the agent where its answers were kept earlier, else nil.
	Recording *driver.Recording
}

// Home is what a process that drives a run knows about an agent.
type Home = run.Agent

// Assignment is a job that somebody holds, with everything needed to do it.
type Assignment struct {
	JobID        string `json:"job_id"`
	Kind         string `json:"kind"`
	Attempt      int    `json:"attempt"`
	Token        string `json:"token" jsonschema:"proves who holds the job; hand it in with the answer"`
	PromptMD     string `json:"prompt_md" jsonschema:"the whole task; an answer that follows it is accepted"`
	PromptDigest string `json:"prompt_digest"`
	AnswerFormat string `json:"answer_format" enum:"markdown,json"`
	TriesLeft    int    `json:"tries_left"`
	ExpiresAt    string `json:"expires_at"`

	// ToolCalls is how often the agent may call each tool that its contract names.
	ToolCalls map[string]int `json:"-"`
	// Forbidden are tools that its perspective takes away, in its own words.
	Forbidden []string `json:"-"`
	// Folder is where the agent works, for a job that changes files; "" for one of
	// its own.
	Folder string `json:"-"`
	// Contract is what an output of a wave is judged by, as a file of perspectives
	// that has only the one of the job; nil for other jobs.
	Contract []byte `json:"-"`
}

// Lease gives a job that is open to a holder, as a new attempt. It returns nil
// when no job was named and none is open.
//
// It returns INVALID_ARGS, INVALID_STATE (a run that is neither created nor
// running), BUDGET_EXHAUSTED, JOB_NOT_FOUND, JOB_NOT_OPEN (with its holder, or
// the process that drives the run), SAME_HOLDER (whoever wrote the report that is to be
// read or reviewed), RECORDING_DIFFERS (a recording of something else, unless a person
// lets it answer), and the errors of [run.Run.Update].
func (b *Board) Lease(ctx context.Context, in LeaseInput) (*Assignment, error) {
	if err := run.CheckText("holder", in.Holder); err != nil {
		return nil, err
	}
	in.For = cmp.Or(in.For, DefaultLease)
	if err := b.mayLease(ctx, in); err != nil {
		return nil, err
	}
	reader := readerName("", "", run.Note(in.Holder))
	if in.Home != nil {
		reader = readerName(in.Home.Driver, in.Home.Model, "")
	}
	person := in.Home == nil && tidegate.ActorOf(ctx).Kind == tidegate.Person
	if in.JobID != "" {
		j, err := b.Job(in.JobID)
		if err != nil {
			return nil, err
		}
		if j.State != Open {
			return nil, notOpen(j)
		}
		if err := b.mayTake(in.JobID, reader); err != nil && !person {
			return nil, err
		}
		return b.lease(ctx, in.JobID, in)
	}
	passed := map[string]bool{}
	var barred error // by it the holder gets none of those that are open
	for {
		id, _ := b.Next(func(id string) bool { return !passed[id] })
		if id == "" {
			return nil, barred
		}
		if err := b.mayTake(id, reader); err != nil && !person {
			passed[id], barred = true, err
			continue
		}
		leased, err := b.lease(ctx, id, in)
		if tidegate.CodeOf(err) != tidegate.JobNotOpen {
			return leased, err
		}
		passed[id] = true // another holder was faster
	}
}

// mayLease returns what forbids leasing any job.
func (b *Board) mayLease(ctx context.Context, in LeaseInput) error {
	w := b.present()
	if w.stopped != nil {
		return w.stopped
	}
	if in.Home == nil && tidegate.ActorOf(ctx).Kind == tidegate.Agent {
		holder, held, err := w.Folder().Claimed(run.HomeFile)
		if err != nil {
			return err
		}
		if held {
			return tidegate.Errorf(tidegate.JobNotOpen, append(tidegate.Pairs("run_id", w.ID()), holder...),
				"another process drives run %q and gives out its jobs itself", w.ID())
		}
	}
	if name, spent := b.Limit(); name != "" {
		return tidegate.Errorf(tidegate.BudgetExhausted, tidegate.Pairs("limit", name, "allowed", b.Policy().Budget.Of(name), "spent", spent),
			"the run has used up %s, which is %v; a person can raise it", name, b.Policy().Budget.Of(name))
	}
	return nil
}

func notOpen(j Job) error {
	details := tidegate.Pairs("job_id", j.ID, "state", j.State)
	if j.Holder != nil {
		return tidegate.Errorf(tidegate.JobNotOpen, append(details, tidegate.Pairs("holder", *j.Holder, "expires_at", *j.ExpiresAt)...),
			"the job %s is leased to %s until %s", j.ID, tidegate.Cut(*j.Holder), *j.ExpiresAt)
	}
	return tidegate.Errorf(tidegate.JobNotOpen, details, "the job %s is %s", j.ID, j.State)
}

// lease takes one job. What the prompt was made from is compared under the lock.
func (b *Board) lease(ctx context.Context, id string, in LeaseInput) (*Assignment, error) {
	if _, err := b.judgeLeftOver(ctx, id); err != nil {
		return nil, err
	}
	j, err := b.Job(id)
	if err != nil {
		return nil, err
	}
	j.byPerson = in.Person
	if in.Home != nil {
		j.driver = in.Home.Driver
	}
	from, err := b.madeFrom(&j)
	if err != nil {
		return nil, err
	}
	if in.Recording != nil {
		if err := in.Recording.MayAnswer(id, j.next(), from); err != nil && !b.Policy().Evidence.Adapt {
			return nil, err
		}
	}
	made, err := j.task.prompt(ctx, &j)
	if err != nil {
		return nil, err
	}
	var leased *Assignment
	var begun *Attempt
	var lease *run.Lease
	line, lapsed := 0, false
	err = b.update(ctx, id, toStand, func(u update) error {
		if err := b.Refresh(id); err != nil {
			return err
		}
		shown, err := b.Job(id)
		if err != nil {
			return err
		}
		if shown.State != Open {
			return notOpen(shown)
		}
		if err := b.unchanged(u, made.seen); err != nil {
			return err
		}
		if lapsed, err = closeLapsed(u, &shown); err != nil {
			return err
		}
		leased, begun, lease, err = b.begin(u, &shown, in, made, from)
		line = u.LastLine()
		return err
	})
	if err != nil {
		return nil, err
	}
	b.remember(begun, lease, line)
	if lapsed {
		if err := b.Refresh(id); err != nil {
			return nil, err
		}
	}
	if shown, err := b.Job(id); err == nil {
		leased.TriesLeft = shown.TriesLeft
	}
	leased.equip(made)
	return leased, nil
}

// equip adds what an agent gets beside its prompt.
func (a *Assignment) equip(made draft) {
	a.ToolCalls, a.Forbidden, a.Contract, a.Folder = made.calls, made.forbidden, made.contract, made.folder
}

// unchanged returns INVALID_STATE when a document is not the one that was seen.
func (b *Board) unchanged(u update, seen map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(seen)) {
		found := u.run.Found(name)
		if found == "" { // not one of the documents that are looked at anyway
			digest, err := b.present().run.digests.Of(name)
			if err != nil {
				return err
			}
			found = digest
		}
		if found != seen[name] {
			return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", name), "%s has changed meanwhile; try again", name)
		}
	}
	return nil
}

// madeFrom is what the attempts at a job of a run are asked about, nil for a job of a
// code change.
func (b *Board) madeFrom(j *Job) (*driver.MadeFrom, error) {
	r := b.present().run
	if r == nil {
		return nil, nil
	}
	from := &driver.MadeFrom{Question: r.Manifest().Query(), Kind: j.Kind, Perspective: j.perspective}
	if j.perspective != "" {
		_, contract, err := r.contract(j.wave, j.perspective)
		if err != nil {
			return nil, err
		}
		from.Contract = codec.Digest(contract)
	}
	documents, err := r.attached()
	for _, d := range documents {
		from.Documents = append(from.Documents, d.Digest)
	}
	return from, err
}

// begin stages a new attempt with its lease and its prompt.
func (b *Board) begin(u update, j *Job, in LeaseInput, made draft, from *driver.MadeFrom) (*Assignment, *Attempt, *run.Lease, error) {
	number := j.next()
	token, digest := b.newToken(u, j.ID, number)
	lease := &run.Lease{
		SchemaVersion: run.LeaseVersion, JobID: j.ID, Attempt: number, Holder: run.Note(in.Holder), Home: in.Home != nil, TokenDigest: digest,
		LeasedAt: u.Now(), ExpiresAt: tidegate.Stamp(u.Time().Add(in.For)),
	}
	a := &Attempt{
		SchemaVersion: AttemptVersion, RunID: b.ID(), JobID: j.ID, Kind: j.Kind, Number: number, Holder: lease.Holder,
		PromptDigest: codec.DigestBytes([]byte(made.text)), TokenDigest: digest, StartedAt: u.Now(), Sources: made.sources, ByPerson: in.Person && j.Kind == verifyKind.name, MadeFrom: from,
	}
	if in.Home != nil {
		a.Driver, a.Model = in.Home.Driver, in.Home.Model
		b.begins(u.Time(), j.ID)
	}
	fields := tidegate.Pairs("job_id", j.ID, "attempt", number, "holder", lease.Holder, "home", lease.Home,
		"prompt_digest", a.PromptDigest, "expires_at", lease.ExpiresAt, "args", tidegate.Pairs())
	u.Log(run.EventLeased, "job_lease", fields)
	if err := u.Write(a.dir()+"/prompt.md", []byte(made.text)); err != nil {
		return nil, nil, nil, err
	}
	if err := a.write(u); err != nil {
		return nil, nil, nil, err
	}
	if err := u.WriteJSON(run.LeaseFile(j.ID), lease); err != nil {
		return nil, nil, nil, err
	}
	return &Assignment{
		JobID: j.ID, Kind: j.Kind, Attempt: number, Token: token, PromptMD: made.text, PromptDigest: a.PromptDigest,
		AnswerFormat: j.answerFormat(), ExpiresAt: lease.ExpiresAt,
	}, a, lease, nil
}

// closeLapsed stages the end of an attempt whose lease has run out, and reports
// whether there was one. An attempt of a home that was stopped before it had an
// answer uses no try.
func closeLapsed(u update, j *Job) (bool, error) {
	last := j.last()
	if j.lease == nil || last == nil || last.Outcome != "" {
		return false, nil
	}
	outcome := OutcomeExpired
	if j.lease.Home && len(last.Submissions) == 0 {
		outcome = OutcomeReleased
	}
	ended := *last
	ended.Outcome, ended.EndedAt = outcome, max(last.StartedAt, min(j.lease.ExpiresAt, u.Now())) // the clock may have been set back
	if refused := ended.lastAnswer(); refused != nil && refused.Judged {
		ended.Outcome = OutcomeRefused
	}
	logEnded(u, &ended)
	return true, ended.write(u)
}

func logEnded(u update, a *Attempt, more ...tidegate.Detail) {
	u.Log(run.EventEnded, "job_ended", append(tidegate.Pairs("job_id", a.JobID, "attempt", a.Number, "outcome", a.Outcome, "reason", run.Note(a.Reason)), more...))
}

// eventsKept says how much of an agent's events a line has seen, in a run in which origins
// follow from them.
func (b *Board) eventsKept(events []byte) tidegate.Details {
	if b.Policy().Origins == "" || len(events) == 0 {
		return nil
	}
	return tidegate.Pairs("events", len(events))
}

// newToken makes a token: the job and the attempt that it is for, and a secret.
// Under a pinned clock, which is for tests, the secret follows from the lease, so
// that whole folders can be compared byte for byte.
func (b *Board) newToken(u update, id string, attempt int) (token, digest string) {
	secret := make([]byte, 16)
	rand.Read(secret)
	if u.Pinned() {
		sum := sha256.Sum256(fmt.Appendf(nil, "%s %s %d %s", b.ID(), id, attempt, u.Now()))
		copy(secret, sum[:])
	}
	token = fmt.Sprintf("%s/%d/%s", hex.EncodeToString(secret), attempt, id)
	return token, codec.DigestBytes([]byte(token))
}

// ofToken reads which attempt at which job a token is for.
func ofToken(token string) (id string, attempt int, err error) {
	parts := strings.SplitN(token, "/", 3)
	if len(parts) == 3 && len(parts[0]) == 32 {
		if attempt, err = strconv.Atoi(parts[1]); err == nil && attempt > 0 && parts[2] != "" {
			return parts[2], attempt, nil
		}
	}
	return "", 0, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("token", tidegate.Cut(token)), "token is not one that deep_research_job_lease returns")
}

// Extend lets a lease last longer, counted from now. With all its extensions a
// lease lasts a day at most, without the time that is not charged. It returns INVALID_ARGS, JOB_NOT_FOUND and
// LEASE_LOST.
func (b *Board) Extend(ctx context.Context, token string, more time.Duration) (expiresAt string, err error) {
	_, err = b.holding(ctx, token, func(u update, a *Attempt, lease *run.Lease) error {
		since, ok := tidegate.ParseTime(lease.LeasedAt)
		if !ok {
			return lost(a.JobID)
		}
		until := b.livedNow(lease).Add(more)
		if last := since.Add(maxHeld + a.uncharged()); until.After(last) {
			until = last
		}
		lease.ExpiresAt = tidegate.Stamp(until)
		expiresAt = lease.ExpiresAt
		u.Log(run.EventExtended, "job_extend", tidegate.Pairs("job_id", a.JobID, "attempt", lease.Attempt, "expires_at", expiresAt))
		return u.WriteJSON(run.LeaseFile(a.JobID), lease)
	})
	return expiresAt, err
}

// holding makes a change for the holder of a lease, and returns the id of its job. It returns
// INVALID_ARGS, JOB_NOT_FOUND and LEASE_LOST.
func (b *Board) holding(ctx context.Context, token string, do func(u update, a *Attempt, lease *run.Lease) error) (id string, err error) {
	if id, _, err = ofToken(token); err != nil {
		return "", err
	}
	if _, err := b.Job(id); err != nil {
		return id, err
	}
	err = b.update(ctx, id, toBeOpen, func(u update) error {
		a, lease, err := b.leaseByToken(u, token)
		if err != nil {
			return err
		}
		return do(u, a, lease)
	})
	if err != nil {
		return id, err
	}
	return id, b.Refresh(id)
}

// leaseByToken is the attempt and the living lease that a token is for, read under the
// lock. It returns LEASE_LOST.
func (b *Board) leaseByToken(u update, token string) (*Attempt, *run.Lease, error) {
	id, number, err := ofToken(token)
	if err != nil {
		return nil, nil, err
	}
	a, lease, err := b.liveLease(u, id, number)
	if err != nil {
		return nil, nil, err
	}
	if lease == nil || lease.Attempt != number || lease.TokenDigest != codec.DigestBytes([]byte(token)) || !lease.Lives(b.livedNow(lease)) {
		return nil, nil, lost(id)
	}
	return a, lease, nil
}

// liveLease is the lease of a job, nil where there is none, and, where the lease is
// for the attempt of that number, the attempt: both as they are under the lock. It
// does not read again what this board was the last to write.
func (b *Board) liveLease(u update, id string, number int) (*Attempt, *run.Lease, error) {
	b.mu.Lock()
	j := b.jobs[id]
	if j != nil && j.asOf >= u.OthersWrote() && j.last() != nil && j.last().Number == number {
		defer b.mu.Unlock()
		lease := j.lease
		if lease != nil {
			own := *lease
			lease = &own
		}
		return j.last().clone(), lease, nil
	}
	b.mu.Unlock()
	lease, err := run.JobsIn(b.Folder()).Lease(id)
	if err != nil || lease == nil || lease.Attempt != number {
		return nil, lease, err
	}
	a, err := readAttempt(b.Folder(), id, number)
	return a, lease, err
}

func lost(id string) error {
	return tidegate.Errorf(tidegate.LeaseLost, tidegate.Pairs("job_id", id), "the lease of %s has ended", id)
}

// Release gives a job back before its lease ends. An attempt in which nothing
// was handed in uses no try. It returns INVALID_ARGS, JOB_NOT_FOUND and
// LEASE_LOST.
func (b *Board) Release(ctx context.Context, token, reason string) (Job, error) {
	return b.End(ctx, token, Ending{Outcome: OutcomeReleased, Reason: reason})
}

// Ending is how an attempt ends without an accepted answer, as a driver saw it.
type Ending struct {
	Outcome   string
	Reason    string
	Asked     string         // the prompt that has no answer; "" where nothing was asked
	Usage     *driver.Charge // of that, as the client reports it, nil when it does not
	Price     *config.Price  // of tokens that come without a cost
	ToolCalls map[string]float64
	Version   string
	Events    []byte // the agent's own event stream
}

// End ends an attempt without an accepted answer. It returns the errors of
// [Board.Release].
func (b *Board) End(ctx context.Context, token string, how Ending) (Job, error) {
	id, err := b.holding(ctx, token, func(u update, a *Attempt, lease *run.Lease) error {
		b.keepLeap(u, a, lease)
		return b.endAttempt(u, a, how)
	})
	if err != nil {
		return Job{}, err
	}
	return b.Job(id)
}

func (b *Board) endAttempt(u update, a *Attempt, how Ending) error {
	a.Outcome, a.Reason, a.EndedAt = how.Outcome, run.Note(how.Reason), u.Now()
	switch {
	case how.Usage != nil:
		a.Usage.Include(how.Usage.At(how.Price))
	case how.Asked != "":
		a.Usage.Include(driver.GuessedCharge(len(how.Asked), 0).At(how.Price))
	}
	a.note(how.Version, "", how.ToolCalls)
	logEnded(u, a, b.eventsKept(how.Events)...)
	if len(how.Events) > 0 {
		if err := u.Write(a.dir()+"/events.jsonl", how.Events); err != nil {
			return err
		}
	}
	if err := a.write(u); err != nil {
		return err
	}
	return u.Remove(run.LeaseFile(a.JobID))
}

// note keeps what a client said about itself.
func (a *Attempt) note(version, session string, calls map[string]float64) {
	a.Version, a.Session = cmp.Or(version, a.Version), cmp.Or(session, a.Session)
	for tool, n := range calls {
		if a.ToolCalls == nil {
			a.ToolCalls = map[string]float64{}
		}
		a.ToolCalls[tool] += n
	}
}

// ReleaseJob ends the lease of a job, whoever has it. It is a person's decision.
// It returns JOB_NOT_FOUND, and JOB_NOT_OPEN for a job that nobody holds.
func (b *Board) ReleaseJob(ctx context.Context, id, reason string) (Job, error) {
	if _, err := b.Job(id); err != nil {
		return Job{}, err
	}
	err := b.update(ctx, id, toBeOpen, func(u update) error {
		lease, err := run.JobsIn(b.Folder()).Lease(id)
		if err != nil {
			return err
		}
		if lease == nil {
			return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", id), "nobody holds the job %s", id)
		}
		a, err := readAttempt(b.Folder(), id, lease.Attempt)
		if err != nil {
			return err
		}
		return b.endAttempt(u, a, Ending{Outcome: OutcomeReleased, Reason: reason})
	})
	if err == nil {
		err = b.Refresh(id)
	}
	if err != nil {
		return Job{}, err
	}
	return b.Job(id)
}
