package cli

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/tidegate/tidegate/internal/base/report"
)

const (
	progressAfter = 500 * time.Millisecond
	progressEvery = 100 * time.Millisecond
	barWidth      = 30
)

// progress is a bar on stderr that appears when a call takes longer than a
// moment and is wiped when the call ends.
type progress struct {
	out   io.Writer
	label string
	width int

	mu      sync.Mutex
	next    time.Time // when to draw again
	waiting string    // what has been waited for longest, and how long
	drawn   bool
	stopped bool
}

// startProgress returns nil, on which every method does nothing, when nobody
// would see the bar.
func (p *Program) startProgress(label string) *progress {
	if !p.Terminal.Progress {
		return nil
	}
	return &progress{out: p.Stderr, label: label, width: cmp.Or(p.Terminal.ErrWidth, 80), next: time.Now().Add(progressAfter)}
}

func (b *progress) update(done, total int) {
	if b == nil || total <= 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.stopped || now.Before(b.next) {
		return
	}
	b.next, b.drawn = now.Add(progressEvery), true
	full := min(barWidth, barWidth*done/total)
	line := fmt.Sprintf("%s [%s%s] %d/%d", b.label, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total)
	if b.waiting != "" {
		line += ", waiting " + b.waiting
	}
	fmt.Fprint(b.out, "\r\x1b[K"+firstOf(line, b.width))
}

// wait notes what the next drawing says the call waits for.
func (b *progress) wait(what string, since time.Duration) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = ""
	if what != "" {
		b.waiting = fmt.Sprintf("%d s for %s", int(since.Seconds()), strings.ReplaceAll(report.Visible(what), "\n", " "))
	}
}

// firstOf cuts a line that does not fit the width of the terminal.
func firstOf(line string, width int) string {
	if runes := []rune(line); len(runes) >= width {
		return string(runes[:width-1])
	}
	return line
}

func (b *progress) stop() {
	if b == nil {
		return
	}
	b.wipe()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
}

func (b *progress) wipe() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.drawn && !b.stopped {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}

// sayAbove prints lines on stderr, out of the way of a bar.
func (p *Program) sayAbove(bar *progress) func(line string) {
	return func(line string) {
		bar.wipe()
		fmt.Fprintln(p.Stderr, report.Wrapped(report.Visible(line), p.Terminal.ErrWidth)) // nothing can be done about a reader that is gone
	}
}
