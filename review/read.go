package review

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
)

// Reading is what a REVIEW.md says.
type Reading struct {
	Verdict  Verdict   // "" when the file does not say, or not clearly; Problems then says why
	Complete bool      // the file is as [Format] writes it, and Payload is everything in it
	Payload  Payload   // of an incomplete reading: nothing
	Findings []Finding // the issues of Payload, with all that the file says of them
	Warnings []string  // those that stand in the file
	Problems []string  // what keeps the file from being read completely or clearly
}

// Read reads a REVIEW.md. A file that [Format] wrote is read without loss; it may
// have been given a byte-order mark or CRLF line ends since. From any other file,
// hand-written or edited by hand, only the verdict is read: from its verdict
// heading or section, at the start of a line, outside code, quotes and HTML. A
// verdict that is stated twice or in two ways is not a verdict but a problem.
func Read(data []byte) Reading {
	if !utf8.Valid(data) {
		return Reading{Problems: []string{"the file is not valid UTF-8"}}
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	text := strings.ReplaceAll(string(data), "\r\n", "\n")
	p := parser{lines: strings.Split(text, "\n")}
	payload, findings, warned := p.file()
	if p.failed == "" {
		if _, _, err := Parse(codec.Of(payload), false); err != nil {
			p.failed = tidegate.AsError(err).Message
		} else if string(FormatFindings(payload, findings, warned)) != text {
			p.failed = "a value is not written as tidegate writes it"
		}
	}
	if p.failed == "" {
		return Reading{Verdict: payload.Verdict, Complete: true, Payload: payload, Findings: findings, Warnings: warned}
	}
	verdict, problems := statedVerdict(text)
	if strings.HasPrefix(text, verdictHeader) {
		problems = append(problems, "not the layout of tidegate, so only the verdict is read: "+p.failed)
	}
	return Reading{Verdict: verdict, Problems: problems}
}

// parser walks the lines of a file of our own layout. It skips blank lines,
// because no line of a value is blank, and leaves the exactness to the
// comparison with [Format].
type parser struct {
	lines  []string
	next   int
	failed string // the first thing that was not as expected
}

func (p *parser) fail(expected string) {
	if p.failed == "" {
		p.failed = fmt.Sprintf("line %d: expected %s", p.next+1, expected)
	}
}

// has takes the next line if it begins with prefix, and returns what follows.
func (p *parser) has(prefix string) (rest string, ok bool) {
	if p.failed != "" {
		return "", false
	}
	for p.next < len(p.lines) && p.lines[p.next] == "" {
		p.next++
	}
	if p.next == len(p.lines) {
		return "", false
	}
	if rest, ok = strings.CutPrefix(p.lines[p.next], prefix); ok {
		p.next++
	}
	return rest, ok
}

// take is has for a line that must be there.
func (p *parser) take(prefix string) string {
	rest, ok := p.has(prefix)
	if !ok {
		p.fail(strconv.Quote(prefix))
	}
	return rest
}

func (p *parser) file() (payload Payload, findings []Finding, warned []string) {
	payload.Verdict = Verdict(inLine.undo(p.take(verdictHeader)))
	payload.ChangeID = inCode.undo(p.span(p.take(changeBullet)))
	p.take(issuesBullet)
	p.take(verdictSection)
	p.take("")
	for range boxes {
		p.take("- [")
	}
	p.take(summarySection)
	payload.Summary = p.quote("")
	p.take(testsSection)
	p.take(statusLabel)
	t := TestResults{Total: p.count(totalBullet), Passed: p.count(passedBullet), Failed: p.count(failedBullet)}
	if t != (TestResults{}) {
		payload.TestResults = &t
	}
	p.take(issuesSection)
	p.has(noIssues)
	for title, ok := p.has(issueHeader); ok; title, ok = p.has(issueHeader) {
		findings = append(findings, p.finding(inLine.undo(title)))
	}
	payload.Issues = issuesOf(findings)
	for i, issue := range Identify(payload.Issues) {
		findings[i].ID = issue.ID
	}
	if _, ok := p.has(warningsSection); ok {
		for text, ok := p.has("- "); ok; text, ok = p.has("- ") {
			warned = append(warned, inLine.undo(text))
		}
	}
	if _, more := p.has(""); more {
		p.next--
		p.fail("the end of the file")
	}
	return payload, findings, warned
}

func (p *parser) finding(title string) Finding {
	var f Finding
	f.Title = title
	f.Severity = Severity(inLine.undo(p.take(severityBullet)))
	f.Category = inLine.undo(p.take(categoryBullet))
	f.File, f.Line = p.place()
	f.Description = p.field(p.take(descriptionBullet))
	for _, field := range []struct {
		label string
		into  *string
	}{{recommendationBullet, &f.Recommendation}, {quoteBullet, &f.Quote}, {suggestionBullet, &f.Suggestion}} {
		if text, ok := p.has(field.label); ok {
			*field.into = p.field(text)
		}
	}
	f.Confidence = p.oneOf(confidenceBullet, Confidences)
	for name, ok := p.has(foundByBullet); ok; name, ok = p.has(foundByBullet) {
		f.FoundBy = append(f.FoundBy, inLine.undo(name))
	}
	f.Checked = p.oneOf(checkedBullet, []string{Confirmed, Refuted, Unclear})
	if f.Decision = p.oneOf(decisionBullet, []string{DecidedDismissed, DecidedRefuted}); f.Decision != "" {
		if text, ok := p.has(reasonBullet); ok {
			f.Reason = p.field(text)
		}
	}
	return f
}

// oneOf is a word behind a label, "" where the label is not there.
func (p *parser) oneOf(label string, words []string) string {
	word, ok := p.has(label)
	if !ok {
		return ""
	}
	if !slices.Contains(words, word) {
		p.fail(strings.Join(words, ", "))
	}
	return word
}

func (p *parser) place() (file string, line *int64) {
	if text, ok := p.has(fileBullet); ok {
		file = p.span(text)
	}
	if text, ok := p.has(lineBullet); ok {
		if text != noLine {
			line = p.integer(text)
		}
	} else if parts := endsLikeLine().FindStringSubmatch(file); parts != nil {
		file, line = parts[1], p.integer(parts[2])
	}
	return inCode.undo(file), line
}

// field reads a text that stands after its label or, as a quote, below it.
func (p *parser) field(text string) string {
	if text == "" {
		return p.quote("  ")
	}
	return inLine.undo(strings.TrimPrefix(text, " "))
}

// quote reads a quoted text. A quote of one line is a one-line value.
func (p *parser) quote(indent string) string {
	lines := []string{p.take(indent + quote)}
	for line, ok := p.has(indent + quote); ok; line, ok = p.has(indent + quote) {
		lines = append(lines, line)
	}
	if len(lines) == 1 {
		return inLine.undo(lines[0])
	}
	return inText.undo(strings.Join(lines, "\n"))
}

func (p *parser) span(text string) string {
	inner, ok := codeSpanText(text)
	if !ok {
		p.fail("a code span")
	}
	return inner
}

func (p *parser) count(label string) *int64 {
	if text, ok := p.has(label); ok {
		return p.integer(text)
	}
	return nil
}

func (p *parser) integer(text string) *int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		p.fail("an integer")
	}
	return &n
}
