package review

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/text/pattern"
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
	loose              // any other way to state it, which decides nothing but can contradict
)

const words = `(?i:APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES)`

var (
	atxHeading    = pattern.New(`^ {0,3}#{1,6}(?:[ \t]+(.*?))??(?:[ \t]+#+)?[ \t]*$`)
	verdictTitle  = pattern.New(`^(?i:verdict)[ \t]*:?$`)
	verdictInline = pattern.New(`^(?i:verdict)(?:[ \t]*:[ \t]*|[ \t]+)(` + words + `)$`)
	plainWord     = pattern.New(`^ {0,3}(` + words + `)[ \t]*$`)
	tickedBox     = pattern.New(`^ {0,3}[-*+][ \t]+\[[xX]\][ \t]+(` + words + `)(?:[ \t]*|:.*|[ \t]+[-–—(:].*)$`)
	listItem      = pattern.New(`^( {0,3})([-*+]|[0-9]{1,9}[.)])(?:[ \t]|$)`)
	underline     = pattern.New(`^ {0,3}(?:=+|-+)[ \t]*$`)
)

// maxProblems bounds what is said about one file.
const maxProblems = 10

// statedVerdict is the verdict that a file of any layout states, or "" with the
// reasons why it states none.
func statedVerdict(lines []string) (Verdict, []string) {
	all, sections := statements(lines)
	found := slices.DeleteFunc(slices.Clone(all), func(s statement) bool { return s.form == loose })
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
	for _, s := range all {
		if first := found[0]; s.verdict != first.verdict {
			contradictory = append(contradictory, fmt.Sprintf("contradictory verdicts: line %d says %s, line %d says %s",
				first.line, first.verdict, s.line, s.verdict))
		} else if before, twice := seen[s.form]; twice && s.form != loose {
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
		word = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToUpper(word))
		verdict := Verdict(word)
		if verdict == "NEEDS_CHANGES" {
			verdict = NeedsFix
		}
		found = append(found, statement{line: i + 1, verdict: verdict, form: f})
	}
	inVerdict, paragraph := false, 0 // paragraph is the number of its lines so far
	text := false                    // the last line is text of a paragraph that a line below can make a heading
	heading := func(i int, title string) {
		inVerdict, paragraph = verdictTitle().MatchString(title), 0
		if inVerdict {
			sections++
		}
		if inline := verdictInline().FindStringSubmatch(title); inline != nil {
			state(i, inline[1], header)
		} else if other := otherVerdict(title); other != "" {
			found = append(found, statement{line: i + 1, verdict: Verdict(other), form: loose})
		}
	}
	var flow paragraphs
	flowed := func(text string, first int) {
		if stated := looseVerdict(text, inVerdict, false); stated != "" {
			state(first, stated, loose)
		}
	}
	for i, line := range lines {
		alive := live.next(line)
		flowed(flow.next(i, line, live.shown && !live.html))
		if strings.TrimSpace(line) == "" {
			paragraph, text = 0, false
			continue
		}
		before := len(found)
		m := atxHeading().FindStringSubmatch(line)
		word := plainWord().FindStringSubmatch(line)
		switch {
		case !alive:
			paragraph++ // what directly follows a quote or code does not stand alone
			text = false
		case m != nil:
			heading(i, m[1])
		case text && paragraph == 1 && underline().MatchString(line):
			heading(i-1, strings.TrimSpace(lines[i-1]))
		default:
			if box := tickedBox().FindStringSubmatch(line); box != nil {
				state(i, box[1], ticked)
			}
			if inVerdict && word != nil && paragraph == 0 && paragraphEnds(lines, i+1) {
				state(i, word[1], plain)
			}
			paragraph++
			text = !listItem().MatchString(line)
		}
		if stated := looseVerdict(line, inVerdict, live.html); stated != "" && live.shown && len(found) == before {
			state(i, stated, loose)
		}
	}
	flowed(flow.next(len(lines), "", false))
	return found, sections
}

// paragraphs joins the lines of each paragraph, which are one text on the page.
type paragraphs struct {
	lines []string
	first int // the number of the first of them
}

