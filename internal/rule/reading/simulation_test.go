package reading_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tidegate/tidegate/internal/base/parallel"
	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// end is how the reading of a report ends.
type end struct {
	through bool // a lie was confirmed
	unfit   bool // a reader was called unfit
	person  bool // nobody is left to read
	asked   int  // claims, those of all attempts
}

// tries is how many refused answers to a part there may be.
const tries = 4

// read lets readers read a report to the end, each time the one that missed fewest. As in a
// run, a part is asked again with the same claims, twins and order.
func (w *world) read(t testing.TB, seed uint64, readers []reader) (e end) {
	q := w.questions(seed)
	tested := map[string][]reading.Tested{}
	of := func(reader string) []reading.Tested { return tested[reader] }
	for look := 1; ; look++ {
		d := q.Look(look)
		heard, all, used := map[int]reading.Heard{}, map[int][]reading.Heard{}, map[int]int{}
		for len(d.Parts) > 0 {
			for _, part := range numbers(d) {
				if _, is := heard[part]; is {
					continue
				}
				if used[part] == tries {
					e.person = true
					return e
				}
				best, least := -1, 0
				for i := range readers {
					own := of(fmt.Sprint(i))
					missed := len(slices.DeleteFunc(slices.Clone(own), func(t reading.Tested) bool { return !t.Missed }))
					if !reading.Unfit(own) && (best < 0 || missed < least) {
						best, least = i, missed
					}
				}
				if best < 0 {
					e.person = true
					return e
				}
				asked := d.Parts[part]
				e.asked += len(asked.Items)
				heard[part] = reading.Heard{Judged: reading.Said(asked, readers[best]), Reader: fmt.Sprint(best)}
			}
			if !d.Whole(heard) {
				continue
			}
			s := d.Settle(heard, all, of)
			for part, list := range s.Tested {
				h := heard[part]
				h.Tested, tested[h.Reader] = append(h.Tested, list...), append(tested[h.Reader], list...)
				heard[part] = h
			}
			e.unfit = e.unfit || len(s.Unfit) > 0
			if len(s.Refused)+len(s.Void) == 0 {
				break
			}
			for _, part := range slices.Concat(s.Refused, s.Void) {
				all[part] = append(all[part], heard[part])
				delete(heard, part)
			}
			for _, part := range s.Refused {
				used[part]++
			}
		}
		for _, part := range numbers(d) {
			all[part] = append(all[part], heard[part])
			q.Record(part, d.Counted(part, all), evidence.Verdict{Look: look, Job: "verify", Attempt: 1, Round: 1})
		}
		if !q.LookAgain() {
			break
		}
	}
	for _, s := range q.Claims.Sentences {
		e.through = e.through || w.lies[s.ID] && s.Verdict.Verdict == evidence.Supported
	}
	return e
}

func numbers(d reading.Dealt) (list []int) {
	for part := range d.Parts {
		list = append(list, part)
	}
	slices.Sort(list)
	return list
}

// counts is a reader that knows no sense: it calls supported what has its numbers and
// most of its words in a passage.
func counts(i reading.Item) bool {
	best := 0.0
	for _, w := range i.Windows {
		in := map[string]bool{}
		page.EachWord(w.Text, func(w page.Word) bool { in[w.Text] = true; return true })
		words, found := 0, 0
		page.EachWord(i.Text, func(w page.Word) bool {
			if words++; in[w.Text] {
				found++
			}
			return true
		})
		for field := range strings.FieldsSeq(i.Text) {
			if field[0] >= '0' && field[0] <= '9' {
				if words++; strings.Contains(w.Text, field) {
					found++
				}
			}
		}
		best = max(best, float64(found)/float64(words))
	}
	return best >= 0.8
}

