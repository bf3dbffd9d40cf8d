package job

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/config"
	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/wave"
)

// SubmitInput are the arguments of [Board.Submit].
type SubmitInput struct {
	Token     string
	Answer    []byte
	Usage     *driver.Charge // as it was reported, nil when it was not
	ToolUsage *codec.Value   // calls by tool, nil when nobody reported them
	Home      *HomeAnswer    // of an agent that the caller drives
}

// HomeAnswer is what a process that drives a run knows about an answer.
type HomeAnswer struct {
	Version string
	Session string
	Repair  string        // the prompt by which a refused answer was to be repaired, "" for the first
	Events  []byte        // the agent's own event stream
	Price   *config.Price // of tokens that come without a cost
	// Confinement is how the agent was kept; nil where no program was started.
	Confinement *run.Confinement
}

// What an answer waits for that is neither accepted nor refused.
const (
	ForAgents = "agents"
	ForTime   = "time"
)

// Verdict is what became of an answer.
type Verdict struct {
	JobID     string  `json:"job_id"`
	Attempt   int     `json:"attempt"`
	Accepted  bool    `json:"accepted"`
	Faults    []Fault `json:"faults" jsonschema:"everything for which the answer was refused; empty when it was accepted"`
	Warnings  []Fault `json:"warnings"`
	TriesLeft int     `json:"tries_left"`
	State     State   `json:"state" enum:"open,leased,held,accepted,exhausted"`
	// WaitingFor is set for an answer that is neither accepted nor refused.
	WaitingFor string `json:"waiting_for,omitzero" jsonschema:"agents, where the answer is kept until the other parts of the report are answered; time, where nothing can be reached from here, so that its sources cannot be judged: it is kept, and deep_research_run_step judges it again" enum:"agents,time"`
}

// Submit takes an answer to a job that the holder of the token has. It is kept
// first, then judged, and then, when it has no fault, accepted. A refused answer
// leaves the job with its holder as long as the lease lives and the attempt has
// answers left.
//
// It returns INVALID_ARGS, INVALID_STATE (a run that is final), JOB_NOT_FOUND,
// LEASE_LOST (one late answer of an attempt is kept, and not judged), and the
// errors of [run.Run.Update].
func (b *Board) Submit(ctx context.Context, in SubmitInput) (Verdict, error) {
	id, number, err := ofToken(in.Token)
	if err != nil {
		return Verdict{}, err
	}
	j, err := b.Job(id)
	if err != nil {
		return Verdict{}, err
	}
	if err := b.checkAnswer(in); err != nil {
		return Verdict{}, err
	}
	if verdict, err := b.judgeStale(ctx, id, in); verdict != nil || err != nil {
		return *verdict, err
	}
	keeping := ctx
	if in.Home != nil {
		// A home that stops has paid for the answer; the next one judges it.
		keeping = context.WithoutCancel(ctx)
	}
	n, err := b.keep(keeping, &j, in)
	if err != nil {
		return Verdict{}, err
	}
	if n == 0 {
		return Verdict{}, tidegate.Errorf(tidegate.LeaseLost, tidegate.Pairs("job_id", id, "attempt", number, "kept", true),
			"the lease of %s has ended; the answer was kept beside attempt %d and is not judged", id, number)
	}
	return b.judgeKept(ctx, id, number, n)
}

// judgeStale judges the answer before this one where its judge was stopped. Its
// verdict is returned when it decides about this answer too: both are the same, or
// the one before is accepted. Else it is nil.
func (b *Board) judgeStale(ctx context.Context, id string, in SubmitInput) (*Verdict, error) {
	b.mu.Lock()
	number, n := b.leftOver(id)
	mine := n > 0 && b.jobs[id].lease.TokenDigest == codec.DigestBytes([]byte(in.Token))
	b.mu.Unlock()
	if !mine {
		return nil, nil
	}
	j, err := b.Job(id)
	if err != nil {
		return &Verdict{}, err
	}
	kept, err := b.Folder().Read(j.last().dir() + "/" + j.last().lastAnswer().Answer)
	if err != nil {
		return &Verdict{}, err
	}
	verdict, err := b.judgeKept(ctx, id, number, n)
	if err == nil && !verdict.Accepted && !bytes.Equal(kept, in.Answer) {
		return nil, nil
	}
	return &verdict, err
}

