package synthesis

import (
	"bytes"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/util"
)

// leaf is the text of a block, character by character, and where emphasis and
// links begin and end in it.
type leaf struct {
	glyphs []glyph
	marks  []mark
}

// glyph is one character that a reader sees, or one of a tag.
type glyph struct {
	r  rune
	at int32 // where it comes from in the source
	in inside
}

type inside uint8

const (
	inCode    inside = 1 << iota // a code span
	inLink                       // the text of a link, an address in angle brackets
	inTag                        // an HTML tag or comment itself
	inElement                    // between an HTML tag and the one that closes it
	inImage                      // the text of an image, which a reader sees when it is not there
	hardBreak                    // a line end that is one for the reader, too
)

// mark is where emphasis, a code span or a link begins or ends, before the glyph
// of that index.
type mark struct {
	at   int
	open bool
	kind markKind
	dest string // of a link
}

type markKind uint8

const (
	emphasis markKind = iota
	strong
	codeSpan
	link
	image
)

// inline is the leaf of a node with inline content.
func (r *reader) inline(n ast.Node) leaf {
	w := inlineWriter{source: r.source, cell: n.Kind() == kindCell, elements: &r.elements, in: r.elements.inside()}
	w.children(n)
	return w.leaf
}

type inlineWriter struct {
	leaf
	source []byte
	cell   bool // in a table, where a backslash keeps a bar in code
	in     inside
	*elements
}

// elements are the names of the HTML elements that are open. One that is not
// closed goes on to the end of the draft, as it does in a browser.
type elements struct{ open [][]byte }

func (e *elements) inside() inside {
	if len(e.open) > 0 {
		return inElement
	}
	return 0
}

// tag opens or closes an element.
func (e *elements) tag(text []byte) {
	name, closing := tagName(text)
	switch {
	case len(name) == 0 || void[string(name)] || bytes.HasSuffix(text, []byte("/>")):
	case closing:
		for i := len(e.open) - 1; i >= 0; i-- {
			if bytes.Equal(e.open[i], name) { // those inside it may go on
				e.open = slices.Delete(e.open, i, i+1)
				break
			}
		}
	case len(e.open) < MaxMarks:
		e.open = append(e.open, name)
	}
}

func (w *inlineWriter) children(n ast.Node) {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		w.node(c)
	}
}

func (w *inlineWriter) node(n ast.Node) {
	switch n := n.(type) {
	case *ast.Text:
		w.write(n.Segment.Start, n.Segment.Stop, n.IsRaw() || w.in&inCode != 0)
		switch {
		case n.HardLineBreak():
			w.add('\n', n.Segment.Stop, hardBreak)
		case n.SoftLineBreak():
			w.add('\n', n.Segment.Stop, 0)
		}
	case *ast.CodeSpan:
		w.within(n, mark{kind: codeSpan}, inCode)
	case *ast.Emphasis:
		kind := emphasis
		if n.Level == 2 {
			kind = strong
		}
		w.within(n, mark{kind: kind}, 0)
	case *ast.Link:
		w.within(n, mark{kind: link, dest: destination(n.Destination)}, inLink)
	case *ast.Image:
		w.within(n, mark{kind: image}, inImage)
	case *ast.AutoLink:
		label := n.Label(w.source)
		dest := string(n.URL(w.source))
		if n.AutoLinkType == ast.AutoLinkEmail {
			dest = "mailto:" + dest
		}
		w.mark(mark{open: true, kind: link, dest: dest})
		for i, c := range string(label) {
			w.add(c, n.Pos()+1+i, inLink)
		}
		w.mark(mark{kind: link, dest: dest})
	case *ast.RawHTML:
		for _, s := range n.Segments.Sliced(0, n.Segments.Len()) {
			w.in |= inTag
			w.write(s.Start, s.Stop, true)
			w.in &^= inTag
		}
		w.tag(n.Segments.Value(w.source))
		w.in = w.in&^inElement | w.elements.inside()
	default:
		w.children(n)
	}
}

// destination is where a link leads: escapes and entities are decoded in it.
func destination(raw []byte) string {
	w := inlineWriter{source: raw}
	w.write(0, len(raw), false)
	return string(runes(w.glyphs))
}

func runes(glyphs []glyph) []rune {
	out := make([]rune, len(glyphs))
	for i, g := range glyphs {
		out[i] = g.r
	}
	return out
}

func tagName(tag []byte) (name []byte, closing bool) {
	rest := bytes.TrimPrefix(tag, []byte("<"))
	rest, closing = bytes.CutPrefix(rest, []byte("/"))
	end := bytes.IndexFunc(rest, func(c rune) bool { return !(c < utf8.RuneSelf && util.IsAlphaNumeric(byte(c)) || c == '-') })
	if end < 0 {
		end = len(rest)
	}
	return bytes.ToLower(rest[:end]), closing
}

// void are the elements of HTML that have no content.
var void = map[string]bool{"area": true, "base": true, "br": true, "col": true, "embed": true, "hr": true, "img": true,
	"input": true, "link": true, "meta": true, "source": true, "track": true, "wbr": true}

