package review

import (
	"strings"
)

// What states a verdict to a person who looks at the page, although no reader
// is to take it for the verdict: a checked box of any kind, a label with the
// word, and in the verdict section the word alone with marks around it. Where
// the words are written apart they count in capitals only, or a checked "Major
// issues resolved" would be a verdict.
const (
	looseWords = `(?:(?i:APPROVED|NEEDS_FIX|NEEDS_CHANGES|MAJOR_ISSUES)|NEEDS[ -](?:FIX|CHANGES)|MAJOR[ -]ISSUES)`
	marks      = `[^\pL\pN\[\]]*`
)

var (
	looseBox   = pattern(`\[[xX✓✔☑]\]` + marks + `(` + looseWords + `)(?:[^\pL\pN_]|$)`)
	looseLabel = pattern(`^` + marks + `(?i:verdict)` + marks + `(` + looseWords + `)(?:[^\pL\pN_]|$)`)
	looseWord  = pattern(`^` + marks + `(` + looseWords + `)` + marks + `$`)
	listMarks  = pattern(`^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*`)
)

// looseVerdict is the word that a line states loosely, "" for none. A line that
// begins with an unchecked box offers a verdict and states none.
func looseVerdict(line string, inVerdict bool) string {
	text := listMarks().ReplaceAllString(line, "")
	if strings.HasPrefix(text, "[ ]") {
		return ""
	}
	if strings.HasPrefix(text, "[") {
		if at := looseBox().FindStringSubmatchIndex(text); at != nil && at[0] == 0 {
			return text[at[2]:at[3]]
		}
	}
	if m := looseLabel().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	if m := looseWord().FindStringSubmatch(text); inVerdict && m != nil {
		return m[1]
	}
	return ""
}
