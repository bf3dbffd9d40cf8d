package draft

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// Mention is a citation in a leaf: [@, then anything but ] and line ends, then ].
type Mention struct {
	CID        string
	Inferred   []string // the sources of an inference, nil for no inference
	Calculated string   // the formula of a calculation
	Absent     string   // words that are said to be on no page
	From, To   int      // glyphs
	Seen       bool     // by a reader: not in code or the text of an image
}

// Citations finds what reads as a citation once the leaf is shown.
func (l Leaf) Citations() []Mention {
	var out []Mention
	for i := 0; i+1 < len(l.Glyphs); i++ {
		if l.Glyphs[i].Rune != '[' || l.Glyphs[i].In&InTag != 0 {
			continue
		}
		if m, end := l.citation(i); end > 0 {
			if m.To > 0 {
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
func (l Leaf) citation(i int) (m Mention, end int) {
	in, at := l.Glyphs[i].In, false
	var cid []rune
	for k := i + 1; k < len(l.Glyphs); k++ {
		g := l.Glyphs[k]
		if g.In&InTag != 0 {
			continue
		}
		in |= g.In
		switch {
		case !at && g.Rune != '@':
			return Mention{}, 0
		case !at:
			at = true
		case g.Rune == ']':
			return Mention{CID: string(cid), From: i, To: k + 1, Seen: in&(InCode|inImage) == 0}, k + 1
		case g.Rune == '\n':
			return Mention{}, k
		default:
			cid = append(cid, g.Rune)
		}
	}
	return Mention{}, len(l.Glyphs)
}

// CIDs are the sources that a mark names.
func (m Mention) CIDs() []string {
	if m.Inferred != nil {
		return m.Inferred
	}
	return []string{m.CID}
}

// The marks of a sentence as patterns: whoever judges them and whoever shows them reads the
// same. The ids of an inference are parted by blanks, commas or "and".
const (
	MarkedID    = `@[^\s\[\]@,;]+`
	Inference   = `\[inferred from\s+(` + MarkedID + `(?:(?:\s*,\s*|\s+)(?:and\s+)?` + MarkedID + `)*)\s*\]`
	Calculation = `\[calculated: ([^\[\]\n]*=[^\[\]\n=]*)\]`
	Absence     = `\[not found on the archived pages: ([^\[\]\n]+)\]\.?`
)

// formMarks are the marks of an inference, of a calculation and of what is on no page.
var formMarks = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(Inference + "|" + Calculation + "|" + Absence) })

var markedID = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(MarkedID) })

// Markings are the citations of a leaf and the marks of its inferences and calculations,
// in their order.
func (l Leaf) Markings() []Mention {
	all := l.Citations()
	if !l.mayHaveForms() {
		return all
	}
	var b strings.Builder
	var at []int // the glyph of each byte
	for i, g := range l.Glyphs {
		if g.In&(InTag|InCode|inImage) == 0 {
			b.WriteRune(g.Rune)
			for len(at) < b.Len() {
				at = append(at, i)
			}
		}
	}
	text := b.String()
	for _, found := range formMarks().FindAllStringSubmatchIndex(text, -1) {
		m := Mention{From: at[found[0]], To: at[found[1]-1] + 1, Seen: true}
		if found[2] >= 0 {
			for _, id := range markedID().FindAllString(text[found[2]:found[3]], -1) {
				m.Inferred = append(m.Inferred, id[1:])
			}
		} else if found[6] >= 0 {
			m.Absent = strings.TrimSpace(text[found[6]:found[7]])
		} else {
			m.Calculated = strings.TrimSpace(text[found[4]:found[5]])
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b Mention) int { return a.From - b.From })
	return all
}

// mayHaveForms is false for a leaf without marks of inferences and calculations: few have
// them, and most of what a report shows need not be copied to look for them.
func (l Leaf) mayHaveForms() bool {
	open := false
	for _, g := range l.Glyphs {
		if g.In&(InTag|InCode|inImage) != 0 {
			continue
		}
		if open && (g.Rune == 'i' || g.Rune == 'c' || g.Rune == 'n') {
			return true
		}
		open = g.Rune == '['
	}
	return false
}

// RawCitations calls visit for every citation in the bytes of a draft, wherever
// it stands: in a comment, in code, in the attribute of a tag.
func RawCitations(source []byte, visit func(at int, cid string)) {
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
