package review

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/base/report"
)

// The fixed parts of the file, shared by writer and reader.
const (
	verdictHeader   = "# Verdict: "
	changeBullet    = "- **Change**: "
	issuesBullet    = "- **Issues**: "
	verdictSection  = "## Verdict"
	summarySection  = "## Summary"
	testsSection    = "## Test Results"
	statusLabel     = "**Overall Status**: "
	totalBullet     = "- Total tests: "
	passedBullet    = "- Passed: "
	failedBullet    = "- Failed: "
	issuesSection   = "## Issues"
	noIssues        = "No issues reported."
	issueHeader     = "### Issue: "
	warningsSection = "## Warnings"
	quote           = "> "

	severityBullet       = "- **Severity**: "
	categoryBullet       = "- **Category**: "
	fileBullet           = "- **File**: "
	lineBullet           = "- **Line**: "
	descriptionBullet    = "- **Description**:"
	recommendationBullet = "- **Recommendation**:"
	foundByBullet        = "- **Found by**: " // once for each
	quoteBullet          = "- **Quote**:"
	suggestionBullet     = "- **Suggestion**:"
	confidenceBullet     = "- **Confidence**: "
	checkedBullet        = "- **Second reader**: "
	decisionBullet       = "- **Decision**: "
	reasonBullet         = "- **Reason**:"

	noLine = "none" // the file's name ends like a line number, but is not one
)

// boxes are the options of the verdict block with their explanations.
var boxes = []struct {
	verdict Verdict
	about   string
}{
	{Approved, "ready to complete"},
	{NeedsFix, "verdict NEEDS_FIX: automatic fix round"},
	{MajorIssues, "stop, manual work needed"},
}

// endsLikeLine matches a file name that a reader would take for file and line.
var endsLikeLine = pattern(`^(.*):(-?[0-9]+)$`)

// Format is the REVIEW.md of a payload that [Parse] accepted, with the given
// warnings at its end.
func Format(p Payload, warnings []string) []byte {
	return FormatFindings(p, Identify(p.Issues), warnings)
}

// FormatFindings is [Format] with findings in the place of the issues: what ties them to
// the code, who found them and what was decided stands with each.
func FormatFindings(p Payload, findings []Finding, warnings []string) []byte {
	findings = cleanFindings(findings)
	p.Issues = issuesOf(findings)
	p = Clean(p)
	var b strings.Builder
	counts := p.Counts()
	b.WriteString(verdictHeader + inLine.apply(string(p.Verdict)) + "\n\n")
	b.WriteString(changeBullet + codeSpan(inCode.apply(p.ChangeID)) + "\n")
	fmt.Fprintf(&b, "%s%d high, %d medium, %d low\n\n", issuesBullet, counts.High, counts.Medium, counts.Low)
	b.WriteString(verdictSection + "\n\n" + inLine.apply(p.Verdict.token()) + "\n\n")
	for _, option := range boxes {
		mark := " "
		if option.verdict == p.Verdict {
			mark = "x"
		}
		fmt.Fprintf(&b, "- [%s] %s - %s\n", mark, option.verdict.token(), option.about)
	}
	b.WriteString("\n" + summarySection + "\n\n")
	writeQuote(&b, "", p.Summary)
	writeTests(&b, p.TestResults)
	b.WriteString("\n" + issuesSection + "\n")
	if len(p.Issues) == 0 {
		b.WriteString("\n" + noIssues + "\n")
	}
	for _, f := range findings {
		writeFinding(&b, f)
	}
	if len(warnings) > 0 {
		b.WriteString("\n" + warningsSection + "\n\n")
		for _, text := range warnings {
			b.WriteString("- " + inLine.apply(cleanLine(text)) + "\n")
		}
	}
	return []byte(b.String())
}

// writeQuote quotes every line of s. A single line is a one-line value.
func writeQuote(b *strings.Builder, indent, s string) {
	if !strings.Contains(s, "\n") {
		b.WriteString(indent + quote + inLine.apply(s) + "\n")
		return
	}
	for line := range strings.SplitSeq(inText.apply(s), "\n") {
		b.WriteString(indent + quote + line + "\n")
	}
}

