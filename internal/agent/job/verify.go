package job

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/step"
)

// verifyKind is the second reader: it sees sentences of the report with passages of the
// pages that they cite, and is tested by errors that are planted among them.
var verifyKind = kind{
	name: "verify", role: "verifier", format: "json", stages: []run.Stage{run.Review},
	list: func(b *Board) ([]*Job, error) {
		var jobs []*Job
		var err error
		if b.passed, err = step.ReportAccepted(b.run); err != nil {
			return nil, err
		}
		past := b.run.Manifest().ReviewRounds()
		for round := int64(1); round <= past+1; round++ {
			claims, err := b.claimsOf(round)
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
				j := &Job{ID: step.VerifyJob(round, p.Number), Title: fmt.Sprintf("Read part %d of the report", p.Number), round: round, part: p, unread: unread[p.Number]}
				if round > 1 {
					j.Title += fmt.Sprintf(", round %d", round)
				}
				jobs = append(jobs, j)
			}
		}
		return jobs, nil
	},
	done: func(b *Board, j *Job) bool {
		if j.round <= b.run.Manifest().ReviewRounds() || b.passed {
			return true
		}
		return !j.unread || j.readEnough()
	},
	prompt: verifyPrompt,
	judge:  judgeReading,
	accept: inRun(func(u *run.Update, j *Job, attempt int, judged judgement) error {
		return step.TakeReading(u, readingOf(j, attempt, judged))
	}),
}

// readEnough reports whether a part was read: twice where its first reader refused most of
// what stands by rule.
func (j *Job) readEnough() bool {
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

// readingOf is an answer as it is kept.
func readingOf(j *Job, attempt int, judged judgement) step.Reading {
	read := *judged.reading
	read.SchemaVersion, read.JobID, read.Attempt, read.Round, read.Part, read.Look = step.ReadingVersion, j.ID, attempt, j.round, j.part.Number, j.part.Look
	return read
}

// knownClaims is a document of claims with the digest of its file.
type knownClaims struct {
	digest string
	claims *evidence.Claims
}

// claimsOf are the sentences of the synthesis of a round, nil where the run has none. It
// is called with the board's own lock held.
func (b *Board) claimsOf(round int64) (*evidence.Claims, error) {
	m, name := b.run.Manifest(), b.run.Layout().Claims()
	switch past := m.ReviewRounds(); {
	case round <= past:
		name = b.run.Layout().RoundClaims(round)
	case m.Stage() == run.Synthesis:
		return nil, nil
	}
	digest, err := b.known.Of(name)
	if err != nil || digest == "" {
		return nil, err
	}
	if known := b.claims[name]; known.digest == digest {
		return known.claims, nil
	}
	claims, err := step.ReadClaimsAt(b.run, name)
	if err != nil {
		return nil, err
	}
	if b.claims == nil {
		b.claims = map[string]knownClaims{}
	}
	b.claims[name] = knownClaims{digest, claims}
	return claims, nil
}

// questions are what second readers are asked, with the digests of the documents that they
// were made from. Those of the synthesis of a run are made once for each state of its
// claims.
func (b *Board) questions(ctx context.Context) (*reading.Questions, map[string]string, error) {
	if c, is := b.work.(*coding); is {
		return c.change.Questions, nil, nil
	}
	r := b.Run()
	digest, err := b.digests().Of(r.Layout().Claims())
	if err != nil {
		return nil, nil, err
	}
	seen := map[string]string{r.Layout().Claims(): digest}
	b.mu.Lock()
	known, of := b.asks, b.asksOf
	b.mu.Unlock()
	if known != nil && of == digest {
		return known, seen, nil
	}
	asks, err := step.ReadQuestions(context.WithoutCancel(ctx), r) // it serves other calls, too
	if err == nil && asks == nil {
		err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("path", r.Layout().Claims()), "the run has no sentences to read")
	}
	if err != nil {
		return nil, nil, err
	}
	b.mu.Lock()
	b.asks, b.asksOf, b.planted = asks, digest, map[int]planted{}
	b.mu.Unlock()
	return asks, seen, nil
}

