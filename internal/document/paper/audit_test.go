package paper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/foreign"
)

// TestAnAuditShowsWhatReordersItsText puts a character that turns text around into
// what is shown of a sentence: its text, its passages, what a rule and a reader say.
func TestAnAuditShowsWhatReordersItsText(t *testing.T) {
	turned := func(name string) string { return name + " \u202egnp.exe" }
	shown := fmt.Sprintf("%+v", auditSentence(&foreign.Judged{
		Line: 1, Text: turned("sentence"), Standing: claim.Missing,
		Findings: []claim.Finding{{Rule: "names", Level: claim.Fault, Text: "finding"}},
		Windows:  []foreign.Window{{URL: "https://example.org/", Text: turned("passage"), Title: turned("title"), Heading: turned("heading")}},
		Verdict:  "unsupported", Because: turned("because"),
	}, "1"))
	why := auditSentence(&foreign.Judged{Findings: []claim.Finding{{Rule: "names", Level: claim.Fault, Text: turned("finding")}}}, "1").Stand.Why
	if strings.Contains(shown+why, "\u202e") || !strings.Contains(why, `finding \u202egnp.exe`) {
		t.Errorf("what reorders text is not shown for what it is: %s %s", shown, why)
	}
}
