package pivot

import (
	"slices"
	"strings"
	"unicode/utf8"

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
