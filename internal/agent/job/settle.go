package job

import (
	"context"
	"crypto/rand"
	"slices"
	"strings"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/artifact"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/work/run"
	"github.com/tidegate/tidegate/internal/work/sentences"
)

// held reports whether an answer waits for its pairs.
func (j *Job) held() bool { return j.lease == nil && j.last().held() }

func (a *Attempt) held() bool {
	last := a.lastAnswer()
	return last != nil && a.Kind == verifyKind.name && a.Outcome == "" && last.Judged && len(last.Faults) == 0
}

// look are the jobs of a look of the present round, with the answers to them.
type look struct {
	number  int
	asks    *reading.Questions
	seen    map[string]string
	jobs    map[int]*Job     // by part
	held    map[int]*Attempt // whose pairs wait
	heard   map[int]reading.Heard
	earlier map[int][]reading.Heard
}

// settleReadings judges the pairs of the looks in which answers are held, where each of
// their parts was answered. It returns the jobs of which one was judged.
func (b *Board) settleReadings(ctx context.Context) (settled []string, err error) {
	return b.settleLooks(ctx, false)
}

// SettleUnread judges the answers that wait for parts that nobody reads any more, because a
// budget ended it, by those of their pairs that have both halves. It returns the errors of
// [run.Run.Update].
func (b *Board) SettleUnread(ctx context.Context) error {
	_, err := b.settleLooks(ctx, true)
	return err
}

func (b *Board) settleLooks(ctx context.Context, over bool) (settled []string, err error) {
	b.settling.Lock()
	defer b.settling.Unlock()
	ended := func(a *Attempt) bool { return a.Outcome != "" }
	for n := range looks {
		parts := b.heldIn(n+1, (*Attempt).held)
		if len(parts) == 0 {
			continue
		}
		var own []string
		err := b.updateAlone(ctx, parts[0].ID, toBeOpen, func(u update) error {
			l, err := readLook(ctx, b.Folder(), parts, (*Attempt).held, ended)
			if err != nil {
				return err
			}
			if err := b.unchanged(u, l.seen); err != nil {
				return err
			}
			own, err = b.settle(u, l, ended, over)
			return err
		})
		if err != nil {
			return settled, err
		}
		for _, j := range parts { // what one knows of its own part may be older than what another has settled
			if err := b.Refresh(j.ID); err != nil {
				return settled, err
			}
		}
		settled = append(settled, own...)
	}
	return settled, nil
}

// looks is how often a sentence is looked at in a round.
const looks = 2

// heldIn are the jobs of a look of the present round, nil where no answer to them is held.
func (b *Board) heldIn(number int, held func(*Attempt) bool) (parts []*Job) {
	b.mu.Lock()
	defer b.mu.Unlock()
	round := int64(0)
	for _, id := range b.order {
		round = max(round, b.jobs[id].roundOfReading())
	}
	waits := false
	for _, id := range b.order {
		j := b.jobs[id]
		if task, is := readingOf(j); is && j.round == round && task.part.Look == number {
			parts, waits = append(parts, j), waits || slices.ContainsFunc(j.attempts, held)
		}
	}
	if !waits {
		return nil
	}
	return parts
}

// roundOfReading is the round of a reading that is asked for, 0 for other jobs.
func (j *Job) roundOfReading() int64 {
	if _, is := readingOf(j); is {
		return j.round
	}
	return 0
}

func readingOf(j *Job) (readingTask, bool) {
	switch task := j.task.(type) {
	case readingTask:
		return task, true
	case runReadingTask:
		return task.readingTask, true
	}
	return readingTask{}, false
}

// readLook reads the answers to the parts of a look that a folder keeps.
func readLook(ctx context.Context, folder *artifact.Folder, parts []*Job, held, ended func(*Attempt) bool) (*look, error) {
	l := &look{jobs: map[int]*Job{}, held: map[int]*Attempt{}, heard: map[int]reading.Heard{}, earlier: map[int][]reading.Heard{}}
	for _, j := range parts {
		task, _ := readingOf(j)
		var err error
		if l.asks, l.seen, err = task.questions(ctx); err != nil {
			return nil, err
		}
		number := task.part.Number
		l.jobs[number], l.number = j, task.part.Look
		has, err := run.JobsIn(folder).Of(j.ID)
		if err != nil {
			return nil, err
		}
		for _, n := range has.Attempts {
			a, err := readAttempt(folder, j.ID, n)
			if tidegate.CodeOf(err) == tidegate.FileNotFound {
				continue
			}
			if err != nil {
				return nil, err
			}
			if ended(a) {
				l.earlier[number] = append(l.earlier[number], reading.Heard{Reader: a.reader(), Tested: a.Pairs})
			}
			if !held(a) {
				continue
			}
			given, err := task.heardIn(l.asks, folder, a)
			if err != nil {
				return nil, err
			}
			l.held[number], l.heard[number] = a, reading.Heard{Judged: given, Reader: a.reader(), Person: a.ByPerson}
		}
	}
	return l, nil
}