// newSeed is the seed of the next attempt at a job. The one of an attempt that told its
// holder nothing about its controls is used again, so that nobody learns them by
// comparing two prompts.
func (b *Board) newSeed(j *Job, synthesisDigest string) ([reading.SeedSize]byte, error) {
	last := j.last()
	switch {
	case last != nil && last.ControlSeed != "" && !last.disclosed():
		return readSeed(last.ControlSeed)
	case j.recorded != nil && j.recorded.ControlSeed != "":
		return readSeed(j.recorded.ControlSeed)
	case j.recorded != nil, b.desk.Pinned:
		return reading.PinnedSeed(j.ID, j.next(), synthesisDigest), nil
	case j.drawn != nil:
		return readSeed(*j.drawn)
	}
	var seed [reading.SeedSize]byte
	rand.Read(seed[:])
	return seed, nil
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

func verifyPrompt(ctx context.Context, b *Board, j *Job) (draft, error) {
	asks, seen, err := b.questions(ctx)
	if err != nil {
		return draft{}, err
	}
	if j.byPerson {
		asked, err := asks.Open(j.part.Number)
		return draft{text: asked.Prompt(), seen: seen}, err
	}
	seed, err := b.newSeed(j, asks.Claims.SynthesisDigest)
	if err != nil {
		return draft{}, err
	}
	asked, err := asks.Ask(j.part.Number, seed)
	if err != nil {
		return draft{}, err
	}
	made := draft{text: asked.Prompt(), seen: seen, seed: hex.EncodeToString(seed[:])}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.asks == asks {
		b.planted[j.part.Number] = planted{made.seed, asked}
	}
	last := &lastAnswer{}
	if j.last() == nil || !j.last().disclosed() {
		if last, err = b.lastRefused(j); err != nil {
			return draft{}, err
		}
	} else {
		last = nil // neither the answer nor what was wrong with it may help the next
	}
	again, err := fill("verify.md", about{Note: j.note, Last: last})
	made.text += again
	return made, err
}

func judgeReading(ctx context.Context, b *Board, j *Job, a answer) (judgement, error) {
	asks, seen, err := b.questions(ctx)
	if err != nil {
		return judgement{}, err
	}
	asked, err := b.asked(a.attempt, asks, j.part.Number)
	if err != nil {
		return judgement{}, err
	}
	given, faults := asked.Judge([]byte(a.text))
	given.Refuses = given.Refuses && j.part.Look == 1 // what is looked at again was refused before
	return judgement{faults: faultsOf(faults), seen: seen, reading: &step.Reading{Judged: given}}, nil
}

// planted is a part with the controls that a seed chose.
type planted struct {
	seed  string
	asked reading.Asked
}

// asked is the part as an attempt has it. Mostly it is the one that was last prompted.
func (b *Board) asked(a *Attempt, asks *reading.Questions, part int) (reading.Asked, error) {
	b.mu.Lock()
	last, kept := b.planted[part], b.asks == asks
	b.mu.Unlock()
	if kept && last.seed != "" && last.seed == a.ControlSeed {
		return last.asked, nil
	}
	return a.asked(asks, part)
}

// asked is the part as the attempt has it: with controls, unless a person reads.
func (a *Attempt) asked(asks *reading.Questions, part int) (reading.Asked, error) {
	if a.ControlSeed == "" {
		return asks.Open(part)
	}
	seed, err := readSeed(a.ControlSeed)
	if err != nil {
		return reading.Asked{}, err
	}
	return asks.Ask(part, seed)
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
	if j == nil || j.Kind != verifyKind.name && j.Kind != reviewKind.name || b.run != nil && !b.policy.Evidence.Sentences {
		return nil
	}
	if !b.policy.Evidence.OneAgent {
		for _, other := range b.order {
			written := b.jobs[other]
			if writes(written.Kind) && slices.ContainsFunc(written.attempts, func(a *Attempt) bool { return a.Outcome == OutcomeAccepted && a.reader() == reader }) {
				return tidegate.Errorf(tidegate.SameHolder, tidegate.Pairs("job_id", id, "wrote", written.ID), "whoever wrote the report gets neither its reading nor its review, and %s has handed in %s", reader, written.ID)
			}
		}
	}
	if j.Kind == verifyKind.name {
		return b.mayRead(j, reader)
	}
	return nil
}

// writes reports whether jobs of a kind write something of the report.
func writes(kind string) bool {
	return kind == outlineKind.name || kind == sectionKind.name || kind == synthesisKind.name || kind == askKind.name
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
	m := b.Run().Manifest()
	return j.round <= m.ReviewRounds() || m.Stage() == run.Finalize
}

// seedDigest is what the log has of a seed before it is used up.
func seedDigest(text string) string {
	seed, _ := readSeed(text)
	return codec.DigestBytes(seed[:])
}
