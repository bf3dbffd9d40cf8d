package job

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/agent/driver"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
)

// AttemptVersion is the schema_version of an attempt.
const AttemptVersion = "job_attempt.v1"

// How an attempt ends. Beside these it ends with the kind of a driver's error.
const (
	OutcomeAccepted = "accepted"
	OutcomeRefused  = "refused"
	OutcomeReleased = "released"
	OutcomeExpired  = "expired"
	OutcomeVoid     = "void" // a reading that does not count, for which nobody is charged
)

// outcomesGivenBack are the kinds of errors for which nobody can be blamed.
var outcomesGivenBack = []string{"rate", "unavailable", OutcomeVoid}

// MaxSubmissions is how many answers one attempt takes.
const MaxSubmissions = 4

// Attempt is one agent's go at a job, as jobs/<job>/<attempt>/attempt.json keeps
// it.
type Attempt struct {
	SchemaVersion string        `json:"schema_version"`
	RunID         string        `json:"run_id"`
	JobID         string        `json:"job_id"`
	Kind          string        `json:"kind"`
	Number        int           `json:"attempt"`
	Holder        string        `json:"holder"`
	Driver        string        `json:"driver,omitempty"`
	Version       string        `json:"version,omitempty"` // of the client
	Model         string        `json:"model,omitempty"`
	Session       string        `json:"session,omitempty"`
	PromptDigest  string        `json:"prompt_digest"`
	TokenDigest   string        `json:"token_digest"`
	StartedAt     string        `json:"started_at"`
	EndedAt       string        `json:"ended_at,omitempty"`
	Outcome       string        `json:"outcome,omitempty"` // "" while it goes on
	Reason        string        `json:"reason,omitempty"`  // of the outcome, in words
	Submissions   []*Submission `json:"submissions"`
	Late          bool          `json:"late,omitempty"` // an answer came after the end, and was kept
	Unspent       []Unspent     `json:"unspent,omitempty"`
	// Sources maps the short ids of the prompt to cids.
	Sources   map[string]string  `json:"sources,omitempty"`
	Usage     driver.Charge      `json:"usage"` // of the whole attempt, as it is charged
	ToolCalls map[string]float64 `json:"tool_calls,omitempty"`
	// Confinement is how the agent of the last answer was kept.
	Confinement *run.Confinement `json:"confinement,omitzero"`
	// ByPerson says that a person reads: without twins, and not tested.
	ByPerson bool `json:"by_person,omitzero"`
	// Pairs are those whose twin a second reader was shown, as they were judged.
	Pairs []reading.Tested `json:"pairs,omitzero"`
	// MadeFrom is what it was asked about.
	MadeFrom *driver.MadeFrom `json:"made_from,omitzero"`
	// Refuses says that a second reader refuses most of what stands by rule: another is
	// asked once.
	Refuses bool `json:"refuses,omitzero"`
}

// Unspent is a time in which nobody worked at an attempt, and which is not charged: its
// home was asleep, or waited for a machine that does the work.
type Unspent struct {
	From string `json:"from"`
	To   string `json:"to"`
}

// Submission is one answer that was handed in.
type Submission struct {
	Answer     string          `json:"answer"` // its file, beside the attempt
	HandedInAt string          `json:"handed_in_at"`
	Unwrapped  []string        `json:"unwrapped,omitempty"` // what was taken off the answer before it was judged
	Judged     bool            `json:"judged"`
	Faults     []Fault         `json:"faults"`
	Warnings   []Fault         `json:"warnings"`
	Usage      *driver.Charge  `json:"usage"`                               // as it was reported
	ToolUsage  json.RawMessage `json:"tool_usage,omitempty" holds:"object"` // as it was reported
}

// Fault is one thing for which an answer is refused, or a warning.
type Fault struct {
	Code       string `json:"code"`
	Message    string `json:"message"`
	Line       *int   `json:"line" jsonschema:"1-based in the answer as it was judged, null when it has none"`
	ChangeNote string `json:"change_note" jsonschema:"what to change so that the answer passes"`
}

func fault(code, message string, line int, change string) Fault {
	f := Fault{Code: code, Message: tidegate.Cut(message), ChangeNote: tidegate.Cut(change)}
	if line > 0 {
		f.Line = &line
	}
	return f
}

// faultOf is a fault made from an error: its code, its message, and the line
// where its details have one.
func faultOf(err error, change string) Fault {
	e := tidegate.AsError(err)
	line := 0
	if n, ok := e.Details.Get("line_number"); ok {
		line, _ = n.(int)
	}
	if change == "" {
		if known, ok := tidegate.Explain(e.Code); ok {
			change = known.Fix
		}
	}
	return fault(string(e.Code), e.Message, line, change)
}

// givesBack reports whether the attempt used no try.
func (a *Attempt) givesBack() bool {
	return slices.Contains(outcomesGivenBack, a.Outcome) || a.Outcome == OutcomeReleased && len(a.Submissions) == 0
}

