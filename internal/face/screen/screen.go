package screen

import (
	"bytes"
	"fmt"
	"io"
)

// Screen draws lines on a terminal that it has to itself until [Screen.Leave].
// Only what has changed is written, in one go, so that nothing flickers.
type Screen struct {
	out     io.Writer
	entered bool
	size    Size
	title   string
	shown   []string
}

// NewScreen is a screen on a terminal.
func NewScreen(out io.Writer) *Screen { return &Screen{out: out} }

// What is sent to a terminal. The title is saved and restored.
const (
	enter  = "\x1b[?1049h\x1b[22;0t\x1b[?25l\x1b[?7l"
	leave  = "\x1b[?7h\x1b[?25h\x1b[23;0t\x1b[?1049l"
	begin  = "\x1b[?2026h" // draw all at once, where the terminal can
	commit = "\x1b[?2026l"
)

// RestoreTerminal restores a terminal, whatever a Screen was doing with it.
const RestoreTerminal = leave

// Draw shows lines, and a title. When the size has changed, it draws all of them
// again.
func (s *Screen) Draw(lines []string, title string, size Size) {
	var b bytes.Buffer
	if !s.entered {
		b.WriteString(enter)
		s.entered = true
	}
	if size != s.size {
		b.WriteString("\x1b[2J")
		s.size, s.shown = size, nil
	}
	if title != s.title {
		fmt.Fprintf(&b, "\x1b]2;%s\x1b\\", title)
		s.title = title
	}
	for i := range max(len(lines), len(s.shown)) {
		line, was := "", ""
		if i < len(lines) {
			line = lines[i]
		}
		if i < len(s.shown) {
			was = s.shown[i]
		}
		if line != was {
			// Clearing after a full line would remove its last character.
			fmt.Fprintf(&b, "\x1b[%d;1H\x1b[K%s", i+1, line)
		}
	}
	s.shown = append(s.shown[:0:0], lines...)
	if b.Len() > 0 {
		// Nothing can be done about a terminal that is gone.
		_, _ = io.WriteString(s.out, begin+b.String()+commit)
	}
}

// Leave restores the terminal.
func (s *Screen) Leave() {
	if s.entered {
		_, _ = io.WriteString(s.out, leave)
	}
	*s = Screen{out: s.out}
}