func writeTests(b *strings.Builder, t *TestResults) {
	b.WriteString("\n" + testsSection + "\n\n" + statusLabel + t.status() + "\n")
	if t == nil {
		return
	}
	b.WriteByte('\n')
	for _, count := range []struct {
		label string
		value *int64
	}{{totalBullet, t.Total}, {passedBullet, t.Passed}, {failedBullet, t.Failed}} {
		if count.value != nil {
			b.WriteString(count.label + strconv.FormatInt(*count.value, 10) + "\n")
		}
	}
}

// status is the outcome of the tests with the marks by which Agentd's console
// recognises it.
func (t *TestResults) status() string {
	passed, failed, total := t.outcome()
	switch {
	case failed > 0 && passed > 0:
		return "⚠️ PARTIAL"
	case failed > 0:
		return "❌ FAIL"
	case failed == 0 && (passed > 0 || total > 0):
		return "✅ PASS"
	}
	return "❓ NOT REPORTED"
}

func writeFinding(b *strings.Builder, f Finding) {
	b.WriteString("\n" + issueHeader + inLine.apply(f.Title) + "\n\n")
	b.WriteString(severityBullet + inLine.apply(string(f.Severity)) + "\n")
	b.WriteString(categoryBullet + inLine.apply(f.Category) + "\n")
	switch {
	case f.File == "" && f.Line != nil:
		b.WriteString(lineBullet + strconv.FormatInt(*f.Line, 10) + "\n")
	case f.File != "" && f.Line != nil:
		b.WriteString(fileBullet + codeSpan(inCode.apply(f.File)+":"+strconv.FormatInt(*f.Line, 10)) + "\n")
	case f.File != "":
		b.WriteString(fileBullet + codeSpan(inCode.apply(f.File)) + "\n")
		if endsLikeLine().MatchString(f.File) {
			b.WriteString(lineBullet + noLine + "\n")
		}
	}
	quoted := writeField(b, descriptionBullet, f.Description)
	for _, field := range []struct{ label, text string }{
		{recommendationBullet, f.Recommendation}, {quoteBullet, f.Quote}, {suggestionBullet, f.Suggestion},
	} {
		if field.text == "" {
			continue
		}
		if quoted {
			b.WriteByte('\n')
		}
		quoted = writeField(b, field.label, field.text)
	}
	if quoted && (f.Confidence+f.Checked+f.Decision != "" || len(f.FoundBy) > 0) {
		b.WriteByte('\n')
	}
	if f.Confidence != "" {
		b.WriteString(confidenceBullet + f.Confidence + "\n")
	}
	for _, name := range f.FoundBy {
		b.WriteString(foundByBullet + inLine.apply(name) + "\n")
	}
	if f.Checked != "" {
		b.WriteString(checkedBullet + f.Checked + "\n")
	}
	if f.Decision != "" {
		b.WriteString(decisionBullet + f.Decision + "\n")
		if f.Reason != "" {
			writeField(b, reasonBullet, f.Reason)
		}
	}
}

// writeField writes a text after its label, or, when it has several lines, as a
// quote below it; quoted says which.
func writeField(b *strings.Builder, label, text string) (quoted bool) {
	if !strings.Contains(text, "\n") {
		b.WriteString(label + " " + inLine.apply(text) + "\n")
		return false
	}
	b.WriteString(label + "\n\n")
	writeQuote(b, "  ", text)
	return true
}

// Formatted is a REVIEW.md that was not written anywhere.
type Formatted struct {
	OK       codec.True `json:"ok"`
	Markdown string     `json:"markdown"`
}

// FormatMarkdown is the REVIEW.md that a submitted document would become, its
// warnings included. It returns the errors of [Parse].
func FormatMarkdown(v *codec.Value, strict bool) (Formatted, error) {
	p, warnings, err := Parse(v, strict)
	if err != nil {
		return Formatted{}, err
	}
	return Formatted{Markdown: string(Format(p, warnings))}, nil
}

// Report is the file as it would stand on the disk, and nothing else.
func (f Formatted) Report() report.Report {
	r := report.Report{Name: "review_format"}
	r.Add(report.Preformatted(f.Markdown))
	return r
}

