package reading_test

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/rule/reading"
	"github.com/tidegate/tidegate/internal/test/full"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// run is what becomes of the parts of a report with one reader, which is asked until
// each part has an answer or the reader is unfit.
func run(t testing.TB, w *world, m reading.Material, seed uint64, read reader) (failed int, unfit bool) {
	parts := reading.Divide(reading.Unread(&w.claims), 1)
	var attempts []reading.Attempt
	open := parts
	for round := range uint64(6) {
		var again []reading.Part
		for _, p := range open {
			asked := plant(t, p, seed*1000+round*100+uint64(p.Number), m)
			j, faults := asked.Judge(read.answer(asked))
			bad := len(faults) > 0
			if bad && faults[0].Code != "CONTROL_FAILED" {
				t.Fatal(faults)
			}
			attempts = append(attempts, reading.Attempt{Reader: "a", Part: p.Number, Failed: bad})
			if _ = j; bad {
				failed++
				again = append(again, p)
			}
			if reading.Unfit(attempts, "a", 0, len(parts)) {
				return failed, true
			}
		}
		open = again
	}
	return failed, false
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

// readers measures how often readers are found out in runs of 60 sentences: one that
// misses one control in four fails a part, and one that counts words is unfit.
func readers(t testing.TB, runs int) (erring, counting, honestly float64) {
	erred, counted, stopped := 0, 0, 0
	for k := range uint64(runs) {
		w := newWorld(t, k, 60)
		m := w.material()
		r := rand.New(rand.NewPCG(k, 2))
		if failed, _ := run(t, w, m, k, func(i reading.Item) bool { return i.ID != "" || r.IntN(4) == 0 }); failed > 0 {
			erred++
		}
		if _, unfit := run(t, w, m, k, counts); unfit {
			counted++
		}
		if failed, unfit := run(t, w, m, k, honest); failed > 0 || unfit {
			stopped++
		}
	}
	n := float64(runs)
	return float64(erred) / n, float64(counted) / n, float64(stopped) / n
}

func TestReadersThatErrAreFoundOut(t *testing.T) {
	runs := 4
	if full.Asked() {
		runs = 100
	}
	erring, counting, honestly := readers(t, runs)
	if erring < 0.9 || counting < 0.9 || honestly > 0 {
		t.Errorf("found out: %.2f of those that miss one control in four, %.2f of those that count words, %.2f of the honest", erring, counting, honestly)
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
		(&reading.Questions{Claims: &claims}).Record(given, evidence.Verdict{Round: round + 1})
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

// BenchmarkSecondReader prints the figures of docs/evidence.md.
func BenchmarkSecondReader(b *testing.B) {
	for b.Loop() {
		ended, drafts := convergence(b, 1)
		erring, counting, honestly := readers(b, 100)
		b.ReportMetric(100*ended, "%ended")
		b.ReportMetric(drafts, "drafts")
		b.ReportMetric(100*erring, "%erring-found")
		b.ReportMetric(100*counting, "%counting-unfit")
		b.ReportMetric(100*honestly, "%honest-stopped")
	}
}

// BenchmarkPrepare makes the parts of reports on pages of 60 kB, with their windows and
// rules, and plants the controls of the first.
func BenchmarkPrepare(b *testing.B) {
	for _, size := range []struct{ sentences, pages int }{{250, 50}, {1000, 200}, {2000, 400}, {5000, 1000}} {
		b.Run(fmt.Sprintf("%d-on-%d", size.sentences, size.pages), func(b *testing.B) {
			draft, w := longReport(size.sentences, size.pages)
			b.ReportAllocs()
			for b.Loop() {
				report := evidence.Read(markdown.Read([]byte(draft)), evidence.Facts{Template: evidence.Briefing, Language: "en"})
				held := must.Get(report.Hold(b.Context(), "en", w.page, claim.Titles{}))(b)
				w.claims = evidence.Assemble(report, "", nil, held, nil)
				parts := reading.Divide(reading.Unread(&w.claims), 1)
				if asked := plant(b, parts[0], 1, w.material()); len(asked.Items) <= len(parts[0].Items) {
					b.Fatal("no control")
				}
			}
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			b.ReportMetric(float64(m.Sys)/(1<<20), "MiB-sys")
		})
	}
}

// longReport is a report that cites as many sentences of each of its pages.
func longReport(sentences, pages int) (draft string, w *world) {
	r := rand.New(rand.NewPCG(1, 4))
	line := func() string {
		words := []string{"The", "harbour"}
		for range 10 {
			word := make([]byte, 4)
			for i := range word {
				word[i] = byte('a' + r.IntN(9))
			}
			words = append(words, string(word))
		}
		return strings.Join(words, " ") + fmt.Sprintf(" %d.", r.IntN(9000)+11)
	}
	w = &world{pages: map[string]string{}}
	var b strings.Builder
	b.WriteString("## Evidence\n")
	for p := range pages {
		cid := fmt.Sprintf("s%d", p)
		var lines []string
		for n := 0; n < 60_000; {
			lines = append(lines, line())
			n += len(lines[len(lines)-1]) + 1
		}
		w.pages[cid] = strings.Join(lines, "\n")
		for k := range sentences / pages {
			fmt.Fprintf(&b, "\n%s [@%s].\n", strings.TrimSuffix(lines[k*100], "."), cid)
			w.bases = append(w.bases, reading.Base{Text: lines[k*100+50], CIDs: []string{cid}, Page: true})
		}
	}
	return b.String(), w
}