// next takes the next line. When a paragraph of several lines ended before it, it
// returns the text of that paragraph. Shown says that a person sees the line as
// running text.
func (p *paragraphs) next(i int, line string, shown bool) (text string, first int) {
	blank := !shown || strings.TrimSpace(line) == ""
	if blank || atxHeading().MatchString(line) || listItem().MatchString(line) {
		if len(p.lines) > 1 {
			text, first = strings.Join(p.lines, " "), p.first
		}
		p.lines = p.lines[:0]
	}
	if !blank {
		if len(p.lines) == 0 {
			p.first = i
		}
		p.lines = append(p.lines, line)
	}
	return text, first
}

// paragraphEnds reports whether the line at i does not continue a paragraph.
func paragraphEnds(lines []string, i int) bool {
	return i >= len(lines) || strings.TrimSpace(lines[i]) == "" ||
		atxHeading().MatchString(lines[i]) || listItem().MatchString(lines[i])
}

// liveness follows the blocks in which text is shown as it is, or hidden, and
// states nothing: fenced code, quotes with the lines that lazily continue them,
// HTML and indented lines.
type liveness struct {
	fence   string // the open fence
	inItem  int    // the indentation of the list item that the fence stands in
	htmlEnd string // what ends the open HTML block; "\n" is a blank line
	quoted  bool   // the last line belongs to a quote
	item    int    // the indentation of the text of the list item above, 0 for none
	blank   bool   // the last line was blank
	shown   bool   // a person sees the last line as text of the review, alive or not
	html    bool   // the last line belongs to an HTML block
}

var (
	fenceLine = pattern.New("^ {0,3}(```+[^`]*|~~~+.*)$")
	htmlLine  = pattern.New(`^ {0,3}<(?:(!--)|(\?)|(!\[CDATA\[)|(![A-Za-z])|(?i:(pre|script|style|textarea))(?:[ \t>]|$)|/?[A-Za-z])`)
	indented  = pattern.New(`^(?: {4}| {0,3}\t)`)
)

// next reports whether the text of the next line is live.
func (l *liveness) next(line string) bool {
	indent := len(line) - len(strings.TrimLeft(line, " "))
	empty := strings.TrimSpace(line) == ""
	defer func() { l.blank = empty }()
	l.shown, l.html = false, false
	if l.fence != "" && !empty && indent < l.inItem {
		l.fence = "" // it ends with the item
	}
	switch {
	case l.fence != "":
		closing := strings.TrimRight(strings.TrimLeft(line, " "), " \t")
		if strings.HasPrefix(closing, l.fence) && strings.Trim(closing, l.fence[:1]) == "" && !indented().MatchString(line) {
			l.fence = ""
		}
		return false
	case l.htmlEnd != "":
		tags := l.htmlEnd == "\n"
		l.continueHTML(line)
		l.shown, l.html = tags || l.htmlEnd == "", true
		return false
	case strings.HasPrefix(strings.TrimLeft(line, " "), ">"):
		l.quoted = true
		return false
	case fenceLine().MatchString(line):
		open := strings.TrimLeft(line, " ")
		l.fence, l.inItem = open[:len(open)-len(strings.TrimLeft(open, open[:1]))], 0
		if l.item > 0 && indent >= l.item {
			l.inItem = l.item
		}
		l.quoted = false
		return false
	case htmlLine().MatchString(line):
		l.openHTML(line)
		l.shown, l.html = l.htmlEnd == "" || l.htmlEnd == "\n", true
		l.quoted = false
		return false
	}
	item := listItem().FindStringSubmatch(line)
	switch {
	case item != nil:
		l.item = len(item[1]) + len(item[2]) + 1
	case !empty && indent == 0 && l.blank && !indented().MatchString(line), atxHeading().MatchString(line):
		l.item = 0
	}
	if empty || item != nil || atxHeading().MatchString(line) {
		l.quoted = false
		l.shown = true
		return true
	}
	alive := !l.quoted && !indented().MatchString(line)
	l.shown = alive || !l.quoted && l.item > 0
	return alive
}

func (l *liveness) openHTML(line string) {
	m := htmlLine().FindStringSubmatch(line)
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
