package review

import (
	"bytes"
	"slices"
	"strings"
)

// Apply is a text with the suggestion of a finding in the place of the quoted lines. Why
// says why it cannot be: the lines do not stand there any more, or in several places.
func (f Finding) Apply(text []byte) (applied []byte, why string) {
	want := splitLines([]byte(f.Quote))
	lines := splitLines(text)
	if f.Quote == "" || f.Suggestion == "" {
		return nil, "the finding has no suggestion"
	}
	at := 0
	for n := 1; n <= len(lines); n++ {
		if n-1+len(want) > len(lines) || !slices.Equal(lines[n-1:n-1+len(want)], want) {
			continue
		}
		if int64(n) == lineOrZero(f.Issue) {
			at = n
			break
		}
		if at != 0 {
			return nil, "the lines that it replaces stand in several places"
		}
		at = n
	}
	if at == 0 {
		return nil, "the lines that it replaces do not stand there any more"
	}
	return replaceLines(text, at, len(want), f.Suggestion), ""
}

// replaceLines is a text with other lines in the place of n lines from line at, with the
// line ends of those.
func replaceLines(text []byte, at, n int, with string) []byte {
	rest := bytes.SplitAfter(text, []byte("\n"))
	ended := rest[at-1]
	end := "\n"
	if bytes.HasSuffix(ended, []byte("\r\n")) {
		end = "\r\n"
	}
	lines := strings.Join(splitLines([]byte(with)), end)
	if bytes.HasSuffix(rest[at-2+n], []byte("\n")) {
		lines += end
	}
	return slices.Concat(bytes.Join(rest[:at-1], nil), []byte(lines), bytes.Join(rest[at-1+n:], nil))
}

// judgeSuggestion gives the suggestion of a finding the indentation of the lines that it
// replaces, n from line at, and tries it on a copy of the file. One that changes nothing,
// or after which the file does not parse although it did before, is taken away: the words
// say why.
func (f *Finding) judgeSuggestion(text []byte, at, n int, parses func(file string, text []byte) error) string {
	lines := splitLines(text)
	suggested := indentLike(splitLines([]byte(strings.TrimRight(f.Suggestion, " \t\r\n"))), lines[at-1:at-1+n], lines)
	if slices.Equal(lines[at-1:at-1+n], suggested) {
		return f.withoutSuggestion("it is what stands there already")
	}
	f.Suggestion = strings.Join(suggested, "\n")
	if parses == nil || parses(f.File, text) != nil {
		return ""
	}
	if err := parses(f.File, replaceLines(text, at, n, f.Suggestion)); err != nil {
		return f.withoutSuggestion("with it " + f.File + " does not parse: " + err.Error())
	}
	return ""
}

func (f *Finding) withoutSuggestion(why string) string {
	f.Suggestion = ""
	return "a suggestion for " + `"` + cleanLine(f.Title) + `" is left out: ` + why
}

// indentLike gives suggested lines the indentation of those that they replace: the first
// of both stand at the same depth, and what is deeper is indented as the file does it.
func indentLike(suggested, replaced, file []string) []string {
	from, ok := firstIndent(suggested)
	to, replacing := firstIndent(replaced)
	if !ok || !replacing {
		return suggested
	}
	unit := indentUnit(file)
	theirs := indentUnit(suggested)
	if from == to && (theirs == "" || theirs[0] == unit[0]) {
		return suggested
	}
	out := make([]string, len(suggested))
	for i, line := range suggested {
		indent, text := cutIndent(line)
		if text == "" {
			continue
		}
		depth := columns(indent, theirs) - columns(from, theirs)
		if depth >= 0 {
			step := len(theirs)
			if step == 0 || theirs[0] == '\t' {
				step = tabColumns
			}
			out[i] = to + strings.Repeat(unit, depth/step) + strings.Repeat(" ", depth%step) + text
		} else {
			out[i] = to[:max(0, len(to)+depth*len(unit)/max(1, stepOf(theirs)))] + text
		}
	}
	return out
}

// tabColumns is how many columns a tab is counted as; only differences matter.
const tabColumns = 8

func stepOf(unit string) int {
	if unit == "" || unit[0] == '\t' {
		return tabColumns
	}
	return len(unit)
}

func columns(indent, unit string) int {
	return len(strings.ReplaceAll(indent, "\t", strings.Repeat(" ", stepOf(unit))))
}

func cutIndent(line string) (indent, text string) {
	text = strings.TrimLeft(line, " \t")
	return line[:len(line)-len(text)], text
}

// firstIndent is the indentation of the first line that is not blank.
func firstIndent(lines []string) (string, bool) {
	for _, line := range lines {
		if indent, text := cutIndent(line); text != "" {
			return indent, true
		}
	}
	return "", false
}

// indentUnit is by what lines are indented: a tab, or the smallest step in blanks; four
// blanks where nothing is.
func indentUnit(lines []string) string {
	least := 0
	before := 0
	for _, line := range lines {
		indent, text := cutIndent(line)
		switch {
		case text == "":
			continue
		case strings.HasPrefix(indent, "\t"):
			return "\t"
		}
		if step := len(indent) - before; step > 1 && (least == 0 || step < least) {
			least = step
		}
		before = len(indent)
	}
	if least == 0 {
		least = 4
	}
	return strings.Repeat(" ", least)
}
