package markdown

import "bytes"

// Passage is a paragraph outside list items, or a list item, with its text: raw
// lines without the marks of containers, headings and fences, without comments and
// link reference definitions, each trimmed, joined by line feeds. A list item's
// passage holds all that is in it up to the first item inside it; paragraphs of
// the outer item after that are passages of their own. Setext headings, and code
// and HTML outside list items, belong to no passage.
type Passage struct {
	Line int    // where it begins, 1-based
	Item bool   // a list item
	Text []byte // never empty, at most [MaxLine] bytes; valid during the call only
}

// passages follows which passage is open at the current line, when it is on, and
// collects its text for a report function.
type passages struct {
	on     bool
	report func(Passage)
	count  int // of the passages so far
	number int // of the current line
	kind   passageKind
	item   int // index of the item's container
	line   int // where the passage begins
	text   []byte
	mark   int // where the open paragraph begins in text
}

type passageKind uint8

const (
	noPassage passageKind = iota
	paragraphPassage
	itemPassage
)

// beginItem opens the passage of the list item that is the container of that index.
func (p *passages) beginItem(index int) {
	if !p.on {
		return
	}
	p.flush()
	p.kind, p.item, p.line = itemPassage, index, p.number
	p.count++
}

func (p *passages) beginParagraph() {
	if !p.on {
		return
	}
	if p.kind == noPassage {
		p.kind, p.line = paragraphPassage, p.number
		p.count++
	}
	p.mark = len(p.text)
}

// add takes a line of text, code or HTML.
func (p *passages) add(line []byte) {
	if p.report == nil || p.kind == noPassage || len(p.text) >= MaxLine {
		return
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	switch {
	case len(p.text) > 0:
		p.text = append(p.text, '\n')
	case p.kind == paragraphPassage:
		p.line = p.number
	}
	p.text = append(p.text, line[:min(len(line), MaxLine-len(p.text))]...)
}

// dropParagraph takes back what the open paragraph has added.
func (p *passages) dropParagraph() {
	if p.on {
		p.text = p.text[:p.mark]
	}
}

// dropHeading takes back a paragraph that turned out to be a setext heading.
func (p *passages) dropHeading() {
	if p.kind == paragraphPassage {
		p.text = p.text[:0]
	}
}

func (p *passages) endParagraph() {
	if p.kind == paragraphPassage {
		p.flush()
	}
}

// closeTo says that only the first n containers are still open.
func (p *passages) closeTo(n int) {
	if p.kind == itemPassage && p.item >= n {
		p.flush()
	}
}

// flush ends the open passage.
func (p *passages) flush() {
	if len(p.text) > 0 {
		p.report(Passage{Line: p.line, Item: p.kind == itemPassage, Text: p.text})
	}
	p.kind, p.text = noPassage, p.text[:0]
}