// kinds are readers, each with the world that it reads and a source of chance, and what may
// become of the reports, in percent.
var kinds = []struct {
	name        string
	lies        int
	other       bool // another of its kind reads where it missed
	through     float64
	least, most float64 // are unfit
	read        func(w *world, r *rand.Rand) reader
}{
	{"agrees", 3, false, 0, 100, 100, func(*world, *rand.Rand) reader { return func(reading.Item) bool { return true } }},
	{"counts words", 3, false, 0, 100, 100, func(*world, *rand.Rand) reader { return counts }},
	{"remembers", 3, false, 0, 100, 100, func(*world, *rand.Rand) reader {
		seen := map[string]bool{} // what is new in a part that was refused is suspect
		return func(i reading.Item) bool {
			known := seen[i.Text] || len(seen) < 100
			seen[i.Text] = true
			return known
		}
	}},
	{"is wrong in one of four", 3, false, 4, 50, 100, func(w *world, r *rand.Rand) reader {
		return func(i reading.Item) bool { return w.isTrue(i) || r.IntN(4) == 0 }
	}},
	{"is wrong in one of four, and so is another", 3, true, 6, 0, 100, func(w *world, r *rand.Rand) reader {
		return func(i reading.Item) bool { return w.isTrue(i) || r.IntN(4) == 0 }
	}},
	{"errs in 2 of 100", 0, false, 0, 0, 2, func(w *world, r *rand.Rand) reader {
		return func(i reading.Item) bool { return w.isTrue(i) != (r.IntN(50) == 0) }
	}},
	{"errs in 2 of 100, and so does another", 0, true, 0, 0, 2, func(w *world, r *rand.Rand) reader {
		return func(i reading.Item) bool { return w.isTrue(i) != (r.IntN(50) == 0) }
	}},
}

// TestWhoQuotesFillerIsRefused: words that say nothing of a claim support none.
func TestWhoQuotesFillerIsRefused(t *testing.T) {
	d := newWorld(t, 5, 14, 3).questions(5).Look(1)
	for _, asked := range d.Parts {
		answer := strings.Builder{}
		for i := range asked.Items {
			fmt.Fprintf(&answer, `,{"claim":%d,"verdict":"supported","passage":1,"words":"the and by"}`, i+1)
		}
		if _, faults := asked.Judge([]byte(`{"verdicts":[` + answer.String()[1:] + `]}`)); len(faults) != len(asked.Items) {
			t.Errorf("%d of %d are refused", len(faults), len(asked.Items))
		}
	}
}

type cache struct{ known sync.Map }

func (c *cache) of(t testing.TB, k, size, lies int) *world {
	key := [3]int{k, size, lies}
	if w, is := c.known.Load(key); is {
		return w.(*world)
	}
	w := newWorld(t, uint64(k), size, lies)
	c.known.Store(key, w)
	return w
}

// TestReaders lets readers of all kinds read reports of 14, 28 and 60 sentences, three of
// them lies. Who agrees, counts words or remembers gets no lie through and is unfit; who is
// wrong in one of four gets one through in at most 4 of 100 reports, two such in at most 6; an
// honest reader who errs in 2 of 100 is unfit in at most 2 of 100. The short form has few reports of 14 sentences.
func TestReaders(t *testing.T) {
	var worlds cache
	reports, sizes := 15, []int{14}
	if full.Asked() {
		reports, sizes = 1000, []int{14, 28, 60}
	}
	for _, kind := range kinds {
		for _, size := range sizes {
			ends := make([]end, reports)
			must.Do(t, parallel.All(t.Context(), reports, func(k int) error {
				w := worlds.of(t, k, size, kind.lies)
				r := rand.New(rand.NewPCG(uint64(k), 2))
				readers := []reader{kind.read(w, r)}
				if kind.other {
					readers = append(readers, kind.read(w, r))
				}
				ends[k] = w.read(t, uint64(k), readers)
				return nil
			}))
			share := func(is func(end) bool) float64 {
				return 100 * float64(len(slices.DeleteFunc(slices.Clone(ends), func(e end) bool { return !is(e) }))) / float64(reports)
			}
			through, unfit := share(func(e end) bool { return e.through }), share(func(e end) bool { return e.unfit })
			t.Logf("%s, %d sentences: %.2f%% with a lie, %.2f%% unfit, %.2f%% to a person", kind.name, size, through, unfit, share(func(e end) bool { return e.person }))
			if through > kind.through || unfit < kind.least || full.Asked() && unfit > kind.most {
				t.Errorf("%s, %d sentences: %.2f%% with a lie, %.2f%% unfit", kind.name, size, through, unfit)
			}
		}
	}
}