func (b *Board) checkAnswer(in SubmitInput) error {
	if allowed := b.Policy().Budget.MaxAnswerKB * 1024; float64(len(in.Answer)) > allowed {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("answer", len(in.Answer)), "the answer has %d bytes, the run allows %.0f", len(in.Answer), allowed)
	}
	if strings.TrimSpace(string(in.Answer)) == "" {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("answer", ""), "answer must not be blank")
	}
	if in.Usage != nil {
		if err := in.Usage.Check(); err != nil {
			return err
		}
	}
	if in.ToolUsage != nil && in.ToolUsage.Kind() != codec.Object {
		return tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("tool_usage", in.ToolUsage), "tool_usage must be an object of numbers")
	}
	return nil
}

// keep stages an answer as it came. It returns its number in the attempt, 0 for a
// late one.
func (b *Board) keep(ctx context.Context, j *Job, in SubmitInput) (int, error) {
	n, line := 0, 0
	var a *Attempt
	var lease *run.Lease
	err := b.update(ctx, j.ID, toBeOpen, func(u update) (err error) {
		a, lease, err = b.leaseByToken(u, in.Token)
		if tidegate.CodeOf(err) == tidegate.LeaseLost {
			return b.keepLate(u, j, in, err)
		}
		if err != nil {
			return err
		}
		if lease.JudgingSince != nil && a.lastAnswer() != nil && !a.lastAnswer().Judged && in.Home == nil {
			if kept, err := b.Folder().Read(a.dir() + "/" + a.lastAnswer().Answer); err == nil && bytes.Equal(kept, in.Answer) {
				n = len(a.Submissions) // whoever handed it in was stopped before its verdict
				return nil
			}
			return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", j.ID), "an answer to %s is being judged; wait for its verdict", j.ID)
		}
		n = len(a.Submissions) + 1
		s := &Submission{Answer: fmt.Sprintf("answer-%d.%s", n, ending(j.answerFormat())), HandedInAt: u.Now(), Usage: in.Usage}
		if in.ToolUsage != nil {
			if s.ToolUsage, err = codec.MarshalLine(in.ToolUsage); err != nil {
				return err
			}
		}
		a.Submissions = append(a.Submissions, s)
		a.Usage.Include(b.charged(a, in))
		if in.Home != nil {
			a.note(in.Home.Version, in.Home.Session, calls(in.ToolUsage))
			a.Confinement = in.Home.Confinement
			if err := b.keepStream(u, a, in.Home, n); err != nil {
				return err
			}
		}
		if err := u.Write(a.dir()+"/"+s.Answer, in.Answer); err != nil {
			return err
		}
		if err := a.write(u); err != nil {
			return err
		}
		now := tidegate.Stamp(b.livedNow(lease))
		lease.JudgingSince = &now
		said := tidegate.Pairs("job_id", j.ID, "attempt", a.Number, "answer", n, "digest", codec.DigestBytes(in.Answer), "late", false)
		if c := a.Confinement; in.Home != nil && c != nil && c.By != "" { // else the run says it
			said = append(said, tidegate.Pairs("confinement", *c)...)
		}
		if in.Home != nil {
			said = append(said, b.eventsKept(in.Home.Events)...)
		}
		u.Log(run.EventAnswered, "job_submit", said)
		line = u.LastLine()
		return u.WriteJSON(run.LeaseFile(j.ID), lease)
	})
	if err != nil {
		return 0, err
	}
	if line == 0 {
		return n, b.Refresh(j.ID)
	}
	b.remember(a, lease, line)
	return n, nil
}

