package pivot

import (
	"io"
	"strconv"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// gapsTitle is the heading under which an output states its gaps.
const gapsTitle = "Gaps"

// Extract reads an output to its end and returns the gaps that it states, in
// document order: the lines "- (P1) text" between the first top-level heading
// Gaps and the next heading. It returns GAPS_SECTION_NOT_FOUND when there is no
// such heading, GAPS_PARSE_FAILED for the first bullet line that has another
// form, and the errors of r as they are.
//
// A bullet line begins, after white space, with "-" and is not a thematic break,
// with another list marker, or, to a reader of the page, with a priority in
// parentheses: list markers of any kind, quote marks, emphasis, escapes, tags and
// zero-width characters before it hide nothing. Lines in fenced code and in HTML
// comments do not count as such, and all other lines are ignored. A bullet line
// longer than [markdown.MaxLine] has no form that is accepted.
func Extract(perspectiveID string, r io.Reader) ([]Gap, error) {
	return new(Extractor).Extract(perspectiveID, r)
}

// Extractor extracts from one output after the other. The zero value is ready; it
// keeps its buffers, and must not be used by two goroutines at once.
type Extractor struct {
	scanner markdown.Scanner
	lines   bulletLines
	id      string
	found   bool // the section
	gaps    []Gap
	fault   error // the first one
}

// Extract is the function [Extract].
func (e *Extractor) Extract(id string, r io.Reader) ([]Gap, error) {
	e.id, e.found, e.gaps, e.fault = id, false, nil, nil
	e.lines.bullet = e.bullet
	_, err := e.scanner.Scan(r, markdown.Events{Heading: e.heading, Line: e.lines.line})
	switch {
	case err != nil:
		return nil, err
	case !e.found:
		return nil, tidegate.Errorf(tidegate.GapsSectionNotFound, tidegate.Pairs("perspective_id", id),
			"the output of %q has no top-level heading %s", tidegate.Cut(id), gapsTitle)
	}
	return e.gaps, e.fault
}

func (e *Extractor) heading(h markdown.Heading) bool {
	if e.found || string(h.Text) != gapsTitle {
		return false
	}
	e.found = true
	return true
}

func (e *Extractor) bullet(b bullet) {
	switch {
	case e.fault != nil:
	case b.fault != "":
		e.gaps = nil
		e.fault = tidegate.Errorf(tidegate.GapsParseFailed,
			tidegate.Pairs("perspective_id", e.id, "line", b.quote, "line_number", b.number),
			"line %d of the output of %q, a bullet under %s, %s", b.number, tidegate.Cut(e.id), gapsTitle, b.fault)
	default:
		e.gaps = append(e.gaps, Gap{
			ID:       "gap_" + e.id + "_" + strconv.Itoa(len(e.gaps)+1),
			Priority: b.priority, Text: b.text, Tags: tagsIn(b.text), Source: Parsed, From: e.id, Line: b.number,
		})
	}
}
