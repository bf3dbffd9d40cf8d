package draft

import (
	"sort"
	"unicode"
	"unicode/utf8"

	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Leaf is the text of a block, character by character, and where emphasis and
// links begin and end in it.
type Leaf struct {
	Glyphs []Glyph
	Marks  []Mark
}

// Glyph is one character that a reader sees, or one of a tag.
type Glyph struct {
	Rune rune
	At   int32 // where it comes from in the source
	In   inside
}

type inside uint8

const (
	InCode    inside = 1 << iota // a code span
	inWord                       // of code: it touches a word, and is part of it
	InLink                       // the text of a link, an address in angle brackets
	InTag                        // an HTML tag or comment itself
	inImage                      // the text of an image, which a reader sees when it is not there
	HardBreak                    // a line end that is one for the reader, too
)

// Mark is where emphasis, a code span or a link begins or ends, before the glyph
// of that index.
type Mark struct {
	At   int
	Open bool
	Kind markdown.SpanKind
	Dest string // of a link
}

// inline is the leaf of a block.
func (d *Document) inline(b markdown.Block) Leaf {
	pieces, size := d.Markdown.Rendered(b), 0
	for i := range pieces {
		size += utf8.RuneCount(pieces[i].Text)
	}
	l := Leaf{Glyphs: make([]Glyph, 0, size)} // a report may hold the glyphs of every answer
	for _, piece := range pieces {
		switch piece.Kind {
		case markdown.OpenInline, markdown.CloseInline:
			l.Marks = append(l.Marks, Mark{len(l.Glyphs), piece.Kind == markdown.OpenInline, piece.Span, piece.Dest})
		default:
			l.add(piece)
		}
	}
	l.wordsOfCode()
	return l
}

// add takes the characters of a piece of text.
func (l *Leaf) add(piece markdown.Inline) {
	var in inside
	for _, is := range []struct {
		so bool
		in inside
	}{
		{piece.Kind == markdown.CodeInline, InCode}, {piece.Kind == markdown.HTMLInline, InTag}, {piece.InLink, InLink},
		{piece.InImage, inImage}, {piece.Hard, HardBreak},
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
		l.Glyphs = append(l.Glyphs, Glyph{r, int32(at), in})
		i += size
	}
}

func Runes(glyphs []Glyph) []rune {
	out := make([]rune, len(glyphs))
	for i, g := range glyphs {
		out[i] = g.Rune
	}
	return out
}

// wordsOfCode marks the code that touches a letter or digit on either side.
func (l Leaf) wordsOfCode() {
	for from := 0; from < len(l.Glyphs); {
		to := from
		for to < len(l.Glyphs) && l.Glyphs[to].In&InCode != 0 {
			to++
		}
		if to > from && (from > 0 && IsWordRune(l.Glyphs[from-1].Rune) || to < len(l.Glyphs) && IsWordRune(l.Glyphs[to].Rune)) {
			for i := from; i < to; i++ {
				l.Glyphs[i].In |= inWord
			}
		}
		from = to + 1
	}
}

// IsCode holds for a character of code that is not part of a word.
func (g Glyph) IsCode() bool { return g.In&(InCode|inWord) == InCode }

// Marked holds when emphasis or a link begins or ends from one glyph to another.
func (l Leaf) Marked(from, to int) bool {
	i := sort.Search(len(l.Marks), func(i int) bool { return l.Marks[i].At >= from })
	return i < len(l.Marks) && l.Marks[i].At <= to
}

func IsWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsNumber(r) }

// Apart holds for characters that have no place of their own: hidden ones, and marks
// that are drawn onto another.
func Apart(r rune) bool { return markdown.Hidden(r) || unicode.In(r, unicode.Mn, unicode.Me) }
