package foreign

import (
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/base/codec"
)

// builder makes blocks of elements, which have the names of HTML whatever the report was
// written in.
type builder struct {
	out    []block
	main   []bool // by block: it stands in the main part
	opened []element
	skip   int // elements that are open and not shown
	mains  int // main parts that are open
	tables int
	cells  []block
	header bool // the row that is open has header cells alone

	now     block // that is open
	text    strings.Builder
	inLink  int  // index of the link that is open, from 1; 0 for none
	raised  int  // raised elements that are open
	apart   bool // one was opened, and what comes does not go on with the last one
	literal int  // elements that are open and show code
	chips   int  // elements that are open in which links cite
	sources int  // links of a list of sources so far
}

// element is one that is open.
type element struct {
	name   string
	skips  bool   // a reader of the report does not see it
	url    string // of a link
	number int    // of a numbered list: the number of its next item; 0 for others
	note   string // the number that it shows, which its style makes
	chip   bool   // a link in it cites, whatever it shows
	source bool   // a link that is the next one of a list of sources
}

// role is what an element is to a reader of the report.
type role uint8

const (
	breaks  role = 1 << iota // it is a block of its own
	alone                    // it has no end
	implied                  // it ends the one of its name before it that nobody closed
	isMain
	isSkipped
)

var roles = sync.OnceValue(func() map[string]role {
	out := map[string]role{}
	for role, names := range map[role]string{
		breaks:    "p div section article main ul ol li table thead tbody tr td th blockquote h1 h2 h3 h4 h5 h6 dl dt dd hr address details summary figcaption body html",
		alone:     "br hr img input meta link wbr source area base col embed track param",
		implied:   "li p td th tr",
		isMain:    "main article",
		isSkipped: "head script style noscript svg math nav aside header footer button form select textarea template iframe object video audio canvas dialog pre user-query",
	} {
		for name := range strings.FieldsSeq(names) {
			out[name] |= role
		}
	}
	return out
})

// mostOpen is how deep elements are followed, and mostUnclosed how many of them an end
// may close at once.
const (
	mostOpen     = 500
	mostUnclosed = 20
)

// open begins an element.
func (b *builder) open(e element, line int) {
	is := roles()[e.name]
	if is&alone != 0 {
		if b.skip == 0 {
			b.single(e.name, line)
		}
		return
	}
	if len(b.opened) >= mostOpen {
		return
	}
	if n := len(b.opened) - 1; n >= 0 && is&implied != 0 && b.opened[n].name == e.name {
		b.end()
	}
	e.skips = e.skips || is&isSkipped != 0
	if e.skips {
		b.skip++
	}
	if b.skip == 0 {
		if is&breaks != 0 || e.source {
			b.flush()
		}
		b.begin(&e)
		if e.note != "" {
			b.add(e.note, line)
		}
	}
	b.opened = append(b.opened, e)
}

// single takes an element that has no end.
func (b *builder) single(name string, line int) {
	switch name {
	case "br":
		b.add("\n", line)
	case "img":
		if b.inLink > 0 {
			b.now.links[b.inLink-1].picture = true
		}
	case "hr":
		b.flush()
	}
}

// begin notes what an element that is shown means for what comes.
func (b *builder) begin(e *element) {
	b.chips += codec.Flag(e.chip)
	if e.source {
		b.sources++
		b.now.kind, b.now.number = item, b.sources
	}
	switch e.name {
	case "li":
		b.now.kind, b.now.level = item, 0
		for i := len(b.opened) - 1; i >= 0; i-- {
			if list := &b.opened[i]; list.name == "ol" || list.name == "ul" {
				if b.now.level++; b.now.level == 1 && list.number > 0 {
					b.now.number = list.number
					list.number++
				}
			}
		}
	case "h1", "h2", "h3", "h4", "h5", "h6":
		b.now.kind, b.now.level = heading, int(e.name[1]-'0')
	case "table":
		b.tables++
	case "tr":
		b.cells, b.header = nil, true
	case "td":
		b.header = false
	case "a":
		b.closeLink()
		b.now.links = append(b.now.links, anchor{span: span{b.text.Len(), b.text.Len()}, url: strings.TrimSpace(e.url), chip: b.chips > 0})
		b.inLink = len(b.now.links)
	case "sup":
		b.raised, b.apart = b.raised+1, true
	case "code":
		b.literal++
	case "main", "article":
		b.mains++
	}
}

