package report

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Visible makes s fit for a terminal or a log: control characters, terminal
// escapes, bidirectional controls and characters that cannot be seen become
// escapes such as \x1b and \u202e, bytes that are not UTF-8 become \xff, blanks
// of every kind become a space, and the marks by which CI logs recognise a
// command inside a line are broken up. Line ends are kept, as \n. The mark that
// makes an emoji of the symbol before it is left out.
func Visible(s string) string {
	s = lineEnds.Replace(s)
	if strings.IndexFunc(s, escaped) >= 0 || !utf8.ValidString(s) {
		var b strings.Builder
		var r, before rune
		for i, width := 0, 0; i < len(s); i += width {
			before = r
			r, width = utf8.DecodeRuneInString(s[i:])
			switch {
			case r == '\ufe0f' && unicode.Is(unicode.So, before):
			case r == utf8.RuneError && width == 1:
				fmt.Fprintf(&b, `\x%02x`, s[i])
			case !escaped(r) || r == '\n':
				b.WriteRune(r)
			case unicode.IsSpace(r) && r != '\v' && r != '\f' && r != '\u0085' && r != '\u2028' && r != '\u2029':
				b.WriteByte(' ')
			case r < 0x100:
				fmt.Fprintf(&b, `\x%02x`, r)
			case r < 0x10000:
				fmt.Fprintf(&b, `\u%04x`, r)
			default:
				fmt.Fprintf(&b, `\U%08x`, r)
			}
		}
		s = b.String()
	}
	if strings.Contains(s, "##") {
		s = logCommand().ReplaceAllString(s, `#\#$1[`)
	}
	return s
}

// logCommand is how GitHub, Azure and TeamCity mark a command; the first two
// obey it anywhere in a line.
var logCommand = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`##([a-z]*)\[`) })

var lineEnds = strings.NewReplacer("\r\n", "\n", "\r", "\n")

// escaped holds for every character that is not a visible mark of its own, and for
// the blanks that are not a space.
func escaped(r rune) bool {
	if r < 0x7f {
		return r < ' '
	}
	return !unicode.IsPrint(r) || markdown.Concealed(r)
}

// OneLine is [Visible] text on a single line, without blanks at its ends.
func OneLine(s string) string {
	s = strings.TrimSpace(Visible(s))
	if !strings.Contains(s, "\n") {
		return s
	}
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimSpace(line)
	}
	return joinNonEmpty(" ", lines...)
}

// shorten keeps the first n code points of s and says so with an ellipsis.
func shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for i := range s {
		if n == 0 {
			return s[:i] + "…"
		}
		n--
	}
	return s
}

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

// ShellWord quotes a path or an id so that a POSIX shell takes it as one word,
// in the commands that reports suggest.
func ShellWord(text string) string {
	special := func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+=:@%", r))
	}
	if text != "" && !strings.ContainsFunc(text, special) {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
