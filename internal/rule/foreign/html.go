package foreign

import (
	"html"
	"slices"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// readHTML reads the blocks of a page. Of one with a main part or articles only these
// count; navigation, pictures, what is hidden, and what the reader asked for in a
// conversation do not. Left is how many paragraphs stand beside the main part.
func readHTML(body []byte) (main []block, left int) {
	b := &builder{}
	b.readHTML(body, 0)
	if !slices.Contains(b.main, true) {
		return b.out, 0
	}
	for i, is := range b.main {
		if is {
			main = append(main, b.out[i])
		} else if page.CountWords(b.out[i].text) >= paragraphWords {
			left++
		}
	}
	return main, left
}

// paragraphWords is how many words a text has that says something: what leads through a
// site is shorter.
const paragraphWords = 8

// readHTML reads a page, or a piece of one that stands below some lines. What the piece
// opens ends with it.
func (b *builder) readHTML(body []byte, above int) {
	lines, open := markdown.CountLines(body), len(b.opened)
	for mark := range page.Marks(body) {
		line := above + lines.Of(mark.Start)
		switch mark.Kind {
		case page.TextMark:
			b.add(spaced(html.UnescapeString(strings.ToValidUTF8(string(body[mark.Start:mark.End]), "\ufffd"))), line)
		case page.StartMark:
			b.open(elementOf(mark), line)
		case page.EndMark:
			b.close(mark.Name)
		}
	}
	b.closeTo(open)
	b.flush()
}

// spaced is a text with its white space as one blank.
func spaced(text string) string {
	fields := markdown.OneLine(text)
	if fields != "" && strings.TrimLeft(text, " \t\r\n") != text {
		fields = " " + fields
	}
	if strings.TrimRight(text, " \t\r\n") != text {
		fields += " "
	}
	return fields
}

// navigates are the roles of what is no part of a report.
const navigates = " navigation banner contentinfo complementary search toolbar menu menubar tablist "

// chats are what saved pages of chats have beside their text: what the person asked, and
// what is only read aloud.
const chats = " user-message sr-only visually-hidden cdk-visually-hidden "

// elementOf is the element that a tag begins.
func elementOf(mark page.Mark) element {
	e := element{name: mark.Name}
	if e.name == "ol" {
		e.number = 1
	}
	for _, a := range mark.Attributes {
		value := strings.ToLower(string(a.Value))
		switch a.Name {
		case "href":
			e.url = string(a.Value)
		case "start":
			if n, err := strconv.Atoi(value); err == nil && n > 0 && e.name == "ol" {
				e.number = n
			}
		case "hidden":
			e.skips = true
		case "aria-hidden":
			e.skips = e.skips || value == "true"
		case "role":
			e.skips = e.skips || value != "" && strings.Contains(navigates, " "+value+" ")
		case "style":
			style := strings.ReplaceAll(value, " ", "")
			e.skips = e.skips || strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden")
		case "data-message-author-role":
			e.skips = e.skips || value == "user"
		case "data-turn-source-index":
			e.note = value
		case "class", "data-testid", "data-test-id":
			for word := range strings.FieldsSeq(value) {
				e.skips = e.skips || strings.Contains(chats, " "+word+" ")
				e.chip = e.chip || word == "citation" || strings.HasPrefix(word, "citation-") || strings.HasSuffix(word, "-citation-pill")
				e.source = e.source || word == "browse-web-item-link"
			}
		}
	}
	return e
}