func (b *Board) keepStream(u update, a *Attempt, home *HomeAnswer, n int) error {
	if home.Repair != "" {
		if err := u.Write(fmt.Sprintf("%s/prompt-%d.md", a.dir(), n), []byte(home.Repair)); err != nil {
			return err
		}
	}
	if len(home.Events) == 0 {
		return nil
	}
	return u.Write(a.dir()+"/events.jsonl", home.Events)
}

// keepLate stages an answer that came after the end of its lease, where it is
// the first late one of the attempt that its token was made for.
func (b *Board) keepLate(u update, j *Job, in SubmitInput, lost error) error {
	_, number, err := ofToken(in.Token)
	if err != nil {
		return err
	}
	a, err := readAttempt(b.Folder(), j.ID, number)
	if err != nil || a.Late || a.TokenDigest != codec.DigestBytes([]byte(in.Token)) {
		return lost
	}
	a.Late = true
	u.Log(run.EventAnswered, "job_submit", tidegate.Pairs("job_id", j.ID, "attempt", number, "digest", codec.DigestBytes(in.Answer), "late", true))
	if err := u.Write(a.dir()+"/late."+ending(j.answerFormat()), in.Answer); err != nil {
		return err
	}
	return a.write(u)
}

// charged is what an answer costs the budget: what was reported or, where
// nothing was, a quarter of the bytes that went in and out. For an agent that
// tidegate does not drive, the larger of the two counts.
func (b *Board) charged(a *Attempt, in SubmitInput) driver.Charge {
	asked := 0
	switch {
	case in.Home != nil && in.Home.Repair != "":
		asked = len(in.Home.Repair)
	case len(a.Submissions) == 1:
		if prompt, err := b.Folder().Read(a.dir() + "/prompt.md"); err == nil {
			asked = len(prompt)
		}
	}
	guess := driver.GuessedCharge(asked, len(in.Answer))
	switch {
	case in.Home != nil && in.Usage == nil:
		return guess.At(in.Home.Price)
	case in.Home != nil:
		return in.Usage.At(in.Home.Price)
	case in.Usage == nil:
		return guess
	case guess.Tokens() > in.Usage.Tokens():
		guess.CostUSD = in.Usage.CostUSD
		return guess
	}
	return *in.Usage
}

func calls(usage *codec.Value) map[string]float64 {
	if usage == nil {
		return nil
	}
	counts := map[string]float64{}
	for _, m := range usage.Members() {
		if n, ok := m.Value.Float(); ok {
			counts[m.Key] = n
		}
	}
	return counts
}

// judgeTries is how often an answer is judged again because what it is judged by
// has changed meanwhile.
const judgeTries = 10

// judgeKept judges an answer that is kept, and records the verdict.
func (b *Board) judgeKept(ctx context.Context, id string, number, n int) (Verdict, error) {
	for try := 1; ; try++ {
		verdict, err := b.judgeOnce(ctx, id, number, n)
		if tidegate.CodeOf(err) != tidegate.InvalidState || try == judgeTries {
			return verdict, err
		}
		if err := b.Reload(ctx); err != nil {
			return Verdict{}, err
		}
	}
}

