package synthesis

import (
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
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
	kind markdown.SpanKind
	dest string // of a link
}

// inline is the leaf of a block.
func (d *document) inline(b markdown.Block) leaf {
	pieces, size := d.markdown.Rendered(b), 0
	for i := range pieces {
		size += utf8.RuneCount(pieces[i].Text)
	}
	l := leaf{glyphs: make([]glyph, 0, size)} // a report may hold the glyphs of every answer
	for _, piece := range pieces {
		switch piece.Kind {
		case markdown.OpenInline, markdown.CloseInline:
			l.marks = append(l.marks, mark{len(l.glyphs), piece.Kind == markdown.OpenInline, piece.Span, piece.Dest})
		default:
			l.add(piece)
		}
	}
	l.wordsOfCode()
	return l
}

// add takes the characters of a piece of text.
func (l *leaf) add(piece markdown.Inline) {
	var in inside
	for _, is := range []struct {
		so bool
		in inside
	}{
		{piece.Kind == markdown.CodeInline, inCode}, {piece.Kind == markdown.HTMLInline, inTag}, {piece.InLink, inLink},
		{piece.InImage, inImage}, {piece.Hard, hardBreak},
	} {
		if is.so {
			in |= is.in
		}
	}
	literal := len(piece.Text) == piece.End-piece.Start
	for i := 0; i < len(piece.Text); {
		r, size := utf8.DecodeRune(piece.Text[i:])
		at := piece.Start
		if literal {
			at += i
		}
		l.glyphs = append(l.glyphs, glyph{r, int32(at), in})
		i += size
	}
}

func runes(glyphs []glyph) []rune {
	out := make([]rune, len(glyphs))
	for i, g := range glyphs {
		out[i] = g.r
	}
	return out
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
