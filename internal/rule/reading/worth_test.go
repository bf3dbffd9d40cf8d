package reading_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The limits of a run by default.
const (
	defaultTries   = 4
	looksPerRound  = 2
	strikesToADrop = 2
)

// end is how the reading of a report ends.
type end int

const (
	passed    end = iota // gate E passes
	unfit                // READER_UNFIT: another reader or a person is asked
	exhausted            // the tries of a part are used up: a person is asked
	rounds               // so are the rounds
	ends
)

// simulated are reports with false sentences among honest ones, and what became of them.
type simulated struct {
	reports        int
	ended          [ends]int
	allPast        int // reports that passed with every false sentence in them
	onePast        int // with at least one
	past           int // false sentences in reports that passed
	attempts, kept int // at parts with the first windows, and those of them that missed no control
	predicted      float64
	drafts         int
}

func (s *simulated) add(o simulated) {
	s.reports += o.reports
	for i, n := range o.ended {
		s.ended[i] += n
	}
	s.allPast, s.onePast, s.past = s.allPast+o.allPast, s.onePast+o.onePast, s.past+o.past
	s.attempts, s.kept, s.predicted, s.drafts = s.attempts+o.attempts, s.kept+o.kept, s.predicted+o.predicted, s.drafts+o.drafts
}

// stubborn is a report whose writer words a false sentence anew each time that it is
// refused, and never mends it.
type stubborn struct {
	*world
	err      float64 // with which probability a false sentence is called supported
	random   *rand.Rand
	seed     uint64
	report   evidence.Report
	claims   evidence.Claims
	held     []claim.Judgement
	lies     map[string]bool // texts
	attempts []reading.Attempt
	strikes  map[string]int
	seen     simulated
}

func tell(t testing.TB, w *world, seed uint64, falseSentences int, err float64) simulated {
	s := stubborn{world: w, err: err, random: rand.New(rand.NewPCG(seed, 5)), seed: seed, report: w.report, claims: w.claims, held: w.held, lies: map[string]bool{}}
	s.claims = evidence.Assemble(w.report, "sha256:0", nil, w.held, nil)
	for _, i := range s.random.Perm(len(s.claims.Sentences))[:falseSentences] {
		s.lies[s.claims.Sentences[i].Text] = true
	}
	ended := s.read(t)
	s.seen.reports, s.seen.ended[ended] = 1, 1
	if ended != passed {
		return s.seen
	}
	for _, c := range s.claims.Sentences {
		if s.lies[c.Text] {
			s.seen.past++
		}
	}
	s.seen.onePast = min(1, s.seen.past)
	if s.seen.past == falseSentences {
		s.seen.allPast = 1
	}
	return s.seen
}

// read takes the report through its rounds.
func (s *stubborn) read(t testing.TB) end {
	for round := 1; ; round++ {
		s.seen.drafts++
		reading.SetParts(&s.claims)
		questions := reading.Questions{Claims: &s.claims, First: s.materialAt(1), Second: s.materialAt(2), Further: func(id string) []claim.Window {
			for i := range s.claims.Sentences {
				if s.claims.Sentences[i].ID == id {
					return s.held[i].Further(s.claims.Sentences[i].Windows)
				}
			}
			return nil
		}}
		for more := true; more; more = questions.LookAgain() {
			if ended := s.readParts(t, &questions, round); ended != passed {
				return ended
			}
		}
		outcome := s.claims.Judge(true)
		if outcome.Pass() {
			return passed
		}
		if round > defaultMaxRounds {
			return rounds
		}
		s.rewrite(t, outcome, round)
	}
}

// readParts has the open parts read until each has an answer without a fault.
func (s *stubborn) readParts(t testing.TB, questions *reading.Questions, round int) end {
	tried := map[int]int{}
	for open := s.claims.Unread(); len(open) > 0; open = s.claims.Unread() {
		for _, p := range open {
			s.seed++
			asked := must.Get(questions.Ask(p.Number, seedOf(s.seed)))(t)
			judged, faults := asked.Judge(s.reader().answer(asked))
			tried[p.Number]++
			failed := len(faults) > 0
			if failed && faults[0].Code != "CONTROL_FAILED" {
				t.Fatal(faults)
			}
			if p.Look == 1 {
				s.seen.attempts++
				s.seen.predicted += math.Pow(1-s.err, float64(len(asked.Items)-len(p.Sentences)))
				if !failed {
					s.seen.kept++
				}
			}
			s.attempts = append(s.attempts, reading.Attempt{Reader: "a", Round: round, Part: round*1000 + p.Number, Failed: failed})
			switch {
			case !failed:
				(&reading.Questions{Claims: &s.claims, Further: func(string) []claim.Window { return nil }}).Record(judged, evidence.Verdict{Round: round, Look: p.Look})
			case reading.Unfit(s.attempts, "a", round, len(s.claims.Parts)):
				return unfit
			case tried[p.Number] == defaultTries:
				return exhausted
			}
		}
	}
	return passed
}

// reader confirms what is true, and what is false now and then.
func (s *stubborn) reader() reader {
	return func(i reading.Item) bool {
		return i.ID != "" && !s.lies[i.Text] || s.random.Float64() < s.err
	}
}