// converge lets a report of n honest sentences go through rounds with readers that call
// one honest sentence in twelve and a half something else than supported. A writer
// rewrites what is refused, and drops what must be dropped. It returns the number of
// drafts.
func converge(t testing.TB, seed uint64, n, maxRounds int) (drafts int, passed bool) {
	r := rand.New(rand.NewPCG(seed, 3))
	var b strings.Builder
	b.WriteString("## Evidence\n")
	for i := range n {
		if i%5 == 0 {
			b.WriteString("\n\n")
		}
		fmt.Fprintf(&b, "The port number %d grew in that year [@s%d]. ", i, r.IntN(9)+1)
	}
	draft := []byte(b.String())
	facts := evidence.Facts{Template: evidence.Briefing, Language: "en", SecondReader: true}
	var before *evidence.Claims
	var strikes map[string]int
	report := evidence.Read(markdown.Read(draft), facts)
	for round := 0; ; round++ {
		held := make([]claim.Judgement, len(report.Sentences))
		for i := range held {
			held[i] = claim.Judgement{Standing: claim.Found}
		}
		claims := evidence.Assemble(report, "", nil, held, before)
		var given reading.Judged
		for _, item := range reading.Unread(&claims) {
			given.Given = append(given.Given, reading.Given{ID: item.ID, Verdict: mood(seed, claims.Find(item.ID).Digest)})
		}
		(&reading.Questions{Claims: &claims}).Record(1, given, evidence.Verdict{Round: round + 1})
		outcome := claims.Judge(true)
		if outcome.Pass() || round == maxRounds {
			return round + 1, outcome.Pass()
		}
		strikes = outcome.Strikes(strikes)
		drops := outcome.Drops(strikes)
		var edits evidence.Edits
		for _, refused := range outcome.Refused {
			with := fmt.Sprintf("Port %s, as read in round %d, grew [@s1].", refused.ID, round)
			for _, id := range drops {
				if id == refused.ID {
					with = ""
				}
			}
			edits.Replace = append(edits.Replace, evidence.Replacement{Sentence: refused.ID, With: with})
		}
		next, faults := report.Apply(edits, drops)
		if len(faults) > 0 {
			t.Fatal(faults)
		}
		to := evidence.Read(markdown.Read(next.Draft), facts)
		strikes = next.Carry(strikes, report, to)
		report, before = to, &claims
	}
}

// mood is a reader's verdict on an honest sentence: wrong in eight of a hundred.
func mood(seed uint64, digest string) string {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, digest)
	if n := h.Sum64() % 100; n < 8 {
		return []string{evidence.Partly, evidence.Unclear, evidence.Unsupported, evidence.Unsupported}[n%4]
	}
	return evidence.Supported
}

const (
	reports          = 1000
	defaultMaxRounds = 4 // max_verify_rounds
)

// convergence is the share of reports of 15 to 400 sentences that end without a person,
// and how many drafts they take on average.
func convergence(t testing.TB, stride int) (ended, drafts float64) {
	all, total := 0, 0
	for i := 0; i < reports; i += stride {
		n, passed := converge(t, uint64(i), 15+i*385/(reports-1), defaultMaxRounds)
		total += n
		if all++; passed {
			ended++
		}
	}
	return ended / float64(all), float64(total) / float64(all)
}

func TestRoundsConverge(t *testing.T) {
	if ended, _ := convergence(t, full.Stride(reports, 30)); ended < 0.98 {
		t.Errorf("%.3f of the reports end within the rounds of the defaults", ended)
	}
}
