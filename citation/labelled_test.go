package citation_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/citation"
)

// The least that grounding must reach on the labelled claims of testdata/claim:
// of the claims that it calls missing nearly all are, and it finds nearly all that
// are.
const (
	leastPrecision = 0.95
	leastRecall    = 0.95
)

// TestLabelledClaims holds claims against pages. A person labelled each claim: +
// where the page says it, - where it does not. The test prints how grounding does
// and lists its mistakes, and fails when it does worse.
func TestLabelledClaims(t *testing.T) {
	files, err := filepath.Glob("testdata/claim/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("no claims: %v", err)
	}
	var rightAlarms, falseAlarms, missed, quiet, quotationsMissed int
	var mistakes []string
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		page, list, found := strings.Cut(string(data), "\n---\n")
		if !found {
			t.Fatalf("%s has no claims", file)
		}
		for line := range strings.Lines(list) {
			label, text, found := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			if !found || label != "+" && label != "-" {
				t.Fatalf("%s: %q has no label", file, line)
			}
			claim := groundOne(t, text, page)
			alarm := claim.Verdict == citation.Ungrounded || claim.Verdict == citation.Partly
			switch {
			case label == "-" && alarm:
				rightAlarms++
			case label == "-":
				missed++
				mistakes = append(mistakes, fmt.Sprintf("missed      %s: %s", filepath.Base(file), text))
			case alarm:
				falseAlarms++
				mistakes = append(mistakes, fmt.Sprintf("false alarm %s: %s (%s)", filepath.Base(file), text, missing(claim)))
				for _, q := range claim.Quotations {
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
	t.Logf("%d claims: %d unsupported found, %d missed, %d false alarms on %d supported", total, rightAlarms, missed, falseAlarms, falseAlarms+quiet)
	t.Logf("precision %.3f, recall %.3f, false alarms on supported claims %.3f", precision, recall, float64(falseAlarms)/float64(falseAlarms+quiet))
	for _, m := range mistakes {
		t.Log(m)
	}
	if total < 300 || precision < leastPrecision || recall < leastRecall || quotationsMissed > 0 {
		t.Errorf("%d claims, precision %.3f, recall %.3f, %d quotations on a page were missed", total, precision, recall, quotationsMissed)
	}
}

func missing(claim citation.Claim) string {
	var list []string
	for _, m := range append(claim.Quotations, claim.Numbers...) {
		if !m.Found {
			list = append(list, m.Text)
		}
	}
	return "not found: " + strings.Join(list, "; ")
}
