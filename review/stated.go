package review

import (
	"fmt"
	"regexp"
	"strings"
)

// A statement is one place in a file that states a verdict.
type statement struct {
	line    int
	verdict Verdict
	form    form
}

type form int

const (
	header form = iota // a heading with the word in it
	plain              // the word as a paragraph of its own in the verdict section
	ticked             // a checked box
)

const words = `(?i:APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES)`

var (
	atxHeading    = regexp.MustCompile(`^ {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	verdictTitle  = regexp.MustCompile(`^(?i:verdict)[ \t]*:?$`)
	verdictInline = regexp.MustCompile(`^(?i:verdict)(?:[ \t]*:[ \t]*|[ \t]+)(` + words + `)$`)
	plainWord     = regexp.MustCompile(`^ {0,3}(` + words + `)[ \t]*$`)
	tickedBox     = regexp.MustCompile(`^ {0,3}[-*+][ \t]+\[[xX]\][ \t]+(` + words + `)(?:[ \t]*|:.*|[ \t]+[-–—(:].*)$`)
	listItem      = regexp.MustCompile(`^ {0,3}(?:[-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)
)

// maxProblems bounds what is said about one file.
const maxProblems = 10

// statedVerdict is the verdict that a file of any layout states, or "" with the
// reasons why it states none.
func statedVerdict(lines []string) (Verdict, []string) {
	found, sections := statements(lines)
	if len(found) == 0 {
		if sections == 0 {
			return "", []string{"no verdict: there is neither a verdict heading nor a checked verdict box"}
		}
		return "", []string{"no verdict: the verdict section has neither a checked box nor the word alone on its line"}
	}
	var contradictory, repeated []string
	if sections > 1 {
		repeated = append(repeated, fmt.Sprintf("repeated verdict: there are %d verdict sections", sections))
	}
	seen := map[form]int{}
	for _, s := range found {
		if first := found[0]; s.verdict != first.verdict {
			contradictory = append(contradictory, fmt.Sprintf("contradictory verdicts: line %d says %s, line %d says %s",
				first.line, first.verdict, s.line, s.verdict))
		} else if before, twice := seen[s.form]; twice {
			repeated = append(repeated, fmt.Sprintf("repeated verdict: line %d says %s again after line %d", s.line, s.verdict, before))
		}
		seen[s.form] = s.line
	}
	problems := append(contradictory, repeated...)
	if len(problems) > maxProblems {
		more := fmt.Sprintf("%d more of this kind", len(problems)-maxProblems)
		problems = append(problems[:maxProblems], more)
	}
	if len(problems) > 0 {
		return "", problems
	}
	return found[0].verdict, nil
}

// statements collects what states a verdict, and counts the verdict sections.
func statements(lines []string) (found []statement, sections int) {
	var live liveness
	state := func(i int, word string, f form) {
		verdict := Verdict(strings.ToUpper(word))
		if verdict == "NEEDS_CHANGES" {
			verdict = NeedsFix
		}
		found = append(found, statement{line: i + 1, verdict: verdict, form: f})
	}
	inVerdict, paragraph := false, 0 // paragraph is the number of its lines so far
	for i, line := range lines {
		alive := live.next(line)
		if strings.TrimSpace(line) == "" {
			paragraph = 0
			continue
		}
		if !alive {
			paragraph++ // what follows a quote or code at once does not stand alone
			continue
		}
		if m := atxHeading.FindStringSubmatch(line); m != nil {
			inVerdict, paragraph = verdictTitle.MatchString(m[1]), 0
			if inVerdict {
				sections++
			}
			if inline := verdictInline.FindStringSubmatch(m[1]); inline != nil {
				state(i, inline[1], header)
			}
			continue
		}
		if m := tickedBox.FindStringSubmatch(line); m != nil {
			state(i, m[1], ticked)
		}
		m := plainWord.FindStringSubmatch(line)
		if inVerdict && m != nil && paragraph == 0 && paragraphEnds(lines, i+1) {
			state(i, m[1], plain)
		}
		paragraph++
	}
	return found, sections
}

// paragraphEnds reports whether the line at i does not continue a paragraph.
func paragraphEnds(lines []string, i int) bool {
	return i >= len(lines) || strings.TrimSpace(lines[i]) == "" ||
		atxHeading.MatchString(lines[i]) || listItem.MatchString(lines[i])
}

// liveness follows the blocks in which text is shown or hidden as it is, and
// states nothing: fenced code, quotes with the lines that lazily continue them,
// HTML and indented lines.
type liveness struct {
	fence   string // the open fence
	htmlEnd string // what ends the open HTML block; "\n" is a blank line
	quoted  bool   // the last line belongs to a quote
}

var (
	fenceLine = regexp.MustCompile("^ {0,3}(```+[^`]*|~~~+.*)$")
	htmlLine  = regexp.MustCompile(`^ {0,3}<(?:(!--)|(\?)|(!\[CDATA\[)|(![A-Za-z])|(?i:(pre|script|style|textarea))(?:[ \t>]|$)|/?[A-Za-z])`)
	indented  = regexp.MustCompile(`^(?: {4}| {0,3}\t)`)
)

// next reports whether the text of the next line is live.
func (l *liveness) next(line string) bool {
	switch {
	case l.fence != "":
		closing := strings.TrimRight(strings.TrimLeft(line, " "), " \t")
		if strings.HasPrefix(closing, l.fence) && strings.Trim(closing, l.fence[:1]) == "" && !indented.MatchString(line) {
			l.fence = ""
		}
		return false
	case l.htmlEnd != "":
		l.continueHTML(line)
		return false
	case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
		l.quoted = true
		return false
	case fenceLine.MatchString(line):
		open := strings.TrimLeft(line, " ")
		l.fence = open[:len(open)-len(strings.TrimLeft(open, open[:1]))]
		l.quoted = false
		return false
	case htmlLine.MatchString(line):
		l.openHTML(line)
		l.quoted = false
		return false
	case strings.TrimSpace(line) == "", atxHeading.MatchString(line), listItem.MatchString(line):
		l.quoted = false
		return true
	}
	return !l.quoted && !indented.MatchString(line)
}

func (l *liveness) openHTML(line string) {
	m := htmlLine.FindStringSubmatch(line)
	switch {
	case m[1] != "":
		l.htmlEnd = "-->"
	case m[2] != "":
		l.htmlEnd = "?>"
	case m[3] != "":
		l.htmlEnd = "]]>"
	case m[4] != "":
		l.htmlEnd = ">"
	case m[5] != "":
		l.htmlEnd = "</" + strings.ToLower(m[5]) + ">"
	default:
		l.htmlEnd = "\n"
	}
	l.continueHTML(line)
}

func (l *liveness) continueHTML(line string) {
	if l.htmlEnd == "\n" && strings.TrimSpace(line) == "" || strings.Contains(strings.ToLower(line), strings.ToLower(l.htmlEnd)) {
		l.htmlEnd = ""
	}
}
