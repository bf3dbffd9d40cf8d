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
	inWord                       // of code: it touches a word, and is part of it
	inLink                       // the text of a link, an address in angle brackets
	inTag                        // an HTML tag or comment itself
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
	w := inlineWriter{source: r.source, cell: n.Kind() == kindCell}
	w.children(n)
	w.leaf.wordsOfCode()
	return w.leaf
}

// wordsOfCode marks the code that touches a letter or digit on either side.
func (l leaf) wordsOfCode() {
	for from := 0; from < len(l.glyphs); {
		to := from
		for to < len(l.glyphs) && l.glyphs[to].in&inCode != 0 {
			to++
		}
		if to > from && (from > 0 && isWordRune(l.glyphs[from-1].r) || to < len(l.glyphs) && isWordRune(l.glyphs[to].r)) {
			for i := from; i < to; i++ {
				l.glyphs[i].in |= inWord
			}
		}
		from = to + 1
	}
}

// isCode holds for a character of code that is not part of a word.
func (g glyph) isCode() bool { return g.in&(inCode|inWord) == inCode }

type inlineWriter struct {
	leaf
	source []byte
	cell   bool // in a table, where a backslash keeps a bar in code
	in     inside
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

func (w *inlineWriter) within(n ast.Node, m mark, in inside) {
	was := w.in
	m.open = true
	w.mark(m)
	w.in |= in
	w.children(n)
	w.in = was
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
	w.glyphs = slices.Grow(w.glyphs, to-from)
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
