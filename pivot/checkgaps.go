package pivot

import (
	"bytes"
	"fmt"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/wave"
)

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
