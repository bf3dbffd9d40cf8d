package markdown

import (
	"bytes"
	"unicode/utf8"
)

// Inline is a piece of a block as it renders.
type Inline struct {
	Kind InlineKind
	// Text is what the piece says: characters with escapes and character
	// references decoded, the content of code, raw HTML, or the decoded
	// destination of a link. Of a [BreakInline] it is a line feed.
	Text []byte
	// Start and End are where the piece stands in the document's text; of a code
	// span, without its back-ticks.
	Start, End int
	InLink     bool // it is part of what a link shows
	InImage    bool // it is part of the description of an image

	// Only [Document.Rendered] sets these.
	Hard bool     // a line end that is one for the reader, too
	Span SpanKind // what an [OpenInline] opens and a [CloseInline] closes
	Dest string   // where an opened or closed link leads
}

// InlineKind says what a piece is.
type InlineKind uint8

// The kinds of pieces. Marks of emphasis and links, titles and labels are in none.
const (
	TextInline  InlineKind = iota + 1
	CodeInline             // a code span, or a line of a code block
	HTMLInline             // one tag, comment, instruction or declaration, or an HTML block
	LinkInline             // the destination of a link, an image, an autolink or a definition
	BreakInline            // the end of a line
	OpenInline             // emphasis, a link or an image begins
	CloseInline            // and ends
)

// SpanKind says what holds other pieces.
type SpanKind uint8

// The kinds of spans.
const (
	EmphasisSpan SpanKind = iota + 1
	StrongSpan
	CodeSpan
	LinkSpan
	ImageSpan
)

// Inlines takes a block apart by the rules of CommonMark: what a reader sees as
// text, what is code, what is HTML, and where links lead. It takes time in
// proportion to the length of the block. The result is valid until the next call.
func (d *Document) Inlines(b Block) []Inline {
	switch b.Kind {
	case CodeBlock:
		return d.codeLines(b)
	case HTMLBlock:
		start, end := d.Range(b)
		return []Inline{{Kind: HTMLInline, Text: d.joined(b), Start: start, End: end}}
	case DefinitionBlock:
		text := d.joined(b)
		def, _ := parseDefinition(text)
		at := places{lines: d.linesOf(b)}
		return []Inline{{Kind: LinkInline, Text: unescape(text[def.start:def.end]), Start: at.of(def.start), End: at.of(def.end)}}
	}
	return d.render(b, false)
}

// Plain reports whether a block is a paragraph or heading that certainly has no
// markup inside, and renders as it is written.
func (d *Document) Plain(b Block) bool {
	if b.Kind != ParagraphBlock && b.Kind != HeadingBlock || d.labels != nil {
		return false
	}
	for _, s := range d.linesOf(b) {
		if !isPlainText(d.text[s.start:s.end]) {
			return false
		}
	}
	return true
}

func isPlainText(line []byte) bool {
	for i, c := range line {
		if !special[c] {
			continue
		}
		switch {
		case c == '[':
		case c == ']' && (i+1 == len(line) || line[i+1] != '('):
		case c == '!' && (i+1 == len(line) || line[i+1] != '['):
		case c == '_' && i > 0 && i+1 < len(line) && isWordByte(line[i-1]) && isWordByte(line[i+1]):
		default:
			return false
		}
	}
	return true
}

func isWordByte(c byte) bool { return isLetter(c) || isDigit(c) }

func (d *Document) codeLines(b Block) []Inline {
	lines := d.linesOf(b)
	out := make([]Inline, 0, 2*len(lines))
	for i, s := range lines {
		if i > 0 {
			out = append(out, Inline{Kind: BreakInline, Text: lineFeed, Start: lines[i-1].end, End: s.start})
		}
		out = append(out, Inline{Kind: CodeInline, Text: d.text[s.start:s.end], Start: s.start, End: s.end})
	}
	return out
}

var lineFeed = []byte("\n")

// places says where the bytes of joined lines stand in the document. It is asked
// in ascending order.
type places struct {
	lines []span
	line  int // the last one asked for
	at    int // where it begins in the joined text
}

func (p *places) of(i int) int {
	for {
		s := p.lines[p.line]
		if n := s.end - s.start; i > p.at+n && p.line+1 < len(p.lines) {
			p.at += n + 1
			p.line++
			continue
		}
		return s.start + i - p.at
	}
}

// inliner takes the text of one block apart. It follows the algorithm in the
// appendix of CommonMark: one pass that makes nodes, with a stack of brackets
// and a list of delimiter runs.
type inliner struct {
	text   []byte
	labels map[string]string
	nodes  []node
	dests  []string // of the links
	marked bool     // somebody asks where emphasis begins and ends, and links lead

	brackets []bracket
	inactive int // of brackets[:inactive] none can open a link: no link is inside another

	runs     []emphasisRun
	firstRun int // index of the first run of the list plus one, 0 for none
	lastRun  int // of the last one, likewise

	ticks map[int]int // by length: where the last run of so many back-ticks begins; nil until asked for

	// No such mark occurs from there on; 0 when not known.
	noComment, noInstruction, noDeclaration, noData int

	out []Inline
}

// reset forgets everything but the buffers.
func (p *inliner) reset(text []byte, labels map[string]string) {
	*p = inliner{text: text, labels: labels, nodes: p.nodes[:0], dests: p.dests[:0], brackets: p.brackets[:0], runs: p.runs[:0], out: p.out[:0]}
}

