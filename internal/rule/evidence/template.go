package evidence

import (
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Template is the shape of a report: its sections, as headings of the second level.
type Template struct {
	Name     string
	Sections []Section
	// Timeline allows dates in headings that a cited sentence below them has.
	Timeline bool
}

// Section is a section of a template.
type Section struct {
	Title     string
	Summary   bool // it repeats what others say: results of other sections may stand in it
	Findings  bool // it must have as many cited sentences as there are perspectives
	Judgement bool // any of its sentences may be inferred
	Caveats   bool // its inferences may name @run
	Answer    bool // it answers the question
}

// Answer is the heading of the section that answers the question; the first where the template names
// none.
func (t Template) Answer() string {
	at := slices.IndexFunc(t.Sections, func(s Section) bool { return s.Answer })
	if len(t.Sections) == 0 {
		return ""
	}
	return t.Sections[max(0, at)].Title
}

// firm reports whether the sentences of a section must all be confirmed: those of the
// first section, and of the answer.
func (t Template) firm(section string) bool {
	return len(t.Sections) > 0 && (section == t.Sections[0].Title || section == t.Answer())
}

// Briefing is the template of a report for which no other is chosen.
var Briefing = Template{Name: "briefing", Sections: []Section{
	{Title: "Summary", Summary: true, Answer: true},
	{Title: "Key Findings", Findings: true},
	{Title: "Evidence"},
	{Title: "Caveats", Judgement: true, Caveats: true},
}}

// templates are those that can be chosen by name, with their headings in English.
var templates = []Template{Briefing,
	{Name: "decision", Sections: []Section{
		{Title: "The Question"},
		{Title: "Options", Findings: true},
		{Title: "Comparison"},
		{Title: "Costs"},
		{Title: "Risks", Judgement: true},
		{Title: "Recommendation", Summary: true, Judgement: true, Answer: true},
		{Title: "What Would Change It", Judgement: true, Caveats: true},
	}},
	{Name: "literature", Sections: []Section{
		{Title: "Scope", Judgement: true, Caveats: true},
		{Title: "Methods", Judgement: true, Caveats: true},
		{Title: "Findings by Theme", Findings: true, Answer: true},
		{Title: "Disagreements"},
		{Title: "Gaps", Judgement: true, Caveats: true},
	}},
	{Name: "market", Sections: []Section{
		{Title: "Summary", Summary: true, Answer: true},
		{Title: "Market and Growth", Findings: true},
		{Title: "Customers"},
		{Title: "Competitors"},
		{Title: "Risks", Judgement: true},
		{Title: "Outlook", Judgement: true, Caveats: true},
	}},
	{Name: "timeline", Timeline: true, Sections: []Section{
		{Title: "Summary", Summary: true, Answer: true},
		{Title: "Events", Findings: true},
		{Title: "Turning Points"},
		{Title: "Caveats", Judgement: true, Caveats: true},
	}},
}

// OwnTemplate is the name of a template that a person wrote.
const OwnTemplate = "own"

// TemplateNames are the names of the templates that can be chosen.
func TemplateNames() []string {
	names := make([]string, len(templates))
	for i, t := range templates {
		names[i] = t.Name
	}
	return names
}

// TemplateIn is the template of a name with its headings in a language, in English where
// there is no table for it; "" is the briefing.
func TemplateIn(name, language string) (t Template, known bool) {
	at := slices.IndexFunc(templates, func(t Template) bool { return t.Name == name })
	if name == "" {
		at = 0
	}
	if at < 0 {
		return Template{}, false
	}
	t = templates[at]
	t.Sections = slices.Clone(t.Sections)
	for i := range t.Sections {
		t.Sections[i].Title = Say(language, t.Sections[i].Title)
	}
	return t, true
}

// The bounds of an outline.
const (
	maxOutline  = 8 << 10 // bytes
	maxSections = 20
	maxTitle    = 80 // characters
)

// ReadOutline reads a person's outline as a template: its headings of the second level
// are the sections, or those of the first where it has no other. A heading may end in
// (findings), (answer), (judgement) or (caveats), or several of them, which are taken off;
// without (findings) the second section is that, and without (answer) the first answers.
// Language is that of the report, by which its summary is known.
//
// It returns INVALID_ARGS for an outline without headings, with headings of another
// level, twice the same, an empty or a long one, and for one that is too long as a whole
// or not UTF-8.
func ReadOutline(outline, language string) (Template, error) {
	wrong := func(format string, args ...any) (Template, error) {
		return Template{}, tidegate.Errorf(tidegate.InvalidArgs, tidegate.Pairs("template", tidegate.Cut(outline)), "the outline "+format, args...)
	}
	if len(outline) > maxOutline {
		return wrong("has %d bytes; at most %d are allowed", len(outline), maxOutline)
	}
	if !utf8.ValidString(outline) {
		return wrong("is not UTF-8")
	}
	var found [3][]string
	var scanner markdown.Scanner
	deeper := 0
	// A reader of a string does not fail.
	_, _ = scanner.Scan(strings.NewReader(outline), markdown.Events{Heading: func(h markdown.Heading) bool {
		if h.Level > 2 {
			deeper = h.Line
		} else {
			found[h.Level] = append(found[h.Level], markdown.OneLine(string(h.Text)))
		}
		return false
	}})
	titles := found[2]
	if len(titles) == 0 {
		titles = found[1]
	} else if len(found[1]) > 1 {
		return wrong("has %d headings of the first level and others of the second: its sections are all `## …`", len(found[1]))
	}
	switch {
	case deeper > 0:
		return wrong("has a heading of the third level or deeper in line %d: its sections are `## …`", deeper)
	case len(titles) == 0:
		return wrong("has no heading: write each section as `## Its title`")
	case len(titles) > maxSections:
		return wrong("has %d sections; at most %d are allowed", len(titles), maxSections)
	}
	t := Template{Name: OwnTemplate}
	findings, answer := -1, -1
	for i, title := range titles {
		s := markedSection(title)
		switch {
		case s.Title == "":
			return wrong("has a heading without a title")
		case utf8.RuneCountInString(s.Title) > maxTitle:
			return wrong("has the heading %q, which is longer than %d characters", tidegate.Cut(s.Title), maxTitle)
		case strings.ContainsAny(s.Title, "[]<>`*_\\#|~") || html.UnescapeString(s.Title) != s.Title || strings.Contains(s.Title, "://") || strings.ContainsFunc(s.Title, func(r rune) bool { return !unicode.IsPrint(r) }):
			return wrong("has the heading %q: a title is plain text, without marks, links and code", tidegate.Cut(s.Title))
		case t.section(s.Title) != nil:
			return wrong("has the heading %q twice", s.Title)
		case s.Findings && findings >= 0:
			return wrong("marks two sections as (findings): %q and %q", t.Sections[findings].Title, s.Title)
		case s.Answer && answer >= 0:
			return wrong("marks two sections as (answer): %q and %q", t.Sections[answer].Title, s.Title)
		}
		s.Summary = s.Title == Say(language, "Summary") || s.Title == "Summary"
		if s.Findings {
			findings = i
		}
		if s.Answer {
			answer = i
		}
		t.Sections = append(t.Sections, s)
	}
	if findings < 0 {
		t.Sections[min(1, len(t.Sections)-1)].Findings = true
	}
	return t, nil
}

// markedSection is the section of a heading, without the marks at its end.
func markedSection(heading string) (s Section) {
	for text, is := range map[string]func(*Section){
		"(findings)":  func(s *Section) { s.Findings = true },
		"(answer)":    func(s *Section) { s.Answer = true },
		"(judgement)": func(s *Section) { s.Judgement = true },
		"(caveats)":   func(s *Section) { s.Judgement, s.Caveats = true, true },
	} {
		if rest := len(heading) - len(text); rest >= 0 && strings.EqualFold(heading[rest:], text) {
			s = markedSection(strings.TrimSpace(heading[:rest]))
			is(&s)
			return s
		}
	}
	return Section{Title: heading}
}

// Titles are the titles of the sections that have something, all where has is nil.
func (t Template) Titles(has func(Section) bool) []string {
	var titles []string
	for _, s := range t.Sections {
		if has == nil || has(s) {
			titles = append(titles, s.Title)
		}
	}
	return titles
}

func (t Template) section(title string) *Section {
	for i := range t.Sections {
		if t.Sections[i].Title == title {
			return &t.Sections[i]
		}
	}
	return nil
}