// close ends the innermost element of a name.
func (b *builder) close(name string) {
	for i := len(b.opened) - 1; i >= max(0, len(b.opened)-mostUnclosed); i-- {
		if b.opened[i].name == name {
			b.closeTo(i)
			return
		}
	}
}

// closeTo ends elements until so many are open.
func (b *builder) closeTo(n int) {
	for len(b.opened) > n {
		b.end()
	}
}

// end ends the innermost element.
func (b *builder) end() {
	e := b.opened[len(b.opened)-1]
	b.opened = b.opened[:len(b.opened)-1]
	if b.skip > 0 {
		if e.skips {
			b.skip--
		}
		return
	}
	b.chips -= codec.Flag(e.chip)
	switch is := roles()[e.name]; {
	case e.source:
		b.closeLink()
		b.flush()
		b.now = block{}
	case e.name == "td" || e.name == "th":
		b.cells = append(b.cells, b.done())
	case e.name == "tr":
		kind := row
		if b.header {
			kind = headerRow
		}
		b.take(cells(b.cells, kind, b.tables))
		b.cells = nil
	case e.name == "a":
		b.closeLink()
	case e.name == "sup":
		b.raised, b.apart = b.raised-1, true
	case e.name == "code":
		b.literal--
	case is&breaks != 0:
		b.flush()
		if e.name == "li" {
			b.now = block{}
		}
		if is&isMain != 0 {
			b.mains--
		}
	}
}

// add adds text that stands on a line.
func (b *builder) add(text string, line int) {
	if text == "" || b.skip > 0 {
		return
	}
	at := b.text.Len()
	if n := len(b.now.starts); n == 0 || b.now.starts[n-1].line != line {
		b.now.starts = append(b.now.starts, start{at, line})
	}
	b.text.WriteString(text)
	here := span{at, b.text.Len()}
	if b.literal > 0 {
		b.now.code = append(b.now.code, here)
	}
	if b.raised > 0 {
		if n := len(b.now.raised); n > 0 && b.now.raised[n-1].end == at && !b.apart {
			b.now.raised[n-1].end = here.end
		} else {
			b.now.raised = append(b.now.raised, here)
		}
		b.apart = false
	}
}

func (b *builder) closeLink() {
	if b.inLink > 0 {
		b.now.links[b.inLink-1].end = b.text.Len()
		b.inLink = 0
	}
}

// done is the block that is open, which ends with it.
func (b *builder) done() block {
	b.closeLink()
	b.now.text = strings.TrimRight(b.text.String(), " ")
	done := b.now
	for i := range done.links { // what is trimmed ends them, too
		done.links[i].span = done.links[i].within(len(done.text))
		done.lengthen(i)
	}
	for _, spans := range [][]span{done.raised, done.code} {
		for i := range spans {
			spans[i] = spans[i].within(len(done.text))
		}
	}
	b.now = block{}
	b.text.Reset()
	return done
}

// lengthen lets a link that shows its own address have what follows without a blank and
// goes on with it: a program that made links of addresses ended it too early.
func (b *block) lengthen(i int) {
	a, limit := &b.links[i], len(b.text)
	if i+1 < len(b.links) {
		limit = b.links[i+1].start
	}
	if a.end >= limit || b.text[a.start:a.end] != a.url || strings.IndexByte("_/=&#%?~+-", b.text[a.end]) < 0 {
		return
	}
	rest := b.text[a.end:limit]
	if n := strings.IndexAny(rest, " \t\n<>[]()|\"“”"); n >= 0 {
		rest = rest[:n]
	}
	rest = strings.TrimRight(rest, ".,;:!?*'")
	a.url, a.end = a.url+rest, a.end+len(rest)
}

