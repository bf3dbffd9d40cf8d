package job

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
	"github.com/tidegate/tidegate/review"
)

// readingTask asks a second reader about a part of a report: it sees sentences with passages of
// the pages that they cite, and twins of sentences of other parts.
type readingTask struct {
	desk run.Desk
	part evidence.Part
	// questions are what second readers are asked, with the digests of the documents that
	// they were made from.
	questions func(context.Context) (*reading.Questions, map[string]string, error)
	sight     func(driver string) (tree bool, lookups int) // nil for a report
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
			j := readingJob(round, readingTask{r.desk, p, r.questions, nil})
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

// CodeVerifier is the role of who reads the findings of a code review. The roles of those who
// are asked when it is unfit begin with it.
const CodeVerifier = "code_verifier"

// ReadingCode is the kind of the jobs that hold the findings of a code review against the
// code: none before there are findings. Sight says how an agent sees more of the code than the
// prompt has.
func ReadingCode(desk run.Desk, asks *reading.Questions, sight func(driver string) (tree bool, lookups int)) Kind {
	k := reads(desk, asks, 1, sight)
	k.role = CodeVerifier
	return k
}

// Reading is the kind of the jobs that read a report of no run, or an answer, in a round:
// none before there is something to ask.
func Reading(desk run.Desk, asks *reading.Questions, round int64) Kind {
	return reads(desk, asks, round, nil)
}

func reads(desk run.Desk, asks *reading.Questions, round int64, sight func(string) (bool, int)) Kind {
	return Kind{kind: verifyKind, waits: true, rounds: true, list: func() ([]*Job, error) {
		var jobs []*Job
		if asks == nil {
			return jobs, nil
		}
		for _, p := range asks.Claims.Parts {
			jobs = append(jobs, readingJob(round, readingTask{desk, p, func(context.Context) (*reading.Questions, map[string]string, error) { return asks, nil, nil }, sight}))
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

// questions are about the sentences of the synthesis, and made once for each state of
// them.
func (r *research) questions(ctx context.Context) (*reading.Questions, map[string]string, error) {
	name := r.Layout().Claims()
	digest, err := r.digests.Of(name)
	if err != nil {
		return nil, nil, err
	}
	asks, err := r.before.questions.of(name, digest, func() (*reading.Questions, error) {
		asks, err := sentences.ReadQuestions(context.WithoutCancel(ctx), r.Run) // it serves other calls, too
		if err == nil && asks == nil {
			err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", name), "the run has no sentences to read")
		}
		return asks, err
	})
	return asks, map[string]string{name: digest}, err
}

// disclosed reports whether what became of an attempt says something about its pairs.
func (a *Attempt) disclosed() bool {
	return a.Outcome == OutcomeAccepted || a.Outcome == OutcomeVoid || a.missedPair()
}

// missedPair reports whether an answer was refused for a pair.
func (a *Attempt) missedPair() bool {
	last := a.lastAnswer()
	return last != nil && slices.ContainsFunc(last.Faults, func(f Fault) bool { return f.Code == string(tidegate.ControlFailed) })
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
	asked, err := asks.Ask(r.part.Number)
	if err != nil {
		return draft{}, err
	}
	var last *lastAnswer
	if j.last() == nil || !j.last().disclosed() { // else neither the answer nor what was wrong with it may help the next
		if last, err = j.lastRefused(); err != nil {
			return draft{}, err
		}
	}
	text := asked.Prompt()
	if r.sight != nil {
		text += review.SeesMore(r.sight(j.driver))
	}
	again, err := fill("verify.md", about{Note: j.note, Last: last})
	return draft{text: text + again, seen: seen}, err
}

func (r readingTask) judge(ctx context.Context, j *Job, a answer) (judgement, error) {
	asks, seen, err := r.questions(ctx)
	if err != nil {
		return judgement{}, err
	}
	given, faults, err := r.hear(asks, a.attempt, a.text)
	first := !slices.ContainsFunc(j.attempts, func(other *Attempt) bool { return other.Refuses && other.Number != a.attempt.Number })
	given.Refuses = given.Refuses && r.part.Look == 1 && first // what is looked at again was refused before
	return judgement{faults: faultsOf(faults), seen: seen, result: readingResult{given, r.part}, refuses: given.Refuses, held: len(faults) == 0 && !given.Refuses}, err
}

// hear judges an answer to a part as its attempt was asked.
func (r readingTask) hear(asks *reading.Questions, a *Attempt, text string) (reading.Judged, []evidence.Fault, error) {
	ask := asks.Ask
	if a.ByPerson {
		ask = asks.Open
	}
	asked, err := ask(r.part.Number)
	if err != nil {
		return reading.Judged{}, nil, err
	}
	given, faults := asked.Judge([]byte(text))
	return given, faults, nil
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
// that it is to read or review, JOB_NOT_OPEN where it missed too many pairs.
func (b *Board) MayTake(id string, agent Home) error {
	return b.mayTake(id, readerName(agent.Driver, agent.Model, ""))
}

// Passed says how often others come before an agent at a reading: once for each pair that it
// missed in the round, for each reading of the part in which it refuses most of what stands by
// rule, and for every two attempts that brought none.
func (b *Board) Passed(id string, agent Home) (times int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
	if j == nil {
		return 0
	}
	reader, vain := readerName(agent.Driver, agent.Model, ""), 0
	for _, a := range b.readings(j.Kind, reader) {
		switch {
		case a.missedPair() && b.jobs[a.JobID].round == j.round:
			times++
		case a.JobID != id:
		case a.Refuses:
			times++
		case a.Outcome != "" && a.Outcome != OutcomeAccepted && !a.givesBack():
			vain++
		}
	}
	return times + vain/2
}

// readings are the attempts of a reader at the jobs of a kind. It is called with the board's
// own lock held.
func (b *Board) readings(kind, reader string) (all []*Attempt) {
	for _, id := range b.order {
		if j := b.jobs[id]; j.Kind == kind {
			for _, a := range j.attempts {
				if a.reader() == reader {
					all = append(all, a)
				}
			}
		}
	}
	return all
}

func (b *Board) mayTake(id, reader string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	j := b.jobs[id]
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
	if pairs := pairsOf(b.readings(j.Kind, reader)); j.Kind == verifyKind.name && reading.Unfit(pairs) {
		n := reading.Count(pairs)
		return tidegate.Errorf(tidegate.JobNotOpen, tidegate.Pairs("job_id", j.ID, "reader", reader), "%s has missed too much to read %s: %d of %d pairs", strings.TrimSpace(reader), j.ID, n.Missed, n.Asked)
	}
	return nil
}

// pairsOf are the pairs that readers of some attempts were tested with.
func pairsOf(attempts []*Attempt) (all []reading.Tested) {
	for _, a := range attempts {
		all = append(all, a.Pairs...)
	}
	return all
}

// closed reports whether the round of a reading is over, so that its pairs may be shown.
func (b *Board) closed(j *Job) bool {
	r := b.Run()
	return r != nil && (j.round <= r.Manifest().ReviewRounds() || r.Manifest().Stage() == run.Finalize)
}
