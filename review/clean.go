package review

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Clean is the payload as it survives the file: line ends are LF, control and
// bidirectional control characters are removed, others that nobody sees are named, title, category and file are one
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
	var b strings.Builder
	for _, r := range s {
		switch {
		case r != '\n' && r != '\t' && unicode.IsControl(r), reordersText(r):
		case markdown.Concealed(r) && !unicode.In(r, unicode.Cc, unicode.Variation_Selector) && !markdown.Joins(r):
			fmt.Fprintf(&b, "U+%04X", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
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

// What states a verdict to a person who looks at the page, although no reader
// should take it as the verdict: a checked box of any kind, a label with the word,
// the word alone with marks around it, and words of refusal in the place of a
// verdict. Words written apart count in capitals, or where nothing goes on after
// them; otherwise a checked "Major issues resolved" would be a verdict.
const (
	looseWords = `(?:(?i:NOT_APPROVED|APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES|CHANGES_REQUESTED)|NEEDS[ -](?:FIX|CHANGES|WORK)|MAJOR[ -]ISSUES|` +
		`(?i:NOT)[ -]APPROVED|UNAPPROVED|DISAPPROVED|REJECTED|REFUSED|DENIED|DECLINED|CHANGES[ -]REQUESTED)`
	marks   = `[^\pL\pN\[\]]*`
	wordEnd = `(?:[^\pL\pN_]|$)`
	saidEnd = `(?:` + marks + `$|[^\pL\pN_ ]| [-–—(:|])` // nothing but an explanation may follow
	said    = `(?:(` + looseWords + `)` + wordEnd + `|((?i:` + looseWords + `))` + saidEnd + `)`
)

var (
	looseBox   = pattern(`^\[ ?[xX✓✔☑] ?\]` + marks + said)
	looseLabel = pattern(`^` + marks + `(?i:verdict)` + marks + said)
	// The verdict in a sentence: what it was changed to, or is.
	looseSentence = pattern(`^` + marks + `(?i:(?:the|this|my|our|final|new) )?(?i:verdict)(?: \pL+){0,4} (?i:to|is|as|becomes|remains)` + marks + said)
	// An approval that is refused, in a section about the verdict.
	notApproved = pattern(`^` + marks + `((?i:NOT[ _-]APPROVED)` + wordEnd + `|(?i:UNAPPROVED|DISAPPROVED|REJECTED|REFUSED|DENIED|DECLINED)` + saidEnd + `)`)
	// The word alone on a line, or said of something; an explanation may follow.
	looseWord = pattern(`^` + marks + `(?:\pL[\pL\pN'’ ]{0,60}(?:[:=–—→-]|\b(?i:is|are))` + marks + `)?(` + looseWords + `)` + saidEnd)
	aloneWord = pattern(`^` + marks + `((?i:` + looseWords + `))` + marks + `$`)
	// A heading that announces a verdict and then says something else.
	otherLabel = pattern(`^(?i:verdict) ?(?:[:=|–—→-]+ ?(.*\S)| ([A-Z][A-Z _-]+))$`)
	// A word of refusal anywhere, for a line that says something else, too.
	refusalWord = pattern(`(?:^|[^\pL\pN_])(` + strings.Replace(looseWords, "|APPROVED|", "|", 1) + `)` + wordEnd)
	listMarks   = pattern(`^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*`)
)

// looseVerdict is the word that a rendered line states loosely, "" for none. One that
// begins with an unchecked box offers a verdict but states none, and so does one
// that names all of them. One that approves and refuses states the refusal. An
// approval in the raw text of an HTML block is not a statement by itself.
func looseVerdict(text string, inVerdict, inHTML bool) string {
	if strings.HasPrefix(text, "[ ]") || offersAll(text) {
		return ""
	}
	word := looselySaid(text, inVerdict, inHTML)
	if strings.EqualFold(word, string(Approved)) {
		return cmp.Or(refusal(text), word)
	}
	return word
}

// refusal is a word of refusal in a line, "" for none.
func refusal(text string) string {
	if m := refusalWord().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

func looselySaid(text string, inVerdict, inHTML bool) string {
	if m := looseBox().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if m := looseLabel().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if m := looseSentence().FindStringSubmatch(text); m != nil {
		return m[1] + m[2]
	}
	if inVerdict && notApproved().MatchString(text) {
		return "NOT_APPROVED"
	}
	if m := looseWord().FindStringSubmatch(text); m != nil && !(inHTML && strings.EqualFold(m[1], string(Approved))) {
		return m[1]
	}
	if m := aloneWord().FindStringSubmatch(text); inVerdict && m != nil {
		return m[1]
	}
	return ""
}

func offersAll(text string) bool {
	text = strings.ToUpper(text)
	return strings.Contains(text, string(Approved)) && strings.Contains(text, string(MajorIssues)) &&
		(strings.Contains(text, string(NeedsFix)) || strings.Contains(text, NeedsFix.token()))
}

// otherVerdict is what a heading gives as the verdict when that is not one of
// the three words, "" otherwise.
func otherVerdict(title string) string {
	if m := otherLabel().FindStringSubmatch(title); m != nil && !looseLabel().MatchString(title) {
		return tidegate.Cut(m[1] + m[2])
	}
	return ""
}
