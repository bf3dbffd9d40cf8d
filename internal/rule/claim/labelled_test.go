package claim_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/test/must"
)

var update = flag.Bool("update", false, "write the score into testdata/score.md")

// The least that grounding must reach on the labelled claims of testdata/claim:
// nearly all claims that it calls missing are missing, and it finds nearly all
// that are.
const (
	leastPrecision = 0.95
	leastRecall    = 0.95
)

// TestLabelledClaims checks claims against pages. Each was labelled by hand: +
// where the page says it, - where it does not. The test prints how grounding does
// and lists its mistakes, and testdata/score.md keeps them.
func TestLabelledClaims(t *testing.T) {
	files, err := filepath.Glob("testdata/claim/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no claims: %v", err)
	}
	var rightAlarms, falseAlarms, missed, quiet, quotationsMissed int
	var mistakes []string
	for _, file := range files {
		data := must.Get(os.ReadFile(file))(t)
		page, list, found := strings.Cut(string(data), "\n---\n")
		if !found {
			t.Fatalf("%s has no claims", file)
		}
		for line := range strings.Lines(list) {
			label, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !found || label != "+" && label != "-" {
				t.Fatalf("%s: %q has no label", file, line)
			}
			got := groundOne(t, text, page)
			alarm := got.Standing == claim.Missing
			switch {
			case label == "-" && alarm:
				rightAlarms++
			case label == "-":
				missed++
				mistakes = append(mistakes, fmt.Sprintf("missed (%s): %s", strings.TrimSuffix(filepath.Base(file), ".txt"), text))
			case alarm:
				falseAlarms++
				mistakes = append(mistakes, fmt.Sprintf("false alarm (%s): %s %s", strings.TrimSuffix(filepath.Base(file), ".txt"), text, missing(got)))
				for _, q := range got.Quotations {
					if !q.Found {
						quotationsMissed++
					}
				}
			default:
				quiet++
			}
		}
	}
	total := rightAlarms + falseAlarms + missed + quiet
	precision := float64(rightAlarms) / float64(rightAlarms+falseAlarms)
	recall := float64(rightAlarms) / float64(rightAlarms+missed)
	var score strings.Builder
	fmt.Fprintf(&score, "%d claims, of which the page has %d: precision %.3f, recall %.3f, false alarms on claims that the page has %.3f. Mistakes:\n\n",
		total, falseAlarms+quiet, precision, recall, float64(falseAlarms)/float64(falseAlarms+quiet))
	for _, m := range mistakes {
		score.WriteString("- " + m + "\n")
	}
	t.Logf("\n%s", score.String())
	if total < 300 || precision < leastPrecision || recall < leastRecall || quotationsMissed > 0 {
		t.Errorf("%d claims, precision %.3f, recall %.3f, %d quotations on a page were missed", total, precision, recall, quotationsMissed)
	}
	keepScore(t, score.String())
}

// keepScore compares a score with the one in testdata/score.md, or writes it.
func keepScore(t *testing.T, score string) {
	t.Helper()
	path := filepath.Join("testdata", "score.md")
	if *update {
		must.Do(t, os.WriteFile(path, []byte(score), 0o644))
		return
	}
	want := must.Get(os.ReadFile(path))(t)
	if string(want) != score {
		t.Errorf("%s has another score; run: go test . -run LabelledClaims -update; it is\n%s", path, score)
	}
}

func missing(got claim.Judgement) string {
	var list []string
	for _, m := range append(got.Quotations, got.Numbers...) {
		if !m.Found {
			list = append(list, m.Text)
		}
	}
	return "Not found: " + strings.Join(list, "; ") + "."
}
