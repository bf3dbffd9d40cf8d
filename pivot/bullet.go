package pivot

import (
	"bytes"
	"fmt"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/wave"
)

// bullet is a bullet line: a gap, or what is wrong with it.
type bullet struct {
	number         int
	quote          string // the line, cut
	priority, text string
	fault          string // "" for a gap
	marked         bool   // to a reader it begins with a priority
}

// bulletLines finds the bullet lines among the lines of a section.
type bulletLines struct {
	bullet func(bullet)

	// of a line that comes in pieces
	quote []byte // its beginning
	start []byte // its beginning after white space
}

const (
	// quoteSize holds as many characters as a quotation may have.
	quoteSize = tidegate.MaxText * utf8.UTFMax
	// startSize is how much of a long line is looked at, white space before it
	// aside.
	startSize = 4096
)

func (b *bulletLines) line(l markdown.Line) {
	switch {
	case l.In == markdown.InFence:
	case l.In == markdown.InComment:
		b.afterComment(l)
	case l.First && l.Last:
		b.judge(l.Number, l.Text)
	default:
		b.piece(l)
	}
}

// afterComment looks at what follows a comment, in the line that ends it.
func (b *bulletLines) afterComment(l markdown.Line) {
	_, rest, ended := bytes.Cut(l.Text, []byte("-->"))
	if ended && l.First && readStart(rest, !l.Last) == gapLine {
		b.bullet(bullet{number: l.Number, quote: tidegate.Cut(string(l.Text[:min(len(l.Text), quoteSize)])), marked: true,
			fault: "stands behind a comment, and is not of the form - (P0|P1|P2|P3) text"})
	}
}

func (b *bulletLines) judge(number int, line []byte) {
	text := bytes.TrimLeftFunc(line, unicode.IsSpace)
	plain := startsLikeBullet(text) && !markdown.ThematicBreak(text)
	marked := readStart(text, false) == gapLine
	if !plain && !marked {
		return
	}
	found := bullet{number: number, quote: tidegate.Cut(string(line)), marked: marked}
	var rest []byte
	found.priority, rest = readBullet(text)
	if found.text = collapse(string(rest)); found.text == "" {
		found.fault = "is not of the form - (P0|P1|P2|P3) text"
	}
	b.bullet(found)
}

// piece takes a piece of a line longer than [markdown.MaxLine]. Only as much of
// such a line is kept as shows whether it is a bullet line.
func (b *bulletLines) piece(l markdown.Line) {
	if l.First {
		b.quote, b.start = b.quote[:0], b.start[:0]
	}
	b.quote = append(b.quote, l.Text[:min(len(l.Text), quoteSize-len(b.quote))]...)
	if len(b.start) < startSize {
		b.start = bytes.TrimLeftFunc(append(b.start, l.Text...), unicode.IsSpace)
	}
	if !l.Last || len(b.start) == 0 {
		return
	}
	start := b.start[:min(len(b.start), startSize)]
	if found := readStart(start, true); startsLikeBullet(start) || found != prose {
		b.bullet(bullet{number: l.Number, quote: tidegate.Cut(string(b.quote)), marked: found == gapLine,
			fault: "is longer than a gap may be, " + strconv.Itoa(markdown.MaxLine) + " bytes"})
	}
}

// startsLikeBullet reports whether text, which has no white space before it,
// begins as a bullet line does.
func startsLikeBullet(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	n := 1
	switch c := text[0]; {
	case c == '-':
		return true
	case c == '(':
		return priorityMark(text) != ""
	case c == '*' || c == '+':
	case c >= '0' && c <= '9':
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n > maxDigits || n == len(text) || text[n] != '.' && text[n] != ')' {
			return false
		}
		n++
	default:
		return false
	}
	return n == len(text) || isBlank(text[n])
}

// maxDigits is how many digits the number of a list item may have.
const maxDigits = 9