func (s *stubborn) rewrite(t testing.TB, outcome evidence.Outcome, round int) {
	s.strikes = outcome.Strikes(s.strikes)
	drops := outcome.Drops(s.strikes)
	var edits evidence.Edits
	for _, refused := range outcome.Refused {
		with := ""
		if s.strikes[refused.ID] < strikesToADrop {
			text := strings.Replace(refused.Text, "In ", "As it is told, in ", 1)
			s.lies[text] = true
			with = fmt.Sprintf("%s [@%s].", strings.TrimSuffix(text, "."), refused.CIDs[0])
		}
		edits.Replace = append(edits.Replace, evidence.Replacement{Sentence: refused.ID, With: with})
	}
	next, faults := s.report.Apply(edits, drops)
	if len(faults) > 0 {
		t.Fatal(faults)
	}
	to := evidence.Read(markdown.Read(next.Draft), evidence.Facts{Template: evidence.Briefing, Language: "en", SecondReader: true})
	held := make([]claim.Judgement, len(to.Sentences))
	for i, sentence := range to.Sentences {
		var err error
		if held[i], err = s.holdOnce(sentence.Text, sentence.CIDs); err != nil {
			t.Fatal(err)
		}
	}
	before := s.claims
	s.strikes = next.Carry(s.strikes, s.report, to)
	s.report, s.held = to, held
	s.claims = evidence.Assemble(to, fmt.Sprintf("sha256:%d", round), nil, held, &before)
}

// materialAt is what the controls of a look are made from. The windows of a sentence
// depend on nothing but its text and pages, and are found once.
func (s *stubborn) materialAt(look int) reading.Material {
	m := s.material()
	m.Windows = reading.ControlWindows(s.holdOnce, look)
	return m
}

func (w *world) holdOnce(text string, cids []string) (claim.Judgement, error) {
	key := text + "\n" + strings.Join(cids, " ")
	if known, ok := w.known.Load(key); ok {
		return known.(claim.Judgement), nil
	}
	held, err := claim.Judge(context.Background(), []claim.Question{{Text: text, Language: "en", CIDs: cids}}, w.page, claim.Titles{})
	if err != nil {
		return claim.Judgement{}, err
	}
	w.known.Store(key, held[0])
	return held[0], nil
}

// simulate tells the story of many reports, with so many false ones among
// them, to a reader with a known rate of errors.
func simulate(t testing.TB, worlds []*world, reports, falseSentences int, err float64) (all simulated) {
	var mu sync.Mutex
	must.Do(t, parallel.All(t.Context(), reports, func(i int) error {
		one := tell(t, worlds[i%len(worlds)], uint64(i)<<20, falseSentences, err)
		mu.Lock()
		defer mu.Unlock()
		all.add(one)
		return nil
	}))
	return all
}

func TestWhatASecondReaderIsWorth(t *testing.T) {
	worlds := []*world{newWorld(t, 1, 40)}
	for _, c := range []struct {
		err       float64
		ended     end
		past, all int
	}{{0, passed, 0, 4}, {1, unfit, 0, 4}} {
		got := simulate(t, worlds, c.all, 3, c.err)
		if got.ended[c.ended] != c.all || got.past != c.past {
			t.Errorf("a reader that errs at the rate %v: %+v", c.err, got)
		}
	}
	got := simulate(t, worlds, 16, 3, 0.15)
	if spread := 4 * math.Sqrt(got.predicted*(1-got.predicted/float64(got.attempts))); math.Abs(float64(got.kept)-got.predicted) > spread {
		t.Errorf("%d of %d attempts missed no control, where %.1f ± %.1f should", got.kept, got.attempts, got.predicted, spread)
	}
	if got.past == 0 || got.ended[passed] == 0 || got.ended[unfit] == 0 {
		t.Errorf("a reader that errs at the rate 0.15 neither lets anything pass nor is found out: %+v", got)
	}
}

// BenchmarkWorth prints what a second reader is worth, over ten thousand reports of 60
// sentences, three of them lies, read by readers of five rates: the table of docs/evidence.md.
func BenchmarkWorth(b *testing.B) {
	const reports, lies = 2_000, 3
	var worlds []*world
	for k := range uint64(10) {
		worlds = append(worlds, newWorld(b, k, 60))
	}
	for b.Loop() {
		fmt.Print("| e | attempts at a part | of these past their controls | (1 − e)^f | reports that pass | stopped: READER_UNFIT | stopped: tries used up | drafts | passed with a lie | passed with all three | of the lies in passed reports, still there | 1 − (1 − e)^4 |\n| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
		for _, err := range []float64{0.02, 0.05, 0.1, 0.2, 0.5} {
			s := simulate(b, worlds, reports, lies, err)
			share := func(n, of int) float64 { return float64(n) / float64(max(1, of)) }
			fmt.Printf("| %.2f | %d | %.4f | %.4f | %.4f | %.4f | %.4f | %.2f | %.4f | %.4f | %.4f | %.4f |\n", err, s.attempts, share(s.kept, s.attempts), s.predicted/float64(s.attempts),
				share(s.ended[passed], reports), share(s.ended[unfit], reports), share(s.ended[exhausted]+s.ended[rounds], reports), share(s.drafts, reports),
				share(s.onePast, reports), share(s.allPast, reports), share(s.past, lies*s.ended[passed]), 1-math.Pow(1-err, strikesToADrop*looksPerRound))
		}
	}
}
