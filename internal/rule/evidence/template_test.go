package evidence_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/rule/evidence"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// TestEveryTemplateInEveryLanguage: each has its headings in each language, one section of
// findings, and a place for caveats.
func TestEveryTemplateInEveryLanguage(t *testing.T) {
	if got := evidence.Languages(); len(got) < 13 {
		t.Fatalf("the languages are %v", got)
	}
	for _, name := range evidence.TemplateNames() {
		english, _ := evidence.TemplateIn(name, "en")
		for _, language := range evidence.Languages() {
			template, known := evidence.TemplateIn(name, language)
			if !known || len(template.Sections) != len(english.Sections) {
				t.Fatalf("%s in %s: %+v", name, language, template)
			}
			titles := template.Titles(nil)
			if language != "en" && slices.Equal(titles, english.Titles(nil)) {
				t.Errorf("%s in %s has English headings", name, language)
			}
			slices.Sort(titles)
			if len(slices.Compact(titles)) != len(template.Sections) {
				t.Errorf("%s in %s has a heading twice", name, language)
			}
			if n := len(template.Titles(func(s evidence.Section) bool { return s.Findings })); n != 1 {
				t.Errorf("%s in %s has %d sections of findings", name, language, n)
			}
			if n := len(template.Titles(func(s evidence.Section) bool { return s.Caveats })); n == 0 {
				t.Errorf("%s in %s has no section of caveats", name, language)
			}
		}
	}
	if _, known := evidence.TemplateIn("essay", ""); known {
		t.Error("an essay is a template")
	}
}

