package wave

import (
	"bytes"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
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
	faultLine int

	// of the line under way, which may come in pieces
	start  []byte // its beginning, enough to see the list marker and to quote it
	blank  bool
	hasURL bool
	tail   []byte // the end of the previous piece, for a URL that spans two
}

// startSize holds 200 characters of four bytes, with room for indentation.
const startSize = 2048

func (s *sourceLines) reset(limit float64) {
	*s = sourceLines{limit: limit, start: s.start[:0], tail: s.tail[:0]}
}

func (s *sourceLines) line(l markdown.Line) {
	if l.First && l.Last {
		s.judge(l.Number, l.Text, len(bytes.TrimSpace(l.Text)) == 0, hasURL(l.Text, true))
		return
	}
	if l.First {
		s.start, s.tail, s.blank, s.hasURL = s.start[:0], s.tail[:0], true, false
	}
	if s.blank {
		text := bytes.TrimLeftFunc(l.Text, unicode.IsSpace)
		s.blank = len(text) == 0
		s.start = append(s.start, text[:min(len(text), startSize)]...)
	}
	if !s.hasURL {
		s.tail = append(s.tail, l.Text...)
		s.hasURL = hasURL(s.tail, l.Last)
		s.tail = append(s.tail[:0], s.tail[max(0, len(s.tail)-len("https://")-utf8.UTFMax):]...)
	}
	if l.Last {
		s.judge(l.Number, s.start, s.blank, s.hasURL)
	}
}

func (s *sourceLines) judge(number int, text []byte, blank, url bool) {
	fault := ""
	switch {
	case blank:
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
		s.fault, s.faultLine, s.faultText = fault, number, tidegate.Cut(string(text))
	}
}

// isListItem reports whether text begins, after white space, with a list
// marker and a space or tab: -, *, +, or a number of up to nine digits with a
// full stop or a parenthesis.
func isListItem(text []byte) bool {
	text = bytes.TrimLeftFunc(text, unicode.IsSpace)
	if len(text) == 0 {
		return false
	}
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
		if r, _ := utf8.DecodeRune(rest); whole && !unicode.IsSpace(r) && isScheme(text[:i]) {
			return true
		}
		text = rest
	}
}

func isScheme(before []byte) bool {
	for _, scheme := range []string{"http", "https"} {
		if n := len(before) - len(scheme); n >= 0 && bytes.EqualFold(before[n:], []byte(scheme)) {
			return true
		}
	}
	return false
}
