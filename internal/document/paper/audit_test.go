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

// TestOneThingIsWrongOnce: a number for which the page has another is not shown as missing, too,
// neither by itself nor in the quotation that has it.
func TestOneThingIsWrongOnce(t *testing.T) {
	s := auditSentence(&foreign.Judged{Line: 1, Text: "It “has 2.4 MW to spare” and costs 7 euro.", Standing: claim.Missing, Findings: []claim.Finding{
		{Rule: "near", Level: claim.Fault, Text: "2.4 MW: the page says 1.1 MW", Number: "2.4 MW"}, {Rule: "numbers", Level: claim.Fault, Text: "2.4 MW"},
		{Rule: "quotations", Level: claim.Fault, Text: "has 2.4 MW to spare"}, {Rule: "numbers", Level: claim.Fault, Text: "7 euro"},
	}}, "1")
	if got := fmt.Sprint(s.wrong()); got != "[{2.4 MW 1.1 MW} {7 euro }]" || strings.Contains(s.Stand.Why, "2.4 MW is not there") {
		t.Errorf("%s; %s", got, s.Stand.Why)
	}
}