func TestReadOutline(t *testing.T) {
	for name, c := range map[string]struct {
		outline string
		want    []evidence.Section
		fault   string
	}{
		"marks": {"# For us\n\n## Situation\n\nWhat is there.\n\n## What we found (findings)\n## Zusammenfassung\n## Our view (Judgement)\n## Doubts (caveats)\n", []evidence.Section{
			{Title: "Situation"}, {Title: "What we found", Findings: true}, {Title: "Zusammenfassung", Summary: true}, {Title: "Our view", Judgement: true}, {Title: "Doubts", Judgement: true, Caveats: true}}, ""},
		"no mark":       {"## One\n## Two\n## Three\n", []evidence.Section{{Title: "One"}, {Title: "Two", Findings: true}, {Title: "Three"}}, ""},
		"one section":   {"# Alone\n", []evidence.Section{{Title: "Alone", Findings: true}}, ""},
		"first level":   {"# One\n# Two\n", []evidence.Section{{Title: "One"}, {Title: "Two", Findings: true}}, ""},
		"ampersand":     {"## Costs & benefits\n## R&D\n", []evidence.Section{{Title: "Costs & benefits"}, {Title: "R&D", Findings: true}}, ""},
		"an entity":     {"## Costs &amp; benefits\n", nil, "plain text"},
		"no heading":    {"Just words\n", nil, "no heading"},
		"in code":       {"```\n## One\n```\n", nil, "no heading"},
		"deeper":        {"## One\n### Two\n", nil, "third level"},
		"mixed":         {"# One\n# Two\n## Three\n", nil, "its sections are all"},
		"twice":         {"## One\n## One\n", nil, "twice"},
		"two answers":   {"## One (answer)\n## Two (answer)\n", nil, "two sections as (answer)"},
		"answers last":  {"## One\n## Two (findings)\n## Three (judgement) (answer)\n", []evidence.Section{{Title: "One"}, {Title: "Two", Findings: true}, {Title: "Three", Judgement: true, Answer: true}}, ""},
		"two findings":  {"## One (findings)\n## Two (findings)\n", nil, "two sections as (findings)"},
		"only a mark":   {"## (findings)\n", nil, "without a title"},
		"a link":        {"## [One](https://example.org)\n", nil, "plain text"},
		"hidden":        {"## O\u202ene\n", nil, "plain text"},
		"long":          {"## " + strings.Repeat("a", 81) + "\n", nil, "longer than 80"},
		"many":          {strings.Repeat("## One\n", 21), nil, "at most 20"},
		"a whole book":  {"## One\n" + strings.Repeat("words ", 2000), nil, "at most 8192"},
		"other bytes":   {"## O\xffne\n## Two\n", nil, "not UTF-8"},
		"empty heading": {"##\n", nil, "without a title"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := evidence.ReadOutline(c.outline, "de")
			if c.fault != "" {
				if tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			if diff := cmp.Diff(c.want, got.Sections); err != nil || diff != "" {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
}

func TestShapeChecked(t *testing.T) {
	const question = "Should the port buy electric tugs?"
	for name, c := range map[string]struct {
		question string
		asked    evidence.Shape
		want     evidence.Shape
		fault    string
	}{
		"nothing":           {question, evidence.Shape{}, evidence.Shape{}, ""},
		"brief":             {question, evidence.Shape{Length: "brief"}, evidence.Shape{Length: "400"}, ""},
		"standard":          {question, evidence.Shape{Length: "standard"}, evidence.Shape{Length: "1500"}, ""},
		"long":              {question, evidence.Shape{Length: "long"}, evidence.Shape{Length: "5000"}, ""},
		"words":             {question, evidence.Shape{Length: "0800"}, evidence.Shape{Length: "800"}, ""},
		"found":             {"Soll der Hafen elektrische Schlepper kaufen?", evidence.Shape{}, evidence.Shape{Language: "de"}, ""},
		"asked":             {"Soll der Hafen elektrische Schlepper kaufen?", evidence.Shape{Language: "en"}, evidence.Shape{Language: "en"}, ""},
		"audience":          {question, evidence.Shape{Audience: "  the board\nof a port "}, evidence.Shape{Audience: "the board of a port"}, ""},
		"few words":         {question, evidence.Shape{Length: "99"}, evidence.Shape{}, "brief, standard, long or a number of words from 100 to 20000"},
		"many words":        {question, evidence.Shape{Length: "20001"}, evidence.Shape{}, "length must be"},
		"no length":         {question, evidence.Shape{Length: "a page"}, evidence.Shape{}, "length must be"},
		"no language":       {question, evidence.Shape{Language: "german"}, evidence.Shape{}, "language must be one of en, de, fr"},
		"no template":       {question, evidence.Shape{Template: "essay"}, evidence.Shape{}, "template must be one of briefing, decision, literature, market, timeline"},
		"no outline":        {question, evidence.Shape{Template: "words\n"}, evidence.Shape{}, "no heading"},
		"too many for whom": {question, evidence.Shape{Audience: strings.Repeat("a", 201)}, evidence.Shape{}, "at most 200 characters"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := c.asked.Checked(c.question)
			if c.fault != "" {
				if tidegate.CodeOf(err) != tidegate.InvalidArgs || !strings.Contains(err.Error(), c.fault) {
					t.Errorf("%v, want %q", err, c.fault)
				}
				return
			}
			if err != nil || got != c.want {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

// TestALengthSaysHowItIsCounted where no blanks tell words apart: to a person, and to the author
// of a report that is too short or too long.
func TestALengthSaysHowItIsCounted(t *testing.T) {
	const how = "(ten characters count as three)"
	for language, counted := range map[string]bool{"zh": true, "ja": true, "en": false, "": false} {
		lines := strings.Join(evidence.Shape{Length: "400", Language: language}.Lines(), " ")
		said := ""
		for _, n := range []int{10, 1000} {
			draft := "## One\n\n" + strings.Repeat("港口应该购买电动拖船。[@a]\n\n", n)
			for _, f := range evidence.Read(markdown.Read([]byte(draft)), evidence.Facts{Language: language, Whole: true, Least: 100, Most: 200,
				Template: evidence.Template{Sections: []evidence.Section{{Title: "One"}}}, Sources: []evidence.Source{{CID: "a", Perspectives: []string{"p"}}}}).Faults {
				said += f.Message + "\n"
			}
		}
		if want := map[bool]int{true: 1}[counted]; strings.Count(lines, how) != want || strings.Count(said, how) != 2*want {
			t.Errorf("%q: %s, %s", language, lines, said)
		}
	}
}

// TestLengthIsJudged: a report has its words, give or take a fifth.
func TestLengthIsJudged(t *testing.T) {
	shape := evidence.Shape{Length: "100"}
	if least, most := shape.Range(true); least != 0 || most != 132 {
		t.Errorf("a draft that corrects another has %d to %d words", least, most)
	}
	least, most := shape.Range(false)
	for words, want := range map[int]tidegate.Code{79: tidegate.TooLittle, 80: "", 120: "", 121: tidegate.TooManyWords} {
		draft := "## One\n\n" + strings.Repeat("word word word word word word word word word. [@a]\n\n", words/9)
		if rest := words % 9; rest > 0 {
			draft += strings.TrimSpace(strings.Repeat("word ", rest)) + ". [@a]\n"
		}
		report := evidence.Read(markdown.Read([]byte(draft)), evidence.Facts{Template: evidence.Template{Sections: []evidence.Section{{Title: "One"}}}, Whole: true, Least: least, Most: most,
			Sources: []evidence.Source{{CID: "a", Perspectives: []string{"p"}}}})
		var got tidegate.Code
		for _, f := range report.Faults {
			got = f.Code
		}
		if got != want || len(report.Faults) > 1 {
			t.Errorf("%d words (%d are counted): %+v", words, report.Words(), report.Faults)
		}
	}
}
