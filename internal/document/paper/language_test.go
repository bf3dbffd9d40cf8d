package paper_test

import (
	"strings"
	"testing"

	"github.com/tidegate/tidegate/internal/rule/evidence"
)

// TestAReportSpeaksItsLanguage: its own words, its dates and numbers, and the direction of
// its text.
func TestAReportSpeaksItsLanguage(t *testing.T) {
	for _, language := range evidence.Languages() {
		t.Run(language, func(t *testing.T) {
			r := checked(t)
			r.Language = language
			dir := "ltr"
			if language == "ar" {
				dir = "rtl"
			}
			html, markdown := string(r.HTML()), string(r.Markdown())
			for _, want := range []string{`<html lang="` + language + `" dir="` + dir + `">`, ">" + evidence.Say(language, "Sources") + "<",
				">" + evidence.Say(language, "How this report was made") + "<", ">" + evidence.Say(language, "Agents and models") + "<"} {
				if !strings.Contains(html, want) {
					t.Errorf("the page lacks %s", want)
				}
			}
			for _, want := range []string{"## " + evidence.Say(language, "References"), evidence.Say(language, "Accepted answers")} {
				if !strings.Contains(markdown, want) {
					t.Errorf("the Markdown lacks %s", want)
				}
			}
			if language == "en" {
				return
			}
			for _, english := range []string{"Research report", ">Sources<", "How this report was made", "tokens read", "stands on the cited page", "February", "Second reader", "Skip to", ">Close<", "Passages that"} {
				if strings.Contains(html, english) && evidence.Say(language, english) != english {
					t.Errorf("the page says %q", english)
				}
			}
		})
	}
	r := checked(t)
	r.Language = "de"
	for _, want := range []string{"3. Februar 2026", "1.284.300 Token", "7,42 USD"} {
		if !strings.Contains(string(r.HTML()), want) {
			t.Errorf("the report lacks %q", want)
		}
	}
	r.Language = "ja"
	if want := "2026年2月3日"; !strings.Contains(string(r.HTML()), want) {
		t.Errorf("the report lacks %q", want)
	}
}
