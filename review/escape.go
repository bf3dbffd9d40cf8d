package review

import (
	"slices"
	"strings"
)

// An escape of REVIEW.md inserts backslashes only, so none can complete a pattern that
// an earlier one has broken, and each can be undone: what a reviewer typed with
// backslashes in it gets more of them, never fewer.
type escape struct{ do, undo func(string) string }

// escapeBy puts with in the place of what plain matches, and without in the place of what
// escaped matches.
func escapeBy(plain, with, escaped, without string) escape {
	find, found := pattern(plain), pattern(escaped)
	return escape{
		func(s string) string { return find().ReplaceAllString(s, with) },
		func(s string) string { return found().ReplaceAllString(s, without) },
	}
}

// escapes are applied in their order and undone in the reverse.
type escapes []escape

func (list escapes) apply(s string) string {
	for _, e := range list {
		s = e.do(s)
	}
	return s
}

func (list escapes) undo(s string) string {
	for _, e := range slices.Backward(list) {
		s = e.undo(s)
	}
	return s
}

var (
	// inCode is for text in a code span, where nothing but the two patterns that Agentd
	// looks for can do harm: a checked box, which decides the verdict wherever it stands,
	// and a verdict heading, which it finds even in the middle of a line.
	inCode = escapes{
		escapeBy(`\[([xX])(\\*)\]`, `[$1$2\]`, `\[([xX])(\\*)\\\]`, `[$1$2]`),
		escapeBy(`#(\\*)(# (?i:verdict))`, `#$1\$2`, `#(\\*)\\(# (?i:verdict))`, `#$1$2`),
	}
	// inline is for what does harm wherever it stands: what opens HTML or an autolink, and
	// the middle of a link or an image.
	inline = slices.Concat(inCode, escapes{tag, escapeBy(`\](\\*)\(`, `]$1\(`, `\](\\*)\\\(`, `]$1(`)})
	// inText is for text of several lines, each of which stands in a quote. A link
	// definition or a footnote is taken out of the text by renderers, wherever in a
	// paragraph its label began; in a value of one line it can only begin the line. What
	// makes an alert of a quote does so in several lines only.
	inText = slices.Concat(inline, escapes{
		escapeBy(`\](\\*):`, `]$1\:`, `\](\\*)\\:`, `]$1:`),
		escapeBy(`\[(\\*)!`, `[$1\!`, `\[(\\*)\\!`, `[$1!`),
	})
	// inLine is for a value of one line: what opens a block where a line begins, which is a
	// heading, quote, list item, fence, thematic break or link definition. In a numbered
	// item the backslash stands before the mark, because a digit cannot be escaped.
	inLine = slices.Concat(inline, escapes{
		escapeBy(`^([ \t]*)(\\*)(`+markers+`)`, `$1$2\$3`, `^([ \t]*)(\\*)\\(`+markers+`)`, `$1$2$3`),
		escapeBy(`^([ \t]*[0-9]{1,9})(\\*)([.)](?:[ \t]|$))`, `$1$2\$3`,
			`^([ \t]*[0-9]{1,9})(\\*)\\([.)](?:[ \t]|$))`, `$1$2$3`),
	})

	tagMark = pattern(`(\\*)(<[A-Za-z/!?])`)
	// An even number of backslashes would leave the bracket live, so those before it are
	// doubled and one is added.
	tag = escape{
		func(s string) string { return tagMark().ReplaceAllString(s, `$1$1\$2`) },
		func(s string) string {
			return tagMark().ReplaceAllStringFunc(s, func(m string) string {
				return m[(strings.IndexByte(m, '<')+1)/2:]
			})
		},
	}
)

const markers = "#{1,6}(?:[ \\t]|$)|>|[-+*](?:[ \\t]|$)|```[^`]*$|~~~" +
	`|(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$` +
	`|\[(?:[^\[\]\\]|\\.)+\]:`

// codeSpan quotes s with a fence that s itself cannot close.
func codeSpan(s string) string {
	longest, run := 0, 0
	for _, r := range s {
		if run++; r != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + s + fence
}

// codeSpanText undoes [codeSpan]; ok is false for a text that is not a code span.
func codeSpanText(s string) (text string, ok bool) {
	fence := s[:len(s)-len(strings.TrimLeft(s, "`"))]
	if fence == "" || len(s) < 2*len(fence) || !strings.HasSuffix(s, fence) {
		return "", false
	}
	text = s[len(fence) : len(s)-len(fence)]
	if inner, found := strings.CutPrefix(text, " "); found {
		text = strings.TrimSuffix(inner, " ")
	}
	return text, true
}
