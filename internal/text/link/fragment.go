package link

import (
	"strings"
	"unicode/utf8"
)

// TextLink is url with the text fragment by which browsers show and mark the
// passage from start to end of a page's text.
func TextLink(url, text string, start, end int) string {
	if start < 0 || end > len(text) || start >= end {
		return url
	}
	base, _, _ := strings.Cut(url, "#")
	passage := strings.Fields(text[start:end])
	if len(passage) == 0 {
		return base
	}
	const edge, context = 4, 3
	if len(passage) > 2*edge || strings.ContainsAny(text[start:end], "\n\t") && len(passage) > 1 {
		n := min(edge, len(passage)/2)
		return base + "#:~:text=" + fragmentText(passage[:n]) + "," + fragmentText(passage[len(passage)-n:])
	}
	// A short passage may occur twice: the words around it say which is meant.
	before := strings.Fields(text[lineStart(text, start):start])
	after := strings.Fields(text[end:lineEnd(text, end)])
	fragment := fragmentText(passage)
	if before = before[max(0, len(before)-context):]; len(before) > 0 && endsBlank(text[:start]) {
		fragment = fragmentText(before) + "-," + fragment
	}
	if after = after[:min(context, len(after))]; len(after) > 0 && beginsBlank(text[end:]) {
		fragment += ",-" + fragmentText(after)
	}
	return base + "#:~:text=" + fragment
}

// maxContext is how far around a passage its context is looked for.
const maxContext = 200

func lineStart(text string, at int) int {
	from := max(0, at-maxContext)
	for from < at && !utf8.RuneStart(text[from]) {
		from++
	}
	if i := strings.LastIndexAny(text[from:at], "\n\t"); i >= 0 {
		return from + i + 1
	}
	if from > 0 {
		// The first word may be cut.
		if i := strings.IndexByte(text[from:at], ' '); i >= 0 {
			return from + i
		}
		return at
	}
	return from
}

func lineEnd(text string, at int) int {
	to := min(len(text), at+maxContext)
	for to > at && to < len(text) && !utf8.RuneStart(text[to]) {
		to--
	}
	if i := strings.IndexAny(text[at:to], "\n\t"); i >= 0 {
		return at + i
	}
	if to < len(text) {
		if i := strings.LastIndexByte(text[at:to], ' '); i >= 0 {
			return at + i
		}
		return at
	}
	return to
}

func endsBlank(s string) bool   { return strings.HasSuffix(s, " ") }
func beginsBlank(s string) bool { return strings.HasPrefix(s, " ") }

// fragmentText escapes words for a text fragment, in which dashes and commas have
// a meaning of their own.
func fragmentText(words []string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i, w := range words {
		if i > 0 {
			b.WriteString("%20")
		}
		for k := 0; k < len(w); k++ {
			if c := w[k]; isAlnum(c) || c == '.' || c == '_' || c == '~' {
				b.WriteByte(c)
			} else {
				b.Write([]byte{'%', digits[c>>4], digits[c&15]})
			}
		}
	}
	return b.String()
}
