package review

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Clean is the payload as it survives the file: line ends are LF, control and
// bidirectional control characters are removed, title, category and file are one
// line, a documented category has its documented spelling, issues stand in the
// order of their severity and optional values that say nothing are absent.
// Cleaning twice gives the same as cleaning once, and [Read] of what [Format]
// wrote gives the cleaned payload.
func Clean(p Payload) Payload {
	c := Payload{
		ChangeID:    cleanLine(p.ChangeID),
		Verdict:     Verdict(cleanLine(string(p.Verdict))),
		Summary:     cleanText(p.Summary),
		TestResults: p.TestResults,
	}
	if t := p.TestResults; t != nil && t.Passed == nil && t.Failed == nil && t.Total == nil {
		c.TestResults = nil
	}
	for _, issue := range p.Issues {
		c.Issues = append(c.Issues, Issue{
			Title:          cleanLine(issue.Title),
			Severity:       Severity(cleanLine(string(issue.Severity))),
			Category:       cleanCategory(issue.Category),
			File:           cleanLine(issue.File),
			Line:           issue.Line,
			Description:    cleanText(issue.Description),
			Recommendation: absentIfBlank(cleanText(issue.Recommendation)),
		})
	}
	slices.SortStableFunc(c.Issues, func(a, b Issue) int { return rank(a.Severity) - rank(b.Severity) })
	return c
}

func rank(s Severity) int {
	if i := slices.Index(Severities, string(s)); i >= 0 {
		return i
	}
	return len(Severities)
}

// lineEnds come before the removal of controls: several of them are controls.
var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n", "\v", "\n", "\f", "\n",
	"\u0085", "\n", "\u2028", "\n", "\u2029", "\n")

func cleanText(s string) string {
	s = lineEnds.Replace(strings.ToValidUTF8(s, "\uFFFD"))
	return strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || reordersText(r) {
			return -1
		}
		return r
	}, s)
}

// reordersText holds for the bidirectional embeddings, overrides and isolates,
// which make a text look like another one.
func reordersText(r rune) bool {
	return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069
}

func cleanLine(s string) string { return markdown.OneLine(cleanText(s)) }

func cleanCategory(s string) string {
	s = cleanLine(s)
	for _, documented := range Categories {
		if strings.EqualFold(s, documented) {
			return documented
		}
	}
	return s
}

func absentIfBlank(s string) string {
	if strings.TrimSpace(s) == "" {
		return ""
	}
	return s
}

// pattern is a regular expression that is compiled when it is first used.
func pattern(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
