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
// prescribed. What a reviewer misses may stand right behind the block, too: a block was put
// in there. A directive without a line, or at a blank line, is answered when the
// drafts differ. Blanks, comments and what cannot be seen make no difference.
func (j *judge) answer(a Answered) {
	was, is := piecesOf(draft.Read(markdown.Read(a.Draft))), piecesOf(j.Document)
	wasThere, isThere := countPieces(was), countPieces(is)
	differ := plainText(a.Draft) != plainText(j.Source)
	for _, d := range a.Directives {
		note := "Make the change that the review asks for: " + d.Action
		switch text := textAt(was, d.Line); {
		case text == "":
			if !differ {
				j.fault(tidegate.Unchanged, 0, note,
					"the draft is the one that was reviewed, and the review asks for a change: %s", d.Action)
			}
		// A text that stood there twice and stands there once was changed in one place.
		case isThere[text] >= wasThere[text] && (d.About != nil || !addedBehind(text, was, is)):
			stands := slices.IndexFunc(is, func(p piece) bool { return p.text == text })
			j.fault(tidegate.Unchanged, is[stands].line, note,
				"what stood in line %d of the reviewed draft is unchanged, and the review asks for a change: %s", d.Line, d.Action)
		}
	}
}

// addedBehind reports whether a block that the draft did not have stands right behind one
// that it had, before what followed there.
func addedBehind(text string, was, is []piece) bool {
	next := func(pieces []piece) string {
		if i := slices.IndexFunc(pieces, func(p piece) bool { return p.text == text }) + 1; i < len(pieces) {
			return pieces[i].begins
		}
		return ""
	}
	has := func(pieces []piece, begins string) bool {
		return begins == "" || slices.ContainsFunc(pieces, func(p piece) bool { return p.begins == begins })
	}
	return !has(was, next(is)) && has(is, next(was))
}

// piece is a block or, at a heading, a section: its lines and its plain text.
type piece struct {
	line, end int
	text      string
	begins    string // the text, of a section its heading alone
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
		out[i] = piece{begin.Line, end, plainText(text), plainText(text)}
		if begin.Heading {
			out[i].begins = plainText(d.LineText(begin.Line))
		}
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