func (b *Board) judgeOnce(ctx context.Context, id string, number, n int) (Verdict, error) {
	j, err := b.Job(id)
	if err != nil {
		return Verdict{}, err
	}
	a := j.last()
	if a == nil || a.Number != number || n > len(a.Submissions) {
		if a, err = readAttempt(b.Folder(), id, number); err != nil {
			return Verdict{}, err
		}
	}
	if n > len(a.Submissions) {
		return Verdict{}, lost(id)
	}
	judged, took, err := b.judge(ctx, &j, a, n)
	if err != nil {
		return Verdict{}, err
	}
	if judged.offline && !b.desk.Pinned && b.desk.Now().Sub(handedIn(a, n)) < lineTime {
		return b.waitForLine(ctx, id, number, n)
	}
	verdict := Verdict{JobID: id, Attempt: number, Faults: judged.faults, Warnings: judged.warnings, Accepted: len(judged.faults) == 0}
	var lease *run.Lease
	line := 0
	err = b.update(ctx, id, toBeOpen, func(u update) (err error) {
		if err := judged.stillHolds(ctx, id); err != nil {
			return err
		}
		a, lease, err = b.record(u, &j, number, n, took, judged)
		line = u.LastLine()
		return err
	})
	if err != nil {
		return Verdict{}, err
	}
	b.remember(a, lease, line)
	if judged.held {
		if _, err := b.settleReadings(ctx); err != nil {
			return verdict, err
		}
	}
	after, err := b.Job(id)
	if last := after.last(); err == nil && judged.held && last.Number == number {
		verdict.Accepted, verdict.Faults = last.Outcome == OutcomeAccepted, last.lastAnswer().Faults
	}
	verdict.TriesLeft, verdict.State = after.TriesLeft, after.State
	if verdict.State == Held {
		verdict.WaitingFor = ForAgents
	}
	return verdict, err
}

// stillHolds returns INVALID_STATE when a source of the answer was fetched again, or
// decided about, after it was judged: the log would have the verdict after what it does
// not take into account.
func (j *judgement) stillHolds(ctx context.Context, id string) error {
	if j.holds == nil {
		return nil
	}
	holds, err := j.holds(ctx)
	if err == nil && !holds {
		return tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", id), "a source of the answer to %s has changed meanwhile; try again", id)
	}
	return err
}

// judge judges answer n of an attempt as the run keeps it, and says how it was
// unwrapped.
func (b *Board) judge(ctx context.Context, j *Job, a *Attempt, n int) (judgement, []string, error) {
	data, err := b.Folder().Read(a.dir() + "/" + a.Submissions[n-1].Answer)
	if err != nil {
		return judgement{}, nil, err
	}
	text, took := driver.Unwrap(data, j.answerFormat())
	usage, err := a.toolUse(n)
	if err != nil {
		return judgement{}, nil, err
	}
	if n := len(codec.Embedded(text)); j.kind.format == "json" && n > 1 {
		return judgement{faults: []Fault{fault(string(tidegate.InvalidJSON), fmt.Sprintf("the answer has %d JSON objects with text around them", n), 0,
			"Answer with one JSON object and nothing else.")}}, took, nil
	}
	if j.kind.approves {
		prompt, err := b.Folder().Read(a.dir() + "/prompt.md")
		if err != nil {
			return judgement{}, nil, err
		}
		if isExample([]byte(text), prompt) {
			return judgement{faults: []Fault{fault(string(tidegate.SchemaValidationFailed), "the answer is the example of its prompt, word for word", 0,
				"Answer the task: the example shows the form and nothing else.")}}, took, nil
		}
	}
	judged, err := j.task.judge(ctx, j, answer{text: text, toolUsage: usage, attempt: a, number: n, fetch: b.Fetch,
		lastTry: j.triesLeft(int(b.Policy().Budget.Tries), b.desk.Now()) <= 1})
	if bytes.Contains(data, []byte(link.SecretMask)) {
		judged.faults = append(judged.faults, fault(string(tidegate.SecretInAnswer), "the answer has a token or key of the agent in it", 0, "leave out what you log in with"))
	}
	return judged, took, err
}

// isExample reports whether an answer is the example that its prompt shows, as of a program
// that repeats what it reads.
func isExample(text, prompt []byte) bool {
	_, example, found := bytes.Cut(prompt, []byte("\n## Example\n"))
	example, _, _ = bytes.Cut(example, []byte("\n## Answer\n"))
	bare := func(text []byte) []byte { return bytes.Join(bytes.Fields(text), nil) }
	return found && bytes.Contains(bare(example), bare(text))
}

