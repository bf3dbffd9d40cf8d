package wave

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
)

// maxHeading is the length in bytes up to which a line of an output is seen
// whole; a longer one has no title that could match.
const maxHeading = 1 << 20

// HeadingLine is a line by which an output has the section that title asks for,
// or "" when no heading of one line can have that text.
func HeadingLine(title string) string {
	title = strings.TrimSpace(title)
	line := "## " + title
	if endsInMarks(title) {
		line += " ##"
	}
	if title == "" || strings.ContainsAny(title, "\r\n") || len(line) > maxHeading {
		return ""
	}
	return line
}

// endsInMarks reports whether the end of title would be taken for the closing
// marks of its heading, unless closing marks follow it.
func endsInMarks(title string) bool {
	text := strings.TrimRight(title, "#")
	return text != title && (text == "" || strings.HasSuffix(text, " ") || strings.HasSuffix(text, "\t"))
}

// Obstacles says why no output can meet the contract; it is empty when one can.
func (c Contract) Obstacles() []string {
	var list []string
	words := 0
	for _, title := range c.Sections {
		line := HeadingLine(title)
		words += len(strings.Fields(line))
		if line == "" {
			list = append(list, fmt.Sprintf("no heading can have the required text %q: a heading is one line of at most %d bytes", tidegate.Cut(title), maxHeading))
		}
	}
	if c.MaxWords < float64(words) {
		list = append(list, fmt.Sprintf("max_words %s cannot hold the required headings, which have %d words", plain(c.MaxWords), words))
	}
	return list
}

// nearHeadings collects why a required heading may be missing although its author
// believes that it is there: a heading that differs in letter case, emphasis or
// punctuation, or a code fence around the output.
type nearHeadings struct {
	lines []int // by index of the contract's sections; 0 for none
	seen  int
	first []byte // the first bytes of the output
}

// An output with more headings than that was not written by an agent.
const mostHeadings = 1000

const firstBytes = 64

func (a *nearHeadings) reset(sections []string) {
	a.lines = append(a.lines[:0], make([]int, min(len(sections), fewSections))...)
	a.seen, a.first = 0, a.first[:0]
}

// Write sees the output as it is read.
func (a *nearHeadings) Write(data []byte) (int, error) {
	if room := firstBytes - len(a.first); room > 0 {
		a.first = append(a.first, data[:min(room, len(data))]...)
	}
	return len(data), nil
}

// heading looks at one that is not among the required ones.
func (a *nearHeadings) heading(sections []string, text []byte, line int) {
	if a.seen++; a.seen > mostHeadings {
		return
	}
	for i := range a.lines {
		if a.lines[i] == 0 && alike(text, sections[i]) {
			a.lines[i] = line
		}
	}
}

// hint says this about the sections that were not found, "" when there is nothing
// to say. It repeats nothing of the output: agents read it as instructions.
func (a *nearHeadings) hint(found []bool) string {
	var lines []string
	for i, line := range a.lines {
		if line > 0 && !found[i] {
			lines = append(lines, strconv.Itoa(line))
		}
	}
	start := bytes.TrimSpace(bytes.TrimPrefix(a.first, []byte("\ufeff")))
	switch {
	case len(lines) == 1:
		return "; the heading in line " + lines[0] + " is almost it, but not exactly"
	case len(lines) > 1:
		return "; the headings in lines " + strings.Join(lines, ", ") + " are almost these, but not exactly"
	case bytes.HasPrefix(start, []byte("```")) || bytes.HasPrefix(start, []byte("~~~")):
		return "; the output begins with a code fence, and headings inside a fence do not count"
	}
	return ""
}

// alike reports whether the letters and digits of both are the same, letter case
// and a number before the first letter aside.
func alike(heading []byte, title string) bool {
	heading = bytes.TrimLeftFunc(heading, func(r rune) bool { return !unicode.IsLetter(r) })
	title = strings.TrimLeftFunc(title, func(r rune) bool { return !unicode.IsLetter(r) })
	counts := func(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) }
	for len(title) > 0 {
		want, width := utf8.DecodeRuneInString(title)
		title = title[width:]
		if !counts(want) {
			continue
		}
		at := bytes.IndexFunc(heading, counts)
		if at < 0 {
			return false
		}
		got, width := utf8.DecodeRune(heading[at:])
		if unicode.ToLower(got) != unicode.ToLower(want) {
			return false
		}
		heading = heading[at+width:]
	}
	return len(heading) == 0 || bytes.IndexFunc(heading, counts) < 0
}
