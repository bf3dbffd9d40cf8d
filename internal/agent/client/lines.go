package client

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidegate/tidegate/internal/agent/driver"
)

// lines hands over what a client writes line by line.
type lines struct{ rest []byte }

// each calls do with every line that chunk completes. The line is valid during
// the call.
func (l *lines) each(chunk []byte, do func(line []byte)) {
	for {
		end := bytes.IndexByte(chunk, '\n')
		if end < 0 {
			if all := len(l.rest) + len(chunk); all > cap(l.rest) {
				l.rest = slices.Grow(l.rest, all) // twice as much; append copies a long line five times over
			}
			l.rest = append(l.rest, chunk...)
			return
		}
		line := chunk[:end]
		if len(l.rest) > 0 {
			line = append(l.rest, line...)
			l.rest = l.rest[:0]
		}
		chunk = chunk[end+1:]
		if line = bytes.TrimSpace(line); len(line) > 0 {
			do(line)
		}
	}
}

// readEvents reads a client's JSON lines: read is called with each line that is an
// object, and says what it was. Everything else is passed on as it is: clients
// write notices among their events, and later versions write other events.
func readEvents[E any](l *lines, chunk []byte, event func(driver.Event), read func(*E) driver.Event) {
	l.each(chunk, func(line []byte) {
		e, v := driver.Event{Kind: driver.Other}, new(E)
		if json.Unmarshal(line, v) == nil {
			e = read(v)
		}
		e.Raw = strings.ToValidUTF8(string(line), "\uFFFD")
		event(e)
	})
}