func (w *inlineWriter) within(n ast.Node, m mark, in inside) {
	was := w.in
	m.open = true
	w.mark(m)
	w.in |= in
	w.children(n)
	w.in = was&^inElement | w.elements.inside()
	m.open = false
	w.mark(m)
}

func (w *inlineWriter) mark(m mark) {
	m.at = len(w.glyphs)
	w.marks = append(w.marks, m)
}

func (w *inlineWriter) add(r rune, at int, in inside) {
	w.glyphs = append(w.glyphs, glyph{r, int32(at), w.in | in})
}

// write adds a part of the source. Unless it is raw, a backslash before
// punctuation and entities are decoded.
func (w *inlineWriter) write(from, to int, raw bool) {
	for at := from; at < to; {
		r, size := utf8.DecodeRune(w.source[at:to])
		switch {
		case r == '\n' || r == '\r':
			if r == '\n' || at+1 == to || w.source[at+1] != '\n' {
				w.add('\n', at, 0)
			}
		case r == '\\' && (!raw || w.cell && at+1 < to && w.source[at+1] == '|') && at+1 < to && util.IsPunct(w.source[at+1]):
			at++
			w.add(rune(w.source[at]), at-1, 0)
		case r == '&' && !raw:
			if text, n := entity(w.source[at:to]); n > 0 {
				for _, c := range text {
					w.add(c, at, 0)
				}
				size = n
				break
			}
			w.add(r, at, 0)
		default:
			w.add(r, at, 0)
		}
		at += size
	}
}

// longestEntity is the length of the longest name that HTML has, with its signs.
const longestEntity = 34

// entity decodes the entity at the beginning of text: n is its length, 0 when
// there is none.
func entity(text []byte) (decoded string, n int) {
	end := bytes.IndexByte(text[:min(len(text), longestEntity)], ';')
	if end < 2 {
		return "", 0
	}
	name := string(text[1:end])
	if name[0] != '#' {
		if e, ok := util.LookUpHTML5EntityByName(name); ok {
			return string(e.Characters), end + 1
		}
		return "", 0
	}
	base, digits, most := 10, name[1:], 7
	if len(digits) > 0 && (digits[0] == 'x' || digits[0] == 'X') {
		base, digits, most = 16, digits[1:], 6
	}
	code, err := strconv.ParseUint(digits, base, 32)
	if err != nil || len(digits) > most {
		return "", 0
	}
	if code == 0 || code > utf8.MaxRune || !utf8.ValidRune(rune(code)) {
		code = utf8.RuneError
	}
	return string(rune(code)), end + 1
}

// htmlBlock is the text of an HTML block: what stands between its tags is seen
// by a reader whose program shows HTML.
func (r *reader) htmlBlock(n *ast.HTMLBlock) leaf {
	segments := n.Lines().Sliced(0, n.Lines().Len())
	if n.HasClosure() {
		segments = append(segments[:len(segments):len(segments)], n.ClosureLine)
	}
	var content []byte // the lines without the marks of the containers around them
	var places []int32 // of each byte of content in the source
	for _, s := range segments {
		for at := s.Start; at < s.Stop; at++ {
			content, places = append(content, r.source[at]), append(places, int32(at))
		}
	}
	w := inlineWriter{source: content, in: inElement} // all of it, whatever its tags close
	tags := tagFinder{text: content}
	for at := 0; at < len(content); {
		from, to := tags.next(at)
		w.write(at, from, false)
		w.in |= inTag
		w.write(from, to, true)
		w.in &^= inTag
		r.elements.tag(content[from:to])
		at = to
	}
	if tags.noComment || tags.noTagEnd { // what has no end here takes in what follows
		r.elements.open = append(r.elements.open, nil)
	}
	for i := range w.glyphs {
		w.glyphs[i].at = places[w.glyphs[i].at]
	}
	return w.leaf
}

// tagFinder finds tags, comments and declarations. What has no end is text.
type tagFinder struct {
	text                []byte
	noTagEnd, noComment bool // from here on, so that no byte is looked at twice
}

// next is the first tag that begins at from or later, or the end of the text.
func (f *tagFinder) next(from int) (start, end int) {
	for at := from; ; at++ {
		i := bytes.IndexByte(f.text[at:], '<')
		if i < 0 || f.noTagEnd {
			return len(f.text), len(f.text)
		}
		at += i
		closing, none := ">", &f.noTagEnd
		if bytes.HasPrefix(f.text[at:], []byte("<!--")) {
			closing, none = "-->", &f.noComment
		} else if at+1 == len(f.text) || !(util.IsAlphaNumeric(f.text[at+1]) || bytes.IndexByte([]byte("!?/"), f.text[at+1]) >= 0) {
			continue
		}
		if *none {
			continue
		}
		if n := bytes.Index(f.text[at:], []byte(closing)); n >= 0 {
			return at, at + n + len(closing)
		}
		*none = true
	}
}
