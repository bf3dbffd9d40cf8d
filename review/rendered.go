package review

import (
	"html"
	"strings"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/pattern"
)

var (
	renderedTag  = pattern.New(`<!--.*?-->|^[^<]*-->|</?[A-Za-z][^<>]*>`)
	renderedLink = pattern.New(`\[([^\[\]]*\pL{2}[^\[\]]*)\](?:\([^()]*\)|\[[^\[\]]*\])?`)
	escaped      = pattern.New("\\\\([!-/:-@\\[-`{-~])")
	emphasis     = strings.NewReplacer("*", "", "`", "", "~", "")
)

// rendered is a line as a person sees it on the page: without tags, comments,
// emphasis and zero-width characters, with the text of a link, with entities,
// escapes and full-width letters as what they stand for, and one blank for any
// white space.
func rendered(line string) string {
	line = renderedTag().ReplaceAllString(line, "")
	line = renderedLink().ReplaceAllString(line, "$1")
	line = html.UnescapeString(escaped().ReplaceAllString(line, "$1"))
	line = strings.Map(visible, emphasis.Replace(line))
	return strings.Join(strings.Fields(line), " ")
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