// flush ends the block that is open. Inside a cell everything is one block.
func (b *builder) flush() {
	for i := len(b.opened) - 1; i >= 0 && b.opened[i].name != "table"; i-- {
		if name := b.opened[i].name; name == "td" || name == "th" {
			if n := len(b.now.starts); n > 0 {
				b.add(" ", b.now.starts[n-1].line)
			}
			return
		}
	}
	done := b.done()
	if strings.TrimSpace(done.text) == "" && len(done.links) == 0 && done.kind == item {
		b.now.kind, b.now.level, b.now.number = item, done.level, done.number // <li><p>: the text comes yet
		return
	}
	b.take(done)
}

func (b *builder) take(done block) {
	if strings.Trim(done.text, " |\n") != "" || len(done.links) > 0 {
		b.out, b.main = append(b.out, done), append(b.main, b.mains > 0)
	}
}

// The length of the lines of a text that was broken into lines for a width, in
// characters: a line between them goes on in the next one.
const (
	wrappedFrom = 45
	wrappedTo   = 110
)

// readPlain reads the blocks of a text without markup, such as that of a PDF file:
// paragraphs apart from each other, or a line for each. Lines that were broken for a
// width are joined. A short line without a full stop before a longer one is a heading
// where a list of sources begins with it.
func readPlain(text string) []block {
	var out []block
	var open []string
	first := 0
	flush := func() {
		if len(open) > 0 {
			out = append(out, plainBlock(open, first))
			open = nil
		}
	}
	lines := strings.Split(strings.ReplaceAll(text, "\f", "\n"), "\n")
	for i, line := range lines {
		line = strings.TrimSpace(line)
		switch {
		case line == "":
			flush()
			continue
		case len(open) > 0 && (begins().MatchString(line) || !wraps(open[len(open)-1])) && !isURL(line):
			flush()
		}
		if len(open) == 0 {
			first = i + 1
		}
		open = append(open, line)
	}
	flush()
	return out
}

// wraps reports whether a line may go on in the next one.
func wraps(line string) bool {
	n := utf8.RuneCountInString(line)
	return n >= wrappedFrom && n <= wrappedTo
}

// begins holds for a line that begins an item or an entry, whatever stands before it.
var begins = pattern(`^(?:[-*•·▪–] |#{1,6} |[\[【［〔]\^?\d{1,4}\^?[\]】］〕]|\d{1,4}[.)、．]\s?[^\d\s])`)

// isURL reports whether a line is nothing but a URL: the entry above it has it.
func isURL(line string) bool {
	line = strings.Trim(line, "<>() ")
	return (strings.HasPrefix(line, "http://") || strings.HasPrefix(line, "https://")) && !strings.ContainsAny(line, " \t")
}

// plainLink is a link as Markdown writes it, which texts and PDF files often keep.
var plainLink = pattern(`\[((?:[^\[\]\n]|\[[^\[\]\n]*\])*)\]\(<?(https?://[^\s<>()]*(?:\([^\s<>()]*\)[^\s<>()]*)*)>?\)`)

// plainBlock reads the lines of one block, the first of which says what it is.
func plainBlock(lines []string, first int) block {
	b := &builder{}
	if marks := len(lines[0]) - len(strings.TrimLeft(lines[0], "#")); marks > 0 && marks < 7 && strings.HasPrefix(lines[0][marks:], " ") {
		b.now.kind, b.now.level, lines[0] = heading, marks, strings.TrimSpace(lines[0][marks:])
	} else if mark, rest, found := strings.Cut(lines[0], " "); found && mark != "" && strings.Contains(" - * • · ▪ – ", " "+mark+" ") {
		b.now.kind, lines[0] = item, rest
	}
	for i, line := range lines {
		if i > 0 {
			b.add("\n", first+i-1)
		}
		at := 0
		for _, found := range plainLink().FindAllStringSubmatchIndex(line, -1) {
			b.add(line[at:found[0]], first+i)
			b.begin(&element{name: "a", url: line[found[4]:found[5]]})
			b.add(line[found[2]:found[3]], first+i)
			b.closeLink()
			at = found[1]
		}
		b.add(line[at:], first+i)
	}
	return b.done()
}
