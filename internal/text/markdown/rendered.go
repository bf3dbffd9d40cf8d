package markdown

import (
	"bytes"
	"slices"
)

// Rendered is a paragraph, a heading or a cell as a reader sees it: the pieces of
// [Document.Inlines] with what holds them ([OpenInline], [CloseInline]) in the place
// of the destinations, and without the white space at the ends of lines. Every
// piece stands on one line; the first byte of its text comes from Start, and when
// it is as long as what stands there, each comes from its own place. In a cell a
// bar after a backslash is a bar, also in code and HTML. The result is valid until
// the next call.
func (d *Document) Rendered(b Block) []Inline { return d.render(b, true) }

// render lists the pieces of a block, marked as [Document.Rendered] has them.
func (d *Document) render(b Block, marked bool) []Inline {
	p := &d.inline
	p.reset(d.joined(b), d.labels)
	p.marked = marked
	p.parse()
	p.pair(0)
	r := renderer{inliner: p, at: places{lines: d.linesOf(b)}, cell: b.cell, isPart: d.isPart}
	for _, n := range p.nodes {
		r.node(n)
	}
	return p.out
}

type renderer struct {
	*inliner
	at            places
	cell, isPart  bool
	links, images int
}

func (r *renderer) node(n node) {
	switch n.kind {
	case textNode, bracketNode:
		r.textNode(n)
	case runNode:
		run := r.runs[n.ref]
		for _, kind := range run.closed {
			r.span(CloseInline, kind, n.start, "")
		}
		r.piece(TextInline, n.start, n.end, nil)
		for _, kind := range slices.Backward(run.opened) {
			r.span(OpenInline, kind, n.end, "")
		}
	case codeNode:
		r.span(OpenInline, CodeSpan, n.start, "")
		r.lines(CodeInline, n.start, n.end, n.text)
		r.span(CloseInline, CodeSpan, n.end, "")
	case htmlNode:
		r.lines(HTMLInline, n.start, n.end, r.text[n.start:n.end])
	case breakNode:
		r.piece(BreakInline, n.start, n.end, n.text)
		spaces := n.start - len(bytes.TrimRight(r.text[:n.start], " "))
		r.out[len(r.out)-1].Hard = r.marked && (spaces >= 2 || r.text[n.start] == '\\')
	case autolinkNode:
		r.destination(n)
		r.span(OpenInline, LinkSpan, n.start, string(n.text))
		r.piece(TextInline, n.start+1, n.end-1, nil)
		r.span(CloseInline, LinkSpan, n.end, string(n.text))
	case linkOpen, imageOpen:
		r.span(OpenInline, n.kind.span(), n.start, r.dests[n.ref])
	case linkClose, imageClose:
		r.span(CloseInline, n.kind.span(), n.start, r.dests[n.ref])
		r.destination(n)
	}
}

func (k nodeKind) span() SpanKind {
	if k == imageOpen || k == imageClose {
		return ImageSpan
	}
	return LinkSpan
}

// destination adds where a link leads as a piece of its own, unless its definition
// in this document says it or its marks do.
func (r *renderer) destination(n node) {
	switch {
	case r.marked:
	case n.text != nil:
		r.piece(LinkInline, n.start, n.end, n.text)
	case r.isPart:
		r.piece(LinkInline, n.start, n.end, []byte(r.dests[n.ref]))
	}
}

func (r *renderer) textNode(n node) {
	if r.marked && n.text == nil && (n.end == len(r.text) || r.text[n.end] == '\n') {
		n.end = n.start + len(bytes.TrimRight(r.text[n.start:n.end], " \t"))
	}
	r.piece(TextInline, n.start, n.end, n.text)
}

// lines adds code or HTML, which can go over several lines.
func (r *renderer) lines(kind InlineKind, start, end int, text []byte) {
	for from := start; from < end; {
		to := end
		if i := bytes.IndexByte(r.text[from:end], '\n'); r.marked && i >= 0 {
			to = from + i + 1
		}
		if i := bytes.Index(r.text[from:to], []byte(`\|`)); r.marked && r.cell && i >= 0 {
			r.piece(kind, from, from+i, nil)
			r.piece(kind, from+i, from+i+2, []byte("|"))
			from += i + 2
			continue
		}
		r.piece(kind, from, to, text[from-start:to-start])
		from = to
	}
}

func (r *renderer) piece(kind InlineKind, start, end int, text []byte) {
	if start == end {
		return
	}
	if text == nil {
		text = r.text[start:end]
	}
	r.out = append(r.out, Inline{Kind: kind, Text: text, Start: r.at.of(start), End: r.at.of(end-1) + 1, InLink: r.links > 0, InImage: r.images > 0})
}

func (r *renderer) span(kind InlineKind, span SpanKind, at int, dest string) {
	step := 1
	if kind == CloseInline {
		step = -1
	}
	switch span {
	case LinkSpan:
		r.links += step
	case ImageSpan:
		r.images += step
	}
	if !r.marked {
		return
	}
	place := r.at.of(at)
	r.out = append(r.out, Inline{Kind: kind, Span: span, Dest: dest, Start: place, End: place})
}
