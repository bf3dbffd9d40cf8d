package job

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// readingTask asks a second reader about a part of a report: it sees sentences with passages of
// the pages that they cite, and is tested by errors that are planted among them.
type readingTask struct {
	desk run.Desk
	part evidence.Part
	// questions are what second readers are asked, with the digests of the documents that
	// they were made from.
	questions func(context.Context) (*questions, map[string]string, error)
}

// runReadingTask asks about a part of the report of a run.
type runReadingTask struct {
	readingTask
	*research
	round  int64
	unread bool // the part has a sentence without a verdict
}

func (r *research) readingJobs() ([]*Job, error) {
	var jobs []*Job
	var err error
	if r.passed, err = sentences.ReportAccepted(r.Run); err != nil {
		return nil, err
	}
	for round := int64(1); round <= r.Manifest().ReviewRounds()+1; round++ {
		claims, err := r.claims(round)
		if err != nil {
			return nil, err
		}
		if claims == nil {
			continue
		}
		unread := map[int]bool{}
		for _, p := range claims.Unread() {
			unread[p.Number] = true
		}
		for _, p := range claims.Parts {
			j := readingJob(round, readingTask{r.desk, p, r.questions})
			j.task = runReadingTask{j.task.(readingTask), r, round, unread[p.Number]}
			if round > 1 {
				j.Title += fmt.Sprintf(", round %d", round)
			}
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

func readingJob(round int64, asks readingTask) *Job {
	return &Job{ID: sentences.VerifyJob(round, asks.part.Number), Title: fmt.Sprintf("Read part %d of the report", asks.part.Number), round: round, task: asks}
}

// Reading is the kind of the jobs that read a report of no run, or an answer, in a round:
// none before there is something to ask.
func Reading(desk run.Desk, asks *reading.Questions, round int64) Kind {
	return Kind{kind: verifyKind, waits: true, rounds: true, list: func() ([]*Job, error) {
		var jobs []*Job
		if asks == nil {
			return jobs, nil
		}
		own := &questions{Questions: asks}
		for _, p := range asks.Claims.Parts {
			jobs = append(jobs, readingJob(round, readingTask{desk, p, func(context.Context) (*questions, map[string]string, error) { return own, nil, nil }}))
		}
		return jobs, nil
	}}
}

func (r runReadingTask) done(j *Job) bool {
	return r.round <= r.Manifest().ReviewRounds() || r.passed || !r.unread || r.readingTask.done(j)
}

// done reports whether a part was read: twice where its first reader refused most of what
// stands by rule.
func (readingTask) done(j *Job) bool {
	read := 0
	for _, a := range j.attempts {
		if a.Outcome == OutcomeAccepted {
			if read++; read > 1 || !a.Refuses {
				return true
			}
		}
	}
	return false
}

// readingResult is what a second reader said of a part.
type readingResult struct {
	reading.Judged
	part evidence.Part
}

func (r readingResult) take(u update, j *Job, attempt int) error {
	kept := r.document(j, attempt)
	if u.run != nil {
		return sentences.TakeReading(u.run, kept)
	}
	return u.WriteJSON(sentences.ReadingFile(j.ID, attempt), kept)
}

func (r readingResult) document(j *Job, attempt int) sentences.Reading {
	return sentences.Reading{SchemaVersion: sentences.ReadingVersion, JobID: j.ID, Attempt: attempt, Round: j.round, Part: r.part.Number, Look: r.part.Look, Judged: r.Judged}
}

// questions are what second readers are asked, with the parts as they were last asked.
type questions struct {
	*reading.Questions
	mu    sync.Mutex
	asked map[int]planted // by the number of the part
}

// planted is a part with the controls that a seed chose.
type planted struct {
	seed  string
	asked reading.Asked
}

// asAsked is a part as an attempt has it: with controls, unless a person reads.
func (q *questions) asAsked(part int, of *Attempt) (reading.Asked, error) {
	if of.ControlSeed == "" {
		return q.Open(part)
	}
	return q.ask(part, of.ControlSeed)
}

// ask is a part with the controls that a seed chooses. Mostly it is the one that was asked
// last.
func (q *questions) ask(part int, text string) (reading.Asked, error) {
	q.mu.Lock()
	last := q.asked[part]
	q.mu.Unlock()
	if text != "" && last.seed == text {
		return last.asked, nil
	}
	seed, err := readSeed(text)
	if err != nil {
		return reading.Asked{}, err
	}
	asked, err := q.Ask(part, seed)
	if err != nil {
		return asked, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.asked == nil {
		q.asked = map[int]planted{}
	}
	q.asked[part] = planted{text, asked}
	return asked, nil
}

// questions are about the sentences of the synthesis, and made once for each state of
// them.
func (r *research) questions(ctx context.Context) (*questions, map[string]string, error) {
	name := r.Layout().Claims()
	digest, err := r.digests.Of(name)
	if err != nil {
		return nil, nil, err
	}
	asks, err := r.before.questions.of(name, digest, func() (*questions, error) {
		asks, err := sentences.ReadQuestions(context.WithoutCancel(ctx), r.Run) // it serves other calls, too
		if err == nil && asks == nil {
			err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", name), "the run has no sentences to read")
		}
		return &questions{Questions: asks}, err
	})
	return asks, map[string]string{name: digest}, err
}

// newSeed is the seed of the next attempt at a job. The one of an attempt that told its
// holder nothing about its controls is used again, so that nobody learns them by
// comparing two prompts.
func (r readingTask) newSeed(j *Job, synthesisDigest string) string {
	last := j.last()
	switch {
	case last != nil && last.ControlSeed != "" && !last.disclosed():
		return last.ControlSeed
	case j.recorded != nil && j.recorded.ControlSeed != "":
		return j.recorded.ControlSeed
	case j.recorded == nil && !r.desk.Pinned && j.drawn != nil:
		return *j.drawn
	}
	var seed [reading.SeedSize]byte
	if rand.Read(seed[:]); j.recorded != nil || r.desk.Pinned {
		seed = reading.PinnedSeed(j.ID, j.next(), synthesisDigest)
	}
	return hex.EncodeToString(seed[:])
}

func readSeed(text string) (seed [reading.SeedSize]byte, err error) {
	data, err := hex.DecodeString(text)
	if err != nil || len(data) != len(seed) {
		return seed, tidegate.Errorf(tidegate.InvalidState, nil, "the seed of an attempt is not one of %d bytes", len(seed))
	}
	copy(seed[:], data)
	return seed, nil
}

// disclosed reports whether what became of an attempt says something about its controls.
func (a *Attempt) disclosed() bool { return a.Outcome == OutcomeAccepted || a.failedByControls() }

// failedByControls reports whether the reader missed a planted error.
func (a *Attempt) failedByControls() bool {
	last := a.lastAnswer()
	return last != nil && missedControls(last.Faults)
}

func missedControls(faults []Fault) bool {
	return slices.ContainsFunc(faults, func(f Fault) bool { return f.Code == string(tidegate.ControlFailed) })
}

func (r readingTask) prompt(ctx context.Context, j *Job) (draft, error) {
	asks, seen, err := r.questions(ctx)
	if err != nil {
		return draft{}, err
	}
	if j.byPerson {
		asked, err := asks.Open(r.part.Number)
		return draft{text: asked.Prompt(), seen: seen}, err
	}
	seed := r.newSeed(j, asks.Claims.SynthesisDigest)
	asked, err := asks.ask(r.part.Number, seed)
	if err != nil {
		return draft{}, err
	}
	var last *lastAnswer
	if j.last() == nil || !j.last().disclosed() { // else neither the answer nor what was wrong with it may help the next
		if last, err = j.lastRefused(); err != nil {
			return draft{}, err
		}
	}
	again, err := fill("verify.md", about{Note: j.note, Last: last})
	return draft{text: asked.Prompt() + again, seen: seen, seed: seed}, err
}

func (r readingTask) judge(ctx context.Context, _ *Job, a answer) (judgement, error) {
	asks, seen, err := r.questions(ctx)
	if err != nil {
		return judgement{}, err
	}
	asked, err := asks.asAsked(r.part.Number, a.attempt)
	if err != nil {
		return judgement{}, err
	}
	given, faults := asked.Judge([]byte(a.text))
	given.Refuses = given.Refuses && r.part.Look == 1 // what is looked at again was refused before
	return judgement{faults: faultsOf(faults), seen: seen, result: readingResult{given, r.part}, refuses: given.Refuses}, nil
}

// reader names who made an attempt: driver and model, and by hand the holder.
func (a *Attempt) reader() string { return readerName(a.Driver, a.Model, a.Holder) }

func readerName(driver, model, holder string) string {
	if driver == "" {
		return "by hand: " + holder
	}
	return driver + " " + model
}

// MayTake returns why an agent may not have a job: SAME_HOLDER where it wrote the report
// that it is to read or review, JOB_NOT_OPEN where it missed too many planted errors.
func (b *Board) MayTake(id string, agent Home) error {
	return b.mayTake(id, readerName(agent.Driver, agent.Model, ""))
}

// Passed says how often others come before an agent at a reading: once for each reading of
// the part in which it refuses most of what stands by rule, and for every two attempts that
// brought none.
func (b *Board) Passed(id string, agent Home) (times int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j == nil {
		return 0
	}
	vain := 0
	for _, a := range j.attempts {
		switch {
		case a.Driver != agent.Driver || a.Model != agent.Model:
		case a.Refuses:
			times++
		case a.Outcome != "" && a.Outcome != OutcomeAccepted && !a.givesBack():
			vain++
		}
	}
	return times + vain/2
}

func (b *Board) mayTake(id, reader string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j != nil && j.Kind == codeVerifyKind.name {
		return b.mayRead(j, reader)
	}
	if j == nil || j.Kind != verifyKind.name && j.Kind != reviewKind.name {
		return nil
	}
	if !b.work.policy.Evidence.OneAgent {
		for _, other := range b.order {
			written := b.jobs[other]
			if written.kind.writes && slices.ContainsFunc(written.attempts, func(a *Attempt) bool { return a.Outcome == OutcomeAccepted && a.reader() == reader }) {
				return tidegate.Errorf(tidegate.SameHolder, tidegate.Pairs("job_id", id, "wrote", written.ID), "whoever wrote the report gets neither its reading nor its review, and %s has handed in %s", reader, written.ID)
			}
		}
	}
	if j.Kind == verifyKind.name {
		return b.mayRead(j, reader)
	}
	return nil
}

// mayRead returns JOB_NOT_OPEN for a reader that missed too many planted errors.
func (b *Board) mayRead(j *Job, reader string) error {
	if b.unfit(j, reader, outcomeOfReading) {
		return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", j.ID, "reader", reader), "%s has missed too many planted errors to read %s", strings.TrimSpace(reader), j.ID)
	}
	return nil
}

// outcomeOfReading reports whether an attempt to read was judged, and whether it failed by
// controls.
func outcomeOfReading(a *Attempt) (judged, failed bool) {
	last := a.lastAnswer()
	return last != nil && last.Judged, a.failedByControls()
}

// unfit reports whether a reader has missed too many planted errors in the jobs of the
// kind of one, by what became of each attempt. It is called with the board's own lock held.
func (b *Board) unfit(of *Job, reader string, outcome func(*Attempt) (judged, failed bool)) bool {
	var attempts []reading.Attempt
	parts := 0
	for i, id := range b.order {
		j := b.jobs[id]
		if j.Kind != of.Kind {
			continue
		}
		if j.round == of.round {
			parts++
		}
		for _, a := range j.attempts {
			if judged, failed := outcome(a); judged {
				attempts = append(attempts, reading.Attempt{Reader: a.reader(), Round: int(j.round), Part: i, Failed: failed})
			}
		}
	}
	return reading.Unfit(attempts, reader, int(of.round), parts)
}

// noteUnfit logs that a reader reads no more, where the failure of its attempt a, which
// is judged at this moment, makes it so.
func (b *Board) noteUnfit(u update, j *Job, a *Attempt, outcome func(*Attempt) (judged, failed bool)) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unfit(j, a.reader(), func(other *Attempt) (judged, failed bool) {
		if other.JobID == a.JobID && other.Number == a.Number {
			return true, true
		}
		return outcome(other)
	}) {
		u.Log(run.EventUnfit, "READER_UNFIT", tidegate.Pairs("job_id", j.ID, "attempt", a.Number, "reader", a.reader()))
	}
}

// closed reports whether the round of a reading is over, so that its controls may be
// shown.
func (b *Board) closed(j *Job) bool {
	r := b.Run()
	return r != nil && (j.round <= r.Manifest().ReviewRounds() || r.Manifest().Stage() == run.Finalize)
}

// seedDigest is what the log has of a seed before it is used up.
func seedDigest(text string) string {
	seed, _ := readSeed(text)
	return codec.DigestBytes(seed[:])
}
