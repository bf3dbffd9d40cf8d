package cli

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"
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

	mu      sync.Mutex
	next    time.Time // when to draw again
	drawn   bool
	stopped bool
}

// startProgress returns nil, on which every method does nothing, when nobody
// would see the bar.
func (p *Program) startProgress(label string) *progress {
	if !p.Terminal.Progress {
		return nil
	}
	return &progress{out: p.Stderr, label: label, next: time.Now().Add(progressAfter)}
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
	fmt.Fprintf(b.out, "\r\x1b[K%s [%s%s] %d/%d", b.label, strings.Repeat("=", full), strings.Repeat(" ", barWidth-full), done, total)
}

func (b *progress) stop() {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.stopped = true
	if b.drawn {
		fmt.Fprint(b.out, "\r\x1b[K")
	}
}
