package page

import (
	"bytes"
	"iter"
	"regexp"
	"slices"
	"strings"
	"sync"

	"golang.org/x/net/html"
)

// Mark is a tag or a stretch of text in a piece of HTML.
type Mark struct {
	Kind       MarkKind
	Start, End int    // where it stands in the piece
	Name       string // of a tag, in lower case
	Attributes []Attribute
}

// MarkKind says what a mark is.
type MarkKind uint8

// The kinds.
const (
	TextMark MarkKind = iota
	StartMark
	EndMark
	OpenMark // a tag or comment that the piece does not end: it swallows what follows
)

// Attribute is one of a tag, as often as the tag has it.
type Attribute struct {
	Name       string
	Value      []byte // with its escapes resolved
	Start, End int    // where it stands in the piece
}

// Marks reads a piece of HTML, as it stands in another text, in order. Tags count
// in every element, also in those whose content a browser takes for text. Comments
// that end are left out.
func Marks(piece []byte) iter.Seq[Mark] {
	return func(yield func(Mark) bool) {
		z := html.NewTokenizer(bytes.NewReader(piece))
		for at, end := 0, 0; ; at = end {
			kind := z.Next()
			end = at + len(z.Raw())
			m := Mark{Start: at, End: end}
			switch kind {
			case html.ErrorToken:
				if at < len(piece) {
					m = Mark{Kind: OpenMark, Start: at, End: len(piece)}
					m.readTag(piece[at:])
					yield(m)
				}
				return
			case html.CommentToken, html.DoctypeToken:
				if isEnded(piece[at:end]) {
					continue
				}
				m.Kind = OpenMark
			case html.EndTagToken:
				m.Kind = EndMark
				m.readTag(piece[at:end])
			case html.StartTagToken, html.SelfClosingTagToken:
				z.NextIsNotRawText()
				m.Kind = StartMark
				m.readTag(piece[at:end])
			}
			if !yield(m) {
				return
			}
		}
	}
}

// attribute finds the attributes of a tag after its name. The tokenizer does not say
// where they stand.
var attribute = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)(?:"|$)|'([^']*)(?:'|$)|([^\s>]*)))?`)
})

// readTag reads what begins with < and a letter, or with </ and a letter.
func (m *Mark) readTag(tag []byte) {
	named := len(tag)
	if n := bytes.IndexAny(tag[2:], " \t\n\f\r/>"); n >= 0 {
		named = 2 + n
	}
	m.Name = strings.ToLower(strings.TrimLeft(string(tag[:named]), "</"))
	if named+1 >= len(tag) {
		return
	}
	for _, found := range attribute().FindAllSubmatchIndex(tag[named:], -1) {
		from := func(group int) []byte {
			if found[2*group] < 0 {
				return nil
			}
			return tag[named+found[2*group] : named+found[2*group+1]]
		}
		value := html.UnescapeString(string(slices.Concat(from(2), from(3), from(4))))
		start := m.Start + named
		m.Attributes = append(m.Attributes, Attribute{strings.ToLower(string(from(1))), []byte(value), start + found[0], start + found[1]})
	}
}

// isEnded reports whether a comment or declaration has its end.
func isEnded(raw []byte) bool {
	if !bytes.HasPrefix(raw, []byte("<!--")) {
		return bytes.HasSuffix(raw, []byte(">"))
	}
	return bytes.HasSuffix(raw, []byte("-->")) || bytes.HasSuffix(raw, []byte("--!>")) && len(raw) >= len("<!----!>")
}
