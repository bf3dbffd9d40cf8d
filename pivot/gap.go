package pivot

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/base/codec"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// The sources of a gap.
const (
	Explicit = "explicit"     // an operator stated it
	Parsed   = "parsed_wave1" // a wave-1 output states it
)

// Priorities are the four priorities, the most urgent first.
var Priorities = []string{"P0", "P1", "P2", "P3"}

// Gap is one open question, normalised: see [Extract] and [Check].
type Gap struct {
	ID       string   `json:"gap_id" jsonschema:"unique among the gaps"`
	Priority string   `json:"priority" jsonschema:"P0 is the most urgent" enum:"P0,P1,P2,P3"`
	Text     string   `json:"text" jsonschema:"trimmed, white space collapsed"`
	Tags     []string `json:"tags" jsonschema:"each once, in byte order"`
	Source   string   `json:"source" jsonschema:"who stated it" enum:"explicit,parsed_wave1"`
	From     string   `json:"from_perspective_id,omitzero" jsonschema:"the perspective whose output states it"`

	// Where a parsed gap stands, for the report. [Extract] does not know the file.
	File string `json:"-"`
	Line int    `json:"-"`
}

// collapse trims text and makes every run of white space in it one blank. A
// byte that is not UTF-8 becomes U+FFFD, so that text means the same wherever it
// is written.
func collapse(text string) string {
	if isCollapsed(text) {
		return text
	}
	if !utf8.ValidString(text) {
		text = string([]rune(text))
	}
	return markdown.OneLine(text)
}

// isCollapsed reports whether text is ASCII that collapse would not change, as
// most text is.
func isCollapsed(text string) bool {
	blank := true
	for i := range len(text) {
		switch c := text[i]; {
		case c == ' ':
			if blank {
				return false
			}
			blank = true
		case c >= '\t' && c <= '\r' || c >= utf8.RuneSelf:
			return false
		default:
			blank = false
		}
	}
	return !blank
}

// tagSet puts tags in byte order, each once, and returns what is left; never
// nil.
func tagSet(tags []string) []string {
	if len(tags) == 0 {
		return []string{}
	}
	slices.Sort(tags)
	return slices.Compact(tags)
}

// tagsIn lists what follows a # in text and is made of a-z, 0-9, _ and -.
func tagsIn(text string) []string {
	var tags []string
	for {
		_, after, found := strings.Cut(text, "#")
		if !found {
			return tagSet(tags)
		}
		n := 0
		for n < len(after) && isTagByte(after[n]) {
			n++
		}
		if n > 0 {
			tags = append(tags, after[:n])
		}
		text = after[n:]
	}
}

func isTagByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-'
}

// explicitGaps normalises stated gaps and checks them one by one, in the order
// given. It returns INVALID_ARGS, DUPLICATE_GAP_ID and INVALID_GAP_PRIORITY.
func explicitGaps(values []*codec.Value) ([]Gap, error) {
	gaps := make([]Gap, 0, len(values))
	taken := make(map[string]bool, len(values))
	for i, v := range values {
		g, err := readGap(fmt.Sprintf("explicit_gaps[%d]", i), v)
		if err != nil {
			return nil, err
		}
		if taken[g.ID] {
			return nil, tidegate.Errorf(tidegate.DuplicateGapID, tidegate.Pairs("gap_id", g.ID), "explicit_gaps has the gap %q twice", tidegate.Cut(g.ID))
		}
		taken[g.ID] = true
		priority := v.Get("priority")
		if !slices.Contains(Priorities, priority.Str()) {
			return nil, tidegate.Errorf(tidegate.InvalidGapPriority, tidegate.Pairs("gap_id", g.ID, "priority", quoted(priority)),
				"the priority of the gap %q must be one of %s", tidegate.Cut(g.ID), strings.Join(Priorities, ", "))
		}
		g.Priority = priority.Str()
		gaps = append(gaps, g)
	}
	return gaps, nil
}

// readGap reads all of a gap but its priority, which must only be there: what it
// may be has a code of its own.
func readGap(name string, v *codec.Value) (Gap, error) {
	g := Gap{Source: Explicit}
	if v.Kind() != codec.Object {
		return g, wrongValue(name, v, "must be an object")
	}
	if err := checkText(name+".gap_id", v.Get("gap_id")); err != nil {
		return g, err
	}
	g.ID = strings.TrimSpace(v.Get("gap_id").Str())
	if given(v, "priority") == nil {
		return g, wrongValue(name+".priority", nil, "must be one of "+strings.Join(Priorities, ", "))
	}
	if err := checkText(name+".text", v.Get("text")); err != nil {
		return g, err
	}
	g.Text = collapse(v.Get("text").Str())
	tags := given(v, "tags")
	if tags != nil && tags.Kind() != codec.Array {
		return g, wrongValue(name+".tags", tags, "must be an array of strings")
	}
	for i, tag := range tags.Elems() {
		if err := checkText(fmt.Sprintf("%s.tags[%d]", name, i), tag); err != nil {
			return g, err
		}
		g.Tags = append(g.Tags, strings.TrimSpace(tag.Str()))
	}
	g.Tags = tagSet(g.Tags)
	if from := given(v, "from_perspective_id"); from != nil {
		if err := checkText(name+".from_perspective_id", from); err != nil {
			return g, err
		}
		g.From = from.Str()
	}
	return g, nil
}

// given is a member of an object; null counts as absent.
func given(v *codec.Value, key string) *codec.Value {
	if member := v.Get(key); member.Kind() != codec.Null {
		return member
	}
	return nil
}

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