// heardIn is the answer of an attempt that a folder keeps. It returns INVALID_STATE for one
// that would be refused, or that answers another prompt.
func (r readingTask) heardIn(asks *reading.Questions, folder *artifact.Folder, a *Attempt) (reading.Judged, error) {
	answer, err := folder.Read(a.dir() + "/" + a.lastAnswer().Answer)
	if err != nil {
		return reading.Judged{}, err
	}
	given, faults, err := r.hear(asks, a, AsJudged(verifyKind.name, answer))
	given.Refuses = false // else it would not have been held
	if err == nil && len(faults) > 0 {
		err = tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", a.JobID, "attempt", a.Number), "attempt %d at %s would not be held", a.Number, a.JobID)
	}
	return given, err
}

// ReadAgain are the readings of a look of a report that is no run's as they would be kept,
// judged again from the answers that lie beside them, by part and attempt. It returns
// READ_FAILED, and INVALID_STATE for an answer that would not be accepted, or that answers
// another prompt.
func ReadAgain(ctx context.Context, folder *artifact.Folder, asks *reading.Questions, number int) (map[string][]byte, error) {
	var parts []*Job
	for _, p := range asks.Claims.Parts {
		if p.Look == number {
			parts = append(parts, readingJob(1, readingTask{part: p, questions: func(context.Context) (*reading.Questions, map[string]string, error) { return asks, nil, nil }}))
		}
	}
	counts := func(a *Attempt) bool { return a.Outcome == OutcomeAccepted && !a.Refuses }
	l, err := readLook(ctx, folder, parts, counts, func(a *Attempt) bool { return a.Outcome != "" && !counts(a) })
	if err != nil {
		return nil, err
	}
	d, made := asks.Look(number), map[string][]byte{}
	if s := d.Settle(l.heard, l.earlier, func(string) []reading.Tested { return nil }); len(s.Refused)+len(s.Void) > 0 {
		return nil, tidegate.Errorf(tidegate.InvalidState, nil, "a pair of look %d was missed", number)
	}
	for part, a := range l.held {
		h := l.heard[part]
		h.Tested = a.Pairs
		l.earlier[part] = append(l.earlier[part], h)
	}
	for part, a := range l.held {
		asked, err := asks.Ask(part)
		if err != nil {
			return nil, err
		}
		prompt, err := folder.Read(a.dir() + "/prompt.md")
		if err != nil {
			return nil, err
		}
		if !strings.HasPrefix(string(prompt), asked.Prompt()) {
			return nil, tidegate.Errorf(tidegate.InvalidState, tidegate.Pairs("job_id", a.JobID, "attempt", a.Number), "attempt %d at %s was asked something else", a.Number, a.JobID)
		}
		task, _ := readingOf(l.jobs[part])
		kept := readingResult{d.Counted(part, l.earlier), task.part}.document(l.jobs[part], a.Number)
		if made[sentences.ReadingFile(a.JobID, a.Number)], err = codec.MarshalFile(kept); err != nil {
			return nil, err
		}
	}
	return made, nil
}

// settle stages what becomes of the answers to the parts of a look: those without pairs
// count at once, the others when each part was answered, or when the reading is over.
func (b *Board) settle(u update, l *look, ended func(*Attempt) bool, over bool) (settled []string, err error) {
	d := l.asks.Look(l.number)
	whole, s := over || d.Whole(l.heard), reading.Settled{}
	if whole {
		s = d.Settle(l.heard, l.earlier, func(reader string) []reading.Tested {
			b.mu.Lock()
			defer b.mu.Unlock()
			return pairsOf(slices.DeleteFunc(b.readings(verifyKind.name, reader), func(a *Attempt) bool { return !ended(a) }))
		})
	}
	clean := whole && len(s.Refused)+len(s.Void) == 0
	var accepted []int
	for _, p := range l.asks.Claims.Parts {
		a := l.held[p.Number]
		if a == nil {
			continue
		}
		switch {
		case slices.Contains(s.Refused, p.Number):
			a.Outcome = OutcomeRefused
			a.lastAnswer().Faults = []Fault{fault(string(tidegate.ControlFailed), "the answer did not pass the test of its reader", 0,
				"Read every claim against its passages; the part is asked again.")}
		case slices.Contains(s.Void, p.Number):
			a.Outcome = OutcomeVoid
		case clean || over || !d.Paired(p.Number):
			a.Outcome = OutcomeAccepted
		default:
			continue
		}
		a.EndedAt, a.Pairs = u.Now(), s.Tested[p.Number]
		codes := []string{}
		for _, f := range a.lastAnswer().Faults {
			codes = append(codes, f.Code)
		}
		u.Log(run.EventVerdict, "job_settled", tidegate.Pairs("job_id", a.JobID, "attempt", a.Number, "outcome", a.Outcome, "accepted", a.Outcome == OutcomeAccepted, "faults", codes, "args", tidegate.Pairs()))
		if err := a.write(u); err != nil {
			return nil, err
		}
		if a.Outcome == OutcomeAccepted {
			h := l.heard[p.Number]
			h.Tested = a.Pairs
			l.earlier[p.Number], accepted = append(l.earlier[p.Number], h), append(accepted, p.Number)
		}
		settled = append(settled, a.JobID)
	}
	for _, number := range accepted {
		j := l.jobs[number]
		task, _ := readingOf(j)
		if err := (readingResult{d.Counted(number, l.earlier), task.part}).take(u, j, l.held[number].Number); err != nil {
			return nil, err
		}
	}
	for _, reader := range s.Unfit {
		for _, part := range s.Refused {
			if a := l.held[part]; a.reader() == reader {
				u.Log(run.EventUnfit, "READER_UNFIT", tidegate.Pairs("job_id", a.JobID, "attempt", a.Number, "reader", reader))
				break
			}
		}
	}
	return settled, nil
}

