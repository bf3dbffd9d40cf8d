package wave

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The reasons of MALFORMED_SOURCES.
const (
	notBullet  = "NOT_BULLET"
	missingURL = "MISSING_URL"
)

// sourceLines judges the lines of a Sources section: every line that is not
// blank must be a list item with a URL.
type sourceLines struct {
	limit     float64
	count     int
	overLine  int    // the first source beyond the limit
	fault     string // of the first malformed line
	faultText string
	malformed int   // lines
	lines     []int // the numbers of the first malformed lines

	long longLine // under way
}

// maxListed is how many malformed lines of one output are named by number.
const maxListed = 5

func (s *sourceLines) reset(limit float64) {
	*s = sourceLines{limit: limit, long: s.long}
}

func (s *sourceLines) line(l markdown.Line) {
	if l.First && l.Last {
		s.judge(l.Number, l.Text, bytes.TrimLeftFunc(l.Text, unicode.IsSpace), hasURL(l.Text, true))
		return
	}
	if l.First {
		s.long.reset()
	}
	s.long.add(l.Text, l.Last)
	if l.Last {
		s.judge(l.Number, s.long.quote, s.long.start, s.long.hasURL)
	}
}

// judge takes a line and its text after leading white space.
func (s *sourceLines) judge(number int, line, text []byte, url bool) {
	fault := ""
	switch {
	case len(text) == 0:
		return
	case !isListItem(text):
		fault = notBullet
	case !url:
		fault = missingURL
	default:
		s.count++
		if s.overLine == 0 && float64(s.count) > s.limit {
			s.overLine = number
		}
		return
	}
	if s.fault == "" {
		s.fault, s.faultText = fault, tidegate.Cut(string(line[:min(len(line), quoteSize)]))
	}
	s.malformed++
	if len(s.lines) < maxListed {
		s.lines = append(s.lines, number)
	}
}

const (
	// quoteSize holds as many characters as a quotation may have.
	quoteSize = tidegate.MaxText * utf8.UTFMax
	// startSize holds the longest list marker with the blank after it.
	startSize = 16
)

// longLine gathers what judging needs of a line that comes in pieces.
type longLine struct {
	quote  []byte // its first bytes
	start  []byte // its first bytes after leading white space
	hasURL bool
	space  []byte // the beginning of a character that may be leading white space
	tail   []byte // the end of what came, for a URL that spans two pieces
}

func (l *longLine) reset() {
	*l = longLine{quote: l.quote[:0], start: l.start[:0], space: l.space[:0], tail: l.tail[:0]}
}

func (l *longLine) add(piece []byte, last bool) {
	l.quote = append(l.quote, piece[:min(len(piece), quoteSize-len(l.quote))]...)
	if len(l.start) == 0 {
		text := piece
		if len(l.space) > 0 {
			text = append(l.space, piece...)
		}
		text = bytes.TrimLeftFunc(text, unicode.IsSpace)
		l.space = l.space[:0]
		if !last && !utf8.FullRune(text) {
			l.space = append(l.space, text...)
			text = nil
		}
		l.start = append(l.start, text[:min(len(text), startSize)]...)
	} else {
		l.start = append(l.start, piece[:min(len(piece), max(0, startSize-len(l.start)))]...)
	}
	if !l.hasURL {
		text := append(l.tail, piece...)
		l.hasURL = hasURL(text, last)
		l.tail = append(l.tail[:0], text[max(0, len(text)-len("https://")-utf8.UTFMax):]...)
	}
}

// isListItem reports whether text begins with a list marker and a space or tab:
// -, *, +, or a number of up to nine digits with a full stop or a parenthesis.
func isListItem(text []byte) bool {
	n := 1
	if bytes.IndexByte([]byte("-*+"), text[0]) < 0 {
		digits := 0
		for digits < len(text) && text[digits] >= '0' && text[digits] <= '9' {
			digits++
		}
		if digits == 0 || digits > 9 || digits == len(text) || text[digits] != '.' && text[digits] != ')' {
			return false
		}
		n = digits + 1
	}
	return n < len(text) && (text[n] == ' ' || text[n] == '\t')
}

// hasURL reports whether text holds http:// or https://, in any letter case,
// followed by a character that is not white space. Where the line goes on after
// text, a character that text cuts in two is not counted.
func hasURL(text []byte, ends bool) bool {
	for {
		i := bytes.Index(text, []byte("://"))
		if i < 0 {
			return false
		}
		rest := text[i+3:]
		whole := len(rest) > 0 && (ends || utf8.FullRune(rest))
		if r, _ := utf8.DecodeRune(rest); whole && !unicode.IsSpace(r) && endsInScheme(text[:i]) {
			return true
		}
		text = text[i+1:]
	}
}

func endsInScheme(text []byte) bool {
	if n := len(text); n > 0 && text[n-1]|0x20 == 's' {
		text = text[:n-1]
	}
	n := len(text) - len("http")
	return n >= 0 && bytes.EqualFold(text[n:], []byte("http"))
}
