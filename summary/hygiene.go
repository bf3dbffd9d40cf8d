package summary

import (
	"bytes"
	"io"

	"github.com/tidegate/tidegate"
)

// hygiene looks for what a summary must not hold: raw URLs, and citations of
// what the pool does not have. It takes a text whole or in windows.
type hygiene struct {
	pool *citationPool
	line int // of the first byte of the next window

	url     string // the first raw URL
	urlLine int

	unknown     []byte // the first cid that is not in the pool
	unknownLine int    // 0 when there is none

	cited map[idRef]bool
}

func newHygiene(pool *citationPool) *hygiene {
	return &hygiene{pool: pool, line: 1, cited: map[idRef]bool{}}
}

// whole looks at a text that is in memory.
func (h *hygiene) whole(text []byte) { h.window(text, len(text)) }

// window looks for what starts before limit. A URL or citation that starts
// there is seen as far as text goes.
func (h *hygiene) window(text []byte, limit int) {
	urls := newURLFinder(text)
	if found, ok := urls.next(0); ok && found.start < limit {
		h.url = string(trimURL(text, found).of(text))
		h.urlLine = h.lineOf(text, found)
		return
	}
	for at := 0; ; {
		found, ok := nextCitation(text, at)
		if !ok || found.start >= limit {
			return
		}
		if ref := h.pool.ids.find(found.cid(text)); ref != 0 {
			h.cited[ref] = true
		} else if h.unknownLine == 0 {
			h.unknown = bytes.Clone(found.cid(text))
			h.unknownLine = h.lineOf(text, found)
		}
		at = found.end
	}
}

func (h *hygiene) lineOf(text []byte, found span) int { return h.line + lineEnds(text[:found.start]) }

const (
	windowSize = 1 << 20
	// lookAhead is how much of what starts near the end of a window is seen: a
	// URL with all that an error quotes of it, and any reasonable citation.
	lookAhead = 64 << 10
)

// stream looks at a text that is too large to be a summary, in memory that does
// not grow with it.
func (h *hygiene) stream(r io.Reader) error {
	buf := make([]byte, 0, windowSize)
	for {
		n, err := io.ReadFull(r, buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		last := err == io.EOF || err == io.ErrUnexpectedEOF
		if err != nil && !last {
			return err
		}
		limit := len(buf)
		if !last {
			limit -= lookAhead
			if buf[limit] == '\n' && buf[limit-1] == '\r' {
				limit-- // one line end, counted once
			}
		}
		h.window(buf, limit)
		if last || h.url != "" {
			return nil
		}
		h.line += lineEnds(buf[:limit])
		buf = buf[:copy(buf, buf[limit:])]
	}
}

// fault is the first rule that the text of a summary breaks, or nil:
// RAW_URL_NOT_ALLOWED, then UNKNOWN_CID.
func (h *hygiene) fault(id string) error {
	switch {
	case h.url != "":
		return tidegate.Errorf(tidegate.RawURLNotAllowed,
			tidegate.D("perspective_id", id, "line_number", h.urlLine, "text", tidegate.Cut(h.url)),
			"summary %s.md has a raw URL in line %d: %s", id, h.urlLine, h.url)
	case h.unknownLine > 0:
		return tidegate.Errorf(tidegate.UnknownCID,
			tidegate.D("perspective_id", id, "cid", string(h.unknown), "line_number", h.unknownLine),
			"summary %s.md cites %q in line %d, which is not among the validated citations", id, h.unknown, h.unknownLine)
	}
	return nil
}
