package review

import (
	"regexp"
	"strings"
	"sync"
)

// The escapes of REVIEW.md. Each inserts backslashes only, so none can complete
// a pattern that an earlier one has broken, and each can be undone: what a
// reviewer typed with backslashes in it gets more of them, never fewer. They
// are applied in the order of escapeLine and undone in the reverse order.
var (
	// A checked box, which decides the verdict for Agentd wherever it stands.
	box        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([xX])(\\*)\]`) })
	boxEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[([xX])(\\*)\\\]`) })

	// A verdict heading, which Agentd finds even in the middle of a line.
	heading        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#(\\*)(# (?i:verdict))`) })
	headingEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`#(\\*)\\(# (?i:verdict))`) })

	// What opens HTML or an autolink. An even number of backslashes would leave
	// the bracket live, so those before it are doubled and one is added.
	tag = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\\*)(<[A-Za-z/!?])`) })

	// The middle of a link or an image.
	link        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\](\\*)\(`) })
	linkEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\](\\*)\\\(`) })

	// A link definition or a footnote in a text of several lines. Renderers take
	// it out of the text, wherever in a paragraph its label began. In a value of
	// one line it can only begin the line, where it is a marker.
	definition        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\](\\*):`) })
	definitionEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\](\\*)\\:`) })

	// What makes an alert of a quote. One of a single line is none.
	alertMark    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(\\*)!`) })
	alertEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[(\\*)\\!`) })

	// What opens a block where a line begins: heading, quote, list item, fence,
	// thematic break, link definition. In a numbered item the backslash stands
	// before the mark, because a digit cannot be escaped.
	marker         = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([ \t]*)(\\*)(` + markers + `)`) })
	markerEscaped  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([ \t]*)(\\*)\\(` + markers + `)`) })
	ordinal        = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([ \t]*[0-9]{1,9})(\\*)([.)](?:[ \t]|$))`) })
	ordinalEscaped = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([ \t]*[0-9]{1,9})(\\*)\\([.)](?:[ \t]|$))`) })
)

const markers = "#{1,6}(?:[ \\t]|$)|>|[-+*](?:[ \\t]|$)|```[^`]*$|~~~" +
	`|(?:-[ \t]*){3,}$|(?:\*[ \t]*){3,}$|(?:_[ \t]*){3,}$` +
	`|\[(?:[^\[\]\\]|\\.)+\]:`

// escapeCode is for text in a code span, where nothing but the two patterns
// that Agentd looks for can do harm.
func escapeCode(s string) string {
	s = box().ReplaceAllString(s, `[$1$2\]`)
	return heading().ReplaceAllString(s, `#$1\$2`)
}

func unescapeCode(s string) string {
	s = headingEscaped().ReplaceAllString(s, `#$1$2`)
	return boxEscaped().ReplaceAllString(s, `[$1$2]`)
}

// escapeInline is for what does harm wherever it stands.
func escapeInline(s string) string {
	s = tag().ReplaceAllString(escapeCode(s), `$1$1\$2`)
	return link().ReplaceAllString(s, `]$1\(`)
}

func unescapeInline(s string) string {
	s = linkEscaped().ReplaceAllString(s, `]$1(`)
	s = tag().ReplaceAllStringFunc(s, func(m string) string {
		backslashes := strings.IndexByte(m, '<')
		return m[(backslashes+1)/2:]
	})
	return unescapeCode(s)
}

// escapeText is for text of several lines, each of which stands in a quote.
func escapeText(s string) string {
	s = definition().ReplaceAllString(escapeInline(s), `]$1\:`)
	return alertMark().ReplaceAllString(s, `[$1\!`)
}

func unescapeText(s string) string {
	s = alertEscaped().ReplaceAllString(s, `[$1!`)
	return unescapeInline(definitionEscaped().ReplaceAllString(s, `]$1:`))
}

// escapeLine is for a value of one line.
func escapeLine(s string) string {
	s = marker().ReplaceAllString(escapeInline(s), `$1$2\$3`)
	return ordinal().ReplaceAllString(s, `$1$2\$3`)
}

func unescapeLine(s string) string {
	s = ordinalEscaped().ReplaceAllString(s, `$1$2$3`)
	return unescapeInline(markerEscaped().ReplaceAllString(s, `$1$2$3`))
}

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