// toolUse is the use of tools by which answer n of an attempt is judged: what came
// with it. For an agent that tidegate drives, the calls before a refused answer
// count too: what they found is in the repaired one.
func (a *Attempt) toolUse(n int) (*codec.Value, error) {
	from := n - 1
	if a.Driver != "" {
		from = 0
	}
	var all *codec.Value
	for _, s := range a.Submissions[from:n] {
		if len(s.ToolUsage) == 0 {
			continue
		}
		use, err := codec.Parse(s.ToolUsage)
		if err != nil {
			return nil, err
		}
		if all == nil {
			all = use.Clone()
			continue
		}
		for _, m := range use.Members() {
			before, _ := all.Get(m.Key).Float()
			calls, _ := m.Value.Float()
			all.Set(m.Key, codec.Of(before+calls))
		}
	}
	return all, nil
}

// record stages the verdict on an answer: refused, or accepted with everything
// that follows from it. It returns the attempt and its lease as they are then.
func (b *Board) record(u update, j *Job, number, n int, took []string, judged judgement) (*Attempt, *run.Lease, error) {
	if err := b.unchanged(u, judged.seen); err != nil {
		return nil, nil, err
	}
	a, lease, err := b.liveLease(u, j.ID, number)
	if err != nil {
		return nil, nil, err
	}
	if lease == nil || lease.Attempt != number || a.Outcome != "" || len(a.Submissions) != n || a.Submissions[n-1].Judged {
		return nil, nil, lost(j.ID)
	}
	s := a.Submissions[n-1]
	s.Judged, s.Unwrapped, s.Faults, s.Warnings = true, took, judged.faults, judged.warnings
	codes := make([]string, len(judged.faults))
	for i, f := range judged.faults {
		codes[i] = f.Code
	}
	if slices.Contains(codes, string(tidegate.CredentialsNotAllowed)) {
		if err := b.maskKept(u, a.dir()+"/"+s.Answer); err != nil {
			return nil, nil, err
		}
	}
	fields := tidegate.Pairs("job_id", j.ID, "attempt", number, "answer", n, "accepted", len(codes) == 0 && !judged.held, "faults", codes, "args", tidegate.Pairs())
	if judged.held {
		fields = append(fields, tidegate.Detail{Key: "held", Value: true})
	}
	last := n >= MaxSubmissions
	if last || len(codes) == 0 {
		b.keepLeap(u, a, lease)
	}
	u.Log(run.EventVerdict, "job_verdict", fields)
	switch {
	case judged.held:
	case len(judged.faults) == 0:
		if judged.result != nil {
			j.seeds = b.Seeds
			if err := judged.result.take(u, j, number); err != nil {
				return nil, nil, err
			}
		}
		a.Outcome, a.EndedAt, a.Refuses = OutcomeAccepted, u.Now(), judged.refuses
	case last:
		a.Outcome, a.EndedAt = OutcomeRefused, u.Now()
		logEnded(u, a)
	default:
		lease.JudgingSince = nil
		if err := u.WriteJSON(run.LeaseFile(j.ID), lease); err != nil {
			return nil, nil, err
		}
		return a, lease, a.write(u)
	}
	if err := u.Remove(run.LeaseFile(j.ID)); err != nil {
		return nil, nil, err
	}
	return a, nil, a.write(u)
}

// maskKept masks the credentials in a kept answer.
func (b *Board) maskKept(u update, name string) error {
	data, err := b.Folder().Read(name)
	if err != nil {
		return err
	}
	return u.Write(name, wave.MaskCredentials(data))
}

