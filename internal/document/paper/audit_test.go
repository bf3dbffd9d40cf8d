package paper

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/claim"
	"github.com/tidegate/tidegate/internal/rule/foreign"
	"github.com/tidegate/tidegate/internal/rule/source"
	"github.com/tidegate/tidegate/internal/test/must"
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

// TestAnAuditIsLaidOutAsItsReport holds that lists, tables and marks stand where their author
// put them.
func TestAnAuditIsLaidOutAsItsReport(t *testing.T) {
	const text = "# Quays\n\nIt cost 7 euro [1](https://pages.example/1). It is new ([a page](https://pages.example/1)).\n\n3. First, it is new [1](https://pages.example/1).\n   - inner: 36 men\n4. Second.\n\n" +
		"| Year | Cost |\n|---|---|\n| 2024 |  | 9 |\n| 2025 | 8 euro |\n\nThe end.\n"
	d := must.Get(foreign.Read("r.md", []byte(text)))(t)
	r := must.Get(foreign.Judge(t.Context(), "r.md", []byte(text), d, foreign.Options{NoFetch: true}, source.Evidence{}))(t)
	shown := AuditOf(r)
	got := string(shown.Parts[0].Text)
	const want = "\n\n# Quays\n\nIt cost 7 euro. \\[1\\] It is new. \\[a page\\]\n\n3. First, it is new. \\[1\\]\n   - inner: 36 men\n4. Second.\n\n| Year | Cost\n|---|---\n| 2024 |\n| 2025 | 8 euro\n\nThe end."
	if got != want {
		t.Errorf("got %q\nwant %q", got, want)
	}
	page := string(shown.HTML())
	if !strings.Contains(page, "<td dir=\"auto\">") {
		t.Error("the page has no table")
	}
}

// TestWhatNobodyReadIsNotGreen: by rule alone the page of an audit promises no more than that
// words and numbers are there, and shows what is noted of them.
func TestWhatNobodyReadIsNotGreen(t *testing.T) {
	const text = "Ada built it. [1]\n\n## Sources\n\n1. https://yard.example/a\n"
	d := must.Get(foreign.Read("r.md", []byte(text)))(t)
	r := must.Get(foreign.Judge(t.Context(), "r.md", []byte(text), d, foreign.Options{NoFetch: true}, source.Evidence{}))(t)
	r.Sentences[0].Standing, r.Sentences[0].Findings = claim.Found, []claim.Finding{{Rule: "names", Level: claim.Remark, Text: "Ada"}}
	r.Sentences[0].Windows = []foreign.Window{{URL: "https://yard.example/a", Text: "The yard", Title: "The yard's own page"}}
	page := func() string { shown := AuditOf(r); return string(shown.HTML()) }
	for _, want := range []string{`data-state="unread"><span aria-hidden="true">○</span> Audit: 1 of 1 read by nobody`, `○ read by nobody: its numbers and most`, `<span class="flag" data-state="unread">noted only: Ada is not there`} {
		if !strings.Contains(page(), want) || strings.Contains(page(), "✓") {
			t.Errorf("without %s: %s", want, page())
		}
	}
	if got := page(); !strings.Contains(got, `href="https://yard.example/a">The yard&#39;s own page</a></p>`) {
		t.Errorf("the source has no title: %s", got)
	}
	r.Sentences[0].Verdict = "supported"
	if got := page(); !strings.Contains(got, "Audit: nothing doubtful") || strings.Contains(got, `class="flag"`) {
		t.Error(got)
	}
}

// TestAllPiecesOfASentenceAreMarked: what is wrong in a sentence cuts it into pieces, which are
// known for pieces of it.
func TestAllPiecesOfASentenceAreMarked(t *testing.T) {
	const text = "It cost 7 euro in May. [1] Who paid?\n\n## Sources\n\n1. https://yard.example/a\n"
	d := must.Get(foreign.Read("r.md", []byte(text)))(t)
	r := must.Get(foreign.Judge(t.Context(), "r.md", []byte(text), d, foreign.Options{NoFetch: true}, source.Evidence{}))(t)
	r.Sentences[0].Standing, r.Sentences[0].Findings = claim.Missing, []claim.Finding{{Rule: "numbers", Level: claim.Fault, Text: "7 euro"}}
	shown := AuditOf(r)
	page := string(shown.HTML())
	if strings.Count(page, `<span class="s more" data-state="refused">`) != 2 || strings.Count(page, `id="s1"`) != 1 || !strings.Contains(page, "is not counted below: 1 sentence.") {
		t.Error(page)
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

// TestAnAuditShowsTables: as the report has them, with the names of their columns, each row a
// sentence; in the direction of its own text.
func TestAnAuditShowsTables(t *testing.T) {
	const text = "# القاطرات\n\nتختلف الأسعار في الميناء بين القوارب التي تعمل في الليل.\n\n| Boat | Million |\n|---|---|\n| Diesel | 7.2 [1] |\n| Electric | 14.0 [1] |\n\n- يحتاج قاربان يشحنان في الوقت نفسه على الرصيف إلى 3.0 MW [1]\n\nIt ends. [1]\n\n## Sources\n\n1. https://yard.example/a\n"
	d := must.Get(foreign.Read("tugs.md", []byte(text)))(t)
	result := must.Get(foreign.Judge(t.Context(), "tugs.md", []byte(text), d, foreign.Options{NoFetch: true}, source.Evidence{}))(t)
	audited := AuditOf(result)
	page := string(audited.HTML())
	at := 0
	for _, want := range []string{`<article lang="ar" dir="rtl">`, "<table>", `<th scope="col" dir="auto">Boat</th><th scope="col" dir="auto">Million</th>`, "<tr>", `id="s2">Diesel</span>`, "</td><td", ">7.2</span>", "<tr>", ">Electric</span>", ">14.0</span>",
		"</table>", "<ul>", `<li dir="auto">`, `data-state`, "يحتاج", `<span class="ev" id="e-s4" role="group" dir="ltr"`, "</ul>", "It ends."} {
		next := strings.Index(page[at:], want)
		if next < 0 {
			t.Fatalf("%s is missing, or in the wrong place:\n%s", want, page[at:])
		}
		at += next
	}
}
