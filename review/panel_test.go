package review_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/test/must"
	"github.com/tidegate/tidegate/review"
)

// A change with planted defects: each of its files has one, and one line that only looks
// like one.
const (
	defects    = 30
	linesEach  = 20
	defectLine = 12
	decoyLine  = 5
)

// scripted is a reviewer whose rates are known.
type scripted struct {
	name   string
	finds  float64 // a defect
	decoy  float64 // takes the line that looks like a defect for one
	other  float64 // finds something else in a file, on a line of its choice
	memory float64 // quotes a line from memory, which does not stand there
}

var scriptedReviewers = []scripted{
	{"careful", 0.8, 0.1, 0.05, 0},
	{"usual", 0.5, 0.2, 0.3, 0.1},
	{"noisy", 0.6, 0.5, 1.0, 0.3},
}

func lineOf(file int, line int64) string { return fmt.Sprintf("statement %d of file %d", line, file) }

// answer is the answer of a reviewer.
func (s scripted) answer(r *rand.Rand) string {
	var issues []string
	say := func(file int, line int64) {
		quote := lineOf(file, line)
		if r.Float64() < s.memory {
			quote = "statement as I remember it"
		}
		issues = append(issues, fmt.Sprintf(`{"title":"Wrong %d","severity":"Medium","category":"Bug","file":"f%02d.go","line":%d,"quote":%q,"description":"d"}`, r.IntN(1e6), file, line, quote))
	}
	for file := range defects {
		if r.Float64() < s.finds {
			say(file, defectLine)
		}
		if r.Float64() < s.decoy {
			say(file, decoyLine)
		}
		if r.Float64() < s.other {
			line := int64(1 + r.IntN(linesEach-2))
			if line >= decoyLine {
				line++
			}
			if line >= defectLine {
				line++
			}
			say(file, line)
		}
	}
	verdict := "NEEDS_FIX"
	if len(issues) == 0 {
		verdict = "APPROVED"
	}
	return fmt.Sprintf(`{"change_id":"c","verdict":%q,"summary":"s","issues":[%s]}`, verdict, strings.Join(issues, ","))
}

// reviewedFiles are the files of the change.
var reviewedFiles = review.Reviewed{
	Text: func(_ context.Context, name string) ([]byte, bool, error) {
		var file int
		if _, err := fmt.Sscanf(name, "f%d.go", &file); err != nil {
			return nil, false, nil
		}
		var b strings.Builder
		for line := range int64(linesEach) {
			fmt.Fprintln(&b, lineOf(file, line+1))
		}
		return []byte(b.String()), true, nil
	},
	Shown: func(string, int64) bool { return true },
}

// panelled is what became of reviews by a panel.
type panelled struct{ reviews, found, falsely, dropped, agreed, findings int }

// ask has a panel review the change, through everything that judges a review.
func (p *panelled) ask(t testing.TB, r *rand.Rand, panel []scripted, agree int) {
	var opinions []review.Opinion
	for i, s := range panel {
		doc := must.Get(codec.Parse([]byte(s.answer(r))))(t)
		a, faults, err := review.ParseAnswer(doc, nil)
		if err != nil || len(faults) > 0 {
			t.Fatal(faults, err)
		}
		faults, _ = must.Both(review.Judge(t.Context(), &a, reviewedFiles))(t)
		if rest := a.SetAside(faults); len(rest) > 0 {
			t.Fatal(rest)
		}
		p.dropped += len(a.Dropped)
		opinions = append(opinions, review.Opinion{By: fmt.Sprint(i), Review: a.Payload, Findings: a.Findings})
	}
	_, findings := review.Join(opinions...)
	policy := review.Policy{FailOn: "medium", Agree: agree}
	p.reviews++
	for _, f := range findings {
		p.findings++
		if len(f.FoundBy) > 1 {
			p.agreed++
		}
		switch {
		case policy.Spares(f) != "":
		case *f.Line == defectLine:
			p.found++
		default:
			p.falsely++
		}
	}
}

func (p panelled) precision() float64 { return float64(p.found) / float64(max(1, p.found+p.falsely)) }

// expected is the formula: of n reviewers who err independently at least k say the same
// with the probability B(k; n, p), so that d defects, d decoys and o other lines with the
// probabilities f, g and h make the precision d·B(f) / (d·B(f) + d·B(g) + o·B(h)).
func (s scripted) expected(n, k int) (found, precision float64) {
	atLeast := func(p float64) (sum float64) {
		p *= 1 - s.memory
		for i := k; i <= n; i++ {
			choose := math.Gamma(float64(n+1)) / math.Gamma(float64(i+1)) / math.Gamma(float64(n-i+1))
			sum += choose * math.Pow(p, float64(i)) * math.Pow(1-p, float64(n-i))
		}
		return sum
	}
	right := defects * atLeast(s.finds)
	wrong := defects*atLeast(s.decoy) + defects*(linesEach-2)*atLeast(s.other/(linesEach-2))
	return right / defects, right / (right + wrong)
}

func panelOf(s scripted, n int) (panel []scripted) {
	for range n {
		panel = append(panel, s)
	}
	return panel
}

var panels = []struct{ reviewers, agree int }{{1, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 3}}

func simulatePanel(t testing.TB, s scripted, n, agree, reviews int) (p panelled) {
	r := rand.New(rand.NewPCG(uint64(n), uint64(agree)))
	for range reviews {
		p.ask(t, r, panelOf(s, n), agree)
	}
	return p
}

func TestAPanelDoesWhatItsFormulaSays(t *testing.T) {
	t.Parallel()
	for _, c := range panels[1:3] {
		s := scriptedReviewers[1]
		found, precision := s.expected(c.reviewers, c.agree)
		got := simulatePanel(t, s, c.reviewers, c.agree, 10)
		if share := float64(got.found) / float64(defects*got.reviews); math.Abs(share-found) > 0.1 || math.Abs(got.precision()-precision) > 0.1 {
			t.Errorf("%d reviewers of whom %d agree: found %.3f with precision %.3f, where %.3f and %.3f are expected", c.reviewers, c.agree, share, got.precision(), found, precision)
		}
		if got.dropped == 0 {
			t.Error("nothing that was quoted from memory was set aside")
		}
	}
}

// BenchmarkPanels prints the table of docs/evidence.md.
func BenchmarkPanels(b *testing.B) {
	const reviews = 100
	var table strings.Builder
	for b.Loop() {
		table.Reset()
		table.WriteString("| reviewers | how many | must agree | defects found | by the formula | false findings a review | set aside a review | agreed | precision | by the formula |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n")
		for _, s := range scriptedReviewers {
			for _, c := range panels {
				p := simulatePanel(b, s, c.reviewers, c.agree, reviews)
				found, precision := s.expected(c.reviewers, c.agree)
				fmt.Fprintf(&table, "| %s | %d | %d | %.3f | %.3f | %.1f | %.1f | %.3f | %.3f | %.3f |\n", s.name, c.reviewers, c.agree, float64(p.found)/(defects*reviews), found,
					float64(p.falsely)/reviews, float64(p.dropped)/reviews, float64(p.agreed)/float64(max(1, p.findings)), p.precision(), precision)
			}
		}
	}
	fmt.Print(table.String())
}
