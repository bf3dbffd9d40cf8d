package markdown_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/text"
)

// goldmarkDifferences are the shapes that goldmark reads differently from
// CommonMark.
var goldmarkDifferences = []difference{
	{
		name:     "lone carriage return",
		sentence: "A line ending is a line feed (U+000A), a carriage return (U+000D) not followed by a line feed, or a carriage return and a following line feed.",
		example:  "a\r# b\r",
		applies:  regexp.MustCompile(`\r([^\n]|$)`),
	},
	{
		name:     "closing tag of a raw element on its own line",
		sentence: "Start condition 7: line begins with a complete open tag (with any tag name other than pre, script, style, or textarea) or a complete closing tag",
		example:  "</pre>\n# a\n",
		applies:  regexp.MustCompile(`(?i)</(pre|script|style|textarea)`),
	},
	{
		name:     "blank before a closing tag's name",
		sentence: "A closing tag consists of the string </, a tag name, optional spaces, tabs, and up to one line ending, and the character >.",
		example:  "</ a>\n# b\n",
		applies:  regexp.MustCompile(`</ `),
	},
	{
		name:     "slash after a raw element's name",
		sentence: "Start condition 1: line begins with the string <pre, <script, <style, or <textarea (case-insensitive), followed by a space, a tab, the string >, or the end of the line.",
		example:  "<pre/>\n# a\n",
		applies:  regexp.MustCompile(`(?i)<(pre|script|style|textarea)/`),
	},
	{
		name:     "declaration in lower case",
		sentence: "Start condition 4: line begins with the string <! followed by an ASCII letter.",
		example:  "<!x\n# a\n",
		applies:  regexp.MustCompile(`<![a-z]`),
	},
	{
		name:     "carriage return after an empty item's mark",
		sentence: "A line containing no characters, or a line containing only spaces (U+0020) or tabs (U+0009), is called a blank line.",
		example:  "-\r\n<x>\n# a\n",
		applies:  regexp.MustCompile(`([-+*]|\d[.)])[ \t]*\r\n`),
	},
	{
		name:     "blank line after an empty item in an item",
		sentence: "If a sequence of lines Ls constitute a sequence of blocks Bs … the result of prepending M and the following spaces to the first line of Ls, and indenting subsequent lines of Ls by W + N spaces, is a list item with Bs as its contents.",
		example:  "+ -\n\n  # a\n",
		applies:  regexp.MustCompile(`([-+*]|\d[.)])[ \t]*\n[ \t>]*\n`),
	},
	{
		name:     "dash below a definition",
		sentence: "The lines of text must be such that, were they not followed by the setext heading underline, they would be interpreted as a paragraph.",
		example:  "[a]: b\n-\n  # c\n",
		applies:  regexp.MustCompile(`(?s)\]:.*\n[ \t>]*-`),
	},
	{
		name:     "tab before or in a tag",
		sentence: "Tabs in lines are not expanded to spaces. However, in contexts where spaces help to define block structure, tabs behave as if they were replaced by spaces with a tab stop of 4 characters.",
		example:  "> \t<a>\n<a>\n# b\n",
		applies:  regexp.MustCompile(`\t[^\n]*<|<[^\n]*\t`),
	},
	{
		name:     "form feed in a tag",
		sentence: "Start condition 6: …, followed by a space, a tab, the end of the line, the string >, or the string />. / An attribute consists of spaces, tabs, and up to one line ending, an attribute name, and an optional attribute value specification.",
		example:  "<a b=\f>\n# c\n",
		applies:  regexp.MustCompile(`<[^\n]*[\f\v]`),
	},
	{
		name:     "meta is not a block element",
		sentence: "Start condition 6: … link, main, menu, menuitem, nav, …",
		example:  "a\n<meta>\n# b\n",
		applies:  regexp.MustCompile(`(?i)<meta`),
	},
	{
		name:     "tab before an underline",
		sentence: "in contexts where spaces help to define block structure, tabs behave as if they were replaced by spaces with a tab stop of 4 characters",
		example:  "- *\ta\n  \t===\n<x>\n# b\n",
		applies:  regexp.MustCompile(`\t[ \t]*[-=]`),
	},
	{
		name:     "tab after the mark of an item in an item",
		sentence: "in contexts where spaces help to define block structure, tabs behave as if they were replaced by spaces with a tab stop of 4 characters",
		example:  "1. *\t x\na\n2. x\n\n   # h\n",
		applies:  regexp.MustCompile(`([-+*]|\d[.)])[ \t]+([-+*]|\d[.)]) *\t`),
	},
}

var atxLine = regexp.MustCompile(`^ {0,3}#{1,6}([ \t]|$)`)

// goldmarkVerdict has lines and levels only.
func goldmarkVerdict(doc string) verdict {
	source := []byte(strings.TrimPrefix(doc, "\ufeff"))
	var v verdict
	root := goldmark.DefaultParser().Parse(text.NewReader(source))
	for n := root.FirstChild(); n != nil; n = n.NextSibling() {
		h, ok := n.(*ast.Heading)
		if !ok {
			continue
		}
		begin := bytes.LastIndexByte(source[:h.Pos()], '\n') + 1
		line, _, _ := bytes.Cut(source[begin:], []byte("\n"))
		if atxLine.Match(bytes.TrimSuffix(line, []byte("\r"))) {
			v.Headings = append(v.Headings, heading{Line: 1 + bytes.Count(source[:begin], []byte("\n")), Level: h.Level})
		}
	}
	return v
}

func TestAgreesWithGoldmark(t *testing.T) {
	docs := corpus(t, 2, 37, documents())
	verdicts := make([]verdict, len(docs))
	for i, doc := range docs {
		verdicts[i] = goldmarkVerdict(doc)
	}
	compare(t, docs, verdicts, linesAndLevels, goldmarkDifferences)
}

func TestGoldmarkDiffersAsListed(t *testing.T) {
	for _, d := range goldmarkDifferences {
		checkListed(t, d, goldmarkVerdict(d.example), linesAndLevels)
	}
}
