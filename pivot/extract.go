package pivot

import (
	"bytes"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/markdown"
)

// gapsTitle is the heading under which an output states its gaps.
const gapsTitle = "Gaps"

// Extract reads an output to its end and returns the gaps that it states, in
// document order: the lines "- (P1) text" between the first top-level heading
// Gaps and the next heading. It returns GAPS_SECTION_NOT_FOUND when there is no
// such heading, GAPS_PARSE_FAILED for the first bullet line that has another
// form, and the errors of r as they are.
//
// A bullet line begins, after white space, with "-" and is no thematic break,
// with another list marker, or with a priority in parentheses. Lines in fenced
// code and in HTML comments are none, and all other lines are ignored. A bullet
// line longer than [markdown.MaxLine] has no form that is accepted.
func Extract(perspectiveID string, r io.Reader) ([]Gap, error) {
	return new(extractor).extract(perspectiveID, r)
}

// extractor extracts from one output after the other, with the same buffers.
type extractor struct {
	scanner markdown.Scanner
	id      string
	found   bool // the section
	gaps    []Gap
	fault   error // the first one

	// of a line that comes in pieces
	quote []byte // its beginning
	start []byte // its beginning after white space
	begun bool   // start holds a character
}

const (
	// quoteSize holds as many characters as a quotation may have.
	quoteSize = tidegate.MaxText * utf8.UTFMax
	// startSize holds the longest list marker with the blank after it.
	startSize = 16
)

func (e *extractor) extract(id string, r io.Reader) ([]Gap, error) {
	e.id, e.found, e.gaps, e.fault = id, false, nil, nil
	_, err := e.scanner.Scan(r, markdown.Events{Heading: e.heading, Line: e.line})
	switch {
	case err != nil:
		return nil, err
	case !e.found:
		return nil, tidegate.Errorf(tidegate.GapsSectionNotFound, tidegate.D("perspective_id", id),
			"the output of %q has no top-level heading %s", tidegate.Cut(id), gapsTitle)
	}
	return e.gaps, e.fault
}

func (e *extractor) heading(h markdown.Heading) bool {
	if e.found || string(h.Text) != gapsTitle {
		return false
	}
	e.found = true
	return true
}

func (e *extractor) line(l markdown.Line) {
	switch {
	case e.fault != nil || l.In == markdown.InFence || l.In == markdown.InComment:
	case l.First && l.Last:
		e.judge(l.Number, l.Text)
	default:
		e.piece(l)
	}
}

func (e *extractor) judge(number int, line []byte) {
	text := bytes.TrimLeftFunc(line, unicode.IsSpace)
	if !startsLikeBullet(text) || markdown.ThematicBreak(text) {
		return
	}
	priority, rest := readBullet(text)
	stated := collapse(string(rest))
	if stated == "" {
		e.refuse(number, line, "is not of the form - (P0|P1|P2|P3) text")
		return
	}
	e.gaps = append(e.gaps, Gap{
		ID:       "gap_" + e.id + "_" + strconv.Itoa(len(e.gaps)+1),
		Priority: priority, Text: stated, Tags: tagsIn(stated), Source: Parsed, From: e.id, line: number,
	})
}

// piece takes a piece of a line longer than [markdown.MaxLine]. Such a line is
// held only as far as it takes to see that it is a bullet line.
func (e *extractor) piece(l markdown.Line) {
	if l.First {
		e.quote, e.start, e.begun = e.quote[:0], e.start[:0], false
	}
	e.quote = append(e.quote, l.Text[:min(len(l.Text), quoteSize-len(e.quote))]...)
	if !e.begun {
		e.start = bytes.TrimLeftFunc(append(e.start, l.Text...), unicode.IsSpace)
		e.begun = utf8.FullRune(e.start) // else white space may be cut in two
	} else if len(e.start) < startSize {
		e.start = append(e.start, l.Text...)
	}
	if e.begun {
		e.start = e.start[:min(len(e.start), startSize)]
	}
	if l.Last && startsLikeBullet(e.start) {
		e.refuse(l.Number, e.quote, "is longer than a gap may be, "+strconv.Itoa(markdown.MaxLine)+" bytes")
	}
}

func (e *extractor) refuse(number int, line []byte, why string) {
	e.gaps = nil
	e.fault = tidegate.Errorf(tidegate.GapsParseFailed,
		tidegate.D("perspective_id", e.id, "line", tidegate.Cut(string(line)), "line_number", number),
		"line %d of the output of %q, a bullet under %s, %s", number, tidegate.Cut(e.id), gapsTitle, why)
}

// startsLikeBullet reports whether text, which has no white space before it,
// begins as a bullet line does.
func startsLikeBullet(text []byte) bool {
	if len(text) == 0 {
		return false
	}
	n := 1
	switch c := text[0]; {
	case c == '-':
		return true
	case c == '(':
		return priorityMark(text) != ""
	case c == '*' || c == '+':
	case c >= '0' && c <= '9':
		for n < len(text) && text[n] >= '0' && text[n] <= '9' {
			n++
		}
		if n > maxDigits || n == len(text) || text[n] != '.' && text[n] != ')' {
			return false
		}
		n++
	default:
		return false
	}
	return n == len(text) || isBlank(text[n])
}

// maxDigits is how many digits the number of a list item may have.
const maxDigits = 9

// readBullet takes a bullet line apart. The rest is nil when it has another
// form than "- (P1) rest".
func readBullet(text []byte) (priority string, rest []byte) {
	if text[0] != '-' {
		return "", nil
	}
	text, ok := skipBlanks(text[1:])
	if !ok {
		return "", nil
	}
	if priority = priorityMark(text); priority == "" {
		return "", nil
	}
	if rest, ok = skipBlanks(text[len("(P0)"):]); !ok {
		return "", nil
	}
	return priority, rest
}

// priorityMark is the priority whose mark, such as (P0), text begins with, or "".
func priorityMark(text []byte) string {
	if len(text) < len("(P0)") || text[0] != '(' || text[1] != 'P' || text[2] < '0' || text[2] > '3' || text[3] != ')' {
		return ""
	}
	return Priorities[text[2]-'0']
}

// skipBlanks goes past blanks and tabs; ok is false when there are none.
func skipBlanks(text []byte) (rest []byte, ok bool) {
	rest = bytes.TrimLeft(text, " \t")
	return rest, len(rest) < len(text)
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }
