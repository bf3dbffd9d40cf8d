package claim

import (
	"bytes"
	"cmp"
	"html"
	"slices"
	"sort"
	"unicode"

	"github.com/tidegate/tidegate/internal/text/link"
	"github.com/tidegate/tidegate/internal/text/markdown"
	"github.com/tidegate/tidegate/internal/text/page"
)

// Inspection is what a text cites and where it leads, as it stands and as it
// renders.
type Inspection struct {
	Mentions []Mention // in document order
	URLs     []RawURL  // likewise
	Passages []Passage // those with a citation that a reader sees, likewise
}

// Mention is a citation.
type Mention struct {
	CID       string // what stands between [@ and ], which need not be the id of anything
	Line      int    // where it begins, 1-based
	link.Span        // where it stands in the text
	// Visible says that a reader sees it: it is not in code, in HTML or a
	// comment, in the description of an image, or part of where a link leads.
	Visible bool
}

// RawURL is a URL that a text shows or leads to.
type RawURL struct {
	Text      string // with escapes and character references decoded
	Line      int    // where it begins, 1-based
	link.Span        // where it stands in the text
}

// Passage is a paragraph or list item with a citation that a reader sees.
type Passage struct {
	Line int
	Item bool
	// Text is one line: the passage as it is written, without its citations,
	// the white space before them, and HTML.
	Text string
	CIDs []string // in order of appearance, each once
}

// Inspect reads a Markdown text. What it finds is what a reader of the source
// finds, code included, and what a reader of the page finds: character references
// and backslash escapes are decoded, marks of emphasis and tags count for nothing,
// zero-width characters are skipped, and the destinations of links, images and
// definitions and the attributes of tags count as what they lead to. What both
// find is listed once.
//
// A line end ends a citation, and a URL. Inspect takes time in proportion to the
// length of the text.
func Inspect(text []byte) Inspection {
	in := inspector{text: text, doc: markdown.Parse(text)}
	return in.inspect()
}

// InspectRead is [Inspect] of a text that was read.
func InspectRead(text *markdown.Text) Inspection {
	in := inspector{text: text.Source, doc: text.Plain()}
	return in.inspect()
}

type inspector struct {
	text    []byte
	doc     *markdown.Document
	careful bool // render also what certainly has no markup

	// What is written comes first, in order, and then what only the page has.
	mentions        []Mention
	urls            []RawURL
	writtenMentions int
	writtenURLs     int
	next            int // the first written mention that is not before the present block

	open elements

	// of the present block
	page  rendered
	seen  []link.Span // text that a reader sees
	tags  []link.Span // HTML
	cited []Mention   // citations that a reader sees, in order
	cuts  []cut       // what the text of its passage leaves out

	passage  int // the number of the one under way, 0 for none
	current  Passage
	words    []byte          // its text
	listed   map[string]bool // its cids, when they are many
	passages []Passage
}

func (in *inspector) inspect() Inspection {
	in.asWritten()
	for _, b := range in.doc.Blocks {
		in.block(b)
	}
	in.endPassage()
	return in.result()
}

// asWritten looks at the text as it stands.
func (in *inspector) asWritten() {
	eachURL(in.text, func(url link.Span) {
		in.urls = append(in.urls, RawURL{Text: string(url.Of(in.text)), Span: url})
	})
	eachMention(in.text, func(m link.Span) {
		in.mentions = append(in.mentions, Mention{CID: string(m.CID(in.text)), Span: m})
	})
	in.writtenMentions, in.writtenURLs = len(in.mentions), len(in.urls)
}

func eachURL(text []byte, visit func(link.Span)) {
	urls := link.FindURLs(text)
	for at := 0; ; {
		url, ok := urls.Next(at)
		if !ok {
			return
		}
		url = link.TrimURL(text, url)
		visit(url)
		at = url.End
	}
}

func eachMention(text []byte, visit func(link.Span)) {
	for at := 0; ; {
		m, ok := link.NextMention(text, at)
		if !ok {
			return
		}
		visit(m)
		at = m.End
	}
}

// block looks at a block as it renders.
func (in *inspector) block(b markdown.Block) {
	in.seen, in.tags, in.cited = in.seen[:0], in.tags[:0], in.cited[:0]
	if !in.careful && in.doc.Plain(b) && !in.open.any() && !in.hides(b) {
		in.doc.Lines(b, func(_, start int, line []byte) { in.see(link.Span{Start: start, End: start + len(line)}) })
		in.seeWritten(b)
	} else {
		in.render(b)
		in.seeWritten(b)
		in.findRendered()
	}
	in.addToPassage(b)
}

// hides reports whether a block has zero-width characters.
func (in *inspector) hides(b markdown.Block) bool {
	start, end := in.doc.Range(b)
	return markdown.NextHidden(in.text[start:end], 0) >= 0
}

func (in *inspector) render(b markdown.Block) {
	in.page.reset()
	for _, piece := range in.doc.Inlines(b) {
		switch piece.Kind {
		case markdown.LinkInline:
			if link.LeadsAway(piece.Text) {
				in.addURL(piece.Text, link.Span{Start: piece.Start, End: piece.End})
			}
		case markdown.HTMLInline:
			in.html(b, piece)
		case markdown.BreakInline:
			in.page.breakLine(piece.Start, piece.End)
		case markdown.CodeInline:
			in.page.add(piece.Text, piece.Start, piece.End, false)
		default:
			seen := !piece.InImage && !in.open.any()
			in.page.add(piece.Text, piece.Start, piece.End, seen)
			if seen {
				in.see(link.Span{Start: piece.Start, End: piece.End})
			}
		}
	}
}

// findRendered finds what the page of the present block has.
func (in *inspector) findRendered() {
	eachURL(in.page.text, func(url link.Span) {
		from, _ := in.page.source(url)
		in.addURL(url.Of(in.page.text), from)
	})
	written := len(in.cited)
	eachMention(in.page.text, func(m link.Span) {
		from, seen := in.page.source(m)
		cid := string(m.CID(in.page.text))
		if in.isWritten(from.Start, cid) {
			return
		}
		mention := Mention{CID: cid, Span: from, Visible: seen}
		in.mentions = append(in.mentions, mention)
		if seen {
			in.cited = append(in.cited, mention)
		}
	})
	if len(in.cited) > written {
		slices.SortFunc(in.cited, func(a, b Mention) int { return cmp.Compare(a.Start, b.Start) })
	}
}

// see notes text that a reader sees.
func (in *inspector) see(s link.Span) {
	if n := len(in.seen); n > 0 && in.seen[n-1].End == s.Start {
		in.seen[n-1].End = s.End
		return
	}
	in.seen = append(in.seen, s)
}

// seeWritten finds the citations of a block, as written, that a reader sees: what
// is between the brackets is text. The brackets themselves may be those of a link.
func (in *inspector) seeWritten(b markdown.Block) {
	_, end := in.doc.Range(b)
	for ; in.next < in.writtenMentions && in.mentions[in.next].Start < end; in.next++ {
		m := &in.mentions[in.next]
		i := sort.Search(len(in.seen), func(i int) bool { return in.seen[i].End >= m.End-1 })
		if i < len(in.seen) && in.seen[i].Start <= m.Start+1 {
			m.Visible = true
			in.cited = append(in.cited, *m)
		}
	}
}

// isWritten reports whether a citation of the page is in the source as it is.
func (in *inspector) isWritten(start int, cid string) bool {
	i, found := slices.BinarySearchFunc(in.mentions[:in.writtenMentions], start, func(m Mention, at int) int { return cmp.Compare(m.Start, at) })
	return found && in.mentions[i].CID == cid
}

// addURL takes a URL of the page, unless it is one that was found as it is
// written.
func (in *inspector) addURL(text []byte, from link.Span) {
	written := in.urls[:in.writtenURLs]
	i := sort.Search(len(written), func(i int) bool { return written[i].End > from.Start })
	if i < len(written) && written[i].Start < from.End {
		return
	}
	in.urls = append(in.urls, RawURL{Text: string(text), Span: from})
}

// html takes a tag, a comment, or a block of HTML.
func (in *inspector) html(b markdown.Block, piece markdown.Inline) {
	in.tags = append(in.tags, link.Span{Start: piece.Start, End: piece.End})
	at := func(i int) int { return min(piece.Start+i, piece.End) }
	if b.Kind == markdown.HTMLBlock {
		at = in.doc.Source(b)
	}
	for m := range page.Marks(piece.Text) {
		switch m.Kind {
		case page.TextMark:
			text := piece.Text[m.Start:m.End]
			in.htmlText(text, m.Start, at)
		case page.StartMark:
			in.open.start(m.Name)
		case page.EndMark:
			in.open.end(m.Name)
		case page.OpenMark:
			in.open.start(m.Name)
			in.open.never()
		}
		for _, a := range m.Attributes {
			if link.AttributeLeadsAway(a.Name, a.Value) {
				in.addURL(a.Value, link.Span{Start: at(a.Start), End: at(a.End)})
			}
		}
	}
}

// htmlText takes text between tags, which begins at a place of its piece. It goes in
// small parts, because one with an escape only has a place as a whole.
func (in *inspector) htmlText(text []byte, start int, at func(int) int) {
	for part := range bytes.SplitAfterSeq(text, []byte("<")) {
		for line := range bytes.Lines(part) {
			text, broken := bytes.CutSuffix(line, []byte("\n"))
			in.page.add([]byte(html.UnescapeString(string(text))), at(start), at(start+len(text)), false)
			if start += len(line); broken {
				in.page.breakLine(at(start-1), at(start-1))
			}
		}
	}
}

// addToPassage adds the present block to the passage that it belongs to.
func (in *inspector) addToPassage(b markdown.Block) {
	if b.Passage != in.passage {
		in.endPassage()
		in.passage, in.current = b.Passage, Passage{Line: b.Line, Item: b.Item}
	}
	if b.Kind == markdown.HTMLBlock || b.Kind == markdown.DefinitionBlock || b.Passage == 0 {
		return
	}
	in.cuts = in.cuts[:0]
	for _, m := range in.cited {
		in.cuts = append(in.cuts, cut{m.Span, true})
		in.list(m.CID)
	}
	for _, tag := range in.tags {
		in.cuts = append(in.cuts, cut{tag, false})
	}
	if len(in.tags) > 0 {
		slices.SortFunc(in.cuts, func(a, b cut) int { return cmp.Compare(a.Start, b.Start) })
	}
	in.addWords(b, in.cuts)
}

// list adds a cid to those of the present passage, once.
func (in *inspector) list(cid string) {
	const few = 8
	cids := in.current.CIDs
	if len(cids) < few {
		if slices.Contains(cids, cid) {
			return
		}
	} else {
		if len(in.listed) == 0 {
			in.listed = map[string]bool{}
			for _, cid := range cids {
				in.listed[cid] = true
			}
		}
		if in.listed[cid] {
			return
		}
		in.listed[cid] = true
	}
	in.current.CIDs = append(cids, cid)
}

// cut is what the text of a passage leaves out.
type cut struct {
	link.Span
	mention bool // the white space before it goes with it
}

func (in *inspector) addWords(b markdown.Block, cuts []cut) {
	at := 0
	in.doc.Lines(b, func(_, start int, line []byte) {
		end := start + len(line)
		if len(in.words) > 0 {
			in.words = append(in.words, ' ')
		}
		at = max(at, start+len(line)-len(bytes.TrimLeftFunc(line, unicode.IsSpace)))
		for len(cuts) > 0 && cuts[0].Start < end {
			if cuts[0].Start > at {
				in.words = append(in.words, in.text[at:cuts[0].Start]...)
			}
			if cuts[0].mention {
				in.words = bytes.TrimRightFunc(in.words, unicode.IsSpace)
			}
			at = max(at, cuts[0].End)
			cuts = cuts[1:]
		}
		if at < end {
			in.words = append(in.words, in.text[at:end]...)
		}
		in.words = bytes.TrimRightFunc(in.words, unicode.IsSpace)
	})
}

func (in *inspector) endPassage() {
	if len(in.current.CIDs) > 0 {
		in.current.Text = string(bytes.TrimSpace(in.words))
		in.passages = append(in.passages, in.current)
	}
	in.words = in.words[:0]
	in.current = Passage{}
	clear(in.listed)
}

// result puts everything in order. Where a style sheet or a script decides what is
// seen, nothing is sure to be seen.
func (in *inspector) result() Inspection {
	slices.SortStableFunc(in.mentions, func(a, b Mention) int { return cmp.Compare(a.Start, b.Start) })
	slices.SortStableFunc(in.urls, func(a, b RawURL) int { return cmp.Compare(a.Start, b.Start) })
	lines := markdown.CountLines(in.text)
	for i := range in.mentions {
		in.mentions[i].Line = lines.Of(in.mentions[i].Start)
		in.mentions[i].Visible = in.mentions[i].Visible && !in.open.styled
	}
	lines = markdown.CountLines(in.text)
	for i := range in.urls {
		in.urls[i].Line = lines.Of(in.urls[i].Start)
	}
	if in.open.styled {
		in.passages = nil
	}
	return Inspection{in.mentions, in.urls, in.passages}
}
