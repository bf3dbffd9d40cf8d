package report

import (
	"fmt"
	"unicode/utf16"
	"unicode/utf8"
)

// VisibleJSON is a JSON text in which every character that [Visible] escapes is
// escaped. Such characters stand only inside strings, so the JSON stays the same.
func VisibleJSON(data []byte) []byte {
	var out []byte
	for _, r := range string(data) {
		switch {
		case r == '\n' || !escaped(r):
			out = utf8.AppendRune(out, r)
		case r < 0x10000:
			out = fmt.Appendf(out, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			out = fmt.Appendf(out, `\u%04x\u%04x`, high, low)
		}
	}
	return out
}
