package foreign

import (
	"sort"
	"strings"
)

// kind says what a block is.
type kind uint8

const (
	paragraph kind = iota
	heading
	item
	row
	headerRow
	definition // [label]: url
)

// block is a paragraph, a heading, a list item or a row of a table, as a reader sees
// it: its text, where in it links and raised characters stand, and from which lines of
// the file it comes.
type block struct {
	kind   kind
	level  int    // of a heading, and of an item by the lists that it lies in, from 1
	number int    // of an item of a numbered list; 0 for none
	label  string // of a definition
	table  int    // of a row: which table it belongs to, from 1
	text   string
	links  []anchor
	raised []span
	code   []span
	starts []start
}

// anchor is a link: the text between start and end leads to a URL.
type anchor struct {
	span
	url     string
	picture bool // it shows a picture
	chip    bool // it cites, and what it shows is no part of the sentence
	bare    bool // a URL or DOI in the text, not a link
	doi     bool
}

type span struct{ start, end int }

func (s span) within(n int) span { return span{min(s.start, n), min(s.end, n)} }

func (s span) by(n int) span { return span{s.start + n, s.end + n} }

// start says that the text from a place on stands on a line.
type start struct{ at, line int }

// lineAt is the line of the file in which a place of the block stands.
func (b *block) lineAt(at int) int {
	i := sort.Search(len(b.starts), func(i int) bool { return b.starts[i].at > at })
	if i == 0 {
		return 1
	}
	return b.starts[i-1].line
}

// cells joins the cells of a row into one block.
func cells(list []block, kind kind, table int) block {
	out := block{kind: kind, table: table}
	var text strings.Builder
	for i := range list {
		c := &list[i]
		if i > 0 {
			text.WriteString(cellMark)
		}
		at := text.Len()
		text.WriteString(strings.ReplaceAll(c.text, "\n", " "))
		for _, a := range c.links {
			a.span = a.by(at)
			out.links = append(out.links, a)
		}
		for _, s := range c.raised {
			out.raised = append(out.raised, s.by(at))
		}
		for _, s := range c.code {
			out.code = append(out.code, s.by(at))
		}
		for _, s := range c.starts {
			if n := len(out.starts); n == 0 || out.starts[n-1].line != s.line {
				out.starts = append(out.starts, start{s.at + at, s.line})
			}
		}
	}
	out.text = text.String()
	return out
}

// cellMark stands between the cells of a row.
const cellMark = " | "

// part is a piece of a block, cut at line ends or by a reader of lists.
func (b *block) part(from, to int) block {
	out := block{kind: b.kind, level: b.level, number: b.number, label: b.label, table: b.table, text: b.text[from:to]}
	out.starts = append(out.starts, start{0, b.lineAt(from)})
	for i := sort.Search(len(b.starts), func(i int) bool { return b.starts[i].at > from }); i < len(b.starts) && b.starts[i].at < to; i++ {
		out.starts = append(out.starts, start{b.starts[i].at - from, b.starts[i].line})
	}
	for i := sort.Search(len(b.links), func(i int) bool { return b.links[i].start >= from }); i < len(b.links) && b.links[i].end <= to; i++ {
		a := b.links[i]
		a.span = a.by(-from)
		out.links = append(out.links, a)
	}
	for i := sort.Search(len(b.raised), func(i int) bool { return b.raised[i].start >= from }); i < len(b.raised) && b.raised[i].end <= to; i++ {
		out.raised = append(out.raised, b.raised[i].by(-from))
	}
	return out
}

// lines are the lines of a block, each a block.
func (b *block) lines() []block {
	var out []block
	for from := 0; from <= len(b.text); {
		to := len(b.text)
		if n := strings.IndexByte(b.text[from:], '\n'); n >= 0 {
			to = from + n
		}
		if strings.TrimSpace(b.text[from:to]) != "" {
			out = append(out, b.part(from, to))
		}
		from = to + 1
	}
	return out
}