// node is a part of the text, in order.
type node struct {
	kind       nodeKind
	ref        int32 // of delimiters: index of their run; of a link: of its destination
	start, end int
	text       []byte // what it says, when that is not what stands there
}

type nodeKind uint8

const (
	textNode    nodeKind = iota
	bracketNode          // text, unless it opens a link or image
	codeNode
	htmlNode
	breakNode
	autolinkNode // text is the destination
	runNode      // start and end shrink as delimiters are used
	linkOpen
	imageOpen
	linkClose // text is the destination
	imageClose
)

// special marks the bytes that can be more than text.
var special = func() (special [256]bool) {
	for _, c := range []byte("\\`*_[]!<&\n") {
		special[c] = true
	}
	return
}()

func (p *inliner) parse() {
	for i := 0; i < len(p.text); {
		n := i
		for n < len(p.text) && !special[p.text[n]] {
			n++
		}
		if n > i {
			p.add(textNode, i, n, nil)
			i = n
			continue
		}
		i = p.special(i)
	}
}

func (p *inliner) add(kind nodeKind, start, end int, text []byte) {
	if n := len(p.nodes); n > 0 && kind == textNode && text == nil {
		if last := &p.nodes[n-1]; last.kind == textNode && last.text == nil {
			last.end = end
			return
		}
	}
	p.nodes = append(p.nodes, node{kind: kind, start: start, end: end, text: text})
}

// special takes what begins with the special byte at i, and says where the text
// goes on.
func (p *inliner) special(i int) int {
	switch c := p.text[i]; c {
	case '\n':
		p.add(breakNode, i, i+1, lineFeed)
		return i + 1
	case '\\':
		if i+1 < len(p.text) && isPunctuation(p.text[i+1]) {
			p.add(textNode, i, i+2, p.text[i+1:i+2])
			return i + 2
		}
		if i+1 < len(p.text) && p.text[i+1] == '\n' { // a hard line break
			p.add(breakNode, i, i+2, lineFeed)
			return i + 2
		}
	case '`':
		return p.code(i)
	case '*', '_':
		return p.delimiters(i)
	case '<':
		if n := p.angle(i); n > 0 {
			return n
		}
	case '&':
		if decoded, n := CharacterReference(p.text[i:]); n > 0 {
			p.add(textNode, i, i+n, []byte(decoded))
			return i + n
		}
	case '!':
		if i+1 < len(p.text) && p.text[i+1] == '[' {
			p.open(i, i+2, true)
			return i + 2
		}
	case '[':
		p.open(i, i+1, false)
		return i + 1
	case ']':
		return p.close(i)
	}
	p.add(textNode, i, i+1, nil)
	return i + 1
}

// code takes the code span that begins with the back-ticks at i, or the
// back-ticks as text.
func (p *inliner) code(i int) int {
	n := run(p.text[i:], '`')
	if p.ticks == nil {
		p.ticks = map[int]int{}
		for at := i; at < len(p.text); {
			next := bytes.IndexByte(p.text[at:], '`')
			if next < 0 {
				break
			}
			at += next
			length := run(p.text[at:], '`')
			p.ticks[length] = at
			at += length
		}
	}
	if p.ticks[n] <= i {
		p.add(textNode, i, i+n, nil)
		return i + n
	}
	for at := i + n; ; {
		at += bytes.IndexByte(p.text[at:], '`')
		length := run(p.text[at:], '`')
		if length == n {
			start, end, text := codeText(p.text, i+n, at)
			p.add(codeNode, start, end, text)
			return at + n
		}
		at += length
	}
}

// codeText is the content of a code span between start and end: line feeds are
// spaces, and one space is removed from both ends when both have one and there is
// anything else.
func codeText(b []byte, start, end int) (int, int, []byte) {
	text := b[start:end]
	if bytes.IndexByte(text, '\n') >= 0 {
		text = bytes.ReplaceAll(text, lineFeed, []byte(" "))
	}
	if n := len(text); n > 2 && text[0] == ' ' && text[n-1] == ' ' && len(bytes.Trim(text, " ")) > 0 {
		return start + 1, end - 1, text[1 : n-1]
	}
	return start, end, text
}

// angle takes the autolink or HTML that begins with the < at i. It is 0 where
// there is none.
func (p *inliner) angle(i int) int {
	if n := autolinkEnd(p.text[i:]); n > 0 {
		p.add(autolinkNode, i, i+n, p.text[i+1:i+n-1])
		return i + n
	}
	if n := emailEnd(p.text[i:]); n > 0 {
		p.add(autolinkNode, i, i+n, append([]byte("mailto:"), p.text[i+1:i+n-1]...))
		return i + n
	}
	if n := p.htmlEnd(i); n > 0 {
		p.add(htmlNode, i, n, nil)
		return n
	}
	return 0
}

// before and after are the characters beside a delimiter run; the ends of the
// text count as line feeds.
func before(b []byte, i int) rune {
	if i == 0 {
		return '\n'
	}
	r, _ := utf8.DecodeLastRune(b[:i])
	return r
}

func after(b []byte, i int) rune {
	if i == len(b) {
		return '\n'
	}
	r, _ := utf8.DecodeRune(b[i:])
	return r
}