// JudgeLeftOver judges the answers whose judges were stopped, and those that waited for
// the line at home. It returns the ids of the jobs of which it judged one, and of those
// whose answers still wait. It returns the errors of [Board.Submit].
func (b *Board) JudgeLeftOver(ctx context.Context) (judged, waiting []string, err error) {
	b.mu.Lock()
	var ids []string
	for _, id := range b.order {
		if _, n := b.leftOver(id); n > 0 {
			ids = append(ids, id)
		}
	}
	b.mu.Unlock()
	if judged, err = b.settleReadings(ctx); err != nil {
		return judged, nil, err
	}
	for _, id := range ids {
		verdict, err := b.judgeLeftOver(ctx, id)
		if err != nil {
			return judged, waiting, err
		}
		if verdict.WaitingFor == ForTime {
			waiting = append(waiting, id)
		} else {
			judged = append(judged, id)
		}
	}
	return judged, waiting, nil
}

// judgeLeftOver judges an answer whose judge was stopped, so that it is not lost.
func (b *Board) judgeLeftOver(ctx context.Context, id string) (Verdict, error) {
	b.mu.Lock()
	number, n := b.leftOver(id)
	b.mu.Unlock()
	if n == 0 {
		return Verdict{}, nil
	}
	verdict, err := b.judgeKept(ctx, id, number, n)
	if tidegate.CodeOf(err) == tidegate.LeaseLost {
		return Verdict{}, nil // another process was faster
	}
	return verdict, err
}

// leftOver is the attempt and the number of an answer that was kept and not
// judged, and that nobody is judging any more.
func (b *Board) leftOver(id string) (number, n int) {
	j := b.jobs[id]
	if j == nil || j.lease == nil || j.lease.Judging(b.lived(j.lease)) {
		return 0, 0
	}
	last := j.last()
	if s := last.lastAnswer(); s == nil || s.Judged || last.Outcome != "" {
		return 0, 0
	}
	return last.Number, len(last.Submissions)
}

// AsJudged is an answer to a job of a kind as its judge read it: the lines of its
// faults are counted in that text.
func AsJudged(kindName string, answer []byte) string {
	text, _ := driver.Unwrap(answer, kindOf(kindName).format)
	return text
}

// lineTime is how long an answer waits where nothing can be reached from here. After that
// its sources count as what they are: not reached.
const lineTime = 30 * time.Minute

// handedIn is when answer n of an attempt came.
func handedIn(a *Attempt, n int) time.Time {
	at, _ := tidegate.ParseTime(a.Submissions[n-1].HandedInAt)
	return at
}

// waitForLine leaves an answer neither accepted nor refused, and has its lease last for
// as long as it may wait. An answer by hand is judged again by who looks next, that of a
// home by the home.
func (b *Board) waitForLine(ctx context.Context, id string, number, n int) (Verdict, error) {
	var lease *run.Lease
	var a *Attempt
	line := 0
	err := b.update(ctx, id, toBeOpen, func(u update) (err error) {
		if a, lease, err = b.liveLease(u, id, number); err != nil {
			return err
		}
		if lease == nil || lease.Attempt != number || a.Outcome != "" || len(a.Submissions) != n || a.Submissions[n-1].Judged {
			return lost(id)
		}
		lease.JudgingSince = nil
		if until := handedIn(a, n).Add(lineTime + leaseAfter); !lease.Lives(until) {
			lease.ExpiresAt = tidegate.Stamp(until)
		}
		if now := tidegate.Stamp(b.livedNow(lease)); lease.Home {
			lease.JudgingSince = &now
		}
		u.Log(run.EventExtended, "job_wait", tidegate.Pairs("job_id", id, "attempt", number, "answer", n, "expires_at", lease.ExpiresAt, "offline", true))
		line = u.LastLine()
		return u.WriteJSON(run.LeaseFile(id), lease)
	})
	if err != nil {
		return Verdict{}, err
	}
	b.remember(a, lease, line)
	j, err := b.Job(id)
	return Verdict{JobID: id, Attempt: number, Faults: []Fault{}, Warnings: []Fault{}, TriesLeft: j.TriesLeft, State: j.State, WaitingFor: ForTime}, err
}

// leaseAfter is how long the lease lasts after the wait, so that the last verdict finds it.
const leaseAfter = 5 * time.Minute