// readBullet takes a bullet line apart. The rest is nil when its form is not "-
// (P1) rest".
func readBullet(text []byte) (priority string, rest []byte) {
	if text[0] != '-' {
		return "", nil
	}
	text, ok := skipBlanks(text[1:])
	if !ok {
		return "", nil
	}
	if priority = priorityMark(text); priority == "" {
		return "", nil
	}
	if rest, ok = skipBlanks(text[len("(P0)"):]); !ok {
		return "", nil
	}
	return priority, rest
}

// priorityMark is the priority whose mark, such as (P0), text begins with, or "".
func priorityMark(text []byte) string {
	if len(text) < len("(P0)") || text[0] != '(' || text[1] != 'P' || text[2] < '0' || text[2] > '3' || text[3] != ')' {
		return ""
	}
	return Priorities[text[2]-'0']
}

// skipBlanks goes past blanks and tabs; ok is false when there are none.
func skipBlanks(text []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(text, " \t")
	return rest, len(rest) < len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// maxFaults is how many lines that do not state a gap properly are listed.
const maxFaults = 20

// CheckGaps judges the gaps of an output before a run takes it, while their author
// can still correct them. Its faults, all GAPS_PARSE_FAILED and in document order,
// are of two kinds: the bullet lines of the Gaps section that [Extract] refuses;
// and, below a deeper heading inside Gaps, up to the next heading of the same or a
// higher level, every line that begins with a priority to a reader of the page,
// well-formed or not: Extract looks at nothing there, and a gap would be lost. The
// headings themselves are such lines. Where very many lines are at fault, the last
// one listed says how many more there are. An output without a Gaps section has no
// such fault.
func CheckGaps(output []byte) []wave.Fault {
	var g gapChecker
	lines := bulletLines{bullet: g.bullet}
	// A bytes.Reader does not fail.
	_, _ = new(markdown.Scanner).Scan(bytes.NewReader(output), markdown.Events{Heading: g.heading, Line: lines.line})
	if more := g.count - maxFaults; more > 0 {
		last := &g.faults[maxFaults-1]
		last.Error = tidegate.AsError(tidegate.Errorf(last.Error.Code, last.Error.Details, "%s; %d more lines likewise", last.Error.Message, more))
	}
	return g.faults
}

type gapChecker struct {
	level  int  // of the heading Gaps, 0 before it
	below  bool // a deeper heading
	over   bool // the section has ended
	faults []wave.Fault
	count  int
}

func (g *gapChecker) heading(h markdown.Heading) bool {
	switch {
	case g.over:
	case g.level == 0:
		if string(h.Text) == gapsTitle {
			g.level = h.Level
		}
	case h.Level <= g.level:
		g.over = true
	default:
		g.below = true
		if readStart(h.Text, false) == gapLine {
			g.bullet(bullet{number: h.Line, quote: tidegate.Cut(string(h.Text)), marked: true})
		}
	}
	return g.level > 0 && !g.over
}

func (g *gapChecker) bullet(b bullet) {
	var message, note string
	switch {
	case g.below && !b.marked, !g.below && b.fault == "":
		return
	case g.below:
		message = fmt.Sprintf("line %d begins with a priority below a heading inside %s, where no gap is looked for", b.number, gapsTitle)
		note = fmt.Sprintf("Move the gap in line %d up into the section %s, before the first heading inside it, as `- (P1) text of the gap`.", b.number, gapsTitle)
	default:
		message = fmt.Sprintf("line %d, a bullet under %s, %s", b.number, gapsTitle, b.fault)
		note = fmt.Sprintf("Write line %d as `- (P1) text of the gap`, with P0, P1, P2 or P3, or, if it states no gap, as a sentence that is not a list item.", b.number)
	}
	if g.count++; g.count > maxFaults {
		return
	}
	g.faults = append(g.faults, wave.Fault{
		Error: tidegate.AsError(tidegate.Errorf(tidegate.GapsParseFailed, tidegate.Pairs("line", b.quote, "line_number", b.number), "%s", message)),
		Line:  b.number, ChangeNote: note,
	})
}
