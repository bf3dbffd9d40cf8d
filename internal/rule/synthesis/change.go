package synthesis

import (
	"bytes"
	"regexp"
	"slices"
	"sort"
	"strings"
	"sync"
	"unicode"

	"github.com/tidegate/tidegate"
	"github.com/tidegate/tidegate/internal/text/draft"
	"github.com/tidegate/tidegate/internal/text/markdown"
)

// Directive is one change that a review asks for.
type Directive struct {
	Line   int // of the reviewed draft; 0 when it is about the draft as a whole
	Action string
	About  *Disputed // the sentence that a rule asks to change, nil in a review that was written
}

// Disputed is a sentence that does not stand, with what it was held against.
type Disputed struct {
	Sentence string
	Passages []DisputedPassage // of both looks
	Because  string            // the second reader's reason
}

// DisputedPassage is a passage that its readers were shown.
type DisputedPassage struct{ CID, Text string }

// Answered is the review that a draft answers, with the draft that was reviewed.
type Answered struct {
	Draft      []byte
	Directives []Directive
}

// answer looks for directives that nothing was done about. A directive with a line
// is answered when the block that holds the line does not stand unchanged in the
// new draft; at a heading the block is its section, because the headings are
// prescribed. What a reviewer misses may stand elsewhere in the section, too: each text that
// was put in there answers one. A directive without a line, or at a blank line, is answered
// when the drafts differ. Blanks, comments and what cannot be seen make no difference.
func (j *judge) answer(a Answered) {
	was, is := piecesOf(draft.Read(markdown.Read(a.Draft))), piecesOf(j.Document)
	wasThere, isThere := countPieces(was), countPieces(is)
	differ := plainText(a.Draft) != plainText(j.Source)
	added := a.addedBySection(was, is)
	for _, d := range a.Directives {
		note := "Make the change that the review asks for: " + d.Action
		switch text := textAt(was, d.Line); {
		case text == "":
			if !differ {
				j.fault(tidegate.Unchanged, 0, note,
					"the draft is the one that was reviewed, and the review asks for a change: %s", d.Action)
			}
		// A text that stood there twice and stands there once was changed in one place.
		case isThere[text] >= wasThere[text]:
			if section := sectionAt(was, d.Line); d.About == nil && added[section] > 0 {
				added[section]--
				continue
			}
			stands := slices.IndexFunc(is, func(p piece) bool { return p.text == text })
			j.fault(tidegate.Unchanged, is[stands].line, note,
				"what stood in line %d of the reviewed draft is unchanged, and the review asks for a change: %s", d.Line, d.Action)
		}
	}
}

// addedBySection counts the texts that were put into each section: blocks beyond those that
// took the place of others, and blocks that grew without losing a word and about which
// nothing was said.
func (a Answered) addedBySection(was, is []piece) map[string]int {
	added := map[string]int{}
	gone, wasThere, isThere := map[string][]string{}, countPieces(was), countPieces(is)
	for _, p := range was {
		if p.heading || isThere[p.text] >= wasThere[p.text] {
			continue
		}
		added[p.section]--
		if !slices.ContainsFunc(a.Directives, func(d Directive) bool { return p.line <= d.Line && d.Line <= p.end }) {
			gone[p.section] = append(gone[p.section], p.text)
		}
	}
	for _, p := range is {
		if p.heading || isThere[p.text] <= wasThere[p.text] {
			continue
		}
		added[p.section]++
		of := gone[p.section]
		if k := slices.IndexFunc(of, func(text string) bool { return grewFrom(p.text, text) }); k >= 0 {
			gone[p.section] = slices.Delete(of, k, k+1)
			added[p.section]++
		}
	}
	return added
}

// grewFrom reports whether a text is another one with something put in at one place.
func grewFrom(text, before string) bool {
	n := 0
	for n < len(before) && n < len(text) && text[n] == before[n] {
		n++
	}
	return len(text) > len(before) && strings.HasSuffix(text, before[n:])
}

// sectionAt is the section in which a line stands.
func sectionAt(pieces []piece, line int) string {
	section := ""
	for _, p := range pieces {
		if p.line <= line {
			section = p.section
		}
	}
	return section
}

// piece is a block or, at a heading, a section: its lines and its plain text.
type piece struct {
	line, end int
	text      string
	heading   bool
	section   string // the heading of the second level that it stands below
}

// piecesOf are the blocks and sections of a draft in the order in which they begin.
func piecesOf(d *draft.Document) []piece {
	out := make([]piece, len(d.Begins))
	block, section := d.Lines(), d.Lines() // the last lines of what begins here
	for i := len(d.Begins) - 1; i >= 0; i-- {
		begin := d.Begins[i]
		end := max(block, begin.Line) // items can begin one inside the other
		if begin.Heading {
			end, section = section, begin.Line-1
		}
		block = begin.Line - 1
		for end > begin.Line && len(bytes.TrimSpace(d.LineText(end))) == 0 {
			end-- // blank lines belong to nothing
		}
		text := d.Source[d.Starts[begin.Line-1] : d.Starts[end-1]+len(d.LineText(end))]
		out[i] = piece{line: begin.Line, end: end, text: plainText(text), heading: begin.Heading}
	}
	under := ""
	for i := range out {
		if line := plainText(d.LineText(out[i].line)); out[i].heading && strings.HasPrefix(line, "## ") {
			under = line
		}
		out[i].section = under
	}
	return out
}

func countPieces(pieces []piece) map[string]int {
	counts := map[string]int{}
	for _, p := range pieces {
		counts[p.text]++
	}
	return counts
}

// textAt is the text of the last piece that begins at a line or before it, ""
// when that has ended.
func textAt(pieces []piece, line int) string {
	next := sort.Search(len(pieces), func(i int) bool { return pieces[i].line > line })
	if next == 0 || pieces[next-1].end < line {
		return ""
	}
	return pieces[next-1].text
}

var comment = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<!--.*?-->`) })

// plainText is a text as it is compared with another: without comments and what
// cannot be seen, every run of white space as one blank.
func plainText(text []byte) string {
	var b strings.Builder
	blank := false
	for _, r := range string(comment().ReplaceAll(text, nil)) {
		switch {
		case unicode.IsSpace(r):
			blank = b.Len() > 0
		case !draft.Apart(r):
			if blank {
				b.WriteByte(' ')
			}
			blank = false
			b.WriteRune(r)
		}
	}
	return b.String()
}
