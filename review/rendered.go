package review

import (
	"html"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

var (
	// What a browser does not show of a block of HTML, or as code: comments, and
	// what begins a block that has an end of its own.
	unshown = pattern(`(?is)<!--.*?-->|^\s*<(?:pre|script|style|textarea)\b.*?(?:</(?:pre|script|style|textarea)>|$)|^\s*<(?:!--.*|[?!][^>]*)(?:>|$)`)
	tags    = pattern(`</?[A-Za-z][^<>]*>`)
	// Tags of elements that a page does not show, by their name or an attribute.
	hidden     = pattern(`(?is)<(?:template|dialog|noscript|datalist|select|iframe|object|title)\b|<[a-z][^<>]*\s(?:hidden|style|popover)(?:[\s=/>]|$)`)
	bracketed  = pattern(`\[([^\[\]]*\pL{2}[^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?`)
	struckTag  = pattern(`(?i)</?(?:del|s|strike)(?:\s[^<>]*)?>`)
	struckText = pattern(`~{1,2}[^~]+~{1,2}`)
	emphasis   = strings.NewReplacer("*", "", "`", "", "~", "")
)

// rendered are the lines of a block as a person sees them on the page: without
// tags, comments, marks of emphasis and zero-width characters, with full-width
// letters as what they stand for, words in brackets without them, and one blank for
// any white space. What is struck through is among them only when struck is true.
func (s *reader) rendered(n *markdown.Node, struck bool) []string {
	var text strings.Builder
	switch n.Kind {
	case markdown.HTMLBlock:
		raw := unshown().ReplaceAllStringFunc(s.Raw(n.Block), func(gone string) string { return strings.Repeat("\n", strings.Count(gone, "\n")) })
		text.WriteString(html.UnescapeString(tags().ReplaceAllString(struckTag().ReplaceAllString(raw, "~"), "")))
	case markdown.ParagraphBlock, markdown.HeadingBlock, markdown.CellBlock:
		for _, piece := range s.Rendered(n.Block) {
			if piece.Kind != markdown.HTMLInline {
				text.Write(piece.Text)
			} else if struckTag().Match(piece.Text) {
				text.WriteByte('~')
			}
		}
	}
	lines := strings.Split(text.String(), "\n")
	for i, line := range lines {
		if !struck {
			line = struckText().ReplaceAllString(line, " ")
		}
		if n.Kind != markdown.HeadingBlock {
			line = listMarks().ReplaceAllString(line, "")
		}
		line = bracketed().ReplaceAllString(line, "$1")
		lines[i] = strings.Join(strings.Fields(strings.Map(visible, emphasis.Replace(line))), " ")
	}
	return lines
}

// visible is the character that stands on the page for r, -1 for none.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case r >= '！' && r <= '～': // the full-width forms of ASCII
		return r - '！' + '!'
	}
	return r
}
