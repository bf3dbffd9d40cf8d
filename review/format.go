package review

import (
	"fmt"
	"strconv"
	"strings"
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
