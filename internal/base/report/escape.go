package report

import (
	"slices"
	"strings"
	"unicode"
)

// The escaping of markdown. Text is quoted so that every reader of GitHub's
// flavour shows it as it was typed: a backslash or an entity takes the meaning
// from punctuation, and a word that a code host would turn into a link after
// parsing (an address, a mention, a reference to an issue, a formula) becomes a
// code span, because escapes do not reach that far.

// mdInline is text on one line for the inside of a paragraph, list item, table
// cell or heading. It never holds a literal "|".
func mdInline(s string) string {
	var b strings.Builder
	for i, word := range strings.Split(OneLine(s), " ") {
		if i > 0 {
			b.WriteByte(' ')
		}
		if !linked(word) {
			mdEscape.WriteString(&b, word)
			continue
		}
		before, core, after := bare(word)
		mdEscape.WriteString(&b, before)
		b.WriteString(mdCode(core))
		mdEscape.WriteString(&b, after)
	}
	return b.String()
}

// bare removes the punctuation of a sentence around an address or the like: the
// quotes and brackets that it stands in, and the full stop or comma after it.
func bare(word string) (before, core, after string) {
	core = strings.TrimLeft(word, `'"(`)
	before = word[:len(word)-len(core)]
	core = strings.TrimRight(core, `'".,;:!?`)
	if strings.HasSuffix(core, ")") && !strings.Contains(core, "(") {
		core = strings.TrimRight(core, `)'".,;:!?`)
	}
	return before, core, word[len(before)+len(core):]
}

var mdEscape = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "#", `\#`, "~", `\~`,
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "|", mdPipe)

// mdPipe is a pipe that does not divide cells, whatever surrounds it.
const mdPipe = "&#124;"

// mdStart is mdInline where a block may begin: nothing in it opens a list, a
// quote, a fence, a heading, a rule or a table.
func mdStart(s string) string {
	s = mdInline(s)
	digits := len(s) - len(strings.TrimLeft(s, "0123456789"))
	switch {
	case s == "" || s[0] == '\\' || s[0] == '`' || s[0] == '&':
		return s
	case s[0] < unicode.MaxASCII && (unicode.IsPunct(rune(s[0])) || unicode.IsSymbol(rune(s[0]))):
		return `\` + s
	case digits > 0 && digits < len(s) && (s[digits] == '.' || s[digits] == ')'):
		return s[:digits] + `\` + s[digits:]
	}
	return s
}

// mdCode is text on one line as a code span; pipes stand outside of it.
func mdCode(s string) string {
	pieces := strings.Split(OneLine(s), "|")
	for i, piece := range pieces {
		pieces[i] = codeSpan(piece)
	}
	return strings.Join(pieces, mdPipe)
}

func codeSpan(s string) string {
	if strings.TrimSpace(s) == "" {
		return s
	}
	fence := strings.Repeat("`", longestRun(s, '`')+1)
	if s[0] == '`' || s[len(s)-1] == '`' || s[0] == ' ' || s[len(s)-1] == ' ' {
		s = " " + s + " "
	}
	return fence + s + fence
}

func longestRun(s string, char byte) int {
	longest, run := 0, 0
	for i := range len(s) {
		if s[i] == char {
			run++
			longest = max(longest, run)
		} else {
			run = 0
		}
	}
	return longest
}

// linked holds for a word in which a code host may find a link, a mention, a
// reference or a formula.
func linked(word string) bool {
	if strings.ContainsAny(word, "@$") || strings.Contains(word, "://") {
		return true
	}
	lower := strings.ToLower(word)
	if slices.ContainsFunc([]string{"www.", "mailto:", "xmpp:"}, func(scheme string) bool { return strings.Contains(lower, scheme) }) {
		return true
	}
	for _, sign := range []string{"#", "gh-", "!", "&"} {
		for rest := lower; ; {
			_, after, found := strings.Cut(rest, sign)
			if !found {
				break
			}
			if after != "" && after[0] >= '0' && after[0] <= '9' {
				return true
			}
			rest = after
		}
	}
	return false
}
