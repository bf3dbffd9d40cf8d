package markdown

import (
	"encoding/binary"
	"math/bits"
)

// wordCounter counts the maximal runs of bytes that are not white space. It
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
	for len(b) >= 32 {
		b = w.ascii(b)
		for range 4 {
			b = w.eight(b)
		}
	}
	for len(b) > 0 {
		b = w.eight(b)
	}
}

// ascii takes 32 bytes at a time from the front of b for as long as they are ASCII.
func (w *wordCounter) ascii(b []byte) []byte {
	n, space := w.n, w.space
	for len(b) >= 32 {
		x0 := binary.LittleEndian.Uint64(b)
		x1 := binary.LittleEndian.Uint64(b[8:])
		x2 := binary.LittleEndian.Uint64(b[16:])
		x3 := binary.LittleEndian.Uint64(b[24:])
		if (x0|x1|x2|x3)&highs != 0 {
			break
		}
		s0, s1, s2, s3 := spaces(x0), spaces(x1), spaces(x2), spaces(x3)
		// A word begins where the byte before is white space and this one is not.
		// Its mark is the highest bit of a byte: four of them are counted at once.
		n += bits.OnesCount64((s0<<8|space)&^s0 |
			((s1<<8|s0>>56)&^s1)>>1 |
			((s2<<8|s1>>56)&^s2)>>2 |
			((s3<<8|s2>>56)&^s3)>>3)
		space = s3 >> 56
		b = b[32:]
	}
	w.n, w.space = n, space
	return b
}

// eight takes eight bytes, or a few more, from the front of b.
func (w *wordCounter) eight(b []byte) []byte {
	if len(b) < 8 {
		return w.decode(b)
	}
	x := binary.LittleEndian.Uint64(b)
	high := x & highs
	if high != 0 && hasWideSpace(x, b) {
		return w.decode(b)
	}
	s := spaces(x&^high) &^ high
	w.n += bits.OnesCount64((s<<8 | w.space) &^ s)
	w.space = s >> 56
	return b[8:]
}

// spaces has 0x80 in each byte in which x, eight bytes of ASCII, has white space:
// 0x09 to 0x0D and 0x20. No sum carries into the next byte.
func spaces(x uint64) uint64 {
	return ((x+0x77*ones)&^(x+0x72*ones) | ^((x ^ 0x20*ones) + 0x7F*ones)) & highs
}

// hasWideSpace reports whether white space of more than one byte begins, or may
// begin, in the first eight bytes of b, which are x.
func hasWideSpace(x uint64, b []byte) bool {
	// In each byte: 0x80 where it is C2 or E0 to E3, and sometimes elsewhere.
	c2 := x ^ 0xC2*ones
	e0 := x&(0xFC*ones) ^ 0xE0*ones
	for may := ((c2-ones)&^c2 | (e0-ones)&^e0) & highs & x; may != 0; may &= may - 1 {
		if n, known := spaceLen(b[bits.TrailingZeros64(may)/8:]); n > 0 || !known {
			return true
		}
	}
	return false
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