// SettleAgain judges the pairs of a look again, as the log says that its answers stood. It is
// for a rehearsal; see [run.Run.Rehearse].
func (b *Board) SettleAgain(ctx context.Context, desk run.Desk) error {
	lines, err := b.Run().EventsOf(run.EventVerdict)
	if err != nil {
		return err
	}
	type attempt struct {
		job    string
		number int64
	}
	waits, over := map[attempt]bool{}, map[attempt]bool{}
	for _, e := range lines {
		n, _ := e.Entry.Get("attempt").Int()
		of := attempt{e.Entry.Get("job_id").Str(), n}
		waits[of] = e.Entry.Get("held").Bool()
		over[of] = !waits[of]
	}
	ended := func(a *Attempt) bool { return over[attempt{a.JobID, int64(a.Number)}] }
	held := func(a *Attempt) bool { return waits[attempt{a.JobID, int64(a.Number)}] }
	for n := range looks {
		parts := b.heldIn(n+1, held)
		if len(parts) == 0 {
			continue
		}
		l, err := readLook(ctx, b.Folder(), parts, held, ended)
		if err != nil {
			return err
		}
		for _, a := range l.held {
			a.lastAnswer().Faults = nil
		}
		return b.Run().Rehearse(ctx, desk, func(u *run.Update) error {
			_, err := b.settle(update{u, u}, l, ended, false)
			return err
		})
	}
	return tidegate.Errorf(tidegate.InvalidState, nil, "no answer waits for its pairs")
}

// Pair is a twin that a second reader was tested with, once the round is over.
type Pair struct {
	Attempt  int    `json:"attempt"`
	Claim    int    `json:"claim" jsonschema:"the number of the twin in the prompt"`
	Sentence string `json:"sentence" jsonschema:"the twin: a sentence of another part, made to contradict it"`
	Missed   bool   `json:"missed" jsonschema:"the sentence that it contradicts was called supported, and so was the twin"`
}

// Pairs are the pairs that readers of a part were tested with, from what the attempts keep;
// nil while its round goes on, and for every other job. It returns JOB_NOT_FOUND and
// READ_FAILED.
func (b *Board) Pairs(id string) (all []Pair, err error) {
	j, err := b.Job(id)
	if err != nil || j.Kind != verifyKind.name || !b.closed(&j) {
		return nil, err
	}
	for _, a := range j.attempts {
		if len(a.Pairs) == 0 {
			continue
		}
		prompt, err := b.Folder().Read(a.dir() + "/prompt.md")
		if err != nil {
			return nil, err
		}
		shown := reading.SentencesOf(string(prompt))
		for _, t := range a.Pairs {
			if t.Claim <= len(shown) {
				all = append(all, Pair{a.Number, t.Claim, shown[t.Claim-1], t.Missed})
			}
		}
	}
	return all, nil
}

// draws draws the seed of a round, except under a pinned clock, and where a recording reads.
func (j *Job) draws(u update) func(round int64, digest string) reading.Seed {
	return func(round int64, digest string) (seed reading.Seed) {
		if j.seeds != nil {
			if kept, err := sentences.ParseSeed(j.seeds(round)); err == nil {
				return kept
			}
		}
		if u.Pinned() || j.seeds != nil {
			return reading.PinnedSeed(round, digest)
		}
		rand.Read(seed[:])
		return seed
	}
}

// Deal deals the sentences of a report that is no run's to its readers: by the seed that the
// folder keeps or, the first time, by one that is drawn.
func (b *Board) Deal(ctx context.Context, q *sentences.Readings) error {
	if dealt, err := q.Deal(); dealt || err != nil {
		return err
	}
	if err := b.update(ctx, verifyKind.name, toBeOpen, func(u update) error {
		return q.Draw(u, (&Job{seeds: b.Seeds}).draws(u)(q.Round, q.Claims.SynthesisDigest))
	}); err != nil {
		return err
	}
	_, err := q.Deal()
	return err
}
