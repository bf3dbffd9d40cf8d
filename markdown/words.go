package markdown

import (
	"encoding/binary"
	"math/bits"
)

// wordCounter counts the maximal runs of bytes that are no white space. It
// looks at eight bytes at a time: all white space is ASCII, or begins with one
// of four bytes that never stand inside another character, so that it can be
// found without decoding.
type wordCounter struct {
	n     int
	space uint64  // 0x80 after white space and at the start, 0 inside a word
	split [2]byte // the beginning of what may turn out to be white space
	held  int     // bytes in split
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

func (w *wordCounter) reset() { *w = wordCounter{space: 0x80} }

// total is the number of words in what was written.
func (w *wordCounter) total() int {
	if w.held > 0 && w.space != 0 {
		return w.n + 1
	}
	return w.n
}

func (w *wordCounter) write(b []byte) {
	b = w.joinSplit(b)
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		high := x & highs
		if high != 0 && mayStartSpace(x) {
			b = w.decode(b)
			continue
		}
		low := x &^ high
		// In each byte: 0x80 for 0x09 to 0x0D and 0x20. No sum carries into the
		// next byte, since the bytes of low are below 0x80.
		spaces := ((low+0x77*ones)&^(low+0x72*ones) | ^((low ^ 0x20*ones) + 0x7F*ones)) & highs &^ high
		w.n += bits.OnesCount64((spaces<<8 | w.space) &^ spaces)
		w.space = spaces >> 56
		b = b[8:]
	}
	for len(b) > 0 {
		b = w.decode(b)
	}
}

// mayStartSpace tells whether one of the bytes is C2 or E0 to E3.
func mayStartSpace(x uint64) bool {
	c2 := x ^ 0xC2*ones
	e0 := x&(0xFC*ones) ^ 0xE0*ones
	return ((c2-ones)&^c2|(e0-ones)&^e0)&highs != 0
}

// decode takes eight bytes, or all that is left, and the rest of a white space
// that began in them, from the front of b.
func (w *wordCounter) decode(b []byte) []byte {
	i := 0
	for i < 8 && i < len(b) {
		n, known := spaceLen(b[i:])
		if !known {
			w.held = copy(w.split[:], b[i:])
			return nil
		}
		w.put(n > 0)
		i += max(n, 1)
	}
	return b[i:]
}

// joinSplit decides, with the first bytes of b, what the last write left open,
// and returns the rest of b.
func (w *wordCounter) joinSplit(b []byte) []byte {
	if w.held == 0 {
		return b
	}
	var joined [3]byte
	held := copy(joined[:], w.split[:w.held])
	taken := copy(joined[held:], b)
	n, known := spaceLen(joined[:held+taken])
	switch {
	case !known:
		w.held = copy(w.split[:], joined[:held+taken])
		return nil
	case n == 0:
		w.put(false)
		w.held = 0
		return b
	}
	w.put(true)
	w.held = 0
	return b[n-held:]
}

func (w *wordCounter) put(space bool) {
	if space {
		w.space = 0x80
		return
	}
	if w.space != 0 {
		w.n++
		w.space = 0
	}
}

// spaceLen is the length of the white space character that b begins with, or 0.
// It is not known when b is the beginning of one.
func spaceLen(b []byte) (n int, known bool) {
	switch c := b[0]; {
	case c == ' ', '\t' <= c && c <= '\r':
		return 1, true
	case c != 0xC2 && (c < 0xE1 || c > 0xE3):
		return 0, true
	case len(b) == 1:
		return 0, false
	}
	switch uint16(b[0])<<8 | uint16(b[1]) {
	case 0xC285, 0xC2A0: // NEL, NBSP
		return 2, true
	case 0xE19A, 0xE280, 0xE281, 0xE380:
	default:
		return 0, true
	}
	if len(b) == 2 {
		return 0, false
	}
	switch c := b[2]; uint16(b[0])<<8 | uint16(b[1]) {
	case 0xE280: // U+2000 to U+200A, U+2028, U+2029, U+202F
		if c >= 0x80 && c <= 0x8A || c == 0xA8 || c == 0xA9 || c == 0xAF {
			return 3, true
		}
	case 0xE281: // U+205F
		if c == 0x9F {
			return 3, true
		}
	default: // U+1680, U+3000
		if c == 0x80 {
			return 3, true
		}
	}
	return 0, true
}
