package synthesis

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// mention is a citation in a leaf: [@, then anything but ] and line ends, then ].
type mention struct {
	cid        string
	inferred   []string // the sources of an inference, nil for no inference
	calculated string   // the formula of a calculation
	from, to   int      // glyphs
	seen       bool     // by a reader: not in code or the text of an image
}

// citations finds what reads as a citation once the leaf is shown.
func (l leaf) citations() []mention {
	var out []mention
	for i := 0; i+1 < len(l.glyphs); i++ {
		if l.glyphs[i].r != '[' || l.glyphs[i].in&inTag != 0 {
			continue
		}
		if m, end := l.citation(i); end > 0 {
			if m.to > 0 {
				out = append(out, m)
			}
			i = end - 1
		}
	}
	return out
}

// citation reads the citation that begins at i. End is where it ends or, when
// the line ends before a bracket closes it, where the line does; 0 when nothing
// begins there.
func (l leaf) citation(i int) (m mention, end int) {
	in, at := l.glyphs[i].in, false
	var cid []rune
	for k := i + 1; k < len(l.glyphs); k++ {
		g := l.glyphs[k]
		if g.in&inTag != 0 {
			continue
		}
		in |= g.in
		switch {
		case !at && g.r != '@':
			return mention{}, 0
		case !at:
			at = true
		case g.r == ']':
			return mention{cid: string(cid), from: i, to: k + 1, seen: in&(inCode|inImage) == 0}, k + 1
		case g.r == '\n':
			return mention{}, k
		default:
			cid = append(cid, g.r)
		}
	}
	return mention{}, len(l.glyphs)
}

// cids are the sources that a mark names.
func (m mention) cids() []string {
	if m.inferred != nil {
		return m.inferred
	}
	return []string{m.cid}
}

// formMarks are the marks of an inference and of a calculation.
var formMarks = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`\[inferred from((?: @[^\s\[\]@,;]+)+)\]|\[calculated: ([^\[\]\n]+)\]`)
})

// markings are the citations of a leaf and the marks of its inferences and calculations,
// in their order.
func (l leaf) markings() []mention {
	all := l.citations()
	if !l.mayHaveForms() {
		return all
	}
	var b strings.Builder
	var at []int // the glyph of each byte
	for i, g := range l.glyphs {
		if g.in&(inTag|inCode|inImage) == 0 {
			b.WriteRune(g.r)
			for len(at) < b.Len() {
				at = append(at, i)
			}
		}
	}
	text := b.String()
	for _, found := range formMarks().FindAllStringSubmatchIndex(text, -1) {
		m := mention{from: at[found[0]], to: at[found[1]-1] + 1, seen: true}
		if found[2] >= 0 {
			for id := range strings.FieldsSeq(text[found[2]:found[3]]) {
				m.inferred = append(m.inferred, strings.TrimPrefix(id, "@"))
			}
		} else {
			m.calculated = strings.TrimSpace(text[found[4]:found[5]])
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b mention) int { return a.from - b.from })
	return all
}

// mayHaveForms is false for a leaf without marks of inferences and calculations: few have
// them, and most of what a report shows need not be copied to look for them.
func (l leaf) mayHaveForms() bool {
	open := false
	for _, g := range l.glyphs {
		if g.in&(inTag|inCode|inImage) != 0 {
			continue
		}
		if open && (g.r == 'i' || g.r == 'c') {
			return true
		}
		open = g.r == '['
	}
	return false
}

// rawCitations calls visit for every citation in the bytes of a draft, wherever
// it stands: in a comment, in code, in the attribute of a tag.
func rawCitations(source []byte, visit func(at int, cid string)) {
	for at := 0; ; {
		i := bytes.Index(source[at:], []byte("[@"))
		if i < 0 {
			return
		}
		at += i + len("[@")
		n := bytes.IndexAny(source[at:], "]\r\n")
		if n < 0 {
			return
		}
		if source[at+n] == ']' {
			visit(at-len("[@"), string(source[at:at+n]))
		}
		at += n
	}
}
