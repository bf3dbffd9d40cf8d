package foreign

import (
	"html"
	"strconv"
	"strings"

	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// What the elements of a saved page are to a reader of the report. Elements of any
// other name are part of a line.
var (
	skipped   = names("head script style noscript svg math nav aside header footer button form select textarea template iframe object video audio canvas dialog pre")
	breaking  = names("p div section article main ul ol li table thead tbody tr td th blockquote h1 h2 h3 h4 h5 h6 dl dt dd hr address details summary figcaption body html")
	empty     = names("br hr img input meta link wbr source area base col embed track param")
	navigates = names("navigation banner contentinfo complementary search toolbar menu menubar tablist")
)

func names(list string) map[string]bool {
	out := map[string]bool{}
	for name := range strings.FieldsSeq(list) {
		out[name] = true
	}
	return out
}

// readHTML reads the blocks of a page, or of a piece of one that stands below some
// lines. Of a page with a main part or articles only these count; navigation, pictures,
// what is hidden, and what the reader asked for in a conversation do not.
func readHTML(body []byte, above int) []block {
	r := &htmlReader{body: body, lines: markdown.CountLines(body), above: above, m: &maker{}}
	for mark := range page.Marks(body) {
		r.mark(mark)
	}
	r.flush()
	if r.inMain {
		var main []block
		for i, b := range r.out {
			if r.main[i] {
				main = append(main, b)
			}
		}
		if len(main) > 0 {
			return main
		}
	}
	return r.out
}

type htmlReader struct {
	body   []byte
	lines  *markdown.LineCounter
	above  int
	out    []block
	main   []bool // by block: it stands in the main part
	inMain bool   // something does
	m      *maker
	open   []element
	skip   int // elements that are open and not shown
	mains  int // main parts that are open
	tables int
	cells  []block
	header bool // the row that is open has header cells
}

type element struct {
	name          string
	skips, isMain bool
	raises        bool
	number        int // of a numbered list: the number of its next item; 0 for others
}

// most is how deep elements are followed.
const most = 500

func (r *htmlReader) mark(mark page.Mark) {
	line := r.above + r.lines.Of(mark.Start)
	switch mark.Kind {
	case page.TextMark:
		if r.skip == 0 {
			r.text(html.UnescapeString(strings.ToValidUTF8(string(r.body[mark.Start:mark.End]), "\ufffd")), line)
		}
	case page.StartMark:
		r.start(mark, line)
	case page.EndMark:
		for i := len(r.open) - 1; i >= 0 && i >= len(r.open)-20; i-- {
			if r.open[i].name == mark.Name {
				for len(r.open) > i {
					r.end()
				}
				break
			}
		}
	}
}

// text adds text with its white space as one blank.
func (r *htmlReader) text(text string, line int) {
	fields := strings.Join(strings.Fields(text), " ")
	if fields != "" && strings.TrimLeft(text, " \t\r\n") != text {
		fields = " " + fields
	}
	if strings.TrimRight(text, " \t\r\n") != text {
		fields += " "
	}
	r.m.add(fields, line)
}

func (r *htmlReader) start(mark page.Mark, line int) {
	if empty[mark.Name] {
		if r.skip == 0 {
			switch mark.Name {
			case "br":
				r.m.add("\n", line)
			case "img":
				r.m.picture()
			case "hr":
				r.flush()
			}
		}
		return
	}
	if len(r.open) >= most {
		return
	}
	// An item, a cell or a paragraph ends the one before it that nobody closed.
	if n := len(r.open) - 1; n >= 0 && r.open[n].name == mark.Name && (mark.Name == "li" || mark.Name == "p" || mark.Name == "td" || mark.Name == "th" || mark.Name == "tr") {
		r.end()
	}
	e := element{name: mark.Name, skips: hides(mark), isMain: mark.Name == "main" || mark.Name == "article", raises: mark.Name == "sup"}
	if e.skips {
		r.skip++
	}
	if e.isMain && r.skip == 0 {
		r.flush()
		r.mains++
		r.inMain = true
	}
	if r.skip > 0 {
		r.open = append(r.open, e)
		return
	}
	if breaking[mark.Name] {
		r.flush()
	}
	switch mark.Name {
	case "ol":
		e.number = 1
		if n, err := strconv.Atoi(attributeOf(mark, "start")); err == nil && n > 0 {
			e.number = n
		}
	case "li":
		r.m.kind = item
		for i := len(r.open) - 1; i >= 0; i-- {
			if list := &r.open[i]; list.name == "ol" || list.name == "ul" {
				if list.number > 0 {
					r.m.number = list.number
					list.number++
				}
				break
			}
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.m.kind, r.m.level = heading, int(mark.Name[1]-'0')
	case "table":
		r.tables++
	case "tr":
		r.cells, r.header = nil, false
	case "th":
		r.header = true
	case "a":
		r.m.openLink(attributeOf(mark, "href"))
	}
	if e.raises {
		r.m.raise(1)
	}
	r.open = append(r.open, e)
}

// end closes the innermost element.
func (r *htmlReader) end() {
	e := r.open[len(r.open)-1]
	r.open = r.open[:len(r.open)-1]
	if r.skip == 0 {
		switch {
		case e.name == "td" || e.name == "th":
			b, _ := r.m.done()
			r.cells, r.m = append(r.cells, b), &maker{}
		case e.name == "tr":
			k := row
			if r.header {
				k = headerRow
			}
			r.take(cells(r.cells, k, r.tables))
			r.cells = nil
		case e.name == "a":
			r.m.closeLink()
		case breaking[e.name]:
			r.flush()
		}
		if e.raises {
			r.m.raise(-1)
		}
		if e.isMain {
			r.flush()
			r.mains--
		}
	}
	if e.skips {
		r.skip--
	}
}

// flush ends the block that is open. Inside a cell everything is one block.
func (r *htmlReader) flush() {
	for i := len(r.open) - 1; i >= 0; i-- {
		if name := r.open[i].name; name == "td" || name == "th" {
			r.m.add(" ", r.above+1)
			return
		} else if name == "table" {
			break
		}
	}
	b, says := r.m.done()
	kept := r.m
	r.m = &maker{}
	if says {
		b.text = strings.TrimRight(b.text, " ")
		r.take(b)
	} else if kept.kind == item {
		r.m.kind, r.m.number = item, kept.number // <li><p>: the text comes yet
	}
}

func (r *htmlReader) take(b block) {
	if strings.Trim(b.text, " |\n") != "" || len(b.links) > 0 {
		r.out, r.main = append(r.out, b), append(r.main, r.mains > 0)
	}
}

// hides reports whether a reader of the report does not see an element.
func hides(mark page.Mark) bool {
	if skipped[mark.Name] {
		return true
	}
	for _, a := range mark.Attributes {
		value := strings.ToLower(string(a.Value))
		switch a.Name {
		case "hidden":
			return true
		case "aria-hidden":
			if value == "true" {
				return true
			}
		case "role":
			if navigates[value] {
				return true
			}
		case "style":
			style := strings.ReplaceAll(value, " ", "")
			if strings.Contains(style, "display:none") || strings.Contains(style, "visibility:hidden") {
				return true
			}
		case "data-message-author-role":
			if value == "user" {
				return true
			}
		}
	}
	return false
}

func attributeOf(mark page.Mark, name string) string {
	for _, a := range mark.Attributes {
		if a.Name == name {
			return string(a.Value)
		}
	}
	return ""
}