// An escape of REVIEW.md inserts backslashes only, so none can complete a pattern that
// an earlier one has broken, and each can be undone: what a reviewer typed with
// backslashes in it gets more of them, never fewer.
type escape struct{ do, undo func(string) string }

// escapeBy puts with in the place of what plain matches, and without in the place of what
// escaped matches.
func escapeBy(plain, with, escaped, without string) escape {
	find, found := pattern(plain), pattern(escaped)
	return escape{
		func(s string) string { return find().ReplaceAllString(s, with) },
		func(s string) string { return found().ReplaceAllString(s, without) },
	}
}

// escapes are applied in their order and undone in the reverse.
type escapes []escape

func (list escapes) apply(s string) string {
	for _, e := range list {
		s = e.do(s)
	}
	return s
}

func (list escapes) undo(s string) string {
	for _, e := range slices.Backward(list) {
		s = e.undo(s)
	}
	return s
}

var (
	// inCode is for text in a code span, where nothing but the two patterns that Agentd
	// looks for can do harm: a checked box, which decides the verdict wherever it stands,
	// and a verdict heading, which it finds even in the middle of a line.
	inCode = escapes{
		escapeBy(`\[([xX])(\\*)\]`, `[$1$2\]`, `\[([xX])(\\*)\\\]`, `[$1$2]`),
		escapeBy(`#(\\*)(# (?i:verdict))`, `#$1\$2`, `#(\\*)\\(# (?i:verdict))`, `#$1$2`),
	}
	// inline is for what does harm wherever it stands: what opens HTML or an autolink, and
	// the middle of a link or an image.
	inline = slices.Concat(inCode, escapes{tag, escapeBy(`\](\\*)\(`, `]$1\(`, `\](\\*)\\\(`, `]$1(`)})
	// inText is for text of several lines, each of which stands in a quote. A link
	// definition or a footnote is taken out of the text by renderers, wherever in a
	// paragraph its label began; in a value of one line it can only begin the line. What
	// makes an alert of a quote does so in several lines only.
	inText = slices.Concat(inline, escapes{
		escapeBy(`\](\\*):`, `]$1\:`, `\](\\*)\\:`, `]$1:`),
		escapeBy(`\[(\\*)!`, `[$1\!`, `\[(\\*)\\!`, `[$1!`),
	})
	// inLine is for a value of one line: what opens a block where a line begins, which is a
	// heading, quote, list item, fence, thematic break or link definition. In a numbered
	// item the backslash stands before the mark, because a digit cannot be escaped.
	inLine = slices.Concat(inline, escapes{
		escapeBy(`^([ \t]*)(\\*)(`+markers+`)`, `$1$2\$3`, `^([ \t]*)(\\*)\\(`+markers+`)`, `$1$2$3`),
		escapeBy(`^([ \t]*[0-9]{1,9})(\\*)([.)](?:[ \t]|$))`, `$1$2\$3`,
			`^([ \t]*[0-9]{1,9})(\\*)\\([.)](?:[ \t]|$))`, `$1$2$3`),
	})

	tagMark = pattern(`(\\*)(<[A-Za-z/!?])`)
	// An even number of backslashes would leave the bracket live, so those before it are
	// doubled and one is added.
	tag = escape{
		func(s string) string { return tagMark().ReplaceAllString(s, `$1$1\$2`) },
		func(s string) string {
			return tagMark().ReplaceAllStringFunc(s, func(m string) string {
				return m[(strings.IndexByte(m, '<')+1)/2:]
			})
		},
	}
)

const markers = "#{1,6}(?:[ \\t]|$)|>|[-+*](?:[ \\t]|$)|```[^`]*$|~~~" +
	`|(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$` +
	`|\[(?:[^\[\]\\]|\\.)+\]:`

// codeSpan quotes s with a fence that s itself cannot close.
func codeSpan(s string) string {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// codeSpanText undoes [codeSpan]; ok is false for a text that is not a code span.
func codeSpanText(s string) (text string, ok bool) {
	fence := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	if fence == "" || len(s) < 2*len(fence) || !strings.HasSuffix(s, fence) {
		return "", false
	}
	text = s[len(fence) : len(s)-len(fence)]
	if inner, found := strings.CutPrefix(text, " "); found {
		text = strings.TrimSuffix(inner, " ")
	}
	return text, true
}
