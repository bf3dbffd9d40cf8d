package cli

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/tidegate/tidegate/internal/base/report"
)

// changedMark stands before a line that was not there last time; otherMark before
// every other line.
const (
	changedMark = "› "
	otherMark   = "  "
)

// redraw draws a text on a terminal over the one that it drew before, and marks
// the lines that have changed.
type redraw struct {
	program *Program
	lines   []string // drawn last
	rows    int      // how many rows they took
}

// draw calls print with a program that writes into the drawing, and shows the result.
func (d *redraw) draw(print func(p *Program)) error {
	columns, rows := d.program.Terminal.Size()
	width := max(columns-len(otherMark), 1)
	var out bytes.Buffer
	inner := *d.program
	inner.Stdout, inner.Stderr = &out, &out
	inner.Terminal.Width, inner.Terminal.ErrWidth, inner.Terminal.Progress = width, width, false
	print(&inner)
	lines := strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
	changed := marks(d.lines, lines)

	var b strings.Builder
	switch {
	case d.lines == nil:
	case d.rows < rows:
		fmt.Fprintf(&b, "\r\x1b[%dA\x1b[J", d.rows)
	default: // its beginning has left the screen
		b.WriteString("\x1b[2J\x1b[H")
	}
	d.rows = 0
	for i, line := range lines {
		mark := otherMark
		if changed[i] {
			mark = changedMark
		}
		b.WriteString(mark + line + "\n")
		d.rows += 1 + (report.TerminalColumns(mark+line)-1)/max(columns, 1)
	}
	d.lines = lines
	return d.program.write([]byte(b.String()))
}

// marks says of each line whether it was missing from the lines before. Without
// lines before, nothing has changed; an empty line never has.
func marks(before, after []string) []bool {
	left := map[string]int{}
	for _, line := range before {
		left[line]++
	}
	changed := make([]bool, len(after))
	for i, line := range after {
		changed[i] = before != nil && line != "" && left[line] == 0
		left[line]--
	}
	return changed
}