// lastAnswer is the last answer that was handed in, nil before the first.
func (a *Attempt) lastAnswer() *Submission {
	if a == nil || len(a.Submissions) == 0 {
		return nil
	}
	return a.Submissions[len(a.Submissions)-1]
}

// clone is a copy that may be changed.
func (a *Attempt) clone() *Attempt {
	own := *a
	own.ToolCalls = maps.Clone(a.ToolCalls)
	own.Submissions = make([]*Submission, len(a.Submissions))
	for i, s := range a.Submissions {
		copied := *s
		own.Submissions[i] = &copied
	}
	return &own
}

func (a *Attempt) dir() string { return run.AttemptDir(a.JobID, a.Number) }

// readAttempt reads an attempt. A folder without the file has no attempt: nothing
// else is written there before it.
func readAttempt(folder *artifact.Folder, jobID string, number int) (*Attempt, error) {
	name := run.AttemptDir(jobID, number) + "/attempt.json"
	data, err := folder.Read(name)
	if err != nil {
		return nil, err
	}
	a := new(Attempt)
	if err := json.Unmarshal(data, a); err != nil || a.SchemaVersion != AttemptVersion || a.JobID != jobID || a.Number != number {
		return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", filepath.Join(folder.Path(), filepath.FromSlash(name))), "%s is not attempt %d at %s", name, number, jobID)
	}
	return a, nil
}

func (a *Attempt) write(u update) error {
	if a.Submissions == nil {
		a.Submissions = []*Submission{}
	}
	return u.WriteJSON(a.dir()+"/attempt.json", a)
}

func ending(format string) string {
	if format == "json" {
		return "json"
	}
	return "md"
}

// shortLeap is by how much the time of day may differ from the time that passes here. More
// than that is a clock that was set, or a machine that slept.
const shortLeap = 10 * time.Second

// begins keeps when this process began an attempt, or the end of a time that it kept as not
// charged.
func (b *Board) begins(at time.Time, id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.begun[id] = at
}

// leapt is by how much the clock was set forward, or back where it is negative, since
// [Board.begins]; 0 where it was not. A clock without a monotonic reading never is. The
// caller holds the lock.
func (b *Board) leapt(id string, now time.Time) time.Duration {
	since, ok := b.begun[id]
	leapt := now.Round(0).Sub(since.Round(0)) - now.Sub(since)
	if !ok || leapt.Abs() < shortLeap {
		return 0
	}
	return leapt
}

// leap is by how much the clock leapt forward since [Board.begins], as the time before now
// in which nothing happened; empty where it did not. The caller holds the lock.
func (b *Board) leap(id string, now time.Time) run.Span {
	leapt := b.leapt(id, now)
	if leapt <= 0 {
		return run.Span{}
	}
	return run.Span{From: now.Add(-leapt), To: now}
}

// lived is what time it would be if nobody had set the clock while this process has the
// attempt of a lease: the lease goes by that, and so does whether its answer is being
// judged. Leases by hand go by the clock. The caller holds the lock.
func (b *Board) lived(lease *run.Lease) time.Time {
	now := b.desk.Now()
	if lease == nil || !lease.Home {
		return now
	}
	return now.Add(-b.leapt(lease.JobID, now))
}

// livedNow is [Board.lived] for callers without the lock.
func (b *Board) livedNow(lease *run.Lease) time.Time {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.lived(lease)
}

// keepLeap keeps that the clock leapt, in the update that ends the attempt. One that goes on
// is told by its home, which has its lease last longer, too.
func (b *Board) keepLeap(u update, a *Attempt, lease *run.Lease) {
	b.mu.Lock()
	leap := a.within(b.leap(a.JobID, u.Time()))
	b.mu.Unlock()
	if leap.To.After(leap.From) {
		a.unspent(u, lease, leap)
	}
}

// within is the part of a time in which the attempt had begun.
func (a *Attempt) within(span run.Span) run.Span {
	if began, _ := tidegate.ParseTime(a.StartedAt); span.From.Before(began) {
		span.From = began
	}
	return span
}

// unspent stages that a time is not charged to the attempt.
func (a *Attempt) unspent(u update, lease *run.Lease, span run.Span) {
	unspent := Unspent{tidegate.Stamp(span.From), tidegate.Stamp(span.To)}
	a.Unspent = append(a.Unspent, unspent)
	u.Log(run.EventExtended, "job_unspent", tidegate.Pairs("job_id", a.JobID, "attempt", a.Number, "expires_at", lease.ExpiresAt, "unspent", unspent))
}

// uncharged is how much time of the attempt is not charged.
func (a *Attempt) uncharged() time.Duration {
	var times run.Times
	for _, u := range a.Unspent {
		times = times.With(run.ParseSpan(u.From, u.To))
	}
	return times.Total()
}
