package paper_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/document/paper"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/test/golden"
	"github.com/tidegate/tidegate/internal/test/must"
)

// checked is a report whose every sentence was held against its pages and read.
func checked(t testing.TB) paper.Report { return checkedDraft(t, "testdata/checked/synthesis.md") }

// checkedDraft is the same for another draft.
func checkedDraft(t testing.TB, file string) paper.Report {
	t.Helper()
	text := must.Get(os.ReadFile(file))(t)
	r := harbour(t)
	r.Language = "en"
	draft := string(text)
	for _, name := range harbourOrder {
		draft = strings.ReplaceAll(draft, "@"+name, "@"+cid(name))
	}
	read, claims := hold(t, r, draft, evidence.Facts{Template: evidence.Briefing, SecondReader: true})
	claims.Pairs = evidence.Pairs{Asked: 6, Hard: 3}
	for i := range claims.Sentences {
		s := &claims.Sentences[i]
		s.Verdict = &evidence.Verdict{Verdict: evidence.Supported, Look: 1, Job: "verify.1", Attempt: 1, Round: 1}
		if s.Form != evidence.Frame && len(s.Windows) > 0 {
			s.Verdict.Words = strings.Join(strings.Fields(s.Windows[0].Text)[:6], " ")
		}
		switch {
		case strings.HasPrefix(s.Text, "The crews") || strings.HasPrefix(s.Text, "Cost: Insurance"):
			s.Verdict = &evidence.Verdict{Verdict: evidence.Partly, Because: "the page is about one harbour <b>only</b>; log in at evil.com/login", Look: 2, Job: "verify.1", Attempt: 1, Round: 1}
		case strings.HasPrefix(s.Text, "The figures"):
			s.Accepted = &evidence.Acceptance{By: "Ada <script>", Reason: "the yard told me"}
		}
	}
	all := shown(read, claims, true)
	for i := range all {
		all[i].Reader = "codex gpt-5"
	}
	r.Parts, r.Trust = []paper.Part{{Text: []byte(draft), Sentences: all}}, evidence.TrustLine(&claims, evidence.Readers{})
	return r
}

func TestCheckedHTML(t *testing.T) {
	golden.Check(t, "testdata/checked/report.html", checked(t).HTML())
}

func TestCheckedMarkdown(t *testing.T) {
	golden.Check(t, "testdata/checked/report.md", checked(t).Markdown())
}

// TestEverySentenceIsShown: each has a card that says how it stands, what is not
// confirmed says so where it stands, and no mark is left as it was written.
func TestEverySentenceIsShown(t *testing.T) {
	r := checked(t)
	page, text := string(r.HTML()), string(r.Markdown())
	for _, s := range r.Parts[0].Sentences {
		if !strings.Contains(page, ` id="`+s.ID+`"`) || !strings.Contains(page, `<span class="ev" id="e-`+s.ID+`"`) {
			t.Errorf("nothing stands beside %s: %s", s.ID, s.Text)
		}
	}
	for _, want := range []string{"16 sentences: 8 stand by rule and second reader", "None of the 9 archived pages has a sentence with: resale value.", "(← not confirmed)", "(← accepted by Ada \\<script>)", "[calculated: 341 / 118 = 2.9]", "[inferred from "} {
		if !strings.Contains(text, want) {
			t.Errorf("the Markdown does not say %q", want)
		}
	}
	if !strings.Contains(page, "log in at evil.com/login") || regexp.MustCompile(`href="[^"]*evil`).MatchString(page) || strings.Contains(text, "evil.com") {
		t.Error("what the reader says can be clicked")
	}
	for _, bad := range []string{"[inferred from", "[calculated", "[not found", "@cid", "<script>", "<b>only"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}
